"""From results to what several people were asked, and what they said."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family
from karat.elicit.people._person import Person
from karat.elicit.procedure import Procedure, procedure_named, typical_margin
from karat.elicit.result import ElicitationResult
from karat.elicit.spaces import Space
from karat.elicit.transcript import SIGNS
from karat.exceptions import OptionError

__all__ = ["read_people"]

_SOME = 100  # metrics by which the typical difference of the sides of questions is found


def read_people(
    space: Space, results: Sequence[ElicitationResult]
) -> tuple[Procedure, Family, list[Person]]:
    """Return a procedure of all people, their family of metrics, and what each answered."""
    if len(results) < 2:
        raise OptionError(
            f"results holds {len(results)} {'person' if len(results) == 1 else 'people'}; expected "
            "at least 2: what one person wants is in their own result"
        )
    procedures = [_procedure(space, result, i + 1) for i, result in enumerate(results)]
    first = procedures[0]
    turned = [
        _is_turned(procedure, result) for procedure, result in zip(procedures, results, strict=True)
    ]
    for i, procedure in enumerate(procedures):
        if _kind(procedure) != _kind(first):
            raise OptionError(
                f"results mixes families: person 1 has a result of {_words(first)} and person "
                f"{i + 1} one of {_words(procedure)}; expected one family with the same options "
                "for all"
            )
        if turned[i] != turned[0]:
            raise OptionError(
                f"person {i + 1} of results prefers the other way round than person 1 (errors are "
                "good); expected people of one orientation: leave some out"
            )
    family = first._family(flipped=turned[0])
    people = [
        _person(procedure, result, family, turn, i + 1)
        for i, (procedure, result, turn) in enumerate(zip(procedures, results, turned, strict=True))
    ]
    return first, family, people


def _procedure(space: Space, result: Any, number: int) -> Procedure:
    """Return the procedure of a result, before any question."""
    if not isinstance(result, ElicitationResult):
        raise OptionError(
            f"person {number} of results is a {type(result).__name__}; expected the result of a "
            "procedure, such as BinaryLinear(space).run(person)"
        )
    if result.transcript.space["fingerprint"] != space.fingerprint:
        raise OptionError(
            f"person {number} of results was asked about another space; expected people who were "
            "asked about the space that is passed"
        )
    kind = procedure_named(result.procedure, Procedure)
    if kind is None:
        raise OptionError(
            f"person {number} of results has a result of {result.procedure}, which is no procedure"
        )
    # What was asked by another strategy says as much of the metric as any question does.
    return kind(space, **(result.transcript.options | {"strategy": "active"}))


def _kind(procedure: Procedure) -> tuple[str, dict[str, Any]]:
    return type(procedure).__name__, procedure._own_options()


def _words(procedure: Procedure) -> str:
    name, options = _kind(procedure)
    set_ = (f"{key}={value!r}" for key, value in options.items() if value not in (None, False))
    return f"{name}({', '.join(set_)})"


def _is_turned(procedure: Procedure, result: ElicitationResult) -> bool:
    """Return whether less is better to someone, who was asked or said so at the beginning."""
    if procedure.orientation != "ask":
        return procedure.orientation == "decreasing"
    sides = [answer for answer in result.transcript.answers[:3] if answer in ("first", "second")]
    return bool(sides) and sides[0] == "second"


def _person(
    procedure: Procedure, result: ElicitationResult, family: Family, turned: bool, number: int
) -> Person:
    first, second = result.questions.first, result.questions.second
    answers = list(result.questions.answers)
    if procedure.carried:
        sides = [np.stack([np.asarray(told[i]) for told in procedure.carried]) for i in (0, 1)]
        told = (procedure.question_space.coordinates(side) for side in sides)
        first, second = (np.vstack(both) for both in zip(told, (first, second), strict=True))
        answers = [told[2] for told in procedure.carried] + answers
    given = [n for n, answer in enumerate(answers) if answer != "skip"]
    if not given:
        raise OptionError(
            f"person {number} of results has answered nothing; expected people who answered: "
            "leave them out"
        )
    signs = np.array([SIGNS[answers[n]] for n in given]) * (-1.0 if turned else 1.0)
    first, second = first[given], second[given]
    if result.strategy == "active":
        typical = typical_margin(procedure, family)
    else:
        typical = _typical_of(family, first, second)
    return Person(first, second, signs, typical)


def _typical_of(family: Family, first: FloatArray, second: FloatArray) -> float:
    """Return the median difference that metrics see between the sides of the questions.

    Those of ``bisection`` and ``published`` may differ much less than two classifiers do.
    """
    drawn = np.random.default_rng(2).normal(size=(_SOME, family.size))
    metrics = np.where(family.signed, drawn, np.abs(drawn))
    margins = family.values(metrics, first) - family.values(metrics, second)
    return float(np.median(np.abs(margins))) + 1e-12
