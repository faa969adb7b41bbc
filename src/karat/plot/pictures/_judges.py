"""Pictures of judges: people and judge, position bias, systems in tiers, scores, panels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.consensus.judged import (
    AnnotatorTest,
    JudgePanel,
    PairErrors,
    PositionBias,
    SystemRanking,
)
from karat.consensus.result import ScoreErrors
from karat.plot.style import COLORS, GRID, INK, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _rows(ax: "Axes", names: list[Any], sizes: int = 8) -> FloatArray:
    """Name the rows from the top down and return their places."""
    rows = np.arange(len(names), dtype=np.float64)
    ax.set_yticks(rows, [literal(name) for name in names], fontsize=sizes)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    return rows


def _intervals(
    ax: "Axes", rows: FloatArray, values: Sequence[FloatArray], groups: Sequence[tuple[Any, ...]]
) -> None:
    """Draw value, lower and upper of each row, by groups of a mask, a colour and a name."""
    mean, lower, upper = values
    for some, color, name in groups:
        if some.any():
            ax.hlines(rows[some], lower[some], upper[some], color=color, linewidth=2)
            ax.plot(mean[some], rows[some], "o", ms=4, color=color, label=name)


def _legend(ax: "Axes") -> None:
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def _entries(domains: tuple[Any, ...], who: tuple[Any, ...], at: Any, which: Any) -> list[str]:
    """Return the name of each entry, with its domain where there are several."""
    if len(domains) == 1:
        return [str(who[j]) for j in which]
    return [f"{domains[d]}: {who[j]}" for d, j in zip(at, which, strict=True)]


def draw_annotators(result: AnnotatorTest, ax: "Axes | None" = None) -> "Axes":
    """Draw, person by person, how often judge and person are closer to the others."""
    order = np.argsort(-result.advantage, kind="stable")
    ax = new_axes(ax, (6.4, 1.8 + 0.28 * len(order)))
    rows = _rows(ax, [result.people[i] for i in order])
    judge, person = result.advantage[order], result.person_advantage[order]
    ax.hlines(rows, judge, person, color=GRID, linewidth=1.5)
    won = result.wins[order]
    ax.plot(person, rows, "s", ms=5, color=INK, label="the person")
    for some, fill, name in (
        (won, COLORS[0], f"{literal(result.judge)}, wins"),
        (~won, "none", f"{literal(result.judge)}, does not"),
    ):
        if some.any():
            ax.plot(judge[some], rows[some], "o", ms=6, mec=COLORS[0], mfc=fill, label=name)
    rho = result.advantage_rate
    ax.axvline(rho.value, color=COLORS[0], linestyle=":", linewidth=1)
    ax.axvspan(rho.lower, rho.upper, color=COLORS[0], alpha=0.1, lw=0)
    ax.set_xlabel(
        "share of items on which this one is at least as close to the other people\n"
        f"ω = {result.value:.2f} [{result.lower:.2f}, {result.upper:.2f}], "
        f"ρ = {rho.value:.2f} (band: its limits), ε = {result.epsilon:g}",
        fontsize=9,
    )
    _legend(ax)
    quiet(ax, grid="x")
    return ax


def draw_position(result: PositionBias, ax: "Axes | None" = None) -> "Axes":
    """Draw the position bias of each judge with its limits, most biased first."""
    order = np.argsort(-np.nan_to_num(result.value), kind="stable")
    ax = new_axes(ax, (6.4, 1.6 + 0.2 * len(order)))
    rows = _rows(ax, [result.judges[i] for i in order])
    values = [getattr(result, n)[order] for n in ("value", "lower", "upper")]
    sure = (values[1] > 0) | (values[2] < 0)
    _intervals(
        ax,
        rows,
        values,
        [(sure, COLORS[1], "follows the position"), (~sure, COLORS[0], "no bias beyond chance")],
    )
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_xlabel(
        f"position bias, with {100 * result.confidence:.0f} % limits\n"
        "(to the left of 0: takes what is shown second; to the right: first)",
        fontsize=9,
    )
    _legend(ax)
    quiet(ax, grid="x")
    return ax


def draw_pair_errors(result: PairErrors, ax: "Axes | None" = None) -> "Axes":
    """Draw error rates with the bias out, and those in one order only beside them."""
    order = np.lexsort((result.value, result.domain))
    ax = new_axes(ax, (6.6, 1.7 + 0.2 * len(order)))
    which = result.judge[order]
    rows = _rows(ax, _entries(result.domains, result.judges, result.domain[order], which))
    told = np.array([status in ("consistent", "confirmed") for status in result.status])
    doubtful = ~told[result.domain[order]]
    values = [getattr(result, n)[order] for n in ("value", "lower", "upper")]
    _intervals(
        ax,
        rows,
        values,
        [(~doubtful, COLORS[0], "bias taken out"), (doubtful, GRID, "bias out, votes cannot tell")],
    )
    ax.plot(
        result.right_first[order],
        rows,
        ">",
        ms=4,
        mfc="none",
        mec=COLORS[1],
        label="one order, better first",
    )
    ax.plot(
        result.right_second[order],
        rows,
        "<",
        ms=4,
        mfc="none",
        mec=COLORS[2],
        label="one order, better second",
    )
    ax.set_xlim(left=0)
    ax.set_xlabel(f"error rate, {_kind_of_limits('votes', told, result.confidence)}")
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    quiet(ax, grid="x")
    return ax


def _kind_of_limits(what: str, told: AnyArray, confidence: float) -> str:
    """Return what the bars are: limits at a level only where something is identified."""
    return f"{100 * confidence:.0f} % limits" if told.any() else f"{what} cannot tell its limits"


def draw_systems(result: SystemRanking, ax: "Axes | None" = None) -> "Axes":
    """Draw strengths with limits, coloured by tier, and the limits of the rank."""
    ax = new_axes(ax, (6.4, 1.6 + 0.3 * len(result.systems)))
    names = [
        f"{name}  ({a}–{b})" if a != b else f"{name}  ({a})"
        for name, a, b in zip(result.systems, result.rank_best, result.rank_worst, strict=True)
    ]
    rows = _rows(ax, names)
    for tier in range(1, int(result.tier.max()) + 1):
        some = result.tier == tier
        color = COLORS[(tier - 1) % len(COLORS)]
        ax.hlines(rows[some], result.lower[some], result.upper[some], color=color, linewidth=2)
        ax.plot(result.value[some], rows[some], "o", ms=5, color=color, label=f"tier {tier}")
    ax.axvline(0, color=GRID, linewidth=0.8)
    basis = f"{result.n_gold} gold pairs" if result.n_gold else "verdicts alone"
    ax.set_xlabel(
        f"strength (log-odds against an average system), from {basis}\n"
        f"in brackets: ranks, all {100 * result.confidence:.0f} % limits at once",
        fontsize=9,
    )
    _legend(ax)
    quiet(ax, grid="x")
    return ax


def draw_scores(result: ScoreErrors, ax: "Axes | None" = None) -> "Axes":
    """Draw the error rate of each voter's scores with its limits."""
    order = np.lexsort((result.value, result.domain))
    ax = new_axes(ax, (6.4, 1.6 + 0.24 * len(order)))
    which = result.classifier[order]
    rows = _rows(ax, _entries(result.domains, result.classifiers, result.domain[order], which))
    known = result.identified[result.domain[order]]
    values = [getattr(result, n)[order] for n in ("value", "lower", "upper")]
    _intervals(
        ax,
        rows,
        values,
        [
            (known, COLORS[0], "identified by the scores"),
            (~known, GRID, "scores alone cannot tell"),
        ],
    )
    ax.set_xlim(left=0)
    limits = _kind_of_limits("scores", result.identified, result.confidence)
    ax.set_xlabel(f"error rate at the voter's own calibration, {limits}")
    _legend(ax)
    quiet(ax, grid="x")
    return ax


def draw_panel(result: JudgePanel, ax: "Axes | None" = None) -> "Axes":
    """Draw what is lost without each judge, and with it alone."""
    order = np.argsort(-result.left_out, kind="stable")
    ax = new_axes(ax, (6.4, 1.6 + 0.24 * len(order)))
    rows = _rows(ax, [result.judges[i] for i in order])
    on = result.chosen[order]
    for some, color, name in ((on, COLORS[0], "on the panel"), (~on, GRID, "not needed")):
        if some.any():
            ax.barh(rows[some], result.left_out[order][some], height=0.55, color=color, label=name)
    ax.axvline(result.tolerance, color=COLORS[1], linestyle=":", label="tolerance")
    ax.set_xlim(left=0)
    ax.set_xlabel(
        "share of items lost if this judge alone is left out\n"
        f"(the panel loses {100 * result.value:.1f} %)",
        fontsize=9,
    )
    _legend(ax)
    quiet(ax, grid="x")
    return ax
