"""What was learned of a metric, and how."""

from dataclasses import dataclass, field

import numpy as np

from karat._frozen import Frozen
from karat._result import Result
from karat._typing import FloatArray
from karat.elicit._transcript import Transcript
from karat.exceptions import ElicitationError
from karat.metrics import MetricBase

__all__ = [
    "AgreementHistory",
    "AskedQuestions",
    "ElicitationResult",
    "FairnessFrontier",
    "TradeOff",
    "WeightInterval",
    "WeightTable",
]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightInterval(Frozen):
    """A weight or a ratio of weights, with the limits that hold it with 95 % probability.

    Attributes
    ----------
    name : str
        What it is, in words.
    estimate, lower, upper : float
        The value of the elicited metric and its limits; upper is infinite where the answers do
        not bound a ratio.
    """

    name: str
    estimate: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.name}: {_short(self.estimate)} ({_short(self.lower)}–{_short(self.upper)})"


def _short(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.3g}"


def weighted_limits(values: FloatArray, shares: FloatArray) -> tuple[float, float]:
    """Return the equal-tailed limits of weighted draws."""
    order = np.argsort(values)
    reached = np.cumsum(shares[order])
    tail = (1.0 - CONFIDENCE) / 2
    at = np.searchsorted(reached, [tail, 1.0 - tail]).clip(0, len(values) - 1)
    low, high = values[order][at]
    return float(low), float(high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgreementHistory(Result):
    """The predicted agreement after each answer, and what more answers are expected to bring.

    Attributes
    ----------
    n_queries : array
        Number of answers, from 0.
    agreement : array
        Predicted agreement of the metric with the person on random pairs.
    expected_n_queries, expected_agreement : array
        The same for answers to come; empty unless asked for by ``procedure.forecast()``.
    target : float
        The agreement at which the procedure stops; NaN if it stops by another rule.
    """

    n_queries: FloatArray
    agreement: FloatArray
    expected_n_queries: FloatArray = field(default_factory=lambda: np.empty(0))
    expected_agreement: FloatArray = field(default_factory=lambda: np.empty(0))
    target: float = float("nan")

    def summary(self) -> str:
        """Return how the agreement rose, in one sentence."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TradeOff(Result):
    """How errors are traded against gaps between groups.

    Attributes
    ----------
    tradeoff : WeightInterval
        λ, the share of the violation: 0 if only errors count, 1 if only gaps do.
    worth : WeightInterval
        How many points of every error rate a gap between groups is worth; its name says which gap.
    draws : array (n,)
        λ of metrics that fit the answers.
    """

    tradeoff: WeightInterval
    worth: WeightInterval
    draws: FloatArray

    def summary(self) -> str:
        """Return the trade-off in one sentence."""
        low, high = _short(self.worth.lower), _short(self.worth.upper)
        return (
            f"{self.worth.name[:1].upper()}{self.worth.name[1:]} is worth "
            f"{_short(self.worth.estimate)} points of error rate (95 %: {low}–{high})."
        )

    def _table(self) -> list[tuple[str, str]]:
        share = self.tradeoff
        limits = f"{_short(share.estimate)} ({_short(share.lower)} to {_short(share.upper)})"
        return [(share.name, limits)]


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
            f"The greatest of {self.values.size} weights is {_short(self.values[i, j])}: "
            f"{self.rows[int(i)]}, {self.columns[int(j)]}."
        )


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
    tradeoff : WeightInterval
        λ: along a line of the slope ``−(1−λ)/λ`` the metric is the same.
    """

    cost: FloatArray
    violation: FloatArray
    best: tuple[float, float]
    gap: float
    sampled_cost: FloatArray
    sampled_violation: FloatArray
    tradeoff: WeightInterval

    def summary(self) -> str:
        """Return what fairness costs in one sentence."""
        return (
            f"From the least cost of errors, {_short(self.cost[0])} (violation "
            f"{_short(self.violation[0])}), to the least violation, {_short(self.violation[-1])} "
            f"(cost {_short(self.cost[-1])}); the metric chooses cost {_short(self.best[0])}, "
            f"violation {_short(self.best[1])}."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ElicitationResult(Result):
    """The metric that a person's answers amount to.

    Attributes
    ----------
    metric : Metric
        The elicited metric: score with it, optimise it, save it.
    intervals : tuple of WeightInterval
        Each weight with its limits; for ``active`` they allow for as many slips as the answers
        leave plausible.
    ratios : tuple of WeightInterval
        Each weight relative to the greatest one, with its limits.
    n_queries : int
        Number of questions answered.
    agreement : float
        Predicted share of random pairs on which the metric and the person agree, slips aside; for
        ``active`` it allows for as many slips as the answers leave plausible.
    next_agreement : float
        The same after one more answer, in expectation; NaN where the strategy does not say.
    finished : bool
        Whether the procedure has asked all it wanted to.
    transcript : Transcript
        The questions and answers; ``resume`` goes on from it.
    procedure, strategy : str
        How it was found.
    lapse : WeightInterval or None
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
    intervals: tuple[WeightInterval, ...]
    ratios: tuple[WeightInterval, ...]
    n_queries: int
    agreement: float
    next_agreement: float
    finished: bool
    transcript: Transcript
    procedure: str
    strategy: str
    lapse: WeightInterval | None
    contradictions: tuple[int, ...]
    effective_particles: float
    acceptance: float
    draws: FloatArray
    progress: AgreementHistory
    questions: AskedQuestions
    trade_off: TradeOff | None = None
    table: WeightTable | None = None

    def ratio(self, of: str, to: str) -> WeightInterval:
        """Return how much greater one weight is than another, with its limits.

        Parameters
        ----------
        of, to : str
            Names of two weights, as in ``intervals``.
        """
        names = [interval.name for interval in self.intervals]
        for name in (of, to):
            if name not in names:
                raise ElicitationError(f"there is no weight {name!r}; expected one of {names}")
        i, j = names.index(of), names.index(to)
        name = f"{of} against {to}"
        return ratio_interval(name, self.intervals[i], self.intervals[j], self.draws[:, [i, j]])

    def summary(self) -> str:
        """Return what was learned, in one sentence."""
        state = "" if self.finished else " so far"
        told = sum(answer != "skip" for answer in self.questions.answers)
        text = (
            f"{told} answer{'s' * (told != 1)}{state}: the metric is expected to agree with the "
            f"person on {100 * self.agreement:.1f} % of pairs"
        )
        if self.trade_off is not None:
            words = self.trade_off.summary().rstrip(".")
            text += f"; {words[:1].lower()}{words[1:]}"
        elif self.ratios:
            text += f"; {self.ratios[0]}"
        if self.contradictions:
            n = len(self.contradictions)
            text += f"; {n} answer{'s' * (n > 1)} contradict{'s' * (n == 1)} the rest"
        return text + "."

    def _table(self) -> list[tuple[str, str]]:
        rows = [
            (w.name, f"{_short(w.estimate)} ({_short(w.lower)} to {_short(w.upper)})")
            for w in self.intervals
        ]
        if self.lapse is not None:
            slip = self.lapse
            rows.append(
                (
                    slip.name,
                    f"{100 * slip.estimate:.0f} % ({100 * slip.lower:.0f} to "
                    f"{100 * slip.upper:.0f} %)",
                )
            )
        if np.isfinite(self.next_agreement):
            rows.append(("agreement after one more answer", f"{100 * self.next_agreement:.1f} %"))
        return rows


def ratio_interval(
    name: str, of: WeightInterval, to: WeightInterval, draws: FloatArray
) -> WeightInterval:
    """Return the ratio of two weights and its limits from draws (n, 2) of equal share."""
    ratios = safe_ratio(np.abs(draws[:, 0]), np.abs(draws[:, 1]))
    low, high = weighted_limits(ratios, np.full(len(ratios), 1.0 / len(ratios)))
    above, below = (np.array([abs(weight.estimate)]) for weight in (of, to))
    estimate = float(safe_ratio(above, below)[0])
    return WeightInterval(
        name=name, estimate=estimate, lower=min(low, estimate), upper=max(high, estimate)
    )


def safe_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide, with infinity over zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(below > 1e-9, above / below, np.inf))
