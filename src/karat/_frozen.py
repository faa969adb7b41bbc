"""Frozen values that hold arrays: equality, hash and plain data for all of them."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from karat._typing import AnyArray

__all__ = ["Frozen", "frozen_array", "plain"]


def frozen_array(values: Any, dtype: Any = None) -> AnyArray:
    """Return a read-only array, copied unless nobody can write to ``values`` any more.

    A read-only view may look at memory that its owner still changes, so a view is copied too.
    """
    array = np.asarray(values, dtype=dtype)
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.flags.writeable = False
    return array


def _frozen_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return frozen_array(value)
    if type(value) is tuple and any(isinstance(item, np.ndarray) for item in value):
        return tuple(_frozen_value(item) for item in value)
    return value


def plain(value: Any) -> Any:
    """Turn arrays, NumPy scalars and frozen values into what JSON can hold.

    JSON has no infinity and no NaN: both become None.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Frozen):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _comparable(value: Any) -> Any:
    """Return a hashable stand-in that is equal exactly when the values are."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            # NaN equals NaN here, though Python's does not even have one hash.
            numbers = tuple(None if v != v else v for v in value.ravel().tolist())
            return "f", value.shape, numbers
        return value.dtype.kind, value.shape, tuple(value.ravel().tolist())
    if isinstance(value, Mapping):
        return tuple((key, _comparable(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(_comparable(item) for item in value)
    if isinstance(value, float) and value != value:
        return "NaN"  # a number that is missing equals one that is missing
    return value


class Frozen:
    """Base of frozen dataclasses whose fields may be arrays.

    A field declared with ``compare=False`` takes no part in equality or hash.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        """Make every array read-only; called by the dataclass's own constructor."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray | tuple):
                object.__setattr__(self, field.name, _frozen_value(value))

    def __reduce__(self) -> Any:
        # Pickle and deepcopy give back arrays that can be written to: freeze them again.
        return _thaw, (type(self), {f.name: getattr(self, f.name) for f in fields(self)})  # type: ignore[arg-type]

    def _compared(self) -> tuple[Any, ...]:
        named = (field for field in fields(self) if field.compare)  # type: ignore[arg-type]
        return tuple(getattr(self, field.name) for field in named)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._compared(), other._compared()
        return all(_same(a, b) for a, b in zip(mine, theirs, strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, _comparable(self._compared())))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python data that ``json.dumps`` accepts."""
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]


def _thaw(kind: type, values: dict[str, Any]) -> Any:
    """Build a frozen value from its fields."""
    value: Any = object.__new__(kind)
    for name, field in values.items():
        object.__setattr__(value, name, _frozen_value(field))
    return value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        both_float = a.dtype.kind == b.dtype.kind == "f"
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b, equal_nan=both_float)
    return bool(_comparable(a) == _comparable(b))
