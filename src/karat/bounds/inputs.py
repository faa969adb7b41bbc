"""From what users pass to a problem that can be solved.

`read_inputs`, `read_predictions` and `read_gold` check votes, label model, predictions and true
labels; the ``check_*`` functions check options that several public functions share.
`refitted` fits a label model again to some of the true labels. `build_problem` counts the items by
fold, pattern and prediction, and learns from the other folds how predictions depend on the votes
(q̂, by `learn_predictions` on `features` of the patterns). `true_value` is the metric itself, where
every true label is known. `read_counted` and `counted_problem` do the same from counts alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    check_confidence,
    check_number,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_gold,
    encode_groups,
    encode_labels,
    is_matrix,
    named,
    refuse_lazy,
    refuse_option,
    require_two_classes,
)
from karat.bounds._problem import Limit, Problem, Sample, split_counts, split_rows
from karat.exceptions import (
    DataError,
    KaratWarning,
    LabelError,
    MetricError,
    UndefinedMetricWarning,
)
from karat.metrics import GroupMetric, as_metric
from karat.metrics.base import Metric, MetricBase
from karat.statistics import PatternCounts
from karat.statistics.patterns import Patterns, joint_counts, recode
from karat.votes.reading import read_weak_labels
from karat.weak import DetectorLabelModel
from karat.weak.label_model import (
    check_class_prior,
    classes_of,
    labels_of,
    null_of,
    proba_of_patterns,
    refitted_proba,
)


def read_counted(
    counts: PatternCounts,
    label_model: Any,
    *,
    metric: MetricBase,
    pos_label: Any,
    class_prior: Column | None,
    compares: bool,
) -> tuple[Inputs, AnyArray]:
    """Return the inputs of a bound, and the counts with the positive class last.

    The counts are (fold, …) where items were counted by fold, else one fold of all of them; then
    come groups, unless the metric ``compares`` them: their patterns are patterns of their own then.
    """
    given = counts.classes
    cells = counts.counts[None] if counts.by_fold is None else counts.by_fold
    by_pattern = counts.counts.sum(axis=-1)
    votes = counts.votes()
    if (votes.patterns < 0).all():
        raise LabelError("every vote in counts abstains or is null; count a labeler that votes")
    model = fit_default(votes, None, class_prior) if label_model is None else label_model
    p = _posterior(model, votes)
    group: IntArray | None = None
    if compares:
        group, which = np.nonzero(by_pattern)
        cells = cells[:, group, which]
        own = by_pattern[group, which]
        votes, p = replace(votes, patterns=votes.patterns[which], counts=own), p[which]
    keep = metric_order(given, metric, pos_label, stated=False)
    ordered, place = in_metric_order(votes, keep, group)
    group = None if group is None else group[place]
    p = p[np.ix_(place, keep)]
    inputs = Inputs(ordered, p, given[keep], given, keep, None, None, group, model, place)
    return inputs, cells[..., place, :][..., keep]


def _posterior(model: Any, votes: Patterns) -> FloatArray:
    """Return P(Y | pattern) of a label model, or of an array with one row per pattern."""
    if hasattr(model, "predict_proba") or isinstance(model, type):
        return proba_of_patterns(model, votes)
    proba = check_probabilities(model, "label_model", classes=votes.classes)
    check_same_length(patterns=votes.patterns, label_model=proba)
    return proba


def counted_problem(
    inputs: Inputs,
    cells: AnyArray,
    *,
    method: str,
    rng: np.random.Generator,
    slack: float,
    prior: FloatArray | None,
) -> Problem:
    """Return the problem of counts (fold, pattern, prediction); one fold is split at random."""
    if method == "plugin" or len(cells) == 1:
        folds = number_of_folds(cells.shape[1:], method)
        sample = split_counts(cells.sum(axis=0), folds, rng)
    else:
        weights = cells.astype(np.float64)
        sample = Sample(counts=weights, squares=weights)
    q = plug_in(sample) if method == "plugin" else cross_fit(sample, inputs)
    return Problem(sample, inputs.p, q, slack, prior, inputs.group)


NO_VOTES = (
    "weak_labels is missing; pass one row of votes per prediction, or "
    "karat.statistics.pattern_counts of both as the first argument"
)


def refuse_with_counts(**rows_only: Any) -> None:
    """Refuse what needs the rows, or is in the counts already."""
    for name, value in rows_only.items():
        if value is not None:
            raise DataError(
                Argument.of(name),
                " does not go with counts, which hold the votes and no rows",
                Remedy(
                    "leave it out, or pass the rows (a label model goes by its name, ",
                    Option("label_model"),
                    ")",
                ),
            )


def refuse_weighted_counts(counts: PatternCounts) -> None:
    """Refuse sums of weights, whose limits the squares of the weights would be needed for."""
    fractions = np.issubdtype(counts.counts.dtype, np.floating) and (counts.counts % 1).any()
    if fractions or counts.squares is not None:
        raise DataError(
            "counts are sums of weights, from which limits cannot be computed",
            Remedy(
                "count the rows without weights, or pass the rows to performance_bounds with ",
                Option("sample_weight"),
            ),
        )


# --- Put a bound's data together: counts by fold, and q̂ learned on the other folds.

_FOLDS = 5
# (fold, pattern, prediction) cells in memory; with more, two folds keep the arrays small. Any
# number of folds is valid, fewer only learn q̂ from fewer items.
_MOST_CELLS = 20_000_000


def build_problem(
    inputs: Inputs,
    predicted: Predictions,
    *,
    n_outcomes: int,
    method: str,
    rng: np.random.Generator,
    rows: BoolArray | None = None,
    slack: float = 0.0,
    prior: FloatArray | None = None,
) -> Problem:
    """Count the items, split them into folds and learn q̂ = P(Ŷ | z) of each fold.

    ``n_outcomes`` is the number of distinct predictions; ``rows`` selects items (a group).
    ``slack`` is the total variation by which P(Y | z) may be off, and ``prior`` a given P(Y).
    """
    ids, weight, cluster = inputs.votes.ids, inputs.weight, inputs.cluster
    if rows is not None:
        ids, predicted = ids[rows], predicted.of(rows)
        weight = None if weight is None else weight[rows]
        cluster = None if cluster is None else np.unique(cluster[rows], return_inverse=True)[1]
    shape = (len(inputs.p), n_outcomes)
    folds = number_of_folds(shape, method)
    sample = _count(ids, predicted, weight, cluster, shape, folds, rng)
    q = plug_in(sample) if method == "plugin" else cross_fit(sample, inputs)
    return Problem(sample, inputs.p, q, slack, prior, inputs.group)


def number_of_folds(shape: tuple[int, ...], method: str) -> int:
    """Return the number of folds for a table of (pattern, prediction)."""
    if method == "plugin":
        return 1
    return _FOLDS if np.prod(shape) < _MOST_CELLS / _FOLDS else 2


def _count(
    ids: IntArray,
    predicted: Predictions,
    weight: FloatArray | None,
    cluster: IntArray | None,
    shape: tuple[int, int],
    folds: int,
    rng: np.random.Generator,
) -> Sample:
    if predicted.proba is not None:
        # An item that predicts j with probability h_j is k weighted items of one cluster.
        n, k = predicted.proba.shape
        own = predicted.proba if weight is None else predicted.proba * weight[:, None]
        units = np.arange(n) if cluster is None else cluster
        return split_rows(
            np.repeat(ids, k),
            np.tile(np.arange(k), n),
            shape,
            own.ravel(),
            np.repeat(units, k),
            folds,
            rng,
        )
    codes: Any = predicted.codes
    if weight is None and cluster is None:
        return split_counts(joint_counts([ids, codes], list(shape)), folds, rng)
    return split_rows(ids, codes, shape, weight, cluster, folds, rng)


def plug_in(sample: Sample) -> FloatArray:
    """Return the observed P(Ŷ | z), as Maia Polo et al. (2023) do; uniform in empty patterns."""
    counts = sample.counts.sum(axis=0)
    seen = counts.sum(axis=1, keepdims=True)
    uniform = 1.0 / counts.shape[1]
    return np.asarray(np.where(seen > 0, counts / np.where(seen > 0, seen, 1.0), uniform)[None])


def cross_fit(sample: Sample, inputs: Inputs) -> FloatArray:
    """Return q̂ of each fold, learned from the other folds, separately in each group."""
    x = features(inputs.votes.patterns, inputs.p, len(inputs.classes))
    group = np.zeros(len(x), dtype=int) if inputs.group is None else inputs.group
    total = sample.counts.sum(axis=0)
    q = np.empty(sample.counts.shape)
    for own in (group == g for g in range(group.max() + 1)):
        for fold, counts in enumerate(sample.counts):
            # Weights leave a rounding error, possibly below 0, where a cell becomes empty.
            others = np.maximum(total[own] - counts[own], 0.0)
            q[fold, own] = learn_predictions(x[own], others)
    return q


# --- q̂: the distribution of the prediction given the votes, P(Ŷ | z), learned from the other
# folds.
#
# The bounds are valid whatever is learned here; a better q̂ makes them tighter.

_STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0)  # items that the regression may be worth
_MAX_ITER = 100  # of fixed-Hessian steps; stopping early only makes q̂ a little worse
_MAX_NEWTON = 25
_GAIN = 1e-3  # log-likelihood an item that the next step gains; stopping early also smooths
_TOLERANCE = 1e-3  # of a logit's coefficient; a finer q̂ would not move the bounds


def features(patterns: IntArray, p: FloatArray, n_classes: int) -> FloatArray:
    """Return one row per pattern: a constant, one-hot votes, and the posterior with its log odds.

    An abstention (-1) is all zeros; a vote that was not asked for (-2) has a column of its own
    where it occurs. The log odds are clipped: a certain posterior would swamp the ridge.
    """
    seen = [
        np.append(-2, np.arange(n_classes)) == patterns[:, [j]] for j in range(patterns.shape[1])
    ]
    votes = [hot[:, hot.any(axis=0)] for hot in seen]
    sharp = np.log(np.clip(p, 1e-3, None))
    return np.column_stack([np.ones(len(p)), *votes, p[:, 1:], sharp[:, 1:] - sharp[:, :1]])


def learn_predictions(x: FloatArray, counts: AnyArray) -> FloatArray:
    """Return q̂ (patterns, k) from counts of (pattern, prediction).

    A multinomial logistic regression on the votes is combined with each pattern's own counts, as
    if the regression were a number of items. That number is the one that predicts the counts best
    when each item is left out in turn.
    """
    seen = counts.sum(axis=1)
    rows = seen > 0
    if not rows.any():  # a group so small that the other folds are empty
        return np.full(counts.shape, 1.0 / counts.shape[1])
    fitted = _logistic(x[rows], counts[rows])
    logits = x @ fitted
    logits -= logits.max(axis=1, keepdims=True)
    guess = np.exp(logits) * (counts.sum(axis=0) > 0)  # what never occurs elsewhere is left out
    guess /= guess.sum(axis=1, keepdims=True)
    some, total, model = counts[rows], seen[rows, None], guess[rows]
    scores = [
        np.sum(some * np.log(np.maximum((some - 1 + s * model) / (total - 1 + s), 1e-12)))
        for s in _STRENGTHS
    ]
    strength = _STRENGTHS[int(np.argmax(scores))]
    return np.asarray((counts + strength * guess) / (seen[:, None] + strength))


def _logistic(x: FloatArray, counts: AnyArray) -> FloatArray:
    """Fit a ridge multinomial logistic regression to counts: (features, k)."""
    if counts.shape[1] == 2:
        slope = _binary_logistic(x, counts)
        return np.column_stack([np.zeros_like(slope), slope])
    return _multinomial_logistic(x, counts)


def _binary_logistic(x: FloatArray, counts: AnyArray) -> FloatArray:
    """Two outcomes: Newton's method."""
    seen = counts.sum(axis=1)
    weights = np.zeros(x.shape[1])
    weights[0] = np.log((counts[:, 1].sum() + 1.0) / (counts[:, 0].sum() + 1.0))
    ridge = np.eye(x.shape[1])
    for _ in range(_MAX_NEWTON):
        expected = seen / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (expected - counts[:, 1]) + weights
        spread = expected * (1.0 - expected / np.maximum(seen, 1e-300))
        step = np.linalg.solve((x * spread[:, None]).T @ x + ridge, slope)
        # A step of more than 5 in a logit overshoots where classes are separable.
        weights = weights - step / max(1.0, float(np.abs(step).max()) / 5.0)
        if float(np.abs(step).max()) < _TOLERANCE:
            break
    return weights


