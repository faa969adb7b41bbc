"""What was learned of a metric, and how."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._result import Result
from karat._typing import FloatArray
from karat._validate import check_choice
from karat.elicit.transcript import Transcript
from karat.elicit.weights import (
    FairnessFrontier,
    TradeOff,
    WeightInterval,
    WeightTable,
    interval_columns,
    interval_row,
    ratio_interval,
)
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
    intervals : tuple of WeightInterval
        Each weight with its limits; for ``active`` they allow for noise near indifference, slips
        and ties as the answers leave them plausible.
    ratios : tuple of WeightInterval
        Each weight relative to the greatest one, with its limits.
    n_queries : int
        Number of questions answered.
    agreement : float
        Predicted share of random pairs on which the metric and the person agree, slips aside; NaN
        where it cannot be told (`DiagonalMonotone` by ``bisection`` or ``published``).
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
    description: str
    intervals: tuple[WeightInterval, ...]
    ratios: tuple[WeightInterval, ...]
    n_queries: int
    agreement: float
    next_agreement: float
    status: str
    misfit: str | None
    precise: bool
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
        i = names.index(check_choice(of, "of", names))
        j = names.index(check_choice(to, "to", names))
        name = f"{of} against {to}"
        return ratio_interval(name, self.intervals[i], self.intervals[j], self.draws[:, [i, j]])

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
        return interval_columns(weight=self.intervals, ratio=self.ratios)

    @property
    def _agreement_text(self) -> str:
        if np.isnan(self.agreement):
            return "how often the metric agrees with the person beyond its optimum is not known"
        share = f"{100 * self.agreement:.1f} %"
        return f"the metric is expected to agree with the person on {share} of pairs"

    def _table(self) -> list[tuple[str, str]]:
        rows = [interval_row(weight) for weight in self.intervals]
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
