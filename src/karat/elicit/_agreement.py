"""How often a metric and a person agree on pairs of classifiers, and which pairs to ask about."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from karat._result import Estimate, Estimated, keeps_kind, stacked
from karat._sentences import Argument, Expected, Option, Remedy, Shown
from karat._typing import BoolArray, FloatArray
from karat._validate import (
    check_confidence,
    check_count,
    check_number,
    check_rng,
    check_same_length,
)
from karat.elicit._rate_space import JointRates, RateSpace
from karat.elicit.answers import check_pairs
from karat.elicit.checks import (
    drawn_in,
    mcnemar_p_value,
    neither_dominates,
    paired_limits,
    safest_classifier,
    worst_rates,
)
from karat.elicit.oracles import ROUNDING, metric_margin
from karat.elicit.spaces import QuestionSpace, Space
from karat.elicit.transcript import SIGNS, Query, check_answer
from karat.exceptions import ElicitationError
from karat.limits import clopper_pearson
from karat.metrics import as_metric
from karat.metrics.base import MetricBase


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
        estimate=clopper_pearson(int(right.sum()), n, confidence=level).estimate,
        n=n,
        n_ties=given.count("tie"),
        n_skips=given.count("skip"),
    )
    if baseline is None:
        return alone
    other = _agrees(as_metric(baseline), told)
    only = int((right & ~other).sum()), int((other & ~right).sum())
    lower, upper = paired_limits(*only, n, level)
    apart = (only[0] - only[1]) / n if n else math.nan
    return replace(
        alone,
        baseline=clopper_pearson(int(other.sum()), n, confidence=level).estimate,
        only_metric=only[0],
        only_baseline=only[1],
        difference=Estimate.of(apart, lower, upper, level, "finite-sample"),
        p_value=mcnemar_p_value(*only),
    )


def _agrees(metric: MetricBase, told: list[tuple[Query, float]]) -> BoolArray:
    """Return of each pair whether the metric prefers the side of the answer's sign."""
    margins = np.array([metric_margin(metric, pair) for pair, _ in told], dtype=float)
    signs = np.array([sign for _, sign in told], dtype=float)
    return np.asarray(margins * signs > ROUNDING)


# --- How often a metric prefers what a person prefers.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgreementOnPairs(Estimated[float]):
    """The share of a person's answers that a metric gives too, and another metric beside it.

    Attributes
    ----------
    estimate : Estimate
        The share of the answers "first" and "second" that the metric agrees with (𝓜 of Hiranandani
        2021, equation 8.2, as a share), with exact limits, as ``value``, ``lower``, ``upper``,
        ``confidence`` and ``basis``.
    n : int
        Number of answers "first" or "second": what the share is of.
    n_ties, n_skips : int
        Answers that prefer neither side; they are in no share.
    baseline : Estimate or None
        The same share for the metric that this one is compared with.
    only_metric, only_baseline : int
        Answers that only the one of both metrics agrees with.
    difference : Estimate or None
        By how much the metric's share exceeds the baseline's, with limits that hold for any number
        of answers; None without a baseline.
    p_value : float
        McNemar's exact two-sided p-value of both metrics being right equally often; NaN without a
        baseline.
    """

    estimate: Estimate[float]
    n: int
    n_ties: int
    n_skips: int
    baseline: Estimate[float] | None = None
    only_metric: int = 0
    only_baseline: int = 0
    difference: Estimate[float] | None = None
    p_value: float = math.nan

    def summary(self) -> str:
        """Return the agreement, and how the baseline compares, in one sentence."""
        if self.n == 0:
            return "No answer prefers a side, so there is nothing to agree with."
        text = (
            f"The metric agrees with {_percent(self.value)} of {self.n} answers "
            f"({100 * self.confidence:g} %: {_percent(self.lower)} to "
            f"{_percent(self.upper)})"
        )
        if self.n_ties:
            text += f", {self.n_ties} tie{'s' * (self.n_ties > 1)} left out"
        if self.baseline is None or self.difference is None:
            return text + "."
        apart = self.difference
        return text + (
            f"; the baseline with {_percent(self.baseline.value)}, a difference of "
            f"{100 * apart.value:+.0f} points ({100 * apart.lower:+.0f} to "
            f"{100 * apart.upper:+.0f}; McNemar's p = {self.p_value:.2g})."
        )

    def _columns(self) -> dict[str, Any]:
        shares = {"metric": self.estimate, "baseline": self.baseline}
        return stacked("name", {name: share for name, share in shares.items() if share is not None})

    def _table(self) -> list[tuple[str, str]]:
        rows = [("answers, ties, skips", f"{self.n}, {self.n_ties}, {self.n_skips}")]
        if self.baseline is not None:
            rows += [
                ("only the metric agrees", str(self.only_metric)),
                ("only the baseline agrees", str(self.only_baseline)),
            ]
        return rows


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# --- Pairs to see whether an elicited metric is what the person wants.

# Pairs that are tried before giving up, and where each of them must be rounded.
_MOST_DRAWN, _MOST_SHOWN = 20_000, 1_000
_POOL = 1_000  # classifiers that a batch of pairs is mixed of, at most


