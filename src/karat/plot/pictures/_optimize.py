"""Pictures of an optimisation: its course, the weights it found, where it decides what."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.decisions.result import Optimum
from karat.optimize.result import ClassWeights, DecisionRegions, OptimizationHistory
from karat.plot.style import COLORS, GRID, INK, MARKERS, ON_PALE, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_BASIS = 6  # functions whose bars stay distinct
_MOST_CELLS = 12  # classes whose weights can be written into cells


def draw_history(result: OptimizationHistory, ax: "Axes | None" = None) -> "Axes":
    """Draw the metric after each iteration, above the most probable class's."""
    ax = new_axes(ax, (6.0, 3.9))
    steps = np.arange(1, len(result.values) + 1)
    asked = int(result.n_evaluations[-1])
    if np.isnan(result.value):
        ax.plot(steps, result.gaps, color=COLORS[0], marker="o", ms=3)
        ax.set_ylabel("rise that is still predicted")
        ax.set_title(f"{asked} questions", fontsize=10)
    else:
        ax.axhline(
            result.baseline, color=GRID, ls=":", label=f"most probable class {result.baseline:.3f}"
        )
        ax.plot(
            steps, result.values, color=COLORS[0], marker="o", ms=3, label="after each iteration"
        )
        _draw_ends(ax, result, float(steps[-1]))
        ax.set_ylabel(literal(result.metric))
        evaluations = "1 evaluation" if asked == 1 else f"{asked} evaluations"
        ax.set_title(f"{result.n_rows:,} validation rows, {evaluations}", fontsize=10)
        ax.legend(
            frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2
        )
    ax.set_xlabel("iteration")
    ax.set_xticks([t for t in ax.get_xticks() if t == round(t) and 1 <= t <= steps[-1]] or [1])
    quiet(ax, grid="y")
    return ax


_KEPT = {"mixture": "mixture", "rule": "rule of the direct search", "model": "kept: the model"}


def _draw_ends(ax: Any, result: OptimizationHistory, last: float) -> None:
    """Draw what came of the iterations, to the right of them, a little apart."""
    apart = max(0.04 * last, 0.15)
    ends = [(result.mixture, COLORS[3], "^", _KEPT[result.kept])]
    if result.kept == "mixture":  # a single rule has nothing to draw
        ends.append((result.deterministic, COLORS[2], "s", "without chance"))
    for i, (value, color, marker, name) in enumerate(ends):
        ax.plot(
            last + (i + 1) * apart,
            value,
            color=color,
            marker=marker,
            ls="none",
            label=f"{name} {value:.3f}",
            clip_on=False,
        )
    if not np.isnan(result.held_out.value):
        _draw_held_out(ax, result, last + (len(ends) + 1) * apart)
    ax.set_xlim(1 - apart, last + (len(ends) + 2) * apart)


def draw_optimum(result: Optimum, ax: "Axes | None" = None) -> "Axes":
    """Draw the value after each round, below what no mixture of rules exceeds."""
    ax = new_axes(ax, (6.0, 3.6))
    rounds = np.arange(1, len(result.values) + 1)
    bound = "no mixture is above" if result.certified else "first-order limit"
    ax.plot(
        rounds,
        result.values,
        color=COLORS[0],
        marker="o",
        ms=3,
        label=f"attained {result.value:.4g}",
    )
    ax.plot(
        rounds,
        result.values + result.gaps,
        color=COLORS[1],
        ls="--",
        marker="v",
        ms=3,
        label=f"{bound} {result.value + result.gap:.4g}",
    )
    # First rounds prove little: the picture is about the last ones.
    low, high = result.values.min(), float(np.median(result.values + result.gaps))
    room = 0.1 * max(high - low, 1e-6)
    ax.set_ylim(low - room, high + room)
    ax.set_xlabel("round")
    ax.set_ylabel(literal(result.metric))
    ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    quiet(ax, grid="y")
    return ax


