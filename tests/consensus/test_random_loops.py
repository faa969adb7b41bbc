import numpy as np
import pytest
from scipy import stats

from karat.consensus.sampling._partition_loops import binomial, gamma


@pytest.mark.slow
@pytest.mark.parametrize("p", [1e-7, 0.003, 0.11, 0.4, 0.5, 0.73, 0.999, 1 - 1e-9])
@pytest.mark.parametrize("n", [2, 17, 300, 40_000, 10**7])
def test_draws_follow_the_law(n, p):
    rng = np.random.default_rng(n)
    draws = np.array([binomial(rng, float(n), p) for _ in range(10_000)])
    assert draws.min() >= 0
    assert draws.max() <= n
    assert (draws == np.floor(draws)).all()
    law = stats.binom(n, p)
    cuts = np.unique(law.ppf(np.linspace(0.02, 0.98, 30)))
    seen = np.bincount(np.searchsorted(cuts, draws), minlength=len(cuts) + 1)
    expected = np.diff(np.concatenate([[0], law.cdf(cuts), [1]])) * len(draws)
    full = expected > 5
    if full.sum() > 1:
        chi2 = ((seen - expected)[full] ** 2 / expected[full]).sum()
        assert stats.chi2.sf(chi2, full.sum() - 1) > 1e-5  # of 40 cases
    error = np.sqrt(law.var() / len(draws))
    assert abs(draws.mean() - law.mean()) < 5 * error + 1e-9


@pytest.mark.parametrize(("n", "p", "wanted"), [(5, 0.0, 0), (5, 1.0, 5), (0, 0.3, 0)])
def test_certain_outcomes(n, p, wanted):
    assert binomial(np.random.default_rng(0), float(n), p) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.02, 0.25, 0.5, 0.999, 1.0, 1.001, 2.0, 7.5, 300.0, 1e6])
def test_gamma_numbers_follow_the_law(shape):
    rng = np.random.default_rng(int(1000 * shape))
    draws = np.array([gamma(rng, shape) for _ in range(10_000)])
    assert (draws >= 0).all()
    assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 1e-4  # of 10 cases
