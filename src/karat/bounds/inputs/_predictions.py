"""Predicted labels, or class probabilities of a randomised classifier."""

from dataclasses import dataclass, replace

from karat._typing import BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_probabilities, check_same_length, encode_labels, is_matrix
from karat.bounds.inputs._read import Inputs

__all__ = ["Predictions", "read_predictions"]


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predicted codes (n,), or class probabilities (n, k) of a randomised classifier.

    Exactly one of the two is not None.
    """

    codes: IntArray | None
    proba: FloatArray | None = None

    def of(self, rows: BoolArray) -> "Predictions":
        """Return the predictions of the selected rows."""
        if self.proba is not None:
            return replace(self, proba=self.proba[rows])
        return replace(self, codes=None if self.codes is None else self.codes[rows])


def read_predictions(y_pred: Column | Frame, inputs: Inputs, name: str = "y_pred") -> Predictions:
    """Check predictions against the classes and the number of items; ``name`` is for messages."""
    if is_matrix(y_pred):
        proba = check_probabilities(y_pred, name, classes=inputs.given)
        check_same_length(weak_labels=inputs.votes.ids, **{name: proba})
        return Predictions(None, proba[:, inputs.keep])
    (codes,), _ = encode_labels({name: y_pred}, inputs.classes)
    check_same_length(weak_labels=inputs.votes.ids, **{name: codes})
    return Predictions(codes)
