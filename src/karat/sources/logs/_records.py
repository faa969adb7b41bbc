"""Verdicts of evaluation logs as rows: what was scored, by whom, and with which verdict."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._extras import require
from karat._sentences import Argument
from karat.exceptions import DataError, EmptyDataError, KaratWarning


def read_snorkel(path: Path) -> Log:
    """Return the label matrix that ``numpy.save`` wrote, a column per labeling function."""
    pl = require("polars", purpose="reading a matrix")
    try:
        matrix = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"{path.name} is no matrix that numpy.save wrote: ",
            error,
        ) from error
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind not in "iu":
        shape = getattr(matrix, "shape", type(matrix).__name__)
        raise DataError(f"{path.name} holds {shape}; expected a matrix (n, m) of whole numbers")
    if not matrix.size:
        raise EmptyDataError(f"{path.name} has no rows")
    frame = pl.DataFrame({f"lf_{j}": matrix[:, j].astype(np.int64) for j in range(matrix.shape[1])})
    return _wide(frame, "snorkel", matrix.shape[1])


def is_wrench(document: Any) -> bool:
    """Return whether a document maps identifiers to weak labels."""
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and "weak_labels" in first


def read_wrench(document: Any, path: Path) -> Log:
    """Return a row per item: ``id``, ``label`` (null where it is -1 or absent) and the votes."""
    pl = require("polars", purpose="reading weak labels")
    votes = [
        needed(entry, "weak_labels", f"{path.name}, item {k}") for k, entry in document.items()
    ]
    odd = [row for row in votes if not _is_row(row)]
    if odd:
        raise DataError(
            f"{path.name} has the weak labels {str(odd[0])[:60]}; expected a list of whole numbers"
        )
    wide = {len(row) for row in votes}
    if wide == {0}:
        raise EmptyDataError(f"{path.name} has no weak labels")
    if len(wide) != 1:
        raise DataError(f"{path.name} has items with {min(wide)} and with {max(wide)} weak labels")
    labels = [entry.get("label") for entry in document.values()]
    kinds = {type(label) for label in labels if label is not None}
    if len(kinds) > 1 or kinds - {int, str}:
        raise DataError(
            f"{path.name} has labels of {len(kinds)} kinds, such as "
            f"{next(label for label in labels if label is not None)!r}; expected whole numbers, or "
            "text throughout"
        )
    columns: dict[str, Any] = {"id": list(document)}
    if any(label not in (None, -1) for label in labels):
        columns["label"] = [None if label == -1 else label for label in labels]
    columns |= {f"lf_{j}": [row[j] for row in votes] for j in range(len(votes[0]))}
    return _wide(pl.DataFrame(columns, infer_schema_length=None), "wrench", len(votes[0]))


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and all(type(vote) is int for vote in row)


def _wide(frame: Any, kind: str, labelers: int) -> Log:
    names = tuple(f"lf_{j}" for j in range(labelers))
    return Log(frame, LogFacts(kind=kind, judges=names, items=len(frame), roles={}))


# --- What a log holds: long rows, and what was found in them.

_TRUE = ("yes", "y", "true", "pass", "passed")
_FALSE = ("no", "n", "false", "fail", "failed")
_BASE = ("item", "unit", "domain", "model", "judge", "vote", "score", "gold", "epoch", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFacts:
    """What was found in a log.

    Attributes
    ----------
    kind, version : str
        The tool, and the version that the log names, if it does.
    systems, judges : tuple of str
        What was evaluated, and who judged it.
    items, epochs : int
        Distinct items, and how often each was run.
    gold, failures : int
        Rows with a label by a person, and verdicts that failed or could not be parsed.
    errors : int
        Samples on which the system failed, so that nobody judged them.
    errors_ignored : bool
        Whether these are left out. By default they are failures of the system: vote 0 of every
        judge, in a row with ``errored``; they are no votes that judges could be rated by.
    roles : mapping
        Roles of columns that the log itself names.
    """

    kind: str
    version: str = ""
    systems: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    items: int = 0
    epochs: int = 1
    gold: int = 0
    failures: int = 0
    errors: int = 0
    errors_ignored: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)

    def errors_said(self) -> str:
        """Return how many samples ended in an error, and what they count as."""
        what = "are left out" if self.errors_ignored else "count as failures of the system"
        return f"{self.errors:,} samples ended in an error and {what}; no judge saw them"

    def summary(self) -> str:
        """Return what was found, in one sentence."""
        version = f" (version {self.version})" if self.version else ""
        who = f" of {', '.join(self.systems)}" if self.systems else ""
        errors = f" {self.errors_said().capitalize()}." if self.errors else ""
        return (
            f"A log of {self.kind}{version}{who}: {self.items:,} items"
            f"{f' in {self.epochs} epochs' if self.epochs > 1 else ''}, "
            f"{len(self.judges)} judges ({', '.join(self.judges) or 'none'}), {self.gold:,} rows "
            f"with a label by a person, {self.failures:,} verdicts that failed and are no votes."
            f"{errors}"
        )


class Log(NamedTuple):
    """The rows of a log as a Polars frame, and what was found."""

    rows: Any
    facts: LogFacts


class Verdict(NamedTuple):
    """A verdict as a vote (1, 0, -1 for partial credit, a label, or None) and as a number."""

    vote: int | str | None
    score: float | None
    graded: bool = True  # a verdict of its own, and not one number among many


def verdict_of(value: Any, letters: Mapping[str, float] | None = None) -> Verdict:
    """Return what a value in a log says; a NaN, a null and an empty text say nothing.

    ``letters`` are the grades of the tool that wrote it; elsewhere such letters are labels.
    """
    if isinstance(value, bool):
        return Verdict(int(value), float(value))
    if isinstance(value, int | float):
        if math.isnan(value):
            return Verdict(None, None)
        return Verdict(int(value) if value in (0, 1) else None, float(value), graded=False)
    if not isinstance(value, str) or not value.strip():
        return Verdict(None, None)
    text = value.strip()
    if letters is not None and text in letters:
        number = letters[text]
        return Verdict(-1 if number == 0.5 else int(number), number)
    if text.lower() in _TRUE:
        return Verdict(1, 1.0)
    if text.lower() in _FALSE:
        return Verdict(0, 0.0)
    try:
        return verdict_of(float(text))
    except ValueError:
        return Verdict(text, None)


def needed(holder: Any, key: str, where: str) -> Any:
    """Return a field of a log, or name the one that is missing."""
    if not isinstance(holder, Mapping) or key not in holder:
        raise DataError(
            f"{where} has no field {key!r}; it may come from a version of the tool that is not "
            "read here"
        )
    return holder[key]


def objects(value: Any, where: str) -> list[Any]:
    """Return a list of objects of a log, empty where there is none; refuse anything else."""
    listed = [] if value is None else value
    if not isinstance(listed, list):
        raise DataError(f"{where} holds {_kind(listed)}; expected a list of objects")
    odd = [one for one in listed if not isinstance(one, Mapping)]
    if odd:
        raise DataError(f"{where} lists {_kind(odd[0])}; expected objects")
    return listed


def fields(value: Any, where: str) -> Mapping[str, Any]:
    """Return an object of a log, empty where there is none; refuse anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise DataError(f"{where} holds {_kind(value)}; expected an object")
    return value


