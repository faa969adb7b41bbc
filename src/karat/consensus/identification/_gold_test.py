"""What a random sample of gold labels says of the consensus: an exact test."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels import clopper_pearson_limits

__all__ = ["GoldTest", "check_consensus", "poisson_binomial_tail", "status_of"]

_MANY = 5_000  # gold labels beyond which events of one chance are taken together
_FEWEST = 10  # gold labels below which nothing is tested
_LEVEL = 0.05  # chance of a contradiction if the consensus is as sure as it should be
_SPAN = 0.1  # an error of the consensus beyond its claim that a confirmation must exclude


class GoldTest(NamedTuple):
    """How often the consensus is wrong on gold labels, beside how often it says it is.

    ``p_value`` is the chance of so many errors or more if the consensus is right as often as it
    says; ``highest`` is the upper 95 % limit (one-sided, exact) of how often it is wrong.
    """

    labels: int
    wrong: int
    claimed: float
    p_value: float
    highest: float

    def __str__(self) -> str:
        return (
            f"wrong on {self.wrong} of {self.labels} gold labels where it claims "
            f"{self.labels * self.claimed:.1f} (exact p = {self.p_value:.2g}; so many labels "
            f"exclude only that it is wrong on more than {100 * self.highest:.0f} %)"
        )


def check_consensus(
    gold: IntArray, count: FloatArray, blind: FloatArray, slack: float
) -> GoldTest | None:
    """Test P(class) of each pattern, from votes alone, on the labelled items; None with too few.

    ``gold`` is the class of each pattern, -1 where it is not known, and ``count`` its number of
    items; ``blind`` has seen no label. The consensus may be wrong on a share ``slack`` of the items
    beyond what it says. Given the items, its errors are independent with known chances, so that the
    tail is exact.
    """
    labelled = gold >= 0
    count, gold = count[labelled], gold[labelled]
    if count.sum() < _FEWEST or np.abs(count - np.round(count)).max(initial=0.0) > 1e-9:
        return None
    times = np.round(count).astype(np.int64)
    proba = blind[labelled]
    favourite = proba.argmax(axis=1)
    chance = np.minimum(1.0, 1 - proba.max(axis=1) + slack)
    wrong = int(times @ (favourite != gold))
    n = int(times.sum())
    p_value = poisson_binomial_tail(chance, wrong, times)
    highest = float(clopper_pearson_limits(wrong, n, 0.05)[1])
    return GoldTest(n, wrong, float(times @ chance) / n, p_value, highest)


def poisson_binomial_tail(chance: FloatArray, least: int, times: IntArray | None = None) -> float:
    """Return P(at least so many of independent events), by exact convolution.

    ``times`` says how many events have each chance. Of very many events those of one chance are
    taken together as a binomial variable, and the convolutions are made by Fourier transforms, to
    about 1e-14.
    """
    if times is None or times.sum() <= _MANY:
        pmf = np.ones(1)
        for p in chance if times is None else np.repeat(chance, times):
            pmf = np.append(pmf * (1 - p), 0.0) + np.append(0.0, pmf * p)
        return float(min(1.0, pmf[least:].sum()))
    from scipy.signal import fftconvolve

    start, pmf = 0, np.ones(1)
    for p, n in zip(chance.tolist(), times.tolist(), strict=True):
        low, part = _binomial(p, n)
        start, pmf = start + low, fftconvolve(pmf, part)
    return float(np.clip(pmf[max(least - start, 0) :].sum(), 0.0, 1.0))


def _binomial(p: float, n: int) -> tuple[int, FloatArray]:
    """Return the law of a binomial variable where it is not 0 to the last digit, and its start."""
    from scipy.special import gammaln, xlog1py, xlogy

    reach = 40 * np.sqrt(n * p * (1 - p)) + 40
    low, high = max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1)
    k = np.arange(low, high + 1, dtype=np.float64)
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    weight = np.exp(log - log.max())
    return low, weight / weight.sum()


def status_of(reasons: tuple[str, ...], test: GoldTest | None) -> str:
    """Return what votes and labels together say of the consensus.

    Labels that do not contradict it confirm it only if they exclude that it is wrong much more
    often than it says: too few labels notice nothing, and then the status is that of the votes.
    """
    if test is not None and test.p_value < _LEVEL:
        return "contradicted"
    if test is not None and test.highest <= test.claimed + _SPAN:
        return "confirmed"
    return "not identified" if reasons else "consistent"
