"""What a metric is: a frozen function of the confusion matrix that knows its classes.

A metric has a value, a gradient, a form (linear, a ratio, ...) and JSON. `MetricBase` holds what
metrics of one population and of several groups share; `Metric` is the first kind. `Elicited`
says what a metric rests on that was found by asking people.
"""

from __future__ import annotations

import json
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from karat._callers import caller_level
from karat._result import Frozen, keeps_kind
from karat._sentences import Argument, Given, Option, Remedy, Sentence, Wording
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    align_classes,
    check_choice,
    check_classes,
    check_confusions,
    check_count,
    check_number,
    encode_labels,
    encode_names,
    is_matrix,
    named,
    order_classes,
    refuse_lazy,
    refuse_option,
    same_label,
    shown,
)
from karat.exceptions import LabelError, MetricError, UndefinedMetricWarning
from karat.statistics import Confusion
from karat.statistics import confusion as count_confusion

if TYPE_CHECKING:
    from karat.decisions import BayesClassifier
    from karat.metrics.result import MetricEstimate


SCHEMA = "karat.metric"
SCHEMA_VERSION = 2

# What a solver may rely on, with P(Y), or P(G, Y), held fixed: classifiers do not change these.
#   linear   linear in the confusion
#   ratio    a ratio of two linear functions
#   concave  smooth and concave
#   gaps     linear but for absolute differences between groups, which cost: concave
#   smooth   none of these; it has slopes
Form = Literal["linear", "ratio", "concave", "gaps", "smooth"]

