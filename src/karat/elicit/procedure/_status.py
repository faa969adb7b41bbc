"""Whether the answers may be trusted, and the sentences that say why not."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from karat._callers import caller_level
from karat._typing import FloatArray
from karat.elicit.asking import ActiveSearch
from karat.elicit.posterior import Evidence, PosteriorDraws
from karat.elicit.result import ElicitationResult
from karat.elicit.transcript import SIGNS
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["answered_sides", "find_contradictions", "status_of", "warn_of_answers"]

_MANY_ANSWERS = 60  # by then someone with a metric is told from someone without
# Log of the Bayes factor from which on a wider family is offered. Settled on simulated people of
# the income data (groups by sex), tried on credit data: see docs/theory/elicitation.md.
_WIDER = 1.5
# More contradictions than this are seldom slips of someone who has a metric in mind: a coin leads
# to 20 to 25 % after 40 questions, someone who slips on 20 % of them to 15 %.
_TOO_MANY = 0.2


def status_of(procedure: "Procedure", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return "certified", "undecided" or "flagged", and for the last what is wrong."""
    search = procedure._search
    if search is None:
        return _of_brackets(procedure, contradictions)
    misfit = _no_metric(search.posterior.evidence) or _outside(procedure, search)
    if misfit is not None:
        return "flagged", misfit
    reached = search.is_known() and search.precise and search.excludes_coin
    return ("certified" if reached else "undecided"), None


def _of_brackets(procedure: "Procedure", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return the status of a search that takes every answer for right: it tests nothing."""
    if not contradictions:
        return "undecided", None
    n = len(contradictions)
    return "flagged", (
        f"{n} answer{'s' * (n > 1)} contradict{'s' * (n == 1)} the others, and "
        f"strategy={procedure.strategy!r} takes every answer for right; use 'active'"
    )


def _no_metric(evidence: Evidence) -> str | None:
    """Return why the answers are not those of someone with a metric in mind."""
    late = evidence.n_named >= _MANY_ANSWERS and evidence.above_no_metric < 0
    if not (evidence.contradicted or late):
        return None
    n = evidence.n_named + evidence.n_ties
    if evidence.n_ties > max(evidence.n_first, evidence.n_second):
        what = f"{evidence.n_ties} of {n} answers are ties, also where a side is clearly better"
    elif max(evidence.n_first, evidence.n_second) > 0.8 * evidence.n_named:
        side = "first" if evidence.n_first > evidence.n_second else "second"
        count = max(evidence.n_first, evidence.n_second)
        what = f"{count} of {n} answers name the {side} side, whatever it shows"
    else:
        what = f"the {n} answers are more like those of a coin than of any metric of this family"
    return f"{what}; do not use this metric. Ask again, or ask whether the question was understood"


def _outside(procedure: "Procedure", search: ActiveSearch) -> str | None:
    """Return that another family explains the answers better, if one does."""
    if not search.rivals:
        return None
    wide = search.rivals[0]
    factor = wide.evidence.named - search.posterior.evidence.named
    if factor < _WIDER:
        return None
    return (
        f"metrics of {procedure.wider} explain the answers {_times(factor)} as well as those of "
        f"{type(procedure).__name__}: what the person has in mind is probably not of this family. "
        f"Go on with procedure.widened(), which is a {procedure.wider} with the same answers"
    )


def _times(log_factor: float) -> str:
    return f"{np.exp(log_factor):.0f} times" if log_factor < 7 else "over 1,000 times"


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
            stacklevel=caller_level(),
        )
    elif n >= 4 and n > _TOO_MANY * given:
        warnings.warn(
            f"{n} of {given} answers contradict the others, more than slips explain: perhaps no "
            "metric of this family is what the person has in mind, or the sides were confused",
            ContradictionWarning,
            stacklevel=caller_level(),
        )
    arbitrary = procedure._unidentified()
    if arbitrary is not None and procedure.finished:
        warnings.warn(arbitrary, NotIdentifiedWarning, stacklevel=caller_level())
