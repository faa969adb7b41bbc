"""The test for products of two probabilities: exact tails, its level and its power."""

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from karat.calibration._canonical import chernoff_p_value, interaction_test
from karat.calibration.latent import NormalScores
from karat.datasets import MultilabelLaw


def found_in(y, h):
    return interaction_test(y, h, NormalScores(h).own)


def test_the_bound_is_above_the_tail_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(10):
        h, f = rng.uniform(0.05, 0.95, 9), rng.uniform(-1, 1, 9)
        y = (rng.random(9) < h).astype(float)
        every = np.array(list(product([0.0, 1.0], repeat=9)))
        chance = np.where(every == 1, h, 1 - h).prod(axis=1)
        tail = chance[every @ f >= y @ f - 1e-12].sum()
        bound = chernoff_p_value(y, h, f)
        assert tail <= bound * (1 + 1e-9)
        # The least over a grid of the bounds that any t gives.
        t = np.linspace(0, 40, 4001)[:, None]
        log = np.log1p(h * np.expm1(np.clip(t * f, None, 700))).sum(axis=1) - t[:, 0] * (y @ f)
        assert bound == pytest.approx(min(1.0, np.exp(log.min())), rel=1e-3, abs=1e-12)


def test_the_bound_of_equal_rows_is_that_of_the_binomial_law():
    n, p, k = 200, 0.1, 40
    y = np.repeat([1.0, 0.0], [k, n - k])
    bound = chernoff_p_value(y, np.full(n, p), np.ones(n))
    divergence = k * np.log(k / n / p) + (n - k) * np.log((1 - k / n) / (1 - p))
    assert bound == pytest.approx(np.exp(-divergence), rel=1e-6)
    assert bound >= binom.sf(k - 1, n, p)
    assert chernoff_p_value(y, np.full(n, 0.5), np.ones(n)) == 1.0  # fewer than expected


def test_what_was_impossible_refutes():
    h = np.tile([0.0, 0.5, 0.5], (50, 1))
    y = (np.random.default_rng(0).random(h.shape) < 0.5).astype(float)
    assert chernoff_p_value(y[:, 0], h[:, 0], np.ones(50)) == 0.0
    assert found_in(np.zeros((50, 2)), np.zeros((50, 2))).p_value == 1.0  # certain, and right


def test_one_label_or_very_many_are_not_looked_at():
    rng = np.random.default_rng(0)
    assert found_in(np.ones((40, 1)), rng.random((40, 1))) is None
    assert found_in(np.ones((10, 160)), rng.random((10, 160))) is None


def test_the_product_is_named():
    """Label 0 is more frequent where 1 and 2 are both high or both low."""
    rng = np.random.default_rng(1)
    h = rng.uniform(0.2, 0.8, (1500, 4))
    g = h.copy()
    g[:, 0] -= 0.15 * np.sign(h[:, 1] - 0.5) * np.sign(h[:, 2] - 0.5)
    found = found_in((rng.random(h.shape) < g).astype(float), h)
    assert found[:4] == (0, 1, 2, -1)
    assert found.p_value < 1e-6


def test_the_level():
    """Chernoff and Bonferroni: of 300 runs each, 2 of 900 at most would be luck's share at .05."""
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        z = np.sqrt(0.4) * rng.normal(size=(250, 1)) + np.sqrt(0.6) * rng.normal(size=(250, 6))
        for mean in (-0.5, -2.2):  # common labels, and labels of a few rows
            h = ndtr(mean + z)
            y = (rng.random((250, 1)) < h).astype(float)  # that go with each other
            wrong += found_in(y, h).p_value <= 0.05
        h = (ndtr(z) * 4).round() / 4 * 0.9 + 0.05
        wrong += found_in((rng.random(h.shape) < h).astype(float), h).p_value <= 0.05
    assert wrong <= 0.05 * 900


@pytest.mark.parametrize(("n", "k", "least"), [(400, 5, 0.95), (1000, 20, 0.95)])
def test_the_power_where_copulas_are_blind(n, k, least):
    law = MultilabelLaw("interaction", n_labels=k)
    found = [found_in(*law.sample(n, rng=seed)[:2]).p_value for seed in range(20)]
    assert np.mean(np.array(found) <= 0.05) >= least
