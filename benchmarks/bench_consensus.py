"""Error rates from votes: against per-item NumPy samplers, in the number of items, and shared."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _timing import best_of, race
from numpy.typing import NDArray
from scipy.special import betaln

from karat.consensus import ErrorEstimator
from karat.consensus.model import Model, build_problem
from karat.consensus.sampling import (
    PooledDomains,
    build_pooled,
    pooled_chains,
    pooled_start,
    run_chains,
    run_pooled,
)
from karat.exceptions import KaratWarning
from karat.votes.domains import read_votes
from karat.votes.em import starting_state

N, M = 1_000_000, 8
CHAINS, DRAWS = 4, 1000
SWEEPS = 2 * DRAWS  # as many are thrown away as are kept
DOMAINS, ITEMS = 50, 100_000  # of the domains that share
LIMIT = 60  # seconds that their chains may take


def make_votes(n: int) -> NDArray[Any]:
    """Return votes of classifiers that err on 5 to 30 % of the items, independently."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.4
    wrong = rng.random((n, M)) < np.linspace(0.05, 0.3, M)
    return (y[:, None] ^ wrong).astype(np.int8)


def estimator() -> ErrorEstimator:
    """Return the class-conditional model of independent votes."""
    return ErrorEstimator(dependence="none", chains=CHAINS, draws=DRAWS, rng=0)


def numpy_gibbs(votes: NDArray[Any], sweeps: int) -> NDArray[Any]:
    """Return the mean error rates of a Gibbs sampler that draws a label for every item.

    The same model and priors: Beta(1, 1) for the share of positives, Beta(1, 2) for every error.
    """
    rng = np.random.default_rng(0)
    said = votes.astype(np.float64)
    label = (said.mean(axis=1) > 0.5).astype(np.float64)
    n, total = len(votes), said.sum(axis=0)
    rates = np.zeros(votes.shape[1])
    for _ in range(sweeps):
        positive, hits = label.sum(), label @ said
        p = rng.beta(1 + positive, 1 + n - positive)
        miss = rng.beta(1 + positive - hits, 2 + hits)
        alarm = rng.beta(1 + total - hits, 2 + n - positive - total + hits)
        slope = np.log((1 - miss) / miss) + np.log((1 - alarm) / alarm)
        base = np.log(p / (1 - p)) + np.log(miss / (1 - alarm)).sum()
        label = (rng.random(n) < 1 / (1 + np.exp(-(said @ slope + base)))).astype(np.float64)
        rates += p * miss + (1 - p) * alarm
    return np.asarray(rates / sweeps)


def against_numpy(votes: NDArray[Any], seconds: float, sampling: float) -> None:
    """Print how many times faster the fit and its sampling are than drawing every label."""
    some = 10
    theirs = best_of(2, lambda: numpy_gibbs(votes, some)) / some * CHAINS * SWEEPS
    mine = estimator().fit(votes).result_.value
    apart = np.abs(numpy_gibbs(votes, 40) - mine).max()
    print(
        f"error rates of 10^6 x {M}, {CHAINS} chains x {SWEEPS:,} sweeps: ratio "
        f"{theirs / seconds:.0f} (karat {seconds:.2f} s with reading and checks; NumPy "
        f"{theirs:.0f} s, from {some} sweeps; largest difference of the rates {apart:.5f})"
    )
    print(f"the sampling alone: ratio {theirs / sampling:.0f} (karat {sampling:.2f} s)")


def sampler(table: Any) -> Callable[[], object]:
    """Return a call that runs the chains on a table of patterns."""
    problem = build_problem(Model("independent"), table)
    start = starting_state(problem, table.vote_shares())

    def sample() -> object:
        rngs = np.random.default_rng(0).spawn(CHAINS)
        return run_chains(problem, [start] * CHAINS, rngs, burn=DRAWS, draws=DRAWS)

    return sample


def in_the_number_of_items(table: Any) -> None:
    """Print the sampling time of the same patterns, counted ten and a hundred times.

    The sizes take turns, so that whatever else the machine does falls on all of them.
    """
    base = np.maximum(np.round(table.count / 10), 1)
    samplers = {p: sampler(table.with_counts(base * 10 ** (p - 5))) for p in (5, 6, 7)}
    seconds = dict.fromkeys(samplers, np.inf)
    for _ in range(15):
        for power, sample in samplers.items():
            seconds[power] = min(seconds[power], best_of(1, sample))
    for power, taken in seconds.items():
        print(
            f"sampling of 10^{power} items in {table.n_patterns} patterns: ratio "
            f"{taken / seconds[5]:.2f} to 10^5 items ({taken:.2f} s)"
        )


def shared_votes(domains: int, items: int) -> NDArray[Any]:
    """Return votes, domains x items x voters, of domains with one of three sets of error rates."""
    rng = np.random.default_rng(0)
    rates = rng.permuted(np.tile(np.linspace(0.05, 0.3, M), (3, 1)), axis=1)
    votes = np.empty((domains, items, M), dtype=np.int8)
    for d in range(domains):
        y = rng.random(items) < rng.uniform(0.2, 0.6)
        votes[d] = y[:, None] ^ (rng.random((items, M)) < rates[d % 3])
    return votes


def shared_problem(votes: NDArray[Any], structure: str) -> PooledDomains:
    """Return the problem that the chains over all domains sample, read domain by domain."""
    tables = [read_votes(part).domains[0].table for part in votes]
    voters = [np.arange(M)] * len(tables)
    return build_pooled(tables, voters, M, structure, "class-conditional")


