"""Pictures of elicitations: weights, frontiers, questions asked, and agreement with answers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat._result import Estimate
from karat.elicit import AgreementOnPairs, CheckScores, ElicitationResult, SharedMetric
from karat.elicit.checks import IndifferenceTest
from karat.elicit.result import (
    AgreementHistory,
    AskedQuestions,
    FairnessFrontier,
    TradeOff,
    WeightTable,
)
from karat.plot.style import COLORS, GRID, INK, ON_PALE, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_pairs_agreed(result: AgreementOnPairs, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of answers that the metric, and the baseline, agree with."""
    ax = new_axes(ax, (6.0, 1.7 if result.baseline is None else 2.2))
    rows = [("the metric", result.estimate)]
    if result.baseline is not None:
        rows.append(("the baseline", result.baseline))
    _draw_shares(ax, rows)
    limits = f"{100 * result.confidence:g} % limits"
    ax.set_xlabel(f"share of {result.n} answers that agree, with {limits}", loc="right")
    if (apart := result.difference) is not None:
        ax.set_title(
            f"{100 * apart.value:+.0f} points ({100 * apart.lower:+.0f} to "
            f"{100 * apart.upper:+.0f}), p = {result.p_value:.2g}",
            fontsize=10,
            loc="left",
        )
    return ax


def draw_check_scores(result: CheckScores, ax: "Axes | None" = None) -> "Axes":
    """Draw the shares of checks answered rightly and as before; a coin has half of both."""
    ax = new_axes(ax, (6.0, 2.2))
    rows = [
        (f"dominated pairs ({result.n_dominated})", result.attention.estimate),
        (f"repeated questions ({result.n_repeated})", result.consistency.estimate),
    ]
    _draw_shares(ax, rows)
    limits = f"{100 * result.confidence:g} % limits"
    ax.set_xlabel(f"answered rightly, or as before, with {limits}; dotted: a coin", loc="right")
    return ax


def _draw_shares(ax: Any, rows: list[tuple[str, Estimate[float]]]) -> None:
    ax.axvline(0.5, color=GRID, linestyle=":", zorder=1)
    for at, (_, share) in enumerate(rows):
        color = COLORS[at]
        ax.hlines(at, share.lower, share.upper, color=color, linewidth=2.2, zorder=3)
        ax.plot(share.value, at, "o", ms=6, color=color, zorder=4)
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
            ax.plot(
                result.margins[chosen],
                height[chosen],
                marker,
                ms=6,
                color=color,
                linestyle="none",
                alpha=0.8,
                label=label,
            )
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
        f"{result.n_errors} errors (p = {result.error_p_value:.2g})",
        fontsize=10,
        loc="left",
    )
    if len(result.margins):
        ax.legend(frameon=False, fontsize=9, loc="upper right")
    quiet(ax)
    return ax


# --- Pictures of what a person wants, and how it was found out.

_MOST_ROWS = 40  # weights that a forest shows


def draw_elicited(result: ElicitationResult, ax: "Axes | None" = None) -> "Axes":
    """Draw the posterior: of the one trade-off of two weights, or of every weight."""
    if len(result.weights) == 2:
        return _draw_trade_off(result, ax)
    if len(result.weights) > _MOST_ROWS and result.table is not None:
        return draw_weight_table(result.table, ax)
    ax = new_axes(ax, (6.4, 1.4 + 0.34 * len(result.weights)))
    rows = np.arange(len(result.weights))
    shake = np.random.default_rng(0).uniform(-0.28, 0.28, result.draws.shape)
    ax.plot(result.draws, rows + shake, ".", ms=2, alpha=0.25, color=COLORS[4], zorder=1)
    _forest(ax, rows, result.weights, COLORS[0])
    ax.set_yticks(rows, [literal(w.name) for w in result.weights], fontsize=9)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel("weight, with 95 % limits; dots are metrics that fit the answers", loc="right")
    quiet(ax, grid="x")
    return ax


