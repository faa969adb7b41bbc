"""Who is closer to the other people, the judge or the person left out."""

from dataclasses import dataclass

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["Comparison", "compare"]

_SAME = 1e-9  # distances that differ by less, relative to the larger, are equal


@dataclass(frozen=True, slots=True)
class Comparison:
    """One person against the judge, item by item."""

    items: IntArray
    judge: BoolArray  # the judge is at least as close to the others as the person
    person: BoolArray  # the person is at least as close to the others as the judge

    @property
    def plus(self) -> int:
        """Items on which the person is closer."""
        return int((~self.judge).sum())

    @property
    def minus(self) -> int:
        """Items on which the judge is closer."""
        return int((~self.person).sum())


def compare(judge: FloatArray, people: FloatArray, *, numeric: bool) -> list[Comparison]:
    """Compare the judge with each person: items × people of answers, NaN where there is none.

    With ``numeric`` the distance to the others is the root of the mean squared difference, else
    the share of them that answered otherwise.
    """
    there = ~np.isnan(people)
    usable = ~np.isnan(judge) & (there.sum(axis=1) >= 2)
    found = []
    for j in range(people.shape[1]):
        rows = np.flatnonzero(usable & there[:, j])
        others = np.delete(people[rows], j, axis=1)
        by_judge = _distance(judge[rows], others, numeric)
        by_person = _distance(people[rows, j], others, numeric)
        close = _SAME * np.maximum(by_judge, by_person)
        off = by_judge - by_person
        found.append(Comparison(rows, off <= close, off >= -close))
    return found


def _distance(answer: FloatArray, others: FloatArray, numeric: bool) -> FloatArray:
    """Return the summed distance to the others; they are as many for judge and person."""
    if numeric:
        return np.asarray(np.nansum((others - answer[:, None]) ** 2, axis=1))
    apart = ~np.isnan(others) & (others != answer[:, None])
    return np.asarray(apart.sum(axis=1), dtype=np.float64)
