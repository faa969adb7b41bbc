"""Ask and tell: a search for questions, driven by answers."""

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from karat._validate import check_count
from karat.elicit.procedure._resumable import Resumable
from karat.elicit.result import ElicitationResult
from karat.elicit.search import Brackets, Steps
from karat.elicit.transcript import Query, check_answer, check_kept
from karat.exceptions import AnswerError

__all__ = ["AskAndTell"]


class AskAndTell(Resumable):
    """A generator of questions that is sent answers, and all that was asked and answered.

    The same answers lead to the same questions, so that ``undo`` starts again without the last
    answers.
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

    @abstractmethod
    def _start_search(self) -> None:
        """Set ``_brackets`` and ``_steps`` to where nothing was asked."""

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
            raise AnswerError("nothing was asked: ask() returned None, so the procedure is done")
        checked, beside = check_answer(answer), check_kept(kept)
        self._kept.append(beside)
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
        """Take back the last answers; the first of their questions is asked again.

        Parameters
        ----------
        n : int, default 1
            How many answers to take back.
        """
        count, given = check_count(n, "n"), len(self._answers)
        if count > given:
            raise AnswerError(f"{count} answers cannot be taken back: {given} were given")
        given_before = list(zip(self._answers, self._kept, strict=True))[:-count]
        self._forget()
        for answer, kept in given_before:
            self._record(answer, kept)

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
