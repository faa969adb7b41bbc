"""Simulation-based calibration where domains share: the rank of the truth is uniform.

The truth is itself a draw from its posterior. A chain that starts there is stationary from its
first sweep; after many sweeps it has forgotten the truth, or else it is kept in one labelling for
ever, in which the truth is a draw like the others.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

pytestmark = pytest.mark.slow

RUNS, DRAWS, THIN, BURN, BINS = 112, 31, 16, 120, 8
WORLDS = [
    (structure, errors)
    for structure in ("coupled", "hierarchical")
    for errors in ("class-conditional", "symmetric")
]


@pytest.fixture(scope="module")
def law(pooled_world):
    """Four domains of 20 items, three voters, a tenth of the votes not asked for, five labels."""

    def make(structure, errors):
        asked = np.random.default_rng(0).random((4, 20, 3)) < 0.9
        return pooled_world(structure, errors, asked, labelled=range(5))

    return make


def quantities(rates, weights, clusters, strengths):
    """Return draws × quantities: error rates, prevalences, number of clusters, concentrations."""
    n = len(rates)
    many = np.array([len(set(row[row >= 0])) for row in clusters])
    spread = rates.std(axis=1).round(12)  # of a voter over domains: 0 where they share
    return np.column_stack([rates.reshape(n, -1), spread, weights[:, :, 0], many, strengths])


def rank_of_truth(law, rng, told):
    """Return the rank of the true quantities among the draws; ties are broken at random."""
    truth = law.draw_state(rng)
    labels, votes = law.draw_votes(truth, rng)
    run = law.sweep(told(law.shared(votes, labels)), truth, rng, DRAWS * THIN, burn=BURN)
    at = slice(THIN - 1, None, THIN)
    found = quantities(run.rates[at], run.weights[at], run.members[at], run.strengths[at])
    true = quantities(
        law.rates(truth)[None], truth.weight[None], law.clusters(truth)[None], truth.strength[None]
    )
    ties = rng.integers(0, (found == true).sum(axis=0) + 1)
    return (found < true).sum(axis=0) + ties


def uniformity(ranks):
    """Return the p-value of a χ² test for each quantity."""
    return np.array(
        [
            stats.chisquare(np.bincount(rank * BINS // (DRAWS + 1), minlength=BINS)).pvalue
            for rank in ranks.T
        ]
    )


@pytest.mark.parametrize(("structure", "errors"), WORLDS)
def test_ranks_are_uniform(structure, errors, law):
    here = law(structure, errors)
    rng = np.random.default_rng(63)
    p = uniformity(np.array([rank_of_truth(here, rng, lambda s: s) for _ in range(RUNS)]))
    # Bonferroni: a right sampler fails with probability .001, however many quantities there are.
    assert p.min() > 0.001 / len(p)


@pytest.mark.parametrize("structure", ["coupled", "hierarchical"])
def test_a_sampler_that_shares_too_much_is_noticed(structure, law):
    here = law(structure, "symmetric")
    rng = np.random.default_rng(64)

    def eager(shared):
        return replace(shared, concentration=(0.05, 0.05))

    ranks = np.array([rank_of_truth(here, rng, eager) for _ in range(RUNS // 3)])
    p = uniformity(ranks)
    assert p.min() < 0.001 / len(p)
