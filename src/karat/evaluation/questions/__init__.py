"""The questions of an evaluation, one a file, in the order of a reader's interest.

Each is a function of the `Evidence`. It returns a `Finding`, a `LeftOut` with the column that would
answer the question, or None where nobody asked. `estimates_of` gives the numbers of a finding.
"""

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

__all__ = [
    "QUESTIONS",
    "Evidence",
    "LeftOut",
    "below_one_class",
    "calibration_verdict",
    "estimates_of",
    "flag",
]

# What takes the ground from under the rest comes first: whether one class would do better.
QUESTIONS = (
    one_class,
    how_good,
    which_is_better,
    every_group,
    pass_rates,
    judges,
    where_it_matters,
    probabilities,
    better_rule,
)
