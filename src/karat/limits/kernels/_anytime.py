r"""Limits that hold at every look: a mixture of bets against every wrong value.

Each step brings a number X(g) for every value g on a grid, whose mean, given all that came before,
is 0 at the true g. A gambler multiplies a capital by :math:`1 + \lambda X(g)`; at the true g it
ever reaches 1/α with a probability of at most α (Ville 1939). Eight gamblers share the capital at
first: four that bet on a greater value and four on a smaller one, of different courage.
"""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray

__all__ = [
    "Steps",
    "anytime_path",
    "holding",
    "labels_until",
    "mean_steps",
    "ratio_steps",
    "value_grid",
]

_COURAGE = np.array([0.35, 0.7, 1.4, 2.8])
_HORIZON = 200  # labels that the bets are made for
_MOST = 0.75  # share of a capital that one bet may lose
_POINTS = 1001
_AHEAD = 1.03  # factor by which the number of labels grows from one look ahead to the next


class Steps(NamedTuple):
    """What each step says: X(g) = top − g·bottom, and what it could have said.

    ``case_top`` and ``case_bottom`` (t, c) are the cases that could come, between which X(g) lies;
    ``spread`` (t,) is the variance of X that was expected before the step.
    """

    top: FloatArray
    bottom: FloatArray
    case_top: FloatArray
    case_bottom: FloatArray
    spread: FloatArray


def value_grid(span: tuple[float, float]) -> FloatArray:
    """Return the values that are tried, closest together near the ends of the span."""
    low, high = span
    return np.asarray(low + (high - low) * np.sin(np.linspace(0, np.pi / 2, _POINTS)) ** 2)


def anytime_path(
    steps: Steps,
    grid: FloatArray,
    *,
    delta: float,
    possible: FloatArray | None = None,
    most_lost: float = _MOST,
) -> tuple[FloatArray, FloatArray]:
    """Return the limits after each step, ``delta`` the error of both together.

    ``possible`` (t, 2) are limits that are certain after each step, from counts of what is left.
    Limits never widen, and lie on the grid, beyond the values that are left. ``most_lost`` is the
    share of a capital that one bet may lose.
    """
    logs = np.zeros((2 * len(_COURAGE), len(grid)))
    alive = np.ones(len(grid), dtype=bool)
    bar = np.log(len(logs) / delta)
    lower, upper = np.empty(len(steps.top)), np.empty(len(steps.top))
    low, high = grid[0], grid[-1]
    usual = np.sqrt(2 * np.log(2 / delta) / (_HORIZON * np.maximum(steps.spread, 1e-12)))
    for t in range(len(steps.top)):
        x = steps.top[t] - grid * steps.bottom[t]
        cases = steps.case_top[t][:, None] - grid * steps.case_bottom[t][:, None]
        least, most = np.minimum(cases.min(axis=0), x), np.maximum(cases.max(axis=0), x)
        bet = _COURAGE[:, None] * usual[t]
        half = len(_COURAGE)
        logs[:half] += np.log1p(np.minimum(bet, most_lost / np.maximum(-least, 1e-12)) * x)
        logs[half:] += np.log1p(-np.minimum(bet, most_lost / np.maximum(most, 1e-12)) * x)
        peak = logs.max(axis=0)
        alive &= peak + np.log(np.exp(logs - peak).sum(axis=0)) < bar
        at = np.flatnonzero(alive)
        if len(at):
            low = max(low, float(grid[max(at[0] - 1, 0)]))
            high = min(high, float(grid[min(at[-1] + 1, len(grid) - 1)]))
        if possible is not None:
            low, high = (
                float(np.clip(low, *possible[t])),
                float(np.clip(high, *possible[t])),
            )
        lower[t], upper[t] = low, high
    return lower, upper


def holding(
    estimates: FloatArray | float, lower: FloatArray | float, upper: FloatArray | float
) -> tuple[Any, Any]:
    """Return limits that reach to their estimates, where there are any: wider ones hold as well."""
    return np.fmin(lower, estimates), np.fmax(upper, estimates)