def _multinomial_logistic(x: FloatArray, counts: AnyArray) -> FloatArray:
    """More outcomes: fixed-Hessian steps with momentum.

    The curvature of the softmax is at most ½ in every direction (Böhning 1992), so one d×d matrix,
    factored once, serves as the Hessian of every step and every outcome.
    """
    from scipy.linalg import cho_factor, cho_solve

    k, d = counts.shape[1], x.shape[1]
    seen = counts.sum(axis=1, keepdims=True)
    factor = cho_factor(0.5 * (x * seen).T @ x + np.eye(d), check_finite=False)
    items = float(seen.sum())
    weights = np.zeros((d, k))
    weights[0] = np.log(counts.sum(axis=0) + 1.0) - np.log(counts.sum() + k)
    ahead, pace = weights, 1.0
    for _ in range(_MAX_ITER):
        logits = x @ ahead
        logits -= logits.max(axis=1, keepdims=True)
        expected = np.exp(logits)
        expected *= seen / expected.sum(axis=1, keepdims=True)
        slope = x.T @ (expected - counts) + ahead
        step = cho_solve(factor, slope, check_finite=False)
        new = ahead - step
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        if np.sum(step * (new - weights)) > 0:  # momentum overshoots: start it again
            pace = faster = 1.0
        ahead = new + (pace - 1) / faster * (new - weights)
        weights, pace = new, faster
        if float(np.sum(step * slope)) < _GAIN * items:  # what the likelihood can still gain
            break
    return weights


