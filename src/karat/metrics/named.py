"""Metrics that have a name: accuracy, precision, F1, MCC, and their averages over classes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import Column, FloatArray, Frame
from karat._validate import check_classes, check_finite_matrix, check_number, refuse_option
from karat.exceptions import MetricError
from karat.metrics.base import Form, Metric, MetricBase, warn_undefined
from karat.metrics.families import LinearFractionalMetric, LinearMetric, recalls, square_matrix

if TYPE_CHECKING:
    from karat.decisions import BayesClassifier


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Accuracy(Metric):
    """Share of right predictions: ``Σ_i C[i, i]``, for any number of classes."""

    kind: ClassVar[str] = "accuracy"

    @property
    def form(self) -> Form:
        """What a solver may rely on: the metric is linear."""
        return "linear"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "accuracy"

    def _values(self, confusions: FloatArray) -> FloatArray:
        return np.asarray(np.trace(confusions, axis1=1, axis2=2))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        return np.broadcast_to(np.eye(confusions.shape[-1]), confusions.shape).copy()

    def for_classes(self, n_classes: int) -> LinearMetric:
        """Return accuracy as a linear metric."""
        self._require_classes(n_classes)
        fixed = _linear_accuracy(n_classes)
        return fixed if self.classes is None else fixed.with_classes(self.classes)

    def bayes_classifier(self, classes: Column | None = None) -> "BayesClassifier":
        """Return the classifier that predicts the most probable of ``classes``."""
        classes = self.classes if classes is None else classes
        if classes is None:
            raise MetricError(
                "accuracy is for any number of classes",
                Remedy(
                    "pass ",
                    Option("classes"),
                    ", or use accuracy.for_classes(k).bayes_classifier()",
                ),
            )
        order = check_classes(classes)
        return self.for_classes(len(order)).bayes_classifier(order)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what accuracy rewards."""
        return "Accuracy: the share of right predictions; every error costs the same."


@lru_cache(maxsize=32)
def _linear_accuracy(n_classes: int) -> LinearMetric:
    return LinearMetric(np.eye(n_classes), name="accuracy")


accuracy = Accuracy()
"""Share of right predictions, for any number of classes."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BalancedAccuracy(Metric):
    """Mean recall over the classes that occur: ``mean_i C[i, i] / Σ_j C[i, j]``."""

    kind: ClassVar[str] = "balanced-accuracy"

    @property
    def form(self) -> Form:
        """What a solver may rely on: recalls are linear where P(Y) is fixed."""
        return "linear"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "balanced accuracy"

    def _values(self, confusions: FloatArray) -> FloatArray:
        found = recalls(confusions, self.title)
        with np.errstate(invalid="ignore"):  # an empty group has no class at all: NaN
            return np.asarray(np.nansum(found, axis=1) / np.sum(~np.isnan(found), axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        k = confusions.shape[-1]
        rows = confusions.sum(axis=2)[:, :, None]
        right = np.diagonal(confusions, axis1=1, axis2=2)[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((np.eye(k) - right / rows) / rows / k)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what balanced accuracy rewards."""
        return (
            "Balanced accuracy: the share of each class that is found, averaged over the classes; "
            "a rare class counts as much as a common one."
        )


balanced_accuracy = BalancedAccuracy()
"""Mean recall over the classes, for any number of them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CohenKappa(Metric):
    """Agreement of truth and prediction beyond that of chance (Cohen 1960).

    With the accuracy ``a``, the row sums ``t`` and the column sums ``p`` of joint probabilities,
    ``κ = (a − t·p) / (1 − t·p)``. Where one class takes all of the truth and of the predictions the
    value is 0, with a warning.
    """

    kind: ClassVar[str] = "cohen-kappa"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "Cohen's kappa"

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest value: 0 is chance."""
        return -1.0, 1.0

    def _values(self, confusions: FloatArray) -> FloatArray:
        top, bottom = _parts(confusions)[0], _by_chance(confusions)
        undefined = bottom <= 0
        if undefined.any():
            warn_undefined(self.title, undefined, "it is set to 0 there")
        return np.asarray(np.where(undefined, 0.0, top / np.where(undefined, 1.0, bottom)))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        k = confusions.shape[-1]
        total = confusions.sum(axis=(1, 2))[:, None, None]
        right = np.trace(confusions, axis1=1, axis2=2)[:, None, None]
        by_chance = confusions.sum(axis=1)[:, :, None] + confusions.sum(axis=2)[:, None, :]
        top, bottom = (
            part[:, None, None] for part in (_parts(confusions)[0], _by_chance(confusions))
        )
        d_top = np.eye(k) * total + right - by_chance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((d_top - top / bottom * (2 * total - by_chance)) / bottom)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what Cohen's kappa rewards."""
        return (
            "Cohen's kappa: how far right predictions exceed those of guessing with the same "
            "shares; 1 is perfect, 0 is no better than such guesses."
        )


