"""Parts of the demonstration that ask a (simulated) person what should be measured."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from karat._extras import require
from karat._typing import AnyArray, FloatArray
from karat.cli.demo._part import Interval, Models, Part
from karat.elicit import (
    BinarySpace,
    Elicitation,
    ElicitationResult,
    MetricOracle,
    Query,
    RateSpace,
)
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import (
    FairMetric,
    LinearMetric,
    accuracy,
    balanced_accuracy,
    cost_matrix,
    f_beta,
    g_mean,
    jaccard,
    mcc,
)
from karat.metrics.base import Metric
from karat.plot.style import COLORS, GRID, INK, MARKERS, quiet
from karat.report import Section, figure_svg, result_svg
from karat.report.parts import Table
from karat.statistics import RocCounts, roc_counts

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
_METRIC_CODE = """\
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
        table=_table_of_metrics(choices, winners, support),
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
        code=_METRIC_CODE,
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


def _table_of_metrics(
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
                100 * choice.called,
                row,
                marker=marker,
                markersize=9,
                linestyle="none",
                markeredgecolor=color,
                markerfacecolor=color if chosen else "none",
                label=name if row == 0 else None,
                zorder=3,
            )
    truth = 100 * float(np.mean(models.y_true == models.positive))
    ax.axvline(truth, color=GRID, linestyle=":", zorder=1)
    ax.annotate(
        "truly malignant",
        (truth, -0.75),
        color=INK,
        fontsize=9,
        ha="center",
        va="bottom",
        annotation_clip=False,
    )
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


# --- What is a gap between groups worth? By asking, group by group.

WORTH = 2.0
_FAIR_CODE = """\
from karat.elicit import Elicitation, RateSpace

space = RateSpace.from_proba(y_true, proba, groups=groups)
elicitation = Elicitation(space)
while (query := elicitation.ask()) is not None:     # confusion matrices of every group
    elicitation.tell(answer(query))
elicitation.result.trade_off                        # what a gap is worth, with limits
elicitation.frontier().plot()                       # and what that would choose
"""


def ask_about_gaps(models: Models, seed: int = 0) -> Elicitation:
    """Ask someone for whom a gap between two kinds of biopsies matters, but who cannot say it."""
    _, score = next(iter(models.scores.items()))
    proba = np.stack([1.0 - score, score], axis=1)
    space = RateSpace.from_proba(models.y_true, proba, groups=_textures(models))
    share = WORTH / (1.0 + WORTH)  # with even costs, a gap is worth λ/(1−λ) points of error
    person = MetricOracle(FairMetric([1, 1], [[1, 1]], share), flip=_SLIPS, rng=seed)
    elicitation = Elicitation(space, out_of=1000, rng=seed)
    elicitation.run(person)
    return elicitation


def _textures(models: Models) -> AnyArray:
    texture = models.measurements["mean texture"]
    return np.where(texture < np.median(texture), "fine texture", "coarse texture")


