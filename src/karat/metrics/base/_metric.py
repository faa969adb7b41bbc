"""What every metric of one population can do."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_confusions, check_number
from karat.exceptions import MetricError
from karat.metrics.base._equivalence import affinely_related
from karat.metrics.base._metric_base import MetricBase
from karat.metrics.base._scorer import MetricScorer
from karat.metrics.base._undefined import warn_undefined
from karat.statistics import confusion as count_confusion

if TYPE_CHECKING:
    from karat.decisions import BayesClassifier

__all__ = ["Metric"]


class Metric(MetricBase):
    """A performance metric: a function of the confusion for which greater is better.

    A subclass is a frozen dataclass that gives ``kind`` (its name in JSON), ``n_classes`` (None if
    it works for any number of classes), and the two functions on stacks of confusions.
    """

    __slots__ = ()

    def for_classes(self, n_classes: int) -> "Metric":
        """Return the metric for a given number of classes, or say why there is none.

        A metric for any number of classes may turn into one of a simpler family.
        """
        self._require_classes(n_classes)
        return self

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

    def equivalent(self, other: MetricBase, *, tol: float = 1e-9) -> bool:
        """Whether the two metrics always rank classifiers alike: a scale and a shift apart.

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
        if not isinstance(other, MetricBase):
            raise MetricError(f"a metric can be equivalent to a metric, and not to {other!r}")
        if not isinstance(other, Metric):
            return False
        level = check_number(tol, "tol", at_least=0.0)
        sizes = {m.n_classes for m in (self, other)} - {None}
        if len(sizes) > 1:
            return False
        return all(
            affinely_related(self._values, other._values, k, level) for k in (sizes or {2, 3}) if k
        )
