"""The classifiers that questions are made of: drawn once for a space, the same for everyone."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.elicit.counts import as_cases
from karat.elicit.spaces import QuestionSpace
from karat.exceptions import ElicitationError

__all__ = ["WORST_RATE", "Pool", "cached", "class_errors", "draw_pool"]

WORST_RATE = 0.5  # by default nobody is shown a classifier that is wrong on more of a class
_FEW = 20  # different classifiers, below which there is little to ask about
_MOST_ROUNDS = 40  # draws of a whole pool, until enough classifiers are fit to be shown
_KEPT_POOLS = 32
_kept: OrderedDict[Any, Any] = OrderedDict()
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Pool:
    """Confusions of classifiers, their coordinates, and how many cases each is displayed as."""

    confusions: FloatArray
    points: FloatArray
    cases: FloatArray | None = None  # (n, cells) before they are rounded; None: shares are shown

    def alike(self, left: IntArray, right: IntArray) -> BoolArray:
        """Whether rounding may display both sides of pairs by the same numbers.

        A number of cases is displayed as the whole number below or above it, so sides are told
        apart for sure where these whole numbers do not meet in some cell. Nothing is rounded.
        """
        if self.cases is None:
            return np.asarray(left == right)
        below, above = np.floor(self.cases), np.ceil(self.cases)
        apart = (above[left] < below[right]) | (above[right] < below[left])
        return np.asarray(~apart.any(axis=1))

    def holds(self, confusion: FloatArray) -> bool:
        """Whether a confusion is one of the pool's, but for rounding."""
        apart = np.abs(self.confusions - confusion).reshape(len(self.confusions), -1)
        return bool(apart.max(axis=1).min() < 1e-9)


def cached(key: Any, make: Callable[[], Made]) -> Made:
    """Return what was made for a key before, or make it: the latest few are kept."""
    made: Made = _kept.pop(key) if key in _kept else make()
    _kept[key] = made  # the latest comes last
    if len(_kept) > _KEPT_POOLS:
        _kept.popitem(last=False)
    return made


def class_errors(confusions: FloatArray) -> FloatArray:
    """Return the share of each true class that is predicted wrongly, (..., k)."""
    total = confusions.sum(axis=-1)
    right = np.einsum("...ii->...i", confusions)
    return np.asarray(1.0 - right / np.where(total > 0, total, 1.0))


def draw_pool(
    space: QuestionSpace, n: int, *, inside: bool, worst_rate: float, out_of: int | None
) -> Pool:
    """Draw n classifiers that are wrong on at most ``worst_rate`` of each class.

    With ``inside``, half are mixed with guessing: ratios and curves are bent inside the feasible
    set, which pairs of extreme points do not show.
    """
    rng = np.random.default_rng(0)  # the same for everyone who is asked about the space
    rounds, worst, fit = [], [], 0
    for _ in range(_MOST_ROUNDS):
        tables = space.sample(n, rng=rng)
        tables = _mixed(tables, space.guess, rng) if inside else tables
        rounds.append(tables)
        worst.append(class_errors(tables).reshape(len(tables), -1).max(axis=1))
        fit += int((worst[-1] <= worst_rate + 1e-12).sum())
        if fit >= n:
            break
    every, errors = np.concatenate(rounds), np.concatenate(worst)
    tables = _distinct(every[errors <= worst_rate + 1e-12])[:n]
    if worst_rate == WORST_RATE and len(tables) < _FEW:
        # The default gives way where hardly any classifier is that good in every class, which is
        # common with three classes or more: to the better tenth of them, or to all.
        tables = _distinct(every[errors <= np.quantile(errors, 0.1) + 1e-12])[:n]
        tables = _distinct(every)[:n] if len(tables) < _FEW else tables
    if len(tables) < 2:
        least = float(errors.min())
        enough = min(1.0, np.ceil(20 * least + 1) / 20)
        raise ElicitationError(
            f"worst_rate is {worst_rate:g} and {'no' if not len(tables) else 'only one'} "
            "classifier of this space is wrong on so little of every class (the best one found: "
            f"{least:.3f}); pass worst_rate={enough:g} or more"
        )
    cases = None if out_of is None else _displayed(tables, out_of)
    return Pool(tables, space.coordinates(tables), cases)


def _distinct(tables: FloatArray) -> FloatArray:
    _, distinct = np.unique(np.round(tables, 9), axis=0, return_index=True)
    return np.asarray(tables[np.sort(distinct)])


def _mixed(tables: FloatArray, guess: FloatArray, rng: np.random.Generator) -> FloatArray:
    share = np.where(np.arange(len(tables)) % 2, rng.random(len(tables)), 0.0)
    share = share.reshape(-1, *[1] * (tables.ndim - 1))
    return np.asarray((1 - share) * tables + share * guess)


def _displayed(tables: FloatArray, out_of: int) -> FloatArray:
    """Return confusions as cases out of ``out_of``, in one row each; refuse if all look alike."""
    cases = as_cases(tables, out_of).reshape(len(tables), -1)
    if (np.floor(cases).max(axis=0) <= np.ceil(cases).min(axis=0)).all():
        raise ElicitationError(
            f"out_of is {out_of} and all classifiers look alike in so few cases; pass a greater "
            "out_of, such as 1000"
        )
    return cases
