"""Counts in a Parquet file: written whole or not at all, read back with a check of the version.

A file is one long table: every row is a cell of one of the counts, and the first row holds, as
JSON, the version of the format and what the codes of the cells stand for. `is_counts` looks at the
columns alone.
"""

from karat.sources.stored._layout import COLUMNS, VERSION
from karat.sources.stored._read import is_counts, read_counts
from karat.sources.stored._write import write_counts

__all__ = ["COLUMNS", "VERSION", "is_counts", "read_counts", "write_counts"]
