"""The measures as values: what each is called, and how it reads an ordering."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.ranking.orderings import Ordering

__all__ = ["Curve", "Measure", "Reading", "Row", "no_limits"]


class Curve(NamedTuple):
    """Points to draw; limits of each by itself, NaN where there are none."""

    x: FloatArray
    y: FloatArray
    lower: FloatArray
    upper: FloatArray


class Reading(NamedTuple):
    """Value, limits and curve of one ordering."""

    value: float
    lower: float
    upper: float
    curve: Curve


class Row(NamedTuple):
    """Rows of one model, for what each adds to a measure."""

    positive: BoolArray
    score: FloatArray
    mass: FloatArray  # what a row counts, on the scale of the ordering
    ordered: Ordering


@dataclass(frozen=True, slots=True)
class Measure:
    """Base of the measures of a ranking."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The word of it."""

    @property
    def title(self) -> str:
        """What it is called with its cut."""
        return self.name

    @abstractmethod
    def value(self, ordered: Ordering) -> float:
        """Return the measure of the rows."""

    @abstractmethod
    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        """Return limits of the measure in the population."""

    @abstractmethod
    def chance(self, ordered: Ordering) -> float:
        """Return the measure of a ranking that knows nothing."""

    @abstractmethod
    def curve(self, ordered: Ordering, delta: float) -> Curve:
        """Return what the picture shows."""

    @abstractmethod
    def effects(self, rows: Row) -> FloatArray:
        """Return what each row adds to the error of the measure."""

    @abstractmethod
    def unit(self, ordered: Ordering) -> tuple[float, float]:
        """Return what one row can move at most, and how many rows the measure rests on."""

    def span(self, ordered: Ordering) -> float:
        """Return how far apart two models can be at most."""
        return 1.0

    def read(self, ordered: Ordering, delta: float) -> Reading:
        """Return value, limits and curve."""
        value = self.value(ordered)
        return Reading(value, *self.limits(ordered, delta), self.curve(ordered, delta))

    def missing(self, ordered: Ordering) -> str:
        """Return why the rows have no such measure; empty if they have one."""
        return ""

    def note(self, ordered: Ordering) -> str:
        """Return what a reader must know of this value; empty if nothing."""
        return ""


def no_limits(x: FloatArray, y: FloatArray) -> Curve:
    """Return a curve without limits."""
    return Curve(x, y, np.full(len(x), np.nan), np.full(len(x), np.nan))
