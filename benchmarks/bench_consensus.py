"""Error rates from votes: against a per-item NumPy sampler, and in the number of items."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _timing import best_of
from numpy.typing import NDArray

from karat.consensus import ErrorEstimator
from karat.consensus._em import starting_state
from karat.consensus._model import Model, build_problem
from karat.consensus._read import read_votes
from karat.consensus._sample import run_chains
from karat.datasets import load_shared
from karat.exceptions import KaratWarning, MissingDatasetError

N, M = 1_000_000, 8
CHAINS, DRAWS = 4, 1000
SWEEPS = 2 * DRAWS  # as many are thrown away as are kept
LARGE = ("relevance", "trec_relevance", "adult_content", "fact_eval")


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
    mine = estimator().fit(votes).result_.mean
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


def default_on_crowds() -> None:
    """Print the time of the default on the largest shared crowds."""
    taken = {}
    for name in LARGE:
        try:
            answers = load_shared(f"crowd_{name}", "answers")
        except MissingDatasetError as error:
            print(f"no crowds: {error}")
            return
        votes = answers.rename(columns={"task": "item", "worker": "classifier", "answer": "vote"})
        taken[name] = best_of(2, lambda votes=votes: ErrorEstimator(rng=0).fit(votes))
        print(f"default on crowd_{name}, {len(votes):,} votes: {taken[name]:.1f} s")
    slowest = max(taken, key=taken.__getitem__)
    print(f"slowest default on a shared crowd: crowd_{slowest}, {taken[slowest]:.1f} s")


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
    default_on_crowds()


if __name__ == "__main__":
    main()
