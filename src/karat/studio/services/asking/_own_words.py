"""What a person's answers say, in words for that person."""

from collections.abc import Mapping

import numpy as np

from karat.elicit import ElicitationResult
from karat.studio.services.asking._asked import Asked
from karat.studio.services.asking._words import words_of

__all__ = ["own_words"]


def own_words(
    asked: Asked, result: ElicitationResult, guess: Mapping[str, float | None] | None
) -> list[str]:
    """Return sentences on what a person's answers have in common, and on their guess."""
    if result.status == "flagged":
        return ["Your answers do not fit together well enough to say what they have in common."]
    said = [_ratio(asked, result)] if len(result.ratios) == 1 else _many(result)
    guessed = None if guess is None else guess.get("ratio")
    if guessed is not None and len(result.ratios) == 1:
        said.append(f"You guessed {guessed:.3g}.")
    if result.status == "undecided":
        said.append("More answers would be needed to be sure of this.")
    return said


def _ratio(asked: Asked, result: ElicitationResult) -> str:
    words, ratio = words_of(asked), result.ratios[0]
    return (
        f"By your answers, one of the {words.items} that {words.truth[1]} but are predicted as "
        f"“{words.predicted[0]}” is as bad as {_limits(ratio.estimate, ratio.lower, ratio.upper)} "
        f"that {words.truth[0]} but are predicted as “{words.predicted[1]}”."
    )


def _limits(estimate: float, lower: float, upper: float) -> str:
    if np.isinf(upper):
        return f"{estimate:.2g} (at least {lower:.2g})"
    return f"{estimate:.2g} (between {lower:.2g} and {upper:.2g})"


def _many(result: ElicitationResult) -> list[str]:
    if result.trade_off is not None:
        return [result.trade_off.summary()]
    rows = [f"{r.name}: {_limits(r.estimate, r.lower, r.upper)}" for r in result.ratios]
    return [f"By your answers, {'; '.join(rows)}."] if rows else [result.description]
