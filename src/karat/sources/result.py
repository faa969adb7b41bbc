"""Everything that was counted of a table, to be saved and sent."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from karat._callers import caller_level
from karat._result import frame_of
from karat._typing import AnyArray, Column
from karat._validate import check_choice, check_count, check_null, named, refuse_option
from karat.exceptions import ColumnError, DataError, KaratWarning
from karat.sources.counting import grouped, with_value
from karat.sources.engines import kept
from karat.sources.sql import COUNTED, QueryResult, count_query, counted, planned, read_result
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

    def __post_init__(self) -> None:
        refuse_other_rows(self)

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

    @staticmethod
    def query(table: str, dialect: str, *, weighting: str | None = None, **roles: Any) -> str:
        """Return a query that counts where the rows are, to be run by any program.

        Parameters
        ----------
        table : str
            The table to query, such as ``analytics.scores``, or a query in its place.
        dialect : {"bigquery", "snowflake", "postgres", "spark", "duckdb"}
            The dialect of SQL.
        weighting : {"importance", "frequency"}, optional
            As in `Source.roles`.
        **roles : str or list of str
            The columns of each role, as in `Source.roles`, by their names and without patterns.

        Returns
        -------
        str
            One statement. Its result, as a CSV, JSON lines or Parquet file, is what `from_query`
            reads.

        Examples
        --------
        >>> query = Counts.query("mails", "postgres", label="spam", pred="model")
        >>> print(query[:query.index("from")])
        with karat_rows as (
          select
            coalesce(cast(spam as text), 'karat null') as spam,
            coalesce(cast(model as text), 'karat null') as model
        <BLANKLINE>
        """
        kind = check_choice(weighting, "weighting", ("importance", "frequency"), none=True)
        chosen = {
            role: (columns,) if isinstance(columns, str) else tuple(columns)
            for role, columns in roles.items()
            if columns is not None
        }
        for role in chosen:
            check_choice(role, "a role", COUNTED)
        return count_query(table, dialect, chosen, important=kind != "frequency")

    @staticmethod
    def from_query(
        result: Any,
        *,
        null: str = "not asked",
        pos_label: Any = None,
        cells: int | None = None,
        classes: Column | None = None,
    ) -> "Counts":
        """Read the result of a query of `query`; the counts are those that its rows give.

        Parameters
        ----------
        result : path or frame
            The whole result: a CSV, TSV, JSON lines, Parquet or Arrow file, or a frame. The order
            of rows and columns and the case of the names of columns do not matter.
        null, pos_label, cells, classes
            As in `Source.counts`.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import duckdb
        >>> mails = duckdb.sql("select i % 2 as spam, i % 3 > 0 as model from range(12) t(i)")
        >>> query = Counts.query("mails", "duckdb", label="spam", pred="model")
        >>> Counts.from_query(duckdb.sql(query).pl()).confusions["model"].counts.tolist()
        [[2, 4], [2, 4]]
        """
        abstains = check_null(null)
        found = result if isinstance(result, QueryResult) else read_result(result)
        if cells is not None:
            check_count(cells, "cells")
            if "weight" in found.roles:
                refuse_option(cells, "cells", "None with weights")
        if "label" in found.roles:
            label = found.roles["label"][0]
            one = next((g for g in found.parts.values() if label in g.rows.columns), None)
            if one is not None and (absent := one.absent(label)).any() and not absent.all():
                _warn_of_unlabelled(label, one.counts[absent].sum(), one.counts.sum())
        parts = counted(found, null=null, pos_label=pos_label, cells=cells, classes=classes)
        return _all_counts(parts, found.roles, null_abstains=abstains)

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
    found.present(label)
    _warn_of_unlabelled(label, found.counts[absent].sum(), found.counts.sum())
    return replace(source, frame=with_value(source.frame, label), _collected=[])


def _warn_of_unlabelled(label: str, missing: float, rows: float) -> None:
    warnings.warn(
        f"the label column {label!r} is missing in {missing:,} of {rows:,} rows, which count as "
        "votes and predictions alone",
        KaratWarning,
        stacklevel=caller_level(),
    )


def count_all(
    source: Any,
    null: str,
    pos_label: Any,
    cells: int | None,
    classes: Column | None,
    progress: Callable[[str], None] | None,
) -> Counts:
    """Return all that the roles of a `Source` allow to be counted.

    ``progress`` is told which scan begins, and of how many. A query is run once, and its rows are
    kept until they are counted.
    """
    abstains, parts = check_null(null), planned(source.chosen)
    found: dict[str, dict[str, Any]] = {"patterns": {}, "votes": {}, "roc": {}, "confusions": {}}
    columns = dict.fromkeys(c for role in COUNTED for c in source.chosen.get(role, ()))
    with kept(source.frame, list(columns), plain=source._plain) as frame:
        rows = replace(source, frame=frame, _collected=[])
        known = _labelled(rows) if "label" in source.chosen and parts else rows
        same = {"classes": classes}
        scans: dict[str, Callable[[str], Any]] = {
            "patterns": lambda p: rows.pattern_counts(p, null=null, **same),
            "votes": lambda _: rows.vote_counts(null=null, **same),
            "roc": lambda s: known.roc_counts(s, pos_label=pos_label, cells=cells, **same),
            "confusions": lambda p: known.confusion(p, **same),
        }
        for done, part in enumerate(parts, 1):
            if progress is not None:
                step = f"scan {done} of {len(parts)}, {part.said}"
                progress(f"{source.name}: {step}")
            found[part.kind][part.of] = scans[part.kind](part.of)
    return _all_counts(found, source.chosen, null_abstains=abstains)


def _all_counts(
    found: dict[str, dict[str, Any]], roles: Mapping[str, Any], *, null_abstains: bool
) -> Counts:
    """Return the counts of each kind as one; the votes of one voter alone are none."""
    who = found.pop("votes").get("votes")
    votes = who if who is None or len(who.names) > 1 else None
    if not (votes or any(found.values())):
        raise ColumnError(
            f"nothing can be counted of the roles {dict(roles)}; expected judges, or predictions "
            "with weak or true labels, or scores with true labels"
        )
    return Counts(votes=votes, null_abstains=null_abstains, **found)


# --- Whether counts are of the same rows: how many there are, of each class and each group.
#
# A query that is run twice can give other rows, as ``where random() < .02`` does, and a number
# that is computed from two such tables is right of neither. So counts that stand beside one
# another, be they counted, loaded or put together, are compared by what each says of the rows.


class Fingerprint(NamedTuple):
    """What one of the counts says of the rows; ``exact`` where rows were counted, not weighed.

    ``of`` says of which rows: ``rows`` are all of them, ``labels`` those that have a true label by
    their classes, and ``groups`` are all by their groups.
    """

    name: str
    of: str
    sizes: dict[Any, float]
    exact: bool


def _sizes(names: AnyArray, counts: AnyArray) -> dict[Any, float]:
    """Return how many rows each name has, without those that have none."""
    pairs = zip(np.asarray(names).tolist(), counts.tolist(), strict=True)
    # 1 and 1.0 are one class: votes with nulls are fractions where labels are whole numbers.
    return {
        f"{name:.17g}" if isinstance(name, int | float) else str(name): float(count)
        for name, count in pairs
        if count
    }


def fingerprints(counts: Any) -> Iterator[Fingerprint]:
    """Yield what each of the counts of a `karat.sources.Counts` says of the rows."""
    for name, one in counts.patterns.items():
        said, exact = f"patterns of {name}", one.squares is None
        yield Fingerprint(said, "rows", {"": float(one.counts.sum())}, exact)
        if one.groups is not None:
            sizes = one.counts.sum(axis=tuple(range(1, one.counts.ndim)))
            yield Fingerprint(said, "groups", _sizes(one.groups, sizes), exact)
    if counts.votes is not None:
        yield from _of_votes(counts.votes)
    for name, one in counts.roc.items():
        sizes = np.array([one.negatives.sum(), one.positives.sum()])
        exact = np.issubdtype(one.positives.dtype, np.integer)
        yield Fingerprint(f"scores of {name}", "labels", _sizes(one.classes, sizes), exact)
    for name, one in counts.confusions.items():
        pooled = one.counts if one.groups is None else one.counts.sum(axis=0)
        exact = np.issubdtype(one.counts.dtype, np.integer)
        sizes = _sizes(one.classes, pooled.sum(axis=1))
        yield Fingerprint(f"confusion of {name}", "labels", sizes, exact)


def _of_votes(votes: Any) -> Iterator[Fingerprint]:
    exact = votes.squares is None
    yield Fingerprint("votes", "rows", {"": float(votes.counts.sum())}, exact)
    if votes.domains is not None:
        sizes = np.bincount(votes.domain, votes.counts, len(votes.domains))
        yield Fingerprint("votes", "groups", _sizes(votes.domains, sizes), exact)
    if votes.label is not None:
        known = votes.label >= 0
        sizes = np.bincount(votes.label[known], votes.counts[known], len(votes.classes))
        yield Fingerprint("votes", "labels", _sizes(votes.classes, sizes), exact)


def refuse_other_rows(counts: Any) -> None:
    """Refuse counts that are not of the same rows, and say which two differ in what."""
    first: dict[str, Fingerprint] = {}
    for one in fingerprints(counts):
        other = first.setdefault(one.of, one)
        if not _same(other, one):
            raise DataError(
                f"the {other.name} are of {_said(other)} and the {one.name} of {_said(one)}; count "
                "both of the same rows: a query that gives other rows each time must be run once"
            )
    rows, labels = first.get("rows"), first.get("labels")
    if rows is not None and labels is not None:
        have, known = rows.sizes[""], sum(labels.sizes.values())
        if known > have and not np.isclose(known, have, rtol=1e-9):
            raise DataError(
                f"the {labels.name} are of {known:,.12g} rows that have a true label, and the "
                f"{rows.name} of {have:,.12g} rows in all; count both of the same rows"
            )


def _same(first: Fingerprint, second: Fingerprint) -> bool:
    if set(first.sizes) != set(second.sizes):
        return False
    mine, theirs = (np.array([f.sizes[k] for k in first.sizes]) for f in (first, second))
    tolerance = 0.0 if first.exact and second.exact else 1e-9
    return bool(np.allclose(mine, theirs, rtol=tolerance, atol=0))


def _said(one: Fingerprint) -> str:
    total = f"{sum(one.sizes.values()):,.12g} rows"
    if one.of == "rows":
        return total
    parts: Mapping[Any, str] = {name: f"{name}: {size:,.12g}" for name, size in one.sizes.items()}
    return f"{total} {named(list(parts.values()))}"
