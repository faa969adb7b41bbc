"""The state of an elicitation as bytes: how many, and how long going on from them takes."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, Elicitation, RateSpace
from karat.elicit.spaces import Space

__all__ = ["States", "states"]

ROWS = 4000
ENDLESS = {"agreement": 0.9999, "precision": 1.0001, "max_queries": 200}
BEFORE, STEPS, QUICK_STEPS = 10, 20, 4  # answers before the clock starts, and steps on it
# Family, space, classes, groups, options, most bytes of a snapshot if there is a limit.
CASES: tuple[tuple[str, type[Space], int, int, dict[str, Any], int | None], ...] = (
    ("linear", BinarySpace, 2, 1, {}, 200_000),
    ("ratio", BinarySpace, 2, 1, {}, 200_000),
    ("linear", RateSpace, 2, 2, {}, 200_000),
    ("quadratic", RateSpace, 2, 2, {}, 200_000),
    ("linear", RateSpace, 3, 2, {}, 400_000),
    ("quadratic", RateSpace, 3, 2, {}, 400_000),
    ("linear", DiagonalSpace, 5, 1, {}, None),
    ("ratio", DiagonalSpace, 5, 1, {}, None),
    ("monotone", DiagonalSpace, 5, 1, {}, None),
    ("linear", ConfusionSpace, 5, 1, {}, None),
    ("ratio", ConfusionSpace, 5, 1, {}, None),
    ("quadratic", RateSpace, 5, 1, {}, None),
    ("polynomial", RateSpace, 3, 1, {"order": 3}, None),  # beyond, there are too many weights
    ("linear", RateSpace, 5, 5, {}, None),
    ("quadratic", RateSpace, 5, 5, {}, None),
)


class States(NamedTuple):
    """What a snapshot takes: bytes, and milliseconds of CPU time."""

    name: str
    answers: int
    parameters: int
    bytes: int
    most_bytes: int | None
    small: bool  # whether a question has to come at once
    first: float
    restore: float
    restore_p90: float
    step: float
    step_p90: float


def states(quick: bool) -> Iterator[States]:
    """Measure every family."""
    for family, space, k, m, options, most in CASES[:6] if quick else CASES:
        built = _space(space, k, m)
        name = f"{family} on {space.__name__}, k={k}" + (f", m={m}" if m > 1 else "")
        yield _measured(name, Elicitation(built, family, rng=0, **ENDLESS, **options), most, quick)


def _space(kind: type[Space], k: int, m: int) -> Any:
    """Return what a softmax law attains, in groups for which it is right to another degree."""
    rng = np.random.default_rng([k, m])
    power = rng.normal(size=(ROWS, 3)) @ (2.0 * rng.normal(size=(3, k)))
    groups = rng.integers(0, m, ROWS)
    power = power * np.linspace(0.6, 1.4, m)[groups][:, None]
    proba = np.exp(power - power.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    y = (proba.cumsum(axis=1) < rng.random((ROWS, 1))).sum(axis=1)
    options = {"groups": groups} if m > 1 else {}
    if kind is BinarySpace:
        return BinarySpace.from_scores(y, proba[:, 1])
    return kind.from_proba(y, proba, **options)  # type: ignore[attr-defined]


def _clocked(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    made = function()
    return made, 1000 * (time.process_time() - start)


def _measured(name: str, elicitation: Elicitation, most: int | None, quick: bool) -> States:
    """Answer by a metric of the family, and go on from a snapshot at each step."""
    _, first = _clocked(elicitation.ask)
    answer_of = _Oracle(elicitation)
    for _ in range(BEFORE):
        elicitation.tell(answer_of(elicitation))
    restores, steps = [], []
    for _ in range(QUICK_STEPS if quick else STEPS):
        saved, answer = elicitation.snapshot(), answer_of(elicitation)
        elicitation, restored = _clocked(partial(Elicitation.restore, elicitation.space, saved))
        _, told = _clocked(partial(elicitation.tell, answer))  # which finds the next question
        restores.append(restored)
        steps.append(restored + told)
    saved = elicitation.snapshot()
    assert elicitation._search is not None
    return States(
        name=name,
        answers=len(elicitation.answers),
        parameters=elicitation._search.posterior.family.size,
        bytes=len(saved),
        most_bytes=most,
        small=isinstance(elicitation.space, BinarySpace) and elicitation.family == "linear",
        first=first,
        restore=float(np.median(restores)),
        restore_p90=float(np.quantile(restores, 0.9)),
        step=float(np.median(steps)),
        step_p90=float(np.quantile(steps, 0.9)),
    )


class _Oracle:
    """Has a random metric of the family in mind, and slips on one question in twenty."""

    def __init__(self, elicitation: Elicitation) -> None:
        assert elicitation._search is not None
        self.family = elicitation._search.posterior.family
        self.metric = elicitation._search.posterior.parameters[:1]
        self.rng = np.random.default_rng(0)

    def __call__(self, elicitation: Elicitation) -> str:
        query = elicitation.ask()
        assert query is not None
        sides = self.family.space.coordinates(np.stack([query.first, query.second]))
        first, second = self.family.values(self.metric, sides)[0]
        return "first" if (first > second) != (self.rng.random() < 0.05) else "second"
