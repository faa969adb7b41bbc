"""Answers that were given to another procedure: nothing is asked twice."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._validate import refuse_option, shown
from karat.elicit.spaces import QuestionSpace
from karat.elicit.transcript import check_answer
from karat.exceptions import AnswerError, ElicitationError

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["Carried", "check_carried", "procedure_named", "widened"]

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