def draw_lambda(result: TradeOff, ax: "Axes | None" = None) -> "Axes":
    """Draw the posterior of λ, between only errors and only gaps."""
    ax = new_axes(ax, (6.0, 3.2))
    share = result.tradeoff
    ax.hist(
        result.draws, bins=np.linspace(0, 1, 51).tolist(), color=COLORS[4], alpha=0.55, zorder=2
    )
    top = ax.get_ylim()[1] * 1.15
    ax.hlines(top * 0.95, share.lower, share.upper, color=COLORS[0], linewidth=2.2, zorder=3)
    ax.plot(share.value, top * 0.95, "o", ms=7, color=COLORS[0], zorder=4)
    ax.set(xlim=(0, 1), ylim=(0, top), yticks=[])
    ax.set_xlabel("λ: 0 if only errors count, 1 if only gaps between groups do")
    worth = result.worth
    ax.set_title(
        f"{literal(worth.name)}:\nworth {worth.value:.2g} points of error rate "
        f"(95 %: {worth.lower:.2g} to {worth.upper:.2g})",
        fontsize=10,
        loc="left",
    )
    quiet(ax)
    ax.spines["left"].set_visible(False)
    return ax


def draw_weight_table(result: WeightTable, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights as a heat map, red for costs and blue for gains or the other way round."""
    rows, columns = result.values.shape
    ax = new_axes(ax, (2.6 + 0.62 * columns, 1.5 + 0.36 * rows))
    top = max(float(np.abs(result.values).max()), 1e-12)
    image = ax.imshow(result.values, cmap="RdBu_r", vmin=-top, vmax=top, aspect="auto")
    ax.axhline(0.5, color="white", linewidth=3)  # what counts by itself above, the rest below
    if result.values.size <= 150:
        for (i, j), value in np.ndenumerate(result.values):
            dark = abs(value) > 0.55 * top
            ax.text(
                j,
                i,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if dark else ON_PALE,
            )
    ax.set_xticks(
        range(columns),
        [literal(name) for name in result.columns],
        rotation=30,
        ha="right",
        fontsize=8,
    )
    ax.set_yticks(range(rows), [literal(name) for name in result.rows], fontsize=8)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.02, label="weight")
    return ax


def draw_frontier(result: FairnessFrontier, ax: "Axes | None" = None) -> "Axes":
    """Draw the frontier between errors and gaps, and lines along which the metric is the same."""
    ax = new_axes(ax, (5.8, 4.4))
    ax.plot(
        result.sampled_cost,
        result.sampled_violation,
        ".",
        ms=3,
        color=GRID,
        alpha=0.6,
        zorder=1,
        label="other classifiers",
    )
    ax.plot(
        result.cost,
        result.violation,
        "-",
        color=COLORS[0],
        linewidth=2.2,
        zorder=3,
        label="best for some trade-off",
    )
    widest = max(float(np.ptp(result.cost)), 1e-6)
    high = max(float(result.violation.max()), 1e-6)
    left, right = float(result.cost.min()) - 0.35 * widest, float(result.cost.max()) + widest
    ax.set_xlim(left, right)
    ax.set_ylim(-0.05 * high, 1.9 * high)
    x = np.array([left, right])
    for share, style in (
        (result.tradeoff.lower, ":"),
        (result.tradeoff.upper, ":"),
        (result.tradeoff.value, "-"),
    ):
        slope = -(1.0 - share) / max(share, 1e-9)
        shifts = (0.0,) if style == ":" else (0.0, 0.35 * high, -0.35 * high)
        for shift in shifts:
            y = result.best[1] + shift + slope * (x - result.best[0])
            ax.plot(
                x,
                y,
                style,
                color=COLORS[1],
                alpha=0.9 if shift == 0 else 0.35,
                linewidth=1.2,
                zorder=2,
            )
    ax.plot([], [], "-", color=COLORS[1], label="equally good for the metric (dotted: 95 %)")
    ax.plot(
        *result.best,
        "*",
        ms=15,
        color=COLORS[1],
        markeredgecolor="white",
        zorder=5,
        label="best for the metric",
    )
    ax.set_xlabel("cost of errors")
    ax.set_ylabel("violation: gaps between groups")
    ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1))
    quiet(ax)
    return ax


def _forest(ax: Any, rows: Any, weights: Any, color: str) -> None:
    low, high = [w.lower for w in weights], [w.upper for w in weights]
    ax.hlines(rows, low, high, color=color, linewidth=2.2, zorder=3)
    ax.plot([w.value for w in weights], rows, "o", ms=6, color=color, zorder=4)


def _draw_trade_off(result: ElicitationResult, ax: "Axes | None") -> "Axes":
    ax = new_axes(ax, (6.0, 3.4))
    ratio, known = result.ratios[0], np.abs(result.draws) + 1e-6
    logs = np.log(np.clip(known[:, 0] / known[:, 1], 1e-3, 1e3))
    shown = np.quantile(logs, [0.005, 0.995])  # a few stray draws would squeeze the rest
    margin = max(0.15, 0.05 * float(np.ptp(shown)))
    edges = np.linspace(shown[0] - margin, shown[1] + margin, 41)
    ax.hist(np.exp(logs), bins=np.exp(edges).tolist(), color=COLORS[4], alpha=0.55, zorder=2)
    top = ax.get_ylim()[1] * 1.12
    ends = [min(max(value, 1e-3), 1e3) for value in (ratio.lower, ratio.upper)]
    ax.hlines(top * 0.96, ends[0], ends[1], color=COLORS[0], linewidth=2.2, zorder=3)
    ax.plot(ratio.value, top * 0.96, "o", ms=7, color=COLORS[0], zorder=4)
    ax.axvline(1.0, color=GRID, linestyle=":", zorder=1)
    ax.set(xscale="log", ylim=(0, top), yticks=[])
    plain_ticks(ax)
    ax.set_xlabel(f"{literal(ratio.name)}: how many times as much")
    ax.set_title(
        f"{ratio.value:.2g} times (95 %: {ratio.lower:.2g} to {ratio.upper:.2g}), "
        f"{result.n_queries} answers",
        fontsize=10,
        loc="left",
    )
    quiet(ax)
    ax.spines["left"].set_visible(False)
    return ax


def plain_ticks(ax: Any) -> None:
    """Write the numbers of a log axis as people do."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def draw_progress(result: AgreementHistory, ax: "Axes | None" = None) -> "Axes":
    """Draw the predicted agreement against the number of answers."""
    ax = new_axes(ax, (5.4, 3.4))
    ax.plot(
        result.n_queries, result.agreement, "o-", ms=4, color=COLORS[0], label="predicted so far"
    )
    if len(result.expected_agreement):
        ax.plot(
            [result.n_queries[-1], *result.expected_n_queries],
            [result.agreement[-1], *result.expected_agreement],
            "--",
            color=COLORS[1],
            label="expected from more answers",
        )
        ax.legend(frameon=False, fontsize=9, loc="lower right")
    if np.isfinite(result.target):
        ax.axhline(result.target, color=GRID, linestyle=":", zorder=1)
        ax.annotate(
            f"stops at {100 * result.target:.0f} %",
            (0, result.target),
            xytext=(2, 3),
            textcoords="offset points",
            fontsize=9,
            color=INK,
        )
    known = result.agreement[np.isfinite(result.agreement)]
    if not len(known):
        ax.annotate("not known", (0.5, 0.5), xycoords="axes fraction", ha="center", color=INK)
    ax.set_ylim(min([0.5, *known]) - 0.02, 1.02)
    ax.set_xlabel("answers")
    ax.set_ylabel("agreement on random pairs")
    ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    quiet(ax, grid="y")
    return ax


def draw_asked(result: AskedQuestions, ax: "Axes | None" = None) -> "Axes":
    """Draw the pairs asked about among what classifiers attain, each from worse to better.

    With more than two coordinates, the two along which the questions differ most are shown.
    """
    ax = new_axes(ax, (5.4, 4.6))
    i, j = _shown(result)
    line = len(result.names) == 2
    ax.plot(
        result.boundary[:, i],
        result.boundary[:, j],
        "-" if line else ".",
        ms=3,
        color=GRID,
        alpha=0.8,
        zorder=1,
        label="best for some trade-off",
    )
    for n, answer in enumerate(result.answers):
        _draw_pair(ax, result, n, answer, (i, j))
    ax.plot(
        result.best[i],
        result.best[j],
        "*",
        ms=15,
        color=COLORS[1],
        markeredgecolor="white",
        zorder=5,
        label="best for the elicited metric",
    )
    ax.plot([], [], "->", color=COLORS[0], ms=5, label="asked: from the worse to the better")
    ax.set_xlabel(literal(result.names[i]))
    ax.set_ylabel(literal(result.names[j]))
    ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1))
    quiet(ax)
    return ax


