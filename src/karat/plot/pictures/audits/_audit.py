"""The estimate against labels with what more would bring, and what labels a precision takes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat._extras import require
from karat.audit import AuditResult, LabelBudget
from karat.plot.style import COLORS, GRID, INK, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_audit", "draw_budget"]

_TEXT = 46  # characters of a reason that fit beside the bars


def draw_audit(result: AuditResult, ax: "Axes | None" = None) -> "Axes":
    """Draw the estimate after each label, its limits, what more labels would bring, and strata."""
    if ax is not None:
        _path(ax, result)
        return ax
    pyplot = require("matplotlib.pyplot", purpose="drawing a result")
    height = 3.5 + 0.28 * len(result.strata)
    _, (top, below) = pyplot.subplots(
        2, 1, figsize=(7.0, height), layout="constrained",
        height_ratios=(3.0, 0.4 + 0.28 * len(result.strata)),
    )  # fmt: skip
    _path(top, result)
    _strata(below, result)
    axes: Axes = top
    return axes


def _path(ax: Any, result: AuditResult) -> None:
    path, n = result.path, result.n_labels
    if path is not None:
        at = np.arange(1, path.n + 1)
        ax.fill_between(at, path.lowers, path.uppers, color=COLORS[0], alpha=0.15, linewidth=0,
                        label="limits at every look")  # fmt: skip
        ax.plot(at, path.estimates, color=INK, linewidth=1.3, label="estimate")
    whisker: dict[str, Any] = {"marker": "_", "markersize": 11, "linewidth": 1.8}
    if n:
        ax.plot((n, n), (result.lower, result.upper), color=COLORS[1], **whisker,
                label=f"limits with these {n:,} labels")  # fmt: skip
        ax.plot(n, result.estimate, color=COLORS[1], marker="o", markersize=5)
    if result.more > 0:
        later = n + result.more
        ax.plot((later, later), (result.more_lower, result.more_upper), color=COLORS[2],
                linestyle=":", **whisker, label=f"about what {result.more} more would bring"
        )  # fmt: skip
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
    names = [literal(s.why if len(s.why) <= _TEXT else s.why[: _TEXT - 1] + "…")
             for s in result.strata]  # fmt: skip
    ax.set_yticks(at, names, fontsize="small")
    ax.set_ylim(len(at) - 0.5, -0.5)
    ax.set_xlabel("share of each stratum")
    ax.legend(
        frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=2,
        borderaxespad=0.2,
    )  # fmt: skip
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
        ax.annotate(f"{n:,}", (n, result.precision), xytext=off, textcoords="offset points",
                    color=color, fontsize="small")  # fmt: skip
    ax.axhline(result.precision, color=GRID, linewidth=1, linestyle="--")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("labels")
    ax.set_ylabel(f"± {result.metric.title}, {100 * result.confidence:g} % limits")
    ax.legend(frameon=False)
    quiet(ax, grid="both")
    return ax
