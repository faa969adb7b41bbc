"""Net benefit of acting on the rows above a threshold, and of acting on all of them."""

import numpy as np
from scipy.special import ndtri

from karat._typing import FloatArray
from karat.ranking.measures._pivots import ring_limits

__all__ = ["net_benefit_limits"]


def net_benefit_limits(
    right: FloatArray, wrong: FloatArray, n: float, odds: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return limits of ``(right − odds·wrong)/n``, for arrays of counts and odds.

    It is ``q(θ − odds·(1 − θ))`` with q the share of rows that are acted on, and θ that of the
    right ones among them: two binomial counts, one given the other. The limits are the extremes
    over pairs (q, θ) whose distances from the counts make one normal quantile together.
    """
    z = -float(ndtri(delta / 2))
    acted = right + wrong
    share, rate = ring_limits((acted, np.full_like(acted, n)), (right, acted), z)
    gain = share * (rate * (1 + odds[..., None]) - odds[..., None])
    return gain.min(axis=-1), gain.max(axis=-1)
