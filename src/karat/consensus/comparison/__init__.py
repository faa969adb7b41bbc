"""Which model of the votes predicts votes that it has not seen.

`candidate_models` lists the models that a table of votes can distinguish. `held_out` fits each of
them to all folds but one and predicts that one, `predict_pooled` does so with all domains at once,
and `combine` turns the log-likelihoods into differences with standard errors and stacking weights.
"""

from karat.consensus.comparison._candidate_models import candidate_models, enough_for_difficulty
from karat.consensus.comparison._held_out import (
    HeldOut,
    combine,
    held_out,
    held_out_values,
    split_counts,
    stacking_weights,
)
from karat.consensus.comparison._predict_pooled import predict_pooled

__all__ = [
    "HeldOut",
    "candidate_models",
    "combine",
    "enough_for_difficulty",
    "held_out",
    "held_out_values",
    "predict_pooled",
    "split_counts",
    "stacking_weights",
]
