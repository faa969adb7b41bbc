"""Which rows a cut takes: the highest share of them, or all from a score on."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray

__all__ = ["Selection", "selected_by_share", "selected_by_threshold"]


@dataclass(frozen=True, slots=True)
class Selection:
    """How much of each row a cut takes: 1 above it, 0 below, a part where rows are level with it.

    ``share`` is that of all rows; None where the cut is a score, so that the share is random.
    """

    taken: FloatArray
    share: float | None


def selected_by_share(score: FloatArray, weight: FloatArray, share: float) -> Selection:
    """Take the highest share of the rows; rows that are level at the cut are taken in part."""
    order = np.argsort(-score)
    reached = np.searchsorted(np.cumsum(weight[order]), share * weight.sum() * (1 - 1e-12))
    cut = score[order[min(int(reached), len(score) - 1)]]
    taken = (score > cut).astype(float)
    level = score == cut
    room = share * weight.sum() - weight[score > cut].sum()
    taken[level] = min(1.0, max(0.0, room / weight[level].sum()))
    return Selection(taken, share)


def selected_by_threshold(score: FloatArray, threshold: float) -> Selection:
    """Take the rows whose score is at least the threshold."""
    return Selection((score >= threshold).astype(float), None)
