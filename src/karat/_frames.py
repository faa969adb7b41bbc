"""Tables of the kind that was passed in.

A public function under `keeps_kind` marks its results with the library of the frame that it was
given and with the dtypes of groups and labels; ``Result.to_frame`` builds the same kind again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from karat._extras import require

__all__ = ["Passed", "frame_of", "keeps_kind", "mark", "passed_in"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")
# The argument that gives a column of a table its dtype: the first that is a column of a frame.
_LABELS = ("y_true", "y_pred", "y_pred_a", "votes", "weak_labels")
_NAMED_BY = {
    "group": ("groups", "domains"),
    "domain": ("domains", "groups"),
    "class": _LABELS,
    "pos_label": _LABELS,
    "truth": _LABELS,
    "item": ("ids",),
    "prediction": ("y_pred", *_LABELS),
}
# No other dtype is kept: that of a category holds all names, and a stored result would have them.
_ARGUMENTS = {name for names in _NAMED_BY.values() for name in names}


@dataclass(frozen=True, slots=True)
class Passed:
    """What kind of frame was passed in, and the dtypes that its table needs, by argument."""

    library: str
    dtypes: Mapping[str, Any] = field(default_factory=dict)


def keeps_kind(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let the results of a public function, or of a method, know the kind of frame passed in."""
    names = tuple(signature(function).parameters)
    anew = function.__name__.startswith("fit")

    @wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if anew and args:  # what an earlier fit was given counts no more
            vars(args[0]).pop("_passed", None)
        result = function(*args, **kwargs)
        passed = passed_in(**dict(zip(names, args, strict=False)), **kwargs)
        if passed is not None:
            mark(args[0] if function.__name__ == "__init__" else result, passed)
        return result

    return wrapper


def passed_in(**arguments: Any) -> Passed | None:
    """Return the library of the first argument that has one, and the dtypes of its columns."""
    library: str | None = None
    dtypes: dict[str, Any] = {}
    for name, value in arguments.items():
        before = getattr(value, "_passed", None)
        if isinstance(before, Passed):  # counts, or an estimator, that once were given a frame
            library, dtypes = library or before.library, {**before.dtypes, **dtypes}
            continue
        native = _native(value)
        found = _library(native)
        library = library or found
        if found is None or found != library or name not in _ARGUMENTS:
            continue
        if (dtype := _dtype(native)) is not None:
            dtypes[name] = dtype
    return None if library is None else Passed(library=library, dtypes=dtypes)


def mark(value: Any, passed: Passed) -> None:
    """Mark a result and all results inside it; an estimator, and the results that it keeps."""
    if hasattr(type(value), "_passed"):  # a slot: a result, or a source
        object.__setattr__(value, "_passed", passed)
    elif isinstance(value, Mapping):
        _mark_all(value.values(), passed)
        return
    elif isinstance(value, list | tuple):
        _mark_all(value, passed)
        return
    elif hasattr(value, "__dict__"):
        object.__setattr__(value, "_passed", passed)
        _mark_all(vars(value).values(), passed)
        return
    if is_dataclass(value) and type(value).__module__.startswith("karat."):
        _mark_all((getattr(value, f.name) for f in fields(value)), passed)


def _mark_all(values: Any, passed: Passed) -> None:
    for value in values:
        if isinstance(value, list | tuple | Mapping):
            some = next(iter(value.values() if isinstance(value, Mapping) else value), None)
            if is_dataclass(some) or isinstance(some, list | tuple | Mapping):
                mark(value, passed)
        elif is_dataclass(value):
            mark(value, passed)


def frame_of(columns: Mapping[str, Any], passed: Passed | None = None) -> Any:
    """Return a frame of the library that was passed in, else of Polars.

    Columns are arrays or lists; groups and labels get the dtype that they were passed with.
    """
    import narwhals as nw

    library: Any = "polars" if passed is None else passed.library
    require(library, purpose="a table of a result")
    plain = {name: _plain(values) for name, values in columns.items()}
    frame = nw.from_dict(plain, backend=library)
    if passed is None or not passed.dtypes:
        return frame.to_native()
    changed = [
        nw.from_native(again, series_only=True).alias(name)
        for name in columns
        if (dtype := _dtype_of(name, passed)) is not None
        and (again := _cast(frame[name].to_native(), dtype)) is not None
    ]
    return frame.with_columns(*changed).to_native()


def _native(value: Any) -> Any:
    """Return what narwhals wraps, and of a mapping its first value."""
    if isinstance(value, Mapping) and not hasattr(value, "shape"):  # a sparse array may be a dict
        value = next(iter(value.values()), None)
    return value.to_native() if type(value).__module__.startswith("narwhals.") else value


def _library(value: Any) -> str | None:
    """Return the library of a frame or a column, by its type, so that nothing is imported."""
    for kind in type(value).__mro__:
        library = kind.__module__.partition(".")[0]
        if library in _LIBRARIES:
            return library
    return None


def _dtype(value: Any) -> Any:
    """Return the dtype of a column as its library has it, of a frame that of its first column."""
    if hasattr(value, "collect"):
        return None  # to know it, a lazy frame would have to be run
    found = getattr(value, "dtype", None)
    if found is not None:
        return found
    if hasattr(value, "collect_schema"):  # Polars: asked for its types, a lazy frame would warn
        found = list(value.collect_schema().values())
        return found[0] if found else None
    dtypes = getattr(value, "dtypes", None)
    if dtypes is not None and len(dtypes):
        return dtypes.iloc[0] if hasattr(dtypes, "iloc") else dtypes[0]
    types = getattr(getattr(value, "schema", None), "types", None)
    return types[0] if types else getattr(value, "type", None)


def _dtype_of(column: str, passed: Passed) -> Any:
    for argument in _NAMED_BY.get(column, ()):
        if argument in passed.dtypes:
            return passed.dtypes[argument]
    return None


def _cast(series: Any, dtype: Any) -> Any:
    """Return a column with the dtype, None where its values would not be the same."""
    import narwhals as nw

    try:
        again = series.astype(dtype) if hasattr(series, "astype") else series.cast(dtype)
        before, after = (nw.from_native(s, series_only=True).to_list() for s in (series, again))
        return again if before == after else None
    except Exception:  # each library refuses in its own way, and the values then stay as they are
        return None


def _plain(values: Any) -> Any:
    """Return a column that every library reads alike."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biuf":
            return np.ascontiguousarray(values)
        values = values.tolist()
    listed = [v.item() if isinstance(v, np.generic) else v for v in values]
    # Half of a surrogate pair is text that no frame can hold.
    listed = [
        v.encode("utf-8", "backslashreplace").decode() if isinstance(v, str) else v for v in listed
    ]
    kinds = {type(v) for v in listed} - {type(None)}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if v is None else str(v) for v in listed]
    return listed
