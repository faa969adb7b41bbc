"""Checks of length and shape."""

from typing import Any

import numpy as np

from karat.exceptions import LengthMismatchError

__all__ = ["check_same_length", "is_matrix"]


def check_same_length(**arrays: Any) -> None:
    """Check that all arrays that are not None have as many rows as the first one."""
    lengths = {name: len(a) for name, a in arrays.items() if a is not None}
    first, *others = lengths
    for other in others:
        if lengths[other] != lengths[first]:
            raise LengthMismatchError(
                f"{other} has {lengths[other]} rows and {first} has {lengths[first]}; "
                "pass one row of each per item"
            )


def is_matrix(values: Any) -> bool:
    """Return whether ``values`` has several columns of numbers: probabilities, not labels."""
    if isinstance(values, list | tuple):
        first: Any = values[0] if values else 0
        return hasattr(first, "__len__") and not isinstance(first, str | bytes) and len(first) > 1
    if isinstance(values, np.ndarray):
        return values.ndim > 1 and values.shape[1] > 1
    import narwhals as nw

    seen = nw.from_native(values, pass_through=True)
    if isinstance(seen, nw.DataFrame | nw.LazyFrame):
        kinds = list(seen.collect_schema().values())
        # A frame with a column that is no number cannot be probabilities: someone passed a table.
        return len(kinds) > 1 and all(kind.is_numeric() for kind in kinds)
    shape = getattr(values, "shape", None)
    return isinstance(shape, tuple) and len(shape) > 1 and shape[1] > 1