def number_in(value: Any, where: str) -> float | None:
    """Return a number of a log; a null and a NaN are none; refuse anything else."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, int | float):
        raise DataError(f"{where} holds {_kind(value)}; expected a number")
    return float(value)


def truth_in(value: Any, where: str) -> int | None:
    """Return a truth value of a log as 1 or 0, None for a null; refuse anything else."""
    if value is None:
        return None
    if not isinstance(value, bool):
        raise DataError(f"{where} holds {_kind(value)}; expected true or false")
    return int(value)


def _kind(value: Any) -> str:
    names = {
        str: "text",
        list: "a list",
        dict: "an object",
        bool: "a truth value",
        int: "a number",
        float: "a number",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)


def long_log(
    kind: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    version: str = "",
    judged: bool = True,
    errors: int = 0,
    errors_ignored: bool = False,
) -> Log:
    """Return rows of one vote each as a log; all rows have the same columns.

    Votes of a judge who gives numbers other than 0 and 1 are ratings: they stay scores. ``graded``
    of a row says that its verdict was a word, not a number.
    """
    pl = require("polars", purpose="reading a log")
    if not rows:
        raise EmptyDataError(f"the {kind} log holds no verdicts")
    rated = {
        row["judge"]
        for row in rows
        if not row.get("graded", True) and row["score"] is not None and row["vote"] is None
    }
    names = dict.fromkeys(
        (*_BASE, *(k for row in rows for k in row if k not in ("graded", "failed")))
    )
    table: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    table["metadata"] = _as_json(table["metadata"])
    for i, row in enumerate(rows):
        if row["judge"] in rated:
            table["vote"][i] = table["gold"][i] = None
            if row.get("errored"):  # nobody knows the least rating
                table["score"][i] = None
    words = any(isinstance(value, str) for name in ("vote", "gold") for value in table[name])
    label = pl.String if words else pl.Int64
    for name in ("vote", "gold"):
        table[name] = [_cast(value, words) for value in table[name]]
    frame = pl.DataFrame(
        table,
        schema_overrides={
            "item": pl.String,
            "unit": pl.String,
            "domain": pl.String,
            "model": pl.String,
            "judge": pl.String,
            "vote": label,
            "score": pl.Float64,
            "gold": label,
            "epoch": pl.Int64,
            "metadata": pl.String,
        },
        infer_schema_length=None,
    )
    return Log(
        frame,
        LogFacts(
            kind=kind,
            version=version,
            systems=_distinct(frame["model"]),
            judges=_distinct(frame["judge"]) if judged else (),
            items=frame["item"].n_unique(),
            epochs=int(frame["epoch"].max() or 1),
            gold=int(frame["gold"].count()),
            failures=sum(bool(row.get("failed")) for row in rows),
            errors=errors,
            errors_ignored=errors_ignored,
            roles={"id": "unit", "cluster": "item", "group": "domain"},
        ),
    )


def _as_json(values: Sequence[Any]) -> list[Any]:
    """Return values as JSON; rows of one sample share theirs, which is written once."""
    last, text, found = None, "{}", []
    for value in values:
        if value is not last:
            last, text = value, json.dumps(value or {}, default=str, sort_keys=True)
        found.append(text)
    return found


def _cast(value: Any, words: bool) -> Any:
    return str(value) if words and value is not None else value


def _distinct(column: Any) -> tuple[str, ...]:
    return tuple(column.drop_nulls().unique().sort().to_list())


# --- The votes of a log in the form that vote models take.

_KEPT = ("gold", "score", "cluster", "model", "epoch")


def judged_votes(rows: Any, name: str) -> Any:
    """Return one row per vote; questions that one judge alone answers are left out, with a word."""
    import polars as pl

    cast = rows.filter(pl.col("vote").is_not_null())
    if "errored" in cast.columns:
        cast = cast.filter(~pl.col("errored"))
    if not len(cast):
        raise EmptyDataError(
            Argument.of(name),
            " holds no verdicts of pass or fail; ratings are in its column score",
        )
    voters = cast.group_by("domain").agg(pl.col("judge").n_unique().alias("n"))
    alone = voters.filter(pl.col("n") < 2)["domain"].sort().to_list()
    if len(alone) == len(voters):
        raise EmptyDataError(
            f"every question in {name} was judged by one judge alone, whose errors show only where "
            f"another disagrees: {alone[:8]}"
        )
    if alone:
        warnings.warn(
            f"judged by one judge alone, and left out: {', '.join(alone[:8])}",
            KaratWarning,
            stacklevel=caller_level(),
        )
    cast = _one_gold_label(pl, cast)
    return cast.filter(~pl.col("domain").is_in(alone)).select(
        pl.col("unit").alias("item"),
        pl.col("judge").alias("classifier"),
        "vote",
        "domain",
        *(pl.col("item" if kept == "cluster" else kept).alias(kept) for kept in _KEPT),
    )


def _one_gold_label(pl: Any, cast: Any) -> Any:
    """Drop the gold labels of items on which people say two things, with a word."""
    item = ["unit", "domain"]
    distinct = pl.col("gold").drop_nulls().n_unique().over(item)
    split = cast.filter(distinct > 1).select(item).unique()
    if len(split):
        warnings.warn(
            f"people gave {len(split):,} items two different labels, and these count as unlabelled",
            KaratWarning,
            stacklevel=caller_level(),
        )
    label = (
        pl.when(distinct > 1).then(None).otherwise(pl.col("gold").drop_nulls().first().over(item))
    )
    return cast.with_columns(label.alias("gold"))
