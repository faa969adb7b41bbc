"""Limits by drawing again: the bootstrap, and random signs of paired differences."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import Column, FloatArray, IntArray
from karat._validate import check_choice, check_count, check_rng, check_weights, refuse_option
from karat.exceptions import DataError
from karat.limits.options import check_request
from karat.limits.result import Limits

_MULTIPLIERS = ("multinomial", "gamma")
_COST = 100  # draws of numbers that one call of a statistic takes as long as


@keeps_kind
def bootstrap(
    statistic: Callable[[FloatArray], float],
    counts: Column,
    *,
    multipliers: str = "multinomial",
    n_resamples: int | None = None,
    confidence: float = 0.95,
    side: str = "both",
    rng: int | np.random.Generator | None = None,
) -> Limits:
    r"""Limit a statistic by the quantiles of its values on samples with random multipliers.

    A sample is drawn anew by weighing item i with :math:`M_i/n`, where M is multinomial with n
    draws (Efron 1979), or :math:`M_i = n\,g_i/\sum_j g_j` with gamma variables g (Rubin 1981). The
    limits are the δ and 1 − δ quantiles of the statistic.

    Parameters
    ----------
    statistic : callable
        Takes one weight per cell, summing to 1, and returns a number: ``lambda w: w @ x`` is the
        mean of x.
    counts : column (cells,)
        How many items each cell counts; ``np.ones(n)`` for n items that are cells of their own.
        Equal items may be counted in one cell. Counts that are not whole numbers are the shapes of
        gamma variables, and the sum is rounded for the multinomial.
    multipliers : {"multinomial", "gamma"}
        ``gamma`` leaves no item out, so that a ratio keeps its denominator.
    n_resamples : int, optional
        Number of samples; at least 50/δ, since fewer do not tell the quantiles. By default that
        number, and at least 1,000.
    confidence : float, default 0.95
        Probability that the limits hold, approximately. It falls short for few items and skewed
        statistics: a cell that was never seen is never drawn.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.
    rng : int or generator, optional
        Source of randomness.

    Returns
    -------
    Limits

    References
    ----------
    B. Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 7 (1979);
    D. B. Rubin, The Bayesian bootstrap, Annals of Statistics 9 (1981).

    Examples
    --------
    The F1 of 40 true positives, 10 false positives and 20 false negatives:

    >>> f1 = lambda w: 2 * w[0] / (2 * w[0] + w[1] + w[2])
    >>> bootstrap(f1, [40, 10, 20, 130], rng=0)
    <Limits: between 0.6214 and 0.8108 at 95 % confidence (bootstrap limits, approximate); 0.7273
    was seen (n = 200)>
    """
    request = check_request(confidence, side)
    law = check_choice(multipliers, "multipliers", _MULTIPLIERS)
    given = None if n_resamples is None else check_count(n_resamples, "n_resamples")
    generator = check_rng(rng)
    cells = check_weights(counts, "counts")
    if cells is None:
        raise DataError(
            Argument("counts"),
            " is None; expected ",
            Expected("one count per cell, such as np.ones(n)"),
        )
    if not callable(statistic):
        refuse_option(statistic, "statistic", "a function of one weight per cell")
    draws = enough_draws(request.delta, least=1000, width=_COST, shared=request.shared, given=given)
    n = max(1, round(float(cells.sum())))
    values = bootstrap_draws(
        lambda drawn: statistic(drawn / n),
        [cells],
        [n],
        multipliers=law,
        n_resamples=draws,
        rng=generator,
    )
    if not np.isfinite(values).all():
        raise DataError(
            Argument("statistic"),
            f" is not a finite number on {int((~np.isfinite(values)).sum())} of {draws} samples",
            Remedy(
                "use ",
                Option("multipliers", "gamma"),
                ", which leaves no item out, or another statistic",
            ),
        )
    return request.limits(
        percentile_limits(values, request.delta),
        value=float(statistic(cells / cells.sum())),
        n=float(cells.sum()),
        method="bootstrap",
        guarantee="approximate",
        whole=(-np.inf, np.inf),
    )


# --- A statistic of samples that give every cell a random multiplier, and its quantiles.


def bootstrap_draws(
    statistic: Callable[..., float],
    strata: Sequence[FloatArray],
    sizes: Sequence[int],
    *,
    multipliers: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the statistic of samples drawn anew within every stratum.

    Parameters
    ----------
    statistic : callable
        Takes one array of multipliers per stratum, each of which sums to the stratum's size.
    strata : sequence of array
        What each cell of a stratum counted in the sample, up to a factor.
    sizes : sequence of int
        Items of each stratum.
    multipliers : {"multinomial", "gamma"}
        How often each cell is drawn when items are drawn with replacement (Efron 1979), or gamma
        variables with these counts as shapes, scaled to the same sum (Rubin 1981).
    n_resamples : int
        Number of samples.
    rng : generator
        Source of randomness.
    """
    draw = _multinomial if multipliers == "multinomial" else _gamma
    values = np.empty(n_resamples)
    for i in range(n_resamples):
        drawn = (draw(rng, n, cells) for n, cells in zip(sizes, strata, strict=True))
        values[i] = statistic(*drawn)
    return values


