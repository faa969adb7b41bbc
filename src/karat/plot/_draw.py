"""Draw any result: the picture is chosen by its type."""

from functools import singledispatch
from typing import TYPE_CHECKING

from karat._result import Result
from karat.plot._counts import draw_pattern_counts, draw_patterns, draw_roc, draw_table
from karat.statistics import Confusion, PatternCounts, Patterns, Rates, RocCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]


@singledispatch
def draw(result: Result, ax: "Axes | None" = None) -> "Axes":
    """Draw a result of karat on ``ax`` (a new figure by default) and return the axes.

    ``result.plot()`` is the same; a new kind of result registers its picture here.
    """
    raise NotImplementedError(f"there is no picture of a {type(result).__name__}")


draw.register(Confusion, draw_table)
draw.register(Rates, draw_table)
draw.register(Patterns, draw_patterns)
draw.register(PatternCounts, draw_pattern_counts)
draw.register(RocCounts, draw_roc)
