"""AreaLimits of an area: certain, certain in the seed's way, asymptotic, and resampled."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.exceptions import DataError
from karat.limits.kernels import normal_quantile, percentile_limits
from karat.ranking._area import (
    area,
    area_and_limits,
    band_limits,
    box_area,
    curve,
    curves_in_bands,
    limits_in_bands,
    strict_area,
)
from karat.ranking._bands import Band, band_of, dkw_margin
from karat.ranking._bootstrap import resampled
from karat.ranking._fpr_band import FprBand
from karat.ranking._influence import variance
from karat.ranking._placements import Placements
from karat.ranking._two_way_band import TwoWayBand
from karat.ranking._weight import Weight

__all__ = [
    "CERTIFICATES",
    "FEW",
    "AreaLimits",
    "bands_of",
    "cell_limits",
    "closed_form",
    "dkw_margin",
    "limits_of",
    "value_of",
]

CERTIFICATES = ("dkw", "beta", "maurer-pontil", "delong", "bootstrap")
FEW = 100  # positives, below which the normal limits are too narrow
_RESAMPLES = 1000
_VACUOUS = "the bound of Theorem 2 is {:.3g} here; certificate='dkw' needs far fewer rows"


@dataclass(frozen=True, slots=True)
class AreaLimits:
    """AreaLimits of an area."""

    lower: float
    upper: float
    standard_error: float | None = None
    note: str = ""
    value: float | None = None  # of the area, where it comes with the limits


def closed_form(placed: Placements, weight: Weight, delta: float) -> float:
    """Return ``‖W‖₁ε₁ + ‖W‖_∞ε₀``, which no limit of the band exceeds."""
    e0, e1 = _margins(placed, delta)
    return weight.area * e1 + weight.sup * e0


def _margins(placed: Placements, delta: float) -> tuple[float, float]:
    return dkw_margin(placed.n_negative, delta / 2), dkw_margin(placed.n_positive, delta / 2)


def value_of(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> float:
    """Return the area by a rule of ties."""
    if isinstance(weight, TwoWayBand):
        return box_area(*curve(placed), weight)
    return strict_area(placed, weight) if ties == "strict" else area(placed, weight)


def limits_of(
    kind: str,
    placed: Placements,
    weight: Weight | TwoWayBand,
    *,
    delta: float,
    ties: str,
    rng: np.random.Generator,
) -> AreaLimits:
    """Return the limits of a kind of certificate, not beyond what any area can be."""
    if isinstance(weight, TwoWayBand):
        if kind not in _OF_BOXES:
            raise DataError(
                f"certificate={kind!r} does not know two-way areas; use one of {sorted(_OF_BOXES)}"
            )
        found = _OF_BOXES[kind](placed, weight, delta, rng)
        most = weight.area
    else:
        found = _OF_WEIGHTS[kind](placed, weight, delta, ties, rng)
        most = weight.sup if ties == "strict" else weight.area
    lower, upper = (min(max(x, 0.0), most) for x in (found.lower, found.upper))
    return replace(found, lower=lower, upper=upper)


def cell_limits(placed: Placements, weight: Weight, delta: float) -> AreaLimits:
    """Return DKW limits that hold for every order of the scores inside their cells.

    A positive stands somewhere between the two ends of its cell, and the area grows with it.
    """
    e0, e1 = _margins(placed, delta)
    lower = band_limits(replace(placed, right=placed.left), weight, e0, e1)[0]
    upper = band_limits(replace(placed, left=placed.right), weight, e0, e1)[1]
    return AreaLimits(max(lower, 0.0), min(upper, weight.area))


def _dkw(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
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
    reach = weight.variation * atom
    note = (
        "ties='strict' takes the weight at the end of an atom, which may move the area by "
        f"{reach:.3g}; ties='interpolate' is free of that"
    )
    return AreaLimits(lower - reach, upper + reach, note=note if reach else "")


def _beta(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
    """Return the worst case inside bands that are narrow where rates are small."""
    if ties == "strict":
        raise DataError("certificate='beta' is for ties='interpolate'; use 'dkw' for eq. 1")
    return AreaLimits(*limits_in_bands(placed, weight, *bands_of("beta", placed, delta)))


def bands_of(certificate: str, placed: Placements, delta: float) -> tuple[Band, Band]:
    """Return the bands around F₀ and F₁ that hold together."""
    sizes = placed.n_negative, placed.n_positive
    for n in sizes:
        if certificate == "beta" and n != round(n):
            raise DataError(
                "certificate='beta' counts rows, and sample_weight holds importances; use 'dkw', "
                "which is approximate then"
            )
    zero, one = (band_of(certificate, n, delta / 2) for n in sizes)
    return zero, one


def _maurer_pontil(
    placed: Placements, weight: Weight, delta: float, ties: str, _: Any
) -> AreaLimits:
    """Return the limits of seed 003, Theorem 2; a step is put between ramps (its remark 2)."""
    n = placed.n_positive + placed.n_negative
    rare = min(placed.n_positive, placed.n_negative) / n
    root = math.sqrt(2 * math.log(4 / delta) / n)
    if rare <= root:  # the event A_δ of eq. 2 was not seen: nothing is promised
        note = f"the rarer class is {rare:.2g} of the rows and Theorem 2 needs more than {root:.2g}"
        return AreaLimits(0.0, math.inf, note=note)

    def bound(w: Weight) -> float:
        return (w.lipschitz + 9 * w.sup) / rare**2 * root

    if math.isfinite(weight.lipschitz):
        value, reach = value_of(placed, weight, ties), bound(weight)
        return AreaLimits(value - reach, value + reach, note=_VACUOUS.format(reach))
    if not isinstance(weight, FprBand):
        raise DataError(
            f"certificate='maurer-pontil' needs a weight without jumps and {weight!r} has no "
            "Lipschitz bound; declare one, or use certificate='dkw'"
        )
    # A ramp of width w costs up to w/2 of area at each end and 1/w of slope; this balances them
    # without looking at the scores.
    below, above = weight.sandwich(math.sqrt(2 * root / (rare**2 * weight.variation)))
    return AreaLimits(
        value_of(placed, below, ties) - bound(below),
        value_of(placed, above, ties) + bound(above),
        note=_VACUOUS.format(bound(below)),
    )


def _delong(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
    """Return normal limits from the influence function."""
    value = value_of(placed, weight, ties)
    if ties == "strict":  # ties earn nothing, so a positive's placement ends at F₀(x−)
        placed = replace(placed, right=placed.left)
    error = math.sqrt(variance(placed, weight))
    reach = normal_quantile(delta / 2) * error
    return AreaLimits(value - reach, value + reach, error)


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
    values = resampled(placed, statistic, _RESAMPLES, rng, atoms=atoms)
    return AreaLimits(*percentile_limits(values, delta / 2), float(values.std(ddof=1)))


def _band_box(kind: str) -> Callable[..., AreaLimits]:
    """Return the limits of boxes by a kind of band: areas under the outermost curves."""

    def limits(placed: Placements, box: TwoWayBand, delta: float, _: Any) -> AreaLimits:
        lowest, highest = curves_in_bands(*curve(placed), *bands_of(kind, placed, delta))
        return AreaLimits(box_area(*lowest, box), box_area(*highest, box))

    return limits


def _bootstrap_box(
    placed: Placements, box: TwoWayBand, delta: float, rng: np.random.Generator
) -> AreaLimits:
    return _quantiles(placed, lambda p: box_area(*curve(p), box), delta, rng)


_OF_WEIGHTS: dict[str, Callable[..., AreaLimits]] = {
    "dkw": _dkw, "beta": _beta, "maurer-pontil": _maurer_pontil, "delong": _delong,
    "bootstrap": _bootstrap,
}  # fmt: skip
_OF_BOXES: dict[str, Callable[..., AreaLimits]] = {
    "dkw": _band_box("dkw"), "beta": _band_box("beta"), "bootstrap": _bootstrap_box,
}  # fmt: skip
