"""Counts of predictions, votes and labels from distinct rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column
from karat.sources.counting._grouped import FOLD, Grouped
from karat.statistics import Confusion, PatternCounts, VoteCounts, confusion, pattern_counts
from karat.statistics.reading import count_votes

__all__ = ["confusion_of", "pattern_counts_of", "vote_counts_of"]


def whole(counts: AnyArray, like: AnyArray) -> AnyArray:
    """Return sums of weights as whole numbers where the weights were counts of rows."""
    return np.rint(counts).astype(np.int64) if np.issubdtype(like.dtype, np.integer) else counts


def confusion_of(
    found: Grouped, label: str, pred: str, group: str | None, classes: Column | None
) -> Confusion:
    """Return truth against prediction."""
    counted = confusion(
        found.require(label, "label"),
        found.require(pred, "prediction"),
        sample_weight=found.counts,
        groups=None if group is None else found.require(group, "group"),
        classes=classes,
    )
    return replace(counted, counts=whole(counted.counts, found.counts))


def pattern_counts_of(
    found: Grouped,
    pred: str,
    weak: Sequence[str],
    group: str | None,
    classes: Column | None,
    null: str,
    folds: int,
) -> PatternCounts:
    """Return predictions by pattern of weak labels, with folds where they were counted."""
    columns: dict[str, Any] = {
        "groups": None if group is None else found.require(group, "group"),
        "classes": classes,
        "null": null,
    }
    predicted, votes = found.require(pred, "prediction"), found.rows.select(list(weak))
    columns["weighting"] = "frequency"
    all_rows = pattern_counts(predicted, votes, sample_weight=found.counts, **columns)
    by_fold = None
    if folds:
        fold = found.rows[FOLD].to_numpy()
        by_fold = np.zeros((folds, *all_rows.counts.shape), dtype=np.float64)
        for f in np.unique(fold):
            # A row of another fold weighs nothing, so that every fold has all patterns and classes.
            own = np.where(fold == f, found.counts, 0)
            by_fold[f] = pattern_counts(predicted, votes, sample_weight=own, **columns).counts
        by_fold = whole(by_fold, found.counts)
    return replace(all_rows, counts=whole(all_rows.counts, found.counts), by_fold=by_fold)


def vote_counts_of(
    found: Grouped,
    judges: Sequence[str],
    domain: str | None,
    label: str | None,
    classes: Column | None,
    null: str,
) -> VoteCounts:
    """Return votes by domain and true label, which may be missing."""
    truth = found.column(label)
    if truth is not None and truth.null_count() == len(truth):
        truth = None
    return count_votes(
        found.rows.select(list(judges)),
        found.counts,
        domains=None if domain is None else found.require(domain, "group"),
        y_true=truth,
        classes=classes,
        null=null,
        squares=found.squares,
    )
