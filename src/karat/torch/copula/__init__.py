"""The latent Gaussian model of `karat.calibration` for one batch, in differentiable form.

Probabilities become normal scores, by a smoothed distribution function (with gradients) or by
mid-ranks (without). `conditional_means` fits the model to scores and labels and returns E[y | h];
`held_out_means` fits it to other folds of the batch.
"""

from karat.torch.copula._latent import (
    FOLDS,
    conditional_means,
    held_out_means,
    normal_scores,
    ranked_scores,
)

__all__ = ["FOLDS", "conditional_means", "held_out_means", "normal_scores", "ranked_scores"]
