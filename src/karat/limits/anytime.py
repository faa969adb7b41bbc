"""Limits of a mean or a ratio that hold at every sample size at once.

Whoever looks at the data as they come in, and stops when pleased, may use these.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Expected, Remedy, Row
from karat._typing import Column, FloatArray
from karat._validate import (
    check_confidence,
    check_count,
    check_number,
    check_same_length,
    check_scores,
    check_weights,
    refuse_option,
)
from karat.exceptions import KaratWarning, WeightError
from karat.limits.options import bounded_values, check_range
from karat.limits.pseudo import check_kinds
from karat.limits.result import AnytimeLimits


@keeps_kind
def anytime_mean(
    values: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    population: int | None = None,
    confidence: float = 0.95,
) -> AnytimeLimits:
    r"""Limit a mean after every value, so that one may look, and stop, whenever one likes.

    Eight gamblers bet against every mean m, with

    .. math:: \lambda = \pm k \sqrt{\frac{2 \log(2/\alpha)}{n_0\,\hat\sigma^2_{t-1}}}, \quad
        k \in \{.35, .7, 1.4, 2.8\},\; n_0 = 200

    and no bet that could lose more than three quarters. Where their mean capital has ever reached
    1/α, m is ruled out (Ville 1939). Limits widen only to hold the mean of the values so far, with
    a warning: a mean that leaves its limits speaks against values in random order.

    Parameters
    ----------
    values : column (n,)
        One number per item in the order in which they came, drawn at random.
    low, high : float
        The range that no value can leave, known beforehand.
    population : int, optional
        Number of all items, if values are drawn from them without replacement and their mean is
        meant.
    confidence : float, default 0.95
        Probability that the limits hold after every value together.

    Returns
    -------
    AnytimeLimits

    References
    ----------
    I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86
    (2024); J. Ville, Étude critique de la notion de collectif (1939).

    Examples
    --------
    >>> import numpy as np
    >>> r = anytime_mean(np.random.default_rng(0).random(200) < 0.8)
    >>> round(r.lower, 2), round(r.upper, 2)
    (0.63, 0.81)
    """
    level = check_confidence(confidence)
    least, most = check_range(low, high)
    x = bounded_values(
        np.asarray(values, float) if _is_bool(values) else values, "values", least, most
    )
    n = None
    if population is not None:
        n = check_count(population, "population")
        if n < len(x):
            refuse_option(population, "population", f"at least the {len(x):,} values that came")
    steps, possible = mean_steps(x, (least, most), n)
    ends = anytime_path(steps, value_grid((least, most)), delta=1 - level, possible=possible)
    estimates = np.cumsum(x) / np.arange(1, len(x) + 1)
    return path_result("mean", estimates, ends, (least, most), confidence=level, n_total=n)


def _is_bool(values: Column) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == bool


@keeps_kind
def anytime_ratio(
    numerator: Column,
    denominator: Column,
    *,
    success: tuple[float, float] = (1.0, 1.0),
    failure: tuple[float, float] = (0.0, 1.0),
    sample_weight: Column | None = None,
    heaviest: float | None = None,
    confidence: float = 0.95,
) -> AnytimeLimits:
    r"""Limit a ratio, such as precision, recall or F1, after every label.

    With what an item adds to numerator and denominator, a and b, and one over the chance with which
    it was drawn as its weight w, the ratio g is the one value with :math:`E[w(a - g b)] = 0`.
    Bets against that, as in `anytime_mean`, rule out every other g.

    Parameters
    ----------
    numerator, denominator : column (n,)
        What each item adds, in the order in which items came.
    success, failure : pair of float
        What an item can add: (2, 2) and (0, 1) for F1; or nothing, (0, 0).
    sample_weight : column (n,), optional
        One over the chance with which each item was drawn.
    heaviest : float, optional
        The greatest weight that any item could have had, known beforehand; by default the
        greatest of ``sample_weight``.
    confidence : float, default 0.95
        Probability that the limits hold after every label together.

    Returns
    -------
    AnytimeLimits

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.5
    >>> h = np.where(rng.random(400) < 0.8, y, ~y)
    >>> r = anytime_ratio(2.0 * (h & y), 1.0 * h + y, success=(2, 2))
    >>> round(r.lower, 2), round(r.upper, 2)
    (0.75, 0.86)
    """
    level = check_confidence(confidence)
    top, bottom = check_scores(numerator, "numerator"), check_scores(denominator, "denominator")
    check_same_length(numerator=top, denominator=bottom)
    ends = check_kinds(top, bottom, success, failure)
    weight = check_weights(sample_weight)
    check_same_length(numerator=top, sample_weight=weight)
    w = np.ones(len(top)) if weight is None else weight
    most = 1.0
    if weight is not None:
        most = float(w.max())
    if weight is not None and heaviest is not None:
        most = check_number(heaviest, "heaviest", above=0.0)
        if float(w.max()) > most * (1 + 1e-9):
            row = int(np.argmax(w))
            raise WeightError(
                Argument("sample_weight"),
                Row(row),
                f" is {w[row]:g} and heaviest is {most:g}; expected ",
                Expected("no weight above it"),
                Remedy("Pass one over the least chance that any item had", after=". "),
            )
    span = (0.0, ends[0][0] / ends[0][1])
    steps = ratio_steps(top, bottom, w / most, np.array([*ends, (0.0, 0.0)]), 1.0)
    path = anytime_path(steps, value_grid(span), delta=1 - level)
    below = np.cumsum(w * bottom)
    seen = np.divide(np.cumsum(w * top), below, out=np.full(len(top), np.nan), where=below > 0)
    return path_result("ratio", seen, path, span, confidence=level)


_ROUNDING = 1e-9  # of the whole range of values


def path_result(
    of: str,
    estimates: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    span: tuple[float, float],
    *,
    confidence: float,
    n_total: int | None = None,
) -> AnytimeLimits:
    """Return limits that hold their estimates, with a warning where they had to be widened."""
    lowers, uppers = holding(estimates, *ends)
    apart = np.maximum(ends[0] - lowers, uppers - ends[1])
    if (far := np.flatnonzero(apart > _ROUNDING * (span[1] - span[0]))).size:
        at = int(far[0])
        warnings.warn(
            f"the {of} of the first {at + 1:,} rows, {estimates[at]:.4g}, lies outside of the "
            f"limits that earlier rows gave, {ends[0][at]:.4g} to {ends[1][at]:.4g}. Rows in "
            "random order seldom do so, except at a low confidence: these may be sorted, or have "
            "changed over time, and then no limits hold. The limits were widened; pass the rows in "
            "random order",
            KaratWarning,
            stacklevel=caller_level(),
        )
    return AnytimeLimits(
        of=of,
        looks=Estimate.of(estimates, lowers, uppers, confidence, "finite-sample"),
        n_total=n_total,
    )


# --- Limits that hold at every look: a mixture of bets against every wrong value.
#
# Each step brings a number X(g) for every value g on a grid, whose mean, given all that came
# before, is 0 at the true g. A gambler multiplies a capital by :math:`1 + \lambda X(g)`; at the
# true g it ever reaches 1/α with a probability of at most α (Ville 1939). Eight gamblers share the
# capital at first: four that bet on a greater value and four on a smaller one, of different
# courage.

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
        ends = [
            np.log1p(sign * np.minimum(bet, most_lost / risk) * x)
            for sign, risk in ((1, risks[0]), (-1, risks[1]))
        ]
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
