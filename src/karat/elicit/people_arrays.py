"""What the compiled loops over people read: questions asked and the prior of the law, as arrays."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray


def warm() -> None:
    """Sweep once over two people with one log-ratio each."""
    from karat.elicit._people_loops import log_answers, sweep_chains

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


# --- The arrays that compiled sweeps read.

KINDS = 3  # of steps of the law: all of it, one part, one coordinate


class Asked(NamedTuple):
    """What everyone was asked and said, with what their metrics weigh.

    A metric values a classifier by ``⟨w, above⟩ / ⟨w, below⟩``. Where nothing is below, ``above``
    has the differences of the two sides of each pair, else the first sides and then the second.
    """

    above: FloatArray  # (people, t or 2t, f)
    below: FloatArray  # (people, 2t, f), or (0, 0, 0) where metrics are linear
    signs: FloatArray  # (people, t): 1 for the first, −1 for the second, 0 for a tie
    counts: IntArray  # (people,): how many answers each gave
    typical: FloatArray  # (people,)
    blocks: IntArray  # log-ratios of each block of weights; none where only directions count
    basis: FloatArray  # (k − 1, k): orthonormal log-ratios of the largest block
    sparse: bool  # whether weights are cubes of coordinates


class LawArrays(NamedTuple):
    """The parts of a chart, and the prior of the law."""

    of: IntArray  # (dim,): the part of each coordinate
    sizes: IntArray  # (parts,)
    center_scale: FloatArray  # (dim,)
    spread_scale: FloatArray  # (parts,)
    middle: float  # of log τ a priori, in units of the part
    width: float
