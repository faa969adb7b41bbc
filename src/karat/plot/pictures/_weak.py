"""Pictures of weak labels and label models."""

from typing import TYPE_CHECKING

import numpy as np

from karat.plot.style import COLORS, GRID, MARKERS, literal, new_axes, quiet
from karat.weak.result import LabelModelCheck, VoteDiagnostics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_check(result: LabelModelCheck, ax: "Axes | None" = None) -> "Axes":
    """Draw the observed agreement of each pair of labelers against what the model implies."""
    ax = new_axes(ax, (4.6, 4.6))
    seen = np.asarray(result.agreement_observed)
    expected = np.asarray(result.agreement_expected)
    known = np.isfinite(seen) & np.isfinite(expected)
    ax.plot([0, 1], [0, 1], color=GRID, linestyle=":", label="as the model implies")
    ax.scatter(expected[known], seen[known], color=COLORS[0], alpha=0.7, label="pair of labelers")
    gap = np.where(known, np.abs(seen - expected), -1.0)
    if known.any() and result.contradicted:
        worst = int(np.argmax(gap))
        a, b = (literal(result.names[i]) for i in result.pairs[worst])
        ax.annotate(f"{a} and {b}", (expected[worst], seen[worst]), fontsize=9)
    ax.set_xlabel("agreement that the label model implies")
    ax.set_ylabel("agreement observed")
    ax.set_title(f"{result.status} by {result.by}" if result.contradicted else result.status)
    ax.legend(frameon=False, loc="upper left")
    quiet(ax)
    return ax


def draw_diagnostics(result: VoteDiagnostics, ax: "Axes | None" = None) -> "Axes":
    """Draw coverage, overlap and conflict of each labeler."""
    ax = new_axes(ax, (6.0, 1.4 + 0.3 * len(result.names)))
    rows = np.arange(len(result.names))
    for color, marker, name in zip(
        COLORS, MARKERS, ("coverage", "overlap", "conflict"), strict=False
    ):
        size = 11 if name == "coverage" else 6  # it often equals the overlap: draw it around it
        fill = "none" if name == "coverage" else "full"
        shares = getattr(result, name)
        ax.plot(shares, rows, marker, ms=size, fillstyle=fill, color=color, label=name)
    ax.set_yticks(rows, [literal(name) for name in result.names])
    ax.invert_yaxis()
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of the items")
    ax.legend(frameon=False)
    quiet(ax, grid="x")
    return ax
