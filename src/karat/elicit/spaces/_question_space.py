"""What a space must offer for questions to be asked in it."""

from typing import Protocol

import numpy as np

from karat._typing import FloatArray

__all__ = ["QuestionSpace"]


class QuestionSpace(Protocol):
    """Confusions that may be asked about, of groups perhaps, and the coordinates of each."""

    @property
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""

    @property
    def guess(self) -> FloatArray:
        """The confusion of guessing each class with equal probability."""

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the coordinates (..., dim) of confusions."""

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions of classifiers that are best for random linear metrics."""
