"""Tests of answers: repeated and dominated questions, and whether near ties are guessed.

Here too are the statistics that they and other modules use (permutations, paired limits), and what
tells which side of a question is better or safe (``better_side``, ``safest_classifier``,
``drawn_in``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from karat._result import Result, keeps_kind, stacked
from karat._typing import BoolArray, FloatArray
from karat._validate import check_confidence, check_count, check_rng, refuse_option
from karat.elicit.answers import Answered, read_answered, seconds_of
from karat.elicit.oracles import ROUNDING, metric_margin
from karat.elicit.result import ElicitationResult
from karat.elicit.transcript import SIGNS, Query
from karat.exceptions import DataError
from karat.limits import Limits, clopper_pearson
from karat.limits.proportions import clopper_pearson_limits
from karat.metrics import as_metric
from karat.metrics.base import MetricBase

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
        (``elicitation.tell("first", seconds=2.3)``). A record of one's own is a dict with
        ``query``, ``answer`` and ``seconds``.
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


_SHOWN = 0.05  # p-values above it show nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IndifferenceTest(Result):
    """Whether a person takes longer, and disagrees with the metric more, where sides are close.

    Attributes
    ----------
    time_correlation : float
        Spearman's correlation of the size of the margin with the time taken; negative if close
        pairs take longer. NaN where fewer than three times were kept or nothing varies.
    time_p_value : float
        One-sided p-value, by permutations, of times that know nothing of the margin.
    n_timed : int
        Answers whose time was kept.
    error_slope : float
        By how much the log-odds of agreeing with the metric rise with every typical (median)
        margin; positive if close pairs are answered less reliably. Infinite where some margin
        separates all errors from all other answers; NaN where there is none of either.
    error_p_value : float
        One-sided p-value, by permutations, of errors that know nothing of the margin.
    n_decided, n_errors : int
        Answers "first" or "second", and those that the metric disagrees with.
    same_answers : bool
        Whether the metric was found from these very answers. The errors then lie near indifference
        in part because the metric was chosen so, and their p-value is too small; the times are not
        affected.
    margins, seconds, agrees : array (n,)
        Of each answer but skips: the size of the metric's margin, the time (NaN where it was not
        kept) and whether the metric agrees (1 or 0; NaN for a tie).
    n_permutations : int
        Permutations that the p-values are counted from.
    """

    time_correlation: float
    time_p_value: float
    n_timed: int
    error_slope: float
    error_p_value: float
    n_decided: int
    n_errors: int
    same_answers: bool
    margins: FloatArray
    seconds: FloatArray
    agrees: FloatArray
    n_permutations: int

    def summary(self) -> str:
        """Return what times and errors say, in one sentence."""
        return f"{self._times()}; {self._errors()}."

    def _times(self) -> str:
        if math.isnan(self.time_correlation):
            return f"The times do not say whether close pairs take longer ({self.n_timed} kept)"
        way = "take no longer"
        if self.time_correlation < 0:
            way = "take longer" if self.time_p_value <= _SHOWN else "are not shown to take longer"
        return (
            f"Close pairs {way} (rank correlation of margin and time "
            f"{self.time_correlation:+.2f}, p = {self.time_p_value:.2g}, {self.n_timed} answers)"
        )

    def _errors(self) -> str:
        if math.isnan(self.error_slope):
            return (
                "errors cannot be told from other answers by their margin "
                f"({self.n_errors} of {self.n_decided} disagree with the metric)"
            )
        way = "no more"
        if self.error_slope > 0:
            way = "more" if self.error_p_value <= _SHOWN else "not shown to be more"
        text = (
            f"they are {way} often answered against the metric ({self.n_errors} of "
            f"{self.n_decided}, p = {self.error_p_value:.2g}"
        )
        return text + (
            ", too small: the metric is from the same answers)" * self.same_answers or ")"
        )

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("correlation of margin and time", f"{self.time_correlation:+.3f}"),
            ("p-value", f"{self.time_p_value:.3g}"),
            ("log-odds of agreeing per typical margin", f"{self.error_slope:+.3g}"),
            ("p-value of errors", f"{self.error_p_value:.3g}"),
        ]


# --- Did the person read the questions? Dominated pairs, and questions that were asked twice.

_SWAPPED = {"first": "second", "second": "first", "tie": "tie"}


@keeps_kind
def score_checks(answered: Any, *, confidence: float = 0.95) -> CheckScores:
    """Return how the checks among a person's questions were answered.

    Of a ``dominated`` pair, one side is right at least as often about every class (in every group):
    preferring it is right, the other side or a tie is not. A ``repeat`` is an earlier question with
    its sides swapped (or as it was): answered as before is consistent, and a tie only with a tie.
    A skip is no answer. Someone who tosses a coin gets half of each.

    Parameters
    ----------
    answered : ElicitationResult, Transcript, file, or sequence of dict
        The answers with their questions. A record of one's own is a dict with ``query`` (a `Query`,
        or its two confusions), ``answer`` and ``kind``, in the order in which they were asked.
        Whatever is no check is only looked at as what a repeat repeats.
    confidence : float, default 0.95
        Probability that each pair of limits holds.

    Returns
    -------
    CheckScores

    Examples
    --------
    >>> import numpy as np
    >>> from karat.elicit import Query
    >>> good, bad = np.diag([0.5, 0.5]), np.full((2, 2), 0.25)
    >>> question = Query(np.array([[0.5, 0.0], [0.2, 0.3]]), np.array([[0.3, 0.2], [0.0, 0.5]]))
    >>> score_checks([
    ...     {"query": question, "answer": "second"},
    ...     {"query": (good, bad), "answer": "first", "kind": "dominated"},
    ...     {"query": question.swapped, "answer": "first", "kind": "repeat"},
    ... ])
    <CheckScores: 1 of 1 dominated pairs answered rightly (95 %: 3 to 100 %); 1 of 1 repeated
    questions answered as before (95 %: 3 to 100 %).>
    """
    level = check_confidence(confidence)
    told = read_answered(answered)
    right: list[bool] = []
    same: list[bool] = []
    skipped = unmatched = 0
    for number, item in enumerate(told):
        if item.query.kind == "dominated":
            better = _better(item.query, number + 1)
            if item.answer == "skip":
                skipped += 1
            else:
                right.append(item.answer == better)
        elif item.query.kind == "repeat":
            before = _answer_before(item.query, told[:number])
            if before is None:
                unmatched += 1
            elif "skip" in (item.answer, before):
                skipped += 1
            else:
                same.append(item.answer == before)
    return CheckScores(
        attention=clopper_pearson(sum(right), len(right), confidence=level),
        consistency=clopper_pearson(sum(same), len(same), confidence=level),
        n_right=sum(right),
        n_dominated=len(right),
        n_same=sum(same),
        n_repeated=len(same),
        n_skipped=skipped,
        n_unmatched=unmatched,
        confidence=level,
    )


def _better(query: Query, number: int) -> str:
    side = better_side(query.first, query.second)
    if side is None:
        raise DataError(
            f"question {number} is called dominated and neither side is right at least as often "
            "about every class, and about one of them more often; give it another kind"
        )
    return side


def _answer_before(query: Query, earlier: list[Answered]) -> str | None:
    """Return the last answer to the same question before, as it would be to ``query``."""
    for item in reversed(earlier):
        if item.query.kind == "dominated":
            continue
        if _same(item.query, query.swapped):
            return _SWAPPED.get(item.answer, "skip")
        if _same(item.query, query):
            return str(item.answer)
    return None


def _same(one: Query, other: Query) -> bool:
    sides = ((one.first, other.first), (one.second, other.second))
    return all(a.shape == b.shape and np.allclose(a, b, rtol=0.0, atol=1e-9) for a, b in sides)


# --- How checks among the questions were answered.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CheckScores(Result):
    """Whether a person reads the questions, and means what they answer.

    Attributes
    ----------
    attention : Limits
        Share of dominated pairs of which the better side was preferred, with exact limits.
    consistency : Limits
        Share of repeated questions that were answered as before, with exact limits.
    n_right, n_dominated : int
        Dominated pairs answered rightly, and all that were answered.
    n_same, n_repeated : int
        Repeated questions answered as before, and all that were answered both times.
    n_skipped : int
        Checks that were skipped, or whose question was skipped the first time.
    n_unmatched : int
        Repeats of a question that is not among the answers.
    confidence : float
        Probability that the limits hold.
    """

    attention: Limits
    consistency: Limits
    n_right: int
    n_dominated: int
    n_same: int
    n_repeated: int
    n_skipped: int
    n_unmatched: int
    confidence: float

    def summary(self) -> str:
        """Return both shares in one sentence."""
        parts = [
            _said(self.n_right, self.n_dominated, "dominated pair", "rightly", self.attention),
            _said(self.n_same, self.n_repeated, "repeated question", "as before", self.consistency),
        ]
        if math.isnan(self.attention.value) and math.isnan(self.consistency.value):
            return "There is no check among the answers."
        return "; ".join(part for part in parts if part) + "."

    def _columns(self) -> dict[str, Any]:
        return stacked("name", {"attention": self.attention, "consistency": self.consistency})

    def _table(self) -> list[tuple[str, str]]:
        return [
            (name, f"{share.value:.2f} ({share.lower:.2f} to {share.upper:.2f})")
            for name, share in (("attention", self.attention), ("consistency", self.consistency))
            if not math.isnan(share.value)
        ]


def _said(count: int, n: int, what: str, how: str, share: Limits) -> str:
    if not n:
        return ""
    return (
        f"{count} of {n} {what}s answered {how} ({100 * share.confidence:g} %: "
        f"{100 * share.lower:.0f} to {100 * share.upper:.0f} %)"
    )


# --- Whether two things that were measured together go together: permutations and a logistic slope.

_MOST_AT_ONCE = 2_000_000  # numbers of a block of permutations


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's correlation; NaN where either is the same throughout."""
    one, other = centred_ranks(x), centred_ranks(y)
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size > 0 else float("nan")


