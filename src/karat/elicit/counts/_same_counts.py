"""Whether two confusions are shown by the same numbers."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.counts._whole_counts import as_cases, whole_counts

__all__ = ["same_counts"]


def same_counts(first: FloatArray, second: FloatArray, out_of: int) -> bool:
    """Whether confusions (groups, k, k) have the same whole counts out of ``out_of`` each.

    Most pairs differ by more than rounding can hide, which is seen before anything is rounded.
    """
    one, other = as_cases(first, out_of), as_cases(second, out_of)
    if (np.ceil(one) < np.floor(other)).any() or (np.ceil(other) < np.floor(one)).any():
        return False
    rounded = (whole_counts(a, b) for a, b in zip(one, other, strict=True))
    return all(np.array_equal(a, b) for a, b in rounded)