cohen_kappa = CohenKappa()
"""Agreement beyond chance, for any number of classes."""


def cost_matrix(costs: Frame, classes: Column | None = None) -> LinearMetric:
    """Minus the expected cost.

    Parameters
    ----------
    costs : array (k, k)
        ``costs[i, j]`` is what predicting j costs when the truth is i.

    classes : column (k,), optional
        The labels that the costs are about, in their order; of two, the positive one last.

    Examples
    --------
    >>> cost_matrix([[0, 1], [5, 0]])([[0.5, 0.2], [0.1, 0.2]])
    -0.7
    >>> cost_matrix([[0, 1], [5, 0]], ["healthy", "ill"]).score(["ill", "healthy"], ["healthy"] * 2)
    -2.5
    """
    gains = 0.0 - square_matrix(costs, "costs")
    return LinearMetric(gains, classes, name="minus the expected cost")


def f_beta(beta: float) -> LinearFractionalMetric:
    """Weighted harmonic mean of precision and recall.

    ``F_β = (1+β²)·TP / ((1+β²)·TP + β²·FN + FP)`` (Hiranandani 2021, eq. 3.8): recall counts β
    times as much as precision.

    Parameters
    ----------
    beta : float
        At least 0; 1 gives F1.

    Examples
    --------
    >>> round(f_beta(1)([[0.5, 0.2], [0.1, 0.2]]), 4)
    0.5714
    """
    squared = check_number(beta, "beta", at_least=0.0, at_most=1e6) ** 2
    return LinearFractionalMetric(
        [[0, 0], [0, 1 + squared]], [[0, 1], [squared, 1 + squared]], name=f"F{beta:g}"
    )


f1 = f_beta(1)
"""Harmonic mean of precision and recall: 2·TP / (2·TP + FP + FN)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GMean(Metric):
    """Geometric mean of the recalls, over the classes that occur.

    ``(Π_i C[i, i] / Σ_j C[i, j])^(1/k)`` (Hiranandani 2021, eq. 7.23).
    """

    kind: ClassVar[str] = "g-mean"

    @property
    def form(self) -> Form:
        """What a solver may rely on: a geometric mean is concave."""
        return "concave"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "G-mean"

    def _values(self, confusions: FloatArray) -> FloatArray:
        found = recalls(confusions, self.title)
        occurring = np.sum(~np.isnan(found), axis=1)
        mean = np.nanprod(found, axis=1) ** (1.0 / np.maximum(occurring, 1))
        return np.where(occurring > 0, mean, np.nan)  # an empty group has no class at all

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        rows = confusions.sum(axis=2)
        right = np.diagonal(confusions, axis1=1, axis2=2)
        n = np.maximum(np.sum(rows > 0, axis=1), 1)  # classes that do not occur are left out
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = np.where(rows > 0, right / rows, 1.0)
            value = np.prod(recall, axis=1) ** (1.0 / n)
            slope = np.eye(confusions.shape[-1]) / right[:, :, None] - 1.0 / rows[:, :, None]
            slope = np.where(rows[:, :, None] > 0, slope, 0.0)
            return np.asarray((value / n)[:, None, None] * slope)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what the G-mean rewards."""
        return (
            "G-mean: the geometric mean of the share of each class that is found; it is 0 as soon "
            "as one class is never found."
        )


