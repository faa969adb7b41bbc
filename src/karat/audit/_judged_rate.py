"""The rate of a system that imperfect judges scored, from verdicts and a few true labels.

`read_verdicts` turns verdicts into what each judge says of the positive class; `class_limits` is
the rate from labels of balanced sets, by inverting the judges' own error rates (Rogan and Gladen
1978), with the errors of all rates in its limits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy, Row
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    check_confidence,
    check_flag,
    check_pos_label,
    check_rng,
    check_same_length,
    check_scores,
    encode_gold,
    encode_groups,
    encode_weak_labels,
    is_matrix,
    named,
    order_classes,
    present_gold,
    read_column,
    refuse_lazy,
    refuse_option,
    require_two_classes,
)
from karat.audit.result import JudgedRate
from karat.exceptions import AuditError, LabelError, ProbabilityError
from karat.limits import Limits
from karat.limits.prediction_powered import limits_of_mean
from karat.limits.resampling import enough_draws

_DESIGNS = ("random", "by-class", "probability")


@keeps_kind
def judged_rate(
    verdicts: Column | Frame,
    y_true: Column,
    *,
    labels: str = "random",
    label_probability: Column | None = None,
    against: Column | Frame | None = None,
    y_true_against: Column | None = None,
    clusters: Column | None = None,
    classes: Column | None = None,
    pos_label: Any = None,
    finite: bool = False,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> JudgedRate:
    r"""Estimate how often a system passes, from judges that err and a few true labels.

    With labels of a random sample it is the prediction-powered mean of
    `karat.limits.prediction_powered_mean` with a column for every judge. With labels of sets that
    were drawn class by class, the share p of positive verdicts is corrected by the judges' own
    rates,

    .. math:: \hat\theta = \frac{\hat p + \hat q_0 - 1}{\hat q_0 + \hat q_1 - 1}

    (Rogan and Gladen 1978; for more classes :math:`C^{-\top} p`), of the majority of the judges,
    and the limits hold the errors of all three.

    Parameters
    ----------
    verdicts : column (n,) or matrix (n, m)
        What each judge says of each output: null was not asked, −1 abstained.
    y_true : column (n,)
        The true verdict on some of the outputs; null or −1 elsewhere.
    labels : {"random", "by-class", "probability"}
        How the labelled outputs were chosen: at random, so many of each true class (or of each set
        that is known to hold one class), or with known probabilities. Outputs that somebody picked
        because they look doubtful say nothing of the others.
    label_probability : column (n,), optional
        With ``"probability"``, that of every output.
    against : column (n,) or matrix (n, m), optional
        Verdicts on another system's outputs for the same prompts: the difference of the two rates.
    y_true_against : column (n,), optional
        The true verdicts on these; prompts count where both are known.
    clusters : column (n,), optional
        What outputs belong to together, such as repeats of a prompt.
    classes : column (k,), optional
        The possible verdicts; by default those found, sorted.
    pos_label : label, optional
        The verdict whose rate is meant. By default the last of ``classes``, else, of two verdicts,
        the one that they tell: 1 of 0 and 1, True, or a word such as "yes", "pass" or "correct".
        Where nothing tells it, the call is refused.
    finite : bool, default False
        Whether the rate of exactly these outputs is meant, and not that of the system; labels of
        balanced sets tell of the system alone.
    confidence : float, default 0.95
        Probability that the limits hold.
    rng : int or generator, optional
        Source of randomness.

    Returns
    -------
    JudgedRate

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.7
    >>> judge = np.where(rng.random(1000) < 0.85, truth, ~truth)
    >>> known = [int(t) if i < 80 else None for i, t in enumerate(truth)]
    >>> r = judged_rate(judge.astype(int), known)
    >>> bool(r.lower < 0.7 < r.upper), r.upper - r.lower < r.labels.width
    (True, True)
    """
    if isinstance(labels, str) and labels in ("picked", "hand-picked"):
        raise AuditError(
            Argument("labels"),
            f" is {labels!r}: labels of outputs that somebody picked say nothing of "
            "the others, whatever the judges say",
            Remedy(
                "Label a random sample, or declare the design: ",
                Option("labels", "random"),
                ", 'by-class' or 'probability'",
                after=". ",
            ),
        )
    design = check_choice(labels, "labels", _DESIGNS)
    refuse_lazy(
        verdicts=verdicts,
        y_true=y_true,
        label_probability=label_probability,
        against=against,
        y_true_against=y_true_against,
        clusters=clusters,
    )
    level, generator = check_confidence(confidence), check_rng(rng)
    exactly = check_flag(finite, "finite")
    first = read_verdicts(verdicts, y_true, classes, pos_label)
    group, _ = encode_groups(clusters, name="clusters")
    check_same_length(verdicts=first.codes, clusters=group)
    chance = _probability(label_probability, first, design)
    second = _other(against, y_true_against, first, design)
    if design == "by-class":
        if exactly:
            refuse_option(
                finite,
                "finite",
                "False with labels='by-class', which tell of the law "
                "that the unlabelled outputs come from",
            )
        return _by_class(first, group, level, generator)
    known = first.known if second is None else first.known & second.known
    f = (first.truth[known] == first.positive).astype(float)
    x, span = first.says(), (0.0, 1.0)
    if second is not None:
        f = (f - (second.truth[known] == second.positive) + 1) / 2
        x, span = (x - second.says() + 1) / 2, (-1.0, 1.0)
    found = limits_of_mean(
        f,
        x[known],
        x.mean(axis=0) - _mean(x[known], chance, known),
        float(len(x)),
        delta=(1 - level) / 2,
        finite=exactly,
        weight=None if chance is None else 1 / chance[known],
        cluster=None if group is None else _recoded(group[known]),
    )

    def back(v: float) -> float:
        return span[0] + (span[1] - span[0]) * v

    alone = Limits(
        estimate=Estimate.of(
            back(found.labels),
            back(found.labels_lower),
            back(found.labels_upper),
            level,
            "approximate",
        ),
        side="both",
        method="clopper-pearson" if found.exact else "wilson",
        n=float(len(f)),
    )
    return JudgedRate(
        estimate=Estimate.of(
            back(found.value), back(found.lower), back(found.upper), level, "approximate"
        ),
        labels=alone,
        judged=back(float(x.mean())),
        used=found.left < 1,
        design=design,
        difference=second is not None,
        judges=tuple(first.names),
        n_labels=len(f),
        n_items=len(x),
        pos_label=first.classes[first.positive].item(),
    )


def _mean(x: FloatArray, chance: FloatArray | None, known: Any) -> FloatArray:
    if not len(x):
        return np.zeros(x.shape[1])
    weight = None if chance is None else 1 / chance[known]
    return np.asarray(x.mean(axis=0) if weight is None else weight @ x / weight.sum())


def _recoded(codes: IntArray) -> IntArray:
    return np.unique(codes, return_inverse=True)[1]


def _probability(given: Column | None, seen: Verdicts, design: str) -> FloatArray | None:
    if design != "probability":
        if given is not None:
            refuse_option("label_probability", "labels", "'probability' with label_probability=")
        return None
    if given is None:
        refuse_option(None, "label_probability", "the probability of every output to be labelled")
    p = check_scores(given, "label_probability")
    check_same_length(verdicts=seen.codes, label_probability=p)
    bad = np.flatnonzero(((p <= 0) | (p > 1)) & seen.known)
    if len(bad):
        raise ProbabilityError(
            Argument("label_probability"),
            Row(bad[0]),
            f" is {p[bad[0]]:g} and the output has a label; expected ",
            Expected("a number above 0 and at most 1"),
            ". An output of probability 0 could not have been drawn",
        )
    return p


def _other(against: Any, y_true: Column | None, first: Verdicts, design: str) -> Verdicts | None:
    if against is None:
        return None
    if y_true is None:
        refuse_option(None, "y_true_against", "the true verdicts on the other system's outputs")
    if design == "by-class":
        refuse_option(design, "labels", "'random' or 'probability' for a difference of two systems")
    second = read_verdicts(against, y_true, first.classes, None)
    check_same_length(verdicts=first.codes, against=second.codes)
    if not (first.known & second.known).any():
        raise LabelError(
            "no prompt has a true label for both systems; label the outputs of both for the same "
            "prompts"
        )
    return second


def _by_cluster(seen: Verdicts, majority: IntArray, group: IntArray) -> FloatArray:
    """Return verdicts by truth, those without a label last, of every cluster."""
    k = len(seen.classes)
    found = np.zeros((int(group.max()) + 1, k + 1, k))
    row = np.where(seen.known, seen.truth, k)
    cast = majority >= 0
    np.add.at(found, (group[cast], row[cast], majority[cast]), 1)
    return found


def _by_class(
    seen: Verdicts, group: IntArray | None, level: float, rng: np.random.Generator
) -> JudgedRate:
    k, majority = len(seen.classes), seen.majority()
    labelled, cast = seen.known, majority >= 0
    right = np.zeros((k, k))
    np.add.at(right, (seen.truth[labelled & cast], majority[labelled & cast]), 1)
    for c in range(k):
        if right[c].sum() == 0:
            raise LabelError(
                f"no labelled output is {seen.classes[c].item()!r}; with ",
                Option("labels", "by-class"),
                " expected some of every class, since the judges' errors on each are needed",
            )
    rest = np.bincount(majority[~labelled & cast], minlength=k).astype(float)
    if not rest.sum():
        raise LabelError(
            "every output has a label, and ",
            Option("labels", "by-class"),
            " does not say how often each class occurs",
            Remedy("pass the unlabelled outputs too"),
        )
    tables = None if group is None else _by_cluster(seen, majority, _recoded(group))
    value, low, high = class_limits(right, rest, delta=(1 - level) / 2, rng=rng, clusters=tables)
    return JudgedRate(
        estimate=Estimate.of(value, low, high, level, "approximate"),
        labels=None,
        judged=float(rest[-1] / rest.sum()),
        used=True,
        design="by-class",
        difference=False,
        judges=tuple(seen.names),
        n_labels=int(labelled.sum()),
        n_items=int((~labelled).sum()),
        pos_label=seen.classes[seen.positive].item(),
    )


# --- The rate of a class from the verdicts on all items and the judges' own error rates.


def class_limits(
    right: FloatArray,
    seen: FloatArray,
    *,
    delta: float,
    rng: np.random.Generator,
    clusters: FloatArray | None = None,
) -> tuple[float, float, float]:
    """Return the share of the last class with its limits.

    ``right`` (k, k) counts the labelled items by truth and verdict, of sets drawn class by class;
    ``seen`` (k,) the verdicts on the items without a label. With P(verdict | truth) = C the shares
    θ solve Cᵀθ = p; of two classes that is (p + q₀ − 1)/(q₀ + q₁ − 1). Every row draws its shares
    with gamma variables, and one cell of all has a pseudo-count of ½ on top. Judges that are no
    better than chance leave everything open. ``clusters`` (clusters, k + 1, k) are the same counts
    of each cluster, those of ``seen`` last: all items of a cluster then draw one weight, and the
    pseudo-count is half a cluster of the usual size.
    """
    value = float(_share(right[None], seen[None])[0])
    rows = np.concatenate([right, seen[None]])
    draws = enough_draws(delta, least=4000, width=rows.size)
    extra = np.repeat(rng.standard_gamma(0.5, (draws, 1)), len(rows), axis=1)
    if clusters is None:
        shapes = np.where(rows > 0, rows, 1.0)
        base = rng.standard_gamma(shapes, (draws, *rows.shape)) * (rows > 0)
    else:
        drawn = rng.standard_gamma(1.0, (draws, len(clusters)))
        base = (drawn @ clusters.reshape(len(clusters), -1)).reshape(draws, *rows.shape)
        sums = clusters.sum(axis=2)
        extra = extra * sums.sum(axis=0) / np.maximum((sums > 0).sum(axis=0), 1)
    low, high = 1.0, 0.0
    for row in range(rows.shape[0]):
        for cell in range(rows.shape[1]):
            table = base.copy()
            table[:, row, cell] += extra[:, row]
            values = _share(table[:, :-1], table[:, -1])
            ends = [np.where(np.isfinite(values), values, end) for end in (0.0, 1.0)]
            low = min(low, float(np.quantile(ends[0], delta)))
            high = max(high, float(np.quantile(ends[1], 1 - delta)))
    return value, low, high


def _share(right: FloatArray, seen: FloatArray) -> FloatArray:
    """Return the share of the last class of each draw; NaN where verdicts say nothing."""
    rates = right / right.sum(axis=2, keepdims=True)
    p = seen / seen.sum(axis=1, keepdims=True)
    k = p.shape[1]
    if k == 2:
        strength = rates[:, 0, 0] + rates[:, 1, 1] - 1
        top = p[:, 1] + rates[:, 0, 0] - 1
        ok = strength > 0
        found = np.divide(top, strength, out=np.full(len(p), np.nan), where=ok)
        return np.asarray(np.clip(found, 0.0, 1.0))
    shares = np.full(p.shape, np.nan)
    ok = np.abs(np.linalg.det(rates)) > 1e-9
    if ok.any():
        shares[ok] = np.linalg.solve(np.swapaxes(rates[ok], 1, 2), p[ok][:, :, None])[:, :, 0]
    clipped = np.clip(shares, 0.0, None)
    return np.asarray(clipped[:, -1] / clipped.sum(axis=1))


# --- Verdicts of judges, and true labels of some items.


class Verdicts(NamedTuple):
    """Codes (n, judges), negative without a verdict; truth as codes, -1 unknown."""

    codes: IntArray
    truth: IntArray
    classes: AnyArray
    names: list[Any]

    @property
    def known(self) -> BoolArray:
        """Where there is a true label."""
        return np.asarray(self.truth >= 0)

    @property
    def positive(self) -> int:
        """Code of the class whose rate is asked for: the last one."""
        return len(self.classes) - 1

    def says(self) -> FloatArray:
        """Return 1 where a judge says the positive class, 0 where not, its mean where nothing."""
        cast = self.codes >= 0
        yes = (self.codes == self.positive) & cast
        mean = yes.sum(axis=0) / np.maximum(cast.sum(axis=0), 1)
        # Sums of rows depend in their last digit on how these lie in memory.
        return np.ascontiguousarray(np.where(cast, yes, mean))

    def majority(self) -> IntArray:
        """Return the class that most judges name; -1 without a verdict.

        In a tie it is the positive class, or where that is not among them the one that the first
        judge names: not the one whose name sorts last.
        """
        votes = np.stack([(self.codes == c).sum(axis=1) for c in range(len(self.classes))], axis=1)
        most = votes == votes.max(axis=1, keepdims=True)
        best, rows = np.full(len(votes), -1), np.arange(len(votes))
        for said in self.codes.T[::-1]:
            best = np.where((said >= 0) & most[rows, np.maximum(said, 0)], said, best)
        return np.where((best >= 0) & most[:, self.positive], self.positive, best)


def read_verdicts(
    verdicts: Column | Frame, y_true: Column, classes: Column | None, pos_label: Any
) -> Verdicts:
    """Check verdicts, of one judge or several, beside true labels of some items."""
    table = verdicts
    if not is_matrix(verdicts) and not hasattr(verdicts, "columns"):
        array, mask = read_column(verdicts, "verdicts")
        absent = np.zeros(len(array), bool) if mask is None else mask
        table = [[None if gone else v] for v, gone in zip(array.tolist(), absent, strict=True)]
    gold, present = present_gold(y_true)
    order = None if classes is None else check_classes(classes)
    found = encode_weak_labels(table, order, also={"y_true": gold[present]}, name="verdicts")
    require_two_classes(found.classes, "verdicts", "y_true")
    if len(found.classes) == 2:
        order = order_classes(
            found.classes, pos_label, stated=classes is not None, name="verdicts"
        ).classes
    elif pos_label is None and classes is None:
        raise LabelError(
            Argument("verdicts"),
            " and ",
            Argument("y_true"),
            f" hold {named(found.classes.tolist())}",
            Remedy(
                "say whose rate is wanted, for example ", Option("pos_label", found.classes[-1])
            ),
        )
    elif pos_label is not None:
        at = check_pos_label(pos_label, found.classes)
        order = np.concatenate([np.delete(found.classes, at), found.classes[at : at + 1]])
    found = encode_weak_labels(table, order, name="verdicts")
    truth = encode_gold(y_true, found.classes)
    check_same_length(verdicts=found.codes, y_true=truth)
    return Verdicts(found.codes, truth, found.classes, list(found.names))
