"""What an elicitation says: the metric, its weights with their limits, and trade-offs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._result import Basis, Estimate, Result, basis_of, crossed, stacked
from karat._typing import FloatArray
from karat.elicit.transcript import Transcript
from karat.metrics.base import MetricBase

# What is said first: a metric is not to be read without its status.
_LEAD = {"certified": "Certified. ", "undecided": "Undecided. ", "flagged": "Flagged. "}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgreementHistory(Result):
    """The predicted agreement after each answer, and what more answers are expected to bring.

    Attributes
    ----------
    n_queries : array
        Number of answers, from 0.
    agreement : array
        Predicted agreement of the metric with the person on random pairs; NaN where it cannot be
        told.
    expected_n_queries, expected_agreement : array
        The same for answers to come; empty unless asked for by ``elicitation.forecast()``.
    target : float
        The agreement at which the elicitation stops; NaN if it stops by another rule.
    """

    n_queries: FloatArray
    agreement: FloatArray
    expected_n_queries: FloatArray = field(default_factory=lambda: np.empty(0))
    expected_agreement: FloatArray = field(default_factory=lambda: np.empty(0))
    target: float = float("nan")

    def summary(self) -> str:
        """Return how the agreement rose, in one sentence."""
        if np.isnan(self.agreement[-1]):
            return (
                f"After {self.n_queries[-1]:.0f} answers it is not known how often the metric "
                "agrees with the person."
            )
        text = (
            f"After {self.n_queries[-1]:.0f} answers the metric is expected to agree with the "
            f"person on {100 * self.agreement[-1]:.1f} % of random pairs "
            f"({100 * self.agreement[0]:.1f} % before)"
        )
        if len(self.expected_agreement):
            text += (
                f"; {self.expected_n_queries[-1] - self.n_queries[-1]:.0f} more answers would "
                f"bring {100 * self.expected_agreement[-1]:.1f} %"
            )
        return text + "."

    def _columns(self) -> dict[str, Any]:
        kinds = (False, len(self.n_queries)), (True, len(self.expected_n_queries))
        return {
            "n_queries": np.concatenate([self.n_queries, self.expected_n_queries]),
            "agreement": np.concatenate([self.agreement, self.expected_agreement]),
            "expected": [kind for kind, n in kinds for _ in range(n)],
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AskedQuestions(Result):
    """The pairs that were asked about, among what classifiers attain.

    Attributes
    ----------
    first, second : array (n, dim)
        Coordinates of both sides of each question.
    answers : tuple of str
        The answers.
    names : tuple of str
        What each coordinate is, in words.
    boundary : array (points, dim)
        Classifiers that are best for some trade-off.
    best : array (dim,)
        The classifier that is best for the elicited metric; NaN if there is none on the boundary.
    """

    first: FloatArray
    second: FloatArray
    answers: tuple[str, ...]
    names: tuple[str, ...]
    boundary: FloatArray
    best: FloatArray

    def summary(self) -> str:
        """Return what was asked, in one sentence."""
        said = {answer: self.answers.count(answer) for answer in dict.fromkeys(self.answers)}
        if not said:
            return "Nothing has been asked yet."
        apart = np.median(np.linalg.norm(self.first - self.second, axis=1))
        counts = ", ".join(f"{count} {answer}" for answer, count in said.items())
        return f"{len(self.answers)} questions ({counts}); the two sides differ by {apart:.3g}."

    def _columns(self) -> dict[str, Any]:
        sides = {
            f"{side}_{name}": getattr(self, side)[:, i]
            for side in ("first", "second")
            for i, name in enumerate(self.names)
        }
        return {"answer": list(self.answers), **sides}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ElicitationResult(Result):
    """The metric that a person's answers amount to.

    Attributes
    ----------
    metric : Metric
        The elicited metric: score with it, optimise it, save it.
    description : str
        The metric in words, with the names of the space's classes and groups.
    weights : tuple of NamedEstimate
        Each weight with its limits, an `Estimate` with a ``name``; for ``active`` they allow for
        noise near indifference, slips and ties as the answers leave them plausible.
    ratios : tuple of NamedEstimate
        Each weight relative to the greatest one (for two classes, what a miss costs in false
        alarms), with its limits, in the same form. A limit is open, 0 or infinite, where the
        answers leave ratios possible that no question of the space can tell apart.
    n_queries : int
        Number of questions answered.
    agreement : float
        Predicted share of random pairs on which the metric and the person agree, slips aside; NaN
        where it cannot be told (the ``monotone`` family by another strategy than ``active``).
    next_agreement : float
        The same after one more answer, in expectation; NaN where the strategy does not say.
    status : {"certified", "undecided", "flagged"}
        ``certified``: the agreement and the precision that were asked for are reached, and a coin
        would have answered like this in at most 5 % of cases. ``flagged``: the answers speak
        against a metric of this family. ``undecided``: neither, or not tested: strategies other
        than ``active`` take every answer for right.
    misfit : str or None
        What speaks against the metric, where it is flagged.
    precise : bool
        Whether the limits of the ratios are as close as ``precision`` asks.
    finished : bool
        Whether all was asked that the strategy wants to know.
    transcript : Transcript
        The questions and answers; ``resume`` goes on from it.
    space, family, strategy : str
        How it was found: the kind of space, the family of metrics, and how questions were chosen.
    lapse : NamedEstimate or None
        How often the person slips; None for strategies that assume it never happens.
    contradictions : tuple of int
        Numbers of the questions (from 1) whose answers the metric does not explain.
    effective_particles, acceptance : float
        Health of the posterior: the effective number of particles, and how many of the last moves
        were accepted; NaN for strategies without particles.
    draws : array (n, weights)
        Metrics that fit the answers, drawn from the posterior or evenly from what is left.
    progress : AgreementHistory
        Agreement against questions.
    questions : AskedQuestions
        What was asked.
    trade_off : TradeOff or None
        How errors are traded against gaps between groups; None for metrics that know no groups.
    table : WeightTable or None
        The weights of a quadratic or fair metric as a table.
    """

    metric: MetricBase
    description: str
    weights: tuple[NamedEstimate, ...]
    ratios: tuple[NamedEstimate, ...]
    n_queries: int
    agreement: float
    next_agreement: float
    status: str
    misfit: str | None
    precise: bool
    finished: bool
    transcript: Transcript
    space: str
    family: str
    strategy: str
    lapse: NamedEstimate | None
    contradictions: tuple[int, ...]
    effective_particles: float
    acceptance: float
    draws: FloatArray
    progress: AgreementHistory
    questions: AskedQuestions
    trade_off: TradeOff | None = None
    table: WeightTable | None = None

    def summary(self) -> str:
        """Return what was learned, in one sentence."""
        state = "" if self.finished else " so far"
        given = sum(answer != "skip" for answer in self.questions.answers)
        text = f"{given} answer{'s' * (given != 1)}{state}: {self._agreement_text}"
        if self.trade_off is not None:
            words = self.trade_off.summary().rstrip(".")
            text += f"; {words[:1].lower()}{words[1:]}"
        elif self.ratios:
            text += f"; {self.ratios[0]}"
        if self.contradictions:
            n = len(self.contradictions)
            text += f"; {n} answer{'s' * (n > 1)} contradict{'s' * (n == 1)} the rest"
        wrong = "" if self.misfit is None else f" {self.misfit[:1].upper()}{self.misfit[1:]}."
        return f"{_LEAD[self.status]}{text}.{wrong}"

    def _columns(self) -> dict[str, Any]:
        return estimate_columns(weight=self.weights, ratio=self.ratios)

    @property
    def _agreement_text(self) -> str:
        if np.isnan(self.agreement):
            return "how often the metric agrees with the person beyond its optimum is not known"
        share = f"{100 * self.agreement:.1f} %"
        return f"the metric is expected to agree with the person on {share} of pairs"

    def _table(self) -> list[tuple[str, str]]:
        rows = [estimate_row(weight) for weight in self.weights]
        if self.lapse is not None:
            slip = self.lapse
            rows.append(
                (
                    slip.name,
                    f"{100 * slip.value:.0f} % ({100 * slip.lower:.0f} to "
                    f"{100 * slip.upper:.0f} %)",
                )
            )
        if np.isfinite(self.next_agreement):
            rows.append(("agreement after one more answer", f"{100 * self.next_agreement:.1f} %"))
        return rows


# --- What the weights of an elicited metric amount to, as values that a result carries.
#
# A `NamedEstimate` is a weight (or a ratio of weights) with 95 % limits, which ``estimate_of``,
# ``ratio_estimate`` and ``weighted_limits`` read from draws. `WeightTable`, `TradeOff` and
# `FairnessFrontier` say what the weights of metrics of many rates, and of groups, mean.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FairnessFrontier(Result):
    """What classifiers attain between few errors and small gaps, as the metric sees both.

    Attributes
    ----------
    cost, violation : array (n,)
        The two terms of classifiers on the frontier, from least cost to least violation.
    best : tuple of float
        The terms of the classifier that is best for the elicited metric.
    gap : float
        By how much the elicited metric of another classifier could exceed that of the best one.
    sampled_cost, sampled_violation : array
        The terms of other classifiers that are attained.
    tradeoff : NamedEstimate
        λ: along a line of the slope ``−(1−λ)/λ`` the metric is the same.
    """

    cost: FloatArray
    violation: FloatArray
    best: tuple[float, float]
    gap: float
    sampled_cost: FloatArray
    sampled_violation: FloatArray
    tradeoff: NamedEstimate

    _COLUMNS = ("cost", "violation")

    def summary(self) -> str:
        """Return what fairness costs in one sentence."""
        return (
            f"From the least cost of errors, {short(self.cost[0])} (violation "
            f"{short(self.violation[0])}), to the least violation, {short(self.violation[-1])} "
            f"(cost {short(self.cost[-1])}); the metric chooses cost {short(self.best[0])}, "
            f"violation {short(self.best[1])}."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TradeOff(Result):
    """How errors are traded against gaps between groups.

    Attributes
    ----------
    tradeoff : NamedEstimate
        λ, the share of the violation: 0 if only errors count, 1 if only gaps do.
    worth : NamedEstimate
        How many points of every error rate a gap between groups is worth; its name says which gap.
    draws : array (n,)
        λ of metrics that fit the answers.
    """

    tradeoff: NamedEstimate
    worth: NamedEstimate
    draws: FloatArray

    def summary(self) -> str:
        """Return the trade-off in one sentence."""
        low, high = short(self.worth.lower), short(self.worth.upper)
        return (
            f"{self.worth.name[:1].upper()}{self.worth.name[1:]} is worth "
            f"{short(self.worth.value)} points of error rate (95 %: {low}–{high})."
        )

    def _columns(self) -> dict[str, Any]:
        return stacked("of", {"tradeoff": self.tradeoff, "worth": self.worth})

    def _table(self) -> list[tuple[str, str]]:
        return [estimate_row(self.tradeoff)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeightTable(Result):
    """The weights of a metric of rates as a table: each kind of error, and what bends or differs.

    Attributes
    ----------
    rows, columns : tuple of str
        What is weighed, in words.
    values : array (rows, columns)
        The weights of the elicited metric.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray

    def summary(self) -> str:
        """Return the greatest weight in one sentence."""
        i, j = np.unravel_index(int(np.argmax(np.abs(self.values))), self.values.shape)
        return (
            f"The greatest of {self.values.size} weights is {short(self.values[i, j])}: "
            f"{self.rows[int(i)]}, {self.columns[int(j)]}."
        )

    def _columns(self) -> dict[str, Any]:
        return crossed({"row": self.rows, "column": self.columns}, value=self.values)


