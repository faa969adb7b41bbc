"""Counts from a lazy table, each in one scan.

The engine groups the rows by the columns of a question; only the distinct combinations come back,
and the functions of `karat.statistics` count these, weighted by how often each occurs. So checks,
classes and the meaning of nulls are the same for 200 rows in memory and for 10⁹ on a cluster.
Scores are many: where the rows are in this process they are counted in a table of hashes, which
`warm` compiles beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from karat._sentences import Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, IntArray
from karat._validate import is_beyond_floats, named
from karat.exceptions import DataError, EmptyDataError, LabelError, ScoreError, WeightError
from karat.sources.engines import (
    about_distinct,
    batches,
    collect,
    engine_errors,
    engine_of,
    schema_of,
    with_folds,
)
from karat.statistics import (
    Confusion,
    JointRocCounts,
    PatternCounts,
    RocCounts,
    VoteCounts,
    confusion,
    pattern_counts,
    roc_counts,
)
from karat.statistics.votes import count_votes


def whole(counts: AnyArray, like: AnyArray) -> AnyArray:
    """Return sums of weights as whole numbers where the weights were counts of rows."""
    return np.rint(counts).astype(np.int64) if np.issubdtype(like.dtype, np.integer) else counts


def confusion_of(
    found: Grouped, label: str, pred: str, group: str | None, classes: Column | None
) -> Confusion:
    """Return truth against prediction."""
    counted = confusion(
        found.require(label, "label"),
        found.require(pred, "prediction"),
        sample_weight=found.counts,
        groups=None if group is None else found.require(group, "group"),
        classes=classes,
    )
    return replace(counted, counts=whole(counted.counts, found.counts))


def pattern_counts_of(
    found: Grouped,
    pred: str,
    weak: Sequence[str],
    group: str | None,
    classes: Column | None,
    null: str,
    folds: int,
) -> PatternCounts:
    """Return predictions by pattern of weak labels, with folds where they were counted."""
    columns: dict[str, Any] = {
        "groups": None if group is None else found.require(group, "group"),
        "classes": classes,
        "null": null,
    }
    predicted, votes = found.require(pred, "prediction"), found.rows.select(list(weak))
    columns["weighting"] = "frequency"
    all_rows = pattern_counts(predicted, votes, sample_weight=found.counts, **columns)
    by_fold = None
    if folds:
        fold = found.rows[FOLD].to_numpy()
        by_fold = np.zeros((folds, *all_rows.counts.shape), dtype=np.float64)
        for f in np.unique(fold):
            # A row of another fold weighs nothing, so that every fold has all patterns and classes.
            own = np.where(fold == f, found.counts, 0)
            by_fold[f] = pattern_counts(predicted, votes, sample_weight=own, **columns).counts
        by_fold = whole(by_fold, found.counts)
    return replace(all_rows, counts=whole(all_rows.counts, found.counts), by_fold=by_fold)


def vote_counts_of(
    found: Grouped,
    judges: Sequence[str],
    domain: str | None,
    label: str | None,
    classes: Column | None,
    null: str,
) -> VoteCounts:
    """Return votes by domain and true label, which may be missing."""
    truth = found.column(label)
    if truth is not None and truth.null_count() == len(truth):
        truth = None
    return count_votes(
        found.rows.select(list(judges)),
        found.counts,
        domains=None if domain is None else found.require(domain, "group"),
        y_true=truth,
        classes=classes,
        null=null,
        squares=found.squares,
    )


# --- Two scores at once, in cells of about equally many rows.


def joint_counts_of(
    lazy: Any, label: str, scores: dict[str, RocCounts], cells: int
) -> JointRocCounts:
    """Return the counts of two scores in cells that hold about equally many rows."""
    import narwhals as nw

    edges = [_edges(counts, cells) for counts in scores.values()]
    classes = next(iter(scores.values())).classes
    columns = []
    for i, (name, at) in enumerate(zip(scores, edges, strict=True)):
        value = nw.col(name).cast(nw.Float64)
        steps = [(value >= float(edge)).cast(nw.Int64) for edge in at]
        columns.append((nw.sum_horizontal(*steps) if steps else nw.lit(0)).alias(f"__cell_{i}"))
    found = grouped(lazy.select(nw.col(label), *columns), [label, "__cell_0", "__cell_1"])
    labels = found.require(label, "label")
    other = [value for value in labels.unique().to_list() if value not in classes.tolist()]
    if other:
        raise DataError(
            f"the label column {label!r} holds {other[0]!r}, and the counts of each score have the "
            f"classes {named(classes.tolist())}; count the same rows"
        )
    counts = np.zeros((2, len(edges[0]) + 1, len(edges[1]) + 1), dtype=np.int64)
    code = (labels == classes[1].item()).cast(int).to_numpy()
    place = tuple(found.rows[f"__cell_{i}"].to_numpy() for i in (0, 1))
    np.add.at(counts, (code, *place), found.counts)
    first, second = scores
    return JointRocCounts(
        counts=counts,
        first_edges=edges[0],
        second_edges=edges[1],
        names=(first, second),
        classes=classes,
    )


def _edges(counts: RocCounts, cells: int) -> AnyArray:
    """Return scores at which cells begin, so that each class has about as many rows in each."""
    quantiles = np.arange(1, cells) / cells
    found = []
    for part in (counts.positives, counts.negatives):
        share = np.cumsum(part) / part.sum()
        found.append(counts.scores[np.searchsorted(share, quantiles)])
    return np.unique(np.concatenate(found))[1 if len(counts.scores) > 1 else 0 :]


# --- Positives and negatives per score: exactly up to ten million scores, in cells beyond.

_ONES, _ALL, _SQUARE_SCORE = "__karat_ones", "__karat_all", "__karat_square"
_SQUARE_ONES = "__karat_square_ones"
MOST_SCORES = 10_000_000  # distinct scores that are counted one by one


def roc_counts_of(
    lazy: Any,
    label: str,
    score: str,
    *,
    by: str | None,
    weight: RowWeight | None,
    pos_label: Any,
    classes: Column | None,
    cells: int | None,
) -> dict[Any, RocCounts]:
    """Return the counts of each group by its name; all rows under None where there is no group."""
    exact = _check_numbers(lazy, score)
    if exact and cells is None and by is None and weight is None:
        counted = _in_batches(lazy, label, score, pos_label, classes)
        if counted is not None:
            return {None: counted}
    found = grouped(lazy, [label])
    if cells is None and by is None and weight is None and _too_many(lazy, found, score):
        cells = 1 << 20
    order = _order(found.require(label, "label"), pos_label, classes)
    if cells is not None:
        return {None: _in_cells(lazy, label, score, order, cells)}
    sums = _by_score(lazy, label, score, by, weight, order[1].item(), exact=exact)
    if by is None:
        return {None: _counted(sums, score, order)}
    _refuse_nulls(sums, by)
    return {
        name: _counted(sums.filter(sums[by] == name), score, order)
        for name in sums[by].unique().sort().to_list()
    }


def _order(labels: Any, pos_label: Any, classes: Column | None) -> AnyArray:
    """Return the negative and the positive class, by the checks of `roc_counts`."""
    return roc_counts(labels, np.zeros(len(labels)), pos_label=pos_label, classes=classes).classes


def _in_batches(
    lazy: Any, label: str, score: str, pos_label: Any, classes: Column | None
) -> RocCounts | None:
    """Return the counts of rows that are in this process, in one pass; None where that cannot be.

    Labels that are whole numbers or truth values are told apart in the same pass.
    """
    import narwhals as nw

    kind = schema_of(lazy)[label]
    if not (kind.is_integer() or kind == nw.Boolean) or kind == nw.UInt64:
        return None
    value = nw.col(label).cast(nw.Int64), nw.col(score).cast(nw.Float64)
    rows = batches(lazy.select(*value))
    found = None if rows is None else hashed_scores(rows, label, score, MOST_SCORES)
    if found is None:
        return None
    labels = found.labels.astype(bool) if kind == nw.Boolean else found.labels
    order = _order(labels, pos_label, classes)
    ones = found.seconds
    if len(labels) == 1 or labels[1] != order[1]:
        ones = found.rows - ones if labels[0] == order[1] else np.zeros_like(found.rows)
    return _sorted_scores(found.scores, ones, found.rows, score, order, None)


def _by_score(
    lazy: Any,
    label: str,
    score: str,
    by: str | None,
    weight: RowWeight | None,
    positive: Any,
    *,
    exact: bool,
) -> Any:
    """Return rows and positives, or their weights, of each score (and group), ascending.

    Scores are cast to floats where these are ``exact``.
    """
    import narwhals as nw

    if weight is not None:
        check_weight_column(lazy, weight)
    with engine_errors(engine_of(lazy)):
        # Cast before the groups are made: engines hash whole numbers and fractions differently.
        columns = [nw.col(score).cast(nw.Float64 if exact else nw.Int64)]
        one = nw.col(label) == positive
        kind: Any = nw.Int64
        if weight is None:
            columns.append(one.cast(nw.Int64).alias(_ONES))
            sums = [nw.col(_ONES).sum(), nw.len().alias(_ALL)]
        else:
            kind, mass = nw.Float64, nw.col(weight.column).cast(nw.Float64)
            ones = one.cast(nw.Float64) * mass
            columns += [ones.alias(_ONES), mass.alias(_ALL)]
            sums = [nw.col(_ONES).sum(), nw.col(_ALL).sum()]
            if weight.important:
                columns += [(ones * mass).alias(_SQUARE_ONES), (mass * mass).alias(_SQUARE_SCORE)]
                sums += [nw.col(_SQUARE_ONES).sum(), nw.col(_SQUARE_SCORE).sum()]
        keys = [score] if by is None else [score, by]
        table = lazy.select(*columns, *([] if by is None else [nw.col(by)]))
        # Sums of whole numbers are of types of their own on DuckDB.
        return collect(
            table.group_by(*keys)
            .agg(*sums)
            .with_columns(nw.col(_ONES).cast(kind), nw.col(_ALL).cast(kind))
        )


def _refuse_nulls(found: Any, by: str) -> None:
    absent = found.filter(found[by].is_null())[_ALL].sum()
    if absent:
        raise LabelError(f"the group column {by!r} is missing in {absent:,.6g} rows; fill them in")


def _counted(found: Any, score: str, order: AnyArray) -> RocCounts:
    values, ones, rows = (found[name].to_numpy() for name in (score, _ONES, _ALL))
    squares = None
    if _SQUARE_SCORE in found.columns:
        of_ones, every = float(found[_SQUARE_ONES].sum()), float(found[_SQUARE_SCORE].sum())
        squares = np.array([max(every - of_ones, 0.0), of_ones])
    return _sorted_scores(values, ones, rows, score, order, squares)


def _sorted_scores(
    values: FloatArray,
    ones: AnyArray,
    rows: AnyArray,
    score: str,
    order: AnyArray,
    squares: FloatArray | None,
) -> RocCounts:
    """Return the counts in the order of the scores; refuse scores that are none."""
    broken = ~np.isfinite(values)
    if broken.any():
        raise ScoreError(
            f"the score column {score!r} is missing or not finite in {rows[broken].sum():,.6g} of "
            f"{rows.sum():,.6g} rows; drop them"
        )
    place = np.argsort(values)
    values, ones, rows = values[place], ones[place], rows[place]
    if len(values) > 1 and (values[1:] == values[:-1]).any():  # 0 and −0 are one score
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        values = values[starts]
        ones, rows = (np.add.reduceat(x, starts) for x in (ones, rows))
    if squares is None and rows.dtype.kind == "f":  # frequencies
        ones, rows = (np.rint(x).astype(np.int64) for x in (ones, rows))
    return RocCounts(
        scores=values, positives=ones, negatives=rows - ones, classes=order, squares=squares
    )


def _in_cells(lazy: Any, label: str, score: str, order: AnyArray, cells: int) -> RocCounts:
    """Return positives and negatives in equal cells of the scores, in two passes.

    ``scores`` are the lower ends of the cells that are not empty.
    """
    import narwhals as nw

    value = nw.col(score).cast(nw.Float64)
    with engine_errors(engine_of(lazy)):
        # Spark sums no booleans.
        broken = (value.is_null() | ~value.is_finite()).cast(nw.Int64).sum()
        seen = collect(
            lazy.select(value.min().alias("low"), value.max().alias("high"), broken.alias("broken"))
        )
        low, high, missing = seen.row(0)
        if missing or low is None:
            raise ScoreError(f"column {score!r} is missing or not finite in {missing:,} rows")
        width = high - low if high > low else 1.0
        cell = ((value - low) / width * cells).floor().clip(0, cells - 1).cast(nw.Int64)
        one = (nw.col(label) == order[1].item()).cast(nw.Int64)
        counted = collect(
            lazy.select(cell.alias("cell"), one.alias("one"))
            .group_by("cell")
            .agg(nw.col("one").sum().alias("ones"), nw.len().alias("rows"))
        ).sort("cell")
    ones, rows = (counted[c].to_numpy().astype(np.int64) for c in ("ones", "rows"))
    return RocCounts(
        scores=low + counted["cell"].to_numpy() * (width / cells),
        positives=ones,
        negatives=rows - ones,
        classes=order,
        cells=True,
    )


def _check_numbers(lazy: Any, score: str) -> bool:
    """Refuse scores that are no numbers; return whether floats hold each of them."""
    import narwhals as nw

    kind = schema_of(lazy)[score]
    if not kind.is_numeric():
        raise ScoreError(f"the score column {score!r} holds {kind}; expected numbers")
    if kind not in (nw.Int64, nw.UInt64):
        return True
    value = nw.col(score)
    seen = collect(lazy.select(value.min().alias("least"), value.max().alias("greatest")))
    least, greatest = seen.row(0)
    if greatest is not None and greatest > np.iinfo(np.int64).max:
        raise ScoreError(
            f"the score column {score!r} holds {greatest}, which is beyond 2^63; divide the scores"
        )
    return least is None or not is_beyond_floats(least, greatest)


def roc_counts_of_groups(
    found: Grouped,
    label: str,
    score: str,
    pos_label: Any,
    classes: Column | None,
    cells: int | None,
) -> RocCounts:
    """Return positives and negatives per score of distinct rows that were counted elsewhere."""
    import polars as pl

    values = found.rows[score]
    if not values.dtype.is_numeric():
        raise ScoreError(f"the score column {score!r} holds {values.dtype}; expected numbers")
    labels = found.require(label, "label")
    order = _order(labels, pos_label, classes)
    if values.dtype != pl.Int64 or not is_beyond_floats(values.min(), values.max()):
        values = values.cast(pl.Float64)
    ones = (labels == order[1].item()).to_numpy()
    columns = {score: values, _ONES: ones * found.counts, _ALL: found.counts}
    if found.squares is not None:
        columns |= {_SQUARE_ONES: ones * found.squares, _SQUARE_SCORE: found.squares}
    sums = pl.DataFrame(columns).group_by(score).agg(pl.all().sum())
    counts = _counted(sums, score, order)
    if cells is None and found.squares is None and len(counts.scores) > MOST_SCORES:
        cells = 1 << 20
    return counts if cells is None else _into_cells(counts, cells)


def _into_cells(counts: RocCounts, cells: int) -> RocCounts:
    """Return exact counts added up in equal cells of the scores, as `_in_cells` counts rows."""
    low, high = float(counts.scores[0]), float(counts.scores[-1])
    width = high - low if high > low else 1.0
    at = np.clip(np.floor((counts.scores - low) / width * cells), 0, cells - 1).astype(np.int64)
    own, place = np.unique(at, return_inverse=True)
    ones, others = (np.zeros(len(own), dtype=np.int64) for _ in range(2))
    np.add.at(ones, place, counts.positives)
    np.add.at(others, place, counts.negatives)
    return replace(
        counts,
        scores=np.asarray(low + own * (width / cells), dtype=np.float64),
        positives=ones,
        negatives=others,
        cells=True,
    )


def _too_many(lazy: Any, found: Grouped, score: str) -> bool:
    """Return whether a table has more distinct scores than are counted one by one."""
    return bool(found.counts.sum() > MOST_SCORES) and about_distinct(lazy, score) > MOST_SCORES


# --- The distinct combinations of some columns, with the number of rows of each.

_COUNT, _SQUARE = "__karat_count", "__karat_square"
FOLD = "__karat_fold"
# Distinct rows that are taken to the driver: some gigabytes.
_MOST_ROWS = 50_000_000


class RowWeight(NamedTuple):
    """The column of weights, and whether they are importances or numbers of equal rows."""

    column: str
    important: bool = True


class Grouped(NamedTuple):
    """Distinct rows as a Polars frame, and how many rows, or how much weight, each stands for.

    ``squares`` are sums of squared weights, where these are importances.
    """

    rows: Any
    counts: AnyArray
    squares: AnyArray | None = None

    def column(self, name: str | None) -> Any:
        """Return a column of the distinct rows, None where there is none."""
        return None if name is None else self.rows[name]

    def absent(self, name: str) -> BoolArray:
        """Return which distinct rows have no value in a column: null, or NaN."""
        column = self.rows[name]
        found = np.asarray(column.is_null().to_numpy(), dtype=bool)
        if column.dtype.is_float():
            found = found | np.asarray(column.is_nan().fill_null(False).to_numpy(), dtype=bool)
        return found

    def present(self, name: str) -> Grouped:
        """Return the distinct rows that have a true label in a column; refuse to have none."""
        absent = self.absent(name)
        if absent.all():
            raise LabelError(f"the label column {name!r} is missing in every row; name another")
        if not absent.any():
            return self
        squares = None if self.squares is None else self.squares[~absent]
        return Grouped(self.rows.filter(~absent), self.counts[~absent], squares)

    def require(self, name: str, what: str) -> Any:
        """Return a column that must have no nulls; the message counts the rows behind them."""
        column, absent = self.rows[name], self.absent(name)
        if absent.any():
            raise LabelError(
                f"the {what} column {name!r} is missing in {self.counts[absent].sum():,.6g} of "
                f"{self.counts.sum():,.6g} rows; drop them, or fill them in"
            )
        return column


def grouped(
    lazy: Any,
    keys: Sequence[str],
    *,
    weight: RowWeight | None = None,
    fold_by: str | None = None,
    folds: int = 0,
) -> Grouped:
    """Return the distinct combinations of ``keys``, and of the fold of ``fold_by`` if it is given.

    With ``weight`` the weights of the rows are added up instead of counted, and their squares too.
    """
    import narwhals as nw

    by = list(dict.fromkeys(keys))
    beside = [*([weight.column] if weight else []), *([fold_by] if folds and fold_by else [])]
    with engine_errors(engine_of(lazy)):
        table = lazy.select(*dict.fromkeys([*keys, *beside]))
        if folds and fold_by is not None:
            table = with_folds(table, fold_by, folds, FOLD)
            by.append(FOLD)
        sums = [nw.len().alias(_COUNT)]
        if weight is not None:
            check_weight_column(lazy, weight)
            # Spark and DuckDB add decimals and whole numbers in types of their own.
            mass = nw.col(weight.column).cast(nw.Float64)
            table = table.with_columns((mass * mass).alias(_SQUARE), mass.alias(_COUNT))
            sums = [nw.col(_COUNT).sum(), nw.col(_SQUARE).sum()]
        found = collect(table.group_by(*by).agg(*sums))
    if not len(found):
        raise EmptyDataError("the table has no rows; pass at least one")
    if len(found) > _MOST_ROWS:
        raise DataError(
            f"{len(found):,} distinct combinations of {by[:8]} on {engine_of(lazy)}; at most "
            f"{_MOST_ROWS:,} are counted in memory. Use fewer labelers, or count the groups apart"
        )
    if FOLD in by and found[FOLD].null_count():
        raise LabelError(f"the id column {fold_by!r} has nulls; give every row an identifier")
    found = found.sort(by, nulls_last=True)  # engines return groups in no fixed order
    counts = found[_COUNT].to_numpy()
    if weight is None or not weight.important:
        return Grouped(found.select(by), counts.astype(np.int64))
    return Grouped(found.select(by), counts.astype(np.float64), found[_SQUARE].to_numpy())


def check_weight_column(lazy: Any, weight: RowWeight) -> None:
    """Refuse weights that are no numbers, missing, negative or not finite, and parts of rows."""
    import narwhals as nw

    name = weight.column
    if not schema_of(lazy)[name].is_numeric():
        raise WeightError(f"the weight column {name!r} holds no numbers")
    value = nw.col(name).cast(nw.Float64)
    wrong = (value.is_null() | ~value.is_finite() | (value < 0)).cast(nw.Int64).sum()
    parts = (value != value.floor()).cast(nw.Int64).sum()
    seen = collect(lazy.select(wrong.alias("bad"), parts.alias("parts"), value.sum().alias("all")))
    bad, fractions, total = seen.row(0)
    if bad:
        raise WeightError(
            f"the weight column {name!r} is missing, negative or not finite in {bad:,} rows"
        )
    if not total:
        raise WeightError(f"the weight column {name!r} is zero in every row; expected one above 0")
    if fractions and not weight.important:
        raise WeightError(
            f"the weight column {name!r} holds fractions in {fractions:,} rows and ",
            Option("weighting", "frequency"),
            " counts rows",
            Remedy("pass whole numbers, or ", Option("weighting", "importance")),
        )


def with_value(lazy: Any, column: str) -> Any:
    """Return the rows that have a value in a column: neither null nor NaN."""
    import narwhals as nw

    value = nw.col(column)
    kept = ~value.is_null()
    if schema_of(lazy)[column].is_float():
        kept = kept & ~value.is_nan()
    return lazy.filter(kept)


def warm() -> None:
    """Count a few scores in a table that has to grow."""
    from karat.sources._counting_loops import count_cells

    bits = np.linspace(0, 1, 8).view(np.int64)
    codes = np.arange(8) % 2
    add_rows(bits, codes, np.zeros((4, 2), dtype=np.int64), np.zeros(5, dtype=np.int64))
    table = np.zeros((16, 4), dtype=np.int64)
    count_cells(bits, codes, table, np.zeros(1, dtype=np.int64), 0, hash_shift(table))


# --- Positives and negatives per score in one pass over the rows, in a table of hashes.

FEW = 200_000  # rows up to which NumPy sorts: importing numba takes longer
_SLOTS = 1 << 20
_MOST_HASHED = 2**31 - 1  # of which one count can hold all


class HashedScores(NamedTuple):
    """Rows at each score, how many of them have the second label, and the labels in any order."""

    scores: FloatArray
    seconds: IntArray
    rows: IntArray
    labels: IntArray


def hashed_scores(batches: Iterator[Any], label: str, score: str, most: int) -> HashedScores | None:
    """Count batches of whole labels and scores; None where there are more than ``most`` scores.

    Labels are at most three: more than two are refused elsewhere, and then counts are not used.
    """
    waiting: list[tuple[IntArray, IntArray]] = []
    table: IntArray = np.zeros((_SLOTS, 2), dtype=np.int64)
    state = np.zeros(5, dtype=np.int64)
    total = absent = 0
    for batch in batches:
        absent += batch[label].null_count()
        values = batch[score].to_numpy() + 0.0  # −0 becomes 0, and a null is NaN
        codes = (batch[label].fill_null(0) if absent else batch[label]).to_numpy()
        total += len(values)
        waiting.append((values.view(np.int64), codes.astype(np.int64, copy=False)))
        if total > _MOST_HASHED:
            return None
        if total > FEW:
            while waiting:
                table = add_rows(*waiting.pop(0), table, state)
            if state[0] > most:
                return None
    if not total:
        raise EmptyDataError("the table has no rows; pass at least one")
    if absent:
        raise LabelError(
            f"the label column {label!r} is missing in {absent:,} of {total:,} rows; drop them, or "
            "fill them in"
        )
    if waiting:
        return _sorted(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
    used = table[table[:, 1] != 0]
    seconds, rows = used[:, 1] >> 32, used[:, 1] & 0xFFFFFFFF
    return HashedScores(used[:, 0].copy().view(np.float64), seconds, rows, state[2 : 2 + state[1]])


def add_rows(bits: IntArray, codes: IntArray, table: IntArray, state: IntArray) -> IntArray:
    """Return the table with more rows, twice as large where it was half full."""
    from karat.sources._counting_loops import count_scores, moved

    done = 0
    while (done := count_scores(bits, codes, table, state, done, hash_shift(table))) < len(bits):
        larger = np.zeros((2 * len(table), 2), dtype=np.int64)
        moved(table, larger, hash_shift(larger))
        table = larger
    return table


def hash_shift(table: IntArray) -> int:
    """Return the bits of a hash that are dropped: the upper ones are the slot."""
    return 65 - len(table).bit_length()


def _sorted(bits: IntArray, codes: IntArray) -> HashedScores:
    """Return the same of a few rows, by sorting."""
    labels = np.unique(codes)
    distinct, place = np.unique(bits, return_inverse=True)
    second = labels[1] if len(labels) > 1 else labels[0] + 1
    seconds = np.bincount(place[codes == second], minlength=len(distinct))
    rows = np.bincount(place, minlength=len(distinct))
    return HashedScores(
        distinct.view(np.float64), seconds.astype(np.int64), rows.astype(np.int64), labels
    )
