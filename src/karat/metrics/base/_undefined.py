"""One warning for a value that is a convention."""

import sys
import warnings

from karat._typing import BoolArray
from karat.exceptions import UndefinedMetricWarning

__all__ = ["warn_undefined"]


def warn_undefined(name: str, undefined: BoolArray, convention: str) -> None:
    """Warn that a value is a convention; call only where ``undefined`` has a true entry."""
    # Point at the caller's line, however deep inside karat the value is computed.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("karat."):
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"{name} is undefined on {int(undefined.sum())} of {undefined.size} confusions "
        f"(a denominator is 0); {convention}",
        UndefinedMetricWarning,
        stacklevel=level,
    )