# --- Checks of the options that the public functions of this package share.

_RARE = 10  # fewer items than this determine P(Ŷ | z) of a pattern too poorly
_NOTABLE = 0.05  # share of the items in rare patterns from which the plug-in bounds are off


def check_metric(metric: Any) -> Metric:
    """Check a metric, or its name, where no groups are given."""
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(
            f"{chosen.title} compares groups; bound it with performance_bounds(..., groups=...)"
        )
    return chosen


def check_groups(metric: GroupMetric, names: AnyArray | None) -> IntArray:
    """Return where the groups of the metric stand in ``names``, or refuse others."""
    if names is None:
        raise MetricError(
            f"{metric.title} compares groups",
            Remedy("pass ", Option("groups"), ", the group of each item"),
        )
    if len(names) != metric.n_groups:
        raise MetricError(
            f"{metric.title} is for {metric.n_groups} groups and groups holds {len(names)}: "
            f"{named(names.tolist())}. Pass a metric for that many, or merge or leave out groups"
        )
    known = names.tolist()
    return np.array([known.index(name) for name in metric.group_order(names).tolist()])


def check_method(method: Any, choices: tuple[str, ...] = ("crossfit", "plugin")) -> str:
    """Check the name of a method."""
    return check_choice(method, "method", choices)


