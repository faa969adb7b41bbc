"""What differs between Polars, DuckDB and Spark: running a query, hashing, sketches.

Everything else is one path through narwhals. `collect` runs a lazy table once, in streaming mode
where there is one, and says in a sentence why it could not. `with_folds` adds the fold of each
identifier, which is the same on every engine; `about_distinct` asks how many values there are,
and `batches` gives rows that are in this process a few at a time.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import md5
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from karat._files import first_line
from karat._sentences import Remedy
from karat._typing import AnyArray, IntArray
from karat.exceptions import ColumnError, DataError, KaratError

_ROWS = 1 << 17


def batches(lazy: Any) -> Iterator[Any] | None:
    """Yield frames of Polars with some rows each; None where rows are not in this process.

    Rows of Spark stay where they are: only what they are counted to comes here.
    """
    engine, native = engine_of(lazy), lazy.to_native()
    if engine == "polars" and hasattr(native, "collect_batches"):
        return _polars(native)
    if engine == "duckdb":
        return _duckdb(native)
    return None


def _polars(native: Any) -> Iterator[Any]:
    with engine_errors("polars"):
        yield from native.collect_batches(engine="streaming")


def _duckdb(native: Any) -> Iterator[Any]:
    import polars as pl

    with engine_errors("duckdb"):
        new = "to_arrow_reader" in dir(native)  # the method's name before DuckDB 1.4 is the other
        read = native.to_arrow_reader if new else native.fetch_arrow_reader
        for batch in read(_ROWS):
            yield pl.from_arrow(batch)


def is_spark(engine: str) -> bool:
    """Return whether an engine is Spark, in this process or behind Spark Connect."""
    return engine.startswith("pyspark")


def check_names(engine: str, columns: Iterable[str]) -> None:
    """Refuse names of columns that an engine takes for something else."""
    for name in columns if is_spark(engine) else ():
        if "." in name or "`" in name:
            plain = name.replace(".", "_").replace("`", "")
            raise ColumnError(
                f"Spark does not take {name!r} for the name of one column",
                Remedy(f"rename it, frame.withColumnRenamed({name!r}, {plain!r})"),
            )


def about_distinct(lazy: Any, column: str) -> int:
    """Return about how many distinct values a column holds, in one scan and little memory."""
    import narwhals as nw

    value = nw.col(column)
    if schema_of(lazy)[column].is_numeric():
        value = value.cast(nw.Float64)
    engine, native = engine_of(lazy), lazy.select(value).to_native()
    with engine_errors(engine):
        if engine == "polars":
            import polars as pl

            seen = native.select(pl.col(column).approx_n_unique())
        elif engine == "duckdb":
            quoted = column.replace('"', '""')
            seen = native.aggregate(f'approx_count_distinct("{quoted}") as n')
        elif is_spark(engine):
            quoted = column.replace("`", "``")
            seen = native.selectExpr(f"approx_count_distinct(`{quoted}`) as n")
        else:
            seen = lazy.select(nw.col(column).n_unique()).to_native()
        return int(collect(nw.from_native(seen)).item())


# --- The fold of an item from its identifier: the same on every engine, in every order of the rows.

FOLDS = 5
# Two quadratic steps modulo a prime: whole numbers that every engine can square without overflow.
PRIME = 2**31 - 1
MIXING = ((48271, 11), (69621, 7))
_DIGITS = 8  # hexadecimal digits of the MD5 digest that count, where identifiers are text


def fold_of(ids: AnyArray, folds: int = FOLDS) -> IntArray:
    """Return the fold of each identifier, whole numbers or text, as `with_folds` computes it."""
    if ids.dtype.kind in "iu":
        return np.asarray(_mixed(ids.astype(np.int64)) % folds)
    return np.fromiter((_digest(str(text)) % folds for text in ids), np.int64, len(ids))


def _mixed(ids: IntArray) -> IntArray:
    """Return a number below the prime for each whole number."""
    x = ids % PRIME
    for slope, shift in MIXING:
        x = (x * (x + slope) + shift) % PRIME
    return np.asarray(x)


def _digest(text: str) -> int:
    return int(md5(text.encode(), usedforsecurity=False).hexdigest()[:_DIGITS], 16)


def with_folds(lazy: Any, column: str, folds: int, name: str) -> Any:
    """Return the table with the fold of each row, by a hash of its identifier."""
    import narwhals as nw

    dtype = schema_of(lazy)[column]
    if dtype.is_integer():
        return _of_numbers(lazy, column, folds, name)
    if not isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        raise ColumnError(
            f"the id column {column!r} holds {dtype}; expected whole numbers or text, whose hash "
            "gives the fold of an item"
        )
    return nw.from_native(_of_text(lazy, column, folds, name))


def _of_numbers(lazy: Any, column: str, folds: int, name: str) -> Any:
    """Return the table with `_mixed`, a column at a time: engines compute an expression anew."""
    import narwhals as nw

    if engine_of(lazy) == "duckdb":
        return nw.from_native(_duckdb_fold(lazy.to_native(), column, folds, name))
    rest, x = nw.col(column).cast(nw.Int64) % PRIME, nw.col(name)
    table = lazy.with_columns(rest.alias(name))
    if engine_of(lazy) != "polars":  # other engines give a remainder the sign of the number
        table = table.with_columns(((x + PRIME) % PRIME).alias(name))
    for slope, shift in MIXING:
        table = table.with_columns(((x * (x + slope) + shift) % PRIME).alias(name))
    return table.with_columns((x % folds).alias(name))


def _duckdb_fold(native: Any, column: str, folds: int, name: str) -> Any:
    """Return the same in DuckDB's own words: through narwhals every remainder is taken twice."""
    quoted = column.replace('"', '""')
    first = f'(cast("{quoted}" as bigint) % {PRIME} + {PRIME}) % {PRIME}'
    table = native.select(f'*, {first} as "{name}"')
    for slope, shift in MIXING:
        x = f'("{name}" * ("{name}" + {slope}) + {shift}) % {PRIME}'
        table = table.select(f'* replace ({x} as "{name}")')
    return table.select(f'* replace ("{name}" % {folds} as "{name}")')


