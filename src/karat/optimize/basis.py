"""Functions of a row along which the weights of the classes may vary: φ_l(x) in [0, 1].

A `Basis` describes one or more functions; ``fitted`` makes them of the validation rows. `fit_basis`
reads a list of names, functions and bases as users write it, `candidates_of` a list of such lists,
and `read_basis` values that were saved. `independent` leaves out functions that are combinations of
others (Hiranandani 2021, eq. 7.7–7.9).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import (
    check_count,
    check_finite_matrix,
    check_number,
    check_score_columns,
    check_seed,
    is_matrix,
    named,
    native_frame,
    read_column,
    refuse_lazy,
    refuse_option,
)
from karat.exceptions import ColumnError, DataError, ShapeError

# A column with more values than this is a number or an identifier, not a set of clusters.
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


class ColumnBasis(Basis):
    """One indicator for each value of a column: hard clusters (Hiranandani 2021, eq. 7.8).

    Parameters
    ----------
    name : str or int
        The column of a frame, or the position of a column of an array.
    """

    def __init__(self, name: str | int) -> None:
        self.name = name

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.known_ = np.unique(column_of(X, self.name))
        if len(self.known_) > _MOST_VALUES:
            raise DataError(
                f"the basis column {self.name!r} has {len(self.known_)} distinct values; expected "
                f"at most {_MOST_VALUES}. Bin it, or use Clusters or RadialBasis"
            )
        return [f"{self.name}={value}" for value in self.known_.tolist()]

    def values(self, X: Any) -> FloatArray:
        """Return one indicator for each value; all are 0 in a row whose value is new.

        Where every other basis function is 0 too, the most probable class is predicted.
        """
        return indicators(column_of(X, self.name), self.known_)


class Constant(Basis):
    """The function 1: the weight of a class is the same in every row."""

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        return ["constant"]

    def values(self, X: Any) -> FloatArray:
        """Return ones."""
        return np.ones((n_rows(X), 1))


# --- Radial functions as basis functions.


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
                    "the median distance between validation rows is 0, which is no width of "
                    "a radial function",
                    Remedy("pass ", Option("width")),
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


# --- Clusters of rows as basis functions.


class Clusters(Basis):
    """Hard clusters found by k-means, after each column of X is scaled to deviation 1.

    Parameters
    ----------
    n_clusters : int, default 3
        Number of clusters.
    rng : int or generator, default 0
        Seed of k-means.
    """

    def __init__(self, n_clusters: int = 3, rng: Any = 0) -> None:
        self.n_clusters, self.rng = n_clusters, rng

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.scale_ = Scale.of(X)
        self.model_ = k_means(self.scale_(X), self.n_clusters, "n_clusters", self.rng)
        return [f"cluster {i}" for i in range(self.model_.n_clusters)]

    def values(self, X: Any) -> FloatArray:
        """Return one indicator for each cluster."""
        return indicators(self.model_.predict(self.scale_(X)), np.arange(len(self.names_)))


def k_means(rows: FloatArray, n: Any, name: str, rng: Any) -> Any:
    """Return k-means fitted to rows; ``name`` is the option that says how many centers."""
    from sklearn.cluster import KMeans

    count = check_count(n, name)
    if count > len(rows):
        refuse_option(
            n, name, f"a whole number of at most {len(rows)}, the number of validation rows"
        )
    seed = check_seed(rng) % 2**32  # scikit-learn takes no larger seeds
    return KMeans(count, n_init=5, random_state=seed).fit(rows)


# --- Basis functions as users list them, fitted to rows.


class FittedBasis:
    """The functions of several bases, ready to be applied to rows."""

    def __init__(self, parts: Sequence[Basis]) -> None:
        self.parts = tuple(parts)
        self.names = tuple(name for part in parts for name in part.names_)

    def values(self, X: Any) -> FloatArray:
        """Return the values, shape (n, number of functions)."""
        return np.column_stack([part.values(X) for part in self.parts])


def candidates_of(basis: Any) -> list[list[Any]]:
    """Return the candidate bases: one, or those of a list of lists."""
    if isinstance(basis, str | int | Basis) or callable(basis):
        return [[basis]]
    items = list(basis)
    if not items:
        refuse_option(basis, "basis", "at least one basis function, such as 'constant'")
    nested = [isinstance(item, list | tuple) for item in items]
    if all(nested):
        return [list(item) for item in items]
    if any(nested):
        refuse_option(basis, "basis", "a list of functions, or a list of lists to choose among")
    return [items]


def fit_basis(basis: Sequence[Any], X: Any, y: AnyArray) -> FittedBasis:
    """Return the functions that a list of names, functions and bases stands for."""
    if isinstance(basis, str | Basis) or callable(basis):
        basis = [basis]
    if not len(basis):
        refuse_option(basis, "basis", "at least one basis function, such as 'constant'")
    return FittedBasis([_as_basis(item).fitted(X, y) for item in basis])


def _as_basis(item: Any) -> Basis:
    if isinstance(item, Basis):
        return item
    if isinstance(item, str) and item == "constant":
        return Constant()
    if isinstance(item, str | int | np.integer) and not isinstance(item, bool):
        return ColumnBasis(item if isinstance(item, str) else int(item))
    if not callable(item):
        refuse_option(
            item,
            "a basis function",
            "'constant', the name or position of a column, a function of the rows, Clusters(...) "
            "or RadialBasis(...)",
        )
    return FunctionBasis(item)


class FunctionBasis(Basis):
    """A function that the user wrote."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        name = getattr(self.function, "__name__", "function")
        n = self.values(X).shape[1]
        return [name] if n == 1 else [f"{name} {i}" for i in range(n)]

    def values(self, X: Any) -> FloatArray:
        """Return what the function returns, checked."""
        values = check_finite_matrix(self.function(X), "the basis function's value")
        values = values[:, None] if values.ndim == 1 else values
        return check_basis_values(values, n_rows(X), "the basis function's value")