def centred_ranks(values: FloatArray) -> FloatArray:
    """Return ranks, averaged over ties, less their mean."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values) - (len(values) + 1) / 2)


def permutation_p_value(x: FloatArray, y: FloatArray, n: int, rng: np.random.Generator) -> float:
    """Return the one-sided p-value of ``Σ x·y`` being as great as it is where nothing links both.

    With the permutation that was seen counted among n others, the p-value is at most α with a
    probability of at most α, for any n.
    """
    seen = float(x @ y)
    least = seen - 1e-9 * float(np.abs(x) @ np.abs(y))  # sums of the same terms in another order
    as_great = 1
    block = max(1, _MOST_AT_ONCE // len(y))
    for start in range(0, n, block):
        drawn = np.tile(y, (min(block, n - start), 1))
        as_great += int(np.sum(rng.permuted(drawn, axis=1) @ x >= least))
    return as_great / (n + 1)


def logistic_slope(x: FloatArray, happened: FloatArray) -> float:
    """Return the slope of the log-odds of what happened (0 or 1) along x, by maximum likelihood.

    Infinite where some x separates what happened from what did not, and NaN where all or nothing
    happened or x is the same throughout.
    """
    with_it, without = x[happened > 0.5], x[happened < 0.5]
    if not len(with_it) or not len(without) or np.ptp(x) == 0:
        return float("nan")
    if with_it.min() >= without.max():
        return float("inf")
    if with_it.max() <= without.min():
        return float("-inf")
    scale = float(np.std(x))
    design = np.column_stack([np.ones(len(x)), (x - x.mean()) / scale])
    found = np.zeros(2)
    for _ in range(100):  # halved steps of Newton's method climb a concave function
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -30.0, 30.0)))
        slope = design.T @ (happened - chance)
        bend = (design * (chance * (1.0 - chance))[:, None]).T @ design
        step = np.linalg.solve(bend + 1e-12 * np.eye(2), slope)
        found = found + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-10:
            break
    return float(found[1]) / scale


# --- Two metrics tried on the same answers: which of them predicts more.

_OF_THE_SIGN = 0.9  # how much of the error the limits of θ get


def mcnemar_p_value(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Of the trials on which exactly one of two is right, each would be right on half of them.
    """
    from scipy.stats import binom

    n, fewer = only_first + only_second, min(only_first, only_second)
    return min(1.0, float(2.0 * binom.cdf(fewer, n, 0.5)))


