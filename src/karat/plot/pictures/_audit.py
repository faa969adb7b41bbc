"""Pictures of audits: the estimate against labels, which items were chosen, budgets and gates.

A result with strata is drawn in two panels where the axes are new, and as the path alone on axes
that were passed; every other result of `karat.audit` has one picture.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat._extras import require
from karat.audit import AuditResult, GateResult
from karat.audit.result import JudgedRate, LabelBudget, ModelTiers
from karat.plot.style import COLORS, GRID, INK, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TEXT = 46  # characters of a reason that fit beside the bars


def draw_audit(result: AuditResult, ax: "Axes | None" = None) -> "Axes":
    """Draw the estimate after each label, its limits, what more labels would bring, and strata."""
    if ax is not None:
        _path(ax, result)
        return ax
    pyplot = require("matplotlib.pyplot", purpose="drawing a result")
    height = 3.5 + 0.28 * len(result.strata)
    _, (top, below) = pyplot.subplots(
        2,
        1,
        figsize=(7.0, height),
        layout="constrained",
        height_ratios=(3.0, 0.4 + 0.28 * len(result.strata)),
    )
    _path(top, result)
    _strata(below, result)
    axes: Axes = top
    return axes


def _path(ax: Any, result: AuditResult) -> None:
    path, n = result.path, result.n_labels
    if path is not None:
        at = np.arange(1, path.n + 1)
        ax.fill_between(
            at,
            path.looks.lower,
            path.looks.upper,
            color=COLORS[0],
            alpha=0.15,
            linewidth=0,
            label="limits at every look",
        )
        ax.plot(at, path.looks.value, color=INK, linewidth=1.3, label="estimate")
    whisker: dict[str, Any] = {"marker": "_", "markersize": 11, "linewidth": 1.8}
    if n:
        ax.plot(
            (n, n),
            (result.lower, result.upper),
            color=COLORS[1],
            **whisker,
            label=f"limits with these {n:,} labels",
        )
        ax.plot(n, result.value, color=COLORS[1], marker="o", markersize=5)
    if result.more > 0:
        later = n + result.more
        ax.plot(
            (later, later),
            (result.more_lower, result.more_upper),
            color=COLORS[2],
            linestyle=":",
            **whisker,
            label=f"about what {result.more} more would bring",
        )
    if result.difference:
        ax.axhline(0, color=GRID, linewidth=1)
    ax.set_xlabel("labels")
    ax.set_ylabel(literal(result.title))
    ax.set_xlim(0, (n + result.more) * 1.03 + 1)
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    quiet(ax, grid="y")


def _strata(ax: Any, result: AuditResult) -> None:
    """Draw the share of all items and of all labels in each stratum."""
    at = np.arange(len(result.strata))
    items = np.array([s.n_items for s in result.strata], dtype=float)
    labels = np.array([s.n_labels for s in result.strata], dtype=float)
    ax.barh(at - 0.2, items / items.sum(), 0.38, color=GRID, label="of all items")
    ax.barh(at + 0.2, labels / max(labels.sum(), 1), 0.38, color=COLORS[1], label="of all labels")
    names = [
        literal(s.why if len(s.why) <= _TEXT else s.why[: _TEXT - 1] + "…") for s in result.strata
    ]
    ax.set_yticks(at, names, fontsize="small")
    ax.set_ylim(len(at) - 0.5, -0.5)
    ax.set_xlabel("share of each stratum")
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
    )
    quiet(ax, grid="x")


def draw_budget(result: LabelBudget, ax: "Axes | None" = None) -> "Axes":
    """Draw the precision against the number of labels, random and chosen."""
    ax = new_axes(ax, (6.0, 3.4))
    for values, color, name, n, off in (
        (result.random, COLORS[0], "random labels", result.n_random, (5, 5)),
        (result.chosen, COLORS[1], "chosen labels", result.n_chosen, (-34, -13)),
    ):
        seen = values > 0
        ax.plot(result.sizes[seen], values[seen], color=color, linewidth=1.8, label=name)
        ax.plot(n, result.precision, color=color, marker="o", markersize=5)
        ax.annotate(
            f"{n:,}",
            (n, result.precision),
            xytext=off,
            textcoords="offset points",
            color=color,
            fontsize="small",
        )
    ax.axhline(result.precision, color=GRID, linewidth=1, linestyle="--")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("labels")
    ax.set_ylabel(f"± {result.metric.title}, {100 * result.confidence:g} % limits")
    ax.legend(frameon=False)
    quiet(ax, grid="both")
    return ax


# --- Whiskers beside what is asked for, beside the judges' word, and of several models.


def _whisker(ax: Any, at: float, low: float, value: float, high: float, color: str) -> None:
    ax.plot((low, high), (at, at), color=color, linewidth=1.8, marker="|", markersize=11)
    ax.plot(value, at, color=color, marker="o", markersize=5)


def draw_gate(result: GateResult, ax: "Axes | None" = None) -> "Axes":
    """Draw the limits beside the line that has to be reached."""
    ax = new_axes(ax, (6.0, 1.7))
    color = {"PASS": COLORS[2], "FAIL": COLORS[1], "INCONCLUSIVE": COLORS[0]}[result.status]
    ax.axvline(result.at_least, color=GRID, linewidth=1.4, linestyle="--")
    _whisker(ax, 0, result.lower, result.value, result.upper, color)
    ax.set_yticks([0], [result.status])
    ax.set_ylim(-0.6, 0.6)
    ax.set_xlabel(
        f"{literal(result.title)}, {100 * result.confidence:g} % limits at every look; "
        f"dashed: at least {result.at_least:g}"
    )
    quiet(ax, grid="x")
    return ax


def draw_judged(result: JudgedRate, ax: "Axes | None" = None) -> "Axes":
    """Draw the rate with its limits, those of the labels alone, and what the judges say."""
    ax = new_axes(ax, (6.0, 2.2))
    names = ["labels and judges"]
    _whisker(ax, 0, result.lower, result.value, result.upper, COLORS[0])
    if result.labels is not None:
        alone = result.labels
        _whisker(ax, 1, alone.lower, alone.value, alone.upper, COLORS[1])
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
    rows = zip(result.value, result.lower, result.upper, result.tiers, strict=True)
    for at, (value, low, high, tier) in enumerate(rows):
        _whisker(ax, at, low, value, high, COLORS[(tier - 1) % len(COLORS)])
    names = [
        f"{literal(name)} (tier {tier})"
        for name, tier in zip(result.names, result.tiers, strict=True)
    ]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(f"{literal(result.metric.title)}, {100 * result.confidence:g} % limits of each")
    quiet(ax, grid="x")
    return ax
