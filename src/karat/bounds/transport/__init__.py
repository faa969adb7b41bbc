"""Bounds of an expected gain as formulas, on arrays that are already checked.

Given a pattern of votes z, the prediction has the distribution q and the truth the distribution p,
and every coupling of the two is possible: a small transport problem. `best_duals` and `dual_values`
give its dual, which bounds the gain whatever q was guessed; `best_plans` gives the couplings
themselves, `best_matches` their diagonals; `match_bounds` and `cell_bounds` are closed forms. Two
classes, accuracy and weighted matches such as balanced accuracy are solved by formulas, anything
else by compiled loops, which `warm` compiles ahead of time.
"""

from karat.bounds.transport._duals import (
    best_duals,
    best_matches,
    best_plans,
    cell_bounds,
    dual_values,
    match_bounds,
    worst_mean,
)
from karat.bounds.transport._warm import warm

__all__ = [
    "best_duals",
    "best_matches",
    "best_plans",
    "cell_bounds",
    "dual_values",
    "match_bounds",
    "warm",
    "worst_mean",
]