def _draw_held_out(ax: Any, result: OptimizationHistory, at: float) -> None:
    found = result.held_out
    name = f"cross-validated {found.value:.3f}"
    if np.isnan(found.lower):
        ax.plot(at, found.value, color=COLORS[1], marker="D", ls="none", label=name)
        return
    reach = [[found.value - found.lower], [found.upper - found.value]]
    ax.errorbar(at, found.value, yerr=reach, color=COLORS[1], fmt="D", ms=5, capsize=3, label=name)


def draw_class_weights(result: ClassWeights, ax: "Axes | None" = None) -> "Axes":
    """Draw what each class is worth, with each basis function (Hiranandani 2021, Fig. 7.2a)."""
    names = [literal(c) for c in result.classes.tolist()]
    if result.weights.ndim == 3:
        return _draw_matrix(result, names, ax)
    ax = new_axes(ax, (max(4.0, 1.2 + 0.55 * len(names)), 3.4))
    shown = result.weights[:_MOST_BASIS]
    width = 0.8 / len(shown)
    for b, weights in enumerate(shown):
        at = np.arange(len(names)) + (b - (len(shown) - 1) / 2) * width
        ax.bar(at, weights, width * 0.92, color=COLORS[b], label=literal(result.basis[b]))
    ax.axhline(0, color=INK, linewidth=0.8)
    if len(shown) == 1:
        ax.axhline(1, color=GRID, linestyle=":")
    else:
        ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    ax.set_xticks(np.arange(len(names)), names)
    if max(map(len, names)) * len(names) > 40:
        ax.tick_params(axis="x", rotation=45)
    ax.set_ylabel("weight of being right")
    quiet(ax, grid="y")
    return ax


def _draw_matrix(result: ClassWeights, names: list[str], ax: "Axes | None") -> "Axes":
    """Draw the weights of (truth, prediction) with the first basis function."""
    size = 1.8 + 0.42 * len(names)
    ax = new_axes(ax, (size + 0.6, size))
    weights = result.weights[0]
    most = float(np.abs(weights).max()) or 1.0
    ax.imshow(weights, cmap="RdBu_r", vmin=-most, vmax=most)
    if len(names) <= _MOST_CELLS:
        for i, row in enumerate(weights):
            for j, value in enumerate(row):
                color = "white" if abs(value) > 0.6 * most else ON_PALE
                ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=7, color=color)
    ax.set_xticks(range(len(names)), names, rotation=45 if max(map(len, names)) > 3 else 0)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("prediction")
    ax.set_ylabel("label the model learnt")
    ax.set_title(f"weights, {literal(result.basis[0])}", fontsize=10)
    return ax


def draw_regions(result: DecisionRegions, ax: "Axes | None" = None) -> "Axes":
    """Draw how often the second class is predicted, by its probability."""
    ax = new_axes(ax, (6.0, 3.6))
    for c, curve in enumerate(result.shares[:_MOST_BASIS]):
        color = COLORS[c % len(COLORS)]
        threshold = result.thresholds[c]
        name = f"{literal(result.kinds[c])} ({result.frequency[c]:.0%} of rows)"
        ax.step(result.probability, curve, where="post", color=color, label=name)
        if np.isfinite(threshold):
            ax.plot(threshold, 0.5, color=color, marker=MARKERS[c % len(MARKERS)], ms=6, zorder=3)
            ax.annotate(
                f"{threshold:.2f}",
                (threshold, 0.5),
                xytext=(6, -12 - 11 * c),
                textcoords="offset points",
                fontsize=8,
                color=color,
            )
    ax.axvline(0.5, color=GRID, linestyle=":")
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.03, 1.03)
    first, second = (literal(c) for c in result.classes.tolist())
    ax.set_xlabel(f"the model's probability of {second}")
    ax.set_ylabel(f"share called {second}, not {first}")
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    quiet(ax, grid="y")
    return ax
