"""Resampling within each class, on placements: nothing is sorted again."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from karat._typing import FloatArray
from karat.limits.kernels import bootstrap_draws
from karat.ranking.placements import Placements

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

    Only the number of negatives between neighbouring positives matters, so each sample draws
    counts of these cells, not rows. With ``atoms`` a cell holds tied negatives only, for a
    statistic that depends on the negatives between two positives.
    """
    one = placed.grouped()
    ends = [one.left, one.right]
    if atoms:
        new = [True] * (one.n_steps - 1) if one.negative is None else np.diff(one.negative) > 0
        ends.append(np.flatnonzero(new) + 1)
    edges = np.unique(np.concatenate([[0], *ends, [one.n_steps]]))
    left, right = np.searchsorted(edges, one.left), np.searchsorted(edges, one.right)
    size = np.diff(one.share_at(edges))
    mass = np.asarray(one.mass)
    n1, n0 = (max(1, round(n)) for n in (one.n_positive, one.n_negative))

    def of_counts(negatives: FloatArray, positives: FloatArray) -> float:
        share = np.concatenate([[0.0], np.cumsum(negatives)])
        kept = positives > 0
        return statistic(
            replace(
                one, left=left[kept], right=right[kept], mass=positives[kept] / n1,
                share=share / n0, n_steps=len(size), negative=None,
            )
        )  # fmt: skip

    return bootstrap_draws(
        of_counts, [size, mass], [n0, n1], multipliers="multinomial", n_resamples=n_resamples,
        rng=rng,
    )  # fmt: skip
