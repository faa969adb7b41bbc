"""Limits of areas by the name of their method: for any distribution, or approximate.

`limits_of` gives the limits of one area, `chosen_method` says which method ``auto`` and
``approximate`` stand for, `cell_limits` are those of scores that were counted in cells, and
`closed_form` is the half-width that no DKW limit exceeds. `bands_of` makes the bands around both
distribution functions that distribution-free limits rest on. `FiniteFamily`, `LinearScores` and
`GaussianComplexity` are classes of models that one limit may hold for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat._result import Frozen
from karat._sentences import Argument
from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import check_count, check_finite_matrix, check_number, refuse_option
from karat.exceptions import DataError
from karat.limits.means import hinge_limits, normal_quantile
from karat.limits.proportions import kl_limits
from karat.limits.resampling import enough_draws, percentile_limits
from karat.ranking._approximate import resampled, smoothed_limits
from karat.ranking.areas import (
    AreaLimits,
    all_of_the_curve,
    area_and_limits,
    band_inside,
    band_limits,
    box_area,
    curve,
    curves_in_bands,
    limits_in_bands,
    value_of,
    variance,
)
from karat.ranking.bands import Band, band_of, dkw_margin
from karat.ranking.placements import Placements
from karat.ranking.weights import FprBand, TwoWayBand, Weight


@dataclass(frozen=True, slots=True, eq=False)
class FiniteFamily(Frozen):
    """``size`` models that were all fixed before the rows were seen."""

    size: int

    def __post_init__(self) -> None:
        """Check the number of models."""
        object.__setattr__(self, "size", check_count(self.size, "size"))


@dataclass(frozen=True, slots=True, eq=False)
class LinearScores(Frozen):
    """All scores ``w·x`` of ``dim`` features, for every w."""

    dim: int

    def __post_init__(self) -> None:
        """Check the number of features."""
        object.__setattr__(self, "dim", check_count(self.dim, "dim"))


@dataclass(frozen=True, slots=True, eq=False)
class GaussianComplexity(Frozen):
    """Scores whose class has the expected Gaussian complexity ``value`` on n rows.

    ``value = E sup_h Σ γᵢ h(xᵢ)``, with γ independent standard normal variables. `of_linear` and
    `of_kernel` bound it for given rows, which stand in for the expectation over rows that Theorem 3
    of Maurer & Pontil (2020) asks for.
    """

    value: float

    def __post_init__(self) -> None:
        """Check the complexity."""
        object.__setattr__(self, "value", check_number(self.value, "value", at_least=0.0))

    @classmethod
    def of_linear(cls, X: Any, *, radius: float) -> GaussianComplexity:
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
    def of_kernel(cls, diagonal: Any, *, radius: float) -> GaussianComplexity:
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
            raise DataError(
                Argument("diagonal"),
                " holds a negative number; a kernel has none there",
            )
        return cls(check_number(radius, "radius", at_least=0.0) * math.sqrt(float(values.sum())))


Family = FiniteFamily | LinearScores | GaussianComplexity


# --- Limits of an area by the name of its method, for weights and for boxes.

METHODS = (
    "auto",
    "hinge",
    "kl",
    "nested",
    "dkw",
    "beta",
    "maurer-pontil",
    "approximate",
    "smoothed",
    "delong",
    "bootstrap",
)
FEW = 100  # rows of a class, below which normal and resampled limits are too narrow
_LEAST_RESAMPLES = 1000
_COST = 100  # draws of numbers that one resample takes as long as


def closed_form(placed: Placements, weight: Weight, delta: float) -> float:
    """Return ``‖W‖₁ε₁ + ‖W‖_∞ε₀``, which no limit of the band exceeds."""
    e0, e1 = _margins(placed, delta)
    return weight.area * e1 + weight.sup * e0


def _margins(placed: Placements, delta: float) -> tuple[float, float]:
    return dkw_margin(placed.n_negative, delta / 2), dkw_margin(placed.n_positive, delta / 2)


def limits_of(
    kind: str,
    placed: Placements,
    weight: Weight | TwoWayBand,
    *,
    delta: float,
    ties: str,
    rng: np.random.Generator,
) -> AreaLimits:
    """Return the limits of a kind of method, not beyond what any area can be."""
    methods = _OF_BOXES if isinstance(weight, TwoWayBand) else _OF_WEIGHTS
    if kind not in methods:
        names = ", ".join(map(repr, sorted(_OF_BOXES)))
        refuse_option(kind, "limits", f"one of {names}, which are available for two-way areas")
    more = (rng,) if kind == "bootstrap" else ()
    found = methods[kind](placed, weight, delta, ties, *more)
    most = weight.area if ties != "strict" or isinstance(weight, TwoWayBand) else weight.sup
    lower, upper = (min(max(x, 0.0), most) for x in (found.lower, found.upper))
    return replace(found, lower=lower, upper=upper)


def cell_limits(kind: str, placed: Placements, weight: Weight, delta: float) -> AreaLimits:
    """Return limits by ``dkw`` or ``hinge`` that hold for every order inside cells of scores.

    A positive stands somewhere between the two ends of its cell, and the area grows with it.
    """
    if kind == "hinge":
        least, most = replace(placed, right=placed.left), replace(placed, left=placed.right)
        return AreaLimits(
            pair_limits(kind, least, weight, delta, "interpolate").lower,
            pair_limits(kind, most, weight, delta, "interpolate").upper,
        )
    e0, e1 = _margins(placed, delta)
    lower = band_limits(replace(placed, right=placed.left), weight, e0, e1)[0]
    upper = band_limits(replace(placed, left=placed.right), weight, e0, e1)[1]
    return AreaLimits(max(lower, 0.0), min(upper, weight.area))


def _dkw(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return the worst case inside simultaneous bands around both distribution functions."""
    e0, e1 = _margins(placed, delta)
    if ties != "strict":
        value, lower, upper = area_and_limits(placed, weight, e0, e1)
        return AreaLimits(lower, upper, value=value)
    # Ties earn nothing: placements end at F₀(x−). Eq. 1 takes W at the end of an atom where the
    # integral averages it, which moves an atom's part by no more than its size times the variation
    # of W inside it; an atom is at most 2ε₀ larger than it was seen.
    shares = np.diff(np.unique(np.concatenate([[0.0], placed.tie_ends()])))
    atom = min(1.0, float(shares.max()) + 2 * e0)
    lower, upper = band_limits(replace(placed, right=placed.left), weight, e0, e1)
    shift = weight.variation * atom
    note = (
        "ties='strict' takes the weight at the end of an atom, which may move the area by "
        f"{shift:.3g}; ties='interpolate' is free of that"
    )
    return AreaLimits(lower - shift, upper + shift, note=note if shift else "")


