"""Several models on the same rows."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_same_length,
    check_weighting,
    check_weights,
)
from karat.limits.kernels import normal_quantile
from karat.ranking.area_results import AreaOptions, area_result, check_area_options
from karat.ranking.areas import band_inside, curve, influence
from karat.ranking.comparison_result import RankingComparison, RankingDifference
from karat.ranking.measure_results import read_models
from karat.ranking.placements import labelled_scores, place, read_labels
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import AnyWeight, TprBand, TwoWayBand, Uniform, Weight, scale_of

__all__ = ["compare_auc"]

_CERTIFICATES = ("auto", "hinge", "kl", "nested", "dkw", "beta", "delong")


@keeps_kind
def compare_auc(
    y_true: Column,
    y_scores: Mapping[Any, Column] | Frame,
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    certificate: str = "auto",
    confidence: float = 0.95,
    normalize: str = "raw",
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
) -> RankingComparison:
    """Compare the areas of several models on the same rows.

    The limits hold for all models, and for all differences, together: each of M models gets
    ``(1 − confidence)/M``. With ``certificate="delong"`` the limits of a difference come from the
    paired influence of each row, which is far narrower than the difference of limits when models
    agree on most rows.

    Parameters
    ----------
    y_true : column (n,)
        Labels of two classes.
    y_scores : mapping of name to column, or frame (n, models)
        Scores of each model.
    weight, confidence, normalize, pos_label, sample_weight, weighting
        As in `weighted_auc`.
    certificate : {"auto", "hinge", "kl", "nested", "dkw", "beta", "delong"}
        ``delong`` is paired and asymptotic; the others are certain, as in `weighted_auc`.

    Returns
    -------
    RankingComparison
        ``models``, ``differences`` and ``best``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.3
    >>> good, poor = rng.normal(size=5000) + 2 * y, rng.normal(size=5000) + y
    >>> r = compare_auc(y, {"good": good, "poor": poor}, certificate="delong")
    >>> r.best, r.differences[0].lower > 0
    ('good', True)
    """
    check_choice(certificate, "certificate", _CERTIFICATES)
    options = check_area_options(weight, "interpolate", certificate, confidence, normalize, None)
    positive, classes = read_labels(y_true, pos_label)
    scores = read_models(y_scores)
    row_weight = check_weights(sample_weight)
    for name, score in scores.items():
        check_same_length(**{"y_true": positive, f"y_scores[{name!r}]": score})
    check_same_length(y_true=positive, sample_weight=row_weight)
    approximate = check_weighting(weighting, row_weight)
    shared = options.sharing(len(scores))
    models = {
        name: area_result(
            labelled_scores(positive, score, row_weight, approximate=approximate), shared, classes
        )
        for name, score in scores.items()
    }
    effects = {
        name: _effects(positive, score, row_weight, weight, kish=approximate)
        for name, score in scores.items()
    }
    return RankingComparison(
        models=models,
        differences=_differences(models, effects, options),
        confidence=options.confidence,
    )


def _effects(
    positive: BoolArray,
    score: FloatArray,
    weight: FloatArray | None,
    region: AnyWeight,
    *,
    kish: bool,
) -> FloatArray | None:
    """Return what each row adds to the error of an area; None where that is not known."""
    if isinstance(region, TprBand):
        positive, score, region = ~positive, -score, region.mirrored()
    ones, zeros = (_ascending(score, side) for side in (positive, ~positive))
    weights = None if weight is None else (weight[ones], weight[zeros])
    placed = place(score[ones], score[zeros], weights=weights)
    if isinstance(region, TwoWayBand):
        inside = band_inside(*curve(placed), region)
        if inside is None:  # an area that is 0, or all of the box, shows no error
            return None
        region = inside
    assert isinstance(region, Weight)
    parts = list(influence(placed, region))
    del placed  # of many rows, what is not needed any more takes as much memory as what is
    effect = np.empty(len(score))
    for rows in (ones, zeros):
        values = parts.pop(0)
        share: FloatArray | float
        if weight is None:
            n, share, mean = float(len(rows)), 1.0 / len(rows), float(values.mean())
        else:
            total = weight[rows].sum()
            shares = weight[rows] / total
            n = 1.0 / float(shares @ shares) if kish else float(total)
            share, mean = shares, float(values @ shares)
        if n <= 1:  # one row shows no variance
            return np.full(len(score), np.inf)
        values -= mean
        values *= np.sqrt(share / (n - 1.0))
        effect[rows] = values
    return effect


def _ascending(score: FloatArray, side: BoolArray) -> IntArray:
    """Return the rows of one class in the order of their scores, in as little memory as will do."""
    rows = np.flatnonzero(side)
    rows = rows.astype(np.int32) if len(score) < 2**31 else rows
    return rows[np.argsort(score[rows])]


def _distance(ones: FloatArray, twos: FloatArray) -> float:
    """Return the Euclidean distance of two arrays, some of their entries at a time."""
    step = 1 << 18
    parts = (ones[i : i + step] - twos[i : i + step] for i in range(0, len(ones), step))
    return math.sqrt(math.fsum(float(part @ part) for part in parts))


def _differences(
    models: Mapping[Any, WeightedAUC],
    effects: Mapping[Any, FloatArray | None],
    options: AreaOptions,
) -> tuple[RankingDifference, ...]:
    from scipy.special import ndtr

    pairs = list(combinations(models, 2))
    found = []
    for pair in pairs:
        a, b = sorted(pair, key=lambda name: -models[name].value)
        value = models[a].value - models[b].value
        lower, upper = models[a].lower - models[b].upper, models[a].upper - models[b].lower
        p_value, ones, twos = None, effects[a], effects[b]
        if ones is not None and twos is not None:
            region = models[a].weight
            scale = scale_of(region, models[a].normalize)[0]
            known = np.isfinite(ones).all()
            error = scale * _distance(ones, twos) if known else math.inf
            p_value = float(2 * ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
            if options.certificate == "delong":
                margin = normal_quantile((1 - options.confidence) / (2 * len(pairs))) * error
                most = scale * region.area  # no two areas are further apart
                lower, upper = max(value - margin, -most), min(value + margin, most)
        found.append(
            RankingDifference(
                first=a, second=b, value=value, lower=lower, upper=upper, p_value=p_value
            )
        )
    return tuple(found)