g_mean = GMean()
"""Geometric mean of the recalls, for any number of classes."""


# Coefficients of [[TN, FP], [FN, TP]]: class 1, the last, is the positive one.
jaccard = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [1, 1]], name="jaccard")
"""Positives found, among all that are or are called positive: TP / (TP + FP + FN)."""


def macro(metric: Metric) -> Metric:
    """Mean of a binary metric over the classes, each against the rest.

    Parameters
    ----------
    metric : Metric
        A metric for two classes, such as `precision` or ``f_beta(1)``.

    Examples
    --------
    >>> from karat.metrics import f_beta
    >>> round(macro(f_beta(1)).score([0, 1, 2, 2], [0, 1, 1, 2]), 4)
    0.7778
    """
    return Macro(metric)


# --- Matthews' correlation coefficient.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MCC(Metric):
    """Correlation of truth and prediction (Gorodkin's form for more than two classes).

    With ``t`` the row sums, ``p`` the column sums and ``s`` the sum of all entries,
    ``φ = (s·Σ_i C[i, i] − t·p) / √((s² − p·p)(s² − t·t))``. Where one class takes all of the truth
    or all of the predictions the value is 0, with a warning.
    """

    kind: ClassVar[str] = "mcc"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "MCC"

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest value: 0 is chance."""
        return -1.0, 1.0

    def _values(self, confusions: FloatArray) -> FloatArray:
        top, p_spread, t_spread = _parts(confusions)
        product = p_spread * t_spread
        undefined = np.minimum(p_spread, t_spread) <= 0
        if undefined.any():
            warn_undefined(self.title, undefined, "it is set to 0 there")
        return np.asarray(np.where(undefined, 0.0, top / np.sqrt(np.where(undefined, 1, product))))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        k = confusions.shape[-1]
        total = confusions.sum(axis=(1, 2))[:, None, None]
        right = np.trace(confusions, axis1=1, axis2=2)[:, None, None]
        t, p = confusions.sum(axis=2), confusions.sum(axis=1)
        top, p_spread, t_spread = (part[:, None, None] for part in _parts(confusions))
        d_top = np.eye(k) * total + right - p[:, :, None] - t[:, None, :]
        d_p_spread = 2 * total - 2 * p[:, None, :]
        d_t_spread = 2 * total - 2 * t[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = d_p_spread / p_spread + d_t_spread / t_spread
            return np.asarray((d_top - top * bend / 2) / np.sqrt(p_spread * t_spread))

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what MCC rewards."""
        return (
            "MCC: the correlation of truth and prediction; 1 is perfect, 0 is no better than "
            "guessing with the same shares."
        )


mcc = MCC()
"""Matthews' correlation coefficient, for any number of classes."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Average(Metric):
    """A binary metric carried to k classes."""

    metric: Metric
    prefix: ClassVar[str]

    def __post_init__(self) -> None:
        MetricBase.__post_init__(self)
        if not isinstance(self.metric, Metric):
            raise MetricError(
                f"{self.prefix} was given {self.metric!r}; expected a metric for two classes, "
                f"such as {self.prefix}(f_beta(1))"
            )
        if self.metric.n_classes not in (None, 2):
            raise MetricError(
                f"{self.prefix} was given a metric for {self.metric.n_classes} classes; expected "
                "one for two classes"
            )

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return f"{self.prefix} {self.metric.title}"

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest value of the binary metric."""
        return self.metric.for_classes(2).value_range


# --- A binary metric of pooled one-against-the-rest tables.