def many_domains() -> None:
    """Print the time of the chains of both structures on many large domains."""
    votes = shared_votes(DOMAINS, ITEMS)
    for structure in ("coupled", "hierarchical"):
        shared = shared_problem(votes, structure)
        start = time.perf_counter()
        found, again = pooled_chains(shared, CHAINS, DRAWS, DRAWS, np.random.default_rng(0))
        taken = time.perf_counter() - start
        clusters = np.mean([len(np.unique(row)) for row in found.members[0]])
        print(
            f"{structure}, {DOMAINS} domains x {M} x 10^5 items, {CHAINS} chains x {SWEEPS:,} "
            f"sweeps: {taken:.1f} s, {'within' if taken <= LIMIT else 'OVER'} {LIMIT} s ({again} "
            f"chains ran again; {clusters:.1f} clusters on average)"
        )


def seat(
    counts: NDArray[Any], member: list[int], prior: NDArray[Any], rng: np.random.Generator
) -> None:
    """Move each domain to a cluster, the rates integrated out, with a concentration of 1."""
    for d in range(len(member)):
        member[d] = -1
        clusters = sorted(set(member) - {-1})
        logits = []
        for k in (*clusters, -2):  # the last one is new
            inside = [e for e, cluster in enumerate(member) if cluster == k]
            base = prior[:, None] + counts[inside].sum(axis=0)
            fit = betaln(*(base + counts[d]).swapaxes(0, 1)) - betaln(*base.swapaxes(0, 1))
            logits.append(np.log(max(len(inside), 1)) + fit.sum())
        chance = np.exp(np.array(logits) - max(logits))
        unused = next(k for k in range(len(member)) if k not in clusters)
        member[d] = [*clusters, unused][rng.choice(len(logits), p=chance / chance.sum())]


def numpy_coupled(votes: NDArray[Any], sweeps: int) -> tuple[NDArray[Any], int]:
    """Return mean error rates of the coupled model, a label drawn for every item, and clusters.

    The same model and priors as karat's: labels given the rates; domains to clusters with the
    rates integrated out; then the rates of each cluster.
    """
    rng = np.random.default_rng(0)
    said = votes.astype(np.float64)
    domains, n, voters = said.shape
    label = (said.mean(axis=2) > 0.5).astype(np.float64)
    total, member = said.sum(axis=1), list(range(domains))
    rates, prior = np.zeros((domains, voters)), np.array([1.0, 2.0])
    for _ in range(sweeps):
        positive = label.sum(axis=1)
        hits = np.stack([one @ v for one, v in zip(label, said, strict=True)])
        misses, alarms = positive[:, None] - hits, total - hits
        rest = n - positive[:, None] - alarms
        # domains x rows (class 1, class 0) x cells (wrong, right) x voters
        counts = np.stack([misses, hits, alarms, rest], axis=1).reshape(domains, 2, 2, voters)
        seat(counts, member, prior, rng)
        for k in set(member):
            inside = [d for d, cluster in enumerate(member) if cluster == k]
            miss, alarm = rng.beta(*(prior[:, None] + counts[inside].sum(axis=0)).swapaxes(0, 1))
            slope = np.log((1 - miss) / miss) + np.log((1 - alarm) / alarm)
            for d in inside:
                p = rng.beta(1 + positive[d], 1 + n - positive[d])
                base = np.log(p / (1 - p)) + np.log(miss / (1 - alarm)).sum()
                label[d] = rng.random(n) < 1 / (1 + np.exp(-(said[d] @ slope + base)))
                rates[d] += p * miss + (1 - p) * alarm
    return rates / sweeps, len(set(member))


def coupled_against_numpy(items: int) -> None:
    """Print how many times faster the coupled sweeps are than drawing every label."""
    domains, some, sweeps = 10, 10, 500
    votes = shared_votes(domains, items)
    shared = shared_problem(votes, "coupled")
    start = pooled_start(shared, np.random.default_rng(0), one_cluster=False)

    def sample() -> Any:
        return run_pooled(shared, [start], [np.random.default_rng(0)], burn=100, draws=sweeps)

    sample()  # compile
    theirs, mine = race(3, lambda: numpy_coupled(votes, some), sample)
    theirs, mine = theirs / some, mine / (100 + sweeps)
    rates, clusters = numpy_coupled(votes, 40)
    ours = np.stack([d.rates.mean(axis=(0, 1)) for d in sample().by_domain])
    print(
        f"coupled, {domains} domains x {M} x {items:,} items, a sweep: ratio {theirs / mine:.1f} "
        f"(karat {1e3 * mine:.2f} ms, NumPy {1e3 * theirs:.1f} ms; NumPy finds {clusters} "
        f"clusters; largest difference of the rates {np.abs(rates - ours).max():.4f})"
    )


def main() -> None:
    """Print one line per comparison."""
    warnings.simplefilter("ignore", KaratWarning)
    votes = make_votes(N)
    estimator().fit(votes[:1000])  # compile
    reading = best_of(3, lambda: read_votes(votes))
    seconds = best_of(3, lambda: estimator().fit(votes))
    print(
        f"error rates of 10^6 x {M}, {CHAINS} chains x {SWEEPS:,} sweeps: {seconds:.2f} s, "
        f"of which reading the votes {reading:.2f} s"
    )
    table = read_votes(votes).domains[0].table
    against_numpy(votes, seconds, best_of(3, sampler(table)))
    in_the_number_of_items(table)
    for items in (10_000, 100_000):
        coupled_against_numpy(items)
    many_domains()


if __name__ == "__main__":
    main()
