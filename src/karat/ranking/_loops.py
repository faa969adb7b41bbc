"""Compiled loops: merging sorted scores, and sums of a softplus loss over all pairs."""

import numpy as np

from karat._compiled import compiled
from karat._typing import BoolArray, FloatArray, IntArray


@compiled
def split(score: FloatArray, positive: BoolArray, ones: FloatArray, zeros: FloatArray) -> None:
    """Write the scores of positives into ``ones`` and those of negatives into ``zeros``."""
    i = j = row = 0
    while i < len(ones) and j < len(
        zeros
    ):  # both are written, one is kept: a branch would be mispredicted
        ones[i] = zeros[j] = score[row]
        up = int(positive[row])
        i += up
        j += 1 - up
        row += 1
    ones[i:] = score[row : row + len(ones) - i]
    zeros[j:] = score[row : row + len(zeros) - j]


@compiled
def merge(
    positive: FloatArray, negative: FloatArray, left: IntArray, right: IntArray, before: int
) -> None:
    """Write how many negatives are below each positive, and below or level with it.

    ``before`` more negatives are below all of them.
    """
    n1, n0 = len(positive), len(negative)
    i = low = 0
    while i < n1 and low < n0:  # one index advances, by arithmetic: a branch would be mispredicted
        below = int(negative[low] < positive[i])
        left[i] = before + low + below
        low += below
        i += 1 - below
    left[i:] = before + n0
    for i in range(n1):
        level = left[i] - before
        if i > 0 and positive[i] == positive[i - 1]:
            level = right[i - 1] - before
        while level < n0 and negative[level] == positive[i]:
            level += 1
        right[i] = before + level


# --- Sums of the logistic loss over all pairs.
#
# For x ≥ 0, log(1 + e⁻ˣ) is a polynomial of z = e⁻ˣ on [0, 1] to 14 digits, that is a sum of
# exponentials e⁻ᵏˣ; and the sum of such an exponential over all sources to the left of a point is
# carried from one point to the next by one multiplication. One pass each way is enough.

_DEGREE = 20


def _coefficients() -> FloatArray:
    """Return a₁ … a_K with log(1 + z) = Σ a_k zᵏ on [0, 1].

    log(1 + z)/z is interpolated, not log(1 + z), so that far pairs add nothing. Its singularity
    at −1 makes the error fall by 3 + 2√2 with each degree (Bernstein).
    """
    fit = np.polynomial.Chebyshev.interpolate(
        lambda z: np.log1p(z) / z, _DEGREE - 1, domain=[0.0, 1.0]
    )
    return np.asarray(
        fit.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef
    )


_A = _coefficients()


def softplus_sums(
    positive: FloatArray, negative: FloatArray, m: FloatArray, omega: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return ``ΣΣ ωⱼ mᵢ log(1 + exp(sⱼ − sᵢ))`` and the logistic sums of both classes.

    The second is ``Σⱼ ωⱼ σ(sⱼ − sᵢ)`` for each positive, the third ``Σᵢ mᵢ σ(sⱼ − sᵢ)`` for each
    negative.
    """
    scores = np.concatenate([positive, negative])
    mass = np.concatenate([m, omega])
    order = np.argsort(scores, kind="stable")
    slopes = np.zeros(len(scores))
    value = _passes(scores[order], mass[order], order < len(m), _A, slopes)
    found = np.empty_like(slopes)
    found[order] = slopes
    return float(value), found[: len(m)], found[len(m) :]


def _both_ways(
    x: FloatArray, mass: FloatArray, is_positive: BoolArray, a: FloatArray, slopes: FloatArray
) -> float:
    """Walk up with the positives passed so far, and down with the negatives; fill ``slopes``.

    A pair with its negative above is seen from the negative on the way up and from the positive on
    the way down; a pair with its negative below the other way round.
    """
    degree, n = len(a), len(x)
    total = 0.0
    for way in (1, -1):
        held = np.zeros((2, degree))  # Σ mass·e^{−k·distance} of positives and of negatives passed
        whole = np.zeros(2)
        first = np.zeros(2)  # Σ mass·distance
        last = 0.0
        for step in range(n):
            i = step if way == 1 else n - 1 - step
            gap = abs(x[i] - last) if step else 0.0
            last = x[i]
            z = np.exp(-gap)
            power = 1.0
            for k in range(degree):
                power *= z
                held[0, k] *= power
                held[1, k] *= power
            first += whole * gap
            own = 0 if is_positive[i] else 1
            other = 1 - own
            value = slope = 0.0
            for k in range(degree):
                value += a[k] * held[other, k]
                slope += (k + 1) * a[k] * held[other, k]
            # The negative is above: the loss is x + log(1 + e⁻ˣ), its slope 1 − Σ k·a_k·e⁻ᵏˣ.
            if (own == 1) == (way == 1):
                value += first[other]
                slope = whole[other] - slope
            slopes[i] += slope
            if own == 1:
                total += mass[i] * value
            for k in range(degree):
                held[own, k] += mass[i]
            whole[own] += mass[i]
    return total


_passes = compiled(_both_ways)
