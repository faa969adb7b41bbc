"""A large table as its distinct rows, each with the number of rows that it stands for.

Labels, predictions and groups repeat, and scores are often rounded, so a hundred million rows may
have a few thousand distinct ones. Whatever does not look at the order of the rows is answered from
these and their numbers, exactly, in one scan on the engine that holds the rows; only the distinct
rows come back. Where nearly every row is another, a random sample of rows stands for the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from karat._typing import IntArray
from karat.exceptions import EmptyDataError
from karat.sources.counting import FEW, hash_shift
from karat.sources.engines import (
    batches,
    collect,
    engine_errors,
    engine_of,
    is_spark,
    kept,
    schema_of,
)

MOST_CELLS = 2_000_000  # distinct rows that are taken from an engine
SAMPLED = 1_000_000  # rows of a sample, where there are more distinct ones
_COUNT = "__karat_count"
_ROW = "__karat_row"
_MOST_KINDS = 64  # combinations of the other columns beside a column of scores
_SLOTS = 1 << 14


class Cells(NamedTuple):
    """Distinct rows as a Polars frame, how many rows each stands for, and of how many rows.

    ``n`` is the number of rows of the table; ``counts`` add up to less where the rows are a sample.
    """

    rows: Any
    counts: IntArray
    n: int

    @property
    def is_sample(self) -> bool:
        """Whether the rows are a random sample of the table."""
        return bool(self.counts.sum() < self.n)

    def expanded(self) -> Any:
        """Return every row as often as it occurs, those that are equal beside one another."""
        return self.rows[np.repeat(np.arange(len(self.counts)), self.counts)]


def cells_of(
    lazy: Any,
    columns: Sequence[str],
    *,
    most: int = MOST_CELLS,
    sampled: int = SAMPLED,
    seed: int = 0,
) -> Cells:
    """Return the distinct rows of some columns, or a random sample of rows if they are too many."""
    names = list(dict.fromkeys(columns))
    engine = engine_of(lazy)
    # Polars scans its rows more than once; other engines do so only where a sample is drawn.
    with engine_errors(engine), kept(lazy, names, plain=engine != "polars") as rows:
        found = _distinct(rows, names, most)
        if found is None:
            return _sampled(rows, names, sampled, seed)
    if not len(found):
        raise EmptyDataError("the table has no rows; pass at least one")
    found = found.sort(names, nulls_last=True)  # engines return groups in no fixed order
    counts = found[_COUNT].cast(int).to_numpy()
    return Cells(found.select(names), counts, int(counts.sum()))


def _distinct(lazy: Any, names: list[str], most: int) -> Any:
    """Return the distinct rows with their counts in a column, or None if there are too many."""
    import narwhals as nw

    table = lazy.select(*names)
    schema = schema_of(table)
    numbers = [name for name in names if schema[name].is_float()]
    if engine_of(lazy) == "polars":
        if len(numbers) == 1:
            found = _by_score(table, numbers[0], [n for n in names if n not in numbers], most)
            if found is not None:
                return found
        if numbers and _about_distinct(table, names) > most:
            return None
    with engine_errors(engine_of(lazy)):
        # An engine that holds more hands over no more than tells that there are too many.
        found = collect(table.group_by(*names).agg(nw.len().alias(_COUNT)).head(most + 1))
    return None if len(found) > most else found


def _about_distinct(table: Any, names: list[str]) -> int:
    """Return about how many distinct rows a table of Polars has, in one scan and little memory."""
    import polars as pl

    hashed = pl.struct(pl.col(names)).hash().approx_n_unique()
    return int(table.to_native().select(hashed).collect(engine="streaming").item())


# --- One column of scores beside few combinations of others: a table of hashes, with a count each.


def _by_score(table: Any, score: str, others: list[str], most: int) -> Any:
    """Return the distinct rows of a Polars table by hashing the scores; None where that cannot be.

    A first scan finds the combinations of the other columns, a second one counts the scores.
    """
    import polars as pl

    native = table.to_native()
    with engine_errors("polars"):
        if int(native.select(pl.len()).collect(engine="streaming").item()) <= FEW:
            return None  # importing numba takes longer
        kinds = native.select(others or pl.lit(0).alias(_ROW)).unique().collect(engine="streaming")
    if not 0 < len(kinds) <= _MOST_KINDS:
        return None
    code, size = _code_of(kinds)
    if code is None:
        return None
    place = np.full(size, -1, dtype=np.int64)
    place[kinds.select(code)[_COUNT].to_numpy()] = np.arange(len(kinds))
    counted = _hashed(table, score, others, code, place, most)
    if counted is None:
        return None
    bits, counts = counted
    at, kind = np.nonzero(counts)
    values = pl.Series(score, bits[at].view(np.float64)).fill_nan(None)
    frame = kinds[kind].with_columns(values.cast(native.collect_schema()[score]))
    return frame.select([*others, score]).with_columns(pl.Series(_COUNT, counts[at, kind]))


def _code_of(kinds: Any) -> tuple[Any, int]:
    """Return an expression that gives each combination a number of its own, and their range."""
    import polars as pl

    code, size = pl.lit(0, dtype=pl.Int64), 1
    for name in kinds.columns:
        column = kinds[name]
        if column.dtype.is_integer() or column.dtype == pl.Boolean:
            least, greatest = column.cast(pl.Int64).min(), column.cast(pl.Int64).max()
            least, greatest = (0, 0) if least is None else (least, greatest)
            number, width = pl.col(name).cast(pl.Int64) - least, greatest - least + 1
        elif column.dtype == pl.String:
            values = column.drop_nulls().unique().sort().to_list()
            number = pl.col(name).cast(pl.Enum(values)).to_physical().cast(pl.Int64)
            width = len(values)
        else:
            return None, 0
        code = code * (width + 1) + number.fill_null(width)
        size *= width + 1
        if size > 1 << 20:
            return None, 0
    return code.alias(_COUNT), size


def _hashed(
    table: Any, score: str, others: list[str], code: Any, place: IntArray, most: int
) -> tuple[IntArray, IntArray] | None:
    """Return the bits of the distinct scores and the counts (scores, kinds), None of too many."""
    import polars as pl

    from karat.sources._counting_loops import count_cells, moved

    kinds = int(place.max()) + 1
    held = np.zeros((_SLOTS, 2 + kinds), dtype=np.int64)
    state = np.zeros(1, dtype=np.int64)
    kept = pl.col(score).cast(pl.Float64)
    rows = batches(table)
    assert rows is not None  # those of Polars are in this process
    for batch in rows:
        # A null becomes NaN, all NaN one, and −0 becomes 0.
        part = batch.select(kept, *([code] if others else [pl.lit(0).alias(_COUNT)]))
        values = part[score].to_numpy() + 0.0
        values[np.isnan(values)] = np.nan
        kind = place[np.broadcast_to(part[_COUNT].to_numpy(), len(values))]
        done = 0
        while True:
            done = count_cells(values.view(np.int64), kind, held, state, done, hash_shift(held))
            if done == len(values):
                break
            if state[0] * kinds > most * 8:
                return None
            larger = np.zeros((2 * len(held), held.shape[1]), dtype=np.int64)
            moved(held, larger, hash_shift(larger))
            held = larger
    used = held[held[:, 1] != 0]
    if np.count_nonzero(used[:, 2:]) > most:
        return None
    return used[:, 0].copy(), used[:, 2:]


# --- A random sample of rows.


def _sampled(lazy: Any, names: list[str], rows: int, seed: int) -> Cells:
    """Return a random sample of rows, each once, and how many rows there are."""
    import narwhals as nw

    engine, table = engine_of(lazy), lazy.select(*names)
    with engine_errors(engine):
        total = int(collect(lazy.select(nw.len().alias("n")))["n"][0])
        frame = _drawn(table, engine, total, rows, seed)
    return Cells(frame, np.ones(len(frame), dtype=np.int64), total)


def _drawn(table: Any, engine: str, total: int, rows: int, seed: int) -> Any:
    import polars as pl

    native = table.to_native()
    if engine == "polars":
        chosen = np.sort(np.random.default_rng(seed).choice(total, min(rows, total), replace=False))
        kept = pl.LazyFrame({_ROW: chosen.astype(np.uint32)})
        numbered = native.with_row_index(_ROW)
        return numbered.join(kept, on=_ROW, how="semi").sort(_ROW).drop(_ROW).collect()
    import narwhals as nw

    share = min(1.0, rows / max(total, 1))
    if is_spark(engine):
        return collect(nw.from_native(native.sample(fraction=share, seed=seed)))
    if engine == "duckdb":
        drawn = native.query(
            "rows_", f"select * from rows_ using sample {rows} rows (reservoir, {seed})"
        )
        return collect(nw.from_native(drawn))
    return collect(nw.from_native(native).sample(n=rows, seed=seed))
