"""A memory of the directions by which extreme points were found."""

from karat._typing import FloatArray

__all__ = ["FoundDirections"]

_MOST = 20_000  # points that are remembered, so that memory stays bounded


class FoundDirections:
    """The direction of the linear metric that each extreme point is best for.

    A direction gives the point, but in a sample the point alone does not give the direction back:
    a linear program over mixtures of classifiers is needed. So directions are kept where they are
    known.
    """

    def __init__(self) -> None:
        self._directions: dict[bytes, FloatArray] = {}

    def keep(self, points: FloatArray, directions: FloatArray) -> None:
        """Remember the directions (n, dim) of points (n, dim)."""
        if len(self._directions) < _MOST:
            self._directions.update(zip(map(_key, points), directions, strict=True))

    def of(self, point: FloatArray) -> FloatArray | None:
        """Return the direction by which a point was found; None if it was not."""
        return self._directions.get(_key(point))


def _key(point: FloatArray) -> bytes:
    # Rounded, so that the last digit does not matter; adding 0 turns a negative zero into zero.
    return (point.round(12) + 0.0).tobytes()