def _of_text(lazy: Any, column: str, folds: int, name: str) -> Any:
    native, engine = lazy.to_native(), engine_of(lazy)
    if engine == "polars":
        return _polars_fold(native, column, folds, name)
    if engine == "duckdb":
        quoted = column.replace('"', '""')
        number = f"cast('0x' || substr(md5(\"{quoted}\"), 1, {_DIGITS}) as bigint)"
        return native.select(f'*, {number} % {folds} as "{name}"')
    if is_spark(engine):
        quoted = column.replace("`", "``")
        number = f"cast(conv(substr(md5(`{quoted}`), 1, {_DIGITS}), 16, 10) as bigint)"
        return native.selectExpr("*", f"{number} % {folds} as `{name}`")
    raise DataError(
        f"text identifiers cannot be hashed on {engine}; pass an id column of whole numbers"
    )


def _polars_fold(native: Any, column: str, folds: int, name: str) -> Any:
    import polars as pl

    def hashed(batch: Any) -> Any:
        values = batch.cast(pl.String).to_list()
        found = [None if text is None else _digest(text) % folds for text in values]
        return pl.Series(found, dtype=pl.Int64)

    fold = pl.col(column).map_batches(hashed, return_dtype=pl.Int64, is_elementwise=True)
    return native.with_columns(fold.alias(name))


# --- Run a lazy table once, and say in a sentence why it could not be run.

# What Spark says when its session has been stopped, by class or by text.
_GONE = (
    "stopped SparkContext",
    "SparkContext was shut down",
    "SESSION_OR_CONTEXT_NOT_EXISTS",
    "SESSION_CLOSED",
    "No active Spark",
    "Connection refused",
    "Connection reset",
    "Py4JNetworkError",
    "Error while sending",
    "StatusCode.UNAVAILABLE",
    "'NoneType' object has no attribute",
)


def engine_of(lazy: Any) -> str:
    """Return the name of the engine that runs a table."""
    return str(lazy.implementation).lower()


