"""Simulation-based calibration: the rank of the truth among posterior draws is uniform."""

import numpy as np
import pytest
from scipy import stats

from karat.consensus.model import Model, build_problem

pytestmark = pytest.mark.slow

RUNS, DRAWS, THIN, BINS = 400, 63, 8, 16
WORLDS = [
    (errors, dependence)
    for errors in ("class-conditional", "symmetric")
    for dependence in ("none", "difficulty", [-1, 0, -1, 2, 3])
]
IDS = [f"{errors} {d if isinstance(d, str) else 'pairs'}" for errors, d in WORLDS]


@pytest.fixture(scope="module")
def law(world):
    """Five voters, forty items, a tenth of the votes not asked for, three labelled items."""

    def make(errors, dependence, labelled=(0, 1, 2)):
        asked = np.random.default_rng(0).random((40, 5)) < 0.9
        return world(errors, dependence, asked, labelled=list(labelled))

    return make


def quantities(law, rates, weights, copied):
    """Return draws × quantities: every voter's error rate, P(class 0), the rates of copying."""
    share = weights[:, law.law.group == 0].sum(axis=1, keepdims=True)
    return np.concatenate([rates, share, copied[:, law.law.parent >= 0]], axis=1)


def rank_of_truth(law, sweep, rng, changed):
    """Return the rank of the true quantities among ``DRAWS`` of the chain.

    The truth is itself a draw from its posterior, and the two-block Gibbs sampler (all that is
    hidden given the parameters, all parameters given what is hidden) is reversible. So a chain run
    from the truth forwards and another backwards make one stationary chain in which the truth has
    a place; with that place drawn at random, its rank is uniform whether the chain mixes well
    or stays in one labelling for ever. A chain started elsewhere would have to forget its start
    first, which it does slowly where only the prior tells a labelling from its mirror image.
    """
    truth = law.draw_state(rng)
    component, votes = law.draw_votes(truth, rng)
    problem = changed(law.problem(votes, component))
    before = int(rng.integers(0, DRAWS + 1))
    found = []
    for draws in (before, DRAWS - before):
        run = sweep(problem, truth, rng, draws * THIN)
        at = slice(THIN - 1, None, THIN)
        found.append(quantities(law, run.rates[at], run.weights[at], run.copied[at]))
    true = quantities(law, law.rates(truth)[None], truth.weight[None], truth.copied[None])
    return (np.concatenate(found) < true).sum(axis=0)


def uniformity(ranks):
    """Return the p-value of a χ² test for each quantity."""
    return np.array(
        [
            stats.chisquare(np.bincount(rank * BINS // (DRAWS + 1), minlength=BINS)).pvalue
            for rank in ranks.T
        ]
    )


@pytest.mark.parametrize(("errors", "dependence"), WORLDS, ids=IDS)
def test_ranks_are_uniform(errors, dependence, law, sweep):
    here = law(errors, dependence)
    rng = np.random.default_rng(51)
    ranks = np.array([rank_of_truth(here, sweep, rng, lambda p: p) for _ in range(RUNS)])
    p = uniformity(ranks)
    # Bonferroni: a right sampler fails with probability .001, however many quantities there are.
    assert p.min() > 0.001 / len(p)


@pytest.mark.parametrize("dependence", ["none", "difficulty"])
def test_ranks_are_uniform_without_labels(dependence, law, sweep):
    """Without gold labels a sweep also moves between labellings; its ranks are as uniform."""
    here = law("class-conditional", dependence, labelled=())
    rng = np.random.default_rng(53)
    ranks = np.array([rank_of_truth(here, sweep, rng, lambda p: p) for _ in range(RUNS)])
    p = uniformity(ranks)
    assert p.min() > 0.001 / len(p)


@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
def test_votes_taken_for_independent_are_noticed(errors, law, sweep):
    """A sampler that does not know who copies whom is too sure of itself."""
    here = law(errors, [-1, 0, -1, 2, 3])
    rng = np.random.default_rng(52)

    def unaware(problem):
        return build_problem(Model("none", errors), problem.table)

    ranks = np.array([rank_of_truth(here, sweep, rng, unaware) for _ in range(RUNS)])
    assert uniformity(ranks)[:5].min() < 0.001 / 5
