"""Limits of an area by the name of its certificate, for weights and for boxes."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from karat._validate import refuse_option
from karat.limits.kernels import normal_quantile, percentile_limits
from karat.ranking.areas import (
    Band,
    area_and_limits,
    band_inside,
    band_limits,
    band_of,
    box_area,
    curve,
    curves_in_bands,
    dkw_margin,
    limits_in_bands,
    variance,
)
from karat.ranking.certificates._maurer_pontil import theorem_2
from karat.ranking.certificates._nested import nested_limits
from karat.ranking.certificates._pairs import pair_limits
from karat.ranking.certificates._resampled import resampled
from karat.ranking.certificates._smoothed import smoothed_limits
from karat.ranking.certificates._value import AreaLimits, value_of
from karat.ranking.placements import Placements
from karat.ranking.weights import TwoWayBand, Weight

__all__ = [
    "CERTIFICATES",
    "FEW",
    "bands_of",
    "cell_limits",
    "closed_form",
    "limits_of",
]

CERTIFICATES = (
    "auto", "hinge", "kl", "nested", "dkw", "beta", "maurer-pontil",
    "approximate", "smoothed", "delong", "bootstrap",
)  # fmt: skip
FEW = 100  # rows of a class, below which normal and resampled limits are too narrow
_RESAMPLES = 1000


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
    """Return the limits of a kind of certificate, not beyond what any area can be."""
    if isinstance(weight, TwoWayBand):
        if kind not in _OF_BOXES:
            names = ", ".join(map(repr, sorted(_OF_BOXES)))
            refuse_option(
                kind, "certificate", f"one of {names}, which are available for two-way areas"
            )
        found = _OF_BOXES[kind](placed, weight, delta, rng)
        most = weight.area
    else:
        found = _OF_WEIGHTS[kind](placed, weight, delta, ties, rng)
        most = weight.sup if ties == "strict" else weight.area
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
    shift = weight.variation * atom
    note = (
        "ties='strict' takes the weight at the end of an atom, which may move the area by "
        f"{shift:.3g}; ties='interpolate' is free of that"
    )
    return AreaLimits(lower - shift, upper + shift, note=note if shift else "")


def _beta(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
    """Return the worst case inside bands that are narrow where rates are small."""
    if ties == "strict":
        refuse_option("beta", "certificate", "'dkw' with ties='strict', or ties='interpolate'")
    return AreaLimits(*limits_in_bands(placed, weight, *bands_of("beta", placed, delta)))


def _of_pairs(kind: str) -> Callable[..., AreaLimits]:
    """Return the limits of the AUC by a bound on pairs."""

    def limits(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
        return pair_limits(kind, placed, weight, delta, ties)

    return limits


def _nested(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
    return nested_limits(placed, weight, delta, ties)


def _smoothed(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
    return smoothed_limits(placed, weight, delta, ties)


def bands_of(certificate: str, placed: Placements, delta: float) -> tuple[Band, Band]:
    """Return the bands around F₀ and F₁ that hold together."""
    sizes = placed.n_negative, placed.n_positive
    for n in sizes:
        if certificate == "beta" and n != round(n):
            refuse_option(
                "beta",
                "certificate",
                "'dkw' (approximate), since 'beta' counts rows and sample_weight holds importances",
            )
    zero, one = (band_of(certificate, n, delta / 2) for n in sizes)
    return zero, one


def _maurer_pontil(
    placed: Placements, weight: Weight, delta: float, ties: str, _: Any
) -> AreaLimits:
    return theorem_2(placed, weight, delta, ties)


def _delong(placed: Placements, weight: Weight, delta: float, ties: str, _: Any) -> AreaLimits:
    """Return normal limits from the influence function."""
    value = value_of(placed, weight, ties)
    if ties == "strict":  # ties earn nothing, so a positive's placement ends at F₀(x−)
        placed = replace(placed, right=placed.left)
    error = math.sqrt(variance(placed, weight))
    margin = normal_quantile(delta / 2) * error
    return AreaLimits(value - margin, value + margin, error)


def _delong_box(placed: Placements, box: TwoWayBand, delta: float, _: Any) -> AreaLimits:
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
    "hinge": _of_pairs("hinge"), "kl": _of_pairs("kl"), "nested": _nested, "dkw": _dkw,
    "beta": _beta, "maurer-pontil": _maurer_pontil, "smoothed": _smoothed, "delong": _delong,
    "bootstrap": _bootstrap,
}  # fmt: skip
_OF_BOXES: dict[str, Callable[..., AreaLimits]] = {
    "dkw": _band_box("dkw"), "beta": _band_box("beta"), "delong": _delong_box,
    "bootstrap": _bootstrap_box,
}  # fmt: skip
