"""The true-positive rate at one false-positive rate."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Expected
from karat._typing import Column, FloatArray
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    check_ranked,
    check_same_length,
    check_weighting,
    check_weights,
)
from karat.exceptions import DataError
from karat.ranking._weighted_auc import check_exact, counts_of, only_rows, placed_counts
from karat.ranking.areas import curve, curves_in_bands, limits_in_bands, variance
from karat.ranking.bands import Band
from karat.ranking.methods import bands_of
from karat.ranking.placements import Placements, labelled_scores, read_labels
from karat.ranking.result import RocPoint, area_guarantee
from karat.ranking.weights import FprBand
from karat.statistics import RocCounts

_WIDTHS = 12  # of the bands beside the point that the result reports


@keeps_kind
def roc_at(
    y_true: Column | RocCounts,
    y_score: Column | None = None,
    *,
    fpr: float,
    limits: str = "dkw",
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
) -> RocPoint:
    """Measure the true-positive rate at a false-positive rate, for any law.

    With ``dkw`` the curve of the population is within ``ε₀`` to the side and ``ε₁`` up or down of
    the one seen, so at u it is between ``roc(u − ε₀) − ε₁`` and ``roc(u + ε₀) + ε₁`` (``ε`` of each
    class as in `weighted_auc`), or closer where ties end the curve; ``beta`` has bands that
    are narrow at small rates. The result also holds limits from averages over bands beside the
    point: weights that shrink to the point lose bias and gain variance (Maurer & Pontil 2020,
    remark 3 to Theorem 2).

    Parameters
    ----------
    y_true : column (n,) or RocCounts
        Labels of two classes; or, without ``y_score``, counts of positives and negatives at each
        score, as in `weighted_auc`, but not in cells.
    y_score : column (n,), optional
        Scores; a higher one speaks for the positive class.
    fpr : float
        The false-positive rate, between 0 and 1.
    limits : {"dkw", "beta"}
        The bands that limits come from.
    confidence : float, default 0.95
        Probability that the limits hold.
    pos_label : label, optional
        The positive class. By default the labels tell it: 1 of 0 and 1, True, or a word such as
        "yes", "spam" or "fraud". Where they do not, `PositiveClassError` says what to pass.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means, as in `weighted_auc`.

    Returns
    -------
    RocPoint
        The rate as ``value`` with ``lower`` and ``upper``, and the limits from bands beside the
        point as ``band_width``, ``band_lower``, ``band_upper`` and ``band_error``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(50_000) < 0.5
    >>> r = roc_at(y, rng.normal(size=50_000) + 2 * y, fpr=0.1)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.766, 0.74, 0.79)
    """
    at = check_number(fpr, "fpr", at_least=0.0, at_most=1.0)
    level = check_confidence(confidence)
    check_choice(limits, "limits", ("dkw", "beta"))
    counts = counts_of(y_true, y_score)
    if isinstance(counts, Mapping):
        raise DataError(
            Argument("y_true"), " holds counts by name; expected ", Expected("those of one ranking")
        )
    if counts is not None:
        others = {"pos_label": pos_label, "sample_weight": sample_weight, "weighting": weighting}
        only_rows(**{name: (value, None) for name, value in others.items()})
        check_exact(counts)
        approximate = counts.squares is not None
        return _point(placed_counts(counts), at, limits, level, approximate=approximate)
    positive, _ = read_labels(y_true, pos_label)
    score, weight = check_ranked(y_score), check_weights(sample_weight)
    check_same_length(y_true=positive, y_score=score, sample_weight=weight)
    approximate = check_weighting(weighting, weight)
    placed = labelled_scores(positive, score, weight, approximate=approximate).placed()
    return _point(placed, at, limits, level, approximate=approximate)


def _point(
    placed: Placements, at: float, limits: str, level: float, *, approximate: bool
) -> RocPoint:
    """Return the rate at a point, with limits."""
    zero, one = bands_of(limits, placed, 1 - level)
    corners = curve(placed)
    lowest, highest = curves_in_bands(*corners, zero, one)
    return RocPoint(
        at=at,
        estimate=Estimate.of(
            _height(*corners, at),
            _height(*lowest, at),
            _height(*highest, at),
            level,
            area_guarantee(limits, approximate=approximate),
        ),
        method=limits,
        n_positive=placed.n_positive,
        n_negative=placed.n_negative,
        approximate=approximate,
        **_beside(placed, at, zero, one),
    )


def _height(fpr: FloatArray, tpr: FloatArray, at: float) -> float:
    """Return the upper end of the curve at a false-positive rate."""
    last = int(np.searchsorted(fpr, at, side="right")) - 1
    if last == len(fpr) - 1:
        return float(tpr[-1])
    run = fpr[last + 1] - fpr[last]
    return float(tpr[last] + (tpr[last + 1] - tpr[last]) * (at - fpr[last]) / run)


def _beside(placed: Placements, at: float, zero: Band, one: Band) -> dict[str, FloatArray]:
    """Return limits from averages over bands of several widths that end at the point."""
    room = max(at, 1 - at)
    widths = np.geomspace(max(1.0 / placed.n_negative, 1e-4 * room), room, _WIDTHS)
    lowers, uppers, errors = np.zeros(_WIDTHS), np.ones(_WIDTHS), np.full(_WIDTHS, np.nan)
    for i, width in enumerate(widths):
        start, end = max(at - width, 0.0), min(at + width, 1.0)
        if start < at:
            below = FprBand(start, at)
            lowers[i] = max(0.0, limits_in_bands(placed, below, zero, one)[0] / below.area)
        if at < end:
            above = FprBand(at, end)
            uppers[i] = min(1.0, limits_in_bands(placed, above, zero, one)[1] / above.area)
        around = FprBand(start, end)
        errors[i] = math.sqrt(variance(placed, around)) / around.area
    return {
        "band_width": widths,
        "band_lower": lowers,
        "band_upper": uppers,
        "band_error": errors,
    }
