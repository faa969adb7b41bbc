"""How many labels unequal weights and clusters leave, and what predictions leave of a variance."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels._means import (
    cluster_number,
    effective_number,
    normal_quantile,
    student_quantile,
)

__all__ = ["Share", "share_left"]


class Share(NamedTuple):
    """What predictions leave of the variance of a mean, and how many labels the labels are."""

    left: float
    number: float


def share_left(
    off: FloatArray,
    alone: FloatArray,
    pseudo: float,
    spread: float,
    weight: FloatArray,
    cluster: IntArray | None,
    delta: float | None,
) -> Share:
    """Compare the variance of the residuals with that of the labels, ``pseudo`` added to either.

    ``spread`` is the variance of one label, an error added to those seen. Unequal weights count as
    Kish's number of labels, or as fewer where large weights go with large errors; where the labels
    of a cluster err together, the number falls by as much as their variance grows, and, for limits
    at a ``delta``, as Student's quantile at the number of clusters exceeds the normal one.
    """
    with_them, without = (_squares(weight * part, cluster) for part in (off, alone))
    square = float(weight @ weight)
    number = effective_number(float(weight.sum()), square)
    number /= _weight_effect(alone, weight, spread)
    if cluster is not None:
        number /= _cluster_effect(without, _squares(weight * alone, None), spread, weight, cluster)
        if delta is not None:
            freedom = max(cluster_number(weight, cluster) - 1, 1.0)
            number *= (normal_quantile(delta) / student_quantile(delta, freedom)) ** 2
    return Share((with_them + pseudo) / (without + pseudo), number)


def _weight_effect(alone: FloatArray, weight: FloatArray, spread: float) -> float:
    """Return by how much the variance grows as large weights go with large errors; at least 1.

    One label of the largest weight with an error of the usual size is added.
    """
    square = weight**2
    usual = float(square.mean())
    seen, expected = float(square @ alone**2), usual * float(weight @ alone**2)
    return max(1.0, (seen + spread * float(square.max())) / (expected + spread * usual))


def _cluster_effect(
    together: float, apart: float, spread: float, weight: FloatArray, cluster: IntArray
) -> float:
    """Return by how much the variance grows as labels of a cluster err together; at least 1.

    Two clusters of the usual size that err as one are added to those seen, so that labels that all
    agree are as many as their clusters, not as many as their rows.
    """
    total, square = float(weight.sum()), float(weight @ weight)
    size = max(effective_number(total, square) / cluster_number(weight, cluster), 1.0)
    two = 2 * size * spread * square / len(weight)
    return max(1.0, (together + size * two) / (apart + two))


def _squares(values: FloatArray, cluster: IntArray | None) -> float:
    summed = values if cluster is None else np.bincount(cluster, values)
    return float(summed @ summed)
