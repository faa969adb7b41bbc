"""From counts of (group, pattern, prediction) to a problem: the same as from the rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat._validate import check_probabilities, check_same_length
from karat.bounds.inputs._build import cross_fit, number_of_folds, plug_in
from karat.bounds.inputs._read import Inputs, fit_default, positive_last
from karat.bounds.problem import Problem, Sample, split_counts
from karat.exceptions import DataError, LabelError
from karat.statistics import PatternCounts, Patterns
from karat.statistics.kernels import recode
from karat.weak.models import proba_of_patterns

__all__ = ["counted_problem", "read_counted", "refuse_weighted_counts"]


def read_counted(
    counts: PatternCounts,
    label_model: Any,
    *,
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
    keep = positive_last(given, pos_label)
    ordered = replace(votes, patterns=recode(votes.patterns, np.argsort(keep)), classes=given[keep])
    inputs = Inputs(ordered, p[:, keep], given[keep], given, keep, None, None, group, model)
    return inputs, cells[..., keep]


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


def refuse_weighted_counts(counts: PatternCounts) -> None:
    """Refuse sums of weights, whose limits the squares of the weights would be needed for."""
    fractions = np.issubdtype(counts.counts.dtype, np.floating) and (counts.counts % 1).any()
    if fractions or counts.squares is not None:
        raise DataError(
            "counts are sums of weights, from which limits cannot be computed; count the rows "
            "without weights, or pass the rows to performance_bounds with sample_weight="
        )
