"""Frames of every library, and lazy ones, which are collected once or refused.

A lazy frame is a query: each run of it may give the rows in another order. Two columns that are
collected apart are then paired wrongly, without a sign of it. So every reader refuses a lazy frame,
and a function whose answer does not depend on the order of the rows collects the frame once, with
`collected_alone`, before it reads.
"""

from typing import Any

import numpy as np

from karat.exceptions import ColumnError, LazyFrameError

__all__ = ["collected_alone", "is_lazy", "native_frame", "refuse_lazy", "seen_by_narwhals"]

# How each library runs a lazy frame; any other one is run by narwhals.
_RUN = {
    "polars": "lazy.collect()",
    "duckdb": "relation.pl()",
    "pyspark": "frame.toPandas()",
    "dask": "frame.compute()",
    "ibis": "table.to_polars()",
}
# Libraries whose columns run the query of their frame when NumPy reads them.
_LAZY_COLUMNS = {"dask", "ibis", "pyspark"}


def seen_by_narwhals(values: Any, name: str) -> Any:
    """Return a narwhals Series or frame if that is what ``values`` is, else None."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return None
    import narwhals as nw

    try:
        seen = nw.from_native(values, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ColumnError(f"{name} has two columns of the same name; rename one of them") from error
    return seen if isinstance(seen, nw.Series | nw.DataFrame | nw.LazyFrame) else None


def native_frame(values: Any, name: str) -> Any:
    """Return a narwhals DataFrame if ``values`` is a frame, else None; refuse a lazy frame."""
    seen = seen_by_narwhals(values, name)
    if hasattr(seen, "collect"):
        raise _refusal(str(seen.implementation), name)
    if seen is None and (library := type(values).__module__.partition(".")[0]) in _LAZY_COLUMNS:
        raise _refusal(library, name)
    return seen if hasattr(seen, "iter_columns") else None


def is_lazy(values: Any) -> bool:
    """Return whether ``values`` is a lazy frame, such as a DuckDB relation."""
    return hasattr(seen_by_narwhals(values, "the frame"), "collect")


def refuse_lazy(**arguments: Any) -> None:
    """Refuse lazy frames among arguments that karat hands on without reading them."""
    for name, values in arguments.items():
        native_frame(values, name)


def collected_alone(values: Any, name: str, *beside: Any) -> Any:
    """Return a lazy frame after collecting it once; anything else as it is.

    ``beside`` holds the other arguments with one value per row. Where one of them is given, a lazy
    frame is refused: its rows would have to come in the order of that argument.
    """
    seen = seen_by_narwhals(values, name)
    if not hasattr(seen, "collect"):
        return values
    if any(other is not None for other in beside):
        raise _refusal(str(seen.implementation), name)
    return seen.collect()


def _refusal(library: str, name: str) -> LazyFrameError:
    run = _RUN.get(library, "narwhals.from_native(lazy).collect()")
    return LazyFrameError(
        f"{name} is a lazy frame of {library}, and rows of a lazy frame come in no fixed order, so "
        f"they cannot be matched with other rows; run the query once, frame = {run}, and pass the "
        "columns of that one frame, or pass the lazy frame itself to karat.scan, which collects "
        "its columns together or counts them"
    )
