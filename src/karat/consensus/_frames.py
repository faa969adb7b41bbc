"""Tables of answers, of the kind that was passed in."""

from importlib.util import find_spec
from typing import Any

from karat._extras import require
from karat._typing import AnyArray
from karat._validate import native_frame

__all__ = ["backend_of", "to_frame"]


def backend_of(votes: Any) -> Any:
    """Return the dataframe library of what was passed, None for arrays and lists."""
    frame = native_frame(votes, "votes")
    return None if frame is None else frame.implementation


def to_frame(columns: dict[str, AnyArray | list[Any]], backend: Any) -> Any:
    """Return a frame of the wanted kind; by default pandas, or Polars where that is missing."""
    import narwhals as nw

    if backend is None:
        backend = "pandas" if find_spec("pandas") else "polars"
        require(backend, purpose="a table of error rates")
    return nw.from_dict(columns, backend=backend).to_native()
