"""Weak labels together with what is known of the truth: true labels of some items, P(Y)."""

from typing import NamedTuple

import numpy as np

from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_same_length,
    check_weights,
    encode_gold,
    named,
    present_gold,
    refuse_lazy,
    require_two_classes,
    shown,
)
from karat.exceptions import LabelError, WeightError
from karat.statistics import Patterns
from karat.statistics.kernels import distinct_votes
from karat.votes.reading import read_weak_labels
from karat.weak.models._requirements import check_class_prior
from karat.weak.models._votes import totals_of

__all__ = ["GoldCounts", "KnownVotes", "read_votes"]

# Items that a guess of P(Y), half from the votes and half equal shares, is worth beside counts.
_PSEUDO = 10.0


class KnownVotes(NamedTuple):
    """The patterns, and what is known of the truth.

    ``gold[z, y]`` are the items (or their weights) of pattern z whose true class is y, or None.
    ``prior`` is P(Y) where it was passed or can be counted, and ``known`` says which:
    ``"class_prior"``, ``"y_true"`` or ``"nothing"``; ``labels`` counts the true labels, whatever
    they weigh.
    """

    found: Patterns
    gold: FloatArray | None
    prior: FloatArray | None
    known: str
    labels: int = 0

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.found.classes)

    @property
    def gold_n(self) -> float:
        """Number of true labels, or the sum of their weights."""
        return 0.0 if self.gold is None else float(self.gold.sum())

    def apart(self) -> tuple[IntArray, FloatArray, IntArray]:
        """Return codes, weights and classes of rows; -1 is the class of items without a label."""
        codes, weight = self.found.patterns, self.found.counts.astype(np.float64)
        if self.gold is None:
            used = weight > 0
            return codes[used], weight[used], np.full(int(used.sum()), -1)
        rest = np.maximum(weight - self.gold.sum(axis=1), 0.0)
        table = np.column_stack([rest, self.gold])
        table[rest < 1e-9 * np.maximum(weight, 1e-300), 0] = 0.0  # nothing but rounding is left
        row, label = np.nonzero(table)
        return codes[row], table[row, label], label - 1


class GoldCounts(NamedTuple):
    """The true labels of the patterns that have some."""

    patterns: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, patterns: IntArray, counts: FloatArray) -> "GoldCounts":
        """Keep the patterns whose ``counts[z, y]`` are not all zero."""
        seen = counts.sum(axis=1) > 0
        return cls(patterns[seen], counts[seen])

    def added_to(self, base: FloatArray, codes: IntArray, worth: float) -> FloatArray:
        """Return P(Y | z) from the counts of z and ``worth`` items spread like ``base``."""
        at = _find_rows(codes, self.patterns, base.shape[1])
        counts = np.where(at[:, None] >= 0, self.counts[at], 0.0)
        total = counts.sum(axis=1, keepdims=True) + worth
        mixed = counts + worth * base
        return np.where(total > 0, mixed / np.where(total > 0, total, 1.0), base)


def _find_rows(codes: IntArray, known: IntArray, k: int) -> IntArray:
    """Return which row of ``known`` each row of ``codes`` equals, -1 for none."""
    ids, first = distinct_votes(np.concatenate([known, codes]), k)
    row_of = np.full(len(first), -1)
    row_of[ids[: len(known)]] = np.arange(len(known))
    return row_of[ids[len(known) :]]


def read_votes(
    weak_labels: Frame | Patterns,
    *,
    y_true: Column | None,
    classes: Column | None,
    class_prior: Column | None,
    sample_weight: Column | None,
    null: str,
    any_label: bool = False,
) -> KnownVotes:
    """Read what a label model is fitted to; without ``class_prior`` true labels give P(Y).

    ``any_label`` lets true labels be classes that no labeler votes for and ``classes`` does not
    name.
    """
    if y_true is None:
        found = read_weak_labels(weak_labels, classes, sample_weight=sample_weight, null=null)
        _require_votes(found)
        prior = check_class_prior(class_prior, found.classes)
        return KnownVotes(found, None, prior, "nothing" if prior is None else "class_prior")
    found, gold, labels = _gold_counts(weak_labels, y_true, classes, sample_weight, null)
    _require_votes(found)
    if classes is None and not any_label:
        _refuse_unvoted(y_true, found, weak_labels)
    prior = check_class_prior(class_prior, found.classes)
    if prior is None:
        return KnownVotes(found, gold, _gold_prior(found, gold), "y_true", labels)
    return KnownVotes(found, gold, prior, "class_prior", labels)


def _refuse_unvoted(y_true: Column, found: Patterns, weak_labels: Frame | Patterns) -> None:
    """Refuse a true label of a class that nobody votes for, unless the user named the classes."""
    if isinstance(weak_labels, Patterns):
        voted = np.isin(found.classes, weak_labels.classes)
    else:
        voted = np.isin(np.arange(len(found.classes)), found.patterns)
    codes = encode_gold(y_true, found.classes)
    strange = np.flatnonzero((codes >= 0) & ~voted[codes])
    if len(strange):
        row = int(strange[0])
        raise LabelError(
            f"y_true row {row} is {shown(found.classes[codes[row]])}, and no labeler votes for it: "
            f"the votes hold {named(list(found.classes[voted]))}. If it is a class all the same, "
            "name all classes in classes="
        )


def _require_votes(found: Patterns) -> None:
    require_two_classes(found.classes, "weak_labels")
    if (found.patterns < 0).all():
        raise LabelError(
            "every vote in weak_labels abstains or is null; pass at least one labeler that votes"
        )


def _gold_prior(found: Patterns, gold: FloatArray) -> FloatArray:
    """Return (counts + 10·(½ share of the votes + ½/k)) / (n + 10)."""
    k = len(found.classes)
    votes = found.counts @ totals_of(found.patterns, k)
    guess = 0.5 * votes / max(votes.sum(), 1e-300) + 0.5 / k
    labels = gold.sum(axis=0)
    return np.asarray((labels + _PSEUDO * guess) / (labels.sum() + _PSEUDO))


def _gold_counts(
    weak_labels: Frame | Patterns,
    y_true: Column,
    classes: Column | None,
    sample_weight: Column | None,
    null: str,
) -> tuple[Patterns, FloatArray, int]:
    """Return the patterns of all rows, the items of each pattern and true class, and the labels."""
    refuse_lazy(weak_labels=weak_labels)  # its rows are matched with those of y_true
    values, present = present_gold(y_true)
    also = {"y_true": values} if classes is None else None
    found = read_weak_labels(
        weak_labels, classes, sample_weight=sample_weight, also=also, null=null, by_row=True
    )
    if classes is None:
        require_two_classes(found.classes, "weak_labels", "y_true")
    codes = encode_gold(y_true, found.classes)
    weight = check_weights(sample_weight)
    check_same_length(y_true=codes, weak_labels=found.ids, sample_weight=weight)
    if weight is not None and not weight[present].any():
        raise WeightError(
            "sample_weight is 0 in every row that has a true label; give one a weight"
        )
    k = len(found.classes)
    cells = found.ids[present] * k + codes[present]
    some = None if weight is None else weight[present]
    counts = np.bincount(cells, weights=some, minlength=len(found.patterns) * k)
    return found, counts.reshape(-1, k).astype(np.float64), int(present.sum())
