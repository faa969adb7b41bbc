"""The rows of a table a batch at a time, where the engine runs in this process."""

from collections.abc import Iterator
from typing import Any

from karat.sources.engines._collect import engine_errors, engine_of

__all__ = ["batches"]

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