def evaluation_pairs(
    space: Space,
    n: int = 15,
    *,
    out_of: int | None = None,
    worst_rate: float = 1.0,
    rng: int | np.random.Generator | None = None,
) -> tuple[Query, ...]:
    """Draw random pairs of attainable classifiers of which neither is better whatever one wants.

    Each side is a random mixture of two classifiers that are best for random trade-offs: attained,
    but not where the elicitation asked. Pairs of which one side has no more of any error (in any
    group, for a space with groups) are left out: every metric that counts errors agrees on them,
    so that they make any metric look good. Answered by a person, the rest says how well an elicited
    metric predicts that person (Hiranandani 2021, section 8.2.3 and equation 8.2); see
    `agreement_on`.

    Parameters
    ----------
    space : Space
        What classifiers attain.
    n : int, default 15
        How many pairs.
    out_of : int, optional
        Number of cases that the pairs will be shown for. Neither side then dominates in the whole
        numbers of ``query.counts(out_of)`` either, and no two sides look alike.
    worst_rate : float, default 1
        Greatest share of any class (in any group) that a side may get wrong; 0.5 leaves out
        classifiers that nobody would consider. Where hardly any pair is that good, as is common
        with three classes, sides are mixed with the classifier that is least wrong on its worst
        class, by a random share of those that suffice.
    rng : int or generator, optional
        Randomness of the draws.

    Returns
    -------
    tuple of Query

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> pairs = evaluation_pairs(space, 3, rng=0)
    >>> [(pair.first - pair.second).round(2).tolist() for pair in pairs][0]
    [[-0.01, 0.01], [-0.05, 0.05]]
    """
    wanted = check_count(n, "n")
    cases = None if out_of is None else check_count(out_of, "out_of")
    worst = check_number(worst_rate, "worst_rate", at_least=0.0, at_most=1.0)
    if not isinstance(space, Space):
        raise ElicitationError(
            Argument("space"),
            f" is {type(space).__name__}; expected ",
            Expected("a Space, such as BinarySpace.from_scores"),
        )
    asked: QuestionSpace = space
    if isinstance(space, RateSpace) and space.parts:
        asked = JointRates(space)
    found: list[Query] = []
    drawn = 0
    most = max(_MOST_DRAWN if cases is None else _MOST_SHOWN, 4 * wanted)
    for batch in _fit_batches(asked, 4 * wanted, most, worst, check_rng(rng)):
        drawn += len(batch[0])
        found += islice(_kept(asked, space.sign, batch, cases, worst), wanted - len(found))
        if len(found) == wanted:
            return tuple(found)
    raise ElicitationError(
        f"{len(found)} of {drawn:,} random pairs of this space pose a question and {wanted} are "
        "wanted: in the others one side is at least as good in every kind of error"
        + (f", or looks the same out of {cases:,}" if cases else "")
        + ". Pass a model that has to trade errors off"
        + (", or a greater out_of" if cases else "")
        + (", or a greater worst_rate" if worst < 1.0 else "")
    )


def _check_attained(safest: FloatArray, worst: float) -> None:
    """Refuse a rate that no classifier keeps, or one only."""
    least = float(worst_rates(safest[None])[0])
    if least >= worst - 1e-9:
        enough = min(1.0, np.ceil(20 * least + 0.5) / 20)
        raise ElicitationError(
            Argument("worst_rate"),
            f" is {worst:g} and every classifier of this space that was found is wrong on "
            f"{least:.3f} of some class or more",
            Remedy("pass ", Option("worst_rate", Shown(f"{enough:g}")), " or more"),
            given=worst,
        )


def _fit_batches(
    asked: QuestionSpace, size: int, most: int, worst: float, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield pairs as they come, and where those do not suffice, pairs that are made to fit.

    Hardly any classifier that is best for something is good at all of three classes.
    """
    yield from _batches(asked, size, most, rng)
    if worst < 1.0:
        safest = safest_classifier(asked.sample(_POOL, rng=rng))
        _check_attained(safest, worst)
        for first, second in _batches(asked, size, most, rng):
            yield drawn_in(first, safest, worst, rng), drawn_in(second, safest, worst, rng)


def _batches(
    asked: QuestionSpace, size: int, most: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield more and more pairs of mixtures of two classifiers that are best for something."""
    drawn = 0
    while drawn < most:
        size = min(size, most - drawn)
        best = asked.sample(min(4 * size, _POOL), rng=rng)
        one, other = rng.integers(0, len(best), (2, 2 * size))
        # In each group by itself: a classifier that sees the group may mix in one of them only.
        share = rng.random((2 * size, *best.shape[1:-2], 1, 1))
        mixed = share * best[one] + (1.0 - share) * best[other]
        yield mixed[:size], mixed[size:]
        drawn, size = drawn + size, 2 * size


def _kept(
    asked: QuestionSpace,
    sign: int,
    batch: tuple[FloatArray, FloatArray],
    cases: int | None,
    worst: float,
) -> Iterator[Query]:
    """Yield the pairs that pose a question, as they are and as they will be shown."""
    first, second = batch
    good = neither_dominates(*(sign * asked.coordinates(side) for side in batch))
    good &= np.maximum(worst_rates(first), worst_rates(second)) <= worst + 1e-12
    for i in np.flatnonzero(good):
        pair = Query(first[i], second[i])
        if cases is not None:
            shown = np.array(pair.counts(cases), dtype=np.float64)
            one, other = sign * asked.coordinates(shown)
            if not neither_dominates(one[None], other[None])[0]:
                continue
        yield pair
