"""What metrics of one population and metrics of several groups have in common."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from karat._frames import keeps_kind
from karat._frozen import Frozen
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import (
    binary_order,
    check_classes,
    check_count,
    encode_labels,
    is_matrix,
    refuse_option,
)
from karat.exceptions import MetricError

if TYPE_CHECKING:
    from karat.metrics.result import MetricEstimate

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Form", "MetricBase"]

SCHEMA = "karat.metric"
SCHEMA_VERSION = 1

# What a solver may rely on, with P(Y), or P(G, Y), held fixed: classifiers do not change these.
#   linear   linear in the confusion
#   ratio    a ratio of two linear functions
#   concave  smooth and concave
#   gaps     linear but for absolute differences between groups, which cost: concave
#   smooth   none of these; it has slopes
Form = Literal["linear", "ratio", "concave", "gaps", "smooth"]


class MetricBase(Frozen):
    """A performance metric, of one population (`Metric`) or of several groups (`GroupMetric`).

    A subclass is a frozen dataclass that gives ``kind`` (its name in JSON) and ``form`` (what
    solvers may rely on).
    """

    __slots__ = ()
    kind: ClassVar[str]

    @property
    @abstractmethod
    def title(self) -> str:
        """Short name for tables and messages."""

    @property
    def form(self) -> Form:
        """What a solver may rely on: linear, ratio, concave, gaps or smooth."""
        return "smooth"

    @property
    def n_classes(self) -> int | None:
        """Number of classes the metric is for, or None if it works for any number."""
        return None

    @property
    def n_groups(self) -> int | None:
        """Number of groups the metric compares, or None if it is of one population."""
        return None

    @abstractmethod
    def _values(self, confusions: FloatArray) -> FloatArray:
        """Return the value (b,) of each entry of a stack: (b, k, k), or (b, groups, k, k)."""

    @abstractmethod
    def _gradients(self, confusions: FloatArray) -> FloatArray:
        """Return the gradient at each entry of a stack; NaN where there is none."""

    @abstractmethod
    def __call__(self, confusion: Any) -> float | FloatArray:
        """Return the value of a confusion."""

    @abstractmethod
    def gradient(self, confusion: Any) -> FloatArray:
        """Return the partial derivatives of the value in the entries of the confusion."""

    @abstractmethod
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
        """Score predictions."""

    @keeps_kind
    def estimate(
        self,
        y_true: Column,
        y_pred: Column,
        *,
        groups: Column | None = None,
        clusters: Column | None = None,
        sample_weight: Column | None = None,
        classes: Column | None = None,
        pos_label: Any = None,
        confidence: float = 0.95,
        rng: int | np.random.Generator | None = None,
    ) -> "MetricEstimate":
        r"""Estimate the metric from a random sample of labelled items, with limits.

        Accuracy, recall and precision are shares of items, and so is
        :math:`J = TP/(TP + FP + FN)`, with :math:`F_1 = 2J/(1 + J)`: their limits are those of
        Clopper and Pearson 1934. Any other metric G gets limits by a surprise: each cell c of the
        confusion draws :math:`\gamma_c \sim Gamma(n_c)`, one cell an :math:`e \sim Gamma(1/2)`
        on top; the lower limit is the least, over the cells that e may fall into, of the lower
        quantile of :math:`G((\gamma + e 1_c)/\Sigma)`, the upper limit the greatest of the upper
        one. Where G is undefined it may be anything.

        Parameters
        ----------
        y_true : column (n,)
            True labels of a random sample.
        y_pred : column (n,)
            Predicted labels.
        groups : column (n,), optional
            Group of each item: one estimate each in ``groups``, and all pairs in ``gaps``, whose
            limits hold together. A metric that compares groups needs it.
        clusters : column (n,), optional
            What items belong to together, such as a person; whole clusters are then independent,
            and the limits are approximate.
        sample_weight : column (n,), optional
            Weights of at least 0; they count as Kish's number of items.
        classes : column (k,), optional
            The classes in the order of the metric; by default those found, sorted.
        pos_label : label, optional
            The positive class of a metric for two classes; by default the larger label.
        confidence : float, default 0.95
            Probability that the limits hold.
        rng : int or generator, optional
            Source of randomness, for metrics that are no proportion.

        Returns
        -------
        MetricEstimate

        Examples
        --------
        >>> from karat.metrics import f_beta
        >>> truth, called = [1] * 12 + [0] * 28, [1] * 9 + [0] * 29 + [1] * 2
        >>> r = f_beta(1).estimate(truth, called)
        >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
        (0.783, 0.52, 0.932)
        """
        from karat.metrics.estimates import estimate_metric

        return estimate_metric(
            self, y_true, y_pred, groups=groups, clusters=clusters, sample_weight=sample_weight,
            classes=classes, pos_label=pos_label, confidence=confidence, rng=rng,
        )  # fmt: skip

    @abstractmethod
    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what the metric rewards; ``classes`` names the classes."""

    @abstractmethod
    def equivalent(self, other: "MetricBase", *, tol: float = 1e-9) -> bool:
        """Whether the two metrics always rank classifiers alike."""

    @abstractmethod
    def for_classes(self, n_classes: int) -> "MetricBase":
        """Return the metric for a given number of classes, or say why there is none."""

    def _require_classes(self, n_classes: int) -> None:
        """Refuse a number of classes that the metric is not for."""
        check_count(n_classes, "n_classes", at_least=2)
        if self.n_classes in (None, n_classes):
            return
        hint = (
            f"average it over the classes with macro(...) or micro(...) of {self.title}"
            if self.form == "ratio" and self.n_classes == 2 and n_classes > 2
            else "pass a metric for that many classes, or classes= to say which classes there are"
        )
        raise MetricError(
            f"{self.title} is for {self.n_classes} classes and the confusion has {n_classes}; "
            f"{hint}"
        )

    def _class_order(
        self, y_true: Column, y_pred: Column | Frame, classes: Column | None, pos_label: Any
    ) -> AnyArray | Column | None:
        """Return the class order to count with: the positive class last."""
        if pos_label is None:
            return classes
        if self.n_classes not in (None, 2):
            refuse_option(
                pos_label,
                "pos_label",
                f"None: {self.title} is for {self.n_classes} classes, none of them positive",
            )
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

    def normalized(self) -> "MetricBase":
        """Return the canonical member of the metric's family; by default the metric itself."""
        return self

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
