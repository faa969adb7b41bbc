"""Resampling within each class, on placements: nothing is sorted again."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.ranking._placements import Placements

__all__ = ["resampled"]


def resampled(
    placed: Placements,
    statistic: Callable[[Placements], float],
    n_resamples: int,
    rng: np.random.Generator,
    *,
    atoms: bool = False,
) -> FloatArray:
    """Return a statistic of samples that are drawn anew from positives and from negatives.

    Only the negatives between neighbouring positives matter, and how many: so each sample draws
    counts of these cells, not rows. With ``atoms`` a cell holds level negatives only, for a
    statistic that looks inside the gaps.
    """
    one = placed.grouped()
    ends = [one.left, one.right]
    if atoms:
        new = [True] * (one.n_steps - 1) if one.negative is None else np.diff(one.negative) > 0
        ends.append(np.flatnonzero(new) + 1)
    edges = np.unique(np.concatenate([[0], *ends, [one.n_steps]]))
    left, right = np.searchsorted(edges, one.left), np.searchsorted(edges, one.right)
    size = np.diff(one._share_at(edges))
    mass = np.asarray(one.mass)
    n1, n0 = (max(1, round(n)) for n in (one.n_positive, one.n_negative))
    values = np.empty(n_resamples)
    for i in range(n_resamples):
        share = np.concatenate([[0.0], np.cumsum(_drawn(rng, n0, size))])
        weight = _drawn(rng, n1, mass)
        kept = weight > 0
        values[i] = statistic(
            replace(
                one, left=left[kept], right=right[kept], mass=weight[kept] / n1, share=share / n0,
                n_steps=len(size), negative=None,
            )
        )  # fmt: skip
    return values


def _drawn(rng: np.random.Generator, n: int, share: FloatArray) -> IntArray:
    """Draw how many of n rows fall into each cell."""
    if len(share) > n // 4:  # many small cells: drawing the rows is faster than a multinomial
        edges = np.cumsum(share)
        drawn = np.searchsorted(edges, np.sort(rng.random(n)) * edges[-1], side="right")
        return np.bincount(np.minimum(drawn, len(share) - 1), minlength=len(share))
    return rng.multinomial(n, share / share.sum())
