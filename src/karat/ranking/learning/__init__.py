"""Training for a weighted AUC: its pairwise surrogate, and linear scores that are fitted to it.

`surrogate` is the value of the surrogate with its gradient in O(n log n), for a loss of `LOSSES`;
`lower_weight` is the weight without jumps below the one asked for. `fit_linear` minimises it, with
a share of the log-loss, over linear scores. `warm` compiles the loop of the logistic loss
beforehand.
"""

from karat.ranking.learning._linear_fit import (
    Goal,
    LinearFit,
    best_threshold,
    fit_linear,
    likelihood_share,
    scales,
)
from karat.ranking.learning._surrogate import (
    LOSSES,
    Surrogate,
    check_loss,
    lower_weight,
    rank_weights,
    surrogate,
)
from karat.ranking.learning._warm import warm

__all__ = [
    "LOSSES",
    "Goal",
    "LinearFit",
    "Surrogate",
    "best_threshold",
    "check_loss",
    "fit_linear",
    "likelihood_share",
    "lower_weight",
    "rank_weights",
    "scales",
    "surrogate",
    "warm",
]
