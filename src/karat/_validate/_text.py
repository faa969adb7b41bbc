"""Text where numbers should be: which cell to quote."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray

__all__ = ["odd_text", "quoted_text"]


def odd_text(values: AnyArray, mask: BoolArray | None = None) -> int | None:
    """Return the first row of a column of text whose text is no number; None if there is none."""
    for row, text in enumerate(values.tolist()):
        if (mask is None or not mask[row]) and not _is_number(text):
            return row
    return None


def quoted_text(values: AnyArray, mask: BoolArray | None = None, *, distinct: bool = False) -> str:
    """Return the cell that makes a column one of text, for a message, and where it stands.

    Of ``distinct`` values nobody knows the rows.

    >>> quoted_text(np.array(["0.1", "0.7", "high"]))
    "row 2: 'high'"
    >>> quoted_text(np.array(["low", "high"]))
    "first 'low'"
    """
    row = odd_text(values, mask) or 0
    text = str(values[row])
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    if not row:
        return f"first {shown}"
    return f"such as {shown}" if distinct else f"row {row}: {shown}"


def _is_number(text: Any) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
