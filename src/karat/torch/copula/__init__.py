"""The latent Gaussian model of `karat.calibration` for one batch, in differentiable form.

Probabilities become normal scores, by a smoothed distribution function (with gradients) or by
mid-ranks (without). `conditional_means` fits the model to scores and labels and returns E[y | h];
`held_out_means` fits it to other folds of the batch. `published_objective` is that of Panda &
Garain (2023), kept for comparison: on ranks it has no gradient but that of its risk.
"""

from karat.torch.copula._latent import (
    FOLDS,
    conditional_means,
    held_out_means,
    normal_scores,
    ranked_scores,
)
from karat.torch.copula._published import published_objective, published_penalty

__all__ = [
    "FOLDS",
    "conditional_means",
    "held_out_means",
    "normal_scores",
    "published_objective",
    "published_penalty",
    "ranked_scores",
]
