"""The pairwise surrogate of a weighted AUC and its gradient, by sorting: O(n log n)."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import check_choice, check_number, refuse_option
from karat.ranking.weights import FprBand, Weight

__all__ = ["LOSSES", "Surrogate", "check_loss", "lower_weight", "rank_weights", "surrogate"]

_ROUND = 0.2  # width over which the corner of the hinge is rounded

# A loss is a sum of truncated squares, φ(d) = Σ c·(b − d)₊², given as pairs (c, b); the logistic
# loss is not, and has a loop of its own. Only the truncated hinge is 1 − ℓ for an ℓ within [0, 1],
# as Theorem 3 of Maurer & Pontil (2020) asks: 1 up to a difference of 0, then down to 0 at 1 along
# two parabolas.
LOSSES: dict[str, tuple[tuple[float, float], ...]] = {
    "hinge": ((0.5 / _ROUND, 1.0 + _ROUND / 2), (-0.5 / _ROUND, 1.0 - _ROUND / 2)),
    "squared_hinge": ((1.0, 1.0),),
    "truncated_hinge": ((2.0, 1.0), (-4.0, 0.5), (2.0, 0.0)),
    "logistic": (),
}


def check_loss(loss: str) -> str:
    """Check the name of a loss."""
    return check_choice(loss, "loss", tuple(LOSSES))


def lower_weight(weight: Weight, ramp: float) -> Weight:
    """Return W′ ≤ W: the ends of a band become ramps, other weights stay as they are.

    ``ramp`` is the width of a ramp as a share of the band. A jump in another weight does no harm
    to the sums here, which see only K; it costs the uniform bound of Theorem 3.
    """
    if not isinstance(weight, Weight):
        refuse_option(
            weight,
            "weight",
            "a weight on false-positive rates, such as FprBand(0, 0.1), Power(9) or Uniform()",
        )
    share = check_number(ramp, "ramp", at_least=0.0, at_most=1.0)
    if not isinstance(weight, FprBand) or weight.variation == 0 or share == 0:
        return weight
    return weight.sandwich(share * weight.area).below


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A value of the surrogate and its derivatives by the scores of both classes."""

    value: float
    positive: FloatArray
    negative: FloatArray


def surrogate(
    positive: FloatArray,
    negative: FloatArray,
    weight: Weight,
    *,
    loss: str,
    mass_positive: FloatArray | None = None,
    mass_negative: FloatArray | None = None,
) -> Surrogate:
    """Return ``Σⱼ ωⱼ Σᵢ mᵢ φ(sᵢ − sⱼ)`` over positives i and negatives j, and its gradient.

    ``mᵢ`` are the shares of the positives and ``ωⱼ`` the `rank_weights` of the negatives, both of
    sum 1. It is 1 − f_{W′,ℓ} / ‖W′‖₁ of Maurer & Pontil (2020), section 2.2, with ℓ = 1 − φ and W′
    integrated over the step that a negative takes.
    """
    m = _shares(mass_positive, len(positive))
    omega = rank_weights(negative, weight, mass_negative)
    if loss == "logistic":
        from karat.ranking.learning._softplus_loop import softplus_sums

        value, up, down = softplus_sums(positive, negative, m, omega)
        return Surrogate(value, -m * up, omega * down)
    # Sums of squares lose digits far from 0, so scores are taken relative to their mean.
    middle = float(np.mean(positive))
    s, order_s = _sorted(positive - middle)
    t, order_t = _sorted(negative - middle)
    at_t, slope, pull = _sums(s, t, m[order_s], omega[order_t], LOSSES[loss])
    grad_s, grad_t = np.empty_like(s), np.empty_like(t)
    grad_s[order_s] = -m[order_s] * pull
    grad_t[order_t] = omega[order_t] * slope
    return Surrogate(float(omega[order_t] @ at_t), grad_s, grad_t)


def rank_weights(
    negative: FloatArray, weight: Weight, mass: FloatArray | None = None
) -> FloatArray:
    """Return the weight of each negative: ``K(F̂₀(s)) − K(F̂₀(s−))`` over K(1).

    Tied negatives share the weight of their group, in proportion to their mass.
    """
    m = _shares(mass, len(negative))
    t, order = _sorted(negative)
    upto = np.cumsum(m[order])
    upto /= upto[-1]
    ends = np.flatnonzero(np.concatenate([t[1:] > t[:-1], [True]]))
    gained = np.diff(weight.cumulative(np.concatenate([[0.0], upto[ends]])))
    if len(ends) < len(t):
        sizes = np.diff(ends, prepend=-1)
        held = np.diff(upto[ends], prepend=0.0)
        per_mass = np.divide(gained, held, out=np.zeros_like(held), where=held > 0)
        gained = np.repeat(per_mass, sizes) * m[order]
    omega = np.empty_like(m)
    omega[order] = gained / weight.area
    return omega


def _shares(mass: FloatArray | None, n: int) -> FloatArray:
    return np.full(n, 1.0 / n) if mass is None else mass / mass.sum()


def _sorted(scores: FloatArray) -> tuple[FloatArray, IntArray]:
    order = np.argsort(scores, kind="stable")
    return scores[order], order


def _sums(
    s: FloatArray,
    t: FloatArray,
    m: FloatArray,
    omega: FloatArray,
    loss: tuple[tuple[float, float], ...],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean loss at each negative, its slope there, and the pull on each positive.

    The pairs that a term (b − d)₊² applies to are found by a look-up in sorted scores, and sums
    over them are differences of running sums.
    """
    below = [np.concatenate([[0.0], np.cumsum(m * s**p)]) for p in range(3)]
    above = [np.concatenate([np.cumsum((omega * t**p)[::-1])[::-1], [0.0]]) for p in range(2)]
    at_t, slope, pull = np.zeros_like(t), np.zeros_like(t), np.zeros_like(s)
    for c, b in loss:
        x = t + b
        k = np.searchsorted(s, x)
        at_t += c * (x * (x * below[0][k] - 2 * below[1][k]) + below[2][k])
        slope += 2 * c * (x * below[0][k] - below[1][k])
        y = s - b
        k = np.searchsorted(t, y)
        pull += 2 * c * (above[1][k] - y * above[0][k])
    return at_t, slope, pull
