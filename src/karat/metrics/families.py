"""Families of metrics by their form: linear, ratio, quadratic, polynomial, power mean.

Each says itself in words: what an error costs, and what is gained by which class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat._result import frozen_array
from karat._sentences import Argument, Expected, Remedy
from karat._typing import Column, FloatArray, Frame
from karat._validate import check_count, check_finite_matrix, check_flag, check_number
from karat.exceptions import MetricError
from karat.metrics.base import Form, Metric, warn_undefined
from karat.metrics.rates import classes_for, error_rates, pulled_back

if TYPE_CHECKING:
    from karat.decisions import BayesClassifier


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class LinearFractionalMetric(Metric):
    """A ratio of two linear functions of the confusion.

    ``φ(C) = ⟨numerator, C⟩ / (⟨denominator, C⟩ + constant)`` (Hiranandani 2021, Definition 3.2 and
    eq. 3.7). Where the denominator is 0 the value is 0, with a warning, as in scikit-learn.

    Parameters
    ----------
    numerator, denominator : array (k, k)
        Coefficients of (truth, prediction).
    constant : float, default 0
        Added to the denominator.
    classes : column (k,), optional
        The labels that the coefficients are about, in their order; of two, the positive one last.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> jaccard = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [1, 1]])
    >>> round(jaccard([[0.5, 0.2], [0.1, 0.2]]), 6)
    0.4
    """

    numerator: FloatArray
    denominator: FloatArray
    constant: float
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "linear-fractional"

    def __init__(
        self,
        numerator: Frame,
        denominator: Frame,
        constant: float = 0.0,
        classes: Column | None = None,
        *,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        top = square_matrix(numerator, "numerator")
        bottom = square_matrix(denominator, "denominator")
        if top.shape != bottom.shape:
            raise MetricError(
                Argument("numerator"),
                f" has shape {top.shape} and denominator {bottom.shape}; expected ",
                Expected("the same"),
            )
        offset = check_number(constant, "constant")
        if not (bottom + offset).any():  # confusions sum to 1, so this is the whole denominator
            raise MetricError(
                Argument("denominator"),
                " and constant are 0 together",
                Remedy("give the ratio a denominator"),
            )
        object.__setattr__(self, "numerator", top)
        object.__setattr__(self, "denominator", bottom)
        object.__setattr__(self, "constant", offset)
        object.__setattr__(self, "name", None if name is None else str(name))
        self._name_classes(classes, elicited)

    @property
    def form(self) -> Form:
        """What a solver may rely on: the metric is a ratio."""
        return "ratio"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "linear-fractional metric"

    @property
    def value_range(self) -> tuple[float, float]:
        """0 and 1 if the numerator is a part of the denominator, else nothing is known of them."""
        top, bottom = self.numerator, self.denominator + self.constant
        return (0.0, 1.0) if (top >= 0).all() and (top <= bottom).all() else (-np.inf, np.inf)

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return len(self.numerator)

    def _parts(self, confusions: FloatArray) -> tuple[FloatArray, FloatArray]:
        top = np.einsum("ij,bij->b", self.numerator, confusions)
        bottom = np.einsum("ij,bij->b", self.denominator, confusions) + self.constant
        return np.asarray(top), np.asarray(bottom)

    def _values(self, confusions: FloatArray) -> FloatArray:
        top, bottom = self._parts(confusions)
        undefined = bottom == 0
        if undefined.any():
            warn_undefined(self.title, undefined, "it is set to 0 there")
        return np.asarray(np.where(undefined, 0.0, top / np.where(undefined, 1.0, bottom)))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        top, bottom = self._parts(confusions)
        bottom = np.where(bottom == 0, np.nan, bottom)[:, None, None]
        ratio = top[:, None, None] / bottom
        return np.asarray((self.numerator - ratio * self.denominator) / bottom)

    def normalized(self) -> LinearFractionalMetric:
        """Return the same function with no constant and coefficients of norm 1.

        Confusions sum to 1, so the constant can be added to every coefficient of the denominator.
        The sign is such that the denominator's first coefficient that is not 0 is positive.
        """
        denominator = self.denominator + self.constant
        size = np.sqrt(np.sum(self.numerator**2) + np.sum(denominator**2))
        size *= np.sign(denominator[denominator != 0][0])
        return self._with(
            numerator=self.numerator / size, denominator=denominator / size, constant=0.0
        )

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Write the ratio with the probability of each (truth, prediction) spelt out."""
        names = self._names(classes)
        top = linear_form(self.numerator, names)
        bottom = linear_form(self.denominator, names, self.constant)
        return f"{self.title[:1].upper()}{self.title[1:]}: ({top}) divided by ({bottom})."


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class LinearMetric(Metric):
    """The expected gain of a prediction, linear in the confusion.

    ``φ(C) = Σ_ij weights[i, j] · C[i, j]`` (Hiranandani 2021, Definitions 3.1 and 4.2).

    Parameters
    ----------
    weights : array (k, k)
        ``weights[i, j]`` is the gain when the truth is i and the prediction j. Costs are negative
        gains.
    classes : column (k,), optional
        The labels that the weights are about, in their order; of two, the positive one last.
        Labels of data are matched with them by name.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = LinearMetric([[0, -1], [-5, 0]])
    >>> metric([[0.5, 0.2], [0.1, 0.2]])
    -0.7
    >>> metric.bayes_classifier().predict([[0.8, 0.2], [0.9, 0.1]])
    array([1, 0])
    """

    weights: FloatArray
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "linear"

    def __init__(
        self,
        weights: Frame,
        classes: Column | None = None,
        *,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        object.__setattr__(self, "weights", square_matrix(weights, "weights"))
        object.__setattr__(self, "name", None if name is None else str(name))
        self._name_classes(classes, elicited)

    @property
    def form(self) -> Form:
        """What a solver may rely on: the metric is linear."""
        return "linear"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "linear metric"

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest weight."""
        return float(self.weights.min()), float(self.weights.max())

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return len(self.weights)

    def _values(self, confusions: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,bij->b", self.weights, confusions))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        return np.broadcast_to(self.weights, confusions.shape).copy()

    def normalized(self) -> LinearMetric:
        """Return the canonical equivalent: no gain for a right prediction, errors of norm 1.

        Subtracting the diagonal from each row shifts the metric by a constant of the population,
        which leaves ``⟨a, off-diagonal⟩`` with ``‖a‖₂ = 1`` (Hiranandani 2021, Definition 4.2). A
        metric that has the same value for every classifier becomes 0.
        """
        relative = self.weights - np.diag(self.weights)[:, None]
        size = np.linalg.norm(relative)
        return self._with(weights=relative / size if size > 0 else relative)

    def bayes_classifier(self, classes: Column | None = None) -> BayesClassifier:
        """Return the classifier that maximises the expected gain of each item.

        It predicts ``argmax_j Σ_i P(Y=i | x) weights[i, j]`` (Hiranandani 2021, Propositions 3.1
        and B.1).

        Parameters
        ----------
        classes : column (k,), optional
            The labels to predict, in the order of the weights; by default those that the metric
            names, or 0..k-1.
        """
        from karat.decisions import BayesClassifier

        return BayesClassifier.of(self.weights, self.classes if classes is None else classes)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what each error costs, and for two classes where to put the threshold."""
        names = self._names(classes)
        return describe_gains(self.title, self.weights, names)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class PowerMeanMetric(Metric):
    """A weighted power mean of the recalls.

    ``φ(C) = (Σ_i a_i r_i^ρ)^(1/ρ)`` with ``r_i = C[i, i] / Σ_j C[i, j]``, the share of class i that
    is found. ρ = 1 is the weighted mean, ρ = 0 the geometric mean ``Π_i r_i^a_i`` (with equal
    weights the G-mean), ρ = −1 the harmonic mean; the lower ρ, the more a class counts that is
    found seldom, and the limit of ρ → −∞ is the class that is found least. The metric grows with
    every recall that has a weight, and is concave for ρ ≤ 1.

    For ρ ≤ 0 the value is 0 where a class with a weight is never found. A class that does not
    occur is left out, with a warning.

    Parameters
    ----------
    weights : array (k,)
        What each class weighs, at least 0; they are scaled to sum to 1.
    power : float
        ρ, a finite number.
    decreasing : bool, default False
        Whether less is better: the value is then minus the mean.
    classes : column (k,), optional
        The labels that the weights are about, in their order; of two, the positive one last.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = PowerMeanMetric([1, 1], -1)  # harmonic mean of both recalls
    >>> round(metric([[0.4, 0.1], [0.3, 0.2]]), 6)
    0.533333
    >>> metric.weights
    array([0.5, 0.5])
    """

    weights: FloatArray
    power: float
    decreasing: bool
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "power-mean"

    def __init__(
        self,
        weights: Column,
        power: float,
        classes: Column | None = None,
        *,
        decreasing: bool = False,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        object.__setattr__(self, "weights", _shares(weights))
        object.__setattr__(self, "power", check_number(power, "power"))
        object.__setattr__(self, "decreasing", check_flag(decreasing, "decreasing"))
        object.__setattr__(self, "name", None if name is None else str(name))
        self._name_classes(classes, elicited)

    @property
    def form(self) -> Form:
        """What a solver may rely on: linear for ρ = 1, concave below, and neither beyond.

        Recalls are linear where P(Y) is fixed. Minus the mean is concave where the mean is convex.
        """
        if self.power == 1.0:
            return "linear"
        return "concave" if (self.power < 1.0) != self.decreasing else "smooth"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "power mean of recalls"

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest value: a cost is negative."""
        return (-1.0, 0.0) if self.decreasing else (0.0, 1.0)

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return len(self.weights)

    @property
    def _sign(self) -> float:
        return -1.0 if self.decreasing else 1.0

    def _recalls(self, confusions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the recalls (b, k) and what each weighs, 0 where the class does not occur."""
        rows = confusions.sum(axis=2)
        right = np.maximum(np.diagonal(confusions, axis1=1, axis2=2), 0.0)  # rounding below 0
        weights = np.where(rows > 0, self.weights, 0.0)
        absent = ~(rows > 0).all(axis=1)
        weights[absent] = _over(weights[absent], weights[absent].sum(axis=1, keepdims=True))
        return np.where(rows > 0, _over(right, rows), 1.0), weights

    def _values(self, confusions: FloatArray) -> FloatArray:
        recalls, weights = self._recalls(confusions)
        rows = confusions.sum(axis=2)
        lacking = ((rows == 0) & (self.weights > 0)).any(axis=1)
        none = (weights == 0).all(axis=1)
        for where, convention in (
            (lacking & ~none, "classes that do not occur are left out"),
            (lacking & none, "it is set to 0 there"),
        ):
            if where.any():
                warn_undefined(self.title, where, convention)
        means = self._sign * power_mean(recalls, weights, self.power)
        return np.where(np.isnan(rows).any(axis=1), np.nan, means)  # NaN for an empty group

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        recalls, weights = self._recalls(confusions)
        rows = confusions.sum(axis=2)
        slopes = self._sign * _over(power_mean_slopes(recalls, weights, self.power), rows)
        # ∂r_i/∂C_ij = (1(i=j) − r_i) / Σ_l C_il
        with np.errstate(invalid="ignore"):  # an infinite slope
            inside = slopes[:, :, None] * (np.eye(self.n_classes) - recalls[:, :, None])
        return np.asarray(np.where(rows[:, :, None] > 0, inside, 0.0))

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what each class weighs, and how far a class that is found seldom counts."""
        names = self._names(classes)
        return describe_power_mean(
            self.title, self.weights, self.power, names, decreasing=self.decreasing
        )


def _shares(weights: Column) -> FloatArray:
    """Check weights of at least 0, and scale them to sum to 1."""
    given = check_finite_matrix(weights, "weights")
    if given.ndim != 1 or len(given) < 2:
        raise MetricError(
            Argument("weights"),
            f" has shape {given.shape}; expected ",
            Expected("one weight per class"),
        )
    if (given < 0).any():
        raise MetricError(
            Argument("weights"),
            f" holds {given.min():g}; expected ",
            Expected(
                "weights of at least 0 (decreasing=True makes a metric of which less is better)"
            ),
        )
    if not given.any():
        raise MetricError("all weights are 0; expected one above 0 at least")
    scaled = given / given.max()  # the sum of very great weights would overflow
    total = float(scaled.sum())
    # Weights that sum to 1 stay as they are, so that a saved metric is read back to the last digit.
    kept = abs(float(given.sum()) - 1.0) <= 1e-12
    return np.asarray(frozen_array(given if kept else scaled / total))


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return a ratio, 0 where the denominator is."""
    return np.asarray(np.divide(above, below, out=np.zeros(above.shape), where=below != 0))


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class QuadraticMetric(Metric):
    """A quadratic function of the error rates.

    ``φ(r) = ⟨linear, r⟩ + ½·rᵀ·quadratic·r`` (Hiranandani 2021, Definition 6.3). The rates are
    ``r_ij = P(Ŷ=j | Y=i)`` for i ≠ j, row by row. Greater is better, so errors that cost have
    negative coefficients.

    Parameters
    ----------
    linear : array (q,)
        ``q = k² − k`` for k classes.
    quadratic : array (q, q)
        Symmetric.
    classes : column (k,), optional
        The labels that the coefficients are about, in their order; of two, the positive one last.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = QuadraticMetric([-1, -2], [[-1, 0], [0, -1]])
    >>> round(metric([[0.4, 0.1], [0.1, 0.4]]), 6)
    -0.64
    """

    linear: FloatArray
    quadratic: FloatArray
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "quadratic"

    def __init__(
        self,
        linear: Column,
        quadratic: Frame,
        classes: Column | None = None,
        *,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        first = symmetric_tensor(linear, "linear")
        if first.ndim != 1:
            raise MetricError(
                Argument("linear"),
                f" has shape {first.shape}; expected ",
                Expected("(q,), one for each error"),
            )
        classes_for(len(first), "linear")
        second = symmetric_tensor(quadratic, "quadratic", len(first))
        if second.ndim != 2:
            raise MetricError(
                Argument("quadratic"),
                f" has shape {second.shape}; expected ",
                Expected(f"{(len(first),) * 2}"),
            )
        object.__setattr__(self, "linear", first)
        object.__setattr__(self, "quadratic", second)
        object.__setattr__(self, "name", None if name is None else str(name))
        self._name_classes(classes, elicited)

    @property
    def _polynomial(self) -> PolynomialMetric:
        return PolynomialMetric(
            [self.linear, self.quadratic], classes=self.classes, name=self.title
        )

    @property
    def form(self) -> Form:
        """What a solver may rely on: concave if ``quadratic`` has no positive eigenvalue."""
        # Rounding of an eigenvalue is relative to the largest coefficient.
        steepest = float(np.linalg.eigvalsh(self.quadratic).max())
        size = max(1.0, float(np.abs(self.quadratic).max()))
        return "concave" if steepest <= 1e-9 * size else "smooth"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "quadratic metric"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return classes_for(len(self.linear), "linear")

    def _values(self, confusions: FloatArray) -> FloatArray:
        rates = error_rates(confusions)
        bend = np.einsum("bi,ij,bj->b", rates, self.quadratic, rates)
        return np.asarray(rates @ self.linear + 0.5 * bend)

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        slopes = self.linear + error_rates(confusions) @ self.quadratic
        return pulled_back(slopes, confusions)

    def normalized(self) -> QuadraticMetric:
        """Return the positive multiple with ``‖linear‖² + ‖quadratic‖² = 1`` (Definition 6.3)."""
        size = float(np.sqrt(np.sum(self.linear**2) + np.sum(self.quadratic**2)))
        scale = 1.0 / size if size > 0 else 1.0
        return self._with(linear=self.linear * scale, quadratic=self.quadratic * scale)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words the slope in each error rate at 0, and the size of the terms beyond it."""
        return self._polynomial.describe(classes)


# --- Metrics that are a polynomial in the rates of errors.

_MOST = 6  # terms that a description lists


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class PolynomialMetric(Metric):
    """A polynomial of the error rates.

    ``φ(r) = Σ_n ⟨A_n, r ⊗ … ⊗ r⟩ / n!`` (Hiranandani 2021, eq. 6.26). The rates are
    ``r_ij = P(Ŷ=j | Y=i)`` for i ≠ j, row by row. Greater is better, so errors that cost have
    negative coefficients.

    Parameters
    ----------
    coefficients : sequence of d arrays
        Symmetric tensors of 1, 2, ..., d indices, each of size q = k² − k.
    order : int, optional
        d, to be checked against the number of tensors.
    classes : column (k,), optional
        The labels that the coefficients are about, in their order; of two, the positive one last.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> cubic = PolynomialMetric([[-1, -2], [[0, 1], [1, 0]], [[[0, 0], [0, 0]], [[0, 0], [0, 6]]]])
    >>> round(cubic([[0.4, 0.1], [0.1, 0.4]]), 6)
    -0.552
    """

    coefficients: tuple[FloatArray, ...]
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "polynomial"

    def __init__(
        self,
        coefficients: Sequence[Any],
        order: int | None = None,
        classes: Column | None = None,
        *,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        if isinstance(coefficients, str) or not len(coefficients):
            raise MetricError(
                Argument("coefficients"),
                f" is {coefficients!r}; expected ",
                Expected("a list of tensors of 1, 2, .."),
                ". indices",
            )
        linear = symmetric_tensor(coefficients[0], "coefficients[0]")
        if linear.ndim != 1:
            raise MetricError(
                f"coefficients[0] has shape {linear.shape}; expected one number for each kind of "
                "error"
            )
        classes_for(len(linear), "coefficients[0]")
        tensors = [linear]
        for n, given in enumerate(coefficients[1:], start=2):
            tensor = symmetric_tensor(given, f"coefficients[{n - 1}]", len(linear))
            if tensor.ndim != n:
                raise MetricError(
                    f"coefficients[{n - 1}] has {tensor.ndim} indices; expected {n}, its degree"
                )
            tensors.append(tensor)
        if order is not None and check_count(order, "order") != len(tensors):
            raise MetricError(
                Argument("order"),
                f" is {order!r} and there are {len(tensors)} tensors",
            )
        object.__setattr__(self, "coefficients", tuple(tensors))
        object.__setattr__(self, "name", None if name is None else str(name))
        self._name_classes(classes, elicited)

    @property
    def order(self) -> int:
        """The degree of the polynomial."""
        return len(self.coefficients)

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or f"polynomial metric of order {self.order}"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return classes_for(len(self.coefficients[0]), "coefficients[0]")

    def _values(self, confusions: FloatArray) -> FloatArray:
        return self._of_rates(error_rates(confusions))

    def _of_rates(self, rates: FloatArray) -> FloatArray:
        """Return the values of rates (b, q)."""
        return np.asarray(
            sum(
                _contracted(tensor, rates, 0) / factorial(n)
                for n, tensor in enumerate(self.coefficients, start=1)
            )
        )

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        return pulled_back(self._slopes(error_rates(confusions)), confusions)

    def _slopes(self, rates: FloatArray) -> FloatArray:
        """Return the derivatives in the rates, (b, q)."""
        return np.asarray(
            sum(
                _contracted(tensor, rates, 1) / factorial(n - 1)
                for n, tensor in enumerate(self.coefficients, start=1)
            )
        )

    def normalized(self) -> PolynomialMetric:
        """Return the positive multiple whose coefficients have the norm 1 together."""
        size = np.sqrt(sum(float(np.sum(t**2)) for t in self.coefficients))
        scale = 1.0 / size if size > 0 else 1.0
        return self._with(coefficients=[t * scale for t in self.coefficients])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words the slope in each error rate at 0, and the size of the terms beyond it."""
        names = error_names(self._names(classes))
        linear = self.coefficients[0]
        order = np.argsort(-np.abs(linear), kind="stable")[:_MOST]
        first = "; ".join(f"{linear[i]:+.4g} per unit of {names[i]}" for i in order)
        bends = [
            f"terms of degree {n} of norm {np.linalg.norm(t):.4g}"
            for n, t in enumerate(self.coefficients[1:], start=2)
            if t.any()
        ]
        tail = f"; and {', '.join(bends)}" if bends else ""
        head = f"{self.title[:1].upper()}{self.title[1:]}"
        return f"{head}, of the rates of errors, which start at 0: {first}{tail}."


def _contracted(tensor: FloatArray, rates: FloatArray, free: int) -> FloatArray:
    """Return the tensor with all but ``free`` of its indices summed against the rates (b, q)."""
    result = np.broadcast_to(tensor, (len(rates), *tensor.shape))
    while result.ndim - 1 > free:
        result = np.einsum("b...q,bq->b...", result, rates)
    return np.asarray(result)


def square_matrix(values: Any, name: str) -> FloatArray:
    """Check a k×k matrix of finite numbers, k at least 2."""
    matrix = check_finite_matrix(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise MetricError(
            Argument.of(name),
            f" has shape {matrix.shape}; expected ",
            Expected("k×k with k at least 2 (rows are the truth, columns the prediction)"),
        )
    return np.asarray(frozen_array(matrix))


def symmetric_tensor(values: Any, name: str, q: int | None = None) -> FloatArray:
    """Check a tensor that is the same in every order of its indices."""
    tensor = check_finite_matrix(values, name)
    if q is not None and tensor.shape != (q,) * tensor.ndim:
        raise MetricError(
            Argument.of(name),
            f" has shape {tensor.shape}; expected ",
            Expected(f"{(q,) * max(tensor.ndim, 1)}: one index for each kind of error"),
        )
    for order in permutations(range(tensor.ndim)):
        if not np.allclose(tensor, tensor.transpose(order), rtol=1e-9, atol=1e-12):
            raise MetricError(
                Argument.of(name),
                " is not symmetric",
                Remedy(
                    "pass its mean over all orders of the indices, for a matrix (B + B.T) / "
                    "2, which has the same value"
                ),
            )
    return np.asarray(frozen_array(tensor))


# --- Weighted power means, with their slopes.

_ZERO = 1e-100  # a power closer to 0 is 0: the product with a logarithm would lose its digits


def power_mean(values: FloatArray, weights: FloatArray, power: FloatArray | float) -> FloatArray:
    """Return ``(Σ_i w_i v_i^ρ)^(1/ρ)``, or ``Π_i v_i^w_i`` for ρ = 0, over the last axis.

    ``values`` (..., k) are at least 0, ``weights`` (..., k) sum to 1, and ``power`` (...) is
    finite; all three are broadcast. What has no weight is left out, even where it is 0.
    """
    rho = np.asarray(power, dtype=float)
    flat = np.abs(rho) < _ZERO
    steep = np.where(flat, 1.0, rho)
    # The classes first: sums over them are then sums of whole arrays.
    weight = np.moveaxis(np.asarray(weights, dtype=float), -1, 0)
    with np.errstate(divide="ignore"):
        logs = np.log(np.moveaxis(values, -1, 0))
    counts = weight > 0
    full = bool(counts.all())  # whether every value has a weight, which is most often so
    high: FloatArray = np.maximum.reduce(logs if full else np.where(counts, logs, -np.inf))
    low: FloatArray = np.minimum.reduce(logs if full else np.where(counts, logs, np.inf))
    # Relative to the greatest value (or the least, for ρ < 0) no power overflows, and the
    # difference of the sum from 1 keeps its digits where ρ is near 0.
    top = np.where(rho > 0, high, low)
    found = np.isfinite(top)
    logs = logs - np.where(found, top, 0.0)
    logs = logs if full else np.where(counts, logs, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # where nothing weighs
        product = (weight * logs).sum(axis=0) if flat.any() else 0.0
        rise = weight * np.expm1(np.multiply(logs, steep, out=logs), out=logs)
        total = rise.sum(axis=0)
        part = np.log1p(total)
        if (small := total < -0.5).any():  # the sum itself has more digits there
            part = np.where(small, np.log((weight + rise).sum(axis=0)), part)
        mean = np.exp(top + np.where(flat, product, part / steep))
    return np.asarray(np.where(found, mean, 0.0))


def power_mean_slopes(values: FloatArray, weights: FloatArray, power: float) -> FloatArray:
    """Return the derivatives ``w_i (v_i / mean)^(ρ−1)`` in each value; infinite or NaN at 0."""
    if power == 1.0:
        return np.broadcast_to(weights, values.shape).copy()
    mean = power_mean(values, weights, power)[..., None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steepness = np.exp((power - 1.0) * (np.log(values) - np.log(mean)))
        return np.asarray(np.where(weights > 0, weights * steepness, 0.0))


def recalls(confusions: FloatArray, title: str) -> FloatArray:
    """Return the recall of each class, NaN (with a warning) for one that does not occur."""
    rows = confusions.sum(axis=2)
    absent = rows == 0
    if absent.any():
        warn_undefined(title, absent.any(axis=1), "classes that do not occur are left out")
    return np.diagonal(confusions, axis1=1, axis2=2) / np.where(absent, np.nan, rows)


# --- Metrics in words, for ``metric.describe()``.
#
# Names of classes and of kinds of error, what each error costs against a right prediction, where
# the threshold of a binary linear metric lies, a linear form written with P(truth, prediction), and
# how far a power mean of recalls counts a class that is found seldom.


def class_names(classes: Sequence[Any] | None, k: int) -> list[str]:
    """Return the names of k classes; by default they are numbered from 0."""
    known = range(k) if classes is None else classes
    if len(known) != k:
        raise MetricError(
            Argument("classes"),
            f" names {len(known)} classes and the metric is for {k}",
        )
    return [class_name(c) for c in known]


def class_name(label: Any) -> str:
    """Return a label as it stands in a sentence: a number alone would be taken for a count."""
    return str(label) if isinstance(label, str) else f"class {label}"


def describe_gains(title: str, weights: FloatArray, names: Sequence[str]) -> str:
    """Describe a linear metric by what its errors cost relative to a right prediction."""
    cost = np.diag(weights)[:, None] - weights
    errors = [
        (cost[i, j], names[i], names[j])
        for i in range(len(names))
        for j in range(len(names))
        if i != j and cost[i, j] != 0
    ]
    head = f"{title[:1].upper()}{title[1:]}, linear on {len(names)} classes"
    if not errors:
        return f"{head}: no prediction changes its value."
    errors.sort(key=lambda error: -error[0])
    most = 6  # errors that a sentence can list
    listed = "; ".join(
        f"predicting {predicted} when the truth is {truth} "
        f"{'costs' if amount > 0 else 'gains'} {abs(amount):.4g}"
        for amount, truth, predicted in errors[:most]
    )
    more = f"; and {len(errors) - most} smaller ones" if len(errors) > most else ""
    text = f"{head}. Against a right prediction, {listed}{more}."
    return text + (_threshold(cost, names) if len(names) == 2 else "")


def _threshold(cost: FloatArray, names: Sequence[str]) -> str:
    """Return Proposition 3.1 in words: when to predict the positive class."""
    false_alarm, miss = cost[0, 1], cost[1, 0]
    if false_alarm < 0 or miss < 0:
        return ""
    ratio = ""
    if false_alarm > 0:
        missed = names[1].removeprefix("the ")  # "the class" of an average over classes
        ratio = f" A missed {missed} weighs {miss / false_alarm:.4g} false alarms."
    return f"{ratio} Best predicted {names[1]} from a probability of " + (
        f"{false_alarm / (false_alarm + miss):.4g} on."
    )


def linear_form(weights: FloatArray, names: Sequence[str], constant: float = 0.0) -> str:
    """Write ``Σ weights·C + constant`` with P(truth, prediction) for the entries."""
    terms = [
        f"{'' if w == 1 else f'{w:.4g}·'}P(truth {names[i]}, predicted {names[j]})"
        for (i, j), w in np.ndenumerate(weights)
        if w != 0
    ]
    if constant or not terms:
        terms.append(f"{constant:.4g}")
    return " + ".join(terms).replace("+ -", "− ")


def error_names(names: list[str]) -> list[str]:
    """Return what each kind of error is, in words, as the spaces of `karat.elicit` call it."""
    return [
        f"{a} taken for {b}" for i, a in enumerate(names) for j, b in enumerate(names) if i != j
    ]


_LEAST_FOUND = -20.0  # below, the mean is the least recall but for the weights' part
_NAMED = {1.0: "arithmetic", 0.0: "geometric", -1.0: "harmonic"}


def describe_power_mean(
    title: str, weights: FloatArray, power: float, names: Sequence[str], *, decreasing: bool
) -> str:
    """Say what each class weighs, and what it means to be found seldom."""
    order = [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
    listed = ", ".join(f"{weights[i]:.3g} for {names[i]}" for i in order[:_MOST])
    more = f" and {len(order) - _MOST} smaller ones" if len(order) > _MOST else ""
    ignored = [names[i] for i in range(len(names)) if weights[i] == 0]
    without = f"; {', '.join(ignored)} {'does' if len(ignored) == 1 else 'do'} not count"
    head = f"{title[:1].upper()}{title[1:]}: {'minus ' if decreasing else ''}"
    return (
        f"{head}{_which(power)}, with the weights {listed}{more}{without if ignored else ''}. "
        f"{_seldom(power)}{' Less of the mean is better.' if decreasing else ''}"
    )


def _which(power: float) -> str:
    """Return which mean it is, by the means of a name that it lies between."""
    what = "mean of the share of each class that is found"
    if power in _NAMED:
        return f"the {_NAMED[power]} {what}"
    above = [name for at, name in reversed(_NAMED.items()) if at > power]
    below = [name for at, name in _NAMED.items() if at < power]
    where = (
        f"between the {above[0]} and the {below[0]} one"
        if above and below
        else f"beyond the {(above or below)[0]} one"
    )
    return f"a {what}, {where} (power {power:.3g})"


def _seldom(power: float) -> str:
    """Return what a class gains by being found seldom, and what happens where one never is."""
    if power == 1.0:
        return "A point of one class makes up for a point of another at the same rate everywhere."
    if power < _LEAST_FOUND:
        return "It is close to the share of the class that is found least."
    factor = 2.0 ** min(1.0 - power, 1000.0)
    text = (
        "Weights aside, a point more of a class that is found half as often as another counts "
        f"{factor:.3g} times as much"
    )
    return text + ("; it is 0 as soon as one class is never found." if power <= 0 else ".")
