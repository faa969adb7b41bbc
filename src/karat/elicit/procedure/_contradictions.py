"""Answers that contradict each other, and what they leave unknown."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from karat._typing import FloatArray
from karat.elicit.posterior import PosteriorDraws
from karat.elicit.result import ElicitationResult
from karat.elicit.transcript import SIGNS
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["answered_sides", "find_contradictions", "warn_of_answers"]

# More contradictions than this are seldom slips of someone who has a metric in mind: a coin leads
# to 20 to 25 % after 40 questions, someone who slips on 20 % of them to 15 %.
_TOO_MANY = 0.2


def answered_sides(procedure: "Procedure") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coordinates of both sides of each question, and the signs of the answers."""
    space, queries = procedure.question_space, procedure._queries
    if not queries:
        return np.empty((0, space.dim)), np.empty((0, space.dim)), np.empty(0)
    first = space.coordinates(np.stack([q.first for q in queries]))
    second = space.coordinates(np.stack([q.second for q in queries]))
    signs = np.array([SIGNS[answer] for answer in procedure.answers])
    return first, second, signs * (-1.0 if procedure._flipped else 1.0)


def find_contradictions(procedure: "Procedure", draws: PosteriorDraws) -> tuple[int, ...]:
    """Return the numbers of the answers that nearly all metrics still possible disagree with."""
    first, second, signs = answered_sides(procedure)
    if not len(signs) or not procedure.explains:
        return ()
    values = draws.family.values(draws.parameters, np.vstack([first, second]))
    margins = values[:, : len(first)] - values[:, len(first) :]
    wrong = draws.shares @ (margins * signs < -1e-12)
    # Particles allow for slips, so most of them suffice; brackets hold every answer to be right.
    limit = 0.5 if procedure._search is not None else 0.999
    return tuple(int(i) + 1 for i in np.flatnonzero(wrong > limit))


def warn_of_answers(procedure: "Procedure", result: ElicitationResult) -> None:
    """Warn of answers that contradict each other, and of what they leave arbitrary."""
    given = sum(answer != "skip" for answer in procedure.answers)
    n = len(result.contradictions)
    if procedure.strategy != "active" and n:
        warnings.warn(
            f"{n} of {given} answers contradict the others (questions "
            f"{', '.join(map(str, result.contradictions[:5]))}{', …' * (n > 5)}), and "
            f"strategy={procedure.strategy!r} takes every answer for right; use 'active', which "
            "allows for slips",
            ContradictionWarning,
            stacklevel=4,
        )
    elif n >= 4 and n > _TOO_MANY * given:
        warnings.warn(
            f"{n} of {given} answers contradict the others, more than slips explain: perhaps no "
            "metric of this family is what the person has in mind, or the sides were confused",
            ContradictionWarning,
            stacklevel=4,
        )
    arbitrary = procedure._unidentified()
    if arbitrary is not None and procedure.finished:
        warnings.warn(arbitrary, NotIdentifiedWarning, stacklevel=4)
