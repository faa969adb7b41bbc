"""Which metric do we want? Each one prefers its own model and threshold."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from karat._extras import require
from karat._typing import FloatArray
from karat.cli.demo._models import Models
from karat.cli.demo._part import Part
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import (
    Metric,
    accuracy,
    balanced_accuracy,
    cost_matrix,
    f_beta,
    g_mean,
    jaccard,
    mcc,
)
from karat.plot.style import COLORS, GRID, INK, MARKERS, quiet
from karat.report import Section, Table, figure_svg
from karat.statistics import RocCounts, roc_counts

__all__ = ["which_metric"]

_MISS = 10
_RESAMPLES = 400
_SURE = 0.9
_METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "balanced accuracy": balanced_accuracy,
    "F1": f_beta(1),
    "Jaccard": jaccard,
    "MCC": mcc,
    "G-mean": g_mean,
    f"costs {_MISS} : 1": cost_matrix([[0, 1], [_MISS, 0]]),
}
_CODE = """\
from karat.metrics import cost_matrix, f_beta
from karat.statistics import roc_counts

metric = cost_matrix([[0, 1], [10, 0]])           # or f_beta(1), mcc, ...
counts = roc_counts(y_true, y_score)              # all that the thresholds need of the data
values = metric(counts.confusions())              # the metric at every threshold, at once
best = counts.thresholds[values.argmax()]
"""


class _Choice(NamedTuple):
    """The best that one metric gets from one model."""

    value: float
    threshold: float
    called: float  # share of items predicted positive at that threshold


def which_metric(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Show which model and threshold each metric prefers, and how surely."""
    counts = {name: _count(models, score) for name, score in models.scores.items()}
    choices = {
        title: {name: _best(metric, table) for name, table in counts.items()}
        for title, metric in _METRICS.items()
    }
    support = _support(models, seed)
    winners = {title: max(row, key=lambda name: row[name].value) for title, row in choices.items()}
    section = Section(
        question="What should we measure?",
        answer=_answer(choices, winners, support),
        figure=_figure(models, choices, winners),
        figure_text=(
            "For each metric, the share of biopsies that each model calls malignant at the "
            "threshold the metric prefers; the preferred model is filled."
        ),
        table=_table(choices, winners, support),
        assumptions=(
            "Each biopsy is scored by a model that did not see it (ten-fold cross-validation).",
            "Threshold and value come from the same items, so the values are a little hopeful.",
            f"“Wins” is the share of {_RESAMPLES} bootstrap resamples of the biopsies, each with "
            "its own best thresholds, in which the preferred model is better. Below "
            f"{100 * _SURE:.0f} % we say that the data cannot tell.",
            f"“Costs {_MISS} : 1” is minus the expected cost where a missed cancer costs {_MISS} "
            "and a false alarm 1.",
            "Which metric is right is not in the data: it is what an error costs the people "
            "concerned.",
        ),
        code=_CODE,
    )
    return (Part(section=section),)


def _count(models: Models, score: FloatArray, weight: FloatArray | None = None) -> RocCounts:
    return roc_counts(models.y_true, score, pos_label=models.positive, sample_weight=weight)


def _values(metric: Metric, counts: RocCounts) -> FloatArray:
    with warnings.catch_warnings():
        # At the ends of the range nothing, or everything, is called positive: no ratio there.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return np.asarray(metric(counts.confusions()))


def _best(metric: Metric, counts: RocCounts) -> _Choice:
    values = _values(metric, counts)
    best = int(values.argmax())
    called = float(counts.confusions()[best, :, 1].sum())
    return _Choice(float(values[best]), float(counts.thresholds[best]), called)


def _support(models: Models, seed: int) -> dict[str, float]:
    """Return, for each metric, the share of resamples in which the first model wins."""
    rng = np.random.default_rng(seed)
    n = len(models.y_true)
    wins = dict.fromkeys(_METRICS, 0.0)
    for _ in range(_RESAMPLES):
        weight = rng.multinomial(n, np.full(n, 1 / n)).astype(float)
        first, second = (_count(models, s, weight) for s in models.scores.values())
        for title, metric in _METRICS.items():
            gap = _values(metric, first).max() - _values(metric, second).max()
            wins[title] += 0.5 * (1 + float(np.sign(gap))) / _RESAMPLES
    return wins


