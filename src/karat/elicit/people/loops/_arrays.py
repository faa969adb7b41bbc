"""The arrays that compiled sweeps read."""

from typing import NamedTuple

from karat._typing import FloatArray, IntArray

__all__ = ["KINDS", "Asked", "LawArrays"]

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