# --- A weight with the limits that hold it, and how limits are read from draws.

CONFIDENCE = 0.95
_BASIS = basis_of("model")  # of how people answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NamedEstimate(Estimate[float]):
    """A weight or a ratio of weights, with the limits that hold it with 95 % probability.

    The upper limit is infinite where the answers do not bound a ratio.

    Attributes
    ----------
    name : str
        What it is, in words.
    """

    name: str
    confidence: float = CONFIDENCE
    basis: Basis = _BASIS

    def __str__(self) -> str:
        return f"{self.name}: {short(self.value)} ({short(self.lower)}–{short(self.upper)})"


def short(value: float) -> str:
    """Return a number in three digits, for sentences and tables."""
    return "∞" if np.isinf(value) else f"{value:.3g}"


def estimate_row(weight: NamedEstimate) -> tuple[str, str]:
    """Return a row of a result's table: the name, and the estimate with its limits."""
    limits = f"{short(weight.lower)} to {short(weight.upper)}"
    return weight.name, f"{short(weight.value)} ({limits})"


def estimate_columns(**intervals: tuple[NamedEstimate, ...]) -> dict[str, list[Any]]:
    """Return one row per interval, with the kind that it is of."""
    rows = [(kind, weight) for kind, weights in intervals.items() for weight in weights]
    columns: dict[str, list[Any]] = {"kind": [kind for kind, _ in rows]}
    for name in ("name", "value", "lower", "upper"):
        columns[name] = [getattr(weight, name) for _, weight in rows]
    return columns