_TRIED = 8  # random tables on which a swap of classes is tried


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class MetricBase(Frozen):
    """A performance metric, of one population (`Metric`) or of several groups (`GroupMetric`).

    A subclass is a frozen dataclass that gives ``kind`` (its name in JSON) and ``form`` (what
    solvers may rely on).

    Attributes
    ----------
    classes : tuple or None
        The labels that the metric's weights and confusions are about, in their order; of two, the
        positive one is the last. None for a formula such as accuracy. Labels are matched with them
        by name.
    elicited : Elicited or None
        What is known of the answers that the metric was learned from; it takes no part in equality.
    """

    classes: tuple[Any, ...] | None = field(default=None, kw_only=True)
    elicited: Elicited | None = field(default=None, kw_only=True, compare=False)
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        self._name_classes(self.classes, self.elicited)

    def _name_classes(self, classes: Any, elicited: Any = None) -> None:
        """Set, in a frozen metric, the labels that it is about and where it comes from."""
        labels = None if classes is None else tuple(check_classes(classes).tolist())
        if labels is not None and self.n_classes not in (None, len(labels)):
            raise MetricError(
                Argument("classes"),
                f" names {len(labels)} classes, {named(labels)}, and the metric is "
                f"for {self.n_classes}",
                Remedy("name each once, in the order of the weights"),
            )
        object.__setattr__(self, "classes", labels)
        object.__setattr__(self, "elicited", Elicited.read(elicited))

    def with_classes(self, classes: Column | None) -> Self:
        """Return the metric with the names of its classes.

        Parameters
        ----------
        classes : column (k,) or None
            The labels in the order of the metric's weights; of two classes the positive one last.

        Examples
        --------
        >>> from karat.metrics import recall
        >>> recall.with_classes(["healthy", "ill"]).score(["ill", "ill", "healthy"], ["ill"] * 3)
        1.0
        """
        return self._with(classes=classes)

    def _names(self, classes: Sequence[Any] | None) -> list[str]:
        """Return the names of the classes for a sentence: those passed, or the metric's own."""
        from karat.metrics.families import class_names

        return class_names(self.classes if classes is None else classes, self.n_classes or 2)

    def _with(self, **changed: Any) -> Self:
        """Return the metric with some fields changed."""
        kept = {f.name: getattr(self, f.name) for f in fields(self)}
        return type(self)._from_fields(kept | changed)

    @property
    def depends_on_order(self) -> bool:
        """Whether the value changes when classes swap names: of accuracy it does not."""
        if (k := self.n_classes) is None:
            return False
        groups = self.n_groups
        shape = (_TRIED, k, k) if groups is None else (_TRIED, groups, k, k)
        tables = np.random.default_rng(20240607).dirichlet(np.ones(int(np.prod(shape[1:]))), _TRIED)
        tables = tables.reshape(shape)
        values = self._values(tables)
        size = float(np.abs(values).max())
        for i, j in pairwise(range(k)):
            order = np.arange(k)
            order[[i, j]] = j, i
            swapped = self._values(tables[..., order, :][..., order])
            if np.abs(swapped - values).max() > 1e-12 * max(size, 1e-300):
                return True
        return False

    def _order_of(
        self,
        found: AnyArray,
        *,
        pos_label: Any = None,
        stated: bool = False,
        name: str | Sequence[str] = ("y_true", "y_pred"),
    ) -> AnyArray:
        """Return the labels of data in the order of the metric: matched by name, or refused.

        Parameters
        ----------
        found : array (k,)
            The labels that occur; in an order of the caller's if ``stated``.
        pos_label : label, optional
            The positive class.
        stated : bool
            Whether the caller put the labels in the order of the metric's classes.
        name : str or sequence of str
            The arguments that hold the labels, for messages.
        """
        if pos_label is not None and self.n_classes not in (None, 2):
            refuse_option(
                pos_label,
                "pos_label",
                Wording("None: ", elsewhere="no such choice: "),
                f"{self.title} is for {self.n_classes} classes, none of them positive",
            )
        if self.classes is not None:
            return self._aligned(found, pos_label, name)
        if not self.depends_on_order:
            return found if pos_label is None else order_classes(found, pos_label, name=name)[0]
        if self.n_classes == len(found) == 2:
            return order_classes(found, pos_label, stated=stated, name=name)[0]
        if found.dtype.kind == "U" and not stated and len(found) == self.n_classes:
            raise LabelError(
                Argument.several(name),
                f" holds {named(list(found))} and {self.title} does not say which "
                "of them its weights are about",
                Remedy(
                    "pass ",
                    Option("classes"),
                    " in the order of the weights, or "
                    f"metric.with_classes({named(found.tolist(), 4)})",
                    elsewhere=Sentence("pass ", Option("classes"), " in the order of the weights"),
                ),
            )
        return found

    def _aligned(self, found: AnyArray, pos_label: Any, name: str | Sequence[str]) -> AnyArray:
        assert self.classes is not None
        order = align_classes(self.classes, found, name, self.title)
        if pos_label is not None and not same_label(pos_label, order[-1].item()):
            raise LabelError(
                Argument("pos_label"),
                " is ",
                Given(pos_label),
                f" and the positive class of {self.title} is {shown(order[-1])}",
                Remedy(
                    "leave ",
                    Argument("pos_label"),
                    " out, or name the classes the other way round "
                    f"with metric.with_classes({[*order.tolist()[::-1]]})",
                    elsewhere=Sentence("leave ", Argument("pos_label"), " out"),
                ),
            )
        return order

    def __repr__(self) -> str:
        shown_fields = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name not in ("classes", "elicited")
        ]
        if self.classes is not None:
            shown_fields.append(f"classes={list(self.classes)!r}")
        if self.elicited is not None:
            shown_fields.append(f"elicited: {self.elicited}")
        return f"{type(self).__name__}({', '.join(shown_fields)})"

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
        y_true: Column | Confusion,
        y_pred: Column | None = None,
        *,
        groups: Column | None = None,
        clusters: Column | None = None,
        sample_weight: Column | None = None,
        weighting: str | None = None,
        classes: Column | None = None,
        pos_label: Any = None,
        confidence: float = 0.95,
        rng: int | np.random.Generator | None = None,
    ) -> MetricEstimate:
        r"""Estimate the metric from a random sample of labelled items, with limits.

        Accuracy, recall and precision are shares of items, and so is
        :math:`J = TP/(TP + FP + FN)`, with :math:`F_1 = 2J/(1 + J)`: their limits are those of
        Clopper and Pearson 1934. Any other metric G gets limits by a pseudo-count: each cell c of
        the confusion draws :math:`\gamma_c \sim Gamma(n_c)`, one cell an :math:`e \sim Gamma(1/2)`
        on top; the lower limit is the least, over the cells that e may fall into, of the lower
        quantile of :math:`G((\gamma + e 1_c)/\Sigma)`, the upper limit the greatest of the upper
        one. Where G is undefined it may be anything.

        Parameters
        ----------
        y_true : column (n,) or Confusion
            True labels of a random sample; or a confusion that was counted from one, with its
            groups if it has any. Then nothing else is said of rows.
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
        weighting : {"importance", "frequency"}, optional
            What weights are. Of importances, the default, only ratios count; a frequency is how
            many equal items a row stands for.
        classes : column (k,), optional
            The classes in the order of the metric; by default those that the metric names, or
            those found.
        pos_label : label, optional
            The positive class of a metric for two classes; see `score`.
        confidence : float, default 0.95
            Probability that the limits hold.
        rng : int or generator, optional
            Source of randomness, for metrics that are no proportion.

        Returns
        -------
        MetricEstimate

        Examples
        --------
        >>> from karat.metrics import f1
        >>> from karat.statistics import confusion
        >>> truth, called = [1] * 12 + [0] * 28, [1] * 9 + [0] * 29 + [1] * 2
        >>> r = f1.estimate(truth, called)
        >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
        (0.783, 0.52, 0.932)
        >>> f1.estimate(confusion(truth, called)) == r
        True
        """
        from karat.metrics.estimates import estimate_metric

        return estimate_metric(
            self,
            y_true,
            y_pred,
            groups=groups,
            clusters=clusters,
            sample_weight=sample_weight,
            weighting=weighting,
            classes=classes,
            pos_label=pos_label,
            confidence=confidence,
            rng=rng,
        )

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest value that the form of the metric implies."""
        return 0.0, 1.0

    @abstractmethod
    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what the metric rewards; ``classes`` names the classes."""

    @abstractmethod
    def equivalent(self, other: MetricBase, *, tol: float = 1e-9) -> bool:
        """Whether the two metrics always rank classifiers alike."""

    @abstractmethod
    def for_classes(self, n_classes: int) -> MetricBase:
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

    def _counted(
        self,
        y_true: Column,
        y_pred: Column | Frame,
        sample_weight: Column | None,
        groups: Column | None,
        classes: Column | None,
        pos_label: Any,
    ) -> Confusion:
        """Count truth against prediction in the order of the metric's classes."""
        order = self._class_order(y_true, y_pred, classes, pos_label)
        if not is_matrix(y_pred):
            return count_confusion(y_true, y_pred, sample_weight, groups, classes=order)
        # Columns of probabilities stand in the order that was passed, or sorted.
        table = count_confusion(y_true, y_pred, sample_weight, groups, classes=classes)
        return table if order is None else table.in_order(order)

    def _class_order(
        self, y_true: Column, y_pred: Column | Frame, classes: Column | None, pos_label: Any
    ) -> AnyArray | None:
        """Return the class order to count with: that of the metric, the positive class last."""
        soft = is_matrix(y_pred)
        if classes is not None:
            return self._order_of(
                check_classes(classes), pos_label=pos_label, stated=True, name="classes"
            )
        columns = {"y_true": y_true} if soft else {"y_true": y_true, "y_pred": y_pred}
        if pos_label is None and self.classes is None and not self.depends_on_order:
            return None
        _, found = encode_labels(columns)
        if soft and pos_label is not None:
            raise MetricError(
                Argument("pos_label"),
                " with class probabilities is ambiguous",
                Remedy(
                    "name the columns with ",
                    Option("classes"),
                    ", positive class last, and leave ",
                    Argument("pos_label"),
                    " out",
                ),
            )
        if len(found) < 2 and self.classes is None:
            return None  # counting says that one class is too few
        return self._order_of(found, pos_label=pos_label, name=tuple(columns))

    def normalized(self) -> MetricBase:
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


