"""Pictures of ROC curves: the band, what is weighted, and models side by side."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from karat._typing import FloatArray
from karat.plot.style import COLORS, GRID, INK, MARKERS, literal, new_axes, quiet
from karat.ranking import FprBand, TprBand, TwoWayBand, Weight, WeightedAUC
from karat.ranking.areas import curves_in_bands
from karat.ranking.bands import band_of
from karat.ranking.result import (
    RankingComparison,
    RankingDifference,
    RankingMeasure,
    RocPoint,
    UniformMargin,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Up to here a band of small rates is drawn on a logarithmic axis: that is where it matters.
_SMALL = 0.2
_FINE = 401


def draw_area(result: WeightedAUC, ax: "Axes | None" = None) -> "Axes":
    """Draw the ROC curve with its band, and shade the area that counts."""
    if result.per_class is not None or result.groups is not None:
        return _draw_parts(result, ax)
    ax = new_axes(ax, (5.2, 4.6))
    least = _log_from(result)
    _shade(ax, result, least)
    _curve(ax, result, COLORS[0], "the rows", least)
    _band(ax, result)
    _frame(ax, least)
    ax.set_title(_headline(result), fontsize=10)
    ax.legend(frameon=False, loc="lower right" if least is None else "upper left", fontsize=8)
    return ax


def _headline(result: WeightedAUC | RankingMeasure) -> str:
    return f"{result.title}\n{result.value:.4f} ({result.lower:.4f} to {result.upper:.4f})"


def _log_from(result: WeightedAUC) -> float | None:
    """Return the least false-positive rate of a logarithmic axis, or None for a straight one."""
    weight = result.weight
    high = weight.high if isinstance(weight, FprBand) else 1.0
    high = weight.fpr.high if isinstance(weight, TwoWayBand) else high
    if high > _SMALL:
        return None
    return float(max(1.0 / result.n_negative, high / 1000))


def _curve(ax: Any, result: WeightedAUC, color: str, label: str, least: float | None) -> None:
    fpr = result.fpr if least is None else np.maximum(result.fpr, least)
    ax.plot(fpr, result.tpr, color=color, linewidth=1.6, label=label)


def _band(ax: Any, result: WeightedAUC) -> None:
    """Fill between the lowest and the highest curve that the rows allow: for any method."""
    delta = (1 - result.confidence) / 2
    zero = band_of(result.method, result.n_negative, delta)
    one = band_of(result.method, result.n_positive, delta)
    lowest, highest = curves_in_bands(result.fpr, result.tpr, zero, one)
    u = np.unique(np.concatenate([np.linspace(0, 1, _FINE), np.geomspace(1e-6, 1, _FINE)]))
    lower, upper = np.interp(u, *lowest), np.interp(u, *highest)
    label = f"all rates within {100 * result.confidence:g} % bands"
    ax.fill_between(u, lower, upper, color=COLORS[0], alpha=0.15, linewidth=0, label=label)


def _height(result: WeightedAUC, u: FloatArray) -> FloatArray:
    return np.interp(u, result.fpr, result.tpr)


def _shade(ax: Any, result: WeightedAUC, least: float | None) -> None:
    """Shade what is weighted; darker where the weight is greater."""
    weight = result.weight
    u = np.linspace(0, 1, _FINE) if least is None else np.geomspace(least, 1, _FINE)
    height = _height(result, u)
    options: dict[str, Any] = {"color": COLORS[5], "linewidth": 0}
    if isinstance(weight, TprBand | TwoWayBand):
        tpr = weight if isinstance(weight, TprBand) else weight.tpr
        inside = np.ones(len(u), bool)
        if isinstance(weight, TwoWayBand):
            inside = weight.fpr.density(1 - u) > 0
        top = np.clip(height, tpr.low, tpr.high)
        ax.fill_between(u, tpr.low, top, where=inside, alpha=0.35, label="what counts", **options)
        return
    share = weight(u) / weight.sup
    if set(np.unique(share)) <= {0.0, 1.0}:
        ax.fill_between(u, 0, height, where=share > 0, alpha=0.4, label="what counts", **options)
        return
    for i in range(len(u) - 1):  # seams between strips would show if their edges were smoothed
        strength = 0.4 * float(share[i] + share[i + 1]) / 2
        strip = slice(i, i + 2)
        ax.fill_between(u[strip], 0, height[strip], alpha=strength, antialiased=False, **options)
    ax.fill_between([], [], alpha=0.4, label="what counts", **options)


def _frame(ax: Any, least: float | None) -> None:
    u = np.linspace(0, 1, _FINE) if least is None else np.geomspace(least, 1, _FINE)
    ax.plot(u, u, color=GRID, linestyle=":", label="chance")
    if least is not None:
        ax.set_xscale("log")
        ax.set_xlim(least, 1)
    else:
        ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.01)
    ax.set_xlabel("false-positive rate")
    ax.set_ylabel("true-positive rate")
    quiet(ax)


def _draw_parts(result: WeightedAUC | RankingMeasure, ax: "Axes | None") -> "Axes":
    """Draw the area of each group or class with its limits."""
    parts = result.groups if result.groups is not None else result.per_class
    assert parts is not None
    rows = {str(name): part for name, part in parts.items()}
    whole = "all rows"
    if result.groups is None:
        whole = "all pooled" if result.average == "micro" else "mean of all"
    return _forest({whole: result, **rows}, ax, result.title)


def _forest(rows: dict[str, WeightedAUC | RankingMeasure], ax: "Axes | None", title: str) -> "Axes":
    ax = new_axes(ax, (6.0, 1.4 + 0.36 * len(rows)))
    for i, part in enumerate(rows.values()):
        color = INK if i == 0 else COLORS[0]
        ax.plot([part.lower, part.upper], [i, i], color=color, linewidth=2, alpha=0.6)
        ax.plot([part.value], [i], marker=MARKERS[0], color=color)
    ax.set_yticks(range(len(rows)), [literal(name) for name in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(title)
    quiet(ax, grid="x")
    return ax


def draw_areas(result: RankingComparison, ax: "Axes | None" = None) -> "Axes":
    """Draw the curves of all models."""
    ax = new_axes(ax, (5.4, 4.8))
    first = next(iter(result.models.values()))
    if isinstance(first, RankingMeasure):
        return _draw_measures(result, first, ax)
    areas = {name: m for name, m in result.models.items() if isinstance(m, WeightedAUC)}
    least = _log_from(first)
    for i, (name, model) in enumerate(areas.items()):
        label = f"{literal(name)}: {model.value:.4f} ({model.lower:.4f}–{model.upper:.4f})"
        _curve(ax, model, COLORS[i % len(COLORS)], label, least)
    _frame(ax, least)
    weight = first.weight
    if isinstance(weight, Weight) and weight.variation > 0:
        u = np.linspace(0, 1, _FINE) if least is None else np.geomspace(least, 1, _FINE)
        counted = u[weight(u) > 0]
        ax.axvspan(counted.min(), counted.max(), color=COLORS[5], alpha=0.12, linewidth=0)
    ax.set_title(first.title, fontsize=10)
    ax.legend(frameon=False, loc="lower right" if least is None else "upper left", fontsize=8)
    return ax


_AXES = {
    "average precision": ("recall", "precision"),
    "precision": ("share of rows taken", "precision"),
    "recall": ("share of rows taken", "recall (cumulative gain)"),
    "lift": ("share of rows taken", "lift"),
    "net benefit": ("threshold probability", "net benefit"),
    "expected cost": ("weight of a miss", "expected cost"),
}


def draw_measure(result: RankingMeasure, ax: "Axes | None" = None) -> "Axes":
    """Draw the curve that a measure is a point or an area of, with its limits."""
    if result.per_class is not None or result.groups is not None:
        return _draw_parts(result, ax)
    ax, level = new_axes(ax, (5.4, 4.4)), f"{100 * result.confidence:g} %"
    _measure_curve(ax, result, COLORS[0], "the rows")
    step: Literal["pre"] | None = "pre" if result.measure == "average precision" else None
    if np.isfinite(result.curve_lower).any():
        band = result.curve_x, result.curve_lower, result.curve_upper
        label = f"{level} limits, each point by itself"
        ax.fill_between(*band, color=COLORS[0], alpha=0.15, linewidth=0, step=step, label=label)
    at = _place(result)
    if at is not None:
        ax.plot([at, at], [result.lower, result.upper], color=COLORS[1], linewidth=2.5, alpha=0.7)
        ax.plot([at], [result.value], "o", color=COLORS[1], label=f"the cut, with {level} limits")
    _measure_frame(ax, result)
    ax.set_title(_headline(result), fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax


def _place(result: RankingMeasure) -> float | None:
    """Return where the cut is on the axis; None where the measure is no point of it."""
    if result.measure in ("precision", "recall") and result.method == "exact":
        return None  # a score, on an axis of shares
    return result.at


def _measure_curve(ax: Any, result: RankingMeasure, color: str, label: str) -> None:
    style = "steps-pre" if result.measure == "average precision" else "default"
    ax.plot(
        result.curve_x, result.curve_y, color=color, linewidth=1.6, drawstyle=style, label=label
    )


def _measure_frame(ax: Any, result: RankingMeasure) -> None:
    """Draw what a ranking that knows nothing has, and name the axes."""
    x, share = result.curve_x, result.n_positive / result.n
    dotted: dict[str, Any] = {"color": GRID, "linestyle": ":", "label": "chance"}
    if result.measure == "recall":
        ax.plot([0, 1], [0, 1], **dotted)
    elif result.measure == "lift":
        ax.axhline(1.0, **dotted)
    elif result.measure == "expected cost":
        ax.plot([0, 0.5, 1], [0, 0.5, 0], **(dotted | {"label": "without scores"}))
    elif result.measure == "net benefit":
        ax.axhline(0.0, color=GRID, linestyle=":", label="acting on nobody")
        everybody = share - (1 - share) * x / (1 - x)
        ax.plot(x, everybody, color=INK, linestyle="--", linewidth=1, label="acting on everybody")
        top = max(float(np.max(result.curve_upper)), share)
        ax.set_ylim(-0.4 * top, 1.08 * top)
    else:
        ax.axhline(share, **dotted)
    if result.measure not in ("net benefit", "lift"):
        ax.set_ylim(0, 0.55 if result.measure == "expected cost" else 1.02)
    ax.set_xlim(0, 1)
    ax.set_xlabel(_AXES[result.measure][0])
    ax.set_ylabel(_AXES[result.measure][1])
    quiet(ax)


def _draw_measures(result: RankingComparison, first: RankingMeasure, ax: Any) -> "Axes":
    measures = {name: m for name, m in result.models.items() if isinstance(m, RankingMeasure)}
    for i, (name, model) in enumerate(measures.items()):
        label = f"{literal(name)}: {model.value:.4f} ({model.lower:.4f}–{model.upper:.4f})"
        _measure_curve(ax, model, COLORS[i % len(COLORS)], label)
        at = _place(model)
        if at is not None:
            ax.plot([at], [model.value], marker=MARKERS[0], color=COLORS[i % len(COLORS)])
    _measure_frame(ax, first)
    ax.set_title(first.title, fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax  # type: ignore[no-any-return]


def draw_difference(result: RankingDifference, ax: "Axes | None" = None) -> "Axes":
    """Draw the difference with its limits, and no difference."""
    ax = new_axes(ax, (5.6, 1.6))
    ax.axvline(0, color=GRID, linestyle=":")
    ax.plot([result.lower, result.upper], [0, 0], color=COLORS[0], linewidth=2.5, alpha=0.6)
    ax.plot([result.value], [0], marker=MARKERS[0], color=COLORS[0])
    ax.set_yticks([0], [f"{literal(result.first)} − {literal(result.second)}"])
    ax.set_xlabel("difference on the same rows")
    quiet(ax, grid="x")
    return ax


def draw_point(result: RocPoint, ax: "Axes | None" = None) -> "Axes":
    """Draw the limits against the width of the band that was averaged."""
    ax = new_axes(ax, (5.4, 3.6))
    ax.fill_between(
        result.band_width,
        result.band_lower,
        result.band_upper,
        color=COLORS[0],
        alpha=0.2,
        linewidth=0,
        label="distribution-free, from means beside the point",
    )
    ax.axhline(result.value, color=INK, linewidth=1.2, label="the rows, at the point")
    for limit in (result.lower, result.upper):
        ax.axhline(limit, color=COLORS[1], linestyle="--", linewidth=1.2)
    ax.plot([], [], color=COLORS[1], linestyle="--", label="distribution-free, at the point")
    ax.set_xscale("log")
    ax.set_ylim(-0.01, 1.01)
    ax.set_xlabel("width of the band of false-positive rates")
    ax.set_ylabel(f"true-positive rate at FPR {result.at:g}")
    ax.legend(frameon=False, fontsize=8)
    quiet(ax, grid="y")
    return ax


def draw_margin(result: UniformMargin, ax: "Axes | None" = None) -> "Axes":
    """Draw the margin beside the whole area."""
    ax = new_axes(ax, (5.2, 1.6))
    margin = result.margin if result.holds else np.nan
    ax.barh([0, 1], [margin, result.weight.area], color=[COLORS[0], GRID], height=0.6)
    ax.set_yticks([0, 1], ["margin", "greatest area"])
    ax.set_xlabel(literal(result.source) if result.holds else "no margin")
    quiet(ax, grid="x")
    return ax
