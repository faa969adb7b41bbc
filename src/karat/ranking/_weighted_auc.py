"""Weighted areas under the ROC curve."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._frames import keeps_kind
from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_choice,
    check_same_length,
    check_scores,
    check_weighting,
    check_weights,
    encode_groups,
    is_matrix,
)
from karat.exceptions import SmallSampleWarning
from karat.ranking.area_results import (
    AreaOptions,
    area_result,
    areas_of_labels,
    check_area_options,
    positive_column,
)
from karat.ranking.labels import classes_apart, read_labels_apart
from karat.ranking.placements import (
    LabelledScores,
    labelled_scores,
    read_labels,
)
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import AnyWeight, Uniform

__all__ = ["weighted_auc"]


@keeps_kind
def weighted_auc(
    y_true: Column | Frame,
    y_score: Column | Frame,
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    ties: str = "interpolate",
    certificate: str = "auto",
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
    y_true : column (n,) or frame (n, labels)
        Labels; two classes, or more with one column of scores each; or one column of 0 and 1 for
        each of several labels that a row may have together.
    y_score : column (n,) or frame (n, classes or labels)
        Scores; a higher one speaks for the positive class. With one column per class, each class
        is ranked against the rest and the areas are averaged; of two columns the one of the
        positive class is taken.
    weight : Weight, TprBand or TwoWayBand
        `Uniform` (the AUC), `FprBand`, `TprBand`, ``FprBand(...) & TprBand(...)``, `Power`,
        `PiecewiseLinear` or `FunctionWeight`.
    ties : {"interpolate", "strict"}
        ``strict`` is eq. 1 as it is printed: a tie earns nothing.
    certificate : {"auto", "hinge", "kl", "nested", "dkw", "beta", "maurer-pontil", "approximate", \
            "smoothed", "delong", "bootstrap"}
        ``auto`` holds for any law, any ties and any number of rows. It takes the narrowest of what
        follows, by the weight and the numbers of rows alone, and the result says which and why.
        ``hinge`` (narrower) and ``kl`` limit the AUC through the pairs of rows it is made of,
        ``nested`` the area of ``FprBand(0, b)`` through its top negatives. ``dkw`` is the worst
        case inside even bands around both distribution functions, for every bounded weight, and
        ``beta`` inside bands that are narrow where rates are small. ``maurer-pontil`` is Theorem 2
        of that paper. ``approximate`` is ``smoothed`` (the AUC of small samples) below 80 rows of
        the rarer class, and ``delong`` from there on; these and ``bootstrap`` are narrower, and
        hold approximately.
    confidence : float, default 0.95
        Probability that the limits hold.
    normalize : {"raw", "mcclish", "mean"}
        The area itself; ½ for chance and 1 for perfect (as scikit-learn's ``max_fpr``); or the mean
        over the band.
    pos_label : label, optional
        The positive class; by default the larger label.
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
        Entries of one row are not independent, so limits of the latter are those of
        ``certificate="clustered"``, approximate, whatever ``certificate`` says.
    rng : int or generator, optional
        Randomness of the bootstrap.

    Returns
    -------
    WeightedAUC
        ``value``, ``lower``, ``upper``, and the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.ranking import FprBand
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(20_000) < 0.2
    >>> r = weighted_auc(y, rng.normal(size=20_000) + 1.5 * y, weight=FprBand(0, 0.1))
    >>> round(r.value, 4), round(r.lower, 4), round(r.upper, 4)
    (0.0409, 0.0368, 0.0449)
    """
    options = check_area_options(weight, ties, certificate, confidence, normalize, rng)
    check_choice(average, "average", ("macro", "micro"))
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
    score = check_scores(y_score)
    row_weight = check_weights(sample_weight)
    codes, names = (None, None) if groups is None else encode_groups(groups)
    check_same_length(y_true=positive, y_score=score, sample_weight=row_weight, groups=codes)
    approximate = check_weighting(weighting, row_weight)

    def rows_of(where: Any) -> LabelledScores:
        return labelled_scores(
            positive[where], score[where], None if row_weight is None else row_weight[where],
            approximate=approximate,
        )  # fmt: skip

    if codes is None:
        return area_result(rows_of(slice(None)), options, order)
    parts, skipped = _grouped(codes, names, positive, rows_of, options, order)
    whole = area_result(rows_of(slice(None)), options, order)
    return replace(whole, groups=parts, skipped=skipped)


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
