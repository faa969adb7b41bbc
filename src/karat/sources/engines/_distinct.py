"""About how many distinct values a column has, by the sketch that each engine keeps."""

from typing import Any

from karat.sources.engines._collect import collect, engine_errors, engine_of

__all__ = ["about_distinct"]


def about_distinct(lazy: Any, column: str) -> int:
    """Return about how many distinct numbers a column holds, in one scan and little memory."""
    import narwhals as nw

    engine, native = engine_of(lazy), lazy.select(nw.col(column).cast(nw.Float64)).to_native()
    with engine_errors(engine):
        if engine == "polars":
            import polars as pl

            seen = native.select(pl.col(column).approx_n_unique())
        elif engine == "duckdb":
            quoted = column.replace('"', '""')
            seen = native.aggregate(f'approx_count_distinct("{quoted}") as n')
        elif engine == "pyspark":
            quoted = column.replace("`", "``")
            seen = native.selectExpr(f"approx_count_distinct(`{quoted}`) as n")
        else:
            seen = lazy.select(nw.col(column).n_unique()).to_native()
        return int(collect(nw.from_native(seen)).item())
