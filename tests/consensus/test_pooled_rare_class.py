"""Many small domains and a class that most of them lack."""

from dataclasses import replace

import numpy as np
import pytest

from karat.consensus import ErrorEstimator
from karat.consensus.sampling import build_pooled, pooled_chains
from karat.votes.domains import read_votes

# Forty items a domain may show copies, or leave rates open; what is tested is their mean.
pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")


def small_domains(rng, domains=14, items=20, voters=5, share=0.03):
    """Votes of domains of two kinds, and the true error rate of each voter in each."""
    alarm, miss = rng.uniform(0.02, 0.1, (2, voters)), rng.uniform(0.15, 0.45, (2, voters))
    kind = np.arange(domains) % 2
    where = np.repeat(np.arange(domains), items)
    y = (rng.random(len(where)) < share).astype(int)
    rate = np.where(y[:, None] == 1, miss[kind[where]], alarm[kind[where]])
    votes = np.where(rng.random(rate.shape) < rate, 1 - y[:, None], y[:, None])
    return votes, where, (1 - share) * alarm[kind] + share * miss[kind]


@pytest.mark.slow
def test_the_prior_of_shares_keeps_voters_from_being_blamed_for_a_rare_class():
    """A uniform prior of the shares would; it is the default of domains on their own."""
    off = {0.5: [], 1.0: []}
    for draw in range(8):
        votes, where, truth = small_domains(np.random.default_rng(draw))
        data = read_votes(votes, domains=where, classes=[0, 1])
        truth = truth[[int(d.name) for d in data.domains]]
        tables, voters = [d.table for d in data.domains], [d.voters for d in data.domains]
        shared = build_pooled(tables, voters, 5, "coupled", "class-conditional")
        assert shared.weight_prior.tolist() == [0.5, 0.5]
        for weight, found in off.items():
            given = replace(shared, weight_prior=np.full(2, weight))
            draws, _ = pooled_chains(given, 2, 200, 200, np.random.default_rng(draw))
            rates = [d.rates.mean(axis=(0, 1)) for d in draws.by_domain]
            found.append(np.abs(np.array(rates) - truth).mean())
    assert np.mean(off[0.5]) < 0.7 * np.mean(off[1.0])


@pytest.mark.slow
def test_coupling_small_domains_with_a_rare_class_pays():
    gains = []
    for draw in range(6):
        votes, where, truth = small_domains(np.random.default_rng(draw), items=40, share=0.1)
        off = {}
        for structure in ("independent", "coupled"):
            estimator = ErrorEstimator(structure=structure, dependence="none", draws=200, rng=draw)
            result = estimator.fit(votes, domains=where, classes=[0, 1]).result_
            names = np.array([int(name) for name in result.domains])
            off[structure] = np.abs(result.value - truth[names[result.domain], result.classifier])
        gains.append(off["independent"].mean() - off["coupled"].mean())
    assert np.mean(gains) > 2 * np.std(gains, ddof=1) / np.sqrt(len(gains))
