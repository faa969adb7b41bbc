"""What sharing between domains is for: clusters are found, and estimates are better by them."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from karat.consensus import ErrorEstimator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:votes do not identify"),
]
VOTERS = 8


def simulate(rng, rates, items):
    """Return votes and domains of two classes; ``rates`` is domains × voters."""
    votes, domains = [], []
    for d, here in enumerate(rates):
        y = (rng.random(items) < rng.uniform(0.3, 0.7)).astype(int)
        wrong = rng.random((items, len(here))) < here
        votes.append(np.where(wrong, 1 - y[:, None], y[:, None]))
        domains += [f"domain {d:02d}"] * items
    return np.concatenate(votes), np.array(domains)


def fit(structure, errors, votes, domains, draws=60):
    est = ErrorEstimator(
        structure=structure, errors=errors, dependence="none", chains=2, draws=draws, rng=0
    )
    return est.fit(votes, domains)


def deviation(est, rates):
    """Return the mean absolute deviation of the estimates."""
    return np.abs(est.result_.value.reshape(rates.shape) - rates).mean()


@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
@pytest.mark.parametrize("seed", range(3))
def test_three_clusters_of_domains_are_found(seed, errors):
    rng = np.random.default_rng(seed)
    cluster = rng.permutation(np.repeat(np.arange(3), 5))
    rates = rng.uniform(0.05, 0.35, (3, VOTERS))[cluster]
    data = simulate(rng, rates, 500)
    coupled = fit("coupled", errors, *data)
    found = coupled.co_clustering_
    assert adjusted_rand_score(cluster, found.labels) >= 0.9
    assert found.lower <= 3 <= found.upper
    alone = fit("independent", errors, *data)
    # With five domains in one, the errors of the estimates shrink by about the root of five.
    assert deviation(coupled, rates) < 0.7 * deviation(alone, rates)


def cost_of_sharing(errors, draw_rates, items, kinds=("coupled", "hierarchical")):
    """Return mean deviations in ten draws of domains that share nothing, as ratios to alone."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        rates = draw_rates(rng)
        data = simulate(rng, rates, items)
        fits = [fit(kind, errors, *data) for kind in (*kinds, "independent")]
        found.append([deviation(est, rates) for est in fits])
    mean = np.mean(found, axis=0)
    return mean[:-1] / mean[-1]


def test_sharing_costs_nothing_where_rates_of_all_domains_are_drawn_from_the_prior():
    ratio = cost_of_sharing("symmetric", lambda rng: rng.beta(1, 10, (8, VOTERS)), 200)
    assert (ratio <= [1.05, 1.1]).all()


@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
def test_sharing_costs_little_where_nothing_is_shared(errors):
    """Rates between .05 and .35 are closer together than the prior expects of different clusters.

    So domains that are nearly alike are taken for one, more so with a row per class, which has
    half of the votes.
    """
    ratio = cost_of_sharing(errors, lambda rng: rng.uniform(0.05, 0.35, (8, VOTERS)), 500)
    assert (ratio <= 1.25).all()


@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
@pytest.mark.parametrize("items", [20, 50])
def test_sharing_pays_with_few_items(items, errors):
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(300 + seed)
        rates = rng.uniform(0.05, 0.35, (2, VOTERS))[rng.integers(0, 2, 10)]
        data = simulate(rng, rates, items)
        gains.append(
            deviation(fit("independent", errors, *data), rates)
            - deviation(fit("coupled", errors, *data), rates)
        )
    assert stats.ttest_1samp(gains, 0, alternative="greater").pvalue < 0.001


@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
def test_a_rate_for_all_voters_and_domains_is_shared_by_the_hierarchy(errors):
    """Two rates only, in random places: coupled domains have nothing to share, voters have."""
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(400 + seed)
        rates = np.where(rng.random((6, VOTERS)) < 0.5, 0.08, 0.3)
        data = simulate(rng, rates, 60)
        gains.append(
            deviation(fit("independent", errors, *data), rates)
            - deviation(fit("hierarchical", errors, *data), rates)
        )
    assert stats.ttest_1samp(gains, 0, alternative="greater").pvalue < 0.001
