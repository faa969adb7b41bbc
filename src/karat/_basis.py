"""What a conclusion rests on: one word, derived from how its numbers were found.

Whoever states a method states its guarantee (`Guarantee`), in the result that holds the numbers.
The word that a reader sees is made of it here and nowhere else, so a badge can be no stronger than
the method behind it.
"""

from typing import Any, Literal, Protocol

Basis = Literal["certain", "guaranteed", "likely", "unknown"]
Guarantee = Literal["complete", "exact", "finite-sample", "approximate", "model", "untested"]

# From the strongest to the weakest, with what each means to a reader.
BASES: dict[Basis, str] = {
    "certain": "no chance of error: arithmetic on what is known",
    "guaranteed": "confidence limits that hold for any distribution",
    "likely": "confidence limits that rest on an approximation or on an assumption that is named",
    "unknown": "the data do not answer the question",
}

_WORDS: dict[str, Basis] = {
    "complete": "certain",  # every item that the number is about is known
    "exact": "guaranteed",  # the law of a count, for any number of independent items
    "finite-sample": "guaranteed",  # for any law of the values and any number of items
    "approximate": "likely",  # as the number of items grows
    "model": "likely",  # if a model holds that the data were held against
    "untested": "unknown",  # if a model holds that nothing was held against
}


class Guaranteed(Protocol):
    """A result that says what its limits are worth."""

    @property
    def guarantee(self) -> Any:
        """One of `Guarantee`."""


def basis_of(*evidence: "Guaranteed | Guarantee", assumes: str = "", decided: bool = True) -> Basis:
    """Return the word for the weakest part of what a conclusion rests on.

    Parameters
    ----------
    *evidence : results or guarantees
        What the conclusion is made of; none if nothing answers the question.
    assumes : str
        What the conclusion assumes beside, such as that some labels were drawn at random. Whatever
        is assumed, a conclusion is no more than likely.
    decided : bool
        Whether the numbers decide the question: limits of a difference that hold 0 do not.
    """
    found: list[Basis] = [_WORDS[e if isinstance(e, str) else str(e.guarantee)] for e in evidence]
    order = list(BASES)
    if not found or not decided:
        return order[-1]
    if assumes:
        found.append(_WORDS["approximate"])
    return max(found, key=order.index)
