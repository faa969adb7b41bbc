"""The search on the faces of a diagonal space, where only two classes are predicted."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.search._brackets import Brackets, Steps
from karat.elicit.search._unimodal import unimodal
from karat.elicit.spaces import DiagonalSpace
from karat.elicit.transcript import Query

__all__ = ["face_searches"]


def face_searches(space: DiagonalSpace, brackets: Brackets, tol: float, *, start: int = 0) -> Steps:
    """Search the best point of each face (first class, i), as Algorithm 4.1 does.

    ``start`` chooses the brackets; with ``start`` above 0 the lower boundary is searched
    (Algorithm 4.3), whose points are those of the negative weights.
    """
    for i in range(1, space.dim):

        def table(m: float, i: int = i) -> FloatArray:
            ratio = (1.0 - m) / m if m > 0 else np.inf
            confusion = space.face_confusion(0, i, space.face(0, i).at_threshold(ratio))
            if start == 0:
                return confusion
            swapped_classes = confusion.copy()  # the lower boundary predicts the other class
            swapped_classes[:, [0, i]] = confusion[:, [i, 0]]
            return swapped_classes

        def query(s: float, t: float, i: int = i) -> Query:
            return Query(table(s, i), table(t, i))

        yield from unimodal(brackets, start + i - 1, tol, query)
