"""Events replayed: the stratum, the outcome and the chances of every label."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.audit.answers import Evidence
from karat.audit.design import chances
from karat.audit.inputs import assumed
from karat.audit.running._run import Event, Run

__all__ = ["evidence_of", "predicted_outcomes", "skipped"]


def skipped(run: Run) -> int:
    """Return how many items without a label were asked for before one that has its label."""
    asked = [item for event in run.events if event.kind == "ask" for item in event.items]
    known = [i for i, item in enumerate(asked) if item in run.labels]
    return 0 if not known else known[-1] + 1 - len(known)


def predicted_outcomes(run: Run) -> FloatArray:
    """Return the shares of outcomes in each stratum that the guesses imply."""
    guess, strata, calls = assumed(run.items), run.strata, run.calls
    found = np.zeros((strata.n, calls.n_outcomes))
    at = strata.member
    own, code = strata.of[at], calls.code[at]
    for y in range(guess.shape[1]):
        outcome = calls.outcome[:, y][code]
        cell = own * calls.n_outcomes + outcome
        found += np.bincount(cell, guess[at, y], found.size).reshape(found.shape)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def evidence_of(run: Run, predicted: FloatArray) -> Evidence:
    """Return the labels in the order in which they were asked for, with the chances then."""
    taken = np.zeros(run.strata.n, dtype=np.int64)
    place: list[int] = []
    chance: list[FloatArray] = []
    weight: list[float] = []
    gone: set[int] = set()
    for event in run.events:
        for i, item in enumerate(_in_order(run, event)):
            stratum = int(run.strata.of[item])
            if item in gone or stratum < 0:
                continue
            gone.add(item)
            q = _chance(run, event, taken)
            taken[stratum] += 1
            if item in run.labels:
                place.append(item)
                chance.append(q)
                weight.append(1.0 if event.probability is None else 1 / event.probability[i])
    at = np.array(place, dtype=np.int64)
    label = np.array([run.labels[i] for i in place], dtype=np.int64)
    by_probability = any(event.kind == "probability" for event in run.events)
    outcome: IntArray = run.calls.outcome[run.calls.code[at], label]
    return Evidence(
        run.calls, run.strata, run.strata.of[at], outcome,
        None if by_probability else np.array(chance).reshape(-1, run.strata.n),
        np.array(weight) if by_probability else None, predicted, run.items.guess is not None,
    )  # fmt: skip


def _in_order(run: Run, event: Event) -> list[int]:
    """Return the items of an event; those of a random sample in a random order.

    A sample comes in the order of the data, which may go with the labels.
    """
    if event.kind != "random":
        return event.items
    rng = np.random.default_rng([run.seed, len(event.items), 1])
    return [event.items[i] for i in rng.permutation(len(event.items))]


def _chance(run: Run, event: Event, taken: IntArray) -> FloatArray:
    if event.kind == "ask":
        return chances(np.array(event.share), taken, run.strata.size)
    left = run.strata.size - taken
    return np.asarray(left / left.sum())
