"""Strata of items, pure in their predictions, among which labels are shared out."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.audit.design._calls import Calls
from karat.audit.design._influence import influence

__all__ = ["Strata", "bounded_guess", "plan_audit", "shares_of"]

_PIECES = 6
_EVEN = 0.1  # share of the labels that goes to all items alike
_FLOOR = 0.003  # no class is less probable than that, whatever a model says


class Strata(NamedTuple):
    """The stratum of each item (-1: needs no label), and what is known of each stratum.

    ``member`` are the items in the order of the strata, ``start`` where each stratum begins;
    ``score`` the least and greatest guess of the last class (or of being right) in it.
    """

    of: IntArray
    call: IntArray
    size: FloatArray
    share: FloatArray
    member: IntArray
    start: IntArray
    score: FloatArray

    @property
    def n(self) -> int:
        """Number of strata."""
        return len(self.call)


def bounded_guess(guess: FloatArray) -> FloatArray:
    """Return guesses in which no class is impossible."""
    p = np.clip(guess, _FLOOR, 1 - _FLOOR)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _need(calls: Calls, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how much a label of each item is expected to tell, and its expected influence."""
    p = bounded_guess(guess)
    totals: FloatArray = np.stack(
        [np.bincount(calls.code, p[:, y], len(calls.first)) for y in range(p.shape[1])],
        axis=1,
        dtype=np.float64,
    )
    groups = [None] if calls.group is None else [None, *np.unique(calls.group).tolist()]
    need, score = np.zeros(len(p)), np.zeros(len(p))
    linear = calls.metric.form == "linear" and calls.parts() is not None
    for group in groups:
        added = influence(calls, totals, group)
        # One column of weights at a time: no table of items and classes is built.
        mean, square = np.zeros(len(p)), np.zeros(len(p))
        for y in range(p.shape[1]):
            own = added[:, y][calls.code]
            mean += p[:, y] * own
            square += p[:, y] * own**2
        # What varies within a stratum counts. For a ratio its mean is uncertain too.
        own_need = np.sqrt(np.maximum(square - mean**2 if linear else square, 0.0))
        need += own_need / max(own_need.sum(), 1e-300)
        score += mean
    open_calls = calls.open[calls.code]
    need = need * open_calls
    total = need.sum()
    even = open_calls / max(open_calls.sum(), 1)
    mass = (1 - _EVEN) * need / total + _EVEN * even if total > 0 else even
    return np.asarray(mass), score


def plan_audit(calls: Calls, guess: FloatArray, *, informed: bool) -> Strata:
    """Cut the items into strata of equal sums of what a label tells.

    Not ``informed``, where the guess is the same for all items of a call, every call is a stratum.
    """
    mass, score = _need(calls, guess)
    merged = calls.worth is not None
    code = calls.code
    if merged:  # by group alone: an outcome says already who is right
        code = np.zeros(len(mass), np.int64) if calls.group is None else calls.group[calls.code]
    wanted = np.flatnonzero(calls.open[calls.code])
    of = np.full(len(mass), -1, dtype=np.int64)
    call: list[int] = []
    share: list[float] = []
    scores: list[tuple[float, float]] = []
    kinds = np.unique(code[wanted])
    shown = guess[:, -1]
    for kind in kinds:
        at = wanted[code[wanted] == kind]
        total = float(mass[at].sum())
        pieces = max(1, round(_PIECES * total)) if informed and not merged else 1
        if pieces > 1:
            at = at[np.argsort(score[at], kind="stable")]
        cut = np.minimum((np.cumsum(mass[at]) / total * pieces).astype(int), pieces - 1)
        for piece in np.unique(cut):
            own = at[cut == piece]
            of[own] = len(call)
            call.append(int(kind))
            share.append(float(mass[own].sum()))
            scores.append((float(shown[own].min()), float(shown[own].max())))
    member = np.argsort(of, kind="stable")[np.sum(of < 0) :]
    size = np.bincount(of[of >= 0], minlength=len(call)).astype(np.float64)
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    weights = np.array(share)
    return Strata(of, np.array(call, np.int64), size, weights / weights.sum(), member, start,
                  np.array(scores).reshape(-1, 2))  # fmt: skip


def shares_of(calls: Calls, guess: FloatArray, strata: Strata) -> FloatArray:
    """Return the share of the labels of each stratum by other guesses."""
    mass, _ = _need(calls, guess)
    total = np.bincount(strata.of[strata.of >= 0], mass[strata.of >= 0], strata.n)
    return np.asarray(total / total.sum())