class Micro(Average):
    """A binary metric of the 2×2 confusions of all classes against the rest, added up."""

    __slots__ = ()
    kind: ClassVar[str] = "micro"
    prefix: ClassVar[str] = "micro"

    def _values(self, confusions: FloatArray) -> FloatArray:
        return self.metric._values(one_vs_rest(confusions).mean(axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        tables = one_vs_rest(confusions)
        slope = self.metric._gradients(tables.mean(axis=1))[:, None] / tables.shape[1]
        return from_one_vs_rest(np.broadcast_to(slope, tables.shape))

    def for_classes(self, n_classes: int) -> Metric:
        """Return a pooled linear or linear-fractional metric as one on k classes."""
        self._require_classes(n_classes)
        inner = self.metric.for_classes(2)
        if isinstance(inner, LinearMetric):
            return LinearMetric(
                self._pooled(inner.weights, n_classes), self.classes, name=self.title
            )
        if isinstance(inner, LinearFractionalMetric):
            numerator, denominator = (
                self._pooled(part, n_classes) for part in (inner.numerator, inner.denominator)
            )
            return LinearFractionalMetric(
                numerator, denominator, inner.constant, self.classes, name=self.title
            )
        return self

    @staticmethod
    def _pooled(coefficients: FloatArray, n_classes: int) -> FloatArray:
        each = np.broadcast_to(coefficients / n_classes, (1, n_classes, 2, 2))
        return np.asarray(from_one_vs_rest(each)[0])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what is pooled."""
        inner = self.metric.describe(["the rest", "the class"])
        return f"On the tables of each class against the rest, added up: {inner}"


def micro(metric: Metric) -> Metric:
    """Binary metric of the one-against-the-rest tables of all classes, added up.

    Parameters
    ----------
    metric : Metric
        A metric for two classes, such as `precision` or ``f_beta(1)``.

    Examples
    --------
    >>> from karat.metrics import jaccard
    >>> round(micro(jaccard).score([0, 1, 2, 2], [0, 1, 1, 2]), 4)
    0.6
    """
    return Micro(metric)


# Coefficients of [[TN, FP], [FN, TP]]: class 1, the last, is the positive one.
precision = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [0, 1]], name="precision")
"""Share of the predicted positives that are positive: TP / (TP + FP)."""


# Coefficients of [[TN, FP], [FN, TP]]: class 1, the last, is the positive one.
recall = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 0], [1, 1]], name="recall")
"""Share of the positives that are found: TP / (TP + FN)."""


# Coefficients of [[TN, FP], [FN, TP]]: class 0, the first, is the negative one.
specificity = LinearFractionalMetric([[1, 0], [0, 0]], [[1, 1], [0, 0]], name="specificity")
"""Share of the negatives that are called negative: TN / (TN + FP)."""


def weighted_accuracy(weights: Column, classes: Column | None = None) -> LinearMetric:
    """Reward for right predictions, one weight per class: ``Σ_i weights[i]·C[i, i]``.

    Hiranandani (2021), eq. 3.6 and Definition 4.1.

    Parameters
    ----------
    weights : array (k,)
        Reward for a right prediction of each class.

    classes : column (k,), optional
        The labels that the weights are about, in their order; of two, the positive one last.

    Examples
    --------
    >>> weighted_accuracy([1, 5])([[0.5, 0.2], [0.1, 0.2]])
    1.5
    """
    rewards = check_finite_matrix(weights, "weights")
    if rewards.ndim != 1 or len(rewards) < 2:
        raise MetricError(
            Argument("weights"),
            f" has shape {rewards.shape}; expected ",
            Expected("one weight per class"),
        )
    return LinearMetric(np.diag(rewards), classes, name="weighted accuracy")


# --- Binary metrics on more than two classes: each class against the rest.


def _sides(k: int) -> FloatArray:
    """Return ``T[i, s, a]``: 1 if class a is on side s (0 the rest, 1 the class) of class i."""
    eye = np.eye(k)
    return np.stack([1 - eye, eye], axis=1)


def one_vs_rest(confusions: FloatArray) -> FloatArray:
    """Return the 2×2 confusion of each class against the rest: (b, k, 2, 2)."""
    sides = _sides(confusions.shape[-1])
    return np.asarray(np.einsum("isa,bac,itc->bist", sides, confusions, sides, optimize=True))


def from_one_vs_rest(slopes: FloatArray) -> FloatArray:
    """Return the gradient in C of a function of the 2×2 confusions: the chain rule."""
    sides = _sides(slopes.shape[1])
    return np.asarray(np.einsum("isa,bist,itc->bac", sides, slopes, sides, optimize=True))


class Macro(Average):
    """Mean of a binary metric over the classes, each against the rest."""

    __slots__ = ()
    kind: ClassVar[str] = "macro"
    prefix: ClassVar[str] = "macro"

    def _values(self, confusions: FloatArray) -> FloatArray:
        tables = one_vs_rest(confusions)
        values = self.metric._values(tables.reshape(-1, 2, 2))
        return np.asarray(values.reshape(tables.shape[:2]).mean(axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        tables = one_vs_rest(confusions)
        slopes = self.metric._gradients(tables.reshape(-1, 2, 2)).reshape(tables.shape)
        return from_one_vs_rest(slopes / tables.shape[1])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what is averaged."""
        inner = self.metric.describe(["the rest", "the class"])
        return f"Mean over the classes, each against the rest, of: {inner}"


def _parts(confusions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return numerator, spread of the predictions and spread of the truth.

    Written as sums of products of unlike classes, which lose no digits where one class is rare:
    s² − p·p is Σ_i p_i (s − p_i), and the numerator is Σ_{i≠j} (C_ii C_jj − C_ij C_ji) plus the
    other products of a diagonal entry and one that shares neither its row nor its column.
    """
    t, p = confusions.sum(axis=2), confusions.sum(axis=1)
    right = np.diagonal(confusions, axis1=1, axis2=2)
    wrong = confusions - right[:, :, None] * np.eye(confusions.shape[-1])
    missed, called = wrong.sum(axis=2), wrong.sum(axis=1)
    # s·Σ C_ii − Σ t_i p_i, with t_i p_i = (C_ii + missed_i)(C_ii + called_i) and
    # s − C_ii − missed_i − called_i = the mass outside row and column i.
    outside = _others(right) + wrong.sum(axis=(1, 2))[:, None] - missed - called
    top = np.sum(right * outside, axis=1) - np.sum(missed * called, axis=1)
    return top, np.sum(p * _others(p), axis=1), np.sum(t * _others(t), axis=1)


def _by_chance(confusions: FloatArray) -> FloatArray:
    """Return s² − t·p, the disagreement of guesses with the same shares, without a subtraction."""
    t, p = confusions.sum(axis=2), confusions.sum(axis=1)
    return np.asarray(np.sum(t * _others(p), axis=1))


def _others(values: FloatArray) -> FloatArray:
    """Return, for each class, the sum over the other classes, without a subtraction."""
    k = values.shape[-1]
    before = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)[:, : k - 1]], 1)
    after = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(before + np.concatenate([after[:, 1:], np.zeros((len(values), 1))], 1))


_NAMED: dict[str, Metric] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "cohen_kappa": cohen_kappa,
    "g_mean": g_mean,
    "jaccard": jaccard,
    "mcc": mcc,
    "precision": precision,
    "recall": recall,
    "specificity": specificity,
}


def as_metric(metric: Any) -> MetricBase:
    """Return a metric object for a metric or its name.

    Parameters
    ----------
    metric : Metric, GroupMetric or str
        A metric, which comes back as it is, or a name: those of `karat.metrics`, ``f1``, ``f2``,
        ``f0.5`` and so on, and these with ``macro_`` or ``micro_`` in front.

    Examples
    --------
    >>> as_metric("macro_f1").title
    'macro F1'
    """
    if isinstance(metric, MetricBase):
        return metric
    named = _of_name(metric) if isinstance(metric, str) else None
    if named is None:
        refuse_option(
            metric,
            "metric",
            f"a metric of karat.metrics or one of the names {[*_NAMED, 'f1', 'f0.5']}, with "
            "macro_ or micro_ in front for more than two classes",
        )
    return named


def _of_name(name: str) -> Metric | None:
    for prefix, average in (("macro_", macro), ("micro_", micro)):
        if name.startswith(prefix):
            inner = _of_name(name.removeprefix(prefix))
            return None if inner is None else average(inner)
    if beta := re.fullmatch(r"f(\d+(?:\.\d+)?)", name):
        return f_beta(float(beta[1]))
    return _NAMED.get(name)