def sparse_share(counts: AnyArray) -> float:
    """Return the share of the items in rare patterns."""
    return float(counts[counts < _RARE].sum() / counts.sum())


def warn_if_sparse(counts: AnyArray, which: str) -> None:
    """Warn that a method that takes observed frequencies for the law is too narrow here."""
    if (sparse := sparse_share(counts)) > _NOTABLE:
        warnings.warn(
            KaratWarning(
                f"{100 * sparse:.0f} % of the items are in patterns seen fewer than "
                f"{_RARE} times, where the bounds of {which} are too narrow",
                Remedy("use ", Option("method", "crossfit")),
            ),
            stacklevel=caller_level(),
        )


def check_limit(limit: Any, confidence: Any, *, weighted: bool) -> Limit:
    """Check kind and confidence of the limits; ``weighted`` if items do not all count the same."""
    kind = check_choice(limit, "limit", ("skew", "normal", "bernstein"))
    level = check_confidence(confidence)
    if kind == "bernstein" and weighted:
        refuse_option(
            limit,
            "limit",
            "'skew' or 'normal' with weights, clusters or class probabilities as predictions, "
            "because 'bernstein' holds for items that are independent and count the same",
        )
    return Limit(kind, level)


def check_robustness(robustness: Any, name: str = "robustness") -> float:
    """Check the total variation by which P(Y | z) may be off."""
    return check_number(robustness, name, at_least=0.0, at_most=1.0)


