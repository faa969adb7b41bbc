"""Where the positives stand among the negatives: all that any area under the ROC curve needs."""

from dataclasses import dataclass, replace

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.ranking.placements._two_threads import two_threads

__all__ = ["MANY", "Placements", "merged", "place", "place_counts"]

# Below this many rows a binary search for each positive is faster than importing numba.
MANY = 100_000


@dataclass(frozen=True, slots=True)
class Placements:
    """Positives in ascending order of their scores.

    Attributes
    ----------
    left, right : array (positives,)
        Steps of the negatives below each positive, and below or level with it.
    mass : array (positives,) or None
        Share of each positive; None if all have the same.
    share : array (steps + 1,) or None
        Share of the negatives up to each step, from 0 to 1; None if all steps are the same.
    n_positive, n_negative : float
        Rows of each class, or what counts as such when rows have weights.
    n_steps : int
        Number of steps.
    negative : array (steps,) or None
        The scores of the steps, where two may be level; None if all differ.
    """

    left: IntArray
    right: IntArray
    mass: FloatArray | None
    share: FloatArray | None
    n_positive: float
    n_negative: float
    n_steps: int
    negative: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.left)

    def below(self, where: slice = slice(None)) -> FloatArray:
        """Return ``F̂₀(x−)`` of the positives."""
        return self.share_at(self.left[where])

    def upto(self, where: slice = slice(None)) -> FloatArray:
        """Return ``F̂₀(x)`` of the positives."""
        return self.share_at(self.right[where])

    def share_at(self, step: IntArray) -> FloatArray:
        """Return the share of the negatives up to given steps."""
        return np.asarray(step / self.n_steps if self.share is None else self.share[step])

    def cumulative_mass(self, where: slice) -> FloatArray:
        """Return the share of positives before the first of ``where``, then up to each of them."""
        start, stop, _ = where.indices(len(self))
        if self.mass is None:
            return np.arange(start, stop + 1) / len(self)
        before = float(self.mass[:start].sum())
        found = before + np.concatenate([[0.0], np.cumsum(self.mass[start:stop])])
        return np.minimum(found, 1.0) if stop < len(self) else np.append(found[:-1], 1.0)

    @property
    def counts_rows(self) -> bool:
        """Whether every share stands for a whole number of rows, as importances do not."""
        sizes = (self.n_positive, self.mass), (self.n_negative, self.share)
        return all(
            n == round(n) and (shares is None or bool(np.allclose(shares * n, np.rint(shares * n))))
            for n, shares in sizes
        )

    def grouped(self) -> "Placements":
        """Return the placements with positives of the same place merged into one."""
        moved = (np.diff(self.left) > 0) | (np.diff(self.right) > 0)
        new = np.flatnonzero(np.concatenate([[True], moved]))
        mass = np.full(len(self), 1.0 / len(self)) if self.mass is None else self.mass
        return replace(
            self, left=self.left[new], right=self.right[new], mass=np.add.reduceat(mass, new)
        )

    def tie_ends(self) -> FloatArray:
        """Return ``F̂₀`` at each step: of tied steps, that of the last."""
        last = np.arange(1, self.n_steps + 1)
        if self.negative is not None:
            ends = np.flatnonzero(np.diff(self.negative) > 0) + 1
            ends = np.append(ends, self.n_steps)
            last = ends[np.searchsorted(ends, last)]
        return self.share_at(last)


def place(
    positive: FloatArray,
    negative: FloatArray,
    *,
    weights: tuple[FloatArray, FloatArray] | None = None,
    sizes: tuple[float, float] | None = None,
    many: int = MANY,
) -> Placements:
    """Place sorted scores, with weights in the same order where rows have them.

    ``sizes`` are the numbers of positives and negatives that limits may count on, by default those
    of the scores; above ``many`` scores the compiled merge is used.
    """
    n1, n0 = len(positive), len(negative)
    if many < n1 + n0 < 2**31:  # the compiled merge counts in int32
        left, right = merged(positive, negative)
    else:
        left = np.searchsorted(negative, positive, side="left")
        right = np.searchsorted(negative, positive, side="right")
    mass = share = None
    if weights is not None:
        mass, share = weights[0] / weights[0].sum(), _shares(weights[1])
    size = sizes or (float(n1), float(n0))
    return Placements(left, right, mass, share, *size, n0, negative)


def merged(positive: FloatArray, negative: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of negatives below, and up to, each positive, by the compiled merge.

    The lower and the upper half of the scores are merged on two threads.
    """
    from karat.ranking.placements._loops import merge

    n1 = len(positive)
    left, right = np.empty(n1, np.int32), np.empty(n1, np.int32)  # half the memory of int64
    middle = negative[len(negative) // 2]
    i, j = (int(np.searchsorted(scores, middle)) for scores in (positive, negative))
    two_threads(
        lambda: merge(positive[:i], negative[:j], left[:i], right[:i], 0),
        lambda: merge(positive[i:], negative[j:], left[i:], right[i:], j),
    )
    return left, right


def place_counts(
    positives: FloatArray, negatives: FloatArray, *, sizes: tuple[float, float] | None = None
) -> Placements:
    """Place counts of both classes at ascending distinct scores; ``sizes`` as in `place`."""
    here = np.flatnonzero(positives > 0)
    mass = positives[here] / positives.sum()
    size = sizes or (float(positives.sum()), float(negatives.sum()))
    return Placements(here, here + 1, mass, _shares(negatives), *size, len(negatives))


def _shares(weights: FloatArray) -> FloatArray:
    total = np.concatenate([[0.0], np.cumsum(weights, dtype=float)])
    return np.asarray(total / total[-1])
