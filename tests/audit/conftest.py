"""A spam filter with probabilities that are a little off, and its truth."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest


class Filter(NamedTuple):
    chance: np.ndarray
    called: np.ndarray
    truth: np.ndarray

    def labels(self, items):
        return {int(i): self.truth[int(i)] for i in items}


def make_filter(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.4, 2.2, n)
    truth = np.where(rng.random(n) < p, "spam", "ham")
    seen = np.clip(p * np.exp(0.3 * rng.normal(size=n)), 0.001, 0.999)
    return Filter(seen, np.where(seen > 0.35, "spam", "ham"), truth)


@pytest.fixture(scope="session")
def spam():
    return make_filter()


@pytest.fixture(scope="session")
def fails():
    """Tell whether so few hits would be seen once in a thousand times if the promise held."""

    def few(hits, runs, promised):
        return binomtest(int(hits), runs, promised, alternative="less").pvalue < 0.001

    return few
