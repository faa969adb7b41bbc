"""Pictures of confidence limits: a whisker for every way to find them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.limits import Limits, PoweredLimits
from karat.plot.style import COLORS, GRID, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_limits", "draw_powered"]


def draw_limits(result: Limits, ax: "Axes | None" = None) -> "Axes":
    """Draw the estimate as a point and the limits as whiskers."""
    ax = new_axes(ax, (6.0, 1.6))
    _draw_rows(ax, [(result.method, result)], result.confidence)
    return ax


def draw_powered(result: PoweredLimits, ax: "Axes | None" = None) -> "Axes":
    """Draw the limits with the predictions, of the labels alone, and for any number of items."""
    ax = new_axes(ax, (6.0, 2.4))
    rows: list[tuple[str, Any]] = [
        ("with predictions", result),
        ("labels alone", result.labels),
    ]
    if result.certain is not None:
        rows.append(("for any number", result.certain))
    _draw_rows(ax, rows, result.confidence)
    return ax


def _draw_rows(ax: Any, rows: list[tuple[str, Any]], confidence: float) -> None:
    for at, (_, limits) in enumerate(rows):
        color = COLORS[at % len(COLORS)]
        # An infinite limit is drawn as a line without its end.
        ends = [end for end in (limits.lower, limits.upper) if np.isfinite(end)]
        ax.plot(ends, [at] * len(ends), color=color, linewidth=1.6, marker="|", markersize=10)
        ax.plot(limits.estimate, at, color=color, marker="o", markersize=5)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"{100 * confidence:g} % limits")
    quiet(ax, grid="x")
    ax.spines["left"].set_color(GRID)
