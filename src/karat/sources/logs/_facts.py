"""What a log holds: long rows, and what was found in them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat._extras import require
from karat.exceptions import DataError, EmptyDataError

__all__ = [
    "Log",
    "LogFacts",
    "Verdict",
    "fields",
    "long_log",
    "needed",
    "number_in",
    "objects",
    "truth_in",
    "verdict_of",
]

_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_TRUE, _FALSE = ("yes", "true", "pass"), ("no", "false", "fail")
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
    roles: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        """Return what was found, in one sentence."""
        version = f" (version {self.version})" if self.version else ""
        who = f" of {', '.join(self.systems)}" if self.systems else ""
        return (
            f"A log of {self.kind}{version}{who}: {self.items:,} items"
            f"{f' in {self.epochs} epochs' if self.epochs > 1 else ''}, "
            f"{len(self.judges)} judges ({', '.join(self.judges) or 'none'}), {self.gold:,} rows "
            f"with a label by a person, {self.failures:,} verdicts that failed and are no votes."
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


def verdict_of(value: Any) -> Verdict:
    """Return what a value in a log says; a NaN, a null and an empty text say nothing."""
    if isinstance(value, bool):
        return Verdict(int(value), float(value))
    if isinstance(value, int | float):
        if math.isnan(value):
            return Verdict(None, None)
        return Verdict(int(value) if value in (0, 1) else None, float(value), graded=False)
    if not isinstance(value, str) or not value.strip():
        return Verdict(None, None)
    text = value.strip()
    if text in _WORDS:
        number = _WORDS[text]
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
    names = {str: "text", list: "a list", dict: "an object", bool: "a truth value", int: "a number",
             float: "a number", type(None): "null"}  # fmt: skip
    return names.get(type(value), type(value).__name__)


def long_log(
    kind: str, rows: Sequence[Mapping[str, Any]], *, version: str = "", judged: bool = True
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
    table = []
    for row in rows:
        line = {name: row.get(name) for name in _BASE}
        line |= {k: v for k, v in row.items() if k not in (*_BASE, "graded", "failed")}
        if row["judge"] in rated:
            line["vote"] = line["gold"] = None
        line["metadata"] = json.dumps(row.get("metadata") or {}, default=str, sort_keys=True)
        table.append(line)
    words = any(isinstance(line[c], str) for line in table for c in ("vote", "gold"))
    label = pl.String if words else pl.Int64
    frame = pl.DataFrame(
        [{**line, **{c: _cast(line[c], words) for c in ("vote", "gold")}} for line in table],
        schema_overrides={
            "item": pl.String, "unit": pl.String, "domain": pl.String, "model": pl.String,
            "judge": pl.String, "vote": label, "score": pl.Float64, "gold": label,
            "epoch": pl.Int64, "metadata": pl.String,
        },
        infer_schema_length=None,
    )  # fmt: skip
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
            roles={"id": "unit", "cluster": "item", "group": "domain"},
        ),
    )


def _cast(value: Any, words: bool) -> Any:
    return str(value) if words and value is not None else value


def _distinct(column: Any) -> tuple[str, ...]:
    return tuple(column.drop_nulls().unique().sort().to_list())
