"""Linear metrics of the coordinates of a space."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families._family import NAME, UnsignedFamily, mean_direction, unit
from karat.elicit.spaces import Space
from karat.metrics import MetricBase

__all__ = ["LinearFamily"]


class LinearFamily(UnsignedFamily):
    """``±⟨a, c⟩``: every coordinate has a gain (or a cost), of any size but of the known sign.

    ``flipped`` changes the sign of what is reported (Hiranandani 2021, Appendix A.4): the answers
    are then swapped before they reach the family, so that nothing else changes.
    """

    def __init__(self, space: Space, *, norm: int = 2, flipped: bool = False) -> None:
        self.space = space
        self.norm = norm
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        return np.asarray(self.space.sign * (unit(parameters) @ points.T))

    def weights(self, parameters: FloatArray) -> FloatArray:
        scale = np.linalg.norm(parameters, ord=self.norm, axis=-1, keepdims=True)
        return np.asarray(self.turn * parameters / scale)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        return mean_direction(parameters, shares)

    def metric(self, parameters: FloatArray) -> MetricBase:
        return self.space.linear_metric(self.weights(parameters), NAME)
