"""The questions of an evaluation, one a file, in the order of a reader's interest.

Each says what it needs: a question whose parts are not all there is not asked. It is a function of
the `Evidence` and returns a `Finding`, a `LeftOut` with the column that would answer the question,
or None where there is nothing to say. `estimates_of` gives the numbers of a finding.
"""

from collections.abc import Callable
from typing import NamedTuple

from karat.evaluation.questions._better_rule import better_rule
from karat.evaluation.questions._comparison import which_is_better
from karat.evaluation.questions._finding import Evidence, LeftOut, estimates_of, flag
from karat.evaluation.questions._groups import every_group
from karat.evaluation.questions._how_good import how_good
from karat.evaluation.questions._judges import judges
from karat.evaluation.questions._one_class import below_one_class, one_class
from karat.evaluation.questions._pass_rates import pass_rates
from karat.evaluation.questions._probabilities import calibration_verdict, probabilities
from karat.evaluation.questions._where_it_matters import where_it_matters
from karat.report.answer import Finding

__all__ = [
    "QUESTIONS",
    "Evidence",
    "LeftOut",
    "below_one_class",
    "calibration_verdict",
    "estimates_of",
    "flag",
]


class Question(NamedTuple):
    """A question of an evaluation.

    Attributes
    ----------
    words : str
        The question, as it is listed where an error is in the way of its answer.
    answer : callable
        What answers it.
    needs : set of str
        Parts of the evidence (`Evidence.parts`) without which nobody asks it.
    """

    words: str
    answer: Callable[[Evidence], Finding | LeftOut | None]
    needs: set[str]


# What takes the ground from under the rest comes first: whether one class would do better.
QUESTIONS = (
    Question("Is it better than always predicting one class?", one_class, {"pred", "labels"}),
    Question("How good is it?", how_good, {"pred"}),
    Question("Which is better?", which_is_better, {"rivals"}),
    Question("Is it as good for every group?", every_group, {"group", "pred", "labels"}),
    Question("How often do the answers pass?", pass_rates, {"log"}),
    Question("How good are the judges?", judges, {"votes"}),
    Question("How good is the ranking where it matters?", where_it_matters, {"score"}),
    Question("Can the probabilities be trusted?", probabilities, {"prob"}),
    Question("Which rule is best?", better_rule, {"score", "labels", "metric"}),
)
