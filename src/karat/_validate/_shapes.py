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
    """Return whether ``values`` has more than one column (class probabilities, not labels)."""
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and shape and all(isinstance(s, int) for s in shape):
        return len(shape) > 1 and shape[1] > 1
    if isinstance(values, list | tuple) and values:
        return isinstance(values[0], list | tuple | np.ndarray) and len(values[0]) > 1
    return False