def _shown(result: AskedQuestions) -> tuple[int, int]:
    if len(result.names) == 2:
        return 0, 1
    moved = np.abs(result.first - result.second).sum(axis=0)
    if not len(result.answers):
        moved = np.ptp(result.boundary, axis=0)
    first, second = sorted(np.argsort(-moved, kind="stable")[:2].tolist())
    return first, second


def _draw_pair(ax: Any, result: AskedQuestions, n: int, answer: str, axes: tuple[int, int]) -> None:
    """Draw one question, later ones darker."""
    sides = result.first[n, list(axes)], result.second[n, list(axes)]
    ax.plot(*np.transpose(sides), linestyle="none")  # arrows alone do not widen the axes
    strength = 0.25 + 0.75 * (n + 1) / len(result.answers)
    if answer in ("tie", "skip"):
        ax.plot(*np.transpose(sides), ":", color=COLORS[0], alpha=strength, zorder=2)
        return
    worse, better = sides if answer == "second" else sides[::-1]
    ax.annotate(
        "",
        better,
        worse,
        zorder=3,
        arrowprops={"arrowstyle": "-|>", "color": COLORS[0], "alpha": strength, "lw": 1.2},
    )


def draw_shared(result: SharedMetric, ax: "Axes | None" = None) -> "Axes":
    """Draw every weight: what is shared, what each person wants, and what the next one may."""
    ax = new_axes(ax, (6.6, 1.6 + 0.75 * len(result.names)))
    rows = np.arange(len(result.names))
    unseen = result.next_person
    ax.barh(
        rows,
        [w.upper - w.lower for w in unseen],
        left=[w.lower for w in unseen],
        height=0.8,
        color=GRID,
        alpha=0.25,
        label="where the next person may be",
        zorder=1,
    )
    _forest(ax, rows - 0.3, result.weights, COLORS[1])
    ax.plot([], [], "o-", color=COLORS[1], label="shared")
    for n, person in enumerate(result.people):
        offset = -0.15 + 0.5 * (n + 1) / (len(result.people) + 1)
        low, high = [w.lower for w in person], [w.upper for w in person]
        ax.hlines(rows + offset, low, high, color=COLORS[0], alpha=0.6, linewidth=1.2, zorder=2)
        ax.plot([w.value for w in person], rows + offset, ".", ms=5, color=COLORS[0], zorder=3)
    ax.plot([], [], ".-", color=COLORS[0], label="each person")
    ax.set_yticks(rows, [literal(name) for name in result.names], fontsize=9)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel("weight, with 95 % limits")
    ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    quiet(ax, grid="x")
    return ax