def is_fault(error: BaseException) -> bool:
    """Return whether an engine failed: no Ctrl-C, but the panics of Polars, which are no errors."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def engine_errors(engine: str) -> Iterator[None]:
    """Turn what an engine raises, when a query is made or run, into one sentence."""
    try:
        yield
    except BaseException as error:  # each engine raises its own
        if isinstance(error, KaratError) or not is_fault(error):
            raise
        text = f"{type(error).__name__}: {error}"
        # A stopped session of this process has no context left, which Spark only asserts.
        gone = isinstance(error, AssertionError) or any(sign in text for sign in _GONE)
        if is_spark(engine) and gone:
            raise DataError(
                "the Spark session of this frame is gone; start a session and make the frame anew"
            ) from error
        raise DataError(f"{engine} could not run the query: {first_line(error)}") from error


def schema_of(lazy: Any) -> Any:
    """Return the types of the columns of a lazy table, for which some engines have to ask."""
    with engine_errors(engine_of(lazy)):
        return lazy.collect_schema()


def collect(lazy: Any) -> Any:
    """Return the rows of a lazy table as a Polars frame."""
    engine = engine_of(lazy)
    with engine_errors(engine):
        if engine == "polars":
            return lazy.to_native().collect(engine="streaming")
        return lazy.collect(backend="polars").to_native()


# --- Run a query once: its rows are kept where they are until everything is counted.
#
# A table or file gives the same rows each time it is read. A query need not, and every engine runs
# it again for each of the counts. Within `kept` it is run once: DuckDB keeps its rows in a table
# that is temporary, Spark in the memory and on the disks of its executors, Ibis in a table of its
# back end, and a lazy frame of Polars is streamed to a Parquet file that is deleted afterwards.

_NUMBER = count()
# The lines of the plan of a lazy frame of Polars that reads rows and changes them one by one; what
# sorts, joins, samples or calls Python may give others the next time.
_READS = re.compile(
    r"\s*(?!PYTHON)(\w+ SCAN |DF \[|PROJECT |ESTIMATED ROWS|ROW_INDEX|SELECT |WITH_COLUMNS:|\[|"
    r"FILTER |FROM|UNION|END UNION|PLAN \d+:|$)"
)
_CHANGES = re.compile(r"python_udf|\.(sample|shuffle)\(")


@contextmanager
def kept(lazy: Any, columns: Sequence[str], *, plain: bool) -> Iterator[Any]:
    """Give some columns of a table whose rows stay the same until the end of the block.

    ``plain`` says that they do so by themselves.
    """
    if plain or not columns:
        yield lazy
        return
    engine = engine_of(lazy)
    if engine == "polars":
        keep = _kept_polars
    elif engine == "duckdb":
        keep = _kept_duckdb
    elif is_spark(engine):
        keep = _kept_spark
    elif engine == "ibis":
        keep = _kept_ibis
    else:  # counts that turn out to be of other rows are refused
        yield lazy
        return
    with keep(lazy, list(columns)) as found:
        yield found


@contextmanager
def _kept_polars(lazy: Any, columns: list[str]) -> Iterator[Any]:
    import narwhals as nw
    import polars as pl

    native = lazy.to_native()
    with engine_errors("polars"):
        plan = native.explain(optimized=False)
    if all(map(_READS.match, plan.splitlines())) and _CHANGES.search(plan) is None:
        yield lazy
        return
    with tempfile.TemporaryDirectory(prefix="karat-") as folder:
        path = Path(folder) / "rows.parquet"
        with engine_errors("polars"):
            native.select(columns).sink_parquet(path, compression="lz4")
        yield nw.from_native(pl.scan_parquet(path))


@contextmanager
def _kept_duckdb(lazy: Any, columns: list[str]) -> Iterator[Any]:
    import narwhals as nw

    native = lazy.select(*columns).to_native()
    table = f"karat_rows_{next(_NUMBER)}"
    view = f"{table}_of"
    with engine_errors("duckdb"):
        native.query(view, f"create temporary table {table} as select * from {view}")
    try:
        with engine_errors("duckdb"):
            rows = native.query(view, f"select * from temp.{table}")
        yield nw.from_native(rows)
    finally:
        with suppress(Exception):  # of a connection that is closed nothing is left
            native.query(view, f"drop table temp.{table}")
            native.query(view, f"drop view if exists temp.{view}")


@contextmanager
def _kept_spark(lazy: Any, columns: list[str]) -> Iterator[Any]:
    import narwhals as nw

    engine = engine_of(lazy)
    with engine_errors(engine):
        native = lazy.to_native()
        level = native.storageLevel
        cached = level.useMemory or level.useDisk
        rows = native if cached else lazy.select(*columns).to_native()
        if not cached and engine != "pyspark" and hasattr(rows, "localCheckpoint"):
            # Each request to a server draws numbers of its own, of whose rows none are kept; those
            # of a checkpoint are, until the frame is forgotten here.
            rows, cached = rows.localCheckpoint(), True
        elif not cached:
            rows = rows.persist()
    try:
        yield nw.from_native(rows)
    finally:
        if not cached:
            with suppress(Exception):  # a session that is gone keeps nothing
                rows.unpersist()


@contextmanager
def _kept_ibis(lazy: Any, columns: list[str]) -> Iterator[Any]:
    import narwhals as nw

    with engine_errors("ibis"):
        rows = lazy.select(*columns).to_native().cache()
    try:
        yield nw.from_native(rows)
    finally:
        with suppress(Exception):
            rows.release()
