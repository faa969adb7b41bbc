"""Tables with a row per vote."""

from collections.abc import Sequence
from typing import Any

__all__ = ["is_long", "long_votes"]

# What such a table may call an item, a voter and a vote.
_LONG = (
    ("item", "classifier", "vote"),
    ("item", "judge", "verdict"),
    ("task", "worker", "label"),
    ("task", "worker", "answer"),
)


def long_votes(frame: Any) -> Any:
    """Return the votes of a Polars frame with a row per vote, None if it has none.

    Columns get the names of the library; ``domain`` and ``gold`` are kept where there are any.
    """
    line = _line(frame.columns)
    if line is None:
        return None
    kept = [name for name in ("domain", "gold") if name in frame.columns]
    named = dict(zip(line, ("item", "classifier", "vote"), strict=True))
    return frame.select(*line, *kept).rename(named)


def is_long(columns: Sequence[str]) -> bool:
    """Return whether columns are those of a table with a row per vote."""
    return _line(columns) is not None


def _line(columns: Sequence[str]) -> tuple[str, ...] | None:
    return next((known for known in _LONG if set(known) <= set(columns)), None)
