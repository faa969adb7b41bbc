"""Maximise a function over mixtures of classifiers, to a gap that is proven.

All solvers work on `Columns`: the classifiers found so far, with an oracle that finds the best one
for any linear gain. `solution_of` chooses the solver by the form of a metric: `best_ratio` for
ratios (Dinkelbach), `climb` for smooth concave functions (Frank–Wolfe with corrections), `solve`
for linear programs by column generation, a line search for all others. `nearest` and `farthest`
write a point as a mixture, and find how far the boundary is.
"""

from karat.decisions.solvers._by_form import confusion_shape, solution_of
from karat.decisions.solvers._columns import Columns, Oracle
from karat.decisions.solvers._corrective import Smooth, climb
from karat.decisions.solvers._nearest import Nearest, farthest, nearest
from karat.decisions.solvers._polyhedral import Program, Solution, solve

__all__ = [
    "Columns",
    "Nearest",
    "Oracle",
    "Program",
    "Smooth",
    "Solution",
    "climb",
    "confusion_shape",
    "farthest",
    "nearest",
    "solution_of",
    "solve",
]
