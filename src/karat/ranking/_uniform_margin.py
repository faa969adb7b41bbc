"""A margin that covers every model of a family at once, so that one may choose among them."""

import math

import numpy as np

from karat._validate import check_confidence, check_number, refuse_option
from karat.ranking.bands import dkw_margin
from karat.ranking.methods import Family, FiniteFamily, GaussianComplexity, LinearScores
from karat.ranking.result import UniformMargin
from karat.ranking.weights import FprBand, Weight


def uniform_margin(
    n_positive: float,
    n_negative: float,
    *,
    family: Family,
    weight: Weight,
    confidence: float = 0.95,
    loss_lipschitz: float = 1.0,
) -> UniformMargin:
    r"""Bound the error of an area for all models of a class at once.

    A model that was chosen on the same rows is one of its class, so the bound holds for it.

    ``FiniteFamily`` shares the error of the DKW inequality among the models, and ``LinearScores``
    has one for all half-spaces instead (Devroye 1982), so both hold for any bounded weight, steps
    included. ``GaussianComplexity`` is Theorem 3 of Maurer & Pontil (2020), for the
    surrogate ``f_{W,ℓ}`` with a loss of slope ``loss_lipschitz``; a ramp is put below a step
    weight, and the bound is then one from below (Corollary 4). It holds where W is integrated
    over level scores, as karat does; for eq. 1 as printed it fails where scores tie on the rows
    (see the theory page).

    Parameters
    ----------
    n_positive, n_negative : float
        Rows of each class.
    family : FiniteFamily, LinearScores or GaussianComplexity
        The class of models.
    weight : Weight
        The weight of the area.
    confidence : float, default 0.95
        Probability that the bound holds.
    loss_lipschitz : float, default 1
        ``‖ℓ‖_Lip``, for Theorem 3 alone.

    Returns
    -------
    UniformMargin
        The bound as ``margin``, whether it ``holds``, and the theorem that is its ``source``.

    Examples
    --------
    >>> from karat.ranking import FiniteFamily, Uniform, uniform_margin
    >>> r = uniform_margin(50_000, 50_000, family=FiniteFamily(100), weight=Uniform())
    >>> round(r.margin, 4)
    0.019
    """
    n1 = check_number(n_positive, "n_positive", at_least=1.0)
    n0 = check_number(n_negative, "n_negative", at_least=1.0)
    delta = 1 - check_confidence(confidence)
    slope = check_number(loss_lipschitz, "loss_lipschitz", at_least=0.0)
    if not isinstance(weight, Weight):
        refuse_option(weight, "weight", "a Weight such as FprBand(0, 0.1)")
    if not isinstance(family, FiniteFamily | LinearScores | GaussianComplexity):
        refuse_option(family, "family", "FiniteFamily, LinearScores or GaussianComplexity")
    margin, source = uniform_bound(n1, n0, family, weight, delta=delta, slope=slope)
    return UniformMargin(
        margin=margin,
        confidence=1 - delta,
        weight=weight,
        family=family,
        holds=math.isfinite(margin),
        source=source,
    )


# --- Bounds on the error of an area that hold for all models of a class at once.


def uniform_bound(
    n1: float, n0: float, family: Family, weight: Weight, *, delta: float, slope: float
) -> tuple[float, str]:
    """Return the bound, infinite where none holds, and the theorem that it comes from.

    ``slope`` is the Lipschitz bound of the loss, which Theorem 3 alone uses.
    """
    if isinstance(family, FiniteFamily):
        e0, e1 = (dkw_margin(n, delta / (2 * family.size)) for n in (n0, n1))
        return weight.area * e1 + weight.sup * e0, "DKW, shared among the models"
    if isinstance(family, LinearScores):
        e0, e1 = (half_space_margin(n, family.dim, delta / 2) for n in (n0, n1))
        return weight.area * e1 + weight.sup * e0, "half-spaces, Devroye (1982)"
    margin = _theorem_3(n1, n0, weight, family.value, delta, slope)
    return margin, "Maurer and Pontil (2020), Theorem 3"


def half_space_margin(n: float, dim: int, delta: float) -> float:
    """Return ε with ``P(sup over half-spaces |F̂ − F| > ε) ≤ delta``.

    ``4·s(n²)·exp(4ε + 4ε² − 2nε²)`` bounds the probability, where ``s(N) = 2 Σ_{k≤dim} C(N−1, k)``
    is the number of ways in which half-spaces part N points (Cover 1965).
    """
    from scipy.special import logsumexp

    points = n * n - 1
    k = np.arange(1, min(dim, int(points)) + 1)
    # A sum of logarithms: differences of log Γ(n²) lose every digit where n is large.
    parts = np.concatenate([[0.0], np.cumsum(np.log((points - k + 1) / k))])
    need = math.log(4 * 2 / delta) + float(logsumexp(parts))
    a = 2 * n - 4  # (2n − 4)ε² − 4ε − need = 0
    if a <= 0:
        return 1.0
    return min(1.0, (4 + math.sqrt(16 + 4 * a * need)) / (2 * a))


def _theorem_3(
    n1: float, n0: float, weight: Weight, complexity: float, delta: float, slope: float
) -> float:
    """Return the bound of Theorem 3, infinite where the rarer class is too rare for it."""
    n = n1 + n0
    p0, p1 = n0 / n, n1 / n
    if min(p0, p1) <= math.sqrt(2 * math.log(4 / delta) / n):  # the event A_δ
        return math.inf
    rate = math.sqrt(4 * math.log(16 * n / delta) / n) / min(p0, p1) ** 2
    growth = 8 * math.sqrt(2 * math.pi) * slope / (p0**2 * p1) * complexity / n

    def bound(w: Weight) -> float:
        return growth * (w.sup + w.lipschitz) + (w.lipschitz + 10 * w.sup) * rate

    if math.isfinite(weight.lipschitz):
        return bound(weight)
    if not isinstance(weight, FprBand):
        refuse_option(
            weight, "weight", "a weight with a Lipschitz bound, or FprBand(...), for Theorem 3"
        )
    # Corollary 4 with a ramp whose slope and whose lost area are balanced.
    width = math.sqrt(2 * (growth + rate) / weight.variation)
    ramp = weight.sandwich(width).below
    return bound(ramp) + weight.area - ramp.area
