"""Functions of a row along which the weights of the classes may vary (seed 001, eq. 7.7–7.9)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import (
    check_finite_matrix,
    check_number,
    named,
    native_frame,
    read_column,
    refuse_lazy,
    shown,
)
from karat.exceptions import ColumnError, DataError, ShapeError

__all__ = [
    "Basis",
    "Clusters",
    "Column",
    "Constant",
    "FittedBasis",
    "RadialBasis",
    "check_basis",
    "fit_basis",
]

# More clusters than this are no clusters but a number or an identifier.
_MOST_VALUES = 50


class Basis(ABC):
    """One or more functions of a row with values in [0, 1].

    A basis is a description; `fitted` returns the functions that some rows make of it.
    """

    names_: tuple[str, ...]

    def fitted(self, X: Any, y: AnyArray) -> Self:
        """Return the functions, as the rows X with the labels y make them."""
        other = copy(self)
        other.names_ = tuple(other._learn(X, y))
        return other

    @abstractmethod
    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        """Keep what the functions need; return their names."""

    @abstractmethod
    def values(self, X: Any) -> FloatArray:
        """Return the values of the fitted functions, shape (n, number of functions)."""

    def _settings(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not k.endswith("_")}

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in self._settings().items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Basis):
            return False
        # Not by the text: that of a long array of centers leaves most of it out.
        mine, others = self._settings(), other._settings()
        return all(np.array_equal(mine[k], others[k]) for k in mine)

    def __hash__(self) -> int:
        return hash(repr(self))


class Constant(Basis):
    """The function 1: the weight of a class is the same in every row."""

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        return ["constant"]

    def values(self, X: Any) -> FloatArray:
        """Return ones."""
        return np.ones((_n_rows(X), 1))


class Column(Basis):
    """Hard clusters (eq. 7.8): one function for each value of a column, 1 where it has that value.

    Parameters
    ----------
    name : str or int
        The column of a frame, or the position of a column of an array.
    """

    def __init__(self, name: str | int) -> None:
        self.name = name

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.known_ = np.unique(_column(X, self.name))
        if len(self.known_) > _MOST_VALUES:
            raise DataError(
                f"the basis column {self.name!r} has {len(self.known_)} distinct values; expected "
                f"at most {_MOST_VALUES}. Bin it, or use Clusters or RadialBasis"
            )
        return [f"{self.name}={value}" for value in self.known_.tolist()]

    def values(self, X: Any) -> FloatArray:
        """Return one indicator for each value; a value that is new has none.

        Where no other function says something, the most probable class is then predicted.
        """
        return _indicators(_column(X, self.name), self.known_)


class Clusters(Basis):
    """Hard clusters found by k-means, after each column of X is scaled to deviation 1.

    Parameters
    ----------
    n_clusters : int, default 3
        Number of clusters.
    rng : int, default 0
        Seed of k-means.
    """

    def __init__(self, n_clusters: int = 3, rng: int = 0) -> None:
        self.n_clusters, self.rng = n_clusters, rng

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.scale_ = Scale.of(X)
        self.model_ = _k_means(self.scale_(X), self.n_clusters, self.rng)
        return [f"cluster {i}" for i in range(self.n_clusters)]

    def values(self, X: Any) -> FloatArray:
        """Return one indicator for each cluster."""
        return _indicators(self.model_.predict(self.scale_(X)), np.arange(self.n_clusters))


class RadialBasis(Basis):
    """Soft clusters: ``exp(−‖x − c‖² / (2·width²))`` (eq. 7.9, where the square is missing).

    Columns of X are scaled to deviation 1 first.

    Parameters
    ----------
    centers : int or "classes" or array (L, columns), default "classes"
        So many centers of k-means; or for each class the mean over its validation rows of the
        functions centered there, as in section 7.7.1; or the centers, in the units of X.
    width : float, optional
        By default the median distance between validation rows.
    rng : int, default 0
        Seed of k-means.
    """

    def __init__(self, centers: Any = "classes", width: float | None = None, rng: int = 0) -> None:
        self.centers, self.width, self.rng = centers, width, rng

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.scale_ = Scale.of(X)
        rows = self.scale_(X)
        self.width_ = _median_distance(rows) if self.width is None else self.width
        if check_number(self.width_, "width") <= 0:
            raise DataError(f"width is {self.width_:g}; expected a positive number")
        if isinstance(self.centers, str):
            if self.centers != "classes":
                raise DataError(
                    f"centers is {self.centers!r}; expected 'classes', a number of centers or "
                    "the centers themselves"
                )
            classes = np.unique(y)
            self.centers_ = [rows[y == c] for c in classes]
            return [f"near {c}" for c in classes.tolist()]
        if isinstance(self.centers, int | np.integer):
            points = _k_means(rows, int(self.centers), self.rng).cluster_centers_
        else:
            points = self.scale_(np.atleast_2d(check_finite_matrix(self.centers, "centers")))
        self.centers_ = [point[None] for point in points]
        return [f"center {i}" for i in range(len(points))]

    def values(self, X: Any) -> FloatArray:
        """Return one function for each center or class."""
        rows = self.scale_(X)
        near = [_radial(rows, points, self.width_).mean(axis=1) for points in self.centers_]
        return np.column_stack(near)


class _Function(Basis):
    """A function of the user's."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        name = getattr(self.function, "__name__", "function")
        n = self.values(X).shape[1]
        return [name] if n == 1 else [f"{name} {i}" for i in range(n)]

    def values(self, X: Any) -> FloatArray:
        values = check_finite_matrix(self.function(X), "the basis function's value")
        values = values[:, None] if values.ndim == 1 else values
        return check_basis(values, _n_rows(X), "the basis function's value")


