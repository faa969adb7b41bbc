"""Whiskers beside what is asked for, beside the judges' word, and of several models."""

from typing import TYPE_CHECKING, Any

from karat.audit import GateResult, JudgedRate, ModelTiers
from karat.plot.style import COLORS, GRID, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_gate", "draw_judged", "draw_tiers"]


def _whisker(ax: Any, at: float, low: float, value: float, high: float, color: str) -> None:
    ax.plot((low, high), (at, at), color=color, linewidth=1.8, marker="|", markersize=11)
    ax.plot(value, at, color=color, marker="o", markersize=5)


def draw_gate(result: GateResult, ax: "Axes | None" = None) -> "Axes":
    """Draw the limits beside the line that has to be reached."""
    ax = new_axes(ax, (6.0, 1.7))
    color = {"PASS": COLORS[2], "FAIL": COLORS[1], "INCONCLUSIVE": COLORS[0]}[result.status]
    ax.axvline(result.at_least, color=GRID, linewidth=1.4, linestyle="--")
    _whisker(ax, 0, result.lower, result.estimate, result.upper, color)
    ax.set_yticks([0], [result.status])
    ax.set_ylim(-0.6, 0.6)
    ax.set_xlabel(f"{literal(result.title)}, {100 * result.confidence:g} % limits at every look; "
                  f"dashed: at least {result.at_least:g}")  # fmt: skip
    quiet(ax, grid="x")
    return ax


def draw_judged(result: JudgedRate, ax: "Axes | None" = None) -> "Axes":
    """Draw the rate with its limits, those of the labels alone, and what the judges say."""
    ax = new_axes(ax, (6.0, 2.2))
    names = ["labels and judges"]
    _whisker(ax, 0, result.lower, result.value, result.upper, COLORS[0])
    if result.labels is not None:
        alone = result.labels
        _whisker(ax, 1, alone.lower, alone.estimate, alone.upper, COLORS[1])
        names.append("labels alone")
    ax.plot(result.judged, len(names), color=COLORS[3], marker="D", markersize=6, linestyle="")
    names.append("judges alone")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    what = "difference in the rate" if result.difference else "rate"
    ax.set_xlabel(f"{what} of {literal(result.pos_label)}, {100 * result.confidence:g} % limits")
    quiet(ax, grid="x")
    return ax


def draw_tiers(result: ModelTiers, ax: "Axes | None" = None) -> "Axes":
    """Draw every model with its limits, in the colour of its tier."""
    ax = new_axes(ax, (6.0, 1.2 + 0.35 * len(result.names)))
    rows = zip(result.values, result.lowers, result.uppers, result.tiers, strict=True)
    for at, (value, low, high, tier) in enumerate(rows):
        _whisker(ax, at, low, value, high, COLORS[(tier - 1) % len(COLORS)])
    names = [f"{literal(name)} (tier {tier})"
             for name, tier in zip(result.names, result.tiers, strict=True)]  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(f"{literal(result.metric.title)}, {100 * result.confidence:g} % limits of each")
    quiet(ax, grid="x")
    return ax