def weighted_limits(values: FloatArray, shares: FloatArray) -> tuple[float, float]:
    """Return the equal-tailed limits of weighted draws."""
    order = np.argsort(values)
    reached = np.cumsum(shares[order])
    tail = (1.0 - CONFIDENCE) / 2
    at = np.searchsorted(reached, [tail, 1.0 - tail]).clip(0, len(values) - 1)
    low, high = values[order][at]
    return float(low), float(high)


def estimate_of(name: str, value: float, draws: FloatArray) -> NamedEstimate:
    """Return a number with the limits of draws (n,) of equal share.

    The limits are widened to hold the number, which need not be the middle of the draws.
    """
    low, high = weighted_limits(draws, np.full(len(draws), 1.0 / len(draws)))
    return NamedEstimate(name=name, value=value, lower=min(low, value), upper=max(high, value))


def estimates_of(
    names: tuple[str, ...], values: FloatArray, draws: FloatArray
) -> tuple[NamedEstimate, ...]:
    """Return each number (w,) with the limits of its column of draws (n, w)."""
    return tuple(
        estimate_of(name, float(value), column)
        for name, value, column in zip(names, values, draws.T, strict=True)
    )


def ratio_estimate(
    name: str, of: NamedEstimate, to: NamedEstimate, draws: FloatArray
) -> NamedEstimate:
    """Return the ratio of the sizes of two weights, with limits from their draws (n, 2)."""
    ratios = _sizes_ratio(np.vstack([[of.value, to.value], draws]))
    return estimate_of(name, float(ratios[0]), ratios[1:])


def _sizes_ratio(weights: FloatArray) -> FloatArray:
    """Return ``|w₁| / |w₂|`` of weights (n, 2); infinity where w₂ is 0 but for rounding."""
    above, below = np.abs(weights).T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(below > 1e-9, above / below, np.inf))
