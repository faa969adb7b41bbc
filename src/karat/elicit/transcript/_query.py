"""A question and the answers to it."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from karat._frozen import Frozen
from karat._typing import FloatArray, IntArray
from karat._validate import check_choice, check_confusions, check_count
from karat.elicit.counts import as_cases, same_counts, whole_counts
from karat.exceptions import AnswerError, ProbabilityError, ShapeError

__all__ = ["ANSWERS", "KINDS", "SIGNS", "Answer", "Query", "check_answer", "looks_alike"]

Answer = Literal["first", "second", "tie", "skip"]
ANSWERS: tuple[str, ...] = get_args(Answer)
# What an answer says of the sign of ``value(first) − value(second)``.
SIGNS = {"first": 1.0, "second": -1.0, "tie": 0.0, "skip": np.nan}
# Why a question is asked: to learn, or to see whether the person reads and means what they say.
KINDS = ("question", "dominated", "repeat")


@dataclass(frozen=True, slots=True, eq=False)
class Query(Frozen):
    """The question which of two classifiers is better (Hiranandani 2021, Definition 2.1).

    Attributes
    ----------
    first, second : array (k, k) or (groups, k, k)
        The two confusions: joint probabilities of (truth, prediction), or of (group, truth,
        prediction).
    kind : {"question", "dominated", "repeat"}, default "question"
        Why it is asked: to learn what the person wants, or as a check: of a pair of which one side
        is worse in every respect, or of a question that was asked before with its sides swapped.
    """

    first: FloatArray
    second: FloatArray
    kind: str = field(default="question", kw_only=True)

    def __post_init__(self) -> None:
        """Check the kind and make the confusions read-only."""
        check_choice(self.kind, "kind", KINDS)
        Frozen.__post_init__(self)

    @property
    def identical(self) -> bool:
        """Whether there is nothing to choose between."""
        return bool(np.allclose(self.first, self.second, rtol=0.0, atol=1e-15))

    @property
    def swapped(self) -> "Query":
        """The same question, asked the other way round."""
        return Query(self.second, self.first, kind=self.kind)

    def counts(self, out_of: int = 1000) -> tuple[IntArray, IntArray]:
        """Return both confusions as whole numbers of cases out of ``out_of``, for people to read.

        Every number is the whole one below or above the exact count. Both sides have the same
        total of each true class, each table sums to ``out_of``, and the totals of the predictions
        are rounded no further than single numbers are. Where there are groups, each of them is
        shown for ``out_of`` cases. Differences below one case may get lost: `looks_alike` in
        ``karat.elicit.transcript`` says whether all of them do.

        Parameters
        ----------
        out_of : int, default 1000
            Number of cases that each confusion is shown for, in every group if there are groups.

        Examples
        --------
        >>> import numpy as np
        >>> guess = np.full((2, 2), 0.25)
        >>> first, second = Query(np.array([[0.45, 0.05], [0.124, 0.376]]), guess).counts(100)
        >>> first.tolist(), second.tolist()
        ([[45, 5], [12, 38]], [[25, 25], [25, 25]])
        """
        cases = check_count(out_of, "out_of")
        pairs = zip(*(as_cases(side, cases) for side in _stacked(self)), strict=True)
        rounded = [whole_counts(first, second) for first, second in pairs]
        if self.first.ndim == 2:
            return rounded[0]
        first, second = (np.stack(side) for side in zip(*rounded, strict=True))
        return first, second


def looks_alike(query: Query, out_of: int) -> bool:
    """Whether both sides of a query are shown by the same ``query.counts(out_of)``."""
    return same_counts(*_stacked(query), check_count(out_of, "out_of"))


def _stacked(query: Query) -> tuple[FloatArray, FloatArray]:
    """Return both confusions as (groups, k, k), of one group where there are none."""
    first, second = (check_confusions(side)[0] for side in (query.first, query.second))
    if first.shape != second.shape:
        raise ShapeError(
            f"the sides of the question have the shapes {query.first.shape} and "
            f"{query.second.shape}; expected two confusions of the same classes and groups"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ProbabilityError("a group of the question holds no cases, so it cannot be shown")
    return first, second


def check_answer(answer: Any) -> Answer:
    """Return an answer in lower case; refuse what is none of the four answers."""
    text = answer.strip().lower() if isinstance(answer, str) else answer
    for known in get_args(Answer):
        if text == known:
            return known  # type: ignore[no-any-return]
    raise AnswerError(f"the answer is {answer!r}; expected 'first', 'second', 'tie' or 'skip'")
