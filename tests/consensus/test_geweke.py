"""Two ways to draw parameters and votes together must agree (Geweke, JASA 99, 2004).

One draws the parameters from the prior and the votes from the parameters. The other walks: a sweep
of the sampler moves the parameters given the votes, then votes are drawn anew from the parameters.
A sweep draws the hidden labels first, so nothing but the parameters goes from step to step. If the
sampler leaves the posterior as it is, both have the same law; any error in a conditional shows.
"""

from dataclasses import replace

import numpy as np
import pytest

from karat.votes.em import State

pytestmark = pytest.mark.slow

WORLDS = [
    (errors, dependence)
    for errors in ("class-conditional", "symmetric")
    for dependence in ("none", "difficulty", [-1, 0, 1])
]
IDS = [f"{errors} {d if isinstance(d, str) else 'pairs'}" for errors, d in WORLDS]
FRESH, STEPS, BATCHES = 6_000, 6_000, 100
# 326 statistics in 6 worlds; with 99 degrees of freedom |t| > 4.5 has probability 2e-5, so a
# right sampler fails anywhere in this file with probability below .007 (Bonferroni).
LIMIT = 4.5


@pytest.fixture(scope="module")
def law(world):
    """Three voters, six items, three classes: abstentions, two votes not asked for, one label."""

    def make(errors, dependence):
        asked = np.ones((6, 3), dtype=bool)
        asked[1, 0] = asked[4, 2] = False
        return world(errors, dependence, asked, classes=3, abstains=True, labelled=[2])

    return make


def statistics(law, state, rates, wrong, votes):
    """Return draws × numbers whose mean both ways must share."""
    n = len(votes)
    right = np.stack([state.theta[:, :, k, c] for c, k in enumerate(law.law.group)], axis=1)
    right = right.reshape(n, -1)
    copied = state.copied[:, law.law.parent >= 0]
    silent = (votes == law.classes).sum(axis=1)
    pairs = ((0, 1), (0, 2), (1, 2))
    both = [law.asked[:, i] & law.asked[:, j] for i, j in pairs]
    alike = [
        (votes[:, asked, i] == votes[:, asked, j]).sum(axis=1)
        for asked, (i, j) in zip(both, pairs, strict=True)
    ]
    return np.concatenate(
        [rates, rates**2, right, right**2, state.theta[:, :, -1].mean(axis=2), state.weight,
         state.weight**2, copied, copied**2, wrong, rates * wrong, silent, np.transpose(alike)],
        axis=1,
    )  # fmt: skip


def wrong_votes(law, component, votes):
    cast = law.asked & (votes < law.classes)
    return (cast & (votes != law.law.group[component][..., None])).sum(axis=-2)


def fresh_draws(law, rng, draws=FRESH):
    """Prior, then votes: independent draws of the statistics."""
    state = law.draw_state(rng, (draws,))
    component, votes = law.draw_votes(state, rng)
    return statistics(law, state, law.rates(state), wrong_votes(law, component, votes), votes)


def walk(law, sweep, rng, changed, steps=STEPS):
    """Votes given the parameters, parameters given the votes, and so on."""
    state, found = law.draw_state(rng), []
    for _ in range(steps):
        component, votes = law.draw_votes(state, rng)
        draws = sweep(changed(law.problem(votes, component)), state, rng, 1)
        state = draws.last
        # The labels that the sweep drew, the votes and the new parameters belong together.
        found.append((*state, draws.rates[0], draws.finite[0], votes))
    *state, rates, finite, votes = (np.array(part) for part in zip(*found, strict=True))
    cast = (law.asked & (votes < law.classes)).sum(axis=1)
    wrong = np.where(cast > 0, finite, 0) * cast
    return statistics(law, State(*state), rates, wrong, votes)


def differences(fresh, walked):
    """Return the differences of the means, in errors by batch means."""
    batches = walked.reshape(BATCHES, -1, walked.shape[1]).mean(axis=1)
    error = np.sqrt(
        fresh.var(axis=0, ddof=1) / len(fresh) + batches.var(axis=0, ddof=1) / len(batches)
    )
    return (walked.mean(axis=0) - fresh.mean(axis=0)) / error


@pytest.mark.parametrize(("errors", "dependence"), WORLDS, ids=IDS)
def test_both_ways_agree(errors, dependence, law, sweep):
    here = law(errors, dependence)
    rng = np.random.default_rng(41)
    walked = walk(here, sweep, rng, lambda problem: problem)
    assert np.abs(differences(fresh_draws(here, rng), walked)).max() < LIMIT


MUTANTS = {
    "errors": lambda p: replace(p, prior=3 * p.prior),
    "weights": lambda p: replace(p, weight_prior=3 * p.weight_prior),
    "copying": lambda p: replace(p, copy_prior=p.copy_prior[::-1].copy()),
    "labels": lambda p: replace(p, group=p.group[::-1].copy()),
}


@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_sampler_is_noticed(mutant, errors, law, sweep):
    """The sampler is given another prior, or classes in another order, than the votes follow."""
    here = law(errors, [-1, 0, 1] if mutant == "copying" else "none")
    rng = np.random.default_rng(42)
    walked = walk(here, sweep, rng, MUTANTS[mutant], steps=2000)
    assert np.abs(differences(fresh_draws(here, rng, 2000), walked)).max() > LIMIT
