"""Certificates that hold for all models of a class at once, the chosen one included."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._frozen import Frozen
from karat._result import Result
from karat._validate import check_confidence, check_count, check_finite_matrix, check_number
from karat.exceptions import DataError
from karat.ranking._bands import dkw_margin
from karat.ranking._fpr_band import FprBand
from karat.ranking._weight import Weight

__all__ = [
    "FiniteFamily",
    "GaussianComplexity",
    "LinearScores",
    "UniformMargin",
    "uniform_margin",
]


@dataclass(frozen=True, slots=True, eq=False)
class FiniteFamily(Frozen):
    """``size`` models that were all fixed before the rows were seen."""

    size: int

    def __post_init__(self) -> None:
        """Check the number of models."""
        object.__setattr__(self, "size", check_count(self.size, "size"))


@dataclass(frozen=True, slots=True, eq=False)
class LinearScores(Frozen):
    """All scores ``w·x`` of ``dim`` features, whatever w."""

    dim: int

    def __post_init__(self) -> None:
        """Check the number of features."""
        object.__setattr__(self, "dim", check_count(self.dim, "dim"))


@dataclass(frozen=True, slots=True, eq=False)
class GaussianComplexity(Frozen):
    """Scores whose class has the expected Gaussian complexity ``value`` on n rows.

    ``value = E sup_h Σ γᵢ h(xᵢ)``. `of_linear` and `of_kernel` bound it for the rows at hand, which
    stand in for the expectation over rows that Theorem 3 asks for.
    """

    value: float

    def __post_init__(self) -> None:
        """Check the complexity."""
        object.__setattr__(self, "value", check_number(self.value, "value", at_least=0.0))

    @classmethod
    def of_linear(cls, X: Any, *, radius: float) -> "GaussianComplexity":
        """Return the bound ``radius · √Σ|xᵢ|²`` for scores w·x with ``|w| ≤ radius``.

        Parameters
        ----------
        X : array (n, features)
            The rows.
        radius : float
            The norm of w is at most this.
        """
        rows = check_finite_matrix(X, "X")
        return cls(check_number(radius, "radius", at_least=0.0) * float(np.linalg.norm(rows)))

    @classmethod
    def of_kernel(cls, diagonal: Any, *, radius: float) -> "GaussianComplexity":
        """Return the bound ``radius · √Σ k(xᵢ, xᵢ)`` for a ball of a kernel's space.

        Parameters
        ----------
        diagonal : array (n,)
            The kernel of each row with itself.
        radius : float
            The norm in the space is at most this.
        """
        values = check_finite_matrix(diagonal, "diagonal")
        if (values < 0).any():
            raise DataError("diagonal holds a negative number; a kernel has none there")
        return cls(check_number(radius, "radius", at_least=0.0) * math.sqrt(float(values.sum())))


Family = FiniteFamily | LinearScores | GaussianComplexity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UniformMargin(Result):
    """How far the area of any model of a class can be from the one seen.

    Attributes
    ----------
    margin : float
        The bound on ``|Â_W(h) − A_W(h)|`` for all h of the class together; for a Gaussian
        complexity, on that of the surrogate ``f_{W,ℓ}``, and from below only if W has a step.
    confidence : float
        Probability that it holds.
    weight : Weight
        The weight that the bound is for.
    family : FiniteFamily, LinearScores or GaussianComplexity
        The class.
    holds : bool
        Whether what the bound needs was seen; if not, the margin is infinite.
    source : str
        Where the bound comes from.
    """

    margin: float
    confidence: float
    weight: Weight
    family: Family
    holds: bool
    source: str

    def summary(self) -> str:
        """Return the margin, and whether it says anything."""
        if not self.holds:
            return "no margin: the rarer class is too rare for Theorem 3 to speak"
        vacuous = " (vacuous: the area itself is no larger)" * (self.margin >= self.weight.area)
        return (
            f"every model of the class has an area within {self.margin:.4g} of the one seen at "
            f"{100 * self.confidence:g} %{vacuous}; {self.source}"
        )


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
    steps included. ``GaussianComplexity`` is Theorem 3 of seed 003, for the surrogate
    ``f_{W,ℓ}`` with a loss of slope ``loss_lipschitz``; a ramp is put below a step weight, and
    the bound is then one from below (Corollary 4).

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
    >>> from karat.ranking import Uniform
    >>> r = uniform_margin(50_000, 50_000, family=FiniteFamily(100), weight=Uniform())
    >>> round(r.margin, 4)
    0.019
    """
    n1 = check_number(n_positive, "n_positive", at_least=1.0)
    n0 = check_number(n_negative, "n_negative", at_least=1.0)
    delta = 1 - check_confidence(confidence)
    slope = check_number(loss_lipschitz, "loss_lipschitz", at_least=0.0)
    if not isinstance(weight, Weight):
        raise DataError(f"weight is {weight!r}; expected a Weight such as FprBand(0, 0.1)")
    if isinstance(family, FiniteFamily):
        e0, e1 = (dkw_margin(n, delta / (2 * family.size)) for n in (n0, n1))
        margin, source = weight.area * e1 + weight.sup * e0, "DKW, shared among the models"
    elif isinstance(family, LinearScores):
        e0, e1 = (_half_spaces(n, family.dim, delta / 2) for n in (n0, n1))
        margin, source = weight.area * e1 + weight.sup * e0, "half-spaces, Devroye (1982)"
    elif isinstance(family, GaussianComplexity):
        margin = _theorem_3(n1, n0, weight, family.value, delta, slope)
        source = "Maurer and Pontil, Theorem 3"
    else:
        raise DataError(
            f"family is {family!r}; expected FiniteFamily, LinearScores or GaussianComplexity"
        )
    return UniformMargin(
        margin=margin, confidence=1 - delta, weight=weight, family=family,
        holds=math.isfinite(margin), source=source,
    )  # fmt: skip


def _half_spaces(n: float, dim: int, delta: float) -> float:
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
        raise DataError(f"{weight!r} has jumps and no Lipschitz bound; Theorem 3 needs one")
    # Corollary 4 with a ramp whose slope and whose lost area are balanced.
    width = math.sqrt(2 * (growth + rate) / weight.variation)
    ramp = weight.sandwich(width).below
    return bound(ramp) + weight.area - ramp.area
