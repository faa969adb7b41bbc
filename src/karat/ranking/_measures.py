"""Measures of a ranking beside its areas: average precision, precision at a cut, net benefit ..."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_number,
    check_ranked,
    check_same_length,
    check_score_columns,
    check_weighting,
    check_weights,
    encode_groups,
    is_matrix,
    refuse_option,
)
from karat.exceptions import DataError, OptionError, ScoreError, SmallSampleWarning
from karat.ranking._cut_measures import (
    AveragePrecision,
    Cut,
    ExpectedCost,
    Measure,
    NetBenefit,
    Row,
)
from karat.ranking._orderings import Ordering, ordering_of, ordering_of_counts
from karat.ranking._weighted_auc import (
    check_exact,
    counts_of,
    only_rows,
    parts_by_group,
    positive_column,
)
from karat.ranking.placements import (
    Labels,
    classes_apart,
    clustered_limits,
    labelled_scores,
    read_labels,
    read_labels_apart,
)
from karat.ranking.result import RankingMeasure, measure_guarantee
from karat.statistics import RocCounts
from karat.statistics.result import AnyRocCounts


@keeps_kind
def average_precision(
    y_true: Column | Frame | AnyRocCounts,
    y_score: Column | Frame | None = None,
    *,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
    average: str = "macro",
) -> RankingMeasure:
    r"""Measure average precision, the area under the precision–recall curve, with limits.

    .. math:: \mathrm{AP} = \frac1{n_1}\sum_{i: y_i = 1}
              \frac{\#\{j: y_j = 1, s_j \ge s_i\}}{\#\{j: s_j \ge s_i\}}

    is the mean over positives of the precision at their score, as scikit-learn's
    ``average_precision_score``; ties are taken together. It depends on the share of positives: a
    ranking by chance has that share, and rows of another population have another value.

    Parameters
    ----------
    y_true : column (n,) or frame (n, labels), RocCounts, or mapping of them by group
        Labels of two classes; of more with one column of scores each; or one column of 0 and 1 for
        each of several labels that a row may have together. Or, without ``y_score``, counts of
        positives and negatives at each score, as in `weighted_auc`, but not in cells.
    y_score : column (n,) or frame (n, classes or labels)
        Scores; a higher one speaks for the positive class.
    confidence : float, default 0.95
        Probability that the limits hold. They are approximate: on the scale of log-odds, with
        Student's t, and with one more positive, half right and half wrong. The lower limit leaves
        every positive out of its own precision. Simulations support them from 10 positives on.
    pos_label : label, optional
        The positive class. By default the labels tell it: 1 of 0 and 1, True, or a word such as
        "yes", "spam" or "fraud". Where they do not, `PositiveClassError` says what to pass.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means, as in `weighted_auc`.
    groups : column (n,), optional
        The measure within each group is in ``.groups``, with limits that hold together.
    classes : column, optional
        The order of the columns of ``y_score``; with one column, the negative and the positive
        class.
    average : {"macro", "micro"}
        With several classes or labels: the mean of their values, with limits that hold for all of
        them together; or the value of all entries pooled, with limits that take the entries of one
        row together.

    Returns
    -------
    RankingMeasure
        The measure as ``value`` with ``lower`` and ``upper``, the share of positives as ``chance``,
        and the precision–recall curve; those of groups, classes or labels in ``groups`` and
        ``per_class``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = average_precision(y, rng.normal(size=2000) + 2 * y)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3), round(r.chance, 3)
    (0.643, 0.572, 0.704, 0.105)
    """
    return measured_ranking(
        AveragePrecision(),
        y_true,
        y_score,
        confidence=confidence,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weighting=weighting,
        groups=groups,
        classes=classes,
        average=average,
    )


@keeps_kind
def cost_curve(
    y_true: Column | AnyRocCounts,
    y_score: Column | None = None,
    *,
    at: float = 0.5,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    r"""Measure the expected cost of the best threshold, with limits.

    .. math:: C(c) = \min_t\; c\,\mathrm{FNR}(t) + (1-c)\,\mathrm{FPR}(t),\qquad
              c = \frac{\pi\,C_{\mathrm{FN}}}{\pi\,C_{\mathrm{FN}} + (1-\pi)\,C_{\mathrm{FP}}}

    (Drummond & Holte 2006) is normalised: 0 for a perfect ranking, 1 where all is wrong, and
    ``min(c, 1 − c)`` without scores. c weighs misses against false alarms: π is the share of
    positives *where the scores will be used*, :math:`C_{\mathrm{FN}}` the cost of a miss and
    :math:`C_{\mathrm{FP}}` that of a false alarm. The rows need not have that share.

    Parameters
    ----------
    y_true : column (n,), RocCounts, or mapping of them by group
        Labels of two classes; or, without ``y_score``, counts, as in `average_precision`.
    y_score : column (n,)
        Scores, on any scale; a higher one speaks for the positive class. Of two columns, one per
        class, that of the positive class is taken.
    at : float, default 0.5
        The weight c of misses, above 0 and below 1.
    confidence : float, default 0.95
        Probability that the limits hold. The value is that of the threshold which is best on these
        rows, so it is low on average. The lower limit allows for that by itself; the upper limit is
        of the errors that rows have when each is left out of the choice of its threshold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`.

    Returns
    -------
    RankingMeasure
        The cost as ``value`` with ``lower`` and ``upper``, that of the better class for all rows as
        ``chance``, the cost at every weight of a miss as a curve, and ``groups``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = cost_curve(y, rng.normal(size=2000) + 2 * y, at=0.5)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.174, 0.149, 0.22)
    """
    weight = check_number(at, "at", above=0.0, at_most=1.0)
    if weight >= 1:
        refuse_option(at, "at", "a number above 0 and below 1")
    return measured_ranking(
        ExpectedCost(weight),
        y_true,
        y_score,
        confidence=confidence,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weighting=weighting,
        groups=groups,
        classes=classes,
    )


@keeps_kind
def lift(
    y_true: Column | AnyRocCounts,
    y_score: Column | None = None,
    *,
    k: int | None = None,
    share: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    """Measure how many times more positives are among the highest-ranked rows than by chance.

    It is the precision of the rows taken over the share of positives, and so the recall over the
    share that is taken; at most ``1/share``. Exactly one of ``k`` and ``share`` says where to cut;
    the k highest of n rows stand for the highest ``k/n`` of the population. The limits are those of
    `recall_at`, divided by the share. The cumulative gain is `recall_at` itself.

    Parameters
    ----------
    y_true : column (n,), RocCounts, or mapping of them by group
        Labels of two classes; or, without ``y_score``, counts, as in `average_precision`.
    y_score : column (n,)
        Scores; a higher one speaks for the positive class. Of two columns, one per class, that of
        the positive class is taken.
    k : int, optional
        How many rows are taken, the highest first.
    share : float, optional
        The share of all rows that is taken, above 0 and at most 1.
    confidence : float, default 0.95
        Probability that the limits hold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`; each group is ranked by itself.

    Returns
    -------
    RankingMeasure
        The lift as ``value`` with ``lower`` and ``upper``, that at every share as a curve, and
        ``groups``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = lift(y, rng.normal(size=2000) + 2 * y, share=0.1)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (5.762, 5.124, 6.346)
    """
    measure = check_cut("lift", k=k, share=share)
    return measured_ranking(
        measure,
        y_true,
        y_score,
        confidence=confidence,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weighting=weighting,
        groups=groups,
        classes=classes,
    )


@keeps_kind
def net_benefit(
    y_true: Column | AnyRocCounts,
    y_score: Column | None = None,
    *,
    threshold: float,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    r"""Measure the net benefit of acting on probabilities of at least a threshold, with limits.

    .. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}}{n} - \frac{t}{1-t}\,\frac{\mathrm{FP}}{n}

    (Vickers & Elkin 2006). The threshold is the probability from which on acting is worth while:
    its odds are what a false positive costs in units of what a true positive gains. Acting on
    nobody has 0; ``.over_all`` is the advantage over acting on everybody, with limits. The picture
    is the decision curve, whose limits hold at each threshold by itself.

    Parameters
    ----------
    y_true : column (n,), RocCounts, or mapping of them by group
        Labels of two classes; or, without ``y_score``, counts, as in `average_precision`.
    y_score : column (n,)
        Probabilities of the positive class; they should be calibrated, since the threshold is a
        probability. Of two columns, one per class, that of the positive class is taken.
    threshold : float
        Above 0 and below 1.
    confidence : float, default 0.95
        Probability that the limits hold. They are approximate: the rows that are acted on are a
        binomial number, and so are the positives among them; the surprises of both are added.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`.

    Returns
    -------
    RankingMeasure
        The benefit as ``value`` with ``lower`` and ``upper``, the advantage ``over_all``, the
        decision curve, and ``groups``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 2, size=2000)
    >>> r = net_benefit(rng.random(2000) < p, p, threshold=0.2)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.049, 0.037, 0.063)
    """
    at = check_number(threshold, "threshold", above=0.0, at_most=1.0)
    if at >= 1:
        refuse_option(threshold, "threshold", "a number above 0 and below 1")
    return measured_ranking(
        NetBenefit(at),
        y_true,
        y_score,
        confidence=confidence,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weighting=weighting,
        groups=groups,
        classes=classes,
    )


@keeps_kind
def precision_at(
    y_true: Column | AnyRocCounts,
    y_score: Column | None = None,
    *,
    k: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    """Measure the share of positives among the highest-ranked rows, with limits.

    Exactly one of ``k``, ``share`` and ``threshold`` says where to cut. The k highest of n rows
    stand for the highest ``k/n`` of the population: that is what the limits speak of, not the next
    k rows, nor a cut at the score that the k-th row happens to have. Rows that are level at the cut
    count in proportion, as if put in a random order; ``.note`` says what their order could change.

    Limits at a threshold are Clopper and Pearson's, exact given the number of rows above it. Those
    at a share are approximate: how many rows are above the population's cut is binomial, and so are
    the positives among them; all numbers that are likely are tried, and the surprises of both
    counts are added. They cover at least as often as they say in simulations from 10 positives on.

    Parameters
    ----------
    y_true : column (n,), RocCounts, or mapping of them by group
        Labels of two classes; or, without ``y_score``, counts, as in `average_precision`.
    y_score : column (n,)
        Scores; a higher one speaks for the positive class. Of two columns, one per class, that of
        the positive class is taken.
    k : int, optional
        How many rows are taken, the highest first.
    share : float, optional
        The share of all rows that is taken, above 0 and at most 1.
    threshold : float, optional
        The least score that is taken.
    confidence : float, default 0.95
        Probability that the limits hold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`; each group is ranked by itself.

    Returns
    -------
    RankingMeasure
        The share as ``value`` with ``lower`` and ``upper``, that of all rows as ``chance``, the
        precision at every share as a curve, and ``groups``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = precision_at(y, rng.normal(size=2000) + 2 * y, k=100)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.78, 0.678, 0.868)
    """
    measure = check_cut("precision", k=k, share=share, threshold=threshold)
    return measured_ranking(
        measure,
        y_true,
        y_score,
        confidence=confidence,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weighting=weighting,
        groups=groups,
        classes=classes,
    )


@keeps_kind
def recall_at(
    y_true: Column | AnyRocCounts,
    y_score: Column | None = None,
    *,
    k: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    """Measure the share of all positives that is among the highest-ranked rows, with limits.

    Exactly one of ``k``, ``share`` and ``threshold`` says where to cut. Over the share of rows this
    is the cumulative gain. The k highest of n rows stand for the highest ``k/n`` of the population.
    Rows that are level at the cut count in proportion; ``.note`` says what their order could
    change.

    Limits at a threshold are Clopper and Pearson's, exact given the number of positives. Those at a
    share are approximate, as in `precision_at`.

    Parameters
    ----------
    y_true : column (n,), RocCounts, or mapping of them by group
        Labels of two classes; or, without ``y_score``, counts, as in `average_precision`.
    y_score : column (n,)
        Scores; a higher one speaks for the positive class. Of two columns, one per class, that of
        the positive class is taken.
    k : int, optional
        How many rows are taken, the highest first.
    share : float, optional
        The share of all rows that is taken, above 0 and at most 1.
    threshold : float, optional
        The least score that is taken.
    confidence : float, default 0.95
        Probability that the limits hold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`; each group is ranked by itself.

    Returns
    -------
    RankingMeasure
        The share as ``value`` with ``lower`` and ``upper``, that of a ranking by chance as
        ``chance``, the cumulative gain as a curve, and ``groups``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = recall_at(y, rng.normal(size=2000) + 2 * y, share=0.1)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.576, 0.512, 0.635)
    """
    measure = check_cut("recall", k=k, share=share, threshold=threshold)
    return measured_ranking(
        measure,
        y_true,
        y_score,
        confidence=confidence,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weighting=weighting,
        groups=groups,
        classes=classes,
    )


# --- Cuts and models that users pass, checked.


def read_models(y_scores: Any) -> dict[Any, FloatArray]:
    """Return the scores of each model, by the name that was passed."""
    if isinstance(y_scores, Mapping):
        scores = {k: check_ranked(v, f"y_scores[{k!r}]") for k, v in y_scores.items()}
    else:
        scores = dict(
            check_score_columns(y_scores, "y_scores", each="column per model", ranked=True)
        )
    if len(scores) < 2:
        raise DataError(
            Argument("y_scores"),
            f" holds {len(scores)} model; expected ",
            Expected("at least two to compare"),
        )
    return scores


def check_cut(kind: str, *, k: Any = None, share: Any = None, threshold: Any = None) -> Cut:
    """Return the cut; exactly one of the three must be given."""
    given = {"k": k, "share": share, "threshold": threshold}
    if kind == "lift":
        del given["threshold"]
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        known = ", ".join(f"{name}=" for name in given)
        passed = " and ".join(f"{name}={given[name]!r}" for name in named) or "none of them"
        raise OptionError(f"{kind} takes one of {known}; got {passed}. Pass the one that is meant")
    if k is not None:
        return Cut(kind, k=check_count(k, "k", at_least=1))
    if share is not None:
        return Cut(kind, share=check_number(share, "share", above=0.0, at_most=1.0))
    return Cut(kind, threshold=check_number(threshold, "threshold"))


# --- From checked options to a result, for one ranking, for groups, for classes and for labels.


def measured_ranking(
    measure: Measure,
    y_true: Column | Frame | AnyRocCounts,
    y_score: Column | Frame | None,
    *,
    confidence: float,
    pos_label: Any,
    sample_weight: Column | None,
    weighting: str | None,
    groups: Column | None,
    classes: Column | None = None,
    average: str = "macro",
) -> RankingMeasure:
    """Return a measure of what users passed."""
    level = check_confidence(confidence)
    check_choice(average, "average", ("macro", "micro"))
    if (counts := counts_of(y_true, y_score)) is not None:
        only_rows(
            pos_label=(pos_label, None),
            sample_weight=(sample_weight, None),
            weighting=(weighting, None),
            groups=(groups, None),
            classes=(classes, None),
            average=(average, "macro"),
        )
        return _of_counts(measure, counts, level)
    assert y_score is not None
    labels = read_labels_apart(y_true, y_score, sample_weight, weighting)
    if labels is not None:
        labels.only_these(groups=groups, pos_label=pos_label)
    elif is_matrix(y_score):
        y_score = positive_column(y_true, y_score, classes, pos_label)
        if is_matrix(y_score):
            labels = classes_apart(
                y_true,
                y_score,
                sample_weight,
                weighting,
                classes,
                groups=groups,
                pos_label=pos_label,
            )
    if labels is not None:
        _only_average_precision(measure)
        return _of_labels(measure, labels, level, average)
    positive, order = read_labels(y_true, pos_label, classes, what="a ranking")
    score = check_ranked(y_score)
    weight = check_weights(sample_weight)
    codes, names = (None, None) if groups is None else encode_groups(groups)
    check_same_length(y_true=positive, y_score=score, sample_weight=weight, groups=codes)
    approximate = check_weighting(weighting, weight)
    check_rows(measure, score, approximate=approximate)
    whole = measured_rows(
        measure,
        rows_of(positive, score, weight, approximate=approximate),
        order,
        level,
        approximate=approximate,
    )
    if codes is None or names is None:
        return whole
    parts, skipped = _grouped(
        measure, (positive, score, weight), codes, names, order, level, approximate=approximate
    )
    return replace(whole, groups=parts, skipped=skipped)


def _of_counts(measure: Measure, counts: AnyRocCounts, level: float) -> RankingMeasure:
    """Return a measure of counts; of several, that of all and of each."""
    if not isinstance(counts, Mapping):
        return _of_table(measure, counts, level)
    parts, skipped = parts_by_group(counts)
    found = {}
    for name, part in parts.items():
        reason = measure.missing(ordering_of_counts(part))
        if reason:
            skipped[name] = reason
        else:
            found[name] = part
    each = 1 - (1 - level) / max(1, len(found))
    groups = {name: _of_table(measure, part, each) for name, part in found.items()}
    whole = _of_table(measure, sum(counts.values()), level)  # type: ignore[arg-type]
    return replace(whole, groups=groups, skipped=skipped)


def _of_table(measure: Measure, counts: RocCounts, level: float) -> RankingMeasure:
    check_exact(counts, "a ranking")
    low, high, approximate = counts.scores[0], counts.scores[-1], counts.squares is not None
    if isinstance(measure, NetBenefit) and (low < 0 or high > 1):
        raise ScoreError(
            Argument("y_true"),
            f" has counts at scores from {low:.6g} to {high:.6g}; net benefit compares scores with "
            "a threshold that is a probability",
            Remedy("Count calibrated probabilities", after=". "),
        )
    _check_cut_counts(measure, approximate=approximate)
    return measured_rows(
        measure, ordering_of_counts(counts), counts.classes, level, approximate=approximate
    )


def _only_average_precision(measure: Measure) -> None:
    if not isinstance(measure, AveragePrecision):
        raise DataError(
            Argument("y_score"),
            f" has several columns, one for each class or label; {measure.name} ranks by one",
            Remedy(
                "Pass the column of one of them, with y_true == it",
                after=". ",
                elsewhere="pass the column of one of them",
            ),
        )


def check_rows(measure: Measure, score: FloatArray, *, approximate: bool) -> None:
    """Refuse scores and weights that a measure cannot read."""
    if isinstance(measure, NetBenefit) and (score.min() < 0 or score.max() > 1):
        row = int(np.flatnonzero((score < 0) | (score > 1))[0])
        raise ScoreError(
            Argument("y_score"),
            f" row {row} is {score[row]:.6g}; net benefit compares scores with a "
            "threshold that is a probability",
            Remedy("Pass probabilities between 0 and 1, calibrated ones", after=". "),
        )
    _check_cut_counts(measure, approximate=approximate)


def _check_cut_counts(measure: Measure, *, approximate: bool) -> None:
    if isinstance(measure, Cut) and measure.k is not None and approximate:
        raise OptionError(
            f"k is {measure.k} and the weights of rows are no counts; expected ",
            Expected(Option("share"), ", or ", Option("weighting", "frequency")),
        )


def rows_of(
    positive: BoolArray, score: FloatArray, weight: FloatArray | None, *, approximate: bool
) -> Ordering:
    """Return the ordering of checked rows."""
    return ordering_of(labelled_scores(positive, score, weight, approximate=approximate))


def measured_rows(
    measure: Measure, ordered: Ordering, classes: AnyArray, level: float, *, approximate: bool
) -> RankingMeasure:
    """Return a measure of one ordering."""
    reason = measure.missing(ordered)
    if reason:
        expected = "a smaller k" if "k is" in reason else "a lower threshold"
        raise OptionError(f"{reason}; expected {expected}")
    delta = 1 - level
    value, lower, upper, curve = measure.read(ordered, delta)
    exact = isinstance(measure, Cut) and measure.threshold is not None
    method = "exact" if exact and not approximate else "approximate"
    over_all = None
    if isinstance(measure, NetBenefit):
        over_all = Estimate.of(*measure.over_all(ordered, delta), level, "approximate")
    return RankingMeasure(
        measure=measure.name,
        title=measure.title,
        estimate=Estimate.of(
            value, min(lower, value), max(upper, value), level, measure_guarantee(method)
        ),
        method=method,
        chance=measure.chance(ordered),
        at=_cut_of(measure, ordered),
        note=measure.note(ordered),
        n_positive=ordered.n_positive,
        n_negative=ordered.n_negative,
        approximate=approximate,
        classes=classes,
        curve_x=curve.x,
        curve_y=curve.y,
        curve_lower=curve.lower,
        curve_upper=curve.upper,
        over_all=over_all,
    )


def _cut_of(measure: Measure, ordered: Ordering) -> float | None:
    if isinstance(measure, ExpectedCost):
        return measure.at
    if isinstance(measure, Cut) and measure.threshold is None:
        return measure.share_of(ordered)
    return measure.threshold if isinstance(measure, Cut | NetBenefit) else None


def _grouped(
    measure: Measure,
    rows: tuple[BoolArray, FloatArray, FloatArray | None],
    codes: Any,
    names: AnyArray,
    order: AnyArray,
    level: float,
    *,
    approximate: bool,
) -> tuple[dict[Any, RankingMeasure], dict[Any, str]]:
    """Return the measure within each group, and the groups that have none with the reason."""
    positive, score, weight = rows
    found: dict[Any, Ordering] = {}
    skipped: dict[Any, str] = {}
    for code, name in enumerate(names.tolist()):
        here = codes == code if weight is None else (codes == code) & (weight > 0)
        if len(np.unique(positive[here])) < 2:
            only = (
                f"all of class {order[int(positive[here][0])].item()!r}" if here.any() else "none"
            )
            skipped[name] = f"its {int(here.sum())} rows are {only}"
            continue
        part = rows_of(
            positive[here],
            score[here],
            None if weight is None else weight[here],
            approximate=approximate,
        )
        reason = measure.missing(part)
        if reason:
            skipped[name] = reason
        else:
            found[name] = part
    if skipped:
        name, reason = next(iter(skipped.items()))
        warnings.warn(
            f"{len(skipped)} of {len(names)} groups have no {measure.name}: {name!r}, {reason}. "
            "Pool small groups if they are to count",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
    each = 1 - (1 - level) / max(1, len(found))
    parts = {
        name: measured_rows(measure, part, order, each, approximate=approximate)
        for name, part in found.items()
    }
    return parts, skipped


def _of_labels(measure: Measure, labels: Labels, level: float, average: str) -> RankingMeasure:
    """Return the measure of every label, and their mean or that of all entries pooled."""
    each = 1 - (1 - level) / len(labels.positive)
    parts = {}
    for name, positive in labels.positive.items():
        ordered = rows_of(
            positive, labels.score[name], labels.weight, approximate=labels.approximate
        )
        classes = np.array(["the rest", name], dtype=object)
        parts[name] = measured_rows(measure, ordered, classes, each, approximate=labels.approximate)
    together: dict[str, Any] = {
        "per_class": parts,
        "skipped": labels.skipped or None,
        "average": average,
        "classes": np.array(list(parts), dtype=object),
    }
    if average == "micro":
        return replace(_pooled(measure, labels, level), **together)

    def mean(name: str) -> float:
        return math.fsum(getattr(p, name) for p in parts.values()) / len(parts)

    first = next(iter(parts.values()))
    together |= {name: mean(name) for name in ("chance", "n_positive", "n_negative")}
    together["estimate"] = replace(
        first.estimate,
        value=mean("value"),
        lower=mean("lower"),
        upper=mean("upper"),
        confidence=level,
    )
    # There is no curve of a mean: each class has its own.
    together |= {name: np.empty(0) for name in ("curve_x", "curve_y", "curve_lower", "curve_upper")}
    return replace(first, note="", **together)


def _pooled(measure: Measure, labels: Labels, level: float) -> RankingMeasure:
    """Return the measure of all entries, with limits that take those of one row together."""
    positive, score, weight = labels.pooled()
    ordered = rows_of(positive, score, weight, approximate=labels.approximate)
    found = measured_rows(
        measure, ordered, np.array([False, True]), level, approximate=labels.approximate
    )
    mass = np.ones(len(score)) if weight is None else weight
    counted = mass * (ordered.n / mass.sum())
    effects = measure.effects(Row(positive, score, counted, ordered)) * counted
    rows = len(score) // len(labels.positive)
    lower, upper = clustered_limits(found.value, effects, positive & (mass > 0), rows, 1 - level)
    guarantee = measure_guarantee("clustered")
    estimate = Estimate.of(found.value, lower, upper, level, guarantee)
    return replace(found, estimate=estimate, method="clustered")
