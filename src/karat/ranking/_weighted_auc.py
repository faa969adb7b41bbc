"""Any weighted area under the ROC curve with its limits, from rows or from counts of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    check_ranked,
    check_rng,
    check_same_length,
    check_score_columns,
    check_weighting,
    check_weights,
    encode_groups,
    encode_labels,
    is_matrix,
    order_classes,
    refuse_option,
)
from karat.exceptions import DataError, LabelError, SmallSampleWarning
from karat.ranking.areas import (
    all_of_the_curve,
    band_limits,
    curve,
    enclosure,
    influence,
    value_of,
)
from karat.ranking.bands import dkw_margin
from karat.ranking.methods import (
    FEW,
    FEW_IN_THE_BAND,
    METHODS,
    cell_limits,
    chosen_method,
    closed_form,
    limits_of,
    rows_in_the_band,
)
from karat.ranking.placements import (
    LabelledScores,
    Labels,
    Placements,
    classes_apart,
    clustered_limits,
    labelled_scores,
    place,
    place_counts,
    read_labels,
    read_labels_apart,
)
from karat.ranking.result import WeightedAUC, area_guarantee
from karat.ranking.weights import (
    AnyWeight,
    FprBand,
    TprBand,
    TwoWayBand,
    Uniform,
    Weight,
    check_weight,
    scale_of,
)
from karat.statistics import RocCounts
from karat.statistics.result import AnyRocCounts, counts_in_place_of


@keeps_kind
def weighted_auc(
    y_true: Column | Frame | AnyRocCounts,
    y_score: Column | Frame | None = None,
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    ties: str = "interpolate",
    limits: str = "auto",
    confidence: float = 0.95,
    normalize: str = "raw",
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
    average: str = "macro",
    rng: int | np.random.Generator | None = None,
) -> WeightedAUC:
    r"""Measure a weighted area under the ROC curve, with limits that hold.

    .. math:: A_W = \int_0^1 \mathrm{roc}(u)\, W(1-u)\, du

    (Maurer & Pontil 2020, eq. 1). By default it is the area under the curve that joins its corners
    by straight lines, ``∫ (1 − F₁) dK(F₀)`` with ``K(v) = ∫₀ᵛ W``: a tie earns one half, and a jump
    of the weight inside a group of ties is shared in proportion.

    Parameters
    ----------
    y_true : column (n,) or frame (n, labels), RocCounts, or mapping of them by group
        Labels; two classes, or more with one column of scores each; or one column of 0 and 1 for
        each of several labels that a row may have together. Or, without ``y_score``, counts of
        positives and negatives at each score, from `karat.statistics.roc_counts` or a
        `karat.scan`: counts of parts can be added, so the rows need never be in one place. Counts
        by group give the area of all groups together, and each group's own in ``.groups``. For
        scores in cells, whose order inside a cell is not known, limits hold for every order; of
        scores that were rounded, ``dataclasses.replace(counts, cells=True)`` says so.
    y_score : column (n,) or frame (n, classes or labels)
        Scores; a higher one speaks for the positive class. With one column per class, each class
        is ranked against the rest and the areas are averaged; of two columns the one of the
        positive class is taken.
    weight : Weight, TprBand or TwoWayBand
        `Uniform` (the AUC), `FprBand`, `TprBand`, ``FprBand(...) & TprBand(...)``, `Power`,
        `PiecewiseLinear` or `FunctionWeight`.
    ties : {"interpolate", "strict"}
        ``strict`` is eq. 1 as it is printed: a tie earns nothing.
    limits : {"auto", "hinge", "kl", "nested", "dkw", "beta", "maurer-pontil", "approximate", \
            "smoothed", "delong", "bootstrap"}
        ``auto`` holds for any law, any ties and any number of rows. It takes the narrowest of what
        follows, by the weight and the numbers of rows alone, and the result says which and why.
        ``hinge`` (narrower) and ``kl`` limit the AUC through the pairs of rows it is made of,
        ``nested`` the area of ``FprBand(0, b)`` through its top negatives. ``dkw`` is the worst
        case inside even bands around both distribution functions, for every bounded weight, and
        ``beta`` inside bands that are narrow where rates are small. ``maurer-pontil`` is Theorem 2
        of that paper. ``approximate`` is ``smoothed``, whose variance allows for rows that were not
        seen; where fewer than 5 rows are expected in the band, or for ``strict`` ties with a
        weight, it is a distribution-free one. ``smoothed``, ``delong`` and ``bootstrap`` are
        narrower, and hold approximately; the latter two are too narrow wherever a few rows decide,
        however many rows there are.
    confidence : float, default 0.95
        Probability that the limits hold.
    normalize : {"raw", "mcclish", "mean"}
        The area itself; ½ for chance and 1 for perfect (as scikit-learn's ``max_fpr``); or the mean
        over the band.
    pos_label : label, optional
        The positive class. By default the labels tell it: 1 of 0 and 1, True, or a word such as
        "yes", "spam" or "fraud". Where they do not, `PositiveClassError` says what to pass.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means. By default weights are importances: only their ratios count,
        limits rest on Kish's effective number of rows, (Σw)² / Σw², and the result says that they
        are approximate. ``"frequency"`` says that a row with the weight 3 stands for three rows.
    groups : column (n,), optional
        Areas within each group are in ``.groups``, with limits that hold together, and their
        largest difference in ``.gap``. Groups of one class have no area: ``.skipped`` names them.
    classes : column, optional
        The order of the columns of ``y_score``; with one column, the negative and the positive
        class.
    average : {"macro", "micro"}
        With several classes or labels: the mean of their areas, or the area of all entries pooled.
        Entries of one row are not independent, so limits of the latter are approximate, and their
        ``.method`` is ``clustered``, whatever ``limits`` says.
    rng : int or generator, optional
        Randomness of the bootstrap.

    Returns
    -------
    WeightedAUC
        The area as ``value`` with ``lower`` and ``upper``, the ``method`` of the limits and why it
        was taken, and points of the curve; areas of groups, classes or labels in ``groups`` and
        ``per_class``. From scores in cells, ``value_range`` holds the least and the greatest value
        that the rows may have.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.ranking import FprBand
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(20_000) < 0.2
    >>> r = weighted_auc(y, rng.normal(size=20_000) + 1.5 * y, weight=FprBand(0, 0.1))
    >>> round(r.value, 4), round(r.lower, 4), round(r.upper, 4)
    (0.0409, 0.0368, 0.0449)

    The same from counts of the rows, of which there may be many parts:

    >>> from karat.statistics import roc_counts
    >>> parts = [roc_counts([0, 1, 1], [0.1, 0.4, 0.8]), roc_counts([0, 1, 0], [0.4, 0.9, 0.2])]
    >>> weighted_auc(sum(parts), confidence=0.5).value
    0.9444444444444444
    """
    options = check_area_options(weight, ties, limits, confidence, normalize, rng)
    check_choice(average, "average", ("macro", "micro"))
    if (counts := counts_of(y_true, y_score)) is not None:
        only_rows(
            ties=(ties, "interpolate"),
            pos_label=(pos_label, None),
            sample_weight=(sample_weight, None),
            weighting=(weighting, None),
            groups=(groups, None),
            classes=(classes, None),
            average=(average, "macro"),
        )
        return area_of_counts(counts, options)
    assert y_score is not None
    labels = read_labels_apart(y_true, y_score, sample_weight, weighting)
    if labels is not None:
        labels.only_these(groups=groups, pos_label=pos_label)
        return areas_of_labels(labels, options, average)
    if is_matrix(y_score):
        y_score = positive_column(y_true, y_score, classes, pos_label)
    if is_matrix(y_score):
        labels = classes_apart(
            y_true, y_score, sample_weight, weighting, classes, groups=groups, pos_label=pos_label
        )
        return areas_of_labels(labels, options, average)
    positive, order = read_labels(y_true, pos_label, classes)
    score = check_ranked(y_score)
    row_weight = check_weights(sample_weight)
    codes, names = (None, None) if groups is None else encode_groups(groups)
    check_same_length(y_true=positive, y_score=score, sample_weight=row_weight, groups=codes)
    approximate = check_weighting(weighting, row_weight)

    def rows_of(where: Any) -> LabelledScores:
        return labelled_scores(
            positive[where],
            score[where],
            None if row_weight is None else row_weight[where],
            approximate=approximate,
        )

    if codes is None:
        return area_result(rows_of(slice(None)), options, order)
    parts, skipped = _grouped(codes, names, positive, rows_of, options, order)
    whole = area_result(rows_of(slice(None)), options, order)
    return replace(whole, groups=parts, skipped=skipped)


@keeps_kind
def roc_auc(
    y_true: Column | Frame | AnyRocCounts,
    y_score: Column | Frame | None = None,
    *,
    max_fpr: float | None = None,
    limits: str = "auto",
    sample_weight: Column | None = None,
    pos_label: Any = None,
    average: str | None = None,
    confidence: float = 0.95,
) -> WeightedAUC:
    """Measure the area under the ROC curve, or its part at small false-positive rates, with limits.

    It is `weighted_auc` with the weight `Uniform`, or with ``FprBand(0, max_fpr)`` as a mean.

    Parameters
    ----------
    y_true, y_score
        Labels and scores, or counts of both, as in `weighted_auc`.
    max_fpr : float, optional
        Only false-positive rates up to this one count: the result is the mean true-positive rate
        over ``[0, max_fpr]``, which is 1 for a perfect ranking and ``max_fpr/2`` by chance. It is
        not rescaled to ½ by chance, as scikit-learn's ``roc_auc_score`` does with its ``max_fpr``
        (McClish): for that there is ``weighted_auc(normalize="mcclish")``.
    limits, sample_weight, pos_label, confidence
        As in `weighted_auc`.
    average : {"macro", "micro"}, optional
        With several classes or labels: the mean of their areas (as by default), or the area of all
        entries pooled.

    Returns
    -------
    WeightedAUC
        The area as ``value`` with ``lower`` and ``upper``, and the ``method`` of the limits.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(20_000) < 0.2
    >>> score = rng.normal(size=20_000) + 1.5 * y
    >>> r = roc_auc(y, score)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.856, 0.842, 0.868)
    >>> round(roc_auc(y, score, max_fpr=0.1).value, 3)   # mean recall up to a rate of 0.1
    0.409
    """
    whole = max_fpr is None
    top = 1.0 if max_fpr is None else check_number(max_fpr, "max_fpr", above=0.0, at_most=1.0)
    return weighted_auc(
        y_true,
        y_score,
        weight=Uniform() if whole else FprBand(0, top),
        normalize="raw" if whole else "mean",
        limits=limits,
        sample_weight=sample_weight,
        pos_label=pos_label,
        average="macro" if average is None else average,
        confidence=confidence,
    )


def _grouped(
    codes: Any,
    names: Any,
    positive: Any,
    rows_of: Callable[[Any], LabelledScores],
    options: AreaOptions,
    order: AnyArray,
) -> tuple[Mapping[Any, WeightedAUC], Mapping[Any, str]]:
    """Return the areas of the groups, and the groups that have none with the reason."""
    found, skipped = {}, {}
    for code, name in enumerate(names.tolist()):
        here = codes == code
        if len(np.unique(positive[here])) == 2:
            found[name] = rows_of(here)
            continue
        only = order[int(positive[here][0])].item()
        skipped[name] = f"its {int(here.sum())} rows are all of class {only!r}"
    if skipped:
        name, reason = next(iter(skipped.items()))
        warnings.warn(
            f"{len(skipped)} of {len(names)} groups have no area under the ROC curve: {name!r}, "
            f"{reason}. Pool small groups if they are to count",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
    shared = options.sharing(max(1, len(found)))
    return {name: area_result(rows, shared, order) for name, rows in found.items()}, skipped


# --- Weighted areas from counts of positives and negatives.


def counts_of(y_true: Any, y_score: Any) -> AnyRocCounts | None:
    """Return the counts that stand in the place of labels; None where rows were passed."""
    found = counts_in_place_of(y_true)
    if found is not None and y_score is not None:
        raise DataError(
            Argument("y_true"),
            " holds counts, which have the scores",
            Remedy("leave out ", Argument("y_score")),
        )
    if found is None and y_score is None:
        raise DataError(
            Argument("y_score"),
            " is missing and ",
            Argument("y_true"),
            f" is a {type(y_true).__name__}",
            Remedy(
                "pass scores with the labels, or counts of both from karat.statistics.roc_counts"
            ),
        )
    return found


def only_rows(**options: tuple[Any, Any]) -> None:
    """Refuse options of rows beside counts; each has its value and its default."""
    for name, (value, default) in options.items():
        if value is not default and value != default:
            refuse_option(value, name, f"{default!r} with counts, which know of it what they can")


def area_of_counts(counts: AnyRocCounts, options: AreaOptions) -> WeightedAUC:
    """Return the area of counts; of several, that of all and of each."""
    if isinstance(counts, Mapping):
        return _by_group(counts, options)
    check_two_classes(counts)
    return _area(counts, options)


def check_two_classes(counts: RocCounts, what: str = "an area under the ROC curve") -> None:
    """Refuse what are no counts, and counts of one class."""
    if not isinstance(counts, RocCounts):
        raise DataError(
            Argument("counts"),
            f" is a {type(counts).__name__}; expected ",
            Expected("karat.statistics.roc_counts"),
        )
    if not counts.positives.sum() or not counts.negatives.sum():
        raise LabelError(
            Argument("counts"),
            f" hold one class only; {what} compares two",
        )
    fractions = any((np.asarray(c) % 1).any() for c in (counts.positives, counts.negatives))
    if fractions and counts.squares is None:
        raise DataError(
            "counts are sums of weights without the sums of their squares, which limits need; "
            "count with roc_counts(sample_weight=), which keeps them"
        )


def check_exact(counts: RocCounts, what: str = "an area under the ROC curve") -> None:
    """Refuse counts of one class, and those in cells, which an area alone can be made of."""
    check_two_classes(counts, what)
    if counts.cells:
        raise DataError(
            Argument("y_true"),
            " holds counts in cells of scores, whose order inside a cell is not known; expected ",
            Expected("exact counts"),
            Remedy("weighted_auc has limits for every order", after=". "),
        )


def _area(counts: RocCounts, options: AreaOptions) -> WeightedAUC:
    """Return the area of one table of counts, after its checks."""
    if counts.cells:
        if options.limits not in ("auto", "dkw"):
            refuse_option(options.limits, "limits", "'auto' or 'dkw' for scores in cells")
        if isinstance(options.weight, TwoWayBand):
            refuse_option(options.weight, "weight", "a Weight or a TprBand for scores in cells")
    return area_result_of_counts(counts, options)


def parts_by_group(
    counts: Mapping[Any, RocCounts],
) -> tuple[dict[Any, RocCounts], dict[Any, str]]:
    """Return the groups that have both classes, and why the others are left out."""
    parts = {
        name: part
        for name, part in counts.items()
        if not isinstance(part, RocCounts) or (part.positives.sum() and part.negatives.sum())
    }
    skipped = {}
    for name in [name for name in counts if name not in parts]:
        own = counts[name]
        only = own.classes[int(own.positives.sum() > 0)].item()
        rows = int(own.positives.sum() + own.negatives.sum())
        skipped[name] = f"its {rows} rows are all of class {only!r}"
    return parts, skipped


def _by_group(counts: Mapping[Any, RocCounts], options: AreaOptions) -> WeightedAUC:
    """Return the area of all groups together with those of the groups."""
    parts, skipped = parts_by_group(counts)
    shared = options.sharing(max(1, len(parts)))
    groups = {name: area_of_counts(part, shared) for name, part in parts.items()}
    whole = area_of_counts(sum(counts.values()), options)  # type: ignore[arg-type]
    return replace(whole, groups=groups, skipped=skipped)


# --- Several classes or labels: each is ranked against the rest.


def positive_column(
    y_true: Column | Frame, y_score: Frame, classes: Column | None, pos_label: Any
) -> Column | Frame:
    """Return the scores of the positive class where there are two classes and two columns.

    Both columns of such a ``predict_proba`` rank the rows alike; other tables come back unchanged.
    """
    _, order = encode_labels({"y_true": y_true}, classes)
    if len(order) != 2:
        return y_score
    columns = check_score_columns(
        y_score, "y_score", each="column per class", classes=order, ranked=True
    )
    positive = order_classes(order, pos_label, stated=classes is not None).classes[-1]
    return list(columns.values())[int(order[-1] == positive)]


def areas_of_labels(labels: Labels, options: AreaOptions, average: str) -> WeightedAUC:
    """Return the area of each label or class, and their mean or that of all entries pooled."""
    shared = options.sharing(len(labels.positive))
    parts = {}
    for name, positive in labels.positive.items():
        rows = labelled_scores(
            positive, labels.score[name], labels.weight, approximate=labels.approximate
        )
        parts[name] = area_result(rows, shared, np.array(["the rest", name], dtype=object))
    found = _averaged(parts, options) if average == "macro" else _pooled(labels, options)
    return replace(
        found,
        per_class=parts,
        average=average,
        classes=np.array(list(parts)),
        skipped=labels.skipped or None,
    )


def _averaged(parts: Mapping[Any, WeightedAUC], options: AreaOptions) -> WeightedAUC:
    """Return the mean of areas, and of limits that hold together.

    There is no curve of a mean of areas: each class has its own.
    """
    each = list(parts.values())

    def mean(name: str) -> float:
        return math.fsum(getattr(p, name) for p in each) / len(each)

    half = None if each[0].half_width is None else mean("half_width")
    taken = {p.method for p in each}
    method = each[0].method if len(taken) == 1 else options.limits
    return replace(
        each[0],
        estimate=Estimate.of(
            mean("value"),
            mean("lower"),
            mean("upper"),
            options.confidence,
            area_guarantee(method, approximate=each[0].approximate),
        ),
        half_width=half,
        standard_error=None,
        n_positive=sum(p.n_positive for p in each) / len(each),
        n_negative=sum(p.n_negative for p in each) / len(each),
        method=method,
        why=each[0].why if len(taken) == 1 else "of each class by its numbers of rows",
        fpr=np.empty(0),
        tpr=np.empty(0),
        margins=(math.nan, math.nan),
    )


def _pooled(labels: Labels, options: AreaOptions) -> WeightedAUC:
    """Return the area of all entries, with limits that take those of one row together."""
    region = options.weight
    if isinstance(region, TwoWayBand) or options.ties == "strict":
        refuse_option("micro", "average", "'macro' for two-way areas and with ties='strict'")
    positive, score, weight = labels.pooled()
    rows = labelled_scores(positive, score, weight, approximate=labels.approximate)
    found = area_result(rows, replace(options, limits="dkw"), np.array([False, True]))
    if isinstance(region, TprBand):
        effects, area = _entry_effects(~positive, -score, weight, region.mirrored())
    else:
        effects, area = _entry_effects(positive, score, weight, region)
    most, has = region.area, positive if weight is None else positive & (weight > 0)
    limits = clustered_limits(
        area / most,
        effects / most,
        has,
        len(next(iter(labels.score.values()))),
        1 - options.confidence,
    )
    scale, shift = scale_of(region, options.normalize)
    lower, upper = (shift + scale * most * x for x in limits)
    guarantee = area_guarantee("clustered", approximate=found.approximate)
    return replace(
        found,
        estimate=Estimate.of(found.value, lower, upper, options.confidence, guarantee),
        method="clustered",
        half_width=None,
        why="entries of one row are not independent",
    )


def _entry_effects(
    positive: BoolArray, score: FloatArray, weight: FloatArray | None, region: Weight
) -> tuple[FloatArray, float]:
    """Return what each entry adds to the error of an area, and the area."""
    ones, zeros = (np.flatnonzero(side) for side in (positive, ~positive))
    ones, zeros = ones[np.argsort(score[ones])], zeros[np.argsort(score[zeros])]
    weights = None if weight is None else (weight[ones], weight[zeros])
    placed = place(score[ones], score[zeros], weights=weights)
    effect = np.empty(len(score))
    found = influence(placed, region)
    for rows, values in zip((ones, zeros), found, strict=True):
        mass = np.ones(len(rows)) if weight is None else weight[rows]
        share = mass / mass.sum()
        effect[rows] = (values - values @ share) * share
    return effect, float(np.average(found[0], weights=placed.mass))


# --- From placements to a result: value, limits, curve, and a warning where limits are useless.

_NAMES = ("positives", "negatives")
_POINTS = 600  # of the curve that is kept for drawing
_ROUNDING = 1e-9  # of an area, which is a sum over rows


def area_result(rows: LabelledScores, options: AreaOptions, classes: AnyArray) -> WeightedAUC:
    """Return the area of rows that were checked."""
    if isinstance(options.weight, TprBand):
        return _mirrored(rows.mirrored().placed(), options, classes, approximate=rows.approximate)
    return _measured(rows.placed(), options, classes, approximate=rows.approximate)


def placed_counts(counts: RocCounts, *, mirrored: bool = False) -> Placements:
    """Place counts; mirrored, with labels swapped and scores negated."""
    ones, zeros = (np.asarray(c, dtype=float) for c in (counts.positives, counts.negatives))
    n0, n1 = counts.sizes.tolist()
    if mirrored:
        return place_counts(zeros[::-1], ones[::-1], sizes=(n0, n1))
    return place_counts(ones, zeros, sizes=(n1, n0))


def area_result_of_counts(counts: RocCounts, options: AreaOptions) -> WeightedAUC:
    """Return the area of counts; in cells of scores, limits for every order inside them."""
    approximate, cells = counts.squares is not None, counts.cells  # importances
    mirror = isinstance(options.weight, TprBand)
    placed = placed_counts(counts, mirrored=mirror)
    if mirror:
        return _mirrored(placed, options, counts.classes, approximate=approximate, cells=cells)
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
        found,
        weight=band,
        n_positive=found.n_negative,
        n_negative=found.n_positive,
        margins=found.margins[::-1],
        fpr=1.0 - found.tpr[::-1],
        tpr=1.0 - found.fpr[::-1],
    )


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
    choice = chosen_method(options.limits, placed, weight, options.ties, cells=cells)
    options = replace(options, limits=choice.method)
    if cells and isinstance(weight, Weight):
        limits = cell_limits(choice.method, placed, weight, delta)
    else:
        limits = limits_of(
            choice.method, placed, weight, delta=delta, ties=options.ties, rng=options.rng
        )
    value = limits.value if limits.value is not None else value_of(placed, weight, options.ties)
    scale, shift = scale_of(weight, options.normalize)
    half = None
    if (
        isinstance(weight, Weight)
        and options.limits == "dkw"
        and not (options.ties == "strict" or cells)
    ):
        half = closed_form(placed, weight, delta) * scale
    error = limits.standard_error
    fpr, tpr = _corners_to_draw(placed)
    result = WeightedAUC(
        estimate=Estimate.of(
            shift + scale * value,
            shift + scale * limits.lower,
            shift + scale * limits.upper,
            options.confidence,
            area_guarantee(options.limits, approximate=approximate),
        ),
        method=options.limits,
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
    if options.limits in ("delong", "bootstrap") and min(n1, n0) < FEW:
        warnings.warn(
            SmallSampleWarning(
                f"{seen}: {options.limits} limits are too narrow below {FEW} of either; ",
                Option("limits", "approximate"),
                " holds for fewer, 'auto' for any number",
            ),
            stacklevel=caller_level(),
        )
    elif options.limits == "smoothed" and _few_in_the_band(placed, options.weight):
        warnings.warn(
            SmallSampleWarning(
                f"{seen}: fewer than {FEW_IN_THE_BAND} are expected in the band, "
                "where smoothed limits are too narrow; ",
                Option("limits", "approximate"),
                " and 'auto' hold there",
            ),
            stacklevel=caller_level(),
        )
    elif useless:
        text = f"{seen} are too few to limit the area{_what_holds(placed, options, names)}"
        warnings.warn(
            f"the limits exclude nothing: {note or text}",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )


def _few_in_the_band(placed: Placements, weight: AnyWeight) -> bool:
    if not isinstance(weight, Weight | TwoWayBand) or all_of_the_curve(weight):
        return False
    return rows_in_the_band(placed, weight) < FEW_IN_THE_BAND


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


# --- The options of an area, checked.


@dataclass(frozen=True, slots=True)
class AreaOptions:
    """The checked options of an area."""

    weight: AnyWeight
    ties: str
    limits: str
    confidence: float
    normalize: str
    rng: np.random.Generator

    def sharing(self, parts: int) -> AreaOptions:
        """Return options whose limits hold for several areas together (Bonferroni)."""
        return replace(self, confidence=1 - (1 - self.confidence) / parts)


def check_area_options(
    weight: Any, ties: str, limits: str, confidence: float, normalize: str, rng: Any
) -> AreaOptions:
    """Check the options of an area, each by itself and the weight with the rule of ties."""
    options = AreaOptions(
        check_weight(weight),
        check_choice(ties, "ties", ("interpolate", "strict")),
        check_choice(limits, "limits", METHODS),
        check_confidence(confidence),
        check_choice(normalize, "normalize", ("raw", "mcclish", "mean")),
        check_rng(rng),
    )
    if ties == "strict" and isinstance(weight, TwoWayBand):
        refuse_option(ties, "ties", "'interpolate', since eq. 1 has no two-way form")
    return options
