"""What classifiers are measured on: probabilities to decide by and masses to count.

A `Population` gives the confusion of any rule, and the best rule for any gains. For two classes
every rule is a threshold, so its confusion is read off an `OddsOrder`, the sorted items, and the
best one off a `Frontier`, the curve of all thresholds, whose `upper_hull` is what randomised
classifiers attain; a `Chain` finds the best vertex of a hull. `compressed` joins items where there
are many, after ``order_of_many``; ``warm`` compiles the loop that it needs, and ``taken`` picks
rows of several arrays.
"""

from karat.decisions.populations._cells import compressed, order_of_many
from karat.decisions.populations._chain import Chain
from karat.decisions.populations._frontier import Chord, Frontier, Point
from karat.decisions.populations._odds_order import OddsOrder, taken
from karat.decisions.populations._population import Best, Population
from karat.decisions.populations._running_sums import running_sums
from karat.decisions.populations._upper_hull import upper_hull
from karat.decisions.populations._warm import warm

__all__ = [
    "Best",
    "Chain",
    "Chord",
    "Frontier",
    "OddsOrder",
    "Point",
    "Population",
    "compressed",
    "order_of_many",
    "running_sums",
    "taken",
    "upper_hull",
    "warm",
]
