"""Compile the loops before they are needed."""

import numpy as np

from karat.elicit.people.loops._arrays import KINDS, Asked, LawArrays

__all__ = ["warm"]


def warm() -> None:
    """Sweep once over two people with one log-ratio each."""
    from karat.elicit.people.loops._answer_loops import log_answers
    from karat.elicit.people.loops._sweep_loops import sweep_chains

    rng = np.random.default_rng(0)
    asked = Asked(
        above=rng.normal(size=(2, 3, 2)),
        below=np.empty((0, 0, 0)),
        signs=np.ones((2, 3)),
        counts=np.full(2, 3),
        typical=np.ones(2),
        blocks=np.ones(1, dtype=np.int64),
        basis=np.sqrt([[0.5, 0.5]]) * [1.0, -1.0],
        sparse=False,
    )
    law = LawArrays(
        np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), np.ones(1), np.ones(1), 0.0, 1.0
    )
    states = rng.normal(size=(1, 2, 4))
    center, spread, root = np.zeros((1, 1)), np.ones((1, 1)), np.eye(2)
    current = log_answers(states, 1, asked)
    sweep_chains(
        states,
        current,
        center,
        spread,
        law,
        asked,
        states.copy(),
        root,
        np.ones(KINDS),
        1,
        True,
        rng,
    )
