"""What is a gap between groups worth? By asking, group by group."""

import numpy as np

from karat.cli.demo._models import Models
from karat.elicit import Fair, MetricOracle, RateSpace
from karat.metrics import FairMetric
from karat.report import Section, Table, result_svg

__all__ = ["worth_of_fairness"]

_WORTH = 2.0
_SLIPS = 0.1
_CODE = """\
from karat.elicit import Fair, RateSpace

space = RateSpace.from_proba(y_true, proba, groups=groups)
procedure = Fair(space)
while (query := procedure.ask()) is not None:     # confusion matrices of every group
    procedure.tell(answer(query))
procedure.result.trade_off                        # what a gap is worth, with limits
procedure.frontier().plot()                       # and what that would choose
"""


def worth_of_fairness(models: Models) -> Section:
    """Ask someone for whom a gap between two kinds of biopsies matters, but who cannot say it."""
    name, score = next(iter(models.scores.items()))
    texture = models.measurements["mean texture"]
    groups = np.where(texture < np.median(texture), "fine texture", "coarse texture")
    proba = np.stack([1.0 - score, score], axis=1)
    space = RateSpace.from_proba(models.y_true, proba, groups=groups)
    share = _WORTH / (1.0 + _WORTH)  # with even costs, a gap is worth λ/(1−λ) points of error
    person = MetricOracle(FairMetric([1, 1], [[1, 1]], share), flip=_SLIPS, rng=0)
    procedure = Fair(space, agreement=0.97, rng=0)
    result = procedure.run(person)
    frontier, trade_off = procedure.frontier(), result.trade_off
    assert trade_off is not None
    predicted = models.predict(name)
    value = result.metric.score(models.y_true, predicted, groups=groups)
    best = -(
        (1 - trade_off.tradeoff.estimate) * frontier.best[0]
        + trade_off.tradeoff.estimate * frontier.best[1]
    )
    return Section(
        question="What is a gap between groups worth?",
        answer=(
            f"Someone for whom one point of gap between biopsies of fine and coarse texture is as "
            f"bad as {_WORTH:g} points of error, who cannot say so and slips on "
            f"{100 * _SLIPS:.0f} % of questions, compared {result.n_queries} pairs of classifiers. "
            f"{trade_off.summary()} By this metric {name} with one threshold scores {value:.3f}, "
            "and the best classifier of these very biopsies that decides by its probabilities and "
            f"the texture {best:.3f}."
        ),
        figure=result_svg(frontier),
        figure_text=(
            "Few errors or small gaps: what classifiers attain, and lines along which the person "
            "finds them equally good."
        ),
        table=Table(
            columns=("weight", "estimate", "95 % limits"),
            rows=tuple(
                (w.name, f"{w.estimate:.2f}", f"{w.lower:.2f} to {w.upper:.2f}")
                for w in result.intervals
            ),
        ),
        assumptions=(
            "The person weighs error rates and absolute gaps between the groups, and slips at a "
            "rate that is inferred with the metric.",
            "Each group may have its own, randomised threshold.",
        ),
        code=_CODE,
    )
