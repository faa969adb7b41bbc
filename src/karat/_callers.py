"""Where a warning points: at the line of whoever called karat."""

import sys


def caller_level() -> int:
    """Return the ``stacklevel`` of the first caller outside karat, however deep the warning is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("karat."):
        frame, level = frame.f_back, level + 1
    return level
