"""A question and the answers to it."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from karat._frozen import Frozen
from karat._typing import FloatArray
from karat._validate import check_count
from karat.exceptions import AnswerError

__all__ = ["ANSWERS", "SIGNS", "Answer", "Query", "check_answer"]

Answer = Literal["first", "second", "tie", "skip"]
ANSWERS: tuple[str, ...] = get_args(Answer)
# What an answer says of the sign of ``value(first) − value(second)``.
SIGNS = {"first": 1.0, "second": -1.0, "tie": 0.0, "skip": np.nan}


@dataclass(frozen=True, slots=True, eq=False)
class Query(Frozen):
    """The question which of two classifiers is better (Hiranandani 2021, Definition 2.1).

    Attributes
    ----------
    first, second : array (k, k) or (groups, k, k)
        The two confusions: joint probabilities of (truth, prediction), or of (group, truth,
        prediction).
    kind : {"question", "dominated", "repeat"}
        Whether the answer tells something of the metric, or of the person: one side is better in
        every respect, or an earlier question is asked again with its sides swapped.
    """

    first: FloatArray
    second: FloatArray
    kind: str = "question"

    @property
    def identical(self) -> bool:
        """Whether there is nothing to choose between."""
        return bool(np.allclose(self.first, self.second, rtol=0.0, atol=1e-15))

    @property
    def swapped(self) -> "Query":
        """The same question, asked the other way round."""
        return Query(self.second, self.first, self.kind)

    def counts(self, out_of: int = 1000) -> tuple[FloatArray, FloatArray]:
        """Return both confusions as numbers of cases out of ``out_of``, for people to read.

        Parameters
        ----------
        out_of : int, default 1000
            Number of cases that the confusions are shown for.
        """
        cases = check_count(out_of, "out_of")
        return np.asarray(self.first * cases), np.asarray(self.second * cases)


def check_answer(answer: Any) -> Answer:
    """Return an answer in lower case; refuse what is none of the four answers."""
    text = answer.strip().lower() if isinstance(answer, str) else answer
    for known in get_args(Answer):
        if text == known:
            return known  # type: ignore[no-any-return]
    raise AnswerError(f"the answer is {answer!r}; expected 'first', 'second', 'tie' or 'skip'")