def named_prior(class_prior: Any, classes: Column | None) -> Any:
    """Return a class prior by the names of the classes, where the caller put them in order."""
    if class_prior is None or classes is None or isinstance(class_prior, Mapping):
        return class_prior
    order = check_classes(classes)
    prior = check_class_prior(class_prior, order, stated=True)
    return None if prior is None else dict(zip(order.tolist(), prior.tolist(), strict=True))


def check_prior(class_prior: Column | None, inputs: Inputs) -> FloatArray | None:
    """Check a class prior, passed in the given order of the classes; return it positive last."""
    prior = check_class_prior(class_prior, inputs.given)
    return None if prior is None else np.asarray(prior[inputs.keep])


def true_value(
    metric: MetricBase,
    inputs: Inputs,
    predicted: Predictions,
    gold: Any,
    rows: BoolArray | None = None,
    groups: IntArray | None = None,
) -> float | None:
    """Return the metric on the true labels, or None unless they are known for every item.

    ``gold`` is what `read_gold` returned, ``rows`` selects items, and ``groups`` are the groups of
    the items, for a metric that compares groups.
    """
    if gold is None or not gold[1].all():
        return None
    keep = np.ones(inputs.n, dtype=bool) if rows is None else rows
    labels = predicted.of(keep)
    weight = None if inputs.weight is None else inputs.weight[keep]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(
            metric.score(
                gold[0][keep],
                labels.codes if labels.proba is None else labels.proba,
                sample_weight=weight,
                groups=groups,
                classes=np.arange(len(inputs.classes)),
            )
        )


