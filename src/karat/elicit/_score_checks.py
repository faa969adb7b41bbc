"""Did the person read the questions? Dominated pairs, and questions that were asked twice."""

from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._validate import check_confidence
from karat.elicit.answers import Answered, CheckScores, better_side, read_answered
from karat.elicit.transcript import Query
from karat.exceptions import DataError
from karat.limits import clopper_pearson

__all__ = ["score_checks"]

_SWAPPED = {"first": "second", "second": "first", "tie": "tie"}


@keeps_kind
def score_checks(answered: Any, *, confidence: float = 0.95) -> CheckScores:
    """Return how the checks among a person's questions were answered.

    Of a ``dominated`` pair, one side is right at least as often about every class (in every group):
    preferring it is right, the other side or a tie is not. A ``repeat`` is an earlier question with
    its sides swapped (or as it was): answered as before is consistent, and a tie only with a tie.
    A skip is no answer. Someone who tosses a coin gets half of each.

    Parameters
    ----------
    answered : ElicitationResult, Transcript, file, or sequence of dict
        The answers with their questions. A record of one's own is a dict with ``query`` (a `Query`,
        or its two confusions), ``answer`` and ``kind``, in the order in which they were asked.
        Whatever is no check is only looked at as what a repeat repeats.
    confidence : float, default 0.95
        Probability that each pair of limits holds.

    Returns
    -------
    CheckScores

    Examples
    --------
    >>> import numpy as np
    >>> from karat.elicit import Query
    >>> good, bad = np.diag([0.5, 0.5]), np.full((2, 2), 0.25)
    >>> question = Query(np.array([[0.5, 0.0], [0.2, 0.3]]), np.array([[0.3, 0.2], [0.0, 0.5]]))
    >>> score_checks([
    ...     {"query": question, "answer": "second"},
    ...     {"query": (good, bad), "answer": "first", "kind": "dominated"},
    ...     {"query": question.swapped, "answer": "first", "kind": "repeat"},
    ... ])
    <CheckScores: 1 of 1 dominated pairs answered rightly (95 %: 3 to 100 %); 1 of 1 repeated
    questions answered as before (95 %: 3 to 100 %).>
    """
    level = check_confidence(confidence)
    told = read_answered(answered)
    right: list[bool] = []
    same: list[bool] = []
    skipped = unmatched = 0
    for number, item in enumerate(told):
        if item.query.kind == "dominated":
            better = _better(item.query, number + 1)
            if item.answer == "skip":
                skipped += 1
            else:
                right.append(item.answer == better)
        elif item.query.kind == "repeat":
            before = _answer_before(item.query, told[:number])
            if before is None:
                unmatched += 1
            elif "skip" in (item.answer, before):
                skipped += 1
            else:
                same.append(item.answer == before)
    return CheckScores(
        attention=clopper_pearson(sum(right), len(right), confidence=level),
        consistency=clopper_pearson(sum(same), len(same), confidence=level),
        n_right=sum(right),
        n_dominated=len(right),
        n_same=sum(same),
        n_repeated=len(same),
        n_skipped=skipped,
        n_unmatched=unmatched,
        confidence=level,
    )


def _better(query: Query, number: int) -> str:
    side = better_side(query.first, query.second)
    if side is None:
        raise DataError(
            f"question {number} is called dominated and neither side is right at least as often "
            "about every class, and about one of them more often; give it another kind"
        )
    return side


def _answer_before(query: Query, earlier: list[Answered]) -> str | None:
    """Return the last answer to the same question before, as it would be to ``query``."""
    for item in reversed(earlier):
        if item.query.kind == "dominated":
            continue
        if _same(item.query, query.swapped):
            return _SWAPPED.get(item.answer, "skip")
        if _same(item.query, query):
            return str(item.answer)
    return None


def _same(one: Query, other: Query) -> bool:
    sides = ((one.first, other.first), (one.second, other.second))
    return all(a.shape == b.shape and np.allclose(a, b, rtol=0.0, atol=1e-9) for a, b in sides)
