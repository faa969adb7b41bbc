"""Whether people hesitate, and err, where two classifiers are nearly equally good."""

from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import FloatArray
from karat._validate import check_count, check_rng, refuse_option
from karat.elicit.answers import (
    ROUNDING,
    IndifferenceTest,
    centred_ranks,
    logistic_slope,
    metric_margin,
    permutation_p_value,
    rank_correlation,
    read_answered,
    seconds_of,
)
from karat.elicit.result import ElicitationResult
from karat.elicit.transcript import SIGNS
from karat.metrics import MetricBase, as_metric

__all__ = ["indifference_test"]

_FEWEST_TIMES = 3


@keeps_kind
def indifference_test(
    answered: Any,
    *,
    metric: MetricBase | str | None = None,
    n_permutations: int = 9_999,
    rng: int | np.random.Generator | None = None,
) -> IndifferenceTest:
    """Test whether answers take longer, and err more, where the sides are nearly equally good.

    Hiranandani 2021 assumes that errors occur near indifference (Definition 2.4) and proposes to
    see it in response times (guideline G5). The margin of a question is the difference of the
    metric between its sides. The times are tested by Spearman's correlation with the size of the
    margin, the errors (answers that the metric disagrees with) by the slope of a logistic
    regression of agreeing on it; the p-values are one-sided and count permutations, so that they
    rest on no law of times or errors.

    Two cautions. *The same answers twice:* the metric of a result was chosen to fit its answers, so
    that whatever it does not fit lies near indifference more often than it should, even where the
    person slips at random; the p-value of the errors is then too small (``same_answers`` says so).
    Answers that the metric was not learned from, such as those to `evaluation_pairs`, have no such
    flaw: pass them as records, with ``metric=``. The times are not affected. *Time on task:* in an
    adaptive run later questions are closer, and people get faster, or tired. The former hides
    hesitation and the latter mimics it. Pairs in random order are free of both.

    Check pairs (``dominated``, ``repeat``) are left out: they are easy, or known, for other
    reasons. So are skips; ties count for the times only.

    Parameters
    ----------
    answered : ElicitationResult, Transcript, file, or sequence of dict
        The answers with their questions and, for the times, ``seconds`` kept with them
        (``procedure.tell("first", seconds=2.3)``). A record of one's own is a dict with ``query``,
        ``answer`` and ``seconds``.
    metric : Metric or str, optional
        The metric whose margins count; by default that of the result.
    n_permutations : int, default 9999
        Permutations that the p-values are counted from.
    rng : int or generator, optional
        Randomness of the permutations.

    Returns
    -------
    IndifferenceTest

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace, MetricOracle, evaluation_pairs
    >>> from karat.metrics import cost_matrix
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> costs = cost_matrix([[0, 1], [6, 0]])
    >>> person = MetricOracle(costs, scale=0.1, rng=0)
    >>> records = [
    ...     {"query": pair, "answer": person(pair)} for pair in evaluation_pairs(space, 100, rng=0)
    ... ]
    >>> found = indifference_test(records, metric=costs, rng=0)
    >>> found.n_errors, found.error_slope > 0, found.error_p_value < 0.05
    (14, True, True)
    """
    found = isinstance(answered, ElicitationResult) and metric is None
    if metric is None:
        if not isinstance(answered, ElicitationResult):
            refuse_option(
                metric, "metric", "the metric whose margins count, unless a result is passed"
            )
        metric = answered.metric
    known, count, generator = (
        as_metric(metric),
        check_count(n_permutations, "n_permutations"),
        check_rng(rng),
    )
    told = [
        (item, number)
        for number, item in enumerate(read_answered(answered), start=1)
        if item.query.kind == "question" and item.answer != "skip"
    ]
    signed = np.array([metric_margin(known, item.query) for item, _ in told])
    seconds = np.array([seconds_of(item, number) for item, number in told])
    signs = np.array([SIGNS[item.answer] for item, _ in told])
    margins = np.abs(signed)
    agrees = np.where(signs == 0, np.nan, (signed * signs > ROUNDING).astype(float))
    decided = signs != 0
    correlation, time_p = _times(margins, seconds, count, generator)
    slope, error_p = _errors(margins[decided], agrees[decided], count, generator)
    return IndifferenceTest(
        time_correlation=correlation,
        time_p_value=time_p,
        n_timed=int(np.isfinite(seconds).sum()),
        error_slope=slope,
        error_p_value=error_p,
        n_decided=int(decided.sum()),
        n_errors=int((agrees[decided] == 0).sum()),
        same_answers=found,
        margins=margins,
        seconds=seconds,
        agrees=agrees,
        n_permutations=count,
    )


def _times(
    margins: FloatArray, seconds: FloatArray, count: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the rank correlation of margins and times, and the p-value of it being so low."""
    timed = np.isfinite(seconds)
    if timed.sum() < _FEWEST_TIMES:
        return float("nan"), float("nan")
    correlation = rank_correlation(margins[timed], seconds[timed])
    if np.isnan(correlation):
        return correlation, correlation
    closeness, slowness = -centred_ranks(margins[timed]), centred_ranks(seconds[timed])
    return correlation, permutation_p_value(closeness, slowness, count, rng)


def _errors(
    margins: FloatArray, agrees: FloatArray, count: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the slope of agreeing along the margin, and the p-value of it being so steep.

    Given the margins and the number of errors, the slope grows with ``Σ margin·agrees`` and with
    nothing else, so that permutations of that sum are permutations of the slope.
    """
    slope = logistic_slope(margins, agrees)
    if np.isnan(slope):
        return slope, slope
    typical = float(np.median(margins)) or float(margins.mean())
    return slope * typical, permutation_p_value(margins, agrees, count, rng)