class Metric(MetricBase):
    """A performance metric: a function of the confusion for which greater is better.

    A subclass is a frozen dataclass that gives ``kind`` (its name in JSON), ``n_classes`` (None if
    it works for any number of classes), and the two functions on stacks of confusions.
    """

    __slots__ = ()

    def for_classes(self, n_classes: int) -> Metric:
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
        if isinstance(confusion, Confusion) and self.classes is not None:
            confusion = confusion.in_order(self._order_of(confusion.classes, name="the confusion"))
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
            The classes in the order of the metric; by default those that the metric names, or
            those found.
        pos_label : label, optional
            The positive class of a metric for two classes. By default the last class that the
            metric names, else the one that the labels tell: 1 of 0 and 1, True, or a word such as
            "yes", "spam" or "fraud". Where nothing tells it, a metric that needs it is refused.
        """
        return self(self._counted(y_true, y_pred, sample_weight, groups, classes, pos_label))

    def as_scorer(self, *, classes: Column | None = None, pos_label: Any = None) -> MetricScorer:
        """Return a scikit-learn scorer for `cross_val_score`, `GridSearchCV` and the like.

        Parameters
        ----------
        classes : column (k,), optional
            The classes in the order of the metric; by default those that the metric names, or
            those of the fitted estimator.
        pos_label : label, optional
            The positive class of a metric for two classes; by default told by the labels.

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

    def bayes_classifier(self, classes: Column | None = None) -> BayesClassifier:
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