def _sure(winner: str, support: float, choices: dict[str, _Choice]) -> float:
    return support if winner == next(iter(choices)) else 1 - support


def _answer(
    choices: dict[str, dict[str, _Choice]], winners: dict[str, str], support: dict[str, float]
) -> str:
    plain, costs = next(iter(_METRICS)), list(_METRICS)[-1]
    here, there = choices[plain][winners[plain]], choices[costs][winners[costs]]
    said = {t: _verdict(winners[t], support[t], choices[t]) for t in (plain, costs)}
    return (
        f"What is measured decides more than the model does. By accuracy {said[plain]}, and "
        f"{100 * here.called:.0f} % of the biopsies should be called malignant. If a missed cancer "
        f"costs as much as {_MISS} false alarms, {said[costs]}, and {100 * there.called:.0f} % "
        "should be called malignant, from the same scores."
    )


def _verdict(winner: str, support: float, choices: dict[str, _Choice]) -> str:
    """Say which model is better, or that the data cannot tell."""
    sure = _sure(winner, support, choices)
    if sure >= _SURE:
        return f"{winner} is better (in {100 * sure:.0f} % of resamples)"
    return "the data cannot tell the two models apart"


def _table(
    choices: dict[str, dict[str, _Choice]], winners: dict[str, str], support: dict[str, float]
) -> Table:
    rows = []
    for title, row in choices.items():
        winner = winners[title]
        best = row[winner]
        rows.append(
            (
                title,
                *(f"{choice.value:.3f}" for choice in row.values()),
                winner,
                f"{100 * _sure(winner, support[title], row):.0f} %",
                f"{best.threshold:.2g}",
                f"{100 * best.called:.0f} %",
            )
        )
    models = tuple(next(iter(choices.values())))
    columns = ("metric", *models, "prefers", "wins", "threshold", "called malignant")
    return Table(
        columns=columns, rows=tuple(rows), caption="Each model at the threshold the metric likes"
    )


def _figure(models: Models, choices: dict[str, dict[str, _Choice]], winners: dict[str, str]) -> str:
    pyplot: Any = require("matplotlib.pyplot", purpose="the picture of the demo")
    figure, ax = pyplot.subplots(figsize=(5.2, 3.7), layout="constrained")
    for row, (title, per_model) in enumerate(choices.items()):
        for color, marker, (name, choice) in zip(COLORS, MARKERS, per_model.items(), strict=False):
            chosen = name == winners[title]
            ax.plot(
                100 * choice.called, row, marker=marker, markersize=9, linestyle="none",
                markeredgecolor=color, markerfacecolor=color if chosen else "none",
                label=name if row == 0 else None, zorder=3,
            )  # fmt: skip
    truth = 100 * float(np.mean(models.y_true == models.positive))
    ax.axvline(truth, color=GRID, linestyle=":", zorder=1)
    ax.annotate(
        "truly malignant", (truth, -0.75), color=INK, fontsize=9, ha="center", va="bottom",
        annotation_clip=False,
    )  # fmt: skip
    ax.set_yticks(range(len(choices)), list(choices))
    ax.set_ylim(len(choices) - 0.4, -0.7)
    ax.set_xlabel("% of biopsies called malignant at the best threshold")
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax, grid="y")
    handles = [
        pyplot.Line2D([], [], color=c, marker=m, linestyle="none", markersize=9, label=name)
        for c, m, name in zip(COLORS, MARKERS, models.scores, strict=False)
    ]
    hollow = {"marker": "o", "fillstyle": "none", "linestyle": "none", "markersize": 9}
    handles.append(pyplot.Line2D([], [], color=GRID, label="not preferred", **hollow))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=9,
        columnspacing=1.0,
        handletextpad=0.2,
    )
    svg = figure_svg(figure)
    pyplot.close(figure)
    return svg