class FittedBasis:
    """The functions of several bases, ready to be applied to rows."""

    def __init__(self, parts: Sequence[Basis]) -> None:
        self.parts = tuple(parts)
        self.names = tuple(name for part in parts for name in part.names_)

    def values(self, X: Any) -> FloatArray:
        """Return the values, shape (n, number of functions)."""
        return np.column_stack([part.values(X) for part in self.parts])


@dataclass(frozen=True, slots=True)
class Scale:
    """Columns less their mean, over their deviation."""

    mean: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, X: Any) -> Self:
        rows = _numbers(X)
        spread = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def __call__(self, X: Any) -> FloatArray:
        return np.asarray((_numbers(X) - self.mean) / self.spread)


def fit_basis(basis: Sequence[Any], X: Any, y: AnyArray) -> FittedBasis:
    """Return the functions that a list of names, functions and bases stands for."""
    if isinstance(basis, str | Basis) or callable(basis):
        basis = [basis]
    if not len(basis):
        raise DataError("basis is empty; pass at least 'constant'")
    return FittedBasis([_as_basis(item).fitted(X, y) for item in basis])


def check_basis(values: FloatArray, n: int, name: str) -> FloatArray:
    """Check values of basis functions: one row per item, within [0, 1]."""
    if values.ndim != 2 or len(values) != n:
        raise ShapeError(f"{name} has shape {values.shape}; expected ({n}, number of functions)")
    if values.min() < 0 or values.max() > 1:
        worst = values.min() if values.min() < 0 else values.max()
        raise DataError(f"{name} holds {worst:g}; expected numbers between 0 and 1. Rescale it")
    return values


def _as_basis(item: Any) -> Basis:
    if isinstance(item, Basis):
        return item
    if isinstance(item, str) and item == "constant":
        return Constant()
    if isinstance(item, str | int | np.integer) and not isinstance(item, bool):
        return Column(item if isinstance(item, str) else int(item))
    if callable(item):
        return _Function(item)
    raise DataError(
        f"basis holds {shown(item)}; expected 'constant', the name or position of a column, a "
        "function of the rows, Clusters(...) or RadialBasis(...)"
    )


def _n_rows(X: Any) -> int:
    refuse_lazy(X=X)
    shape = getattr(X, "shape", None) or np.asarray(X).shape
    return int(shape[0])


def _column(X: Any, name: str | int) -> AnyArray:
    frame = native_frame(X, "X")
    if frame is None:
        array = np.asarray(X)
        if isinstance(name, str) or array.ndim != 2 or not -array.shape[1] <= name < array.shape[1]:
            raise ColumnError(
                f"the basis names the column {name!r} and X is an array of shape {array.shape}; "
                "pass a frame, or the position of the column"
            )
        column: Any = array[:, name]
    else:
        columns = list(frame.columns)
        n = len(columns)
        at = name if isinstance(name, int) else columns.index(name) if name in columns else n
        if not -n <= at < n:
            raise ColumnError(f"the basis names the column {name!r} and X has {named(columns)}")
        # By position: a pandas name may be an integer.
        column = list(frame.iter_columns())[at].to_native()
    values, missing = read_column(column, f"the basis column {name!r}")
    if missing is not None:
        row = int(np.flatnonzero(missing)[0])
        raise DataError(
            f"the basis column {name!r} is missing in row {row} ({int(missing.sum())} such rows); "
            "fill it in, for example with a value of its own"
        )
    return values


def _indicators(values: AnyArray, known: AnyArray) -> FloatArray:
    return np.asarray(values[:, None] == known, dtype=np.float64)


def _numbers(X: Any) -> FloatArray:
    try:
        return check_finite_matrix(X, "X")
    except DataError as error:
        raise DataError(
            f"clusters and radial functions need rows of finite numbers: {error}"
        ) from error


def _k_means(rows: FloatArray, n: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    count = check_number(n, "the number of clusters", at_least=1)
    if count != int(count) or count > len(rows):
        raise DataError(
            f"the number of clusters is {n}; expected a whole number of at most {len(rows)}, the "
            "number of validation rows"
        )
    return KMeans(int(count), n_init=5, random_state=seed).fit(rows)


def _radial(rows: FloatArray, centers: FloatArray, width: float) -> FloatArray:
    from sklearn.metrics import pairwise_distances

    return np.asarray(np.exp(-(pairwise_distances(rows, centers) ** 2) / (2.0 * width**2)))


def _median_distance(rows: FloatArray) -> float:
    from sklearn.metrics import pairwise_distances

    some = rows[:: max(1, len(rows) // 500)]
    return float(np.median(pairwise_distances(some)[np.triu_indices(len(some), 1)]))
