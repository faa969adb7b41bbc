"""Cells of tables that spreadsheets open."""

from typing import Any

__all__ = ["escape_cell"]

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def escape_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text gets an apostrophe before it.

    Numbers stay numbers.

    >>> escape_cell("=1+1"), escape_cell(-1.5), escape_cell("fine")
    ("'=1+1", -1.5, 'fine')
    """
    if isinstance(value, str) and value.lstrip(" \u00a0\ufeff").startswith(_STARTS):
        return f"'{value}"
    return value
