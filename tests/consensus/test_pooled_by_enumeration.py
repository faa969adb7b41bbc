"""Domains that share error rates: the samplers against all labellings and all partitions."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from karat.consensus.sampling import run_pooled

CHAINS, BURN, DRAWS = 20, 200, 1400
STRENGTHS = (1.3, 0.7)
STRUCTURES = ["coupled", "hierarchical"]
ERRORS = ["class-conditional", "symmetric"]


@dataclass
class Case:
    """Votes by domain, item and voter: -1 not asked; the outcome after the last class is silent."""

    votes: list
    classes: int = 2
    abstains: bool = False
    gold: list | None = None


CASES = {
    "plain": Case([[[0, 0], [1, 1], [0, 0]], [[0, 1], [1, 0], [0, 1]], [[1, 1], [0, 0], [1, 0]]]),
    "missing, silent, gold": Case(
        [[[0, 0], [1, -1], [2, 0]], [[0, 1], [1, 0], [2, 2]], [[1, 1], [0, 0], [-1, 0]]],
        abstains=True,
        gold=[[-1, -1, 1], [0, -1, -1], [-1, -1, -1]],
    ),
    "absent voter, gold": Case(
        [[[0, 0, 1], [1, 1, 1], [0, 0, 0]], [[-1, 1, 1], [-1, 0, 0], [-1, 1, 0]]],
        gold=[[-1, -1, -1], [-1, 1, 1]],
    ),
    "three classes": Case([[[0, 0], [1, 2], [2, 2]], [[0, 1], [1, 0], [2, 2]]], classes=3),
}


def partitions(n):
    found = [[0]] if n else [[]]
    for _ in range(n - 1):
        found = [[*z, k] for z in found for k in range(max(z) + 2)]
    return [np.array(z, dtype=int) for z in found]


def canonical(labels):
    numbers = {-1: -1}
    return tuple(numbers.setdefault(int(k), len(numbers) - 1) for k in labels)


def log_crp(z, strength):
    if not len(z):
        return 0.0
    sizes = np.bincount(z)
    value = len(sizes) * np.log(strength) + gammaln(sizes).sum()
    return value + gammaln(strength) - gammaln(strength + len(z))


def log_rows(prior, counts):
    """Return Σ over rows of log ∫ Π x^count dDirichlet(prior)."""
    value = gammaln(prior.sum(axis=-1)) - gammaln((prior + counts).sum(axis=-1))
    return (value + (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)).sum(axis=-1)


class Exact:
    """Posterior of partitions, labels and error rates, by a sum over all that is hidden."""

    def __init__(self, case, structure, errors, shared):
        self.case, self.errors, self.shared = case, errors, shared
        self.votes = np.array(case.votes)
        gold = np.full(self.votes.shape[:2], -1) if case.gold is None else np.array(case.gold)
        options = [range(case.classes) if g < 0 else [g] for g in gold.ravel()]
        self.labels = np.array(list(product(*options))).reshape(-1, *self.votes.shape[:2])
        self.stats = self.count()
        sizes = (self.labels[..., None] == np.arange(case.classes)).sum(axis=2)
        base = log_rows(shared.weight_prior, sizes)  # labellings; the sum is over the domains
        wrong = self.wrong_votes() if errors == "symmetric" else 0.0
        base = base - wrong * np.log(case.classes - 1)
        every = self.coupled() if structure == "coupled" else self.hierarchical()
        keys, logs, means = [], [], []
        for key, cluster, log in every:
            value, rows = self.given(cluster)
            keys.append(key)
            logs.append(base + log + value)
            means.append(rows)
        share = np.exp(np.array(logs) - np.max(logs))  # configurations × labellings
        share /= share.sum()
        self.partition = defaultdict(float)
        for key, part in zip(keys, share.sum(axis=1), strict=True):
            self.partition[key] += part
        hot = self.labels[..., None] == np.arange(case.classes)
        self.proba = np.einsum("l,ldik->dik", share.sum(axis=0), hot)
        weight = (shared.weight_prior + sizes) / (shared.weight_prior + sizes).sum(-1)[..., None]
        self.weight = np.einsum("l,ldk->dk", share.sum(axis=0), weight)
        self.rates = self.rate(share, np.array(means), weight)

    def count(self):
        """Return labellings × domains × voters × rows × cells."""
        domains, items, voters = self.votes.shape
        k, prior = self.case.classes, self.shared.prior
        found = np.zeros((len(self.labels), domains, voters, *prior.shape))
        for d, i, j in product(range(domains), range(items), range(voters)):
            vote = self.votes[d, i, j]
            if vote < 0:
                continue
            for c in range(k):
                here = self.labels[:, d, i] == c
                if self.errors == "class-conditional":
                    found[here, d, j, c, vote] += 1
                elif vote == k:
                    found[here, d, j, 1, 0] += 1
                else:
                    found[here, d, j, 0, int(vote == c)] += 1
                    if self.case.abstains:
                        found[here, d, j, 1, 1] += 1
        return found

    def wrong_votes(self):
        return self.stats[:, :, :, 0, 0].sum(axis=(1, 2))

    def coupled(self):
        for z in partitions(len(self.votes)):
            cluster = z[:, None] * self.votes.shape[2] + np.arange(self.votes.shape[2])
            yield canonical(z), cluster, log_crp(z, STRENGTHS[0])

    def hierarchical(self):
        present = self.shared.present > 0
        seatings = [partitions(int(here.sum())) for here in present]
        for seats in product(*seatings):
            tables = [int(s.max()) + 1 for s in seats]
            first = np.cumsum([0, *tables])
            log = sum(log_crp(s, STRENGTHS[0]) for s in seats)
            for atoms in partitions(int(first[-1])):
                cluster = np.full(present.shape, -1)
                for d, s in enumerate(seats):
                    cluster[d, present[d]] = atoms[first[d] + s]
                yield canonical(cluster.ravel()), cluster, log + log_crp(atoms, STRENGTHS[1])

    def given(self, cluster):
        """Return, per labelling, log P(votes) and the mean rows of each (domain, voter)."""
        value = 0.0
        rows = np.full(self.stats.shape, np.nan)
        for k in set(cluster[cluster >= 0]):
            inside = cluster == k
            total = self.stats[:, inside].sum(axis=1)
            value = value + log_rows(self.shared.prior, total)
            mean = self.shared.prior + total
            rows[:, inside] = (mean / mean.sum(axis=-1, keepdims=True))[:, None]
        return value, rows

    def rate(self, share, means, weight):
        """Return mean error rates; NaN where they are a mean of a ratio."""
        if self.errors == "symmetric":
            return np.einsum("zl,zldj->dj", share, means[..., 0, 0])
        if self.case.abstains:
            return np.full(self.votes.shape[::2], np.nan)
        right = np.stack([means[..., c, c] for c in range(self.case.classes)], axis=-1)
        return 1 - np.einsum("zl,zldjc,ldc->dj", share, right, weight)


def within(chain_means, exact):
    """Return the largest difference to the truth, in errors from independent chains."""
    known = ~np.isnan(exact)
    apart = (chain_means.mean(axis=0) - exact)[known]
    error = (chain_means.std(axis=0, ddof=1) / np.sqrt(len(chain_means)))[known]
    return np.max(np.abs(apart) / (error + 1e-9), initial=0)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", CASES)
def test_the_chains_reach_the_exact_posterior(name, structure, errors, pooled_world):
    case = CASES[name]
    votes = np.array(case.votes)
    law = pooled_world(
        structure, errors, votes >= 0, classes=case.classes, abstains=case.abstains,
        fixed=STRENGTHS,
    )  # fmt: skip
    shared = law.problem(votes, case.gold)
    exact = Exact(case, structure, errors, shared)
    rng = np.random.default_rng(11)
    starts = [law.draw_state(rng) for _ in range(CHAINS)]
    found = run_pooled(shared, starts, rng.spawn(CHAINS), burn=BURN, draws=DRAWS)
    # 16 cases of up to 30 numbers; with 19 degrees of freedom |t| > 6 has probability 9e-6.
    limit = 6
    drawn = np.apply_along_axis(lambda z: canonical(z), 2, found.members)
    likely = [z for z, p in exact.partition.items() if p > 0.01]
    shares = np.stack([(drawn == z).all(axis=2).mean(axis=1) for z in likely], axis=1)
    assert within(shares, np.array([exact.partition[z] for z in likely])) < limit
    for d, draws in enumerate(found.by_domain):
        assert within(draws.label_proba, exact.proba[d]) < limit
        assert within(draws.weights.mean(axis=1), exact.weight[d]) < limit
        assert within(draws.rates.mean(axis=1), exact.rates[d, shared.voters[d]]) < limit
