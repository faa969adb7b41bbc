"""Limits of the canonical error on laws that no latent Gaussian variable describes."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr
from scipy.stats import binomtest

from karat.calibration.estimates import debiased_terms
from karat.calibration.models import LatentCopula, WideCopula

LEVELS = np.array([0.1, 0.3, 0.6, 0.9])


def correlated(rng, n, k, rho):
    common = rng.normal(size=(n, 1))
    return ndtr(np.sqrt(1 - rho) * rng.normal(size=(n, k)) + np.sqrt(rho) * common)


def one_class(g, rng):
    chosen = (g.cumsum(axis=1) < rng.random((len(g), 1))).sum(axis=1)
    return np.eye(g.shape[1])[chosen.clip(max=g.shape[1] - 1)]


def classes(rng, n, temper):
    h = rng.dirichlet(np.full(5, 0.5), n).clip(1e-6)
    h /= h.sum(axis=1, keepdims=True)
    g = h**temper / (h**temper).sum(axis=1, keepdims=True)
    return h, g, one_class(g, rng)


def dependent_levels(rng, n):
    """Four levels that go with each other, and a shift by another label's probability."""
    h = LEVELS[(4 * correlated(rng, n, 6, 0.5)).astype(int).clip(0, 3)]
    return separate(h, h + 0.1 * (np.roll(h, 1, axis=1) - 0.5), rng)


def separate(h, g, rng):
    return h, g, (rng.random(g.shape) < g).astype(float)


LAWS = {
    "classes, calibrated": lambda n, rng: classes(rng, n, 1.0),
    "classes, overconfident": lambda n, rng: classes(rng, n, 0.6),
    "four levels, calibrated": lambda n, rng: separate(
        *(2 * [LEVELS[rng.integers(0, 4, (n, 6))]]), rng
    ),
    "four levels, dependent, shifted": lambda n, rng: dependent_levels(rng, n),
    "a linear shift": lambda n, rng: (
        lambda h: separate(h, h + 0.1 * (np.roll(h, 1, axis=1) - 0.5), rng)
    )(0.1 + 0.8 * correlated(rng, n, 4, 0.3)),
    "overconfident labels": lambda n, rng: (lambda h: separate(h, expit(0.6 * logit(h)), rng))(
        correlated(rng, n, 6, 0.3).clip(1e-4, 1 - 1e-4)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_the_truth_is_covered(name):
    """Of 80 runs a coverage of .80 is noticed nine times of ten."""
    h, g, _ = LAWS[name](300_000, np.random.default_rng(10**6))
    truth, runs, held = float(((h - g) ** 2).sum(axis=1).mean()), 80, 0
    for seed in range(1000, 1000 + runs):
        rng = np.random.default_rng(seed)
        h, _, y = LAWS[name](2000, rng)
        terms = debiased_terms(y, h, WideCopula, rng).terms.sum(axis=1)
        reach = 1.96 * terms.std(ddof=1) / np.sqrt(len(terms))
        held += abs(terms.mean() - truth) <= reach
    assert binomtest(held, runs, 0.93, alternative="less").pvalue > 1e-3


def test_the_latent_model_alone_moves_calibrated_classes():
    """What the centring is for: its absence is noticed."""
    rng = np.random.default_rng(0)
    h, _, y = LAWS["classes, calibrated"](4000, rng)
    for fit, holds in ((LatentCopula, False), (WideCopula, True)):
        terms = debiased_terms(y, h, fit, np.random.default_rng(1)).terms.sum(axis=1)
        reach = 4 * terms.std(ddof=1) / np.sqrt(len(terms))
        assert bool(abs(terms.mean()) <= reach) is holds
