"""One warning for a value that is a convention."""

import warnings

from karat._callers import caller_level
from karat._typing import BoolArray
from karat.exceptions import UndefinedMetricWarning

__all__ = ["warn_undefined"]


def warn_undefined(name: str, undefined: BoolArray, convention: str) -> None:
    """Warn that a value is a convention; call only where ``undefined`` has a true entry."""
    warnings.warn(
        f"{name} is undefined on {int(undefined.sum())} of {undefined.size} confusions "
        f"(a denominator is 0); {convention}",
        UndefinedMetricWarning,
        stacklevel=caller_level(),
    )
