"""Types shared by the whole package."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

AnyArray: TypeAlias = NDArray[Any]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.integer[Any]]

# What users pass: an array-like, or a series or frame that narwhals supports (pandas, polars,
# PyArrow; lazy frames where they stand alone). The latter have no common base class, hence Any.
Column: TypeAlias = ArrayLike | Any
Frame: TypeAlias = ArrayLike | Any
