"""Labels by stratum and outcome, and the metric of all items that they imply."""

from dataclasses import dataclass

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.audit.design import Calls, Strata

__all__ = ["Evidence", "estimate_of"]


@dataclass(frozen=True)
class Evidence:
    """What was labelled, in the order in which it was asked for.

    ``stratum`` and ``outcome`` are those of each label, ``chance`` (labels, strata) the
    probabilities with which strata were drawn then (None: not drawn step by step), ``weight`` one
    over the probability of each label where these differ within strata; ``predicted`` (strata,
    outcomes) are the shares that the guesses imply, and ``informed`` says that there are guesses.
    """

    calls: Calls
    strata: Strata
    stratum: IntArray
    outcome: IntArray
    chance: FloatArray | None
    weight: FloatArray | None
    predicted: FloatArray
    informed: bool

    @property
    def counts(self) -> FloatArray:
        """Labels (strata, outcomes); weighted ones as Kish's number in their stratum."""
        shape = (self.strata.n, self.calls.n_outcomes)
        cell = self.stratum * shape[1] + self.outcome
        size = shape[0] * shape[1]
        if self.weight is None:
            return np.bincount(cell, minlength=size).reshape(shape).astype(np.float64)
        total = np.bincount(cell, self.weight, size).reshape(shape)
        sums = np.bincount(self.stratum, self.weight, shape[0])
        squares = np.bincount(self.stratum, self.weight**2, shape[0])
        number = np.divide(sums, squares, out=np.zeros(shape[0]), where=squares > 0)
        return np.asarray(total * number[:, None])

    @property
    def possible(self) -> BoolArray:
        """Outcomes that a label of each stratum can have (strata, outcomes)."""
        can = np.zeros((self.strata.n, self.calls.n_outcomes), dtype=bool)
        calls = self.calls
        for stratum, call in enumerate(self.strata.call):
            # With outcomes of its own a stratum holds all open calls, or those of its group.
            own = np.array([call])
            if calls.worth is not None:
                own = np.flatnonzero(calls.open)
                own = own if calls.group is None else own[calls.group[own] == call]
            can[stratum, calls.outcome[own].ravel()] = True
        return can

    def rows(self, group: int | None) -> IntArray:
        """Return the strata of a group."""
        if group is None or self.calls.group is None:
            return np.arange(self.strata.n)
        merged = self.calls.worth is not None
        own = self.strata.call if merged else self.calls.group[self.strata.call]
        return np.flatnonzero(own == group)

    def values(self, totals: FloatArray, rows: IntArray, group: int | None) -> FloatArray:
        """Return the metric of numbers of items (b, strata in ``rows``, outcomes)."""
        if self.calls.worth is not None:
            n, known = self.closed(group)
            return np.asarray(((totals @ self.calls.worth).sum(axis=1) + known) / n)
        by_call = np.zeros((len(totals), len(self.calls.first), totals.shape[2]))
        for at, stratum in enumerate(rows):
            by_call[:, self.strata.call[stratum]] += totals[:, at]
        return self.calls.values(by_call)

    def shares(self, counts: FloatArray, rows: IntArray) -> FloatArray:
        """Return the shares of outcomes (…, strata in ``rows``, outcomes) that the labels imply.

        A stratum without labels is as the guesses say. Without guesses its predictions are taken
        to be right as often as those of the other strata, and errors are spread over the classes.
        """
        number = counts.sum(axis=-1, keepdims=True)
        assumed = np.broadcast_to(self.predicted[rows], counts.shape)
        if not self.informed and self.calls.worth is None and self.calls.second is None:
            called = self.calls.first[self.strata.call[rows]]
            size = self.strata.size[rows] * (number[..., 0] > 0)
            at = np.arange(len(rows))
            right = counts[..., at, called] / np.maximum(number[..., 0], 1e-12)
            known = size.sum(axis=-1)
            rate = (size * right).sum(axis=-1) / np.maximum(known, 1e-12)
            one = np.eye(counts.shape[-1])[called]
            others = (1 - one) / (counts.shape[-1] - 1)
            like = rate[..., None, None] * one + (1 - rate[..., None, None]) * others
            assumed = np.where((known > 0)[..., None, None], like, assumed)
        return np.asarray(np.where(number > 0, counts / np.maximum(number, 1e-12), assumed))

    def closed(self, group: int | None = None) -> tuple[float, float]:
        """Return the number of all items, and what those that need no label add in all."""
        assert self.calls.worth is not None
        number = self.calls.number
        if group is not None and self.calls.group is not None:
            number = number * (self.calls.group == group)
        shut = ~self.calls.open
        added = self.calls.worth[self.calls.outcome[:, 0]] * shut
        return float(number.sum()), float(number @ added)


def estimate_of(evidence: Evidence, counts: FloatArray, group: int | None = None) -> float:
    """Return the metric if the other items of a stratum are like its labels; NaN without any."""
    rows = evidence.rows(group)
    own, size = counts[rows], evidence.strata.size[rows]
    if len(rows) and own.sum() == 0:
        return float("nan")
    share = evidence.shares(own, rows)
    return float(evidence.values((share * size[:, None])[None], rows, group)[0])