# --- Whether two metrics are the same up to positive scale and shift.

_POPULATIONS = 4  # the scale may depend on the prior, so one population is not enough
_POINTS = 40  # confusions on each, more than a named metric has coefficients for a few classes


def affinely_related(
    first: Callable[[FloatArray], FloatArray],
    second: Callable[[FloatArray], FloatArray],
    n_classes: int,
    tol: float,
) -> bool:
    """Whether, on every population, ``second = scale·first + shift`` with a positive scale.

    Decided by evaluation: two rational functions that agree at random points are the same
    function with probability one, so a few dozen confusions on a few populations tell. The points
    are fixed, so the answer is too.
    """
    rng = np.random.default_rng(20240607)
    for _ in range(_POPULATIONS):
        prior = rng.dirichlet(np.full(n_classes, 2.0))
        rates = rng.dirichlet(np.ones(n_classes), size=(_POINTS, n_classes))
        confusions = prior[:, None] * rates
        if not _affine(first(confusions), second(confusions), tol):
            return False
    return True


def _affine(x: FloatArray, y: FloatArray, tol: float) -> bool:
    x, x_constant = _standardised(x)
    y, y_constant = _standardised(y)
    if x_constant or y_constant:
        return x_constant and y_constant  # a constant is like another constant only
    scale = float(x @ y) / float(x @ x)
    # Standardising loses digits where a metric hardly varies against its own size.
    return scale > 0 and float(np.abs(y - scale * x).max()) <= max(tol, 1e-9)


def _standardised(values: FloatArray) -> tuple[FloatArray, bool]:
    """Return values centred and of size 1, and whether they are constant up to rounding."""
    size = float(np.abs(values).max())
    centred = values - values.mean()
    spread = float(np.abs(centred).max())
    if spread <= 1e-13 * size or spread == 0:
        return centred, True
    return centred / spread, False


