"""Ask and tell: a search for questions, driven by answers."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np

from karat._typing import AnyArray
from karat._validate import check_count
from karat.elicit.asking import ActiveSearch
from karat.elicit.procedure._resumable import Resumable, described
from karat.elicit.procedure._snapshot import check_header, mended, read_search, taken, write_search
from karat.elicit.result import ElicitationResult
from karat.elicit.search import Brackets, Steps
from karat.elicit.spaces import QuestionSpace, Space
from karat.elicit.transcript import Query, check_answer, check_kept, pack, unpack
from karat.exceptions import AnswerError, KaratError, TranscriptError

__all__ = ["AskAndTell"]

_MOST_UNDONE = 20  # answers that are taken back at once; taking back more replays the rest


class AskAndTell(Resumable):
    """A generator of questions that is sent answers, and all that was asked and answered.

    The same answers lead to the same questions; ``undo`` goes back to the state before the last
    ones.
    """

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

    @abstractmethod
    def _start_search(self) -> None:
        """Set ``_search``, ``_brackets`` and ``_steps`` to where nothing was asked."""

    @abstractmethod
    def _search_steps(self) -> Steps:
        """Return the questions of the strategy, from wherever the search stands."""

    @abstractmethod
    def _first_brackets(self) -> Brackets:
        """Return what is known of the angles before anything is asked."""

    @property
    @abstractmethod
    def question_space(self) -> QuestionSpace:
        """Where questions are asked."""

    @property
    @abstractmethod
    def result(self) -> ElicitationResult:
        """What the answers so far say of the metric."""

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

    def _forget(self) -> None:
        """Go back to where nothing was asked."""
        self._answers, self._queries, self._kept, self._trail = [], [], [], []
        self._past, self._search = [], None
        self._result, self._begun = None, False

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
