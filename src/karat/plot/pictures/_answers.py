"""Pictures of how far answers, and the metric found from them, can be trusted."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.elicit import AgreementOnPairs, CheckScores, IndifferenceTest
from karat.limits import Limits
from karat.plot.style import COLORS, GRID, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_check_scores", "draw_indifference", "draw_pairs_agreed"]


def draw_pairs_agreed(result: AgreementOnPairs, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of answers that the metric, and the baseline, agree with."""
    ax = new_axes(ax, (6.0, 1.7 if result.baseline is None else 2.2))
    rows = [("the metric", result.agreement)]
    if result.baseline is not None:
        rows.append(("the baseline", result.baseline))
    _draw_shares(ax, rows)
    limits = f"{100 * result.confidence:g} % limits"
    ax.set_xlabel(f"share of {result.n} answers that agree, with {limits}", loc="right")
    if result.baseline is not None:
        ax.set_title(
            f"{100 * result.difference:+.0f} points ({100 * result.difference_lower:+.0f} to "
            f"{100 * result.difference_upper:+.0f}), p = {result.p_value:.2g}",
            fontsize=10, loc="left",
        )  # fmt: skip
    return ax


def draw_check_scores(result: CheckScores, ax: "Axes | None" = None) -> "Axes":
    """Draw the shares of checks answered rightly and as before; a coin has half of both."""
    ax = new_axes(ax, (6.0, 2.2))
    rows = [
        (f"dominated pairs ({result.n_dominated})", result.attention),
        (f"repeated questions ({result.n_repeated})", result.consistency),
    ]
    _draw_shares(ax, rows)
    limits = f"{100 * result.confidence:g} % limits"
    ax.set_xlabel(f"answered rightly, or as before, with {limits}; dotted: a coin", loc="right")
    return ax


def _draw_shares(ax: Any, rows: list[tuple[str, Limits]]) -> None:
    ax.axvline(0.5, color=GRID, linestyle=":", zorder=1)
    for at, (_, share) in enumerate(rows):
        color = COLORS[at]
        ax.hlines(at, share.lower, share.upper, color=color, linewidth=2.2, zorder=3)
        ax.plot(share.estimate, at, "o", ms=6, color=color, zorder=4)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    quiet(ax, grid="x")


def draw_indifference(result: IndifferenceTest, ax: "Axes | None" = None) -> "Axes":
    """Draw the time of each answer against its margin, and which answers the metric denies.

    Answers whose time was not kept, and all of them if none was, stand at the foot.
    """
    ax = new_axes(ax, (5.8, 3.8))
    timed = np.isfinite(result.seconds) & (result.seconds > 0)
    foot = 0.5 * result.seconds[timed].min() if timed.any() else 1.0
    height = np.where(timed, result.seconds, foot)
    kinds = (
        (result.agrees == 1, "o", COLORS[0], "the metric agrees"),
        (result.agrees == 0, "X", COLORS[1], "the metric disagrees"),
        (np.isnan(result.agrees), "s", GRID, "a tie"),
    )
    for chosen, marker, color, label in kinds:
        if chosen.any():
            ax.plot(result.margins[chosen], height[chosen], marker, ms=6, color=color,
                    linestyle="none", alpha=0.8, label=label)  # fmt: skip
    ax.set_xlabel("size of the margin between both sides, by the metric")
    if timed.any():
        ax.set(yscale="log", ylabel="seconds")
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.set_yticks([])
    ax.set_title(
        f"times: ρ = {result.time_correlation:+.2f} (p = {result.time_p_value:.2g}); "
        f"{result.n_errors} errors (p = {result.error_p_value:.2g})", fontsize=10, loc="left",
    )  # fmt: skip
    if len(result.margins):
        ax.legend(frameon=False, fontsize=9, loc="upper right")
    quiet(ax)
    return ax
