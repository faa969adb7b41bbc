"""Radial functions as basis functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import check_finite_matrix, check_number, refuse_option
from karat.exceptions import DataError, ShapeError
from karat.optimize.basis._basis import Basis
from karat.optimize.basis._clusters import k_means
from karat.optimize.basis._rows import Scale

__all__ = ["RadialBasis"]


class RadialBasis(Basis):
    """Soft clusters: ``exp(−‖x − c‖² / (2·width²))``, columns of X scaled to deviation 1 first.

    Eq. 7.9 of Hiranandani (2021), where the square is missing.

    Parameters
    ----------
    centers : int or "classes" or array (L, columns), default "classes"
        A number of centers of k-means; or for each class the mean over its validation rows of the
        functions centered there, as in section 7.7.1; or the centers, in the units of X.
    width : float, optional
        By default the median distance between validation rows.
    rng : int or generator, default 0
        Seed of k-means.
    """

    def __init__(self, centers: Any = "classes", width: float | None = None, rng: Any = 0) -> None:
        self.centers, self.width, self.rng = centers, width, rng

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.scale_ = Scale.of(X)
        rows = self.scale_(X)
        self.width_ = self._checked_width(rows)
        if isinstance(self.centers, str):
            if self.centers != "classes":
                refuse_option(
                    self.centers, "centers", "'classes', a number of centers or the centers"
                )
            classes = np.unique(y)
            self.centers_ = [rows[y == c] for c in classes]
            return [f"near {c}" for c in classes.tolist()]
        points = self._points(rows)
        self.centers_ = [point[None] for point in points]
        return [f"center {i}" for i in range(len(points))]

    def _checked_width(self, rows: FloatArray) -> float:
        if self.width is None:
            width = _median_distance(rows)
            if width == 0:
                raise DataError(
                    "the median distance between validation rows is 0, which is no width of a "
                    "radial function; pass width="
                )
            return width
        if check_number(self.width, "width", at_least=0.0) == 0:
            refuse_option(self.width, "width", "a number above 0")
        return float(self.width)

    def _points(self, rows: FloatArray) -> FloatArray:
        """Return the centers, scaled as the rows are."""
        if np.ndim(self.centers) == 0:
            return np.asarray(k_means(rows, self.centers, "centers", self.rng).cluster_centers_)
        given = np.atleast_2d(check_finite_matrix(self.centers, "centers"))
        if given.shape[1] != rows.shape[1]:
            raise ShapeError(
                f"centers has {given.shape[1]} columns and X has {rows.shape[1]}; pass the "
                "centers in the columns of X"
            )
        return self.scale_(given)

    def values(self, X: Any) -> FloatArray:
        """Return one function for each center or class."""
        rows = self.scale_(X)
        near = [_radial(rows, points, self.width_).mean(axis=1) for points in self.centers_]
        return np.column_stack(near)


def _radial(rows: FloatArray, centers: FloatArray, width: float) -> FloatArray:
    from sklearn.metrics import pairwise_distances

    return np.asarray(np.exp(-(pairwise_distances(rows, centers) ** 2) / (2.0 * width**2)))


def _median_distance(rows: FloatArray) -> float:
    from sklearn.metrics import pairwise_distances

    some = rows[:: max(1, len(rows) // 500)]  # all pairs of more rows take long
    return float(np.median(pairwise_distances(some)[np.triu_indices(len(some), 1)]))
