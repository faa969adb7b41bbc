"""Tables with a row per vote."""

from collections.abc import Mapping, Sequence
from typing import Any

from karat._validate import refuse_option
from karat.exceptions import ColumnError
from karat.votes.reading import LONG_NAMES

__all__ = ["is_long", "long_code", "long_votes"]

_PARTS = {"item": "item", "voter": "classifier", "vote": "vote", "domain": "domain", "gold": "gold"}
_NEEDED = ("item", "voter", "vote")


def long_votes(frame: Any, given: Mapping[str, str] | None = None) -> Any:
    """Return the votes of a Polars frame with a row per vote, None if it has none.

    Columns get the names of the library; ``domain`` and ``gold`` are kept where there are any.
    ``given`` names the columns of item, voter and vote, and of domain and gold if wanted; names
    joined by ``+`` are one name together.
    """
    if given is not None:
        return _named_votes(frame, given)
    line = _line(frame.columns)
    if line is None:
        return None
    kept = [name for name in ("domain", "gold") if name in frame.columns]
    called = dict(zip(line, ("item", "classifier", "vote"), strict=True))
    return frame.select(*line, *kept).rename(called)


def _named_votes(frame: Any, given: Mapping[str, str]) -> Any:
    if set(given) - set(_PARTS) or not set(_NEEDED) <= set(given):
        refuse_option(
            dict(given), "long", "columns of item, voter and vote, also of domain and gold"
        )
    columns = []
    for part, text in given.items():
        names = [text] if text in frame.columns else text.split("+")
        for name in names:
            if name not in frame.columns:
                raise ColumnError(f"long: {part} is {name!r}; there are {frame.columns}")
        joined = frame[names[0]]
        for name in names[1:]:
            joined = joined.cast(str) + "+" + frame[name].cast(str)
        columns.append(joined.alias(_PARTS[part]))
    return frame.select(columns)


def long_code(given: Mapping[str, str]) -> str:
    """Return the code that selects the columns that ``given`` names from a frame."""
    picked = []
    for part, text in given.items():
        names = text.split("+")
        column = repr(text) if len(names) == 1 else f"pl.concat_str({names!r}, separator='+')"
        picked.append(f"{_PARTS[part]}={column}")
    return f".select({', '.join(picked)})"


def is_long(columns: Sequence[str]) -> bool:
    """Return whether columns are those of a table with a row per vote."""
    return _line(columns) is not None


def _line(columns: Sequence[str]) -> tuple[str, ...] | None:
    return next((known for known in LONG_NAMES if set(known) <= set(columns)), None)
