"""An elicitation: a space, a family and a strategy, driven by questions and answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray
from karat._validate import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_seed,
    named,
    refuse_option,
    shown,
)
from karat.elicit._build_result import build_result, named_metric
from karat.elicit._problems import LinearBinary, Problem, RatioBinary, Standing
from karat.elicit._problems_diagonal import LinearDiagonal, MonotoneDiagonal, RatioDiagonal
from karat.elicit._problems_general import (
    LinearConfusion,
    PolynomialRates,
    QuadraticRates,
    RatioConfusion,
)
from karat.elicit._problems_groups import LinearGroups, QuadraticGroups
from karat.elicit._problems_slopes import GroupProblem
from karat.elicit._rate_space import RateSpace
from karat.elicit._snapshot import (
    build_search,
    check_header,
    mended,
    read_search,
    taken,
    write_search,
)
from karat.elicit.asking import WORST_RATE, ActiveSearch, Effort, forecast_agreement
from karat.elicit.families import PowerMeanFamily, fairness_frontier
from karat.elicit.posterior import Brackets, PosteriorDraws
from karat.elicit.result import AgreementHistory, ElicitationResult, FairnessFrontier
from karat.elicit.search import Steps, swapped
from karat.elicit.spaces import QuestionSpace, Space
from karat.elicit.transcript import (
    Query,
    Transcript,
    check_answer,
    check_kept,
    load_transcript,
    pack,
    unpack,
)
from karat.exceptions import AnswerError, ElicitationError, KaratError, LabelError, TranscriptError
from karat.metrics import LinearMetric
from karat.metrics.base import MetricBase

STRATEGIES = ("active", "bisection", "published", "corrected")
ORIENTATIONS = ("increasing", "decreasing", "ask")
PAIRS = ("attainable", "sphere")
FAMILIES = ("linear", "ratio", "monotone", "quadratic", "polynomial")
# What to solve for each kind of space and family of metrics.
PROBLEMS: dict[str, dict[str, type[Problem]]] = {
    "binary": {"linear": LinearBinary, "ratio": RatioBinary},
    "diagonal": {"linear": LinearDiagonal, "ratio": RatioDiagonal, "monotone": MonotoneDiagonal},
    "confusion": {"linear": LinearConfusion, "ratio": RatioConfusion},
    "rate": {
        "linear": LinearConfusion,
        "ratio": RatioConfusion,
        "quadratic": QuadraticRates,
        "polynomial": PolynomialRates,
    },
    "groups": {"linear": LinearGroups, "quadratic": QuadraticGroups},
}
_MOST_UNDONE = 20  # answers that are taken back at once; taking back more replays the rest


class Elicitation:
    """Elicits a metric by asking which of two classifiers is better.

    A space says what classifiers attain, a family which metrics are possible, a strategy which
    question comes next. ``ask`` returns the next query (None when nothing is left to ask), ``tell``
    takes the answer, ``undo`` takes it back, ``run`` does both with an oracle, and ``result`` says
    what is known so far, at any time. The same answers lead to the same questions: ``resume`` goes
    on from a transcript.

    ===================  =======================================================================
    space                families
    ===================  =======================================================================
    `BinarySpace`        ``linear`` (what a true positive is worth in true negatives), ``ratio``
                         (such as F1)
    `DiagonalSpace`      of the recalls of three or more classes: ``linear``, ``ratio``, and
                         ``monotone`` (any metric that grows with them, such as the G-mean)
    `ConfusionSpace`     of every kind of error: ``linear``, ``ratio``
    `RateSpace`          of every error rate: ``linear``, ``ratio``, ``quadratic``, ``polynomial``
    `RateSpace`, groups  errors against gaps between groups: ``linear`` (in the size of gaps) or
                         ``quadratic``
    ===================  =======================================================================

    The mathematics of each is on the page about elicitation (Hiranandani 2021, chapters 3 to 6).

    Parameters
    ----------
    space : Space
        What classifiers attain: the pairs that may be asked about.
    family : {"linear", "ratio", "monotone", "quadratic", "polynomial"}, default "linear"
        The metrics among which the person's is looked for.
    strategy : {"active", "bisection", "published", "corrected"}, default "active"
        ``active`` keeps a posterior that allows for slips and ties, asks about pairs that
        classifiers attain, and stops at the predicted agreement. ``bisection`` needs the fewest
        questions of someone who never slips. ``published`` is the algorithm of Hiranandani 2021 as
        printed, ``corrected`` the same without its slips; where the print has none, both are the
        same, and where the printed algorithm is not here to the letter, ``published`` is refused.
    tol : float, optional
        Width at which the strategies other than ``active`` stop halving; each family has its own.
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
        from them before it asks. ``widened`` passes those of another elicitation on.
    order : int, default 3
        The degree of a polynomial.
    diagonal : bool, default False
        Whether a quadratic metric has no products of two different rates.
    sparse : bool, default False
        Whether many weights of a quadratic or polynomial metric, or of one that compares groups,
        are expected to be 0.
    cost : array (q,), optional
        The cost of each error of a metric that compares groups, if it is known; then only the rest
        is elicited.
    violation : array (pairs, q) or (pairs, q, q), optional
        What gaps between groups cost, if it is known; with ``cost`` only the trade-off is elicited.
    same_pairs : bool, default False
        Whether a gap costs the same between any two groups.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace, DiagonalSpace, MetricOracle, RateSpace
    >>> from karat.metrics import FairMetric, cost_matrix, g_mean
    >>> law = LogisticLaw.binary(5.0)
    >>> space = BinarySpace.from_density(law.proba)
    >>> doctor = MetricOracle(cost_matrix([[0, 1], [4, 0]]))
    >>> result = Elicitation(space, "linear", strategy="bisection").run(doctor)
    >>> result.n_queries, round(result.ratios[0].value, 1)
    (7, 4.0)

    A metric of recalls of which no formula is known, and a metric that compares groups:

    >>> recalls = DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, n_points=2001)
    >>> elicitation = Elicitation(recalls, "monotone", strategy="bisection")
    >>> result = elicitation.run(MetricOracle(g_mean))
    >>> best = recalls.boundary(elicitation.tangent().weights.diagonal())
    >>> g_mean(best) > 0.5
    True
    >>> import numpy as np
    >>> x, y = law.sample(4000, rng=0)
    >>> groups = np.where(np.arange(4000) % 3, "a", "b")
    >>> rates = RateSpace.from_proba(y, law.proba(x), groups=groups)
    >>> person = MetricOracle(FairMetric([1, 3], [[1, 1]], 0.5))
    >>> result = Elicitation(rates, strategy="bisection").run(person)
    >>> result.n_queries, round(result.metric.tradeoff, 3)
    (40, 0.309)
    """

    effort: ClassVar[Effort] = Effort()  # how many particles, candidates and draws are used
    _answers: list[str]
    _queries: list[Query]
    _kept: list[dict[str, Any]]  # what was kept beside each answer
    _trail: list[Brackets]  # the brackets after each answer
    _past: list[bytes]  # snapshots before the last answers
    _search: ActiveSearch | None  # of strategy "active"
    _brackets: Brackets
    _steps: Steps
    _pending: Query | None
    _result: ElicitationResult | None
    _begun: bool
    _flipped: bool  # whether the person prefers the other way round

    def __init__(
        self,
        space: Space,
        family: str = "linear",
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
        order: int = 3,
        diagonal: bool = False,
        sparse: bool = False,
        cost: Any = None,
        violation: Any = None,
        same_pairs: bool = False,
    ) -> None:
        kind = problem_kind(space, family)
        self.space = space
        self.family = family
        self._passed = getattr(space, "_passed", None)
        self.strategy = check_choice(strategy, "strategy", STRATEGIES)
        if strategy == "published" and kind.correction is not None:
            refuse_option(
                strategy,
                "strategy",
                f"'corrected' for the {family} family on {called(space)}: {kind.correction}, and "
                "the algorithm as printed is not available",
            )
        self.orientation = check_choice(orientation, "orientation", ORIENTATIONS)
        if orientation != "increasing" and not kind.oriented:
            refuse_option(
                orientation,
                "orientation",
                f"'increasing' for the {family} family on {called(space)}, which finds the signs "
                "of all weights, or takes errors as costs",
            )
        self.pairs = check_choice(pairs, "pairs", PAIRS)
        self.tol = kind.default_tol if tol is None else check_number(tol, "tol", at_least=1e-9)
        self.agreement = check_number(agreement, "agreement", at_least=0.5, at_most=1.0)
        self.precision = check_number(precision, "precision", above=1.0)
        self.worst_rate = check_number(worst_rate, "worst_rate", above=0.0, at_most=1.0)
        self.checks = check_flag(checks, "checks")
        self.out_of = None if out_of is None else check_count(out_of, "out_of", at_least=2)
        self.max_queries = None if max_queries is None else check_count(max_queries, "max_queries")
        if self.pairs == "sphere" and not kind.straight:
            refuse_option(
                pairs,
                "pairs",
                f"'attainable' for the {family} family on {called(space)}: opposite points of a "
                "ball find linear metrics only",
            )
        own = check_own_options(
            kind,
            order=order,
            diagonal=diagonal,
            sparse=sparse,
            cost=cost,
            violation=violation,
            same_pairs=same_pairs,
        )
        self._problem: Problem = kind(space=space, strategy=strategy, tol=self.tol, **own)
        self.carried = check_carried(carried, self.strategy, self.question_space)
        self.seed = check_seed(rng)
        self._extra: dict[str, Any] = {}  # what else the transcript held that was resumed
        self._forget()

    @property
    def question_space(self) -> QuestionSpace:
        """Where questions are asked: the space, or the rates of all groups side by side."""
        return self._problem.question_space

    @property
    @keeps_kind
    def result(self) -> ElicitationResult:
        """What the answers so far say of the metric."""
        self._begin()
        if self._result is None:
            self._result = build_result(self, self._posterior_draws())
        return self._result

    def widened(self) -> Elicitation:
        """Return an elicitation of a wider family that has learned from the same answers.

        For answers that do not fit (``result.misfit``). Each of the two elicitations needs twice
        the evidence, so that a coin that tries both is certified in at most 5 % of cases.
        """
        wider = self._problem.wider
        if wider is None:
            raise ElicitationError(
                f"no family is wider than the {self.family} one on {called(self.space)}; the "
                "linear family on a RateSpace with groups has one"
            )
        shared = {name: self._problem.options[name] for name in self._problem.wider_options}
        said = zip(self._queries, self.answers, strict=True)
        told = [(query.first.tolist(), query.second.tolist(), answer) for query, answer in said]
        options = self._shared_options | shared | {"carried": [*self.carried, *told]}
        return Elicitation(self.space, wider, **options)

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
            raise ElicitationError(
                Option("strategy", self.strategy),
                f" {words}",
            )
        return forecast_agreement(self.result.progress, self._search, extra, n_people, self.seed)

    @keeps_kind
    def frontier(self, n: int = 25) -> FairnessFrontier:
        """Return what classifiers attain between few errors and small gaps, by the metric so far.

        Only where groups are compared.

        Parameters
        ----------
        n : int, default 25
            Number of classifiers on the frontier.
        """
        points = check_count(n, "n", at_least=2)
        if not isinstance(self._problem, GroupProblem):
            raise ElicitationError(
                "the frontier is one of errors against gaps between groups, and the space "
                "compares none",
                Remedy("pass ", Option("groups"), " to RateSpace.from_proba"),
            )
        share, estimate = self.result.weights[-1], self._posterior_draws().estimate
        return fairness_frontier(self._problem.gaps, estimate, share, points, self.seed)

    def tangent(self) -> LinearMetric:
        """Return the linear metric that agrees with a monotone one at its best classifier.

        It is a weighted accuracy whose best classifier is the elicited metric's too, or one of
        those that mix to it. For strategies other than ``active`` it is the elicited metric. For
        someone to whom less is better (``orientation``) it is minus that of the mirrored metric.
        """
        if self.family != "monotone":
            raise ElicitationError(
                f"tangent() is for the monotone family, and this one is {self.family}",
                Remedy("read result.metric"),
            )
        self._begin()
        draws = self._posterior_draws()
        if isinstance(draws.family, PowerMeanFamily):
            return named_metric(self.space, draws.family.tangent(draws.estimate))
        metric = draws.family.metric(draws.estimate)
        assert isinstance(metric, LinearMetric)
        return named_metric(self.space, metric)

    def _forget(self) -> None:
        """Go back to where nothing was asked."""
        self._answers, self._queries, self._kept, self._trail = [], [], [], []
        self._past, self._search = [], None
        self._result, self._begun = None, False
        self._flipped = self.orientation == "decreasing"

    def _start_search(self) -> None:
        """Set ``_search``, ``_brackets`` and ``_steps`` to where nothing was asked."""
        self._search = build_search(self) if self.strategy == "active" else None
        self._brackets = self._problem.first_brackets()
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
        """Return the questions of the strategy, from wherever the search stands."""
        if self._search is not None:
            steps = self._search.steps()
        elif self.strategy == "bisection":
            steps = self._problem.bisection(self._brackets)
        else:
            steps = self._problem.published(self._brackets)
        return swapped(steps) if self._flipped else steps

    def _posterior_draws(self) -> PosteriorDraws:
        """Return the metrics that are still possible, whatever the strategy."""
        problem = self._problem
        family = problem.family(self._flipped)
        if self._search is not None:
            particles, estimate = self._search.posterior, self._search.estimate
            return PosteriorDraws(family, particles.parameters, particles.limit_shares, estimate)
        rng = np.random.default_rng(self.seed)
        low, high = self._brackets.open_low, self._brackets.open_high
        n = problem.affordable(self.effort.draws)
        angles = rng.uniform(low, high, size=(n, len(low)))
        parameters = problem.parameters(angles, self._brackets)
        estimate = problem.estimate(self._brackets)
        return PosteriorDraws(family, parameters, np.full(n, 1.0 / n), estimate)

    @property
    def _standing(self) -> Standing:
        """Where the run stands, for what its answers leave arbitrary."""
        return Standing(self._brackets, self._search, self.answers, self.worst_rate)

    def ask(self) -> Query | None:
        """Return the question to be answered, or None when there is nothing left to ask.

        What is needed for the first one (a posterior, a ball inside what is attained) is computed
        here and not when the elicitation is made.
        """
        self._begin()
        return self._pending

    def tell(self, answer: str, **kept: Any) -> None:
        """Take the answer to the question that ``ask`` returned.

        Parameters
        ----------
        answer : {"first", "second", "tie", "skip"}
            Which side is better. A skip is not counted against either.
        **kept
            What to keep beside the answer in the transcript, such as ``seconds=2.3`` or
            ``note="unsure"``: anything that JSON can hold. It does not change what is learned.
        """
        self._record(answer, kept)

    def _record(self, answer: str, kept: dict[str, Any]) -> None:
        """Take an answer and what is kept beside it."""
        self._begin()
        if self._pending is None:
            raise AnswerError(
                "nothing was asked: ask() returned None, so the elicitation is done; read "
                "its result, or go on with resume() and a stricter goal or more max_queries"
            )
        checked, beside = check_answer(answer), check_kept(kept)
        self._remember()
        self._kept.append(beside)
        self._queries.append(self._pending)
        self._answers.append(checked)
        try:
            self._pending = self._steps.send(checked)
        except StopIteration:
            self._pending = None
        self._trail.append(self._brackets.copy())
        if self.max_queries is not None and len(self._answers) >= self.max_queries:
            self._pending = None
        self._result = None

    def undo(self, n: int = 1) -> None:
        """Take back the last answers; the first of their questions is asked again.

        Parameters
        ----------
        n : int, default 1
            How many answers to take back.
        """
        count, given = check_count(n, "n"), len(self._answers)
        if count > given:
            raise AnswerError(f"{count} answers cannot be taken back: {given} were given")
        if count <= len(self._past):
            header, arrays = unpack(self._past[-count])
            del self._past[-count:]
            self._load(header, arrays)
            return
        given_before = list(zip(self._answers, self._kept, strict=True))[:-count]
        self._forget()
        for answer, kept in given_before:
            self._record(answer, kept)

    def snapshot(self) -> bytes:
        """Return all that the next question depends on, from which ``restore`` goes on at once.

        A transcript is for people and for years: it is replayed. A snapshot is for a server that
        keeps nothing in memory between two answers. It holds numbers and no code, and is read by
        the version of karat that wrote it.
        """
        self._begin()
        search = self._search
        orienting = search is not None and search.pending is None and self._pending is not None
        if search is None or orienting:  # little to replay: the answers are the whole state
            return pack({"transcript": self.transcript.to_dict()}, {})
        state, arrays = write_search(search)
        if self._queries:
            arrays["queries"] = np.stack([np.stack([q.first, q.second]) for q in self._queries])
        header = {
            "family": self.family,
            "options": self._options,
            "space": described(self.space),
            "answers": self._answers,
            "kept": self._kept,
            "extra": self._extra,
            "kinds": [query.kind for query in self._queries],
            "flipped": self._flipped,
            "finished": self._pending is None,
            "search": state,
        }
        return pack(header, arrays)

    @classmethod
    def restore(cls, space: Space, snapshot: bytes) -> Elicitation:
        """Build the elicitation as it was when a snapshot was taken; the same questions follow.

        Parameters
        ----------
        space : Space
            The space of the snapshot.
        snapshot : bytes
            What ``elicitation.snapshot()`` gave.
        """
        header, arrays = unpack(snapshot)
        if isinstance(header.get("transcript"), dict):
            return cls.resume(space, header["transcript"])
        check_header(header)
        found = cls._of_saved(space, header["family"], header["space"], header["options"])
        try:
            found._load(header, arrays)
        except TranscriptError:
            raise
        except (KaratError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise mended(error) from error  # the checksum fits, so someone has made it up
        return found

    def _load(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Take the state of a snapshot of this elicitation."""
        self._answers, self._kept = list(header["answers"]), list(header["kept"])
        self._extra = dict(header["extra"])
        shape = (len(self._answers), 2, *self.question_space.guess.shape)
        sides = taken(arrays, "queries", shape, 0.0)
        self._queries = [
            Query(first, second, kind=kind)
            for (first, second), kind in zip(sides, header["kinds"], strict=True)
        ]
        self._flipped, self._result = header["flipped"], None
        self._search = read_search(self, header["search"], arrays)
        self._brackets = self._problem.first_brackets()
        self._trail = [self._brackets] * len(self._answers)
        self._steps = self._search_steps()
        self._pending = None if header["finished"] else next(self._steps, None)
        self._begun = True

    def _impose(self, query: Query) -> Query | None:
        """Ask the question of a transcript in place of another; None if that makes no sense."""
        if self._search is None or self._search.pending is None:
            return None
        if not self._search.impose(query):
            return None
        self._pending = query
        return query

    def _remember(self) -> None:
        """Keep the state before an answer, so that the answer can be taken back at once."""
        if self._search is not None and self._search.pending is not None:
            self._past.append(self.snapshot())
            del self._past[:-_MOST_UNDONE]

    def run(self, oracle: Callable[[Query], str]) -> ElicitationResult:
        """Ask an oracle until nothing is left to ask, and return the result.

        Parameters
        ----------
        oracle : callable
            Maps a `Query` to an answer, such as a `MetricOracle` or a `TerminalOracle`.
        """
        self._check_classes(oracle)
        while (query := self.ask()) is not None:
            self.tell(oracle(query))
        return self.result

    def _check_classes(self, oracle: Any) -> None:
        """Refuse a simulated person whose metric is about other classes, or in another order."""
        metric = getattr(oracle, "metric", None)
        if not isinstance(metric, MetricBase) or metric.classes is None:
            return
        order = metric._order_of(self.space.classes, name="the space").tolist()
        if order != self.space.classes.tolist():
            raise LabelError(
                f"questions are about {named(self.space.classes.tolist())}, in this order, and "
                f"{metric.title} is about {named(list(metric.classes))}; name the metric's classes "
                "in the order of the space, and its weights with them"
            )

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers given so far."""
        return tuple(self._answers)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.ask() is None

    def _begin(self) -> None:
        """Compute what the first question needs, and the question, unless that was done."""
        if self._begun:
            return
        self._start_search()
        self._pending = next(self._steps, None)
        self._begun = True

    def __repr__(self) -> str:
        state = "going on" if self._begun else "not begun"
        state = "done" if self._begun and self._pending is None else state
        return (
            f"<Elicitation: {self.family} on {called(self.space)}, strategy={self.strategy!r}, "
            f"{len(self._answers)} answers, {state}>"
        )

    @property
    def _shared_options(self) -> dict[str, Any]:
        """The options that every family has."""
        return {
            "strategy": self.strategy,
            "tol": self.tol,
            "agreement": self.agreement,
            "precision": self.precision,
            "worst_rate": self.worst_rate,
            "checks": self.checks,
            "carried": [list(answer) for answer in self.carried],
            "out_of": self.out_of,
            "max_queries": self.max_queries,
            "orientation": self.orientation,
            "pairs": self.pairs,
            "rng": self.seed,
        }

    @property
    def _options(self) -> dict[str, Any]:
        """The options that the elicitation is built with again."""
        return self._shared_options | self._problem.options

    @property
    def transcript(self) -> Transcript:
        """The questions and answers so far, from which ``resume`` goes on."""
        n = len(self._answers)  # appended last: an interrupted answer leaves no half of itself
        return Transcript(
            family=self.family,
            options=self._options,
            space=described(self.space),
            answers=tuple(self._answers),
            queries=tuple((q.first.tolist(), q.second.tolist()) for q in self._queries[:n]),
            kinds=tuple(q.kind for q in self._queries[:n]),
            kept=tuple(dict(kept) for kept in self._kept[:n]),
            extra=copy.deepcopy(self._extra),
        )

    @classmethod
    def resume(cls, space: Space, transcript: Any, **changed: Any) -> Elicitation:
        """Build the elicitation as it was when a transcript was written.

        Parameters
        ----------
        space : Space
            The space of the transcript.
        transcript : Transcript, dict, JSON text or file
            What ``elicitation.transcript`` gave.
        **changed
            Options that say when to stop, in place of the transcript's: a finished elicitation
            goes on asking where ``agreement`` or ``max_queries`` is greater than before.
        """
        saved = load_transcript(transcript)
        found = cls._of_saved(space, saved.family, saved.space, saved.options)
        if changed:
            found = cls(space, saved.family, **(saved.options | _checked_stops(changed)))
        found._extra = copy.deepcopy(saved.extra)
        for number, (answer, (first, second), kept) in enumerate(
            zip(saved.answers, saved.queries, saved.kept, strict=True), start=1
        ):
            query = found.ask()
            if query is None and changed:
                raise TranscriptError(
                    f"the transcript holds {len(saved.answers)} answers and with {changed} the "
                    f"elicitation stops after {number - 1}; ask for no less than it was made with"
                )
            if query is not None and not _same_question(query, first, second):
                # Which question comes next depends on when to stop: see `ActiveSearch.impose`.
                kind = saved.kinds[number - 1]
                query = found._impose(Query(np.array(first), np.array(second), kind=kind))
            if query is None:
                raise TranscriptError(
                    f"answer {number} of the transcript was given to another question than this "
                    "space leads to; pass the data that the transcript was made with"
                )
            found._record(answer, kept)
        return found

    @classmethod
    def _of_saved(
        cls, space: Space, family: str, saved_space: dict[str, Any], options: dict[str, Any]
    ) -> Elicitation:
        """Build the elicitation without answers, if the space is the saved one."""
        _check_same_space(saved_space, described(space))
        try:
            return cls(space, family, **options)
        except (KaratError, TypeError, ValueError) as error:
            raise TranscriptError(
                "the saved options do not fit: ",
                error,
            ) from error


# --- Saving an elicitation as a transcript, and building it again from one.

# Options that say when to stop: they change no question, so that a saved run can go on with others.
_STOPS = ("agreement", "max_queries", "precision")


def _checked_stops(changed: dict[str, Any]) -> dict[str, Any]:
    for name, value in changed.items():
        if name not in _STOPS:
            refuse_option(value, name, f"only {', '.join(_STOPS)} to change when resuming")
    return changed


def described(space: Space) -> dict[str, Any]:
    """Return what a saved elicitation tells its space by."""
    return {
        "kind": space.kind,
        "classes": space.classes.tolist(),
        "fingerprint": space.fingerprint,
    }


def _check_same_space(saved: dict[str, Any], given: dict[str, Any]) -> None:
    for what in ("kind", "classes"):
        if saved.get(what) != given[what]:
            raise TranscriptError(
                f"the transcript's space has {what} {saved.get(what)!r} and this one "
                f"{given[what]!r}; pass the space that it was made with"
            )
    if saved.get("fingerprint") != given["fingerprint"]:
        raise TranscriptError(
            "the transcript belongs to another space (other data, or the same in another state); "
            "pass the space that it was made with"
        )


def _same_question(query: Query, first: Any, second: Any) -> bool:
    sides = ((query.first, np.asarray(first)), (query.second, np.asarray(second)))
    return all(a.shape == b.shape and np.allclose(a, b, rtol=0, atol=1e-9) for a, b in sides)


# --- Answers that were given to another elicitation: nothing is asked twice.

Carried = tuple[list[Any], list[Any], str]  # two confusions as nested lists, and the answer


def check_carried(carried: Any, strategy: str, space: QuestionSpace) -> tuple[Carried, ...]:
    """Return answers as plain data; refuse what is no pair of confusions with an answer."""
    if carried and strategy != "active":
        refuse_option(strategy, "strategy", "'active' where carried answers are to be learned from")
    checked: list[Carried] = []
    for number, entry in enumerate(carried, start=1):
        if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) != 3:
            raise AnswerError(
                f"carried answer {number} is {shown(entry)}; expected two confusions and what was "
                "said"
            )
        first, second = (_confusion(side, number, space.guess.shape) for side in entry[:2])
        checked.append((first, second, check_answer(entry[2])))
    return tuple(checked)


def _confusion(side: Any, number: int, shape: tuple[int, ...]) -> list[Any]:
    """Return a confusion as nested lists; refuse what is none of the space."""
    try:
        table = np.asarray(side, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != shape or not np.isfinite(table).all():
        words = " × ".join(map(str, shape))
        raise AnswerError(
            f"carried answer {number} was given to {shown(side)}; expected a confusion of {words} "
            "finite numbers, as the questions of this space have"
        )
    return list(table.tolist())


# --- Which problem a space and a family make, and the options that it takes.


def _place(space: Space) -> str:
    """Return the row of `PROBLEMS` that a space belongs to."""
    several = isinstance(space, RateSpace) and len(space.parts) > 1
    return "groups" if several else space.kind


def called(space: Space) -> str:
    """Return what to call a space in a sentence."""
    return f"a {type(space).__name__}" + (" with groups" if _place(space) == "groups" else "")


def problem_kind(space: Any, family: Any) -> type[Problem]:
    """Return the problem of a family on a space; refuse a family that the space cannot have."""
    if not isinstance(space, Space):
        raise ElicitationError(
            Argument("space"),
            f" is {shown(space)}; expected ",
            Expected(
                "a BinarySpace, DiagonalSpace, ConfusionSpace or RateSpace: it says which "
                "classifiers can be asked about"
            ),
        )
    check_choice(family, "family", FAMILIES)
    known = PROBLEMS[_place(space)]
    if family not in known:
        *others, last = map(repr, known)
        refuse_option(family, "family", f"{', '.join(others)} or {last} on {called(space)}")
    kind = known[family]
    if space.n_classes < kind.least_classes:
        raise ElicitationError(
            f"{called(space)} is for {kind.least_classes} classes or more and this one has "
            f"{space.n_classes}",
            Remedy("use a BinarySpace"),
        )
    return kind


_NOT_GIVEN = {
    "order": 3,
    "diagonal": False,
    "sparse": False,
    "cost": None,
    "violation": None,
    "same_pairs": False,
}


def check_own_options(kind: type[Problem], **options: Any) -> dict[str, Any]:
    """Return the options that a problem takes; refuse others that were given."""
    for name, value in options.items():
        usual = _NOT_GIVEN[name]
        given = value is not None if usual is None else np.ndim(value) > 0 or value != usual
        if given and name not in kind.takes:
            takes = f"only {', '.join(kind.takes)}" if kind.takes else "no option of this kind"
            refuse_option(value, name, f"{takes} for this family on this space")
    return {name: options[name] for name in kind.takes}
