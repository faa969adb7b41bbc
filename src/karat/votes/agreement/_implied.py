"""Observed against implied: how labelers vote together if they err independently given Y.

Everything here is a function of the pattern shares f_z and of P(Y | z). Standard errors come from
the influence of one more item of pattern z on the difference, P(Y | z) held fixed.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.agreement._pairs import Agreement
from karat.votes.tables import outcome_counts, outcomes_of

__all__ = ["LabelerTable", "agreement_of_posterior", "labelers"]


class LabelerTable(NamedTuple):
    """What the model says of each labeler.

    ``asked[j, y] = P(j is asked, Y=y)``, ``mass[j, y] = P(j votes, Y=y)``,
    ``given[j, y, c] = P(Z_j=c | j votes, Y=y)``, ``accuracy[j] = P(Z_j=Y | j votes)``,
    ``chance[j]`` the same for votes that ignore the truth, ``lead_error`` the standard error of
    their difference.
    """

    prior: FloatArray
    asked: FloatArray
    mass: FloatArray
    given: FloatArray
    accuracy: FloatArray
    chance: FloatArray
    lead_error: FloatArray


class _Comparison(NamedTuple):
    """A share of ``base`` items, observed and implied, and the standard error of the difference."""

    observed: float
    expected: float
    error: float
    base: float

    @property
    def z(self) -> float:
        """The difference in standard errors, after half an item for continuity."""
        if self.base == 0 or self.error == 0:
            return 0.0
        gap = self.observed - self.expected
        size = max(abs(gap) - 0.5 / self.base, 0.0)
        return float(np.sign(gap) * size / self.error)


def labelers(codes: IntArray, share: FloatArray, proba: FloatArray, n: float) -> LabelerTable:
    """Return confusions and accuracies implied by P(Y | z)."""
    k = proba.shape[1]
    prior = share @ proba
    outcomes = outcome_counts(codes, proba * share[:, None])
    votes = outcomes[:, :, :k]
    mass = votes.sum(axis=2)
    given = votes / np.where(mass > 0, mass, 1.0)[:, :, None]
    figures = [_lead(codes[:, j], share, proba, prior, n) for j in range(codes.shape[1])]
    accuracy, chance, error = (np.array(values) for values in zip(*figures, strict=True))
    return LabelerTable(prior, outcomes.sum(axis=2), mass, given, accuracy, chance, error)


def _lead(
    code: IntArray, share: FloatArray, proba: FloatArray, prior: FloatArray, n: float
) -> tuple[float, float, float]:
    """Return accuracy, chance and the standard error of the difference, for one labeler."""
    voted = code >= 0
    cover = float(share @ voted)
    if cover == 0:
        return 0.0, 0.0, 0.0
    at = np.maximum(code, 0)
    right = np.where(voted, proba[np.arange(len(code)), at], 0.0)
    accuracy = float(share @ right) / cover
    votes = np.bincount(at, weights=share * voted, minlength=len(prior)) / cover
    chance = float(votes @ prior)
    lead = (right - voted * accuracy) / cover - voted * (prior[at] - chance) / cover
    lead -= proba @ votes - chance
    return accuracy, chance, float(np.sqrt(share @ lead**2 / n))


def agreement_of_posterior(
    codes: IntArray, share: FloatArray, proba: FloatArray, table: LabelerTable, n: float
) -> tuple[Agreement, Agreement]:
    """Compare, for every pair of labelers, votes with what P(Y | z) and independence imply.

    First how often the two agree where both vote, then how often both vote where both are asked.
    """
    pairs = list(combinations(range(codes.shape[1]), 2))
    found = [_compare(pair, codes, share, proba, table, n) for pair in pairs]
    who = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return _agreement_of(who, [pair[0] for pair in found]), _agreement_of(
        who, [pair[1] for pair in found]
    )


def _agreement_of(who: IntArray, found: list[_Comparison]) -> Agreement:
    rows = [(c.base, c.observed, c.expected, c.z) for c in found]
    return Agreement(*who, *np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def _compare(
    pair: tuple[int, int],
    codes: IntArray,
    share: FloatArray,
    proba: FloatArray,
    table: LabelerTable,
    n: float,
) -> tuple[_Comparison, _Comparison]:
    k = proba.shape[1]
    a, b = (outcomes_of(codes[:, j], k) for j in pair)
    cell = a * (k + 2) + b
    counted = np.bincount(cell, weights=share, minlength=(k + 2) ** 2)
    joint = np.asarray(counted, dtype=np.float64).reshape(k + 2, k + 2)
    vote, ask = (np.where((a < most) & (b < most), share, 0.0) for most in (k, k + 1))
    both, asked = (np.einsum("z,zy->y", some, proba) for some in (vote, ask))
    here = _Pair(cell, joint, both, asked, share, proba, n)
    return _agreement(pair, here, table), _covote(pair, here, table)


class _Pair(NamedTuple):
    """Both outcomes of each pattern as one number, and the shares of these numbers.

    ``both[y]`` is P(both vote, y) and ``asked[y]`` is P(both are asked, y).
    """

    cell: IntArray
    joint: FloatArray
    both: FloatArray
    asked: FloatArray
    share: FloatArray
    proba: FloatArray
    n: float

    def variance(self, constant: FloatArray, slope: FloatArray) -> float:
        """Return the mean square of ``constant[a, b] + slope[a, b] · P(Y | z)``."""
        influence = constant.ravel()[self.cell]
        steep = slope.reshape(-1, slope.shape[-1])[self.cell]
        influence = influence + np.einsum("zy,zy->z", self.proba, steep)
        return float(np.einsum("z,z,z->", self.share, influence, influence))


def _agreement(pair: tuple[int, int], here: _Pair, table: LabelerTable) -> _Comparison:
    """Implied: Σ_y P(y | both vote) Σ_c P(Z_i=c | i votes, y) P(Z_j=c | j votes, y)."""
    i, j = pair
    k = len(table.prior)
    base = float(here.joint[:k, :k].sum())
    if base <= 0:
        return _Comparison(0.0, 0.0, 0.0, 0.0)
    observed = float(here.joint[:k, :k].trace()) / base
    match = (table.given[i] * table.given[j]).sum(axis=1)
    expected = float(here.both @ match) / base
    constant = np.zeros((k + 2, k + 2))
    constant[:k, :k] = (np.eye(k) - observed + expected) / base
    slope = np.zeros((k + 2, k + 2, k))
    slope[:k, :k] -= match / base
    # What one more vote of a labeler does to its confusion, and so to the implied agreement.
    slope[:k] -= _pull(here.both / base, table.mass[i], table.given[j], match)[:, None, :]
    slope[:, :k] -= _pull(here.both / base, table.mass[j], table.given[i], match)[None, :, :]
    variance = here.variance(constant, slope)
    error = _error(expected, here.n * base, variance, here.n)
    return _Comparison(observed, expected, error, here.n * base)


def _pull(
    classes: FloatArray, mass: FloatArray, other: FloatArray, match: FloatArray
) -> FloatArray:
    """Return (vote, y): the slope of the implied agreement in P(y | z) of one more such vote."""
    scale = np.where(mass > 0, classes / np.where(mass > 0, mass, 1.0), 0.0)
    return np.asarray((other - match[:, None]).T * scale)


def _covote(pair: tuple[int, int], here: _Pair, table: LabelerTable) -> _Comparison:
    """Implied: Σ_y P(y | both asked) P(i votes | i asked, y) P(j votes | j asked, y)."""
    k, asked = len(table.prior), np.s_[: len(table.prior) + 1]
    base = float(here.asked.sum())
    if base <= 0:
        return _Comparison(0.0, 0.0, 0.0, 0.0)
    first, second = (_ratio(table.mass[j], table.asked[j]) for j in pair)
    observed = float(here.joint[:k, :k].sum()) / base
    expected = float((here.asked * first * second).sum()) / base
    constant = np.zeros((k + 2, k + 2))
    constant[asked, asked] = (expected - observed) / base
    constant[:k, :k] += 1.0 / base
    slope = np.zeros((k + 2, k + 2, k))
    slope[asked, asked] -= first * second / base
    # What one more item of a labeler does to how often it votes, and so to the implied share.
    pull, push = (_ratio(here.asked, table.asked[j]) / base for j in pair)
    slope[asked] += pull * first * second
    slope[:, asked] += push * first * second
    slope[:k] -= pull * second
    slope[:, :k] -= push * first
    error = _error(expected, here.n * base, here.variance(constant, slope), here.n)
    return _Comparison(observed, expected, error, here.n * base)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


def _error(expected: float, base: float, variance: float, n: float) -> float:
    """Return the standard error of observed − expected.

    By the influence of an item; where few items are expected on one side, too few for it, no less
    than that of a binomial share.
    """
    variance /= n
    if base * min(expected, 1 - expected) < 10:
        variance = max(variance, expected * (1 - expected) / base)
    return float(np.sqrt(max(variance, 0.0)))