def labels_until(
    steps: Steps,
    value: float,
    *,
    delta: float,
    most: float,
    most_lost: float = _MOST,
) -> float:
    """Return about how many more steps like those so far reject a value; infinite above ``most``.

    The capital of every gambler against the value goes on from what it is, and grows at each step
    by what the steps so far would add to its logarithm on average with the bets made then.
    """
    n = len(steps.top)
    x = steps.top - value * steps.bottom
    cases = steps.case_top - value * steps.case_bottom
    risks = (
        np.maximum(-np.minimum(cases.min(axis=1), x), 1e-12),
        np.maximum(np.maximum(cases.max(axis=1), x), 1e-12),
    )
    scale = np.sqrt(2 * np.log(2 / delta) / _HORIZON)

    def growth(spread: FloatArray) -> FloatArray:
        bet = _COURAGE[:, None] * (scale / np.sqrt(np.maximum(spread, 1e-12)))
        ends = [np.log1p(sign * np.minimum(bet, most_lost / risk) * x)
                for sign, risk in ((1, risks[0]), (-1, risks[1]))]  # fmt: skip
        return np.concatenate(ends)

    logs = growth(steps.spread).sum(axis=1)
    bar = np.log(2 * len(_COURAGE) / delta)
    center = float(steps.top.sum() / steps.bottom.sum()) if steps.bottom.sum() > 0 else value
    own = float(np.mean((steps.top - center * steps.bottom) ** 2))
    extra = max(float(steps.spread[-1]) - own, 0.0) * n  # what was added to few labels wears off
    ahead = 0.0
    while ahead <= most:
        peak = float(logs.max())
        if peak + np.log(np.exp(logs - peak).sum()) >= bar:
            return ahead
        more = max(1.0, np.floor((_AHEAD - 1) * (n + ahead)))
        rate = growth(np.full(n, own + extra / (n + ahead + more))).mean(axis=1)
        logs, ahead = logs + more * rate, ahead + more
    return float("inf")


def mean_steps(
    values: FloatArray, span: tuple[float, float], population: float | None
) -> tuple[Steps, FloatArray | None]:
    """Return the steps of a mean, and, of finitely many items, what stays possible.

    Drawn without replacement from N items, the next value has the mean of the items that are left,
    (N·m − S)/(N − t + 1); X is the distance from it times their share.
    """
    n, width = len(values), span[1] - span[0]
    t = np.arange(1, n + 1)
    total = np.cumsum(values)
    # Values are at most half a span from their mean; one such value is added.
    center = (total + (span[0] + span[1]) / 2) / (t + 1)
    squares = _before((values - center) ** 2)
    spread = np.maximum((squares + (width / 2) ** 2) / t, 1e-3 * width**2)
    one, ends = np.ones((n, 2)), np.broadcast_to(np.array(span), (n, 2))
    if population is None:
        return Steps(values, one[:, 0], ends, one, spread), None
    left = (population - t + 1) / population
    known = _before(values) / population
    possible = (total[:, None] + (population - t)[:, None] * ends) / population
    cases = known[:, None] + left[:, None] * ends
    return Steps(known + left * values, one[:, 0], cases, one, spread * left**2), possible


def ratio_steps(
    top: FloatArray, bottom: FloatArray, weight: FloatArray, kinds: FloatArray, heaviest: float
) -> Steps:
    """Return the steps of a ratio of means: X(g) = w·(top − g·bottom).

    ``kinds`` (c, 2) are what an item can add to both, and ``heaviest`` the greatest weight.
    """
    n = len(top)
    t = np.arange(1, n + 1)
    sums = [_before(weight * part) for part in (top, bottom)]
    # Before anything is seen the ratio is taken to be a half, from one item that counts.
    guess = (sums[0] + 0.5 * kinds[:, 1].max()) / (sums[1] + kinds[:, 1].max())
    apart = (weight * (top - guess * bottom)) ** 2
    spread = (_before(apart) + 0.25 * float(np.mean(weight[:1])) ** 2) / t
    cases = np.concatenate([heaviest * kinds, np.zeros((1, 2))])
    return Steps(
        weight * top,
        weight * bottom,
        np.broadcast_to(cases[:, 0], (n, len(cases))),
        np.broadcast_to(cases[:, 1], (n, len(cases))),
        spread,
    )


def _before(values: FloatArray) -> FloatArray:
    """Return, for each step, the sum of the values of earlier steps."""
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])
