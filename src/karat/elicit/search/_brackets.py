"""What answers leave open of each parameter: an interval."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np

from karat._typing import FloatArray
from karat.elicit.transcript import Query

__all__ = ["Brackets", "Steps"]

# A search: it yields queries, is sent answers, and narrows brackets on the way.
Steps = Generator[Query, str, None]


@dataclass(slots=True)
class Brackets:
    """What is known of each parameter so far: it lies between low and high.

    ``answered[i, 0]`` is 1 where an answer set the lower end, ``answered[i, 1]`` where one set the
    upper end, and 0 elsewhere. A parameter may lie beyond an end that no answer set, up to
    ``limits``: no question distinguishes it from the end.
    """

    low: FloatArray
    high: FloatArray
    answered: FloatArray
    limits: tuple[float | FloatArray, float | FloatArray]
    reference: int = 0  # the class or coordinate that ratios are against, where they are
    # of the slope at each site: the signs of its entries; all 0 where the metric is flat
    signs: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    # of each site where the slope lies in a known plane: an orthonormal basis of the plane
    bases: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls, low: float, high: float, n: int, limits: tuple[float, float] = (0.0, np.pi / 2)
    ) -> "Brackets":
        return cls(np.full(n, float(low)), np.full(n, float(high)), np.zeros((n, 2)), limits)

    @property
    def open_low(self) -> FloatArray:
        return np.asarray(np.where(self.answered[:, 0] > 0, self.low, self.limits[0]))

    @property
    def open_high(self) -> FloatArray:
        return np.asarray(np.where(self.answered[:, 1] > 0, self.high, self.limits[1]))

    def extended(self, low: float, high: float) -> "Brackets":
        """Return the brackets with one more at the end."""
        ends = (np.append(self.limits[0], low), np.append(self.limits[1], high))
        return replace(
            self,
            low=np.append(self.low, low),
            high=np.append(self.high, high),
            answered=np.vstack([self.answered.reshape(-1, 2), np.zeros(2)]),
            limits=ends,
        )

    def copy(self) -> "Brackets":
        """Return what is known now; a search goes on to change the original in place."""
        return replace(
            self,
            low=self.low.copy(),
            high=self.high.copy(),
            answered=self.answered.copy(),
            signs=self.signs.copy(),
            bases=dict(self.bases),
        )

    def reopen(self, i: int, low: float, high: float) -> None:
        """Start the search of a parameter again."""
        self.low[i], self.high[i], self.answered[i] = low, high, 0.0

    @property
    def middle(self) -> FloatArray:
        return np.asarray((self.low + self.high) / 2)

    def estimate(self, near: float) -> FloatArray:
        """Return the middle of each bracket.

        An end that no answer set is taken at its limit, where that is no farther than ``near``.
        """
        low = np.where(self.low - self.open_low <= near, self.open_low, self.low)
        high = np.where(self.open_high - self.high <= near, self.open_high, self.high)
        return np.asarray((low + high) / 2)

    def width(self, i: int) -> float:
        return float(self.high[i] - self.low[i])

    def raise_low(self, i: int, value: float) -> None:
        self.low[i], self.answered[i, 0] = value, 1.0

    def cut_high(self, i: int, value: float) -> None:
        self.high[i], self.answered[i, 1] = value, 1.0
