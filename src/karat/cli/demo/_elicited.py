"""How do we find out which metric is wanted? By asking someone who cannot say it."""

import numpy as np

from karat.cli.demo._models import Models
from karat.cli.demo._part import Interval, Part
from karat.elicit import BinaryLinear, BinarySpace, ElicitationResult, MetricOracle, Query
from karat.metrics import LinearMetric, cost_matrix
from karat.report import Section, Table, result_svg

__all__ = ["DOCTORS_COST", "STATUS_WORDS", "ask_doctor", "elicited"]

DOCTORS_COST = 10
_SLIPS = 0.1
_KINDS = {"question": "to learn", "dominated": "check: one side is worse", "repeat": "check: again"}
STATUS_WORDS = {
    "certified": "a coin would have answered like this in at most 5 % of cases",
    "undecided": "what was asked for was not reached with these questions",
    "flagged": "they do not fit this kind of metric",
}
_CODE = """\
from karat.elicit import BinaryLinear, BinarySpace

space = BinarySpace.from_scores(y_true, y_score).smoothed()
procedure = BinaryLinear(space)
while (query := procedure.ask()) is not None:     # two confusion matrices
    procedure.tell(answer(query))                 # "first", "second", "tie" or "skip"
procedure.result.metric                           # scores, optimises, serialises
"""


def ask_doctor(models: Models, seed: int = 0) -> ElicitationResult:
    """Ask a simulated doctor, who slips now and then, which of two classifiers is better."""
    _, score = next(iter(models.scores.items()))
    space = BinarySpace.from_scores(models.y_true, score, pos_label=models.positive).smoothed()
    doctor = MetricOracle(cost_matrix([[0, 1], [DOCTORS_COST, 0]]), flip=_SLIPS, rng=seed)
    return BinaryLinear(space, out_of=1000, rng=seed).run(doctor)


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
            f"alone: a miss is worth {ratio.estimate:.1f} false alarms (95 %: {ratio.lower:.1f} to "
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
    cost = Interval("cost of a miss", ratio.estimate, ratio.lower, ratio.upper, DOCTORS_COST)
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