def paired_limits(
    only_first: int, only_second: int, n: int, confidence: float
) -> tuple[float, float]:
    """Return limits of the difference of two paired shares that hold for any number of trials.

    The difference is ``D·(2θ − 1)``: D the share of trials on which exactly one is right, θ the
    first's part of them. Either has its Clopper–Pearson limits, which hold at once with the
    confidence; the difference lies between its extremes within them. θ, which alone decides the
    sign, gets most of the error: the limits then exclude 0 about when McNemar's test does.
    """
    delta = (1.0 - confidence) / 2
    apart = only_first + only_second
    part = clopper_pearson_limits(only_first, apart, _OF_THE_SIGN * delta)
    share = clopper_pearson_limits(apart, n, (1.0 - _OF_THE_SIGN) * delta)
    corners = np.outer([float(d) for d in share], [2.0 * float(p) - 1.0 for p in part])
    return float(corners.min()), float(corners.max())


# --- Classifiers that are not wrong on too much of any class.


def safest_classifier(confusions: FloatArray) -> FloatArray:
    """Return the mixture of classifiers that is wrong on least of the class it is worst at.

    Of confusions (n, k, k) or (n, groups, k, k), mixed in each group by itself:
    ``min t`` with ``Σᵢ pᵢ wᵢ(c) ≤ t`` for every class c, w the shares that are wrong.
    """
    grouped = confusions.reshape(len(confusions), -1, *confusions.shape[-2:])
    found = []
    for tables in grouped.swapaxes(0, 1):
        wrong = wrong_shares(tables)
        n, k = wrong.shape
        solved = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.column_stack([wrong.T, np.full(k, -1.0)]),
            b_ub=np.zeros(k),
            A_eq=np.append(np.ones(n), 0.0)[None],
            b_eq=[1.0],
        )
        shares = np.maximum(solved.x[:n], 0.0)
        found.append(np.einsum("n,nij->ij", shares / shares.sum(), tables))
    return np.stack(found).reshape(confusions.shape[1:])


