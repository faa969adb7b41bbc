"""Frames of every library, queries of DuckDB and tables of Spark as one lazy narwhals table."""

import re
from pathlib import Path
from typing import Any

from karat._extras import require
from karat.exceptions import DataError, EmptyDataError
from karat.sources.opening._files import first_line

__all__ = ["is_query", "open_frame", "open_query", "open_spark_table"]

_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)


def is_query(source: str) -> bool:
    """Return whether a text is a query and not a path."""
    return _QUERY.match(source) is not None and not Path(source).exists()


def open_query(query: str, connection: Any) -> Any:
    """Return the relation of a DuckDB query, of a connection or of the default one."""
    duckdb = require("duckdb", purpose="a query", extra="duckdb")
    try:
        relation = (duckdb if connection is None else connection).sql(query)
    except Exception as error:  # a parser, a binder and a catalogue each raise their own
        raise DataError(f"the query cannot be run: {first_line(error)}") from error
    if relation is None:
        raise DataError("the query returns no table; expected one that selects rows")
    return open_frame(relation)


def open_spark_table(name: str, session: Any) -> Any:
    """Return a table of a Spark session."""
    try:
        return open_frame(session.table(name))
    except DataError:
        raise
    except Exception as error:  # what Spark raises depends on the catalogue behind the session
        raise DataError(
            f"the Spark session has no table {name!r} that can be read: {first_line(error)}"
        ) from error


def open_frame(source: Any) -> Any:
    """Return any frame as a lazy narwhals table; frames in memory become those of Polars."""
    import narwhals as nw

    try:
        seen = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError("the frame has two columns of the same name; rename one") from error
    if isinstance(seen, nw.LazyFrame):
        return seen
    if not isinstance(seen, nw.DataFrame):
        raise DataError(
            f"source is a {type(source).__name__}; expected a path, a folder, a pattern such as "
            "'scores/*.parquet', '-', a frame, a DuckDB relation or query, or a Spark frame"
        )
    require("polars", purpose="scanning a frame")
    if not len(seen):
        raise EmptyDataError("the frame has no rows")
    odd = [name for name in seen.columns if not isinstance(name, str)]
    if odd:
        raise DataError(f"the column {odd[0]!r} has a name that is no text; rename it")
    return nw.from_native(seen.to_polars().lazy())
