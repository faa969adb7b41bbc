"""Certificates that hold for all models of a class at once, the chosen one included."""

import math

from karat._validate import check_confidence, check_number, refuse_option
from karat.ranking.certificates import (
    Family,
    FiniteFamily,
    GaussianComplexity,
    LinearScores,
    uniform_bound,
)
from karat.ranking.result import UniformMargin
from karat.ranking.weights import Weight

__all__ = ["uniform_margin"]


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

    ``FiniteFamily`` shares the DKW certificate among the models, and ``LinearScores`` replaces the
    DKW inequality by one for all half-spaces (Devroye 1982), so both hold for any bounded weight,
    steps included. ``GaussianComplexity`` is Theorem 3 of Maurer & Pontil (2020), for the
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
        margin=margin, confidence=1 - delta, weight=weight, family=family,
        holds=math.isfinite(margin), source=source,
    )  # fmt: skip
