"""Questions with known answers: do people read the figures? (Hiranandani 2021, figures 8.6–8.9)."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit import Query, evaluation_pairs
from karat.exceptions import ElicitationError
from karat.studio.services.asking._asked import COMPUTING, Asked
from karat.studio.services.asking._words import Words, words_of

__all__ = ["QUIZ_PHASES", "Key", "Quiz", "quiz_of"]

QUIZ_PHASES = ("comprehension", "comparing", "simulation", "dominated")
_POINT = 1.0  # by which a percentage may be off
_GUESSING = 0.4  # share of guessing in the worse system of the dominated pair


class Key(NamedTuple):
    """A question and its right answer: a number, or one of both systems."""

    name: str
    text: str
    key: float | str
    tolerance: float = 0.0

    def right(self, answer: Any) -> bool:
        """Whether an answer is right."""
        if answer is None or isinstance(self.key, str):
            return answer is not None and answer == self.key
        return abs(float(answer) - self.key) <= self.tolerance


class Quiz(NamedTuple):
    """A page of the quiz: the pair that is shown, and the questions about it."""

    sides: dict[str, Any]
    keys: tuple[Key, ...]


def quiz_of(asked: Asked, phase: str) -> Quiz:
    """Return a page of the quiz; the same for everyone in a study."""
    with COMPUTING:
        query = _dominated(asked) if phase == "dominated" else _pair(asked)
        first, second = query.counts(asked.config.options.out_of)
    sides = {"first": query.first.tolist(), "second": query.second.tolist(), "kind": query.kind}
    words, groups = words_of(asked), asked.groups
    where = "" if groups is None else f"In the group {groups[0]}: "
    shown = (first, second) if groups is None else (first[0], second[0])
    keys = {
        "comprehension": _comprehension,
        "comparing": _comparing,
        "simulation": _simulation,
        "dominated": _preferred,
    }[phase](words, *shown)
    if phase != "dominated":
        keys = tuple(key._replace(text=where + key.text) for key in keys)
    return Quiz({**sides, "swapped": False}, keys)


def _comprehension(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    k = len(a) - 1

    def question(system: str, i: int, j: int) -> str:
        return (
            f"How many {words.items} that {words.truth[i]} were predicted as "
            f"“{words.predicted[j]}” by {system}?"
        )

    return (
        Key("missed", question(words.systems[0], k, 0), float(a[k, 0])),
        Key("rejected", question(words.systems[1], 0, 0), float(b[0, 0])),
    )


def _comparing(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    k = len(a) - 1

    def more(i: int, j: int) -> str:
        return (
            f"Which system has more {words.items} that {words.truth[i]} but were predicted as "
            f"“{words.predicted[j]}”?"
        )

    of_truth = (
        f"In {words.systems[0]}, among {words.items} that {words.truth[0]}, what percentage were "
        f"predicted as “{words.predicted[k]}”?"
    )
    of_predicted = (
        f"In {words.systems[0]}, among {words.items} that were predicted as "
        f"“{words.predicted[k]}”, what percentage {words.truth[0]}?"
    )
    return (
        Key("more_false", more(0, k), _more(a[0, k], b[0, k])),
        Key("more_missed", more(k, 0), _more(a[k, 0], b[k, 0])),
        Key("share_of_truth", of_truth, _percent(a[0, k], a[0].sum()), _POINT),
        Key("share_of_predicted", of_predicted, _percent(a[0, k], a[:, k].sum()), _POINT),
    )


def _simulation(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    k = len(a) - 1

    def question(system: str) -> str:
        return (
            f"A new case comes, one that {words.are(k)}. How likely is it, in percent, that "
            f"{system} will predict “{words.predicted[0]}”?"
        )

    likely = _percent(a[k, 0], a[k].sum()), _percent(b[k, 0], b[k].sum())
    which = (
        f"A new case comes, one that {words.are(k)}. Which system is more likely to predict "
        f"“{words.predicted[0]}”?"
    )
    return (
        Key("chance_a", question(words.systems[0]), likely[0], _POINT),
        Key("chance_b", question(words.systems[1]), likely[1], _POINT),
        Key("likelier", which, _more(*likely)),
    )


def _preferred(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    better = "A" if np.trace(a) > np.trace(b) else "B"
    return (Key("preferred", "Which computer system would you prefer?", better),)


def _more(a: float, b: float) -> str:
    return "A" if a > b else "B" if b > a else "same"


def _percent(part: float, whole: float) -> float:
    return 100.0 * float(part) / float(whole) if whole else 0.0


def _pair(asked: Asked) -> Query:
    options = asked.config.options
    for worst in (options.worst_rate, 1.0):
        try:
            return evaluation_pairs(asked.space, 1, out_of=options.out_of, worst_rate=worst, rng=8)[
                0
            ]
        except ElicitationError:
            continue
    good = _good(asked)
    return Query(good, _worse(good))


def _good(asked: Asked) -> FloatArray:
    """Return the confusion of a good classifier, joint with the group where there are groups."""
    space: Any = asked.space
    if asked.fair:
        tables = [part.boundary(part.sign * np.ones(part.dim)) for part in space.parts]
        return np.asarray(np.stack(tables) * np.asarray(space.shares)[:, None, None])
    return np.asarray(space.boundary(space.sign * np.ones(space.dim)))


def _worse(good: FloatArray) -> FloatArray:
    guessing = np.repeat(good.sum(axis=-1, keepdims=True), good.shape[-1], axis=-1)
    return np.asarray((1 - _GUESSING) * good + _GUESSING * guessing / good.shape[-1])


def _dominated(asked: Asked) -> Query:
    """Return a pair of which the second side is better in every respect."""
    good = _good(asked)
    return Query(_worse(good), good, kind="dominated")