def _beta(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return the worst case inside bands that are narrow where rates are small."""
    if ties == "strict":
        refuse_option("beta", "limits", "'dkw' with ties='strict', or ties='interpolate'")
    return AreaLimits(*limits_in_bands(placed, weight, *bands_of("beta", placed, delta)))


def bands_of(method: str, placed: Placements, delta: float) -> tuple[Band, Band]:
    """Return the bands around F₀ and F₁ that hold together."""
    sizes = placed.n_negative, placed.n_positive
    for n in sizes:
        if method == "beta" and n != round(n):
            refuse_option(
                "beta",
                "limits",
                "'dkw' (approximate), since 'beta' counts rows and sample_weight holds importances",
            )
    zero, one = (band_of(method, n, delta / 2) for n in sizes)
    return zero, one


def _delong(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return normal limits from the influence function."""
    value = value_of(placed, weight, ties)
    if ties == "strict":  # ties earn nothing, so a positive's placement ends at F₀(x−)
        placed = replace(placed, right=placed.left)
    error = math.sqrt(variance(placed, weight))
    margin = normal_quantile(delta / 2) * error
    return AreaLimits(value - margin, value + margin, error)


def _delong_box(placed: Placements, box: TwoWayBand, delta: float, ties: str) -> AreaLimits:
    """Return normal limits of a two-way area: its error is that of the band inside the box."""
    corners = curve(placed)
    value, band = box_area(*corners, box), band_inside(*corners, box)
    error = 0.0 if band is None else math.sqrt(variance(placed, band))
    margin = normal_quantile(delta / 2) * error
    return AreaLimits(value - margin, value + margin, error, value=value)


def _bootstrap(
    placed: Placements, weight: Weight, delta: float, ties: str, rng: np.random.Generator
) -> AreaLimits:
    atoms = ties == "strict" and weight.variation > 0
    return _quantiles(placed, lambda p: value_of(p, weight, ties), delta, rng, atoms=atoms)


def _quantiles(
    placed: Placements,
    statistic: Callable[[Placements], float],
    delta: float,
    rng: np.random.Generator,
    *,
    atoms: bool = False,
) -> AreaLimits:
    number = enough_draws(delta / 2, least=_LEAST_RESAMPLES, width=_COST)
    values = resampled(placed, statistic, number, rng, atoms=atoms)
    return AreaLimits(*percentile_limits(values, delta / 2), float(values.std(ddof=1)))


def _band_box(
    kind: str, placed: Placements, box: TwoWayBand, delta: float, ties: str
) -> AreaLimits:
    """Return the limits of boxes by a kind of band: areas under the outermost curves."""
    lowest, highest = curves_in_bands(*curve(placed), *bands_of(kind, placed, delta))
    return AreaLimits(box_area(*lowest, box), box_area(*highest, box))


def _bootstrap_box(
    placed: Placements, box: TwoWayBand, delta: float, ties: str, rng: np.random.Generator
) -> AreaLimits:
    return _quantiles(placed, lambda p: box_area(*curve(p), box), delta, rng)


def pair_limits(
    kind: str, placed: Placements, weight: Weight, delta: float, ties: str
) -> AreaLimits:
    """Return limits of the AUC by ``hinge`` or ``kl``."""
    if not all_of_the_curve(weight):
        refuse_option(
            kind,
            "limits",
            f"'auto', 'dkw' or 'beta' for {weight.title}: pairs limit the AUC of the whole curve",
        )
    value = value_of(placed, weight, ties)
    return AreaLimits(*mean_limits(kind, value, *_sizes(placed), delta / 2), value=value)


_VACUOUS = "the bound of Theorem 2 is {:.3g} here; limits='dkw' needs far fewer rows"


def theorem_2(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return the limits of Theorem 2; a step is put between two ramps (remark 2 to it)."""
    n = placed.n_positive + placed.n_negative
    rare = min(placed.n_positive, placed.n_negative) / n
    root = math.sqrt(2 * math.log(4 / delta) / n)
    if rare <= root:  # the event A_δ of eq. 2 was not seen: nothing is promised
        note = f"the rarer class is {rare:.2g} of the rows and Theorem 2 needs more than {root:.2g}"
        return AreaLimits(0.0, math.inf, note=note)

    def bound(w: Weight) -> float:
        return (w.lipschitz + 9 * w.sup) / rare**2 * root

    if math.isfinite(weight.lipschitz):
        value, margin = value_of(placed, weight, ties), bound(weight)
        return AreaLimits(value - margin, value + margin, note=_VACUOUS.format(margin))
    if not isinstance(weight, FprBand):
        refuse_option(
            "maurer-pontil",
            "limits",
            f"'dkw' for {weight!r}: Theorem 2 needs a weight without jumps, or a declared "
            "Lipschitz bound",
        )
    # A ramp of width w costs up to w/2 of area at each end and 1/w of slope; this balances them
    # without looking at the scores.
    below, above = weight.sandwich(math.sqrt(2 * root / (rare**2 * weight.variation)))
    return AreaLimits(
        value_of(placed, below, ties) - bound(below),
        value_of(placed, above, ties) + bound(above),
        note=_VACUOUS.format(bound(below)),
    )


# --- Which method ``auto`` and ``approximate`` stand for: by sizes and weight, never by
# scores.
#
# What is chosen before a score is seen has no price: the limits hold as if it had been named.

FEW_IN_THE_BAND = 5  # rows, below which approximate limits of partial areas are too narrow
_NEGATIVES_PER_POSITIVE = 0.2  # in the band, from which on ``nested`` is narrower than ``beta``

_MANY = 10**8  # rows of a class, above which ``beta`` needs tens of thousands of ranks


class Choice(NamedTuple):
    """A method, and why it was taken where it was not named."""

    method: str
    why: str = ""


def chosen_method(
    kind: str, placed: Placements, weight: Weight | TwoWayBand, ties: str, *, cells: bool = False
) -> Choice:
    """Return the method that a name stands for; with ``cells``, for scores in cells."""
    if kind == "auto" and cells and not all_of_the_curve(weight):
        return Choice("dkw", "the order of the scores inside their cells is not known")
    if kind == "auto":
        return _certain(placed, weight, ties)
    if kind == "approximate":
        return _approximate(placed, weight, ties)
    return Choice(kind)


def _certain(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> Choice:
    n1, n0 = placed.n_positive, placed.n_negative
    if all_of_the_curve(weight):
        return Choice(
            "hinge", "pairs of rows give the narrowest distribution-free limits of the AUC"
        )
    if ties == "strict":
        return Choice("dkw", "ties='strict' has distribution-free limits by 'dkw' alone")
    if not placed.counts_rows:
        return Choice("dkw", "importance weights leave no whole numbers of rows")
    if starts_at_zero(weight) and weight.area * n0 >= _NEGATIVES_PER_POSITIVE * n1:
        return Choice("nested", f"{weight.area * n0:,.4g} negatives are expected in the band")
    if max(n1, n0) > _MANY:
        return Choice("dkw", f"'beta' takes long above {_MANY:,} rows of a class")
    return Choice("beta", "its bands are narrow where rates are small")


def _approximate(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> Choice:
    if all_of_the_curve(weight):
        return Choice("smoothed", "it allows for a row that was not seen")
    if ties == "strict":
        return Choice("dkw", "no approximate limits hold for ties='strict' with this weight")
    if rows_in_the_band(placed, weight) < FEW_IN_THE_BAND:
        few = f"fewer than {FEW_IN_THE_BAND} rows are expected in the band"
        return Choice(_certain(placed, weight, ties).method, few)
    return Choice("smoothed", "it allows for rows that were not seen")


def rows_in_the_band(placed: Placements, weight: Weight | TwoWayBand) -> float:
    """Return how many rows of a class are expected where the weight is, at its greatest value."""
    if isinstance(weight, TwoWayBand):
        return min(placed.n_negative * weight.fpr.area, placed.n_positive * weight.tpr.area)
    return placed.n_negative * weight.area / weight.sup


# --- Limits of the mean true-positive rate up to a false-positive rate b, for any law.
#
# M(u), the mean true-positive rate over [0, u], grows with u, and is the AUC of all positives
# against the top u of the negatives. The false-positive rate at the k-th largest of n₀ negatives is
# a Beta(k, n₀ + 1 − k) variable, and the k − 1 negatives above it are independent rows of that top.
# So a rank whose rate is almost surely below b gives the lower limit of M(b), and one whose rate is
# almost surely above b the upper one, both as limits of an AUC on pairs. Ties are broken at random.

# Shares of the error of a side: that the rank is on the wrong side of b, and that its AUC is not
# within its limits.
_TO_RANK, _TO_PAIRS = 0.25, 0.75


def starts_at_zero(weight: object) -> bool:
    """Return whether a weight is a band of false-positive rates from 0 on."""
    return isinstance(weight, FprBand) and weight.low == 0 and weight.high < 1


def nested_limits(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return limits of a partial area from 0 to b, each wrong with half of ``delta``."""
    if not starts_at_zero(weight):
        refuse_option(
            "nested",
            "limits",
            f"'auto', 'dkw' or 'beta' for {weight.title}: 'nested' is for FprBand(0, b)",
        )
    if ties == "strict":
        refuse_option("nested", "limits", "'dkw' with ties='strict', or ties='interpolate'")
    if not placed.counts_rows:
        refuse_option(
            "nested",
            "limits",
            "'dkw' (approximate), since 'nested' counts rows and sample_weight holds importances",
        )
    n1, n0 = (round(n) for n in (placed.n_positive, placed.n_negative))
    b, side = weight.area, delta / 2
    below = _last_rank_below(n0, b, _TO_RANK * side)
    above = _first_rank_above(n0, b, _TO_RANK * side)
    lower, upper = 0.0, 1.0
    if below > 1:
        seen = _auc_of_top(placed, below - 1)
        lower = mean_limits("hinge", seen, n1, below - 1, _TO_PAIRS * side)[0]
    seen = _auc_of_top(placed, above - 1)
    upper = mean_limits("hinge", seen, n1, above - 1, _TO_PAIRS * side)[1]
    return AreaLimits(lower * b, upper * b)


def _last_rank_below(n: int, b: float, error: float) -> int:
    """Return the largest rank whose rate exceeds b with at most ``error``; 0 if none."""
    from scipy.special import betaincc

    return _last(n, lambda k: bool(betaincc(k, n + 1 - k, b) <= error))


def _first_rank_above(n: int, b: float, error: float) -> int:
    """Return the smallest rank whose rate is below b with probability ``error`` at most.

    Where there is none it is n + 1: all negatives are above the rate 1.
    """
    from scipy.special import betainc

    return 1 + _last(n, lambda k: bool(betainc(k, n + 1 - k, b) > error))


def _last(n: int, holds: Callable[[int], bool]) -> int:
    """Return the largest k of 1 … n for which something holds that holds up to it; 0 if none."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _auc_of_top(placed: Placements, kept: int) -> float:
    """Return the AUC of the positives against the ``kept`` largest negatives.

    A tie counts ½, but the tied negatives of which some are kept and some are not are put into an
    order with their positives at random: what the limit rests on is a rank.
    """
    n0 = round(placed.n_negative)
    below, upto = (np.rint(rate * n0).astype(np.int64) for rate in (placed.below(), placed.upto()))
    first = n0 - kept
    won = (np.maximum(below - first, 0) + np.maximum(upto - first, 0)) / 2.0
    cut = (below < first) & (upto > first)
    if cut.any():
        won[cut] = _drawn(placed, cut, int(upto[cut][0] - below[cut][0]), int(upto[cut][0]) - first)
    mass = np.full(len(placed), 1.0 / len(placed)) if placed.mass is None else placed.mass
    return float(won @ mass) / kept


def _drawn(placed: Placements, cut: BoolArray, tied: int, kept: int) -> FloatArray:
    """Return how many of the largest ``kept`` of the tied negatives are below each tied positive.

    The stream of random numbers is fixed, so that the same rows have the same limits.
    """
    rng = np.random.default_rng(0)
    mass = np.full(len(placed), 1.0 / len(placed)) if placed.mass is None else placed.mass
    rows: IntArray = np.rint(mass[cut] * placed.n_positive).astype(np.int64)
    negatives = np.sort(rng.random(tied))
    ranks = np.searchsorted(negatives, rng.random(int(rows.sum())))
    won = np.maximum(ranks - (tied - kept), 0).astype(float)
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    return np.asarray(np.add.reduceat(won, starts) / rows)


# --- Limits of the AUC that hold for any law: it is an average of means over independent pairs.
#
# Join the rarer class to as many rows of the other one, in every way: each way gives m = min(n₀,
# n₁) independent pairs, of which a share is ordered rightly (a tie counts ½), and the AUC is the
# average of these shares (Hoeffding 1963). So whatever limits the mean of m independent numbers in
# [0, 1] and rests on convexity limits the AUC.


def mean_limits(kind: str, value: float, n1: int, n0: int, delta: float) -> tuple[float, float]:
    """Return limits of an AUC that was seen on n₁ and n₀ rows, each wrong with ``delta``."""
    m = min(n1, n0)
    if kind == "hinge":
        return hinge_limits(value * m, m, delta)
    low, high = kl_limits(value * m, m, delta)
    return float(low), float(high)


def _sizes(placed: Placements) -> tuple[int, int]:
    """Return whole numbers of rows; importance weights leave Kish's numbers, rounded down."""
    return tuple(  # type: ignore[return-value]
        max(1, math.floor(n + 1e-9)) for n in (placed.n_positive, placed.n_negative)
    )


# Each takes placements, a weight or box, delta and the rule of ties; the bootstrap an rng as well.
_OF_WEIGHTS: dict[str, Callable[..., AreaLimits]] = {
    "hinge": partial(pair_limits, "hinge"),
    "kl": partial(pair_limits, "kl"),
    "nested": nested_limits,
    "dkw": _dkw,
    "beta": _beta,
    "maurer-pontil": theorem_2,
    "smoothed": smoothed_limits,
    "delong": _delong,
    "bootstrap": _bootstrap,
}
_OF_BOXES: dict[str, Callable[..., AreaLimits]] = {
    "dkw": partial(_band_box, "dkw"),
    "beta": partial(_band_box, "beta"),
    "smoothed": smoothed_limits,
    "delong": _delong_box,
    "bootstrap": _bootstrap_box,
}
