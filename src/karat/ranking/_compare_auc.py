"""Compare the areas of several rankings of the same rows, from rows or from counts."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate
from karat._sentences import Argument, Expected
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat._validate import (
    named,
    refuse_option,
)
from karat.exceptions import DataError, KaratWarning
from karat.limits.means import normal_quantile
from karat.ranking._approximate import paired_limits
from karat.ranking._weighted_auc import (
    AreaOptions,
    area_of_counts,
    area_result,
)
from karat.ranking.areas import (
    RowInfluence,
    band_inside,
    curve,
    influence,
    paired_errors,
    row_influence,
)
from karat.ranking.placements import labelled_scores, place
from karat.ranking.result import (
    RankingComparison,
    RankingDifference,
    WeightedAUC,
    area_guarantee,
)
from karat.ranking.weights import AnyWeight, TprBand, TwoWayBand, Weight, scale_of
from karat.statistics import JointRocCounts, RocCounts


def compared_areas(
    positive: BoolArray,
    scores: Mapping[Any, FloatArray],
    weight: FloatArray | None,
    classes: AnyArray,
    options: AreaOptions,
    *,
    approximate: bool,
) -> RankingComparison:
    """Return the areas of several models on the same rows, and the differences of all pairs."""
    shared = options.sharing(len(scores))
    models = {
        name: area_result(
            labelled_scores(positive, score, weight, approximate=approximate), shared, classes
        )
        for name, score in scores.items()
    }
    rows = _Rows(positive, weight, approximate)
    found = _delong if options.limits == "delong" else _paired
    return RankingComparison(
        models=models,
        differences=tuple(found(rows, scores, models, options)),
        confidence=options.confidence,
    )


class _Rows(NamedTuple):
    """Labels and weights of the rows that all models share."""

    positive: BoolArray
    weight: FloatArray | None
    kish: bool  # weights are importances


def _pairs(models: Mapping[Any, WeightedAUC]) -> Iterator[tuple[Any, Any]]:
    """Yield every two models, the one of the greater area first."""
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -models[name].value)
        yield first, second


def _paired(
    rows: _Rows,
    scores: Mapping[Any, FloatArray],
    models: Mapping[Any, WeightedAUC],
    options: AreaOptions,
) -> Iterator[RankingDifference]:
    """Yield differences with paired limits, and those of the areas beside them."""
    positive, kept = rows.positive, slice(None)
    if rows.weight is not None:
        kept = rows.weight > 0  # type: ignore[assignment]
    positive, mass = positive[kept], None if rows.weight is None else rows.weight[kept]
    influences = {
        name: _influence(positive, score[kept], mass, options.weight)
        for name, score in scores.items()
    }
    if isinstance(options.weight, TprBand):
        positive = ~positive
    delta = (1 - options.confidence) / math.comb(len(models), 2)
    for a, b in _pairs(models):
        value = models[a].value - models[b].value
        ends = models[a].lower - models[b].upper, models[a].upper - models[b].lower
        scale = scale_of(options.weight, options.normalize)[0]
        most = scale * options.weight.area  # no two areas are further apart
        one, two, p_value, method = influences[a], influences[b], None, "distribution-free"
        lower, upper = ends
        if one is not None and two is not None:
            sup = options.weight.sup if isinstance(options.weight, Weight) else 1.0
            limits = paired_limits(positive, one, two, mass, kish=rows.kish, sup=sup, delta=delta)
            p_value = limits.p_value
            if options.limits == "auto":
                lower, upper = max(scale * limits.lower, -most), min(scale * limits.upper, most)
                method = "paired"
        free = area_guarantee("auto", approximate=rows.kish)
        level = options.confidence
        yield RankingDifference(
            first=a,
            second=b,
            estimate=Estimate.of(
                value,
                min(lower, value),
                max(upper, value),
                level,
                free if method == "distribution-free" else "approximate",
            ),
            p_value=p_value,
            method=method,
            guaranteed=Estimate.of(value, *ends, level, free),
            approximate=rows.kish,
        )


def _influence(
    positive: BoolArray, score: FloatArray, mass: FloatArray | None, region: AnyWeight
) -> RowInfluence | None:
    """Return what each row adds to an area under either label; None where that is not known."""
    if isinstance(region, TprBand):
        positive, score, region = ~positive, -score, region.mirrored()
    if isinstance(region, TwoWayBand):
        rows = labelled_scores(positive, score, mass, approximate=False)
        inside = band_inside(*curve(rows.placed()), region)
        if inside is None:  # an area that is 0, or all of the box, shows no error
            return None
        region = inside
    assert isinstance(region, Weight)
    return row_influence(positive, score, mass, region)


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


def _delong(
    rows: _Rows,
    scores: Mapping[Any, FloatArray],
    models: Mapping[Any, WeightedAUC],
    options: AreaOptions,
) -> Iterator[RankingDifference]:
    """Yield differences with normal limits (DeLong, DeLong and Clarke-Pearson 1988)."""
    from scipy.special import ndtr

    effects = {
        name: _effects(rows.positive, score, rows.weight, options.weight, kish=rows.kish)
        for name, score in scores.items()
    }
    z = normal_quantile((1 - options.confidence) / (2 * math.comb(len(models), 2)))
    for a, b in _pairs(models):
        value = models[a].value - models[b].value
        lower, upper = models[a].lower - models[b].upper, models[a].upper - models[b].lower
        p_value, ones, twos = None, effects[a], effects[b]
        if ones is not None and twos is not None:
            scale = scale_of(options.weight, options.normalize)[0]
            known = np.isfinite(ones).all()
            error = scale * _distance(ones, twos) if known else math.inf
            p_value = float(2 * ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
            most = scale * options.weight.area  # no two areas are further apart
            lower, upper = max(value - z * error, -most), min(value + z * error, most)
        yield RankingDifference(
            first=a,
            second=b,
            estimate=Estimate.of(value, lower, upper, options.confidence, "approximate"),
            p_value=p_value,
            method="delong",
            approximate=rows.kish,
        )


# --- Several models from counts of positives and negatives.

_ROUGH = 1.1  # errors that cells leave so far apart are worth a word


def compared_counts(
    counts: Mapping[Any, RocCounts], options: AreaOptions, joint: Sequence[JointRocCounts]
) -> RankingComparison:
    """Return the areas of several models from the counts of each, and their differences."""
    if not isinstance(counts, Mapping) or len(counts) < 2:
        raise DataError(
            Argument("y_true"),
            " holds no two models; expected ",
            Expected("a mapping of name to RocCounts"),
        )
    _check_same_rows(counts)
    pairs_known = _check_joint(joint, counts)
    shared = options.sharing(len(counts))
    models = {name: area_of_counts(one, shared) for name, one in counts.items()}
    differences = []
    pairs = math.comb(len(models), 2)
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -models[name].value)
        a, b = models[first], models[second]
        error = _paired_error(first, second, counts, pairs_known, options.weight)
        differences.append(_difference((first, a), (second, b), error, options, pairs))
    return RankingComparison(
        models=models, differences=tuple(differences), confidence=options.confidence
    )


def _check_same_rows(counts: Mapping[Any, RocCounts]) -> None:
    """Refuse models whose counts cannot be of the same rows and classes."""
    for name, one in counts.items():
        if not isinstance(one, RocCounts):
            raise DataError(
                f"the counts of {name!r} are a {type(one).__name__}; expected "
                "karat.statistics.roc_counts"
            )
    base, first = next(iter(counts.items()))
    for name, one in counts.items():
        # Weights are added in the order of the scores, so their sums differ in the last digits.
        sums = [(one.totals, first.totals)]
        if one.squares is not None and first.squares is not None:
            sums.append((one.squares, first.squares))
        kind = (one.squares is None) == (first.squares is None)
        if not kind or not all(np.allclose(a, b, rtol=1e-9, atol=0.0) for a, b in sums):
            raise DataError(
                f"the models {named([base, name])} were counted on different rows: "
                f"{first.summary()}; {one.summary()}. Count all of them on the same rows"
            )
        if not np.array_equal(one.classes, first.classes):
            raise DataError(
                f"{base} was counted with the classes {first.classes.tolist()} and "
                f"{name} with {one.classes.tolist()}; count both with the same ",
                Argument("pos_label"),
            )


def _check_joint(
    joint: Sequence[JointRocCounts], counts: Mapping[Any, RocCounts]
) -> Sequence[JointRocCounts]:
    """Refuse joint counts that are none, or not of these models and rows."""
    if isinstance(joint, str | JointRocCounts) or not isinstance(joint, Sequence):
        refuse_option(joint, "joint", "a list of a source's joint_roc_counts")
    for one in joint:
        if not isinstance(one, JointRocCounts):
            refuse_option(one, "joint", "a list of a source's joint_roc_counts")
        if not {*one.names} <= {*counts}:
            raise DataError(
                f"joint counts are of {named(list(one.names))}, and there are counts of "
                f"{named(list(counts))}; expected pairs of these"
            )
        one.check_margins(counts)
    return joint


def _paired_error(
    first: Any,
    second: Any,
    counts: Mapping[Any, RocCounts],
    joint: Sequence[JointRocCounts],
    weight: AnyWeight,
) -> float | None:
    """Return the greatest error of a difference that joint counts allow; None without such."""
    ours = [one for one in joint if {*one.names} == {first, second}]
    if not ours:
        return None
    if not isinstance(weight, Weight):
        refuse_option(weight, "weight", "a Weight over false-positive rates with joint counts")
    (one,) = ours[:1]
    least, most = paired_errors(counts[one.names[0]], counts[one.names[1]], one, weight)
    if most > _ROUGH * least:
        warnings.warn(
            f"the cells leave the standard error of {first} less {second} between {least:.3g} and "
            f"{most:.3g}, of which the greater is taken; count more cells",
            KaratWarning,
            stacklevel=caller_level(),
        )
    return most


def _difference(
    one: tuple[Any, WeightedAUC],
    two: tuple[Any, WeightedAUC],
    error: float | None,
    options: AreaOptions,
    pairs: int,
) -> RankingDifference:
    from scipy.special import ndtr

    (first, a), (second, b) = one, two
    value, lower, upper = a.value - b.value, a.lower - b.upper, a.upper - b.lower
    p_value = None
    if error is None and options.limits == "delong":
        refuse_option("delong", "limits", f"joint counts of {first} and {second} with it")
    if error is not None:
        scale = scale_of(options.weight, options.normalize)[0]
        error *= scale
        p_value = float(2 * ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
        if options.limits == "delong":
            margin = normal_quantile((1 - options.confidence) / (2 * pairs)) * error
            most = scale * options.weight.area
            lower, upper = max(value - margin, -most), min(value + margin, most)
    normal = options.limits == "delong"
    free = area_guarantee("delong" if normal else "auto", approximate=a.approximate)
    estimate = Estimate.of(value, lower, upper, options.confidence, free)
    return RankingDifference(
        first=first,
        second=second,
        estimate=estimate,
        p_value=p_value,
        method="delong" if normal else "distribution-free",
        approximate=a.approximate,
        guaranteed=None if normal else estimate,
    )
