"""What networks are trained on: the usual criteria, and the published objective."""

from collections.abc import Callable

import numpy as np

__all__ = ["bce", "coolness", "focal", "published", "smoothed"]


def bce(logits, y):
    from torch.nn.functional import binary_cross_entropy_with_logits

    return binary_cross_entropy_with_logits(logits, y)


def focal(logits, y):
    """T.-Y. Lin and others, Focal loss for dense object detection, ICCV 2017, with γ = 2."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    prob = torch.sigmoid(logits)
    right = torch.where(y > 0, prob, 1 - prob)
    each = binary_cross_entropy_with_logits(logits, y, reduction="none")
    return ((1 - right) ** 2 * each).mean()


def smoothed(logits, y):
    return bce(logits, 0.9 * y + 0.05)


def published(seed: int) -> Callable:
    """Return the objective of eq. 12–13; rows that are only looked at have no noise."""
    import torch

    from karat.torch._copula_calibration_loss import published_objective, ranked_scores

    generator = torch.Generator().manual_seed(seed)

    def criterion(logits, y):
        h = torch.sigmoid(logits)
        if not torch.is_grad_enabled():
            return ((y - h) ** 2).sum(dim=1).mean()
        noise = torch.rand(y.shape, generator=generator) - 0.5
        return published_objective(h, y, ranked_scores(h), noise, 1.0) / y.shape[1]

    return criterion


def coolness(logits, y) -> float:
    """Return the factor of the logits that the rows to stop on like best."""
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(
        lambda a: float(bce(logits * float(np.exp(a)), y)), bounds=(-3, 3), method="bounded"
    )
    return float(np.exp(best.x))