def percentile_limits(draws: FloatArray, delta: float) -> tuple[float, float]:
    """Return the quantiles of the draws that cut off ``delta`` on either side."""
    lower, upper = np.quantile(draws, [delta, 1 - delta])
    return float(lower), float(upper)


def _multinomial(rng: np.random.Generator, n: int, cells: FloatArray) -> IntArray:
    """Draw how many of n items fall into each cell."""
    if len(cells) > n // 4:  # many small cells: drawing the items is faster than a multinomial
        edges = np.cumsum(cells)
        drawn = np.searchsorted(edges, np.sort(rng.random(n)) * edges[-1], side="right")
        return np.bincount(np.minimum(drawn, len(cells) - 1), minlength=len(cells))
    return rng.multinomial(n, cells / cells.sum())


def _gamma(rng: np.random.Generator, n: int, cells: FloatArray) -> FloatArray:
    """Draw a weight of each cell from the Dirichlet law whose parameters are its counts."""
    drawn = rng.standard_gamma(cells * (n / cells.sum()))
    return np.asarray(drawn * (n / drawn.sum()))


# --- Limits of all differences of several means of the same items, at once, by flips of signs.

_SIGNS = 4_000_000  # signs that are held at a time
_NORMAL = 20_000  # kinds of items from which on sums of signs are drawn as normal variables

Differences = tuple[FloatArray, FloatArray, FloatArray]


def flip_limits(
    parts: FloatArray,
    delta: float,
    *,
    flips: int,
    extra: float,
    most: float,
    rng: np.random.Generator,
    number: IntArray | None = None,
) -> Differences:
    r"""Return the differences of the columns' means (k, k), and limits that hold for all pairs.

    ``parts`` (n, k) is what each item adds to the value of each model, not centred; a row may stand
    for ``number`` items. If two models
    are equal, the sign of :math:`d_i`, what item i adds to their difference D, is as likely one as
    the other. So :math:`z = \sum d / \sqrt{\sum d^2 + a \max d^2}` is beyond the ``1 − delta``
    quantile c of :math:`\max_{pairs} |\sum \epsilon_i d_i| / \sqrt{\sum d^2}` over signs ε, which
    the pairs have in common, with about ``delta`` (Romano and Wolf 2005). The limits are

    .. math:: D \pm c \sqrt{(s^2 + a \max d^2/n) / (n - c^2)},

    which exclude 0 exactly where |z| > c; s² is the variance of d. ``extra`` is a, the number of
    items like the largest that are added: 1 where D is a mean of d, 2 where it is one only to
    first order. ``most`` is the greatest \|d\| that an item can have. Models that agree on all n
    items may still differ on a share of ``1 − (delta/pairs)^(1/n)`` of others, so no limit is
    closer to D than that share of ``most``. A column that is not finite has differences that may be
    anything.
    """
    k = parts.shape[1]
    repeats = np.ones(len(parts), dtype=np.int64) if number is None else number
    n = int(repeats.sum())
    fine = np.asarray(np.isfinite(parts).all(axis=0))
    known = np.where(fine, parts, 0.0)
    rows, place = np.unique(known, axis=0, return_inverse=True)
    number = np.bincount(place.ravel(), repeats).astype(np.int64)
    total = number @ rows
    square, largest = np.zeros((k, k)), np.zeros((k, k))
    for u in range(k):
        gap = rows[:, u : u + 1] - rows
        square[u], largest[u] = number @ gap**2, np.abs(gap).max(axis=0)
    apart = square > 1e-24 * float(np.abs(known).max()) ** 2  # not by rounding alone
    difference = (total[:, None] - total) / n
    bound = _quantile(rows, number, np.sqrt(np.where(apart, square, np.inf)), delta, flips, rng)
    variance = np.maximum(square / n - difference**2, 0.0)
    reach = np.full((k, k), np.inf)
    if n > bound**2:
        reach = bound * np.sqrt((variance + extra * largest**2 / n) / (n - bound**2))
    missed = 1.0 - (delta / (k * (k - 1))) ** (1.0 / n)  # two sides of each pair
    reach = np.maximum(reach, missed * most)
    reach[~np.logical_and.outer(fine, fine)] = np.inf
    np.fill_diagonal(reach, 0.0)
    return difference, difference - reach, difference + reach


