"""Tables of answers, of the kind that was passed in."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from karat._extras import require
from karat._validate import native_frame

__all__ = ["backend_of", "to_frame"]


def backend_of(votes: Any) -> Any:
    """Return the dataframe library of what was passed, None for arrays and lists."""
    frame = native_frame(votes, "votes")
    return None if frame is None else frame.implementation


def to_frame(columns: Mapping[str, Any], backend: Any) -> Any:
    """Return a frame of the wanted kind; by default pandas, or Polars where that is missing.

    A column is a list, an array, or a narwhals Series, which keeps its dtype.
    """
    import narwhals as nw

    if backend is None:
        backend = "pandas" if find_spec("pandas") else "polars"
        require(backend, purpose="a table of error rates")
    plain = {name: c for name, c in columns.items() if not isinstance(c, nw.Series)}
    frame = nw.from_dict(plain, backend=backend)
    named = [
        _of_library(c, frame.implementation).alias(name)
        for name, c in columns.items()
        if isinstance(c, nw.Series)
    ]
    return frame.with_columns(*named).select(list(columns)).to_native()


def _of_library(series: Any, library: Any) -> Any:
    """Return a narwhals Series as one of ``library``; it keeps its dtype where there is one."""
    import narwhals as nw

    if series.implementation == library:
        return nw.maybe_reset_index(series)
    values, dtype = series.to_list(), series.dtype
    if isinstance(dtype, nw.Enum) and library.is_pyarrow():
        dtype = nw.Categorical()  # PyArrow has no Enum
    if isinstance(dtype, nw.Categorical) and not all(isinstance(v, str) for v in values):
        return nw.new_series("values", values, backend=library)  # only pandas has such categories
    return nw.new_series("values", values, dtype, backend=library)
