"""Pictures of the sufficient statistics."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat._typing import AnyArray
from karat.plot.style import COLORS, GRID, ON_PALE, literal, new_axes, quiet
from karat.statistics import Confusion, JointRocCounts, PatternCounts, RocCounts, VoteCounts
from karat.statistics.patterns import Patterns
from karat.statistics.result import Rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The patterns that hold most of the rows; more would not be readable.
_MOST = 15


def draw_table(result: Confusion | Rates, ax: "Axes | None" = None) -> "Axes":
    """Draw the table, truth in rows; shade is the share of the true class, groups added up."""
    pooled = result.pooled()
    k = len(pooled.classes)
    ax = new_axes(ax, (2.2 + 0.7 * min(k, 15), 1.6 + 0.6 * min(k, 15)))
    shares = np.nan_to_num(pooled.rates)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    if k <= 12:
        for (i, j), count in np.ndenumerate(pooled.counts):
            text = f"{count:,.6g}" if isinstance(pooled, Confusion) else f"{shares[i, j]:.2f}"
            color = "white" if shares[i, j] > 0.6 else ON_PALE
            ax.text(j, i, text, ha="center", va="center", color=color)
    shown = range(0, k, -(-k // 40))  # at most forty names fit
    names = [literal(pooled.classes[i]) for i in shown]
    ax.set_xticks(list(shown), names, rotation=90 if k > 6 else 0)
    ax.set_yticks(list(shown), names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("truth")
    ax.set_title("Items" if isinstance(pooled, Confusion) else "Share of each true class")
    return ax


def draw_patterns(result: Patterns, ax: "Axes | None" = None) -> "Axes":
    """Draw the commonest patterns as bars, each named by its votes."""
    top = np.argsort(-result.counts, kind="stable")[:_MOST]
    ax = _bars(ax, result.patterns[top], result.classes)
    ax.barh(range(len(top)), result.counts[top], color=COLORS[0])
    _finish_bars(ax, len(top), len(result.counts), "rows")
    return ax


def draw_votes(result: VoteCounts, ax: "Axes | None" = None) -> "Axes":
    """Draw the commonest patterns of votes as bars, domains added up."""
    return draw_patterns(result.pooled(), ax)


def draw_pattern_counts(result: PatternCounts, ax: "Axes | None" = None) -> "Axes":
    """Draw the commonest patterns as bars, divided by prediction, groups added up."""
    counts = result.counts if result.groups is None else result.counts.sum(axis=0)
    top = np.argsort(-counts.sum(axis=1), kind="stable")[:_MOST]
    ax = _bars(ax, result.patterns[top], result.classes)
    left = np.zeros(len(top))
    for j, label in enumerate(result.classes):
        ax.barh(
            range(len(top)),
            counts[top, j],
            left=left,
            color=COLORS[j % len(COLORS)],
            hatch="" if j < len(COLORS) else "//",
            label=f"predicted {literal(label)}",
        )
        left += counts[top, j]
    ax.legend(frameon=False)
    _finish_bars(ax, len(top), len(counts), "items")
    return ax


def _bars(ax: "Axes | None", patterns: AnyArray, classes: AnyArray) -> Any:
    """Return axes whose rows are named by votes; a dot abstains, a dash was not asked."""
    ax = new_axes(ax, (6.0, 1.2 + 0.27 * len(patterns)))
    names = np.array([*(literal(c) for c in classes), "–", "·"])
    ax.set_yticks(range(len(patterns)), [" ".join(names[row]) for row in patterns])
    return ax


def _finish_bars(ax: Any, shown: int, total: int, unit: str) -> None:
    ax.invert_yaxis()
    ax.set_xlabel(unit)
    ax.set_ylabel("votes (· abstains, – not asked)")
    ax.set_title(f"{shown} commonest of {total:,} patterns" if total > shown else "All patterns")
    quiet(ax, grid="x")


def draw_roc(result: RocCounts, ax: "Axes | None" = None) -> "Axes":
    """Draw the ROC curve."""
    ax = new_axes(ax, (4.5, 4.5))
    tables = result.confusions()
    with np.errstate(invalid="ignore"):
        tpr = tables[:, 1, 1] / tables[:, 1].sum(axis=1)
        fpr = tables[:, 0, 1] / tables[:, 0].sum(axis=1)
    ax.plot([0, 1], [0, 1], color=GRID, linestyle=":", label="chance")
    ax.plot(fpr, tpr, color=COLORS[0], label="scores")
    negative, positive = (literal(c) for c in result.classes)
    ax.set_xlabel(f"share of {negative} called {positive}")
    ax.set_ylabel(f"share of {positive} found")
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="lower right")
    quiet(ax)
    return ax


def draw_joint(result: JointRocCounts, ax: "Axes | None" = None) -> "Axes":
    """Draw how many items fall into each pair of cells, both classes together."""
    ax = new_axes(ax, (5.0, 4.6))
    shown = np.log10(1.0 + result.counts.sum(axis=0))
    ax.imshow(shown.T, origin="lower", cmap="Blues", aspect="auto")
    ax.set_xlabel(f"cells of {literal(result.names[0])}, lowest score first")
    ax.set_ylabel(f"cells of {literal(result.names[1])}")
    ax.set_title("Items by both scores (log scale)")
    return ax
