"""Pictures of bounds without labels."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.bounds import DifferenceBounds, PerformanceBounds
from karat.bounds.result import (
    BoundsCurve,
    ExpectationBounds,
    ModelRanking,
    RobustnessCurve,
    WeakLabelValue,
)
from karat.plot.style import COLORS, GRID, INK, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_interval(
    result: PerformanceBounds | DifferenceBounds | ExpectationBounds, ax: "Axes | None" = None
) -> "Axes":
    """Draw the bounds as a bar, their limits as whiskers and the truth, if known, as a diamond."""
    rows: list[tuple[str, Any]] = [("all", result)]
    if isinstance(result, PerformanceBounds) and result.groups:
        rows += [(literal(name), part) for name, part in result.groups.items()]
    ax = new_axes(ax, (6.0, 1.3 + 0.45 * len(rows)))
    draw_rows(ax, rows)
    ax.set_xlabel(_title(result))
    if isinstance(result, DifferenceBounds):
        ax.axvline(0.0, color=GRID, linestyle=":", zorder=1)
    return ax


def _title(result: Any) -> str:
    if isinstance(result, DifferenceBounds):
        return f"{result.metric.title}: first minus second"
    return "expectation" if isinstance(result, ExpectationBounds) else str(result.metric.title)


def draw_rows(ax: Any, rows: list[tuple[str, Any]]) -> None:
    """Draw one interval per row, with a legend of the marks that occur."""
    for at, (_, b) in enumerate(rows):
        first = at == 0
        limits = f"one-sided {100 * b.confidence:g} % limits" if first else None
        ends = [b.bounds_limits.lower, b.bounds_limits.upper]
        ax.plot(ends, [at, at], color=COLORS[0], lw=1.2, label=limits)
        for end in ends:
            ax.plot([end, end], [at - 0.12, at + 0.12], color=COLORS[0], lw=1.2)
        if getattr(b, "gold", None) is not None:
            _draw_gold(ax, at, b, first=not any(row.gold for _, row in rows[:at]))
        ax.plot(
            [b.lower, b.upper],
            [at, at],
            color=COLORS[0],
            lw=7,
            alpha=0.55,
            solid_capstyle="butt",
            label="bounds" if first else None,
        )
        if isinstance(b, PerformanceBounds):
            ax.plot(
                b.label_model_estimate,
                at,
                marker="|",
                ms=13,
                mew=2,
                color=INK,
                linestyle="none",
                label="if independent given the votes" if first else None,
            )
        if getattr(b, "truth", None) is not None:
            ax.plot(
                b.truth,
                at,
                marker="D",
                ms=7,
                color=COLORS[1],
                linestyle="none",
                label="truth" if first else None,
                zorder=4,
            )
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    quiet(ax, grid="x")


def _draw_gold(ax: Any, at: int, b: Any, *, first: bool) -> None:
    """Draw what the true labels say, above the bounds."""
    above, color = at - 0.28, COLORS[2]
    label = f"{100 * b.confidence:g} % limits with true labels" if first else None
    ends = [b.gold.lower, b.gold.upper]
    ax.plot(ends, [above, above], color=color, lw=1.6, marker="|", ms=7, label=label)
    ax.plot(b.value, above, color=color, marker="o", ms=4.5, linestyle="none")


def draw_curve(result: BoundsCurve, ax: "Axes | None" = None) -> "Axes":
    """Draw the bounds and limits over the thresholds, as in Figure 1 of the paper."""
    ax = new_axes(ax, (6.0, 4.0))
    x = result.thresholds
    ax.fill_between(
        x,
        result.lower_limit,
        result.upper_limit,
        color=COLORS[0],
        alpha=0.15,
        lw=0,
        label=f"one-sided {100 * result.confidence:g} % limits",
    )
    ax.plot(x, result.upper, color=COLORS[0], linestyle="--", label="upper bound")
    ax.plot(x, result.lower, color=COLORS[0], label="lower bound")
    if not np.isnan(result.value).all():
        ax.plot(x, result.value, color=COLORS[1], lw=2, label="truth")
    ax.set_xlabel("threshold")
    ax.set_ylabel(result.metric.title)
    ax.legend(frameon=False)
    quiet(ax, grid="y")
    return ax


def draw_ranking(result: ModelRanking, ax: "Axes | None" = None) -> "Axes":
    """Draw each model's interval, best first."""
    rows = [(literal(n), b) for n, b in zip(result.names, result.bounds, strict=True)]
    ax = new_axes(ax, (6.0, 1.3 + 0.45 * len(rows)))
    draw_rows(ax, rows)
    ax.set_xlabel(result.bounds[0].metric.title)
    return ax


def draw_value(result: WeakLabelValue, ax: "Axes | None" = None) -> "Axes":
    """Draw how much wider the bounds are without each labeler."""
    ax = new_axes(ax, (6.0, 1.2 + 0.3 * len(result.names)))
    rows = np.arange(len(result.names))
    ax.barh(rows, result.narrowing, color=COLORS[0])
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.set_yticks(rows, [literal(name) for name in result.names])
    ax.invert_yaxis()
    ax.set_xlabel(f"bounds of {result.full.metric.title} are wider without it by")
    quiet(ax, grid="x")
    return ax


def draw_robustness(result: RobustnessCurve, ax: "Axes | None" = None) -> "Axes":
    """Draw the bounds as the label model is trusted less."""
    ax = new_axes(ax, (6.0, 4.0))
    ax.fill_between(
        result.deltas,
        result.lower_limit,
        result.upper_limit,
        color=COLORS[0],
        alpha=0.15,
        lw=0,
        label=f"one-sided {100 * result.confidence:g} % limits",
    )
    ax.plot(result.deltas, result.upper, color=COLORS[0], linestyle="--", label="upper bound")
    ax.plot(result.deltas, result.lower, color=COLORS[0], label="lower bound")
    if result.claim is not None:
        ax.axhline(result.claim, color=COLORS[1], linestyle=":", label="claim")
    if result.breaks_at is not None:
        ax.axvline(result.breaks_at, color=GRID, linestyle=":")
        ax.annotate(
            f" claim falls at δ = {result.breaks_at:.2g}",
            (result.breaks_at, 0.02),
            xycoords=("data", "axes fraction"),
            color=INK,
            fontsize=9,
        )
    ax.set_xlabel("δ: total variation by which P(Y | weak labels) may be off")
    ax.set_ylabel(result.metric.title)
    ax.legend(frameon=False)
    quiet(ax, grid="y")
    return ax
