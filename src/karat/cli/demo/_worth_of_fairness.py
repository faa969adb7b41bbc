"""What is a gap between groups worth? By asking, group by group."""

import numpy as np

from karat._typing import AnyArray
from karat.cli.demo._elicited import STATUS_WORDS
from karat.cli.demo._models import Models
from karat.cli.demo._part import Interval, Part
from karat.elicit import Fair, MetricOracle, RateSpace
from karat.metrics import FairMetric
from karat.report import Section, Table, result_svg

__all__ = ["WORTH", "ask_about_gaps", "worth_of_fairness"]

WORTH = 2.0
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


def ask_about_gaps(models: Models, seed: int = 0) -> Fair:
    """Ask someone for whom a gap between two kinds of biopsies matters, but who cannot say it."""
    _, score = next(iter(models.scores.items()))
    proba = np.stack([1.0 - score, score], axis=1)
    space = RateSpace.from_proba(models.y_true, proba, groups=_textures(models))
    share = WORTH / (1.0 + WORTH)  # with even costs, a gap is worth λ/(1−λ) points of error
    person = MetricOracle(FairMetric([1, 1], [[1, 1]], share), flip=_SLIPS, rng=seed)
    procedure = Fair(space, out_of=1000, rng=seed)
    procedure.run(person)
    return procedure


def _textures(models: Models) -> AnyArray:
    texture = models.measurements["mean texture"]
    return np.where(texture < np.median(texture), "fine texture", "coarse texture")


def worth_of_fairness(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Show what a gap is worth to a simulated person, and the truth beside it."""
    name, groups = next(iter(models.scores)), _textures(models)
    procedure = ask_about_gaps(models, seed)
    result = procedure.result
    frontier, trade_off = procedure.frontier(), result.trade_off
    assert trade_off is not None
    predicted = models.predict(name)
    value = result.metric.score(models.y_true, predicted, groups=groups)
    best = -(
        (1 - trade_off.tradeoff.estimate) * frontier.best[0]
        + trade_off.tradeoff.estimate * frontier.best[1]
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
            columns=("weight", "estimate", "95 % limits"),
            rows=tuple(
                (w.name, f"{w.estimate:.2f}", f"{w.lower:.2f} to {w.upper:.2f}")
                for w in result.intervals
            ),
        ),
        assumptions=(
            "The person weighs error rates and absolute gaps between the groups; how often a slip "
            "occurs, and how answers blur near indifference, is inferred with the metric.",
            "Each group may have its own, randomised threshold.",
        ),
        code=_CODE,
    )
    worth = trade_off.worth
    gap = Interval("worth of a gap", worth.estimate, worth.lower, worth.upper, WORTH)
    return (Part(section=section, intervals=(gap,)),)