# --- Predicted labels, or class probabilities of a randomised classifier.


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predicted codes (n,), or class probabilities (n, k) of a randomised classifier.

    Exactly one of the two is not None.
    """

    codes: IntArray | None
    proba: FloatArray | None = None

    def of(self, rows: BoolArray) -> Predictions:
        """Return the predictions of the selected rows."""
        if self.proba is not None:
            return replace(self, proba=self.proba[rows])
        return replace(self, codes=None if self.codes is None else self.codes[rows])


def read_predictions(y_pred: Column | Frame, inputs: Inputs, name: str = "y_pred") -> Predictions:
    """Check predictions against the classes and the number of items; ``name`` is for messages."""
    if is_matrix(y_pred):
        proba = check_probabilities(y_pred, name, classes=inputs.given)
        check_same_length(weak_labels=inputs.votes.ids, **{name: proba})
        return Predictions(None, proba[:, inputs.keep])
    (codes,), _ = encode_labels({name: y_pred}, inputs.classes)
    check_same_length(weak_labels=inputs.votes.ids, **{name: codes})
    return Predictions(codes)


# --- From what users pass to counts, patterns and P(Y | pattern).


@dataclass(frozen=True, slots=True)
class Inputs:
    """Checked data: the patterns, P(Y | pattern) of the label model, and the items.

    ``p[z]`` is P(Y | pattern z). ``given`` is the order in which users pass columns of classes;
    ``classes`` has the positive class last, and equals ``given[keep]``. ``weight`` and ``cluster``
    have one entry per item. ``group`` is the group of each pattern, where the same votes in two
    groups are two patterns. ``model`` is the label model as passed, or the one fitted instead.
    ``place`` is where each pattern stood among those that were counted.
    """

    votes: Patterns
    p: FloatArray
    classes: AnyArray
    given: AnyArray
    keep: IntArray
    weight: FloatArray | None
    cluster: IntArray | None
    group: IntArray | None = None
    model: Any = None
    place: IntArray | None = None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.votes.ids)

    def positive_of(self, metric: MetricBase) -> Any:
        """Return the positive class where the metric is about one of two; else None."""
        two = len(self.classes) == 2 and metric.depends_on_order
        return self.classes.tolist()[-1] if two else None

    def proba_of(self, label_model: Any) -> FloatArray:
        """Return P(Y | pattern) of another label model, columns in the order of ``classes``."""
        codes = recode(self.votes.patterns, self.keep)  # as codes of the given order
        given = replace(self.votes, patterns=codes, classes=self.given)
        return proba_of_patterns(label_model, given)[:, self.keep]


def read_inputs(
    predictions: dict[str, Column | Frame],
    weak_labels: Frame | Patterns,
    label_model: Any,
    *,
    classes: Column | None,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    clusters: Column | None = None,
    split_by: IntArray | None = None,
    null: str | None = None,
    class_prior: Column | None = None,
    y_true: Column | None = None,
    metric: MetricBase | None = None,
) -> Inputs:
    """Check votes, label model, weights and clusters, and fix the order of the classes.

    ``predictions`` are columns by their argument's name, whose labels count as classes too.
    ``split_by`` are codes of groups within which P(Y | votes) may differ. ``null`` of None reads
    nulls as they were read when the label model was fitted. A ``label_model`` of None is fitted
    here, with ``class_prior`` and ``y_true`` where they are known.
    """
    refuse_lazy(weak_labels=weak_labels)  # its rows are matched with the predictions
    how = null_of(label_model, weak_labels, null)
    votes = _read_votes(predictions, weak_labels, label_model, classes, how)
    given = votes.classes
    if (votes.patterns < 0).all():
        raise LabelError(
            "every vote in ",
            Argument("weak_labels"),
            " abstains or is null; pass at least one labeler that votes",
        )
    weight = check_weights(sample_weight)
    # Only ratios of weights matter; a mean of 1 keeps them comparable with counts, and rounding
    # keeps the random draws of a limit the same in every unit.
    weight = None if weight is None else np.round(weight / weight.mean(), 12)
    cluster, _ = encode_groups(clusters, name="clusters")
    check_same_length(weak_labels=votes.ids, sample_weight=weight, clusters=cluster)
    model = label_model
    if label_model is None:
        gold = read_gold(y_true, given, len(votes.ids))
        labels = None if gold is None or not gold[1].any() else gold[0]
        model = fit_default(votes, weight, class_prior, labels)
    group = None
    if split_by is not None:
        check_same_length(weak_labels=votes.ids, groups=split_by)
        votes, group = _split(votes, split_by)
    p = proba_of_patterns(model, votes)
    stated = classes is not None
    keep = metric_order(given, metric, pos_label, stated=stated)
    ordered, place = in_metric_order(votes, keep, group)
    group = None if group is None else group[place]
    p = p[np.ix_(place, keep)]
    return Inputs(ordered, p, given[keep], given, keep, weight, cluster, group, model)


def in_metric_order(
    votes: Patterns, keep: IntArray, group: IntArray | None
) -> tuple[Patterns, IntArray]:
    """Return votes as codes of the metric's classes, patterns sorted by them, and where each was.

    Items are drawn into folds pattern by pattern, so that the names of the classes would else
    decide which.
    """
    codes = recode(votes.patterns, np.argsort(keep))
    keys = codes.T[::-1] if group is None else (*codes.T[::-1], group)
    place = np.lexsort(keys)
    new = np.argsort(place)
    squares = None if votes.squares is None else votes.squares[place]
    ids = new[votes.ids] if len(votes.ids) else votes.ids
    ordered = replace(
        votes,
        patterns=codes[place],
        counts=votes.counts[place],
        ids=ids,
        squares=squares,
        classes=votes.classes[keep],
    )
    return ordered, place


def fit_default(
    votes: Patterns,
    weight: FloatArray | None,
    class_prior: Column | None,
    gold: IntArray | None = None,
) -> DetectorLabelModel:
    """Fit the label model that stands in where none is passed; ``gold`` are codes, -1 unknown."""
    labels = None if gold is None else labels_of(gold, votes.classes)
    return DetectorLabelModel().fit(
        votes, y_true=labels, class_prior=class_prior, sample_weight=weight
    )


def refitted(
    inputs: Inputs, label_model: Any, gold: IntArray, class_prior: Column | None
) -> FloatArray:
    """Return P(Y | pattern) of the label model fitted again to these votes and true labels.

    ``gold`` are codes of ``inputs.classes``, -1 where unknown; all may be unknown.
    """
    codes = recode(inputs.votes.patterns, inputs.keep)
    votes = replace(inputs.votes, patterns=codes, classes=inputs.given)
    known = np.where(gold >= 0, inputs.keep[np.maximum(gold, 0)], -1)
    some = known if (known >= 0).any() else None
    if label_model is not None:
        return refitted_proba(label_model, votes, known, class_prior)[:, inputs.keep]
    model = fit_default(votes, inputs.weight, class_prior, some)
    return proba_of_patterns(model, votes)[:, inputs.keep]


def _split(votes: Patterns, group: IntArray) -> tuple[Patterns, IntArray]:
    """Return one pattern per pair of votes and group that occurs, and the group of each."""
    found, ids, counts = np.unique(
        group.astype(np.int64) * len(votes.patterns) + votes.ids,
        return_inverse=True,
        return_counts=True,
    )
    of, which = np.divmod(found, len(votes.patterns))
    apart = replace(votes, patterns=votes.patterns[which], counts=counts, ids=ids.reshape(-1))
    return apart, of


def _read_votes(
    predictions: dict[str, Column | Frame],
    weak_labels: Frame | Patterns,
    label_model: Any,
    classes: Column | None,
    null: str,
) -> Patterns:
    """Return the votes, with the classes given, or those of the label model, or those found."""
    order, found = check_classes(classes) if classes is not None else classes_of(label_model), {}
    if order is None:
        hard = {name: v for name, v in predictions.items() if not is_matrix(v)}
        found = {name: encode_labels({name: v})[1] for name, v in hard.items()}
    votes = read_weak_labels(weak_labels, order, also=found, null=null, beside_rows=True)
    require_two_classes(votes.classes, *predictions, "weak_labels")
    # Weights that were counted into patterns would be counted twice.
    return replace(votes, counts=np.bincount(votes.ids, minlength=len(votes.patterns)))


def metric_order(
    classes: AnyArray, metric: MetricBase | None, pos_label: Any, *, stated: bool
) -> IntArray:
    """Return the positions of the classes in the order of a metric, the positive one last."""
    if metric is None:
        return np.arange(len(classes))
    name = "y_pred and weak_labels"
    ordered = metric._order_of(classes, pos_label=pos_label, stated=stated, name=name)
    known = classes.tolist()
    if lacking := [c for c in ordered.tolist() if c not in known]:
        raise LabelError(
            f"{metric.title} is about {named(ordered.tolist())} and {name} hold "
            f"{named(known)}; {named(lacking)} does not occur",
            Remedy("Name all classes with ", Option("classes"), after=". "),
        )
    return np.array([known.index(c) for c in ordered.tolist()])


def read_gold(y_true: Column | None, order: AnyArray, n: int) -> tuple[IntArray, BoolArray] | None:
    """Return the true labels as codes, -1 where unknown, and a mask of the known ones; or None."""
    if y_true is None:
        return None
    codes = encode_gold(y_true, order)
    check_same_length(weak_labels=range(n), y_true=codes)
    return codes, codes >= 0
