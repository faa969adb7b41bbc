"""How do we find out which metric is wanted? By asking someone who cannot say it."""

import numpy as np

from karat.cli.demo._models import Models
from karat.elicit import BinaryLinear, BinarySpace, ElicitationResult, MetricOracle
from karat.metrics import LinearMetric, cost_matrix
from karat.report import Section, Table, result_svg

__all__ = ["elicited"]

_COST = 10
_SLIPS = 0.1
_CODE = """\
from karat.elicit import BinaryLinear, BinarySpace

space = BinarySpace.from_scores(y_true, y_score).smoothed()
procedure = BinaryLinear(space)
while (query := procedure.ask()) is not None:     # two confusion matrices
    procedure.tell(answer(query))                 # "first", "second", "tie" or "skip"
procedure.result.metric                           # scores, optimises, serialises
"""


def elicited(models: Models) -> Section:
    """Ask a simulated doctor, who slips now and then, which of two classifiers is better."""
    name, score = next(iter(models.scores.items()))
    space = BinarySpace.from_scores(models.y_true, score, pos_label=models.positive).smoothed()
    doctor = MetricOracle(cost_matrix([[0, 1], [_COST, 0]]), flip=_SLIPS, rng=0)
    result = BinaryLinear(space, agreement=0.995, max_queries=20, rng=0).run(doctor)
    ratio = result.ratios[0]
    metric = result.metric
    assert isinstance(metric, LinearMetric)
    threshold = metric.bayes_classifier().threshold
    return Section(
        question="How do we find out what to measure?",
        answer=(
            f"By asking. A doctor for whom a missed cancer is as bad as {_COST} false alarms, who "
            f"has never said so and slips on {100 * _SLIPS:.0f} % of questions, was shown "
            f"{result.n_queries} pairs of confusion matrices of {name}. From the answers alone: a "
            f"miss is worth {ratio.estimate:.1f} false alarms (95 %: {ratio.lower:.1f} to "
            f"{ratio.upper:.1f}), so call malignant from a probability of {threshold:.2f} on. "
            "The metric is expected to agree with the doctor on "
            f"{100 * result.agreement:.0f} % of pairs."
        ),
        figure=result_svg(result),
        figure_text="The trade-offs that fit the answers: how many false alarms a miss is worth.",
        table=_table(result),
        assumptions=(
            "The doctor compares classifiers by what misses and false alarms cost, and slips at a "
            "rate that is inferred with the metric.",
            "Questions are pairs of classifiers that this model can be turned into by moving its "
            "threshold, on a curve smoothed by a logistic fit.",
        ),
        code=_CODE,
    )


def _table(result: ElicitationResult) -> Table:
    rows = []
    for number, (answer, query) in enumerate(
        zip(result.transcript.answers, result.transcript.queries, strict=True), start=1
    ):
        sides = (np.asarray(side) * 1000 for side in query)
        shown = (f"{abs(side[1, 0]):.0f} / {abs(side[0, 1]):.0f}" for side in sides)
        rows.append((str(number), *shown, answer))
    return Table(
        columns=("question", "first: missed / false alarms", "second", "better"),
        rows=tuple(rows),
        caption="What was asked, per 1,000 biopsies",
    )
