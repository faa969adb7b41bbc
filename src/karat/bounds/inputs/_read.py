"""From what users pass to counts, patterns and P(Y | pattern)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_pos_label,
    check_same_length,
    check_weights,
    encode_gold,
    encode_groups,
    encode_labels,
    is_matrix,
    refuse_lazy,
    require_two_classes,
)
from karat.exceptions import LabelError
from karat.statistics import Patterns
from karat.statistics.kernels import recode
from karat.votes.reading import read_weak_labels
from karat.weak import DetectorLabelModel
from karat.weak.models import classes_of, labels_of, null_of, proba_of_patterns, refitted_proba

__all__ = ["Inputs", "fit_default", "positive_last", "read_gold", "read_inputs", "refitted"]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Checked data: the patterns, P(Y | pattern) of the label model, and the items.

    ``p[z]`` is P(Y | pattern z). ``given`` is the order in which users pass columns of classes;
    ``classes`` has the positive class last, and equals ``given[keep]``. ``weight`` and ``cluster``
    have one entry per item. ``group`` is the group of each pattern, where the same votes in two
    groups are two patterns. ``model`` is the label model as passed, or the one fitted instead.
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

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.votes.ids)

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
            "every vote in weak_labels abstains or is null; pass at least one labeler that votes"
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
    keep = positive_last(given, pos_label)
    codes = recode(votes.patterns, np.argsort(keep))
    ordered = replace(votes, patterns=codes, classes=given[keep])
    return Inputs(ordered, p[:, keep], given[keep], given, keep, weight, cluster, group, model)


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


def positive_last(classes: AnyArray, pos_label: Any) -> IntArray:
    """Return the positions of the classes with the positive one last."""
    places = np.arange(len(classes))
    if pos_label is None:
        return places
    at = check_pos_label(pos_label, classes)
    return np.append(np.delete(places, at), at)


def read_gold(y_true: Column | None, order: AnyArray, n: int) -> tuple[IntArray, BoolArray] | None:
    """Return the true labels as codes, -1 where unknown, and a mask of the known ones; or None."""
    if y_true is None:
        return None
    codes = encode_gold(y_true, order)
    check_same_length(weak_labels=range(n), y_true=codes)
    return codes, codes >= 0
