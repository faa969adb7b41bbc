"""Ratios of linear functions of the coordinates of a space."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families._family import NAME, UnsignedFamily, unit
from karat.elicit.spaces import Space
from karat.metrics import MetricBase

__all__ = ["RatioFamily"]


class RatioFamily(UnsignedFamily):
    """``N / (N + M)`` with ``N = ⟨p, c⟩`` and ``M = ⟨u, top − c⟩``, p and u at least 0.

    With ``q = p − u`` these are the linear-fractional metrics of Hiranandani 2021, Assumptions 3.2,
    4.3 and 4.4, but for the scale of u against p, which changes no preference.
    """

    def __init__(self, space: Space, *, flipped: bool = False) -> None:
        self.space = space
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return 2 * self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        parts = ("above", "below") if self.space.sign > 0 else ("error", "avoided")
        return tuple(f"{name} ({part})" for part in parts for name in self.space.names)

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        dim = self.space.dim
        return unit(parameters[..., :dim]), unit(parameters[..., dim:])

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        above = good @ points.T
        below = bad @ (self.space.top - points).T
        # 1e-300 makes 0 of 0 / 0, at the corner where both sums vanish
        return np.asarray(self.space.sign * above / (above + below + 1e-300))

    def weights(self, parameters: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        total = good.sum(axis=-1, keepdims=True)
        below = bad / bad.sum(axis=-1, keepdims=True)
        return np.concatenate([good / total, below], axis=-1)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        return np.concatenate([unit(shares @ good), unit(shares @ bad)])

    def metric(self, parameters: FloatArray) -> MetricBase:
        good, bad = self._parts(parameters)
        return self.space.ratio_metric(good, bad, NAME, turned=self.turn < 0)