def _quantile(
    rows: FloatArray,
    number: IntArray,
    scale: FloatArray,
    delta: float,
    flips: int,
    rng: np.random.Generator,
) -> float:
    """Return the quantile of the greatest standardised difference of sums with random signs."""
    kinds, k = rows.shape
    root = np.empty((0, k))
    if kinds > _NORMAL:
        value, vector = np.linalg.eigh((rows.T * number) @ rows)
        root = (vector * np.sqrt(np.maximum(value, 0.0))).T
    greatest = np.zeros(flips)
    step = max(1, _SIGNS // max(min(kinds, _NORMAL), 1))
    for at in range(0, flips, step):
        size = min(step, flips - at)
        if kinds > _NORMAL:
            sums = rng.standard_normal((size, k)) @ root
        else:  # the sum of the signs of equal items is drawn as one
            sums = (2.0 * rng.binomial(number, 0.5, (size, kinds)) - number) @ rows
        for u in range(k - 1):
            found = np.abs(sums[:, u : u + 1] - sums[:, u + 1 :]) / scale[u, u + 1 :]
            greatest[at : at + size] = np.maximum(greatest[at : at + size], found.max(axis=1))
    return float(np.quantile(greatest, 1.0 - delta, method="higher"))


_BEYOND = 50  # draws outside of a limit: its error is then told within a seventh of itself
_MOST = 10_000_000  # numbers that are drawn for one limit, unless the default confidence needs more


def enough_draws(
    delta: float,
    *,
    least: int = 2000,
    width: float = 1.0,
    shared: float = 2.0,
    given: int | None = None,
    remedy: str = "",
) -> int:
    """Return how many draws tell a quantile that cuts off ``delta``, or refuse the confidence.

    A quantile of B draws that cuts off less than 1/B is the outermost draw, whatever ``delta`` is;
    so 50 draws must lie beyond the limit. The number is at least ``least`` and at most
    10,000,000 / ``width``, the numbers drawn at a time; ``given`` is a number that was asked for.
    ``shared`` is the number of limits among which ``1 − confidence`` is divided, 2 for both sides
    of one, by which the confidence is named in the message.
    """
    needed = math.ceil((1 - 1e-9) * _BEYOND / delta)  # 1 − confidence is rounded
    level = 1.0 - shared * delta
    if given is not None:
        if given < needed:
            refuse_option(
                given,
                "n_resamples",
                f"at least {needed:,} for confidence={level:.10g}: {_BEYOND} of them must lie "
                "beyond each limit. Leave n_resamples out, or ask for less confidence",
            )
        return given
    most = max(least, int(_MOST / width))
    if needed > most:
        among = f" of {shared:,.6g} limits" if shared > 2 else ""
        reached = math.floor(1e6 * (1.0 - shared * _BEYOND / most)) / 1e6
        refuse_option(
            float(f"{level:.10g}"),
            "confidence",
            f"at most {reached:g} here: these limits are simulated, and {_BEYOND} of at most "
            f"{most:,} draws must lie beyond each{among}. Ask for confidence={reached:g} or "
            f"less{remedy}",
        )
    return max(least, needed)