class MetricScorer:
    """Scores an estimator's predictions with a metric; made by ``metric.as_scorer()``.

    The classes are those the estimator was fitted with, so a fold that lacks some of them is
    scored like any other.
    """

    def __init__(self, metric: Metric, classes: Column | None, pos_label: Any) -> None:
        self.metric = metric
        self.classes = classes
        self.pos_label = pos_label
        self._weight_request: bool | str | None = None

    def __call__(
        self, estimator: Any, X: Any, y_true: Column, sample_weight: Column | None = None
    ) -> float:
        """Return the metric of ``estimator.predict(X)``; greater is better."""
        refuse_lazy(X=X)  # an estimator may be able to read it, in an order of its own
        predicted = estimator.predict(X)
        value = self.metric.score(
            y_true,
            predicted,
            sample_weight=sample_weight,
            classes=self._order(estimator, y_true, predicted),
            pos_label=self.pos_label,
        )
        return float(value)

    def _order(self, estimator: Any, y_true: Column, predicted: Column) -> AnyArray | Column | None:
        known = getattr(estimator, "classes_", None)
        if self.classes is not None or known is None or len(known) < 2:
            return self.classes
        _, found = encode_labels({"y_true": y_true, "y_pred": predicted})
        _, order = encode_names([*np.asarray(known).tolist(), *found.tolist()], "the labels")
        # An estimator sorts its classes, which says nothing of the positive one.
        return self.metric._order_of(order, pos_label=self.pos_label, name="the labels")

    def __repr__(self) -> str:
        return f"<scorer of {self.metric.title}>"

    def set_score_request(self, *, sample_weight: bool | str | None) -> MetricScorer:
        """Say whether sample weights are routed to this scorer (scikit-learn's routing)."""
        other = copy(self)
        other._weight_request = sample_weight
        return other

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn should route to this scorer."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._weight_request)
        return request


def warn_undefined(name: str, undefined: BoolArray, convention: str) -> None:
    """Warn that a value is a convention; call only where ``undefined`` has a true entry."""
    warnings.warn(
        UndefinedMetricWarning(
            Argument.of(name),
            f" is undefined on {int(undefined.sum())} of {undefined.size} "
            f"confusions (a denominator is 0); {convention}",
        ),
        stacklevel=caller_level(),
    )


_STATUS = ("certified", "undecided", "flagged")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Elicited(Frozen):
    """What is known of the answers that a metric rests on.

    Attributes
    ----------
    status : {"certified", "undecided", "flagged"}
        Whether the answers settle the metric; those of a flagged one speak against any metric of
        its family.
    n_queries : int
        Number of questions answered.
    agreement : float or None
        Predicted share of random pairs on which the metric and the person agree.
    limits : tuple of mappings
        ``name``, ``value``, ``lower`` and ``upper`` of each trade-off; None where there is no
        limit.
    who, when : str or None
        Whose answers they are, and the date of the last one.
    procedure : str or None
        How the questions were chosen.
    """

    status: str
    n_queries: int
    agreement: float | None = None
    limits: tuple[Any, ...] = ()
    who: str | None = None
    when: str | None = None
    procedure: str | None = None

    def __post_init__(self) -> None:
        check_choice(self.status, "status", _STATUS)
        check_count(self.n_queries, "n_queries", at_least=0)

    @classmethod
    def read(cls, data: Any) -> Elicited | None:
        """Build it from what `to_dict` gave."""
        if data is None or isinstance(data, cls):
            return data
        known = {field.name for field in fields(cls)}
        if (
            not isinstance(data, Mapping)
            or data.get("status") not in _STATUS
            or not isinstance(data.get("n_queries"), int)
        ):
            raise MetricError(
                f"elicited is {data!r}; expected its status ({', '.join(_STATUS)}) and n_queries, "
                "as metric.to_json() writes them"
            )
        kept = {name: value for name, value in data.items() if name in known}
        return cls(**(kept | {"limits": tuple(kept.get("limits") or ())}))

    def __str__(self) -> str:
        """Say it in a few words."""
        who = "" if self.who is None else f" by {self.who}"
        when = "" if self.when is None else f" on {self.when}"
        return f"{self.status}, {self.n_queries} answers{who}{when}"
