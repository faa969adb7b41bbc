"""Pictures of voters and what can be known of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.consensus.result import (
    CoClustering,
    ErrorRates,
    Explanations,
    ModelComparison,
    RankingRobustness,
    VoterAgreement,
)
from karat.plot.style import COLORS, GRID, INK, MARKERS, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TOLD, _UNTOLD = "consistent or confirmed", "votes cannot tell"
_CURVES = 6  # voters with a band of their own in the picture of a ranking
_ROWS = 80  # entries beyond which a forest shows one line per domain


def draw_forest(result: ErrorRates, ax: "Axes | None" = None) -> "Axes":
    """Draw every voter's error rate with its limits; grey where votes do not identify it."""
    if len(result.value) > _ROWS and len(result.domains) > 1:
        return _draw_domains(result, ax)
    order = np.lexsort((result.value, result.domain))
    ax = new_axes(ax, (6.4, 1.6 + 0.2 * len(order)))
    rows = np.arange(len(order))
    known = result.identified[result.domain[order]]
    mean, lower, upper = (getattr(result, n)[order] for n in ("value", "lower", "upper"))
    for identified, color, name in ((True, COLORS[0], _TOLD), (False, GRID, _UNTOLD)):
        some = known == identified
        if some.any():
            ax.hlines(rows[some], lower[some], upper[some], color=color, linewidth=2)
            ax.plot(mean[some], rows[some], "o", ms=4, color=color, label=name)
    if result.truth is not None:
        truth = result.truth[order]
        ax.plot(truth, rows, "|", ms=9, mew=2, color=COLORS[1], label="truth")
    ax.set_yticks(rows, [_entry(result, int(i)) for i in order], fontsize=8)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel(f"error rate, with {100 * result.confidence:.0f} % limits")
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    quiet(ax, grid="x")
    return ax


def _entry(result: ErrorRates, i: int) -> str:
    name = literal(result.classifiers[result.classifier[i]])
    if len(result.domains) == 1:
        return name
    return f"{literal(result.domains[result.domain[i]])}: {name}"


def _draw_domains(result: ErrorRates, ax: "Axes | None") -> "Axes":
    """Draw one line per domain with all its voters on it."""
    ax = new_axes(ax, (6.8, 1.6 + 0.35 * len(result.domains)))
    for d in range(len(result.domains)):
        here = np.flatnonzero(result.domain == d)
        color = COLORS[0] if result.identified[d] else GRID
        ax.hlines(d, result.lower[here].min(), result.upper[here].max(), color=color, alpha=0.35)
        ax.plot(result.value[here], np.full(len(here), d), "o", ms=4, alpha=0.6, color=color)
        if result.truth is not None:
            at = np.full(len(here), d + 0.25)
            ax.plot(result.truth[here], at, "|", ms=6, color=COLORS[1], alpha=0.7)
    for color, name in ((COLORS[0], _TOLD), (GRID, _UNTOLD)):
        ax.plot([], [], "o", ms=4, color=color, label=name)
    if result.truth is not None:
        ax.plot([], [], "|", ms=8, color=COLORS[1], label="truth")
    ax.set_yticks(np.arange(len(result.domains)), [literal(d) for d in result.domains])
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("error rate of each voter; the line spans their limits")
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    quiet(ax, grid="x")
    return ax


def draw_explanations(result: Explanations, ax: "Axes | None" = None) -> "Axes":
    """Draw the error rates under each explanation side by side, joined voter by voter."""
    order = np.argsort(result.rates[0], kind="stable")
    ax = new_axes(ax, (6.8, 1.8 + 0.2 * len(order)))
    rows = np.arange(len(order))
    rates = result.rates[:, order]
    ax.hlines(rows, rates.min(axis=0), rates.max(axis=0), color=GRID, alpha=0.6)
    for name, values, color, marker in zip(result.names, rates, COLORS, MARKERS, strict=False):
        ax.plot(values, rows, marker, ms=5, color=color, label=name)
    ax.set_yticks(rows, [literal(result.classifiers[j]) for j in order], fontsize=8)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("error rate")
    state = _TOLD if result.identified else _UNTOLD
    where = "" if result.domain == "all" else f"{literal(result.domain)}: "
    # A legend beside the rows would hide some; above them it takes a line for each explanation.
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
    ax.set_title(f"{where}{state}", fontsize=10, loc="left", pad=16 + 14 * len(result.names))
    quiet(ax, grid="x")
    return ax


