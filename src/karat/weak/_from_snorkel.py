"""Snorkel's label model as one of ours."""

from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_classes, check_probabilities, refuse_lazy
from karat.exceptions import DataError
from karat.statistics import Patterns
from karat.votes.reading import read_weak_labels
from karat.weak._label_model import LabelModel

__all__ = ["from_snorkel"]


class _SnorkelModel:
    """A fitted model with Snorkel's interface, asked once per pattern."""

    assumes_independence = True
    abstention_is_informative = True

    def __init__(self, model: Any, classes: AnyArray) -> None:
        self.model = model
        self.classes_ = classes

    def fit(self, weak_labels: Frame, **options: Any) -> Self:
        """Refuse: a model of another package is fitted there."""
        named = " and ".join(f"{name}=" for name in options)
        raise DataError(
            "from_snorkel wraps a model that was fitted by its own package"
            + (f", which takes no {named}" if named else "")
            + "; fit it there, or use DetectorLabelModel().fit(weak_labels, y_true=, class_prior=)"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(
        self, weak_labels: Frame | Patterns, *, null: str = "not asked"
    ) -> FloatArray:
        """Return P(Y | Z) of each row: shape (n, k)."""
        refuse_lazy(weak_labels=weak_labels)  # the answer has its rows
        found = read_weak_labels(weak_labels, self.classes_, null=null, by_row=True)
        return self.predict_pattern_proba(found.patterns)[found.ids]

    def predict_pattern_proba(self, patterns: IntArray) -> FloatArray:
        """Return P(Y | Z) of encoded patterns: shape (p, k)."""
        # Snorkel has one code for no vote, -1.
        codes = np.maximum(np.array(patterns, dtype=np.int64), -1)
        proba = self.model.predict_proba(codes)
        return check_probabilities(proba, "predict_proba of the model", classes=self.classes_)

    def __repr__(self) -> str:
        return f"from_snorkel({self.model!r})"


def from_snorkel(model: Any, *, classes: Column | None = None) -> LabelModel:
    """Wrap a fitted model with Snorkel's interface, so that it can be used as a label model.

    Parameters
    ----------
    model : object
        Has ``predict_proba(L)`` for an integer matrix L of classes 0..k-1, -1 where a labeler
        abstains; and ``cardinality``, the number k, unless ``classes`` is given.
    classes : column (k,), optional
        What 0..k-1 stand for; the numbers themselves by default.

    Returns
    -------
    LabelModel
        It asks the model once per distinct row. Snorkel's matrices have one sign for no vote, so
        an abstention (-1) and a vote that was not asked for (null) are both passed as -1.

    Examples
    --------
    >>> import numpy as np
    >>> class Constant:
    ...     cardinality = 2
    ...     def predict_proba(self, L):
    ...         return np.tile([0.3, 0.7], (len(L), 1))
    >>> from_snorkel(Constant(), classes=["ham", "spam"]).predict_proba([["ham", None]])
    array([[0.3, 0.7]])
    """
    if not callable(getattr(model, "predict_proba", None)):
        raise DataError(
            f"model is a {type(model).__name__} without predict_proba; pass a fitted model with "
            "Snorkel's interface, such as snorkel.labeling.model.LabelModel"
        )
    if classes is not None:
        return _SnorkelModel(model, check_classes(classes))
    k = getattr(model, "cardinality", None)
    if not isinstance(k, int | np.integer) or k < 2:
        raise DataError(
            f"model.cardinality is {k!r}; expected the number of classes. Fit the model first, or "
            "name the classes with classes="
        )
    return _SnorkelModel(model, np.arange(int(k)))
