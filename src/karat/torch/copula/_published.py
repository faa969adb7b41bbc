"""The objective of Panda & Garain (2023, eq. 12–13) as it is printed, for comparison."""

import torch
from torch import Tensor

__all__ = ["published_objective", "published_penalty"]

_RIDGE = 0.02  # least share of independence in the correlation, so that it can be inverted


def published_objective(h: Tensor, y: Tensor, v: Tensor, noise: Tensor, beta: float) -> Tensor:
    """Return ``mean ‖z − h‖² + γ·E[E[z | h]²]`` with ``z = y + noise`` and ``γ = β/(β + 1)``."""
    risk = ((y + noise - h) ** 2).sum(dim=1).mean()
    return risk + beta / (beta + 1) * published_penalty(y, v, noise)


def published_penalty(y: Tensor, v: Tensor, noise: Tensor) -> Tensor:
    """Return the estimate of ``Σ_j E[E[z_j | h]²]`` by a Gaussian copula of z and h (eq. 13).

    Normal scores ``v`` of h carry every gradient there is. The paper's are of ranks
    (`ranked_scores`), which are constant between ties: then the penalty has no gradient at all, and
    its objective trains as the squared risk alone. The sum inside the square is divided by the
    number of rows, which eq. 13 leaves out, and ranks by one more than that.
    """
    n, k = v.shape
    z, none = y + noise, 1 - y.mean(dim=0)
    level = torch.where(y > 0, none + (1 - none) * (noise + 0.5), none * (noise + 0.5))
    q = torch.special.ndtri(level.clamp(0.5 / n, 1 - 0.5 / n))
    scaled = q - q.mean(dim=0)
    scaled = scaled / scaled.std(dim=0, correction=0).clamp_min(1e-4)
    amount = min(1.0, k / (n + k) + _RIDGE)
    eye = torch.eye(k, dtype=v.dtype, device=v.device)
    corr = (v.T @ v / n) * (1 - amount) + eye * amount
    r = scaled.T @ v / n * (1 - amount)
    weight = torch.linalg.solve(corr, r.T).T
    spread = (1 - (weight * r).sum(dim=1)).clamp_min(0.02).sqrt()
    centre = v @ weight.T
    # c/c_h: the density of q_ij given the scores of row l, over its density without them.
    off = (q[None, :, :] - centre[:, None, :]) / spread
    ratio = torch.exp((q[None, :, :] ** 2 - off**2) / 2) / spread
    found: Tensor = ((z[None, :, :] * ratio).mean(dim=1) ** 2).sum(dim=1).mean()
    return found
