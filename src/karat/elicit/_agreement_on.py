"""Whether an elicited metric predicts answers that it was not learned from."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat._frames import keeps_kind
from karat._typing import BoolArray
from karat._validate import check_confidence, check_same_length
from karat.elicit.answers import (
    ROUNDING,
    AgreementOnPairs,
    check_pairs,
    mcnemar_p_value,
    metric_margin,
    paired_limits,
)
from karat.elicit.transcript import SIGNS, Query, check_answer
from karat.limits import clopper_pearson
from karat.metrics import MetricBase, as_metric

__all__ = ["agreement_on"]


@keeps_kind
def agreement_on(
    metric: MetricBase | str,
    pairs: Sequence[Query],
    answers: Sequence[str],
    *,
    baseline: MetricBase | str | None = None,
    confidence: float = 0.95,
) -> AgreementOnPairs:
    r"""Return how often a metric prefers what a person prefers (Hiranandani 2021, equation 8.2).

    .. math:: \mathcal M = \frac1n \sum_{i=1}^n
        \mathbf 1[\text{person's preference } i = \text{metric's preference } i]

    over the n answers that prefer a side. A person's tie says nothing of which side is better, and
    a skip nothing at all: both are left out and counted. Where the metric has the same value for
    both sides and the person prefers one, the metric does not agree.

    The limits are Clopper and Pearson's. They hold for pairs that were drawn at random and not
    used to find the metric, such as `evaluation_pairs`. Against a baseline (the person's own guess
    of the costs, say, or accuracy) McNemar's exact test asks whether both metrics are right equally
    often. The limits of the difference combine the Clopper–Pearson limits of the share of answers
    on which exactly one metric is right with those of the metric's part of them, at a tenth and at
    nine tenths of the error: they hold for any number of answers, and are wider than an
    approximation's.

    Parameters
    ----------
    metric : Metric or str
        The elicited metric.
    pairs : sequence of Query
        What was asked.
    answers : sequence of str
        What was answered: ``first``, ``second``, ``tie`` or ``skip`` for each pair.
    baseline : Metric or str, optional
        A metric to compare with, on the same answers.
    confidence : float, default 0.95
        Probability that the limits hold.

    Returns
    -------
    AgreementOnPairs

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace, MetricOracle, evaluation_pairs
    >>> from karat.metrics import cost_matrix
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> pairs = evaluation_pairs(space, rng=0)
    >>> person = MetricOracle(cost_matrix([[0, 1], [6, 0]]))
    >>> answers = [person(pair) for pair in pairs]
    >>> agreement_on(cost_matrix([[0, 1], [5, 0]]), pairs, answers, baseline="accuracy")
    <AgreementOnPairs: The metric agrees with 100 % of 15 answers (95 %: 78 % to 100 %); the
    baseline with 67 %, a difference of +33 points (-5 to +71; McNemar's p = 0.062).>
    """
    asked = check_pairs(pairs)
    given = [check_answer(answer) for answer in answers]
    check_same_length(pairs=asked, answers=given)
    level = check_confidence(confidence)
    signs = np.array([SIGNS[answer] for answer in given], dtype=float)
    decided = np.flatnonzero(np.nan_to_num(signs))
    n = len(decided)
    told = [(asked[i], float(signs[i])) for i in decided]
    right = _agrees(as_metric(metric), told)
    alone = AgreementOnPairs(
        agreement=clopper_pearson(int(right.sum()), n, confidence=level),
        n=n,
        n_ties=given.count("tie"),
        n_skips=given.count("skip"),
        confidence=level,
    )
    if baseline is None:
        return alone
    other = _agrees(as_metric(baseline), told)
    only = int((right & ~other).sum()), int((other & ~right).sum())
    lower, upper = paired_limits(*only, n, level)
    return replace(
        alone,
        baseline=clopper_pearson(int(other.sum()), n, confidence=level),
        only_metric=only[0],
        only_baseline=only[1],
        difference=(only[0] - only[1]) / n if n else float("nan"),
        difference_lower=lower,
        difference_upper=upper,
        p_value=mcnemar_p_value(*only),
    )


def _agrees(metric: MetricBase, told: list[tuple[Query, float]]) -> BoolArray:
    """Return of each pair whether the metric prefers the side of the answer's sign."""
    margins = np.array([metric_margin(metric, pair) for pair, _ in told], dtype=float)
    signs = np.array([sign for _, sign in told], dtype=float)
    return np.asarray(margins * signs > ROUNDING)