def worth_of_fairness(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Show what a gap is worth to a simulated person, and the truth beside it."""
    name, groups = next(iter(models.scores)), _textures(models)
    elicitation = ask_about_gaps(models, seed)
    result = elicitation.result
    frontier, trade_off = elicitation.frontier(), result.trade_off
    assert trade_off is not None
    predicted = models.predict(name)
    value = result.metric.score(models.y_true, predicted, groups=groups)
    best = -(
        (1 - trade_off.tradeoff.value) * frontier.best[0]
        + trade_off.tradeoff.value * frontier.best[1]
    )
    section = Section(
        question="What is a gap between groups worth?",
        answer=(
            f"Someone for whom one point of gap between biopsies of fine and coarse texture is as "
            f"bad as {WORTH:g} points of error, who cannot say so and slips on "
            f"{100 * _SLIPS:.0f} % of questions, compared {result.n_queries} pairs of classifiers. "
            f"{trade_off.summary()} The hidden truth is {WORTH:g}. The answers are "
            f"{result.status}: {STATUS_WORDS[result.status]}. By this metric {name} with one "
            "threshold scores "
            f"{value:.3f}, and the best classifier of these very biopsies that decides by its "
            f"probabilities and the texture {best:.3f}."
        ),
        figure=result_svg(frontier),
        figure_text=(
            "Few errors or small gaps: what classifiers attain, and lines along which the person "
            "finds them equally good."
        ),
        table=Table(
            columns=("weight", "value", "95 % limits"),
            rows=tuple(
                (w.name, f"{w.value:.2f}", f"{w.lower:.2f} to {w.upper:.2f}")
                for w in result.weights
            ),
        ),
        assumptions=(
            "The person weighs error rates and absolute gaps between the groups; how often a slip "
            "occurs, and how answers blur near indifference, is inferred with the metric.",
            "Each group may have its own, randomised threshold.",
        ),
        code=_FAIR_CODE,
    )
    worth = trade_off.worth
    gap = Interval("worth of a gap", worth.value, worth.lower, worth.upper, WORTH)
    return (Part(section=section, intervals=(gap,)),)


# --- How do we find out which metric is wanted? By asking someone who cannot say it.

DOCTORS_COST = 10
_SLIPS = 0.1
_KINDS = {"question": "to learn", "dominated": "check: one side is worse", "repeat": "check: again"}
STATUS_WORDS = {
    "certified": "a coin would have answered like this in at most 5 % of cases",
    "undecided": "what was asked for was not reached with these questions",
    "flagged": "they do not fit this kind of metric",
}
_CODE = """\
from karat.elicit import BinarySpace, Elicitation

space = BinarySpace.from_scores(y_true, y_score).smoothed()
elicitation = Elicitation(space)
while (query := elicitation.ask()) is not None:     # two confusion matrices
    elicitation.tell(answer(query))                 # "first", "second", "tie" or "skip"
elicitation.result.metric                           # scores, optimises, serialises
"""


def ask_doctor(models: Models, seed: int = 0) -> ElicitationResult:
    """Ask a simulated doctor, who slips now and then, which of two classifiers is better."""
    _, score = next(iter(models.scores.items()))
    space = BinarySpace.from_scores(models.y_true, score, pos_label=models.positive).smoothed()
    doctor = MetricOracle(cost_matrix([[0, 1], [DOCTORS_COST, 0]]), flip=_SLIPS, rng=seed)
    return Elicitation(space, out_of=1000, rng=seed).run(doctor)


def elicited(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Show what the answers of a simulated doctor amount to, and the truth beside it."""
    name = next(iter(models.scores))
    result = ask_doctor(models, seed)
    ratio = result.ratios[0]
    metric = result.metric
    assert isinstance(metric, LinearMetric)
    threshold = metric.bayes_classifier().threshold
    section = Section(
        question="How do we find out what to measure?",
        answer=(
            f"By asking. A doctor for whom a missed cancer is as bad as {DOCTORS_COST} false "
            f"alarms, who has never said so and slips on {100 * _SLIPS:.0f} % of questions, was "
            f"shown {result.n_queries} pairs of confusion matrices of {name}. From the answers "
            f"alone: a miss is worth {ratio.value:.1f} false alarms (95 %: {ratio.lower:.1f} to "
            f"{ratio.upper:.1f}; hidden truth {DOCTORS_COST}), so call malignant from a "
            f"probability of {threshold:.2f} on. The answers are {result.status}: "
            f"{STATUS_WORDS[result.status]}. The metric is expected to agree with the doctor on "
            f"{100 * result.agreement:.0f} % of pairs."
        ),
        figure=result_svg(result),
        figure_text="The trade-offs that fit the answers: how many false alarms a miss is worth.",
        table=_table(result),
        assumptions=(
            "The doctor compares classifiers by what misses and false alarms cost; how often a "
            "slip occurs, and how answers blur near indifference, is inferred with the metric.",
            "Questions are pairs of classifiers that this model can be turned into by moving its "
            "threshold, on a curve smoothed by a logistic fit.",
        ),
        code=_CODE,
    )
    cost = Interval("cost of a miss", ratio.value, ratio.lower, ratio.upper, DOCTORS_COST)
    return (Part(section=section, intervals=(cost,)),)


def _table(result: ElicitationResult) -> Table:
    rows = []
    queries, kinds = result.transcript.queries, result.transcript.kinds
    for number, (answer, query, kind) in enumerate(
        zip(result.transcript.answers, queries, kinds, strict=True), start=1
    ):
        sides = Query(np.asarray(query[0]), np.asarray(query[1])).counts(1000)
        shown = (f"{side[1, 0]} / {side[0, 1]}" for side in sides)
        rows.append((str(number), *shown, answer, _KINDS[kind]))
    return Table(
        columns=("question", "first: missed / false alarms", "second", "better", "why asked"),
        rows=tuple(rows),
        caption="What was asked, per 1,000 biopsies",
    )
