"""Pictures of confidence limits: a whisker for every way to find them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.plot.style import COLORS, GRID, INK, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from karat.limits.result import AnytimeLimits, Limits, PredictionPoweredLimits
    from karat.metrics.result import MetricEstimate, MetricGap


def draw_limits(result: Limits, ax: Axes | None = None) -> Axes:
    """Draw the estimate as a point and the limits as whiskers."""
    ax = new_axes(ax, (6.0, 1.6))
    _draw_rows(ax, [(result.method, result)], result.confidence)
    return ax


def draw_prediction_powered(result: PredictionPoweredLimits, ax: Axes | None = None) -> Axes:
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
        ax.plot(limits.value, at, color=color, marker="o", markersize=5)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"{100 * confidence:g} % limits")
    quiet(ax, grid="x")
    ax.spines["left"].set_color(GRID)


def draw_anytime(result: AnytimeLimits, ax: Axes | None = None) -> Axes:
    """Draw the estimate against the number of labels, between limits that hold at every look."""
    ax = new_axes(ax, (6.0, 3.2))
    draw_path(ax, result)
    ax.set_ylabel(f"{result.of}, {100 * result.confidence:g} % limits at every look")
    return ax


def draw_path(ax: Any, result: AnytimeLimits) -> None:
    """Draw a path and its band."""
    at = np.arange(1, result.n + 1)
    path = result.looks
    ax.fill_between(at, path.lower, path.upper, color=COLORS[0], alpha=0.18, linewidth=0)
    ax.plot(at, path.lower, color=COLORS[0], linewidth=0.9)
    ax.plot(at, path.upper, color=COLORS[0], linewidth=0.9)
    ax.plot(at, path.value, color=INK, linewidth=1.4)
    ax.set_xlabel("labels")
    ax.set_xlim(1, max(result.n, 2))
    quiet(ax, grid="y")


def draw_estimate(result: MetricEstimate, ax: Axes | None = None) -> Axes:
    """Draw the metric of all items, and of each group, with whiskers for the limits."""
    parts = list((result.groups or {}).items())
    ax = new_axes(ax, (6.0, 1.6 + 0.4 * len(parts)))
    rows = [("all", result), *((literal(name), part) for name, part in parts)]
    for at, (_, part) in enumerate(rows):
        color = COLORS[0] if at == 0 else COLORS[2]
        ends = part.lower, part.upper
        ax.plot(ends, (at, at), color=color, linewidth=1.6, marker="|", markersize=10)
        ax.plot(part.value, at, color=color, marker="o", markersize=5)
    ax.set_yticks(range(len(rows)), [f"{name} ({part.n:,})" for name, part in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"{result.metric.title}, {100 * result.confidence:g} % limits")
    quiet(ax, grid="x")
    return ax


def draw_gap(result: MetricGap, ax: Axes | None = None) -> Axes:
    """Draw the difference of two groups beside 0."""
    ax = new_axes(ax, (6.0, 1.6))
    ax.axvline(0, color=GRID, linewidth=1)
    ax.plot(
        (result.lower, result.upper),
        (0, 0),
        color=COLORS[0],
        linewidth=1.6,
        marker="|",
        markersize=10,
    )
    ax.plot(result.value, 0, color=COLORS[0], marker="o", markersize=5)
    ax.set_yticks([0], [f"{literal(result.first)} − {literal(result.second)}"])
    ax.set_xlabel(f"{result.metric.title}, {100 * result.confidence:g} % limits")
    quiet(ax, grid="x")
    return ax
