"""The latent Gaussian model of labels, with gradients."""

import math

import torch
from torch import Tensor

__all__ = ["FOLDS", "conditional_means", "held_out_means", "normal_scores", "ranked_scores"]

FOLDS = 4
_EXPLAINED = 0.98  # of a latent label's variance that probabilities may explain
_RIDGE = 0.02  # least share of independence in the correlation, so that it can be inverted


def held_out_means(v: Tensor, y: Tensor) -> Tensor:
    """Return E[y | h] of each row, fitted to the rows of other folds."""
    fold = torch.arange(len(v), device=v.device) % FOLDS
    parts = [conditional_means(v[fold == k], v[fold != k], y[fold != k]) for k in range(FOLDS)]
    return torch.cat(parts)[torch.argsort(torch.argsort(fold, stable=True))]


def normal_scores(h: Tensor, smoothing: float) -> Tensor:
    """Return standardised normal scores of each column, by a smoothed distribution function."""
    n = len(h)
    spread = h.std(dim=0).clamp_min(1e-4)
    step = (h[:, None, :] - h[None, :, :]) / (smoothing * spread)
    level = torch.sigmoid(step).mean(dim=1)
    return _standard(torch.special.ndtri((n * level + 0.5) / (n + 1)))


def ranked_scores(h: Tensor) -> Tensor:
    """Return standardised normal scores by mid-ranks, which is faster and has no gradient."""
    columns = h.T.contiguous()
    ordered = columns.sort(dim=1).values
    below, upto = (torch.searchsorted(ordered, columns, right=right) for right in (False, True))
    return _standard(torch.special.ndtri((below + upto + 1).T.to(h) / (2 * len(h) + 2)))


def _standard(v: Tensor) -> Tensor:
    v = v - v.mean(dim=0)
    return v / v.std(dim=0, correction=0).clamp_min(1e-4)


def conditional_means(at: Tensor, v: Tensor, y: Tensor) -> Tensor:
    """Fit the latent model to scores v and labels y; return E[y | h] at the scores ``at``."""
    n, k = v.shape
    share = y.mean(dim=0)
    kept = share.clamp(0.5 / (n + 1), 1 - 0.5 / (n + 1))
    tau = -torch.special.ndtri(kept)
    density = torch.exp(-(tau**2) / 2) / math.sqrt(2 * math.pi)
    r = (y - share).T @ v / n / density[:, None]
    # A batch is small: correlations are drawn toward independence by its size.
    amount = min(1.0, k / (n + k) + _RIDGE)
    eye = torch.eye(k, dtype=v.dtype, device=v.device)
    corr = (v.T @ v / n) * (1 - amount) + eye * amount
    weight = torch.linalg.solve(corr, r.T).T
    explained = (weight * r).sum(dim=1)
    factor = torch.sqrt((_EXPLAINED / explained.clamp_min(1e-12)).clamp(max=1.0))
    noise = torch.sqrt(1 - explained * factor**2)
    meant: Tensor = torch.special.ndtr((at @ (weight * factor[:, None]).T - tau) / noise)
    return meant
