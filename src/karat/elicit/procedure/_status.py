"""Whether the answers may be trusted, and the sentence that says why not."""

from typing import TYPE_CHECKING

import numpy as np

from karat.elicit.asking import ActiveSearch
from karat.elicit.posterior import Evidence

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["status_of"]

_MANY_ANSWERS = 60  # by then someone with a metric is told from someone without
# Log of the Bayes factor from which on a wider family is offered. Settled on simulated people of
# the income data (groups by sex), confirmed on biopsies: see docs/theory/elicitation.md.
_WIDER = 1.5


def status_of(procedure: "Procedure", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return "certified", "undecided" or "flagged", and for the last what is wrong."""
    search = procedure._search
    if search is None:
        return _of_brackets(procedure, contradictions)
    misfit = _no_metric(search.posterior.evidence) or _outside(procedure, search)
    if misfit is not None:
        return "flagged", misfit
    return (
        "certified" if search.is_known() and search.posterior.evidence.certified else "undecided"
    ), None


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
    return f"{what}; do not use this metric. Ask again, or whether the question was understood"


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
