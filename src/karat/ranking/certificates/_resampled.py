"""Resampling within each class, on placements: nothing is sorted again."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels import bootstrap_draws
from karat.ranking.placements import Placements

__all__ = ["resampled"]

# Up to so many cells counts are resampled exactly; above, neighbours are joined into half as many.
MOST_CELLS = 2048


def resampled(
    placed: Placements,
    statistic: Callable[[Placements], float],
    n_resamples: int,
    rng: np.random.Generator,
    *,
    atoms: bool = False,
    most: int = MOST_CELLS,
) -> FloatArray:
    """Return a statistic of samples that are drawn anew from positives and from negatives.

    Only the number of negatives between neighbouring positives matters, so each sample draws
    counts of these cells, not rows. With ``atoms`` a cell holds tied negatives only, for a
    statistic that depends on the negatives between two positives.

    Above ``most`` cells, neighbouring ones are joined, and the rows of a joined cell are resampled
    as if they were level. What their order adds to the statistic is taken as it was seen: samples
    differ in it by a share of ``1/most`` of what they differ in by at all.
    """
    one = placed.grouped()
    ends = [one.left, one.right]
    if atoms:
        new = [True] * (one.n_steps - 1) if one.negative is None else np.diff(one.negative) > 0
        ends.append(np.flatnonzero(new) + 1)
    edges = np.unique(np.concatenate([[0], *ends, [one.n_steps]]))
    shift = 0.0
    if len(edges) - 1 > most or len(one) > most:
        joined = _joined(one, edges, most // 2)
        shift = statistic(one) - statistic(joined)
        one, edges = joined, np.arange(joined.n_steps + 1)
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

    return shift + bootstrap_draws(
        of_counts, [size, mass], [n0, n1], multipliers="multinomial", n_resamples=n_resamples,
        rng=rng,
    )  # fmt: skip


def _joined(one: Placements, edges: IntArray, most: int) -> Placements:
    """Return placements whose negatives stand in ``most`` cells at the most, level inside each.

    Half of the cells hold even shares of the negatives, the others even shares of the positives, so
    that neither class has a large part of its rows in one cell; a quarter of the first kind halve
    their way to either end, where rates are small.
    """
    share = one.share_at(edges)
    mass = np.cumsum(np.concatenate([[0.0], np.asarray(one.mass)]))
    small = np.geomspace(1.0 / max(one.n_negative, 2.0), 0.5, most // 8)
    rates = np.concatenate([np.linspace(0, 1, most // 4), small, 1.0 - small])
    by_negatives = np.searchsorted(share, rates)
    spots = np.searchsorted(mass, np.linspace(0, 1, most // 2)).clip(0, len(one) - 1)
    by_positives = np.searchsorted(edges, one.right[spots])
    kept = np.unique(np.concatenate([[0, len(edges) - 1], by_negatives, by_positives]))
    cuts = edges[kept.clip(0, len(edges) - 1)]
    # A positive belongs to the cell that its place ends in; one below all negatives to the first.
    cell = np.searchsorted(cuts, np.maximum(one.right, 1), side="left") - 1
    here, where = np.unique(cell, return_inverse=True)
    weight = np.bincount(where, np.asarray(one.mass, dtype=float)).astype(float)
    return replace(
        one, left=here, right=here + 1, mass=weight, share=one.share_at(cuts),
        n_steps=len(cuts) - 1, negative=None,
    )  # fmt: skip
