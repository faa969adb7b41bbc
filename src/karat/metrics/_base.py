"""What every metric can do."""

import json
import sys
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat._frozen import Frozen
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import binary_order, check_classes, check_confusions, encode_labels, is_matrix
from karat.exceptions import MetricError, UndefinedMetricWarning
from karat.metrics._equivalence import affinely_related
from karat.metrics._scorer import MetricScorer
from karat.statistics import confusion as count_confusion

if TYPE_CHECKING:
    from karat.metrics._bayes_classifier import BayesClassifier

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Metric", "warn_undefined"]

SCHEMA = "karat.metric"
SCHEMA_VERSION = 1


def warn_undefined(name: str, undefined: BoolArray, convention: str) -> None:
    """Warn that a value is a convention; call only where ``undefined`` has a true entry."""
    # Point at the caller's line, however deep inside karat the value is computed.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("karat."):
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"{name} is undefined on {int(undefined.sum())} of {undefined.size} confusions "
        f"(a denominator is 0); {convention}",
        UndefinedMetricWarning,
        stacklevel=level,
    )


class Metric(Frozen):
    """A performance metric: a function of the confusion for which greater is better.

    A subclass is a frozen dataclass that gives ``kind`` (its name in JSON), ``n_classes`` (None if
    it works for any number of classes), and the two functions on stacks of confusions.
    """

    __slots__ = ()
    kind: ClassVar[str]

    @property
    @abstractmethod
    def title(self) -> str:
        """Short name for tables and messages."""

    @property
    def n_classes(self) -> int | None:
        """Number of classes the metric is for, or None if it works for any number."""
        return None

    @abstractmethod
    def _values(self, confusions: FloatArray) -> FloatArray:
        """Return the value of each confusion of a stack (b, k, k)."""

    @abstractmethod
    def _gradients(self, confusions: FloatArray) -> FloatArray:
        """Return the gradient at each confusion of a stack (b, k, k); NaN where there is none."""

    @abstractmethod
    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what the metric rewards; ``classes`` names the classes."""

    def __call__(self, confusion: Any) -> float | FloatArray:
        """Return the value of one confusion, or of each confusion of a stack.

        Parameters
        ----------
        confusion : Confusion or array (k, k) or (groups, k, k)
            Joint probabilities. The confusions of several groups may sum to 1 together
            (``P(G=g, Y=i, Ŷ=j)``) or each; the value of a group is that within the group.
        """
        stack, single = self._checked(confusion)
        empty = np.asarray(np.isnan(stack).all(axis=(1, 2)))
        if empty.any():
            warn_undefined(self.title, empty, "it is NaN for a group without weight")
        values = self._values(stack)
        return float(values[0]) if single else values

    def gradient(self, confusion: Any) -> FloatArray:
        """Return the partial derivatives of the value in the entries of the confusion.

        For a stack of confusions, one gradient each, at the confusion within that group.
        """
        stack, single = self._checked(confusion)
        gradients = self._gradients(stack)
        if not np.isfinite(gradients).all():
            where = int(np.flatnonzero(~np.isfinite(gradients).all(axis=(1, 2)))[0])
            raise MetricError(
                f"{self.title} has no gradient at {'the' if single else f'the {where}th'} "
                "confusion: a denominator or a root is 0 there. Move the confusion off the boundary"
            )
        return np.asarray(gradients[0]) if single else gradients

    def _checked(self, confusion: Any) -> tuple[FloatArray, bool]:
        stack, single = check_confusions(confusion)
        self.for_classes(stack.shape[-1])
        return stack, single

    def for_classes(self, n_classes: int) -> "Metric":
        """Return the metric for a given number of classes, or say why there is none.

        A metric for any number of classes may turn into one of a simpler family.
        """
        if self.n_classes in (None, n_classes):
            return self
        hint = (
            f"average it over the classes with macro(...) or micro(...) of {self.title}"
            if self.kind == "linear-fractional" and self.n_classes == 2 and n_classes > 2
            else "pass a metric for that many classes, or classes= to say which classes there are"
        )
        raise MetricError(
            f"{self.title} is for {self.n_classes} classes and the confusion has {n_classes}; "
            f"{hint}"
        )

    def score(
        self,
        y_true: Column,
        y_pred: Column | Frame,
        *,
        groups: Column | None = None,
        sample_weight: Column | None = None,
        classes: Column | None = None,
        pos_label: Any = None,
    ) -> float | FloatArray:
        """Score predictions.

        Parameters
        ----------
        y_true : column (n,)
            True labels.
        y_pred : column (n,) or matrix (n, k)
            Predicted labels, or class probabilities of a randomised classifier.
        groups : column (n,), optional
            Group of each item; the result is then one value per group, in sorted order.
        sample_weight : column (n,), optional
            Weights of at least 0.
        classes : column (k,), optional
            The classes in the order of the metric; by default those found, sorted.
        pos_label : label, optional
            The positive class of a metric for two classes; by default the larger label (the last
            of ``classes``).
        """
        order = self._class_order(y_true, y_pred, classes, pos_label)
        table = count_confusion(y_true, y_pred, sample_weight, groups, classes=order)
        return self(table)

    def _class_order(
        self, y_true: Column, y_pred: Column | Frame, classes: Column | None, pos_label: Any
    ) -> AnyArray | Column | None:
        """Return the class order to count with: the positive class last."""
        if pos_label is None or self.n_classes not in (None, 2):
            return classes
        if classes is not None:
            return binary_order(check_classes(classes), pos_label, name="classes")
        columns = {"y_true": y_true} if is_matrix(y_pred) else {"y_true": y_true, "y_pred": y_pred}
        _, found = encode_labels(columns)
        if is_matrix(y_pred):
            raise MetricError(
                "pos_label with class probabilities is ambiguous; name the columns with classes=, "
                "positive class last, and leave pos_label out"
            )
        return binary_order(found, pos_label, name="y_true and y_pred")

    def as_scorer(self, *, classes: Column | None = None, pos_label: Any = None) -> MetricScorer:
        """Return a scikit-learn scorer for `cross_val_score`, `GridSearchCV` and the like.

        Parameters
        ----------
        classes : column (k,), optional
            The classes in the order of the metric; by default those of the fitted estimator.
        pos_label : label, optional
            The positive class of a metric for two classes.

        Examples
        --------
        >>> from karat.metrics import g_mean
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import cross_val_score
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> cross_val_score(GaussianNB(), X, y, scoring=g_mean.as_scorer()).mean().round(2)
        np.float64(0.93)
        """
        return MetricScorer(self, classes, pos_label)

    def bayes_classifier(self, classes: Column | None = None) -> "BayesClassifier":
        """Return the classifier that maximises the metric when probabilities are known.

        Only linear metrics have one that needs no knowledge of the population.
        """
        raise MetricError(
            f"{self.title} is not linear, so its best classifier depends on the population; "
            "linearise it with LinearMetric(metric.gradient(confusion)) or use a linear metric"
        )

    def normalized(self) -> "Metric":
        """Return the canonical member of the metric's family; by default the metric itself."""
        return self

    def equivalent(self, other: "Metric", *, tol: float = 1e-9) -> bool:
        """Whether the two metrics always rank classifiers alike, being scale and shift apart.

        On every population, one must be a positive multiple of the other plus a constant. The
        scale and the shift may depend on the class priors, which no classifier can change. So a
        cost matrix and its weighted accuracy are equivalent although their values differ.

        Examples
        --------
        >>> from karat.metrics import accuracy, cost_matrix, weighted_accuracy
        >>> cost_matrix([[0, 1], [5, 0]]).equivalent(weighted_accuracy([1, 5]))
        True
        >>> accuracy.equivalent(weighted_accuracy([1, 5]))
        False
        """
        if not isinstance(other, Metric):
            raise MetricError(f"a metric can be equivalent to a metric, and not to {other!r}")
        sizes = {m.n_classes for m in (self, other)} - {None}
        if len(sizes) > 1:
            return False
        return all(
            affinely_related(self._values, other._values, k, tol) for k in (sizes or {2, 3}) if k
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the metric as plain data: schema, version, kind and its fields."""
        head = {"schema": SCHEMA, "version": SCHEMA_VERSION, "kind": self.kind}
        return head | Frozen.to_dict(self)

    def to_json(self) -> str:
        """Return the metric as JSON text that `load_metric` reads back to an equal metric."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        """Build the metric from the fields that `to_dict` wrote."""
        return cls(**fields)
