"""Ask and tell: what every procedure can do, whatever it elicits."""

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_choice, check_count, check_number, check_seed
from karat.elicit._active import N_PARTICLES, Belief, Judge, Pairs, SpherePairs, active_search
from karat.elicit._families import Arena, Family
from karat.elicit._particles import Cloud
from karat.elicit._query import Query, check_answer
from karat.elicit._resumable import Resumable
from karat.elicit._space import Space
from karat.elicit._sphere import Brackets, Steps, swapped
from karat.elicit._summaries import Known, build_result, projected
from karat.elicit.result import AgreementHistory, ElicitationResult
from karat.exceptions import AnswerError, ElicitationError

__all__ = ["Procedure"]

STRATEGIES = ("active", "bisection", "published")
ORIENTATIONS = ("increasing", "decreasing", "ask")
PAIRS = ("attainable", "sphere")
_DRAWS = 1000  # metrics drawn from what brackets leave open


class Procedure(Resumable):
    """Elicits a metric by asking which of two classifiers is better.

    ``ask`` returns the next query (None when nothing is left to ask), ``tell`` takes the answer,
    ``undo`` takes it back, ``run`` does both with an oracle, and ``result`` says what is known so
    far, at any time. The same answers lead to the same questions: ``resume`` goes on from a
    transcript.

    Parameters
    ----------
    space : Space
        What classifiers attain: the pairs that may be asked about.
    strategy : {"active", "bisection", "published"}, default "active"
        ``active`` keeps a posterior that allows for slips and ties, asks about pairs that
        classifiers attain, and stops at the predicted agreement. ``bisection`` needs the fewest
        questions of someone who never slips. ``published`` is the algorithm of seed 001 as printed.
    tol : float, optional
        Width at which ``bisection`` and ``published`` stop halving.
    agreement : float, default 0.95
        Predicted agreement on random pairs at which ``active`` stops.
    max_queries : int, optional
        Greatest number of questions; by default as many as the strategy needs, and 20 plus 10 for
        each parameter for ``active``.
    rng : int or generator, optional
        Seed of ``active``; kept in the transcript.
    orientation : {"increasing", "decreasing", "ask"}, default "increasing"
        Whether being right more often is good. ``ask`` spends one question on it (Appendix A.4).
    pairs : {"attainable", "sphere"}, default "attainable"
        What ``active`` asks about: pairs of classifiers that are best for some metric, which
        people can tell apart, or opposite points of the ball inside the feasible set, which reach
        any precision but differ too little for people.
    """

    spaces: ClassVar[tuple[type[Space], ...]]
    least_classes: ClassVar[int] = 2
    default_tol: ClassVar[float] = 0.01
    curved: ClassVar[bool] = False  # whether questions inside the feasible set tell more
    straight: ClassVar[bool] = True  # whether opposite points of a ball tell a linear metric

    _answers: list[str]
    _queries: list[Query]
    _trail: list[Brackets]
    _steps: Steps
    _pending: Query | None
    _belief: Belief | None
    _result: ElicitationResult | None
    _begun: bool

    def __init__(
        self,
        space: Space,
        *,
        strategy: str = "active",
        tol: float | None = None,
        agreement: float = 0.95,
        max_queries: int | None = None,
        rng: int | np.random.Generator | None = None,
        orientation: str = "increasing",
        pairs: str = "attainable",
    ) -> None:
        self.space = self._checked_space(space)
        self.strategy = check_choice(strategy, "strategy", STRATEGIES)
        self.orientation = check_choice(orientation, "orientation", ORIENTATIONS)
        self.pairs = check_choice(pairs, "pairs", PAIRS)
        self.tol = self.default_tol if tol is None else check_number(tol, "tol", at_least=1e-9)
        self.agreement = check_number(agreement, "agreement", at_least=0.5, at_most=1.0)
        self.max_queries = None if max_queries is None else check_count(max_queries, "max_queries")
        if self.pairs == "sphere" and not self.straight:
            raise ElicitationError(
                f"pairs='sphere' is for linear metrics, and {type(self).__name__} elicits curved "
                "ones; use pairs='attainable', or strategy='bisection'"
            )
        self.seed = check_seed(rng)
        self._forget()

    # --- what a procedure defines

    @property
    def arena(self) -> Arena:
        """Where questions are asked: the space, unless groups are compared."""
        return self.space

    @abstractmethod
    def _family(self, flipped: bool) -> Family:
        """Return the family of metrics that is elicited."""

    @abstractmethod
    def _published(self) -> Steps:
        """Ask as the algorithm of the thesis does, narrowing ``self._brackets``."""

    @abstractmethod
    def _bisection(self) -> Steps:
        """Ask one question for each halving, narrowing ``self._brackets``."""

    @abstractmethod
    def _first_brackets(self) -> Brackets:
        """Return what is known of the angles before anything is asked."""

    @abstractmethod
    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        """Return the parameters (n, size) of the family for angles (n, brackets)."""

    def _estimate(self) -> FloatArray:
        """Return the parameters that the brackets point at."""
        angles = self._brackets.estimate(2 * self.tol)[None]
        return np.asarray(self._parameters(angles, self._brackets)[0])

    @property
    def explains(self) -> bool:
        """Whether the metric found is meant to explain every answer, and not only some of them.

        The grid searches of the thesis keep an error of their own, which is not the person's.
        """
        return self.straight or self.strategy != "published"

    def _n_comparable(self, n: int) -> int:
        """Return how many of n weights can be compared with each other."""
        return n

    def _affordable(self, draws: int) -> int:
        """Return how many metrics to draw where so many are wanted."""
        return draws

    def _unidentified(self) -> str | None:
        """Say which trade-offs the space cannot tell apart, if the answers lead there."""
        return None

    # --- asking

    def ask(self) -> Query | None:
        """Return the question to be answered, or None when there is nothing left to ask.

        What is needed for the first one (a posterior, a ball inside what is attained) is computed
        here and not when the procedure is made.
        """
        self._begin()
        return self._pending

    def tell(self, answer: str) -> None:
        """Take the answer to the question that ``ask`` returned.

        Parameters
        ----------
        answer : {"first", "second", "tie", "skip"}
            Which side is better. A skip is not counted against either.
        """
        self._begin()
        if self._pending is None:
            raise AnswerError("nothing was asked: ask() returned None, so the procedure is done")
        checked = check_answer(answer)
        self._queries.append(self._pending)
        self._answers.append(checked)
        try:
            self._pending = self._steps.send(checked)
        except StopIteration:
            self._pending = None
        self._trail.append(copy.deepcopy(self._brackets))
        if self.max_queries is not None and len(self._answers) >= self.max_queries:
            self._pending = None
        self._result = None

    def undo(self, n: int = 1) -> None:
        """Take back the last answers; the question is asked again.

        Parameters
        ----------
        n : int, default 1
            How many.
        """
        if (
            not isinstance(n, int | np.integer)
            or isinstance(n, bool)
            or not 1 <= n <= len(self._answers)
        ):
            raise AnswerError(
                f"{n!r} answers cannot be taken back: {len(self._answers)} were given"
            )
        answers = self._answers[:-n]
        self._forget()
        for answer in answers:
            self.tell(answer)

    def run(self, oracle: Callable[[Query], str]) -> ElicitationResult:
        """Ask an oracle until nothing is left to ask, and return the result.

        Parameters
        ----------
        oracle : callable
            Maps a `Query` to an answer, such as a `MetricOracle` or a `TerminalOracle`.
        """
        while (query := self.ask()) is not None:
            self.tell(oracle(query))
        return self.result

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers given so far."""
        return tuple(self._answers)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.ask() is None

    # --- what is known

    @property
    def result(self) -> ElicitationResult:
        """What the answers so far say of the metric."""
        self._begin()
        if self._result is None:
            self._result = build_result(self, self._known())
        return self._result

    def forecast(self, extra: int = 10, *, n_people: int = 8) -> AgreementHistory:
        """Return the agreement so far and what more answers are expected to bring.

        People are drawn from the posterior and asked on; the mean of what their answers would lead
        to is the forecast. Only for ``strategy="active"``.

        Parameters
        ----------
        extra : int, default 10
            How many more answers.
        n_people : int, default 8
            How many people to draw.
        """
        check_count(extra, "extra"), check_count(n_people, "n_people")
        self._begin()
        if self._belief is None:
            raise ElicitationError(
                f"strategy={self.strategy!r} keeps no posterior to look ahead from; use 'active'"
            )
        return projected(self.result.progress, self._belief, extra, n_people, self.seed)

    # --- inside

    def _forget(self) -> None:
        """Go back to where nothing was asked."""
        self._answers, self._queries, self._trail = [], [], []
        self._flipped = self.orientation == "decreasing"
        self._result, self._begun = None, False

    def _begin(self) -> None:
        """Compute what the first question needs, and the question, unless that was done."""
        if self._begun:
            return
        self._belief = self._prior_belief() if self.strategy == "active" else None
        self._brackets = self._first_brackets()
        self._steps = self._all_steps()
        self._pending = next(self._steps, None)
        self._begun = True

    def _all_steps(self) -> Steps:
        """Ask for the orientation if need be, then search."""
        if self.orientation == "ask":
            right = self.space.sign * np.ones(self.space.dim)
            query = Query(self.space.boundary(right), self.space.boundary(-right))
            for _ in range(3):  # a tie or a skip says nothing: ask again, then take the usual
                answer = yield query
                if answer in ("first", "second"):
                    break
            self._flipped = answer == "second"
        search = {
            "active": self._active,
            "bisection": self._bisection,
            "published": self._published,
        }
        steps = search[self.strategy]()
        yield from swapped(steps) if self._flipped else steps

    def _prior_belief(self) -> Belief:
        """Return what is known before anything is asked."""
        rng = np.random.default_rng(self.seed)
        family, judge = self._family(flipped=False), Judge.of(self.arena, rng)
        drawn = rng.normal(size=(100, family.size))
        some = np.where(family.signed, drawn, np.abs(drawn))
        blind = 0.1 * judge.typical_margin(family, some)
        belief = Belief(Cloud.prior(family, N_PARTICLES, blind, rng), judge)
        belief.history.append(belief.agreement())
        return belief

    def _active(self) -> Steps:
        belief = self._belief
        if belief is None:  # pragma: no cover - made before the first question
            return
        rng = belief.cloud.rng
        asker = (
            Pairs.of(self.arena, rng, inside=self.curved)
            if self.pairs == "attainable"
            else SpherePairs(self.space, rng)
        )
        most = self.max_queries or 20 + 10 * belief.cloud.family.size
        yield from active_search(belief, asker, agreement=self.agreement, max_queries=most)

    def _known(self) -> Known:
        """Return the metrics that are still possible, whatever the strategy."""
        family = self._family(self._flipped)
        if self._belief is not None:
            cloud = self._belief.cloud
            return Known(family, cloud.parameters, cloud.cautious()[0], self._belief.estimate)
        rng = np.random.default_rng(self.seed)
        low, high = self._brackets.open_low, self._brackets.open_high
        n = self._affordable(_DRAWS)
        angles = rng.uniform(low, high, size=(n, len(low)))
        parameters = self._parameters(angles, self._brackets)
        return Known(family, parameters, np.full(n, 1.0 / n), self._estimate())

    def _checked_space(self, space: Any) -> Space:
        wanted = " or ".join(kind.__name__ for kind in self.spaces)
        if not isinstance(space, self.spaces):
            raise ElicitationError(
                f"{type(self).__name__} needs a {wanted} and was given "
                f"{type(space).__name__ if not isinstance(space, Space) else repr(space)}"
            )
        if space.n_classes < self.least_classes:
            raise ElicitationError(
                f"{type(self).__name__} is for {self.least_classes} classes or more and the space "
                f"has {space.n_classes}; use BinaryLinear or BinaryLinearFractional with a "
                "BinarySpace"
            )
        return space

    def __repr__(self) -> str:
        state = "going on" if self._begun else "not begun"
        state = "done" if self._begun and self._pending is None else state
        return (
            f"<{type(self).__name__}: strategy={self.strategy!r}, {len(self._answers)} answers, "
            f"{state}>"
        )
