"""From what a user names to one lazy table: files, folders, patterns, the standard input, frames.

`open_files` opens files by their ending after looking at their first bytes, and puts those of a
folder together after comparing their columns. `open_frame` takes frames of every library, queries
of DuckDB and tables of Spark. Nothing of this reads rows that are not needed to
know the columns; `read_rows` does, after asking whether they fit into memory. `text_options` say
how delimited text is written, to whoever reads its cells as they stand there.
"""

from karat.sources.opening._files import (
    ENDINGS,
    first_line,
    format_of,
    open_bytes,
    read_texts,
    text_options,
)
from karat.sources.opening._folders import list_files, open_files
from karat.sources.opening._frames import is_query, open_frame, open_query, open_spark_table
from karat.sources.opening._rows import is_plain, read_rows

__all__ = [
    "ENDINGS",
    "first_line",
    "format_of",
    "is_plain",
    "is_query",
    "list_files",
    "open_bytes",
    "open_files",
    "open_frame",
    "open_query",
    "open_spark_table",
    "read_rows",
    "read_texts",
    "text_options",
]
