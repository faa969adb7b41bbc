"""What the baselines are made of: one fixed rule, and a search along one weight after another.

`RuleClassifier` is the base of classifiers that decide by one plug-in rule. `values_along` gives
the metric for every weight of one class on a grid while the others stay, `confusions_along` all
confusions at once, and `middle_of_best` the grid point to take (Hiranandani 2021, appendix E.6).
"""

from karat.optimize.baselines._coordinate_search import (
    confusions_along,
    middle_of_best,
    values_along,
)
from karat.optimize.baselines._rule_classifier import RuleClassifier

__all__ = ["RuleClassifier", "confusions_along", "middle_of_best", "values_along"]
