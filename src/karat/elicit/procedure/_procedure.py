"""What every procedure can do, whatever it elicits."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from karat._frames import keeps_kind
from karat._typing import FloatArray
from karat._validate import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_seed,
    refuse_option,
)
from karat.elicit.asking import WORST_RATE, Effort, forecast_agreement
from karat.elicit.families import Family
from karat.elicit.posterior import PosteriorDraws
from karat.elicit.procedure._ask_and_tell import AskAndTell
from karat.elicit.procedure._build_result import build_result
from karat.elicit.procedure._build_search import build_search
from karat.elicit.procedure._carried import check_carried, widened
from karat.elicit.result import AgreementHistory, ElicitationResult
from karat.elicit.search import Brackets, Steps, swapped
from karat.elicit.spaces import QuestionSpace, Space
from karat.elicit.transcript import Query
from karat.exceptions import ElicitationError

__all__ = ["Procedure"]

STRATEGIES = ("active", "bisection", "published")
ORIENTATIONS = ("increasing", "decreasing", "ask")
PAIRS = ("attainable", "sphere")


class Procedure(AskAndTell):
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
        questions of someone who never slips. ``published`` is the algorithm of Hiranandani 2021 as
        printed.
    tol : float, optional
        Width at which ``bisection`` and ``published`` stop halving.
    agreement : float, default 0.95
        Predicted agreement on random pairs that ``active`` is to reach.
    precision : float, default 3
        ``active`` goes on until the upper limit of every ratio of weights is at most this many
        times the lower one, or the weight is less than this part of the greatest; 5/3 of it for the
        worth of gaps between groups. Metrics without such ratios need the agreement alone.
    worst_rate : float, default 0.5
        ``active`` shows no classifier that is wrong on more than this share of a class, in any
        group: nobody would deploy it. The default gives way where hardly any classifier of the
        space is that good in every class; another value is kept, or refused if it leaves no pair.
    checks : bool, default True
        Whether ``active`` asks now and then about a pair of which one side is better in every
        respect, or an earlier question with its sides swapped, until answers are clearly not those
        of a coin. ``False`` for oracles that need no such test.
    out_of : int, optional
        Number of cases that people see each classifier's errors for; ``active`` then never asks
        about two classifiers that look alike.
    max_queries : int, optional
        Greatest number of questions; by default as many as the strategy needs, and for ``active``
        20 plus 10 for each parameter, but at least 60 with ``checks``.
    rng : int or generator, optional
        Seed of ``active``; kept in the transcript.
    orientation : {"increasing", "decreasing", "ask"}, default "increasing"
        Whether being right more often is good. ``ask`` spends one question on it (Hiranandani 2021,
        Appendix A.4).
    pairs : {"attainable", "sphere"}, default "attainable"
        What ``active`` asks about: pairs of classifiers, each best for some metric, or opposite
        points of the ball inside the feasible set: any precision, too alike for people.
    carried : sequence of (first, second, answer), optional
        Answers that were given elsewhere, as two confusions and what was said: ``active`` learns
        from them before it asks. ``widened`` passes those of another procedure on.
    """

    spaces: ClassVar[tuple[type[Space], ...]]
    least_classes: ClassVar[int] = 2
    default_tol: ClassVar[float] = 0.01
    curved: ClassVar[bool] = False  # whether questions inside the feasible set say more
    wider: ClassVar[str | None] = None  # name of the procedure of a wider family, if there is one
    wider_options: ClassVar[tuple[str, ...]] = ()  # of the procedure's own, that the wider one has
    has_ratios: ClassVar[bool] = False  # whether the weights are costs that can be compared
    straight: ClassVar[bool] = True  # whether the metric is linear: opposite points then find it
    effort: ClassVar[Effort] = Effort()  # how many particles, candidates and draws are used

    def __init__(
        self,
        space: Space,
        *,
        strategy: str = "active",
        tol: float | None = None,
        agreement: float = 0.95,
        precision: float = 3.0,
        worst_rate: float = WORST_RATE,
        checks: bool = True,
        out_of: int | None = None,
        max_queries: int | None = None,
        rng: int | np.random.Generator | None = None,
        orientation: str = "increasing",
        pairs: str = "attainable",
        carried: Sequence[tuple[Any, Any, str]] = (),
    ) -> None:
        self.space = self._checked_space(space)
        self._passed = getattr(space, "_passed", None)
        self.strategy = check_choice(strategy, "strategy", STRATEGIES)
        self.orientation = check_choice(orientation, "orientation", ORIENTATIONS)
        self.pairs = check_choice(pairs, "pairs", PAIRS)
        self.tol = self.default_tol if tol is None else check_number(tol, "tol", at_least=1e-9)
        self.agreement = check_number(agreement, "agreement", at_least=0.5, at_most=1.0)
        self.precision = check_number(precision, "precision", above=1.0)
        self.worst_rate = check_number(worst_rate, "worst_rate", above=0.0, at_most=1.0)
        self.checks = check_flag(checks, "checks")
        self.out_of = None if out_of is None else check_count(out_of, "out_of", at_least=2)
        self.max_queries = None if max_queries is None else check_count(max_queries, "max_queries")
        if self.pairs == "sphere" and not self.straight:
            refuse_option(
                pairs,
                "pairs",
                f"'attainable' for {type(self).__name__}: opposite points of a ball find linear "
                "metrics only",
            )
        self.carried = check_carried(carried, self.strategy, self.question_space)
        self.seed = check_seed(rng)
        self._extra = {}
        self._forget()

    @property
    def question_space(self) -> QuestionSpace:
        """Where questions are asked: the space, unless groups are compared."""
        return self.space

    @abstractmethod
    def _family(self, flipped: bool) -> Family:
        """Return the family of metrics that is elicited."""

    @abstractmethod
    def _published(self) -> Steps:
        """Ask as the published algorithm does, narrowing ``self._brackets``."""

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
        """Whether the metric found is meant to explain every answer, and not only some of them."""
        # the published grid searches keep an error of their own, which is not the person's
        return self.straight or self.strategy != "published"

    @property
    def predicts(self) -> bool:
        """Whether what is known tells how often the metric agrees with the person."""
        return True

    def _ratio_name(self, i: int, j: int) -> str:
        """Return what the ratio of two weights compares, in words."""
        return self.space.trade_off(i, j)

    def _n_comparable(self, n: int) -> int:
        """Return how many of n weights can be compared with each other."""
        return n

    def _affordable(self, draws: int) -> int:
        """Return how many metrics to draw where ``draws`` are wanted: fewer if each takes long."""
        return draws

    def _wider_family(self) -> Family | None:
        """Return a family that holds metrics which this one misses; None if there is none."""
        return None

    def _unidentified(self) -> str | None:
        """Return a sentence on what the answers leave arbitrary; None if nothing."""
        return None

    @property
    @keeps_kind
    def result(self) -> ElicitationResult:
        self._begin()
        if self._result is None:
            self._result = build_result(self, self._posterior_draws())
        return self._result

    def widened(self) -> "Procedure":
        """Return a procedure of a wider family that has learned from the same answers.

        For answers that do not fit (``result.misfit``). Each of the two procedures needs twice the
        evidence, so that a coin that tries both is certified in at most 5 % of cases.
        """
        return widened(self, Procedure)

    @keeps_kind
    def forecast(self, extra: int = 10, *, n_people: int = 8) -> AgreementHistory:
        """Return the agreement so far and what more answers are expected to bring.

        People are drawn from the posterior and asked more questions; the mean agreement that their
        answers would lead to is the forecast. Only for ``strategy="active"``.

        Parameters
        ----------
        extra : int, default 10
            How many more answers.
        n_people : int, default 8
            How many people to draw.
        """
        extra, n_people = check_count(extra, "extra"), check_count(n_people, "n_people")
        self._begin()
        if self._search is None:
            words = "keeps no posterior to look ahead from; use 'active'"
            raise ElicitationError(f"strategy={self.strategy!r} {words}")
        return forecast_agreement(self.result.progress, self._search, extra, n_people, self.seed)

    def _forget(self) -> None:
        super()._forget()
        self._flipped = self.orientation == "decreasing"

    def _start_search(self) -> None:
        self._search = build_search(self) if self.strategy == "active" else None
        self._brackets = self._first_brackets()
        self._steps = self._all_steps()

    def _all_steps(self) -> Steps:
        """Ask for the orientation if need be, then search."""
        if self.orientation == "ask":
            right = self.space.sign * np.ones(self.space.dim)
            query = Query(self.space.boundary(right), self.space.boundary(-right))
            for _ in range(3):  # a tie or a skip says nothing: ask again, then assume increasing
                answer = yield query
                if answer in ("first", "second"):
                    break
            self._flipped = answer == "second"
        yield from self._search_steps()

    def _search_steps(self) -> Steps:
        search = {
            "active": self._active,
            "bisection": self._bisection,
            "published": self._published,
        }
        steps = search[self.strategy]()
        return swapped(steps) if self._flipped else steps

    def _active(self) -> Steps:
        assert self._search is not None  # made before the first question
        yield from self._search.steps()

    def _posterior_draws(self) -> PosteriorDraws:
        """Return the metrics that are still possible, whatever the strategy."""
        family = self._family(self._flipped)
        if self._search is not None:
            particles, estimate = self._search.posterior, self._search.estimate
            return PosteriorDraws(family, particles.parameters, particles.limit_shares, estimate)
        rng = np.random.default_rng(self.seed)
        low, high = self._brackets.open_low, self._brackets.open_high
        n = self._affordable(self.effort.draws)
        angles = rng.uniform(low, high, size=(n, len(low)))
        parameters = self._parameters(angles, self._brackets)
        return PosteriorDraws(family, parameters, np.full(n, 1.0 / n), self._estimate())

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
