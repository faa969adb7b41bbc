"""Two ways to draw parameters and votes of domains that share must agree (Geweke, 2004).

As for single domains: prior, then votes; or a walk in which sweeps move the parameters given the
votes and votes are drawn anew. Partitions and concentrations are among the parameters.
"""

from dataclasses import replace

import numpy as np
import pytest

from karat.consensus.sampling._arrays import PooledState

pytestmark = pytest.mark.slow

WORLDS = [
    (structure, errors)
    for structure in ("coupled", "hierarchical")
    for errors in ("class-conditional", "symmetric")
]
FRESH, STEPS, BATCHES, SWEEPS = 7_200, 5_400, 120, 2
# 264 statistics in 4 worlds; with 119 degrees of freedom or more |t| > 4.5 has probability below
# 2e-5, so a right sampler fails anywhere in this file with probability below .006 (Bonferroni).
LIMIT = 4.5


@pytest.fixture(scope="module")
def law(pooled_world):
    """Three domains, three voters, four items: abstentions, votes not asked for, a label each."""

    def make(structure, errors):
        asked = np.ones((3, 4, 3), dtype=bool)
        asked[0, 1, 0] = asked[2, 3, 2] = False
        asked[1, :, 1] = False  # a voter that is absent from a domain
        return pooled_world(structure, errors, asked, classes=2, abstains=True, labelled=[2])

    return make


def distinct(numbers):
    """Return how many different numbers each row has."""
    return 1 + (np.diff(np.sort(numbers, axis=-1), axis=-1) != 0).sum(axis=-1)


def statistics(law, state, wrong, votes):
    """Return draws × numbers whose mean both ways must share."""
    rates = law.rates(state)[:, law.present]
    silent = law.theta(state)[:, :, :, -1].mean(axis=3)[:, law.present]
    clusters = law.clusters(state)
    clusters = clusters[:, clusters[0] >= 0]  # absent voters are absent from every draw
    first, second = np.triu_indices(clusters.shape[1], 1)
    together = clusters[:, first] == clusters[:, second]
    if law.structure == "hierarchical":
        tables = sum(distinct(state.member[:, d, here]) for d, here in enumerate(law.present))
        together = np.column_stack([together[:, :6], together.mean(axis=1), tables])
    many = distinct(clusters)[:, None]
    log = np.log(state.strength)
    alike = (votes[:, :, :, 0] == votes[:, :, :, 2]).sum(axis=2)
    abstained = (votes == law.classes).sum(axis=(2, 3))
    return np.column_stack(
        [rates, rates**2, silent, state.weight[:, :, 0], state.weight[:, :, 0] ** 2, together,
         many, many**2, state.strength, log, many * log, wrong, rates * wrong, alike,
         abstained, np.ptp(rates, axis=1), rates.std(axis=1)]
    )  # fmt: skip


def wrong_votes(law, labels, votes):
    cast = law.asked & (votes < law.classes)
    return (cast & (votes != labels[..., None])).sum(axis=2)[:, law.present]


def fresh_draws(law, rng, draws=FRESH):
    state = law.draw_state(rng, (draws,))
    labels, votes = law.draw_votes(state, rng)
    return statistics(law, state, wrong_votes(law, labels, votes), votes)


def walk(law, rng, changed, steps=STEPS):
    state, found = law.draw_state(rng), []
    for _ in range(steps):
        labels, votes = law.draw_votes(state, rng)
        draws = law.sweep(changed(law.shared(votes, labels)), state, rng, SWEEPS)
        state = draws.last
        # The labels that the last sweep drew, the votes and the new parameters belong together.
        found.append((*state, draws.finite[-1], votes))
    *state, finite, votes = (np.array(part) for part in zip(*found, strict=True))
    cast = (law.asked & (votes < law.classes)).sum(axis=2)
    wrong = (np.where(cast > 0, finite, 0) * cast)[:, law.present]
    return statistics(law, PooledState(*state), wrong, votes)


def differences(fresh, walked):
    """Return the differences of the means, in errors by batch means."""
    batches = walked.reshape(BATCHES, -1, walked.shape[1]).mean(axis=1)
    error = np.sqrt(
        fresh.var(axis=0, ddof=1) / len(fresh) + batches.var(axis=0, ddof=1) / len(batches)
    )
    return (walked.mean(axis=0) - fresh.mean(axis=0)) / error


@pytest.mark.parametrize(("structure", "errors"), WORLDS)
def test_both_ways_agree(structure, errors, law):
    here = law(structure, errors)
    rng = np.random.default_rng(61)
    walked = walk(here, rng, lambda shared: shared)
    z = differences(fresh_draws(here, rng), walked)
    assert np.abs(z).max() < LIMIT


MUTANTS = {
    "errors": lambda s: replace(s, prior=3 * s.prior),
    "weights": lambda s: replace(s, weight_prior=8 * s.weight_prior),
    "concentration": lambda s: replace(s, concentration=(2.0, 2.0)),
}


@pytest.mark.parametrize("structure", ["coupled", "hierarchical"])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_sampler_is_noticed(mutant, structure, law):
    """The sampler is given another prior than the votes follow."""
    here = law(structure, "symmetric")
    rng = np.random.default_rng(62)
    walked = walk(here, rng, MUTANTS[mutant], steps=960)
    assert np.abs(differences(fresh_draws(here, rng, 960), walked)).max() > LIMIT
