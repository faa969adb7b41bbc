"""Everything that was counted of a table, to be saved and sent."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from karat._callers import caller_level
from karat._result import frame_of
from karat._typing import Column
from karat._validate import check_null
from karat.exceptions import ColumnError, DataError, KaratWarning, LabelError
from karat.sources.counting import grouped, with_value
from karat.sources.stored import read_counts, write_counts
from karat.statistics import Confusion, PatternCounts, RocCounts, VoteCounts

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Counts:
    """Counts of a table: enough for bounds, judges, areas and metrics.

    Rows are not in it, but what only one row has is a count of 1: where all scores differ, their
    exact counts are the scores of the rows with their labels.

    Attributes
    ----------
    patterns : mapping of str to PatternCounts
        Predictions by pattern of weak labels, by the column of the predictions.
    votes : VoteCounts or None
        Votes by domain.
    roc : mapping of str to RocCounts
        Positives and negatives per score, by the column of the scores.
    confusions : mapping of str to Confusion
        Truth against prediction, by the column of the predictions.
    null_abstains : bool
        Whether a null of a voter was taken for an abstention, and not for an item that it was not
        asked about.

    Examples
    --------
    >>> import karat
    >>> table = {"y": [0, 1, 1], "s": [0.1, 0.9, 0.4]}
    >>> import polars as pl
    >>> half = karat.scan(pl.DataFrame(table)).roles(label="y", score="s").counts()
    >>> (half + half).roc["s"].positives.tolist()
    [0, 2, 2]
    """

    patterns: Mapping[str, PatternCounts] = field(default_factory=dict)
    votes: VoteCounts | None = None
    roc: Mapping[str, RocCounts] = field(default_factory=dict)
    confusions: Mapping[str, Confusion] = field(default_factory=dict)
    null_abstains: bool = False

    def save(self, path: str | Path) -> None:
        """Write the counts to a Parquet file, which is replaced only when it is complete.

        Parameters
        ----------
        path : str or Path
            The file, which ends in ``.parquet``.
        """
        write_counts(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Counts":
        """Read counts that ``save`` or ``karat count`` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Counts
        """
        return cls(**read_counts(path))

    def __radd__(self, other: object) -> "Counts":
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    def __add__(self, other: "Counts") -> "Counts":
        if not isinstance(other, Counts):
            return NotImplemented
        if self.null_abstains != other.null_abstains or (self.votes is None) != (
            other.votes is None
        ):
            raise DataError("the two parts were counted in different ways; count both the same way")
        votes = None
        if self.votes is not None and other.votes is not None:
            votes = self.votes + other.votes
        return Counts(
            patterns=_added(self.patterns, other.patterns, "patterns"),
            votes=votes,
            roc=_added(self.roc, other.roc, "scores"),
            confusions=_added(self.confusions, other.confusions, "predictions"),
            null_abstains=self.null_abstains,
        )

    def to_frame(self) -> Any:
        """Return one row per table that was counted: its kind, its column and its items.

        It is of the kind of frame that was scanned, else Polars. Each table has a ``to_frame`` of
        its own.
        """
        kinds = {"patterns": self.patterns, "roc": self.roc, "confusions": self.confusions}
        tables: list[tuple[str, str | None, Any]] = [
            (kind, of, table) for kind, parts in kinds.items() for of, table in parts.items()
        ]
        tables += [] if self.votes is None else [("votes", None, self.votes)]
        columns = {
            "kind": [kind for kind, _, _ in tables],
            "of": [of for _, of, _ in tables],
            "n": [_items(table) for _, _, table in tables],
        }
        return frame_of(columns, tables[0][2]._kind if tables else None)

    def summary(self) -> str:
        """Return what was counted."""
        parts: list[Any] = [*self.patterns.values(), *self.roc.values(), *self.confusions.values()]
        parts += [] if self.votes is None else [self.votes]
        return "; ".join(part.summary() for part in parts)

    def __repr__(self) -> str:
        return f"<Counts: {self.summary()}>"


def _items(table: Any) -> float:
    if isinstance(table, RocCounts):
        return float(table.positives.sum() + table.negatives.sum())
    return float(table.n)


def _added(mine: Mapping[str, _T], theirs: Mapping[str, _T], what: str) -> dict[str, _T]:
    if list(mine) != list(theirs):
        raise DataError(
            f"one part has the {what} {list(mine)} and the other {list(theirs)}; count both with "
            "the same roles"
        )
    return {name: part + theirs[name] for name, part in mine.items()}  # type: ignore[operator]


def _labelled(source: Any) -> Any:
    """Return the rows of a source that have a true label; a warning says how many have none."""
    label = source.chosen.one("label", None)
    found = grouped(source.frame, [label])
    absent = found.absent(label)
    if not absent.any():
        return source
    missing, rows = found.counts[absent].sum(), found.counts.sum()
    if missing == rows:
        raise LabelError(f"the label column {label!r} is missing in every row; name another")
    warnings.warn(
        f"the label column {label!r} is missing in {missing:,} of {rows:,} rows, which count as "
        "votes and predictions alone",
        KaratWarning,
        stacklevel=caller_level(),
    )
    return replace(source, frame=with_value(source.frame, label), _collected=[])


def count_all(
    source: Any,
    null: str,
    pos_label: Any,
    cells: int | None,
    classes: Column | None,
    progress: Callable[[str], None] | None,
) -> Counts:
    """Return all that the roles of a `Source` allow to be counted.

    ``progress`` is told which scan begins, and of how many.
    """
    roles, abstains = source.chosen, check_null(null)
    preds = roles.get("pred", ())
    known = _labelled(source) if "label" in roles else source
    votes: dict[str, Callable[[], Any]] = {}
    if "judge" in roles or "weak" in roles:
        votes["votes"] = lambda: source.vote_counts(null=null, classes=classes)
    kinds: dict[str, dict[str, Callable[[], Any]]] = {
        "patterns": {
            p: partial(source.pattern_counts, p, null=null, classes=classes)
            for p in preds
            if "weak" in roles
        },
        "votes": votes,
        "roc": {
            s: partial(known.roc_counts, s, pos_label=pos_label, cells=cells, classes=classes)
            for s in roles.get("score", ())
            if "label" in roles
        },
        "confusions": {
            p: partial(known.confusion, p, classes=classes) for p in preds if "label" in roles
        },
    }
    number, done = sum(map(len, kinds.values())), 0
    found: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for kind, scans in kinds.items():
        for name, scan in scans.items():
            done += 1
            if progress is not None:
                progress(f"{source.name}: scan {done} of {number}, {kind} of {name}")
            found[kind][name] = scan()
    who = found.pop("votes").get("votes")
    kept = who if who is None or len(who.names) > 1 else None
    if not number or not (kept or any(found.values())):
        raise ColumnError(
            f"nothing can be counted of the roles {dict(roles)}; expected judges, or predictions "
            "with weak or true labels, or scores with true labels"
        )
    return Counts(votes=kept, null_abstains=abstains, **found)