def draw_ranking_robustness(result: RankingRobustness, ax: "Axes | None" = None) -> "Axes":
    """Draw the limits of the best voters as more of the items fool most voters together."""
    ax = new_axes(ax, (6.8, 4.2))
    for j in range(min(_CURVES, len(result.classifiers))):
        color = COLORS[j % len(COLORS)]
        low, high = result.lower[:, j], result.upper[:, j]
        if j == 0:  # the bands of all would hide one another
            ax.fill_between(result.gamma, low, high, color=color, alpha=0.15, lw=0)
        for edge in (low, high):
            ax.plot(result.gamma, edge, color=color, linewidth=0.8, linestyle="--", alpha=0.7)
        ax.plot(
            result.gamma,
            result.value[:, j],
            color=color,
            label=literal(result.classifiers[j]),
        )
    if len(result.changes) and not result.rivals and result.first_holds <= result.gamma.max():
        ax.axvline(result.first_holds, color=INK, linestyle=":", linewidth=1)
        ax.annotate(
            f" the first place can change from {100 * result.first_holds:.1f} % on",
            (result.first_holds, 1),
            xycoords=("data", "axes fraction"),
            fontsize=8,
            va="top",
        )
    ax.set_xlim(result.gamma.min(), result.gamma.max())
    ax.set_ylim(bottom=0)
    ax.set_xlabel("share of the items on which most voters are fooled together")
    ax.set_ylabel("error rate and its limits")
    more = len(result.classifiers) - _CURVES
    title = None if more <= 0 else f"the best {_CURVES} of {len(result.classifiers)}"
    ax.legend(frameon=False, fontsize=8, title=title, loc="upper left", bbox_to_anchor=(1.01, 1))
    where = "" if result.domain == "all" else f"{literal(result.domain)}: "
    unsettled = "; the votes do not settle the first place" if result.rivals else ""
    ax.set_title(f"{where}{result.status}{unsettled}", fontsize=10, loc="left")
    quiet(ax)
    return ax


def draw_agreement(result: VoterAgreement, ax: "Axes | None" = None) -> "Axes":
    """Draw observed against expected agreement of each pair."""
    ax = new_axes(ax, (4.8, 4.8))
    off = np.abs(result.z) > 2.576
    ax.plot([0, 1], [0, 1], color=GRID, linestyle=":", label="as the model expects")
    for some, color, name in (
        (~off, COLORS[0], "pair of voters"),
        (off, COLORS[1], "outside its 99 % interval"),
    ):
        if some.any():
            ax.scatter(
                result.expected[some],
                result.observed[some],
                s=12,
                alpha=0.5,
                color=color,
                label=name,
            )
    if len(result.z):
        worst = int(np.abs(result.z).argmax())
        a, b = (literal(result.names[i]) for i in (result.first[worst], result.second[worst]))
        ax.set_title(f"furthest off: {a} and {b}", fontsize=8, loc="left")
        low = float(min(result.expected.min(), result.observed.min())) - 0.03
        ax.set_xlim(max(low, 0), 1.02)
        ax.set_ylim(max(low, 0), 1.02)
    ax.set_xlabel("agreement that the model expects")
    ax.set_ylabel("agreement observed")
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    quiet(ax)
    return ax


def draw_comparison(result: ModelComparison, ax: "Axes | None" = None) -> "Axes":
    """Draw how far each model is behind the best on held-out votes."""
    ax = new_axes(ax, (6.4, 1.4 + 0.35 * len(result.weight)))
    order = np.argsort(result.behind, kind="stable")
    rows = np.arange(len(order))
    shared = [s != "independent" for s in result.structure]
    kinds = [
        s if b else d for s, d, b in zip(result.structure, result.dependence, shared, strict=True)
    ]
    names: list[Any] = [f"{result.errors[m]}, {kinds[m]}" for m in order]
    ax.errorbar(
        result.behind[order],
        rows,
        xerr=2 * result.behind_error[order],
        fmt="o",
        color=COLORS[0],
        ecolor=COLORS[0],
        elinewidth=2,
    )
    for row, m in zip(rows, order, strict=True):
        ax.annotate(
            f"weight {result.weight[m]:.2f}",
            (result.behind[m], row),
            textcoords="offset points",
            xytext=(0, 7),
            ha="center",
            fontsize=8,
            color=INK,
        )
    ax.set_yticks(rows, names)
    ax.set_ylim(len(order) - 0.5, -0.7)
    ax.set_xlabel("held-out log-likelihood behind the best, ± 2 standard errors")
    quiet(ax, grid="x")
    return ax


def draw_co_clustering(result: CoClustering, ax: "Axes | None" = None) -> "Axes":
    """Draw how often two items share error rates, cluster by cluster; sizes if they are many."""
    if not result.probability.size:
        ax = new_axes(ax, (5.4, 3.4))
        sizes = np.bincount(result.labels)
        ax.bar(np.arange(len(sizes)), sizes, color=COLORS[0])
        ax.set_xlabel("cluster")
        ax.set_ylabel("members")
        quiet(ax, grid="y")
        return ax
    order = np.lexsort((-result.certainty, result.labels))
    n = len(order)
    side = min(1.8 + 0.2 * n, 9.0)
    ax = new_axes(ax, (side + 0.8, side))
    shown = result.probability[np.ix_(order, order)]
    image = ax.imshow(shown, cmap="Blues", vmin=0, vmax=1)
    for edge in np.flatnonzero(np.diff(result.labels[order])) + 0.5:
        ax.axhline(edge, color=COLORS[1], linewidth=1)
        ax.axvline(edge, color=COLORS[1], linewidth=1)
    if n <= _ROWS // 2:
        names = [literal(result.names[i]) for i in order]
        ax.set_yticks(np.arange(n), names, fontsize=7)
    else:
        ax.set_yticks([])
    ax.set_xticks([])
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
    bar.set_label("probability of sharing error rates", fontsize=8)
    many = int(result.labels.max()) + 1
    ax.set_title(f"{many} cluster{'s' if many > 1 else ''}", fontsize=10)
    return ax
