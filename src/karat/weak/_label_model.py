"""What a label model is."""

from typing import Protocol, runtime_checkable

from karat._typing import AnyArray, FloatArray, Frame

__all__ = ["LabelModel"]


@runtime_checkable
class LabelModel(Protocol):
    """Anything that turns weak labels into class probabilities P(Y | Z).

    Two members are enough, so a model of one's own needs no base class. ``isinstance`` holds once
    the model is fitted, that is, once it has ``classes_``.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.

    Examples
    --------
    >>> from karat.weak import MajorityVote
    >>> model = MajorityVote()
    >>> isinstance(model, LabelModel), isinstance(model.fit([[0, 1, 1]]), LabelModel)
    (False, True)
    """

    classes_: AnyArray

    def predict_proba(self, weak_labels: Frame) -> FloatArray:
        """Return P(Y | Z) of each row: shape (n, k)."""
        ...
