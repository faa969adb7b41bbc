"""From placements to a result: value, limits, curve, and a warning where limits are useless."""

import warnings
from dataclasses import replace

import numpy as np

from karat._callers import caller_level
from karat._typing import AnyArray, FloatArray
from karat.exceptions import SmallSampleWarning
from karat.ranking.area_results._area_options import AreaOptions
from karat.ranking.areas import band_limits, curve, dkw_margin, enclosure
from karat.ranking.certificates import (
    FEW,
    AreaLimits,
    cell_limits,
    chosen_certificate,
    closed_form,
    limits_of,
    value_of,
)
from karat.ranking.placements import LabelledScores, Placements, place_counts
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import TprBand, TwoWayBand, Weight, scale_of
from karat.statistics import RocCounts

__all__ = ["area_result", "area_result_of_counts"]

_NAMES = ("positives", "negatives")
_POINTS = 600  # of the curve that is kept for drawing
_ROUNDING = 1e-9  # of an area, which is a sum over rows


def area_result(rows: LabelledScores, options: AreaOptions, classes: AnyArray) -> WeightedAUC:
    """Return the area of rows that were checked."""
    if isinstance(options.weight, TprBand):
        return _mirrored(rows.mirrored().placed(), options, classes, approximate=rows.approximate)
    return _measured(rows.placed(), options, classes, approximate=rows.approximate)


def area_result_of_counts(counts: RocCounts, options: AreaOptions, *, cells: bool) -> WeightedAUC:
    """Return the area of counts; with ``cells``, limits for every order inside cells of scores."""
    ones, zeros = (np.asarray(c, dtype=float) for c in (counts.positives, counts.negatives))
    n0, n1 = counts.sizes.tolist()
    approximate = counts.squares is not None  # importances
    if isinstance(options.weight, TprBand):
        placed = place_counts(zeros[::-1], ones[::-1], sizes=(n0, n1))
        return _mirrored(placed, options, counts.classes, approximate=approximate, cells=cells)
    placed = place_counts(ones, zeros, sizes=(n1, n0))
    return _measured(placed, options, counts.classes, approximate=approximate, cells=cells)


def _mirrored(
    placed: Placements,
    options: AreaOptions,
    classes: AnyArray,
    *,
    approximate: bool = False,
    cells: bool = False,
) -> WeightedAUC:
    """Return the area between two true-positive rates, from placements with classes swapped."""
    band = options.weight
    swapped = replace(options, weight=band.mirrored())  # type: ignore[union-attr]
    found = _measured(
        placed, swapped, classes, approximate=approximate, cells=cells, names=_NAMES[::-1]
    )
    return replace(
        found, weight=band, n_positive=found.n_negative, n_negative=found.n_positive,
        margins=found.margins[::-1], fpr=1.0 - found.tpr[::-1], tpr=1.0 - found.fpr[::-1],
    )  # fmt: skip


def _measured(
    placed: Placements,
    options: AreaOptions,
    classes: AnyArray,
    *,
    approximate: bool = False,
    cells: bool = False,
    names: tuple[str, str] = _NAMES,
) -> WeightedAUC:
    """Return an area; ``names`` are those of the two classes in warnings."""
    weight, delta = options.weight, 1 - options.confidence
    assert isinstance(weight, Weight | TwoWayBand)
    choice = chosen_certificate(options.certificate, placed, weight, options.ties, cells=cells)
    options = replace(options, certificate=choice.certificate)
    limits = _limits(placed, options, weight, cells=cells)
    value = limits.value if limits.value is not None else value_of(placed, weight, options.ties)
    scale, shift = scale_of(weight, options.normalize)
    half = None
    if (
        isinstance(weight, Weight)
        and options.certificate == "dkw"
        and not (options.ties == "strict" or cells)
    ):
        half = closed_form(placed, weight, delta) * scale
    error = limits.standard_error
    fpr, tpr = _corners_to_draw(placed)
    result = WeightedAUC(
        value=shift + scale * value,
        lower=shift + scale * limits.lower,
        upper=shift + scale * limits.upper,
        confidence=options.confidence,
        certificate=options.certificate,
        why=choice.why,
        half_width=half,
        standard_error=None if error is None else error * scale,
        weight=weight,
        ties=options.ties,
        normalize=options.normalize,
        n_positive=placed.n_positive,
        n_negative=placed.n_negative,
        approximate=approximate,
        classes=classes,
        fpr=fpr,
        tpr=tpr,
        value_range=_value_range(placed, weight, scale, shift) if cells else None,
        margins=(
            dkw_margin(placed.n_negative, delta / 2),
            dkw_margin(placed.n_positive, delta / 2),
        ),
    )
    rounding = _ROUNDING * weight.area
    useless = limits.lower <= rounding and limits.upper >= weight.area - rounding
    _warn_of_few(placed, options, limits.note, names, useless=useless)
    return result


def _limits(
    placed: Placements, options: AreaOptions, weight: Weight | TwoWayBand, *, cells: bool
) -> AreaLimits:
    delta = 1 - options.confidence
    if cells and isinstance(weight, Weight):
        return cell_limits(options.certificate, placed, weight, delta)
    return limits_of(
        options.certificate, placed, weight, delta=delta, ties=options.ties, rng=options.rng
    )


def _value_range(
    placed: Placements, weight: Weight | TwoWayBand, scale: float, shift: float
) -> tuple[float, float]:
    assert isinstance(weight, Weight)
    low, high = enclosure(placed, weight)
    return shift + scale * low, shift + scale * high


def _warn_of_few(
    placed: Placements, options: AreaOptions, note: str, names: tuple[str, str], *, useless: bool
) -> None:
    n1, n0 = placed.n_positive, placed.n_negative
    seen = f"{n1:,.6g} {names[0]} and {n0:,.6g} {names[1]}"
    if options.certificate in ("delong", "bootstrap") and min(n1, n0) < FEW:
        warnings.warn(
            f"{seen}: {options.certificate} limits are too narrow below {FEW} of either; "
            "certificate='smoothed' holds for fewer (the AUC alone), 'auto' for any number",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
    elif useless:
        text = f"{seen} are too few to limit the area{_what_holds(placed, options, names)}"
        warnings.warn(
            f"the limits exclude nothing: {note or text}",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )


def _what_holds(placed: Placements, options: AreaOptions, names: tuple[str, str]) -> str:
    """Say what holds if the few positives are taken as given and the negatives as a sample."""
    n1, n0 = placed.n_positive, placed.n_negative
    if n1 >= n0 or options.ties == "strict" or not isinstance(options.weight, Weight):
        return ""
    scale, shift = scale_of(options.weight, options.normalize)
    e0 = dkw_margin(n0, 1 - options.confidence)
    low, high = (shift + scale * x for x in band_limits(placed, options.weight, e0, 0.0))
    return (
        f". For just the {names[0]} seen, the area against all {names[1]} is between {low:.4f} "
        f"and {high:.4f} at {100 * options.confidence:g} %"
    )


def _corners_to_draw(placed: Placements) -> tuple[FloatArray, FloatArray]:
    """Return corners of the curve that are enough to draw it, straight or with a log axis."""
    n = len(placed)
    if n <= _POINTS:
        return curve(placed)
    even = np.linspace(0, n - 1, _POINTS // 2)
    # For small false-positive rates: the positives just above the highest negatives.
    few = np.searchsorted(
        placed.left, placed.n_steps - np.geomspace(1, placed.n_steps, _POINTS // 2)
    )
    chosen = np.concatenate([even, few.clip(0, n - 1)]).astype(np.intp)
    return curve(placed, np.unique(chosen))