def drawn_in(
    confusions: FloatArray, safest: FloatArray, worst: float, rng: np.random.Generator
) -> FloatArray:
    """Return mixtures with the safest classifier that are wrong on at most ``worst`` of a class.

    Classifiers that are so by themselves stay as they are. Of the others, in each group by itself,
    a share of the safest is drawn that is at least what is needed.
    """
    wrong, least = wrong_shares(confusions), wrong_shares(safest)
    above = wrong - least
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(wrong > worst, (wrong - worst) / above, 0.0).max(axis=-1)
    drawn = needed + (1.0 - needed) * rng.random(needed.shape)
    share = np.where(needed > 0.0, drawn, 0.0)[..., None, None]
    return np.asarray((1.0 - share) * confusions + share * safest)


# --- Whether one side of a question is better whatever anyone wants.

# Differences that are no more than rounding.
_ROUNDING = 1e-9


def neither_dominates(first: FloatArray, second: FloatArray) -> BoolArray:
    """Whether each row (n, d) of what is good has more of something on both sides."""
    gain = first - second
    return np.asarray((gain > _ROUNDING).any(axis=1) & (gain < -_ROUNDING).any(axis=1))


def better_side(first: FloatArray, second: FloatArray) -> str | None:
    """Return the side that is right at least as often about every class, in every group.

    None if neither side of the confusions (k, k) or (groups, k, k) is, or both are.
    """
    gain = np.diagonal(first - second, axis1=-2, axis2=-1)
    if (gain >= -_ROUNDING).all() and (gain > _ROUNDING).any():
        return "first"
    if (gain <= _ROUNDING).all() and (gain < -_ROUNDING).any():
        return "second"
    return None


def worst_rates(confusions: FloatArray) -> FloatArray:
    """Return the greatest share of a true class, in a group, that each of (n, …, k, k) gets wrong.

    A class that does not occur is none.
    """
    return np.asarray(wrong_shares(confusions).reshape(len(confusions), -1).max(axis=1))


def wrong_shares(confusions: FloatArray) -> FloatArray:
    """Return the share of each class (..., k) that is wrong; 0 of a class that does not occur."""
    rows = confusions.sum(axis=-1)
    right = np.diagonal(confusions, axis1=-2, axis2=-1)
    return np.asarray(1.0 - np.divide(right, rows, out=np.ones_like(rows), where=rows > 0))
