"""Saving a procedure as a transcript, and building it again from one."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from karat._validate import refuse_option
from karat.elicit.spaces import Space
from karat.elicit.transcript import Query, Transcript, load_transcript
from karat.exceptions import KaratError, TranscriptError

__all__ = ["Resumable", "described"]

# Options that say when to stop: they change no question, so that a saved run can go on with others.
_STOPS = ("agreement", "max_queries", "precision")


class Resumable(ABC):
    """A procedure that can be saved as a transcript and built again from one.

    The same answers lead to the same questions, so the options and the answers are the whole state;
    the questions are kept to recognise another space.
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
    _answers: list[str]
    _queries: list[Query]
    _kept: list[dict[str, Any]]
    _extra: dict[str, Any]  # what else the transcript held that was resumed

    @abstractmethod
    def __init__(self, space: Space, **options: Any) -> None:
        """Start without answers."""

    @abstractmethod
    def ask(self) -> Query | None:
        """Return the question to be answered, or None when there is nothing left to ask."""

    @abstractmethod
    def _impose(self, query: Query) -> Query | None:
        """Ask the question of a transcript in place of another; None if that makes no sense."""

    @abstractmethod
    def _record(self, answer: str, kept: dict[str, Any]) -> None:
        """Take an answer and what is kept beside it."""

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
            raise TranscriptError(f"the saved options do not fit: {error}") from error


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