# --- The rows X as bases read them: their number, a column, numbers on a common scale.


@dataclass(frozen=True, slots=True)
class Scale:
    """Columns less their mean, over their deviation."""

    mean: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return the scale of rows; a column that does not vary is only centered."""
        rows = _numbers_of(X)
        spread = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def __call__(self, X: Any) -> FloatArray:
        """Return rows on this scale."""
        return np.asarray((_numbers_of(X) - self.mean) / self.spread)


def n_rows(X: Any) -> int:
    """Return the number of rows."""
    refuse_lazy(X=X)
    shape = getattr(X, "shape", None) or np.asarray(X).shape
    return int(shape[0])


def column_of(X: Any, name: str | int) -> AnyArray:
    """Return a column of an array or a frame, by its name or position."""
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


def indicators(values: AnyArray, known: AnyArray) -> FloatArray:
    """Return one column for each known value, 1 where a row has it."""
    return np.asarray(values[:, None] == known, dtype=np.float64)


def _numbers_of(X: Any) -> FloatArray:
    try:
        return check_finite_matrix(X, "X")
    except DataError as error:
        raise DataError(
            Argument("clusters"),
            " and radial functions need rows of finite numbers: ",
            error,
        ) from error


# A function adds nothing if what the others do not explain is below this share of its square.
_DEPENDENT = 1e-9


def independent(basis: FloatArray) -> IntArray:
    """Return which functions to keep: those that are no combination of earlier ones.

    Weights are a function of the row, and a combination of the others adds no function. So a
    constant and one indicator for each cluster may be passed together.
    """
    kept: list[int] = []
    directions: list[FloatArray] = []
    gram = basis.T @ basis
    # Gram–Schmidt in the coordinates of the functions, with the Gram matrix as inner product.
    for b in range(basis.shape[1]):
        rest = np.eye(basis.shape[1])[b]
        for _ in range(2):  # the second pass removes what rounding left
            for known in directions:
                rest = rest - (known @ gram @ rest) * known
        size = float(rest @ gram @ rest)
        if size > _DEPENDENT * gram[b, b]:
            kept.append(b)
            directions.append(rest / np.sqrt(size))
    return np.array(kept, dtype=np.intp)


# --- Values of basis functions as users pass them.


def read_basis(basis: Any, proba: Any, name: str) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and values of saved basis functions; the constant if there are none."""
    n = len(proba) if hasattr(proba, "__len__") else len(np.asarray(proba))
    if basis is None:
        return ("constant",), np.ones((n, 1))
    if native_frame(basis, name) is None and not is_matrix(basis):
        basis = np.asarray(basis, dtype=float).reshape(-1, 1)
    columns = check_score_columns(basis, name, each="basis function")
    values = check_basis_values(np.column_stack(list(columns.values())), n, name)
    return tuple(columns), values


def check_basis_values(values: FloatArray, n: int, name: str) -> FloatArray:
    """Check values of basis functions: one row per item, within [0, 1]."""
    if values.ndim != 2 or len(values) != n:
        raise ShapeError(
            Argument.of(name),
            f" has shape {values.shape}; expected ",
            Expected(f"({n}, number of functions)"),
        )
    if values.min() < 0 or values.max() > 1:
        worst = values.min() if values.min() < 0 else values.max()
        raise DataError(
            Argument.of(name),
            f" holds {worst:g}; expected ",
            Expected("numbers between 0 and 1"),
            ". Rescale it",
        )
    return values
