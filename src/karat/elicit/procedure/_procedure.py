"""A procedure: a space, a family and a search, driven by questions and answers.

Ask, tell, undo, run, save and resume are the same for every elicitation.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Option
from karat._typing import AnyArray, FloatArray
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
from karat.elicit.asking import WORST_RATE, ActiveSearch, Effort, forecast_agreement
from karat.elicit.families import Family
from karat.elicit.posterior import Brackets, PosteriorDraws
from karat.elicit.procedure._build_result import build_result
from karat.elicit.procedure._snapshot import (
    build_search,
    check_header,
    mended,
    read_search,
    taken,
    write_search,
)
from karat.elicit.result import AgreementHistory, ElicitationResult
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
from karat.metrics.base import MetricBase

STRATEGIES = ("active", "bisection", "published")
ORIENTATIONS = ("increasing", "decreasing", "ask")
PAIRS = ("attainable", "sphere")
_MOST_UNDONE = 20  # answers that are taken back at once; taking back more replays the rest


class Procedure(ABC):
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

    space: Space
    strategy: str
    tol: float
    agreement: float
    precision: float
    worst_rate: float
    checks: bool
    carried: tuple[tuple[Any, Any, str], ...]
    out_of: int | None
    max_queries: int | None
    orientation: str
    pairs: str
    seed: int
    _extra: dict[str, Any]  # what else the transcript held that was resumed
    _answers: list[str]
    _queries: list[Query]
    _kept: list[dict[str, Any]]  # what was kept beside each answer
    _trail: list[Brackets]  # the brackets after each answer
    _brackets: Brackets
    _steps: Steps
    _pending: Query | None
    _result: ElicitationResult | None
    _begun: bool
    _flipped: bool  # whether the person prefers the other way round
    _search: ActiveSearch | None  # of strategy "active"
    _past: list[bytes]  # snapshots before the last answers
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
        """What the answers so far say of the metric."""
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
            raise ElicitationError(
                Option("strategy", self.strategy),
                f" {words}",
            )
        return forecast_agreement(self.result.progress, self._search, extra, n_people, self.seed)

    def _forget(self) -> None:
        """Go back to where nothing was asked."""
        self._answers, self._queries, self._kept, self._trail = [], [], [], []
        self._past, self._search = [], None
        self._result, self._begun = None, False
        self._flipped = self.orientation == "decreasing"

    def _start_search(self) -> None:
        """Set ``_search``, ``_brackets`` and ``_steps`` to where nothing was asked."""
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
        """Return the questions of the strategy, from wherever the search stands."""
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

    def ask(self) -> Query | None:
        """Return the question to be answered, or None when there is nothing left to ask.

        What is needed for the first one (a posterior, a ball inside what is attained) is computed
        here and not when the procedure is made.
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
                "nothing was asked: ask() returned None, so the procedure is done; read "
                "procedure.result, or go on with resume() and a stricter goal or more max_queries"
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
            "procedure": type(self).__name__,
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
    def restore(cls, space: Space, snapshot: bytes) -> Self:
        """Build the procedure as it was when a snapshot was taken; the next questions are the same.

        Parameters
        ----------
        space : Space
            The space of the snapshot.
        snapshot : bytes
            What ``procedure.snapshot()`` gave.
        """
        header, arrays = unpack(snapshot)
        if isinstance(header.get("transcript"), dict):
            return cls.resume(space, header["transcript"])
        check_header(header)
        procedure = cls._of_saved(space, header["procedure"], header["space"], header["options"])
        try:
            procedure._load(header, arrays)
        except TranscriptError:
            raise
        except (KaratError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise mended(error) from error  # the checksum fits, so someone has made it up
        return procedure

    def _load(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Take the state of a snapshot of this procedure."""
        self._answers, self._kept = list(header["answers"]), list(header["kept"])
        self._extra = dict(header["extra"])
        shape = (len(self._answers), 2, *self.question_space.guess.shape)
        sides = taken(arrays, "queries", shape, 0.0)
        self._queries = [
            Query(first, second, kind=kind)
            for (first, second), kind in zip(sides, header["kinds"], strict=True)
        ]
        self._flipped, self._result = header["flipped"], None
        self._search = read_search(cast("Any", self), header["search"], arrays)
        self._brackets = self._first_brackets()
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
            f"<{type(self).__name__}: strategy={self.strategy!r}, {len(self._answers)} answers, "
            f"{state}>"
        )

    def _own_options(self) -> dict[str, Any]:
        """Return the options that only some procedures have."""
        return {}

    @property
    def _options(self) -> dict[str, Any]:
        """The options that the procedure is built with again."""
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
            **self._own_options(),
        }

    @property
    def transcript(self) -> Transcript:
        """The questions and answers so far, from which ``resume`` goes on."""
        n = len(self._answers)  # appended last: an interrupted answer leaves no half of itself
        return Transcript(
            procedure=type(self).__name__,
            options=self._options,
            space=described(self.space),
            answers=tuple(self._answers),
            queries=tuple((q.first.tolist(), q.second.tolist()) for q in self._queries[:n]),
            kinds=tuple(q.kind for q in self._queries[:n]),
            kept=tuple(dict(kept) for kept in self._kept[:n]),
            extra=copy.deepcopy(self._extra),
        )

    @classmethod
    def resume(cls, space: Space, transcript: Any, **changed: Any) -> Self:
        """Build the procedure as it was when a transcript was written.

        Parameters
        ----------
        space : Space
            The space of the transcript.
        transcript : Transcript, dict, JSON text or file
            What ``procedure.transcript`` gave.
        **changed
            Options that say when to stop, in place of the transcript's: a finished procedure goes
            on asking where ``agreement`` or ``max_queries`` is greater than before.
        """
        saved = load_transcript(transcript)
        procedure = cls._of_saved(space, saved.procedure, saved.space, saved.options)
        if changed:
            procedure = cls(space, **(saved.options | _checked_stops(changed)))
        procedure._extra = copy.deepcopy(saved.extra)
        for number, (answer, (first, second), kept) in enumerate(
            zip(saved.answers, saved.queries, saved.kept, strict=True), start=1
        ):
            query = procedure.ask()
            if query is None and changed:
                raise TranscriptError(
                    f"the transcript holds {len(saved.answers)} answers and with {changed} the "
                    f"procedure stops after {number - 1}; ask for no less than it was made with"
                )
            if query is not None and not _same_question(query, first, second):
                # Which question comes next depends on when to stop: see `ActiveSearch.impose`.
                kind = saved.kinds[number - 1]
                query = procedure._impose(Query(np.array(first), np.array(second), kind=kind))
            if query is None:
                raise TranscriptError(
                    f"answer {number} of the transcript was given to another question than this "
                    "space leads to; pass the data that the transcript was made with"
                )
            procedure._record(answer, kept)
        return procedure

    @classmethod
    def _of_saved(
        cls, space: Space, name: str, saved_space: dict[str, Any], options: dict[str, Any]
    ) -> Self:
        """Build the procedure without answers, if it is this one and of this space."""
        if name != cls.__name__:
            raise TranscriptError(
                f"this was saved by {name} and not by {cls.__name__}; call {name}.resume or "
                f"{name}.restore"
            )
        _check_same_space(saved_space, described(space))
        try:
            return cls(space, **options)
        except (KaratError, TypeError, ValueError) as error:
            raise TranscriptError(
                "the saved options do not fit: ",
                error,
            ) from error


# --- Saving a procedure as a transcript, and building it again from one.

# Options that say when to stop: they change no question, so that a saved run can go on with others.
_STOPS = ("agreement", "max_queries", "precision")


def _checked_stops(changed: dict[str, Any]) -> dict[str, Any]:
    for name, value in changed.items():
        if name not in _STOPS:
            refuse_option(value, name, f"only {', '.join(_STOPS)} to change when resuming")
    return changed


def described(space: Space) -> dict[str, Any]:
    """Return what a saved procedure tells its space by."""
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


# --- Answers that were given to another procedure: nothing is asked twice.

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


def widened(procedure: "Procedure", base: type[Any]) -> "Procedure":
    """Return the procedure, built on ``base``, of a wider family with the same answers."""
    if procedure.wider is None:
        some = sorted(kind.__name__ for kind in _kinds(base) if kind.wider is not None)
        raise ElicitationError(
            f"there is no wider family than that of {type(procedure).__name__}; these have one: "
            f"{', '.join(some)}"
        )
    wide = procedure_named(procedure.wider, base)
    assert wide is not None
    own = procedure._own_options()
    options = {name: value for name, value in procedure._options.items() if name not in own}
    options |= {name: own[name] for name in procedure.wider_options}
    said = zip(procedure._queries, procedure.answers, strict=True)
    told = [(query.first.tolist(), query.second.tolist(), answer) for query, answer in said]
    return wide(procedure.space, **(options | {"carried": [*procedure.carried, *told]}))


def procedure_named(name: str, base: type[Any]) -> "type[Procedure] | None":
    """Return the procedure with a name, built on ``base``; None if there is none."""
    return next((kind for kind in _kinds(base) if kind.__name__ == name), None)


def _kinds(base: type[Any]) -> "Iterator[type[Procedure]]":
    """Yield every procedure that is built on another."""
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)
