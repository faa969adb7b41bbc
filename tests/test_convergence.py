from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from karat._convergence import _ranks, bulk_ess, split_r_hat, tail_ess


def autoregressive(rng, chains, n, rho, shape=()):
    """Return chains of a stationary AR(1) of variance 1."""
    draws = np.empty((chains, n, *shape))
    draws[:, 0] = rng.normal(size=(chains, *shape))
    for t in range(1, n):
        noise = rng.normal(size=(chains, *shape))
        draws[:, t] = rho * draws[:, t - 1] + np.sqrt(1 - rho**2) * noise
    return draws


def split(chains):
    half = len(chains[0]) // 2
    return [list(c[:half]) for c in chains] + [list(c[-half:]) for c in chains]


def normal_scores(chains):
    """Blom's scores of the ranks, ties sharing their mean rank."""
    every = [x for chain in chains for x in chain]
    size = len(every)

    def score(x):
        rank = sum(y < x for y in every) + (sum(y == x for y in every) + 1) / 2
        return NormalDist().inv_cdf((rank - 3 / 8) / (size + 1 / 4))

    return [[score(x) for x in chain] for chain in chains]


def mean(values):
    return sum(values) / len(values)


def variance(values):
    middle = mean(values)
    return sum((x - middle) ** 2 for x in values) / (len(values) - 1)


def plain_r_hat(chains):
    """Vehtari et al. (2021), equations 1 to 4."""
    n = len(chains[0])
    within = mean([variance(c) for c in chains])
    between = n * variance([mean(c) for c in chains])
    return (((n - 1) / n * within + between / n) / within) ** 0.5


def plain_ess(chains):
    """Vehtari et al. (2021), equations 8 to 13: sums of neighbours, positive and falling."""
    m, n = len(chains), len(chains[0])
    within = mean([variance(c) for c in chains])
    total = (n - 1) / n * within + variance([mean(c) for c in chains])

    def rho(t):
        if t == 0:
            return 1.0
        lagged = []
        for c in chains:
            middle = mean(c)
            lagged.append(sum((c[s] - middle) * (c[s + t] - middle) for s in range(n - t)) / n)
        return 1 - (within - mean(lagged)) / total

    pairs, t = [], 0
    while t + 1 < n:
        pair = rho(t) + rho(t + 1)
        if pair <= 0:
            break
        pairs.append(min(pair, pairs[-1]) if pairs else pair)
        t += 2
    tau = max(-1 + 2 * sum(pairs), 1 / np.log10(m * n))
    return m * n / tau


def plain_all(draws):
    chains = split(draws.tolist())
    middle = np.median(np.array(chains))
    folded = [[abs(x - middle) for x in c] for c in chains]
    every = np.array(chains).ravel()
    tails = []
    for q in (0.05, 0.95):
        limit = np.quantile(every, q)
        tails.append(plain_ess([[float(x <= limit) for x in c] for c in chains]))
    scores = normal_scores(chains)
    r_hat = max(plain_r_hat(scores), plain_r_hat(normal_scores(folded)))
    return r_hat, plain_ess(scores), min(tails)


@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize("n", [60, 81])
@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.5, 0.95])
def test_equals_a_plain_implementation(rng, rho, n, chains):
    draws = autoregressive(rng, chains, n, rho, (2,))
    draws[0, :, 1] = draws[0, :, 1].round(1) + 0.4  # ties, and a chain that stands apart
    plain = [plain_all(draws[:, :, q]) for q in range(2)]
    for found, expected in zip(
        (split_r_hat(draws), bulk_ess(draws), tail_ess(draws)), zip(*plain, strict=True),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_independent_draws_count_in_full(rng):
    draws = rng.normal(size=(4, 2500, 20))
    assert bulk_ess(draws).mean() == pytest.approx(10_000, rel=0.03)
    assert tail_ess(draws).mean() == pytest.approx(10_000, rel=0.05)
    assert split_r_hat(draws).max() < 1.01


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_the_effective_number_of_an_autoregression(rng, rho):
    """Var(mean) of an AR(1) is that of n(1−ρ)/(1+ρ) independent draws."""
    draws = autoregressive(rng, 4, 10_000, rho, (8,))
    expected = 40_000 * (1 - rho) / (1 + rho)
    np.testing.assert_allclose(bulk_ess(draws), expected, rtol=0.15)


def test_chains_apart_are_told(rng):
    draws = rng.normal(size=(4, 500, 3))
    draws[0, :, 0] += 10  # another centre
    draws[1, :, 1] *= 20  # the same centre, another spread
    draws[:, :250, 2] += 10  # a first half apart from the second
    r_hat = split_r_hat(draws)
    assert r_hat[0] > 1.5
    assert r_hat[1] > 1.1
    assert r_hat[2] > 1.5
    assert bulk_ess(draws)[0] < 20


def test_constant_draws():
    draws = np.full((4, 100, 2), 0.3)
    assert split_r_hat(draws).tolist() == [1.0, 1.0]
    assert bulk_ess(draws).tolist() == tail_ess(draws).tolist() == [400.0, 400.0]
    draws[1] = 0.4  # chains that stand still in different places
    assert split_r_hat(draws).min() > 1e6


@st.composite
def whole_draws(draw):
    """Even numbers, all distinct, so that their median and its distances are exact."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    chains, n = draw(st.integers(1, 4)), draw(st.integers(4, 60))
    values = 2 * rng.choice(np.arange(-2000, 2000), chains * n, replace=False)
    if draw(st.booleans()):
        values.sort()  # chains as far apart as they can be
    return values.reshape(chains, n, 1).astype(float)


@given(
    draws=whole_draws(),
    transform=st.sampled_from([np.exp, np.cbrt, np.arctan, lambda x: x**3 + 5, lambda x: 2 * x]),
)
@settings(deadline=None)
def test_effective_numbers_depend_on_ranks_alone(draws, transform):
    shrunk = draws / 4000
    np.testing.assert_allclose(bulk_ess(transform(shrunk)), bulk_ess(shrunk))
    np.testing.assert_allclose(tail_ess(transform(shrunk)), tail_ess(shrunk))


@given(draws=whole_draws(), power=st.sampled_from([1, 3]), factor=st.sampled_from([-4, 0.5, 1]))
@settings(deadline=None)
def test_r_hat_depends_on_ranks_and_on_ranks_of_distances(draws, power, factor):
    """So it stays under every monotone map that is odd about the median of the draws it uses."""
    half = draws.shape[1] // 2
    used = np.concatenate([draws[:, :half], draws[:, -half:]])
    middle = np.median(used)
    moved = factor * (draws - middle) ** power + 8
    np.testing.assert_allclose(split_r_hat(moved), split_r_hat(draws))
    np.testing.assert_allclose(bulk_ess(moved), bulk_ess(draws))


def test_ranks_equal_scipy_s():
    rng = np.random.default_rng(0)
    for columns in (rng.normal(size=(40, 3)), rng.integers(0, 5, (60, 4)).astype(float)):
        np.testing.assert_array_equal(_ranks(columns), rankdata(columns, axis=0))
