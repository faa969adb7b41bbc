"""What metrics of one population and metrics of several groups have in common."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from karat._frozen import Frozen
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import binary_order, check_classes, check_count, encode_labels, is_matrix
from karat.exceptions import MetricError

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
