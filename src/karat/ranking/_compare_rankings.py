"""Compare rankings of the same rows by any measure, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    check_same_length,
    check_weighting,
    check_weights,
    refuse_option,
)
from karat.exceptions import OptionError
from karat.ranking._compare_auc import compared_areas, compared_counts
from karat.ranking._cut_measures import AveragePrecision, ExpectedCost, Measure, NetBenefit, Row
from karat.ranking._measures import (
    check_cut,
    check_rows,
    measured_rows,
    read_models,
    rows_of,
)
from karat.ranking._weighted_auc import AreaOptions, check_area_options, counts_of, only_rows
from karat.ranking.placements import read_labels
from karat.ranking.result import RankingComparison, RankingDifference, RankingMeasure
from karat.ranking.weights import AnyWeight, Uniform
from karat.statistics import JointRocCounts, RocCounts

_MEASURES = (
    "auc",
    "average_precision",
    "precision_at",
    "recall_at",
    "lift",
    "net_benefit",
    "cost_curve",
)
_LIMITS = ("auto", "hinge", "kl", "nested", "dkw", "beta", "delong")


@keeps_kind
def compare_rankings(
    y_true: Column | Mapping[Any, RocCounts],
    y_scores: Mapping[Any, Column] | Frame | None = None,
    *,
    measure: str = "auc",
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    normalize: str = "raw",
    limits: str = "auto",
    k: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    at: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    joint: Sequence[JointRocCounts] = (),
) -> RankingComparison:
    """Compare several models on the same rows, by an area under the ROC curve or another measure.

    The limits hold for all models, and for all differences, together: each of M models gets
    ``(1 − confidence)/M``. Those of a difference come from what each row adds to the measure of one
    model less what it adds to that of the other, so what both share cancels. These are likely
    limits, which assume independent rows and are supported by simulations. For areas the
    distribution-free ones, made of the limits of both areas, stand beside them; they are far wider.

    Parameters
    ----------
    y_true : column (n,), or mapping of name to RocCounts
        Labels of two classes. Or, without ``y_scores``, the counts of each model on the same rows,
        for areas: these, and the distribution-free limits of differences, are those of the rows.
    y_scores : mapping of name to column, or frame (n, models)
        Scores of each model.
    measure : {"auc", "average_precision", "precision_at", "recall_at", "lift", "net_benefit", \
            "cost_curve"}
        What measures each model: ``auc`` is `weighted_auc`, the others are functions of that name.
    weight, normalize
        Of ``auc``, as in `weighted_auc`.
    limits : {"auto", "hinge", "kl", "nested", "dkw", "beta", "delong"}
        Limits of ``auc``, as in `weighted_auc`. By default those of a difference are paired and
        likely; a method that is named gives those of the differences too. ``delong`` is paired and
        asymptotic, too narrow where the models differ on few rows; the others are
        distribution-free. Scores that were counted in cells have ``auto`` and ``dkw``.
    k, share, threshold, at
        The cut of another measure, as its function takes it. Its limits are approximate: Student's
        t, with one more row that the models differ on.
    confidence : float, default 0.95
        Probability that the limits hold, for all models and for all pairs together.
    pos_label, sample_weight, weighting
        As in `weighted_auc`.
    joint : sequence of JointRocCounts, optional
        With counts: from `Source.joint_roc_counts` of a scan, one per pair of models. The paired
        comparison (``limits="delong"`` and the p-values) rests on the errors that models make
        together. These are counted in cells, which leave the standard error between two numbers, of
        which the greater is taken; for weights that are no `TprBand` and no two-way band.

    Returns
    -------
    RankingComparison
        The measure of each model in ``models``, every pair in ``differences``, each with ``value``,
        ``lower``, ``upper`` and ``p_value``, and the name of the ``best`` model.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.3
    >>> models = {"good": rng.normal(size=5000) + 2 * y, "poor": rng.normal(size=5000) + y}
    >>> r = compare_rankings(y, models)
    >>> r.best, r.differences[0].lower > 0
    ('good', True)
    >>> compare_rankings(y, models, measure="precision_at", k=300).best
    'good'

    From counts of the rows:

    >>> from karat.statistics import roc_counts
    >>> r = compare_rankings({name: roc_counts(y, score) for name, score in models.items()})
    >>> r.best, r.differences[0].lower > 0
    ('good', True)
    """
    cuts = {"k": k, "share": share, "threshold": threshold, "at": at}
    if check_choice(measure, "measure", _MEASURES) == "auc":
        _no_cut(measure, (), cuts)
        check_choice(limits, "limits", _LIMITS)
        chosen: Measure | AreaOptions = check_area_options(
            weight, "interpolate", limits, confidence, normalize, None
        )
    else:
        areas = {"weight": (weight, Uniform()), "normalize": (normalize, "raw")}
        for name, (value, default) in (areas | {"limits": (limits, "auto")}).items():
            if value != default:
                refuse_option(value, name, f"{default!r} with measure={measure!r}")
        chosen = _measure_of(measure, cuts)
    level = check_confidence(confidence)
    counts = counts_of(y_true, y_scores)
    if counts is not None:
        options = {"pos_label": pos_label, "sample_weight": sample_weight, "weighting": weighting}
        only_rows(**{name: (value, None) for name, value in options.items()})
        if not isinstance(chosen, AreaOptions):
            refuse_option(measure, "measure", "'auc' with counts; the others are of rows")
        return compared_counts(counts, chosen, joint)  # type: ignore[arg-type]
    if len(joint):
        refuse_option(joint, "joint", "counts of each model with it")
    what = {} if measure == "auc" else {"what": "a ranking"}
    positive, classes = read_labels(y_true, pos_label, **what)
    scores = read_models(y_scores)
    row_weight = check_weights(sample_weight)
    for name, score in scores.items():
        check_same_length(**{"y_true": positive, f"y_scores[{name!r}]": score})
    check_same_length(y_true=positive, sample_weight=row_weight)
    approximate = check_weighting(weighting, row_weight)
    shared = positive, scores, row_weight, classes
    if isinstance(chosen, AreaOptions):
        return compared_areas(*shared, chosen, approximate=approximate)
    for score in scores.values():
        check_rows(chosen, score, approximate=approximate)
    return compared_rankings(chosen, *shared, level, approximate=approximate)


def _no_cut(measure: str, takes: Sequence[str], cuts: Mapping[str, Any]) -> None:
    """Refuse a cut that the measure does not take."""
    for cut, value in cuts.items():
        if value is not None and cut not in takes:
            refuse_option(value, cut, f"None with measure={measure!r}")


def _measure_of(name: str, cuts: Mapping[str, Any]) -> Measure:
    """Return a measure with the cut that it takes, and no other."""
    takes = {
        "average_precision": (),
        "precision_at": ("k", "share", "threshold"),
        "recall_at": ("k", "share", "threshold"),
        "lift": ("k", "share"),
        "net_benefit": ("threshold",),
        "cost_curve": ("at",),
    }[name]
    _no_cut(name, takes, cuts)
    if name == "average_precision":
        return AveragePrecision()
    if name in ("net_benefit", "cost_curve"):
        option = takes[0]
        value = 0.5 if name == "cost_curve" and cuts["at"] is None else cuts[option]
        if value is None:
            raise OptionError(
                "net_benefit takes ",
                Option("threshold"),
                "; got none",
                Remedy("Pass the one that is meant", after=". "),
            )
        number = check_number(value, option, above=0.0, at_most=1.0)
        if number >= 1:
            refuse_option(value, option, "a number above 0 and below 1")
        return NetBenefit(number) if name == "net_benefit" else ExpectedCost(number)
    return check_cut(name.removesuffix("_at"), **{cut: cuts[cut] for cut in takes})


# --- Several models on the same rows: their measures, and the differences row by row.


def compared_rankings(
    measure: Measure,
    positive: BoolArray,
    scores: Mapping[Any, FloatArray],
    weight: FloatArray | None,
    classes: AnyArray,
    level: float,
    *,
    approximate: bool,
) -> RankingComparison:
    """Return the measure of each model and the differences of all pairs."""
    each = 1 - (1 - level) / len(scores)
    models: dict[Any, RankingMeasure] = {}
    effects: dict[Any, FloatArray] = {}
    units: dict[Any, tuple[float, float]] = {}
    span = 1.0
    mass = np.ones(len(positive)) if weight is None else weight
    for name, score in scores.items():
        ordered = rows_of(positive, score, weight, approximate=approximate)
        models[name] = measured_rows(measure, ordered, classes, each, approximate=approximate)
        counted = mass * (ordered.n / mass.sum())
        rows = Row(positive, score, counted, ordered)
        effects[name] = measure.effects(rows) * np.sqrt(counted)
        units[name] = measure.unit(ordered)
        span = measure.span(ordered)
    sign = -1 if isinstance(measure, ExpectedCost) else 1
    pairs = []
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -sign * models[name].value)
        value = models[first].value - models[second].value
        unit, size = max(units[first][0], units[second][0]), min(units[first][1], units[second][1])
        spread = float(np.sum((effects[first] - effects[second]) ** 2))
        pairs.append(_Pair(first, second, value, spread, unit, size))
    return RankingComparison(
        models=models,
        differences=tuple(
            _difference(pair, level, len(pairs), span, weighted=approximate) for pair in pairs
        ),
        confidence=level,
    )


class _Pair(NamedTuple):
    """Two models, and what the rows that both rank say of their difference."""

    first: Any
    second: Any
    value: float
    spread: float  # sum of the squared differences of what each row adds
    unit: float  # what one more row may add
    size: float


def _difference(
    pair: _Pair, level: float, pairs: int, span: float, *, weighted: bool
) -> RankingDifference:
    """Return a difference with limits by Student's t.

    One more row that the models differ on is added to what the rows show: models that happen to
    agree on few rows are not known to agree.
    """
    from scipy.special import stdtr, stdtrit

    value, size, delta = pair.value, pair.size, (1 - level) / pairs
    freedom = max(size - 1.0, 1.0)
    error = math.sqrt(pair.spread * size / max(size - 1.0, 0.5) + pair.unit**2)
    reach = -float(stdtrit(freedom, delta / 2)) * error
    p_value = float(2 * stdtr(freedom, -abs(value) / error))
    return RankingDifference(
        first=pair.first,
        second=pair.second,
        estimate=Estimate.of(
            value, max(value - reach, -span), min(value + reach, span), level, "approximate"
        ),
        p_value=p_value,
        method="approximate",
        approximate=weighted,
    )
