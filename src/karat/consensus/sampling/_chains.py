"""Chains of one domain from dispersed starts, so that separate modes are found."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from karat._typing import FloatArray
from karat.consensus.model import Problem
from karat.consensus.sampling._chain import Draws, run_chains
from karat.votes.em import State, fit_point, starting_state
from karat.votes.tables import VoteTable

__all__ = ["MODES_APART", "MODE_NATS", "continued", "dispersed_chains", "modes_of"]

MODE_NATS = 10.0  # a chain whose likelihood is lower by more has not found the mode
_MANY_VOTES = 50_000  # beyond which a start is not climbed far
_TINY_COST = 2000  # numbers touched in a sweep; four voters have no more
_ANNEAL = (0.1, 0.2, 0.4, 0.7)  # shares of the votes that count before a longer run
_LONGEST = 16_000  # draws per chain of a longer run
_WEIGHTS = 20160619  # seed of the weights of voters at the starts
MODES_APART = 0.1  # modes whose rates differ by more are two


def dispersed_chains(
    problem: Problem,
    chains: int,
    draws: int | None,
    rng: np.random.Generator,
    step: Callable[[int], None],
) -> tuple[Draws, int, list[float]]:
    """Run the chains from dispersed starts; those stuck on a lower mode start again at the best.

    Return the draws, the number of restarts, and the distances of separate modes that fit as well.
    """
    starts, low = _starts(problem, chains)
    kept, burn = _sweeps_for(problem, draws)
    rngs = rng.spawn(chains)
    found = run_chains(problem, starts, rngs, burn=burn, draws=kept, step=step)
    found, stuck = _unstuck(problem, found, rng, step)
    return found, low + stuck, modes_of(found)


def continued(
    problem: Problem,
    found: Draws,
    rng: np.random.Generator,
    step: Callable[[int], None],
    *,
    times: int = 4,
) -> Draws:
    """Return a longer run from where the chains ended; what they drew before is dropped.

    The votes first count for less, and then more and more, so that chains leave the modes in which
    they sat and find those that hold most of the posterior. Chains that are stuck on a lower mode
    after all start again at the best.
    """
    chains, draws = found.value.shape
    starts = found.last_states
    for share in _ANNEAL:
        cool = replace(problem, table=problem.table.with_counts(share * problem.table.count))
        some = run_chains(
            cool, starts, rng.spawn(chains), burn=0, draws=max(draws // 4, 20), step=step
        )
        starts = some.last_states
    rngs = rng.spawn(chains)
    long = run_chains(
        problem, starts, rngs, burn=draws // 2, draws=min(times * draws, _LONGEST), step=step
    )
    return _unstuck(problem, long, rng, step, nats=MODE_NATS / 2)[0]


def _unstuck(
    problem: Problem,
    found: Draws,
    rng: np.random.Generator,
    step: Callable[[int], None],
    *,
    nats: float = MODE_NATS,
) -> tuple[Draws, int]:
    """Start chains that are stuck on a lower mode again at the best; return how many."""
    level, draws = found.value.mean(axis=1), found.value.shape[1]
    stuck = level < level.max() - max(nats, 1e-4 * problem.table.count.sum())
    if not stuck.any():
        return found, 0
    number = int(stuck.sum())
    best = [found.last_states[int(level.argmax())]] * number
    again = run_chains(problem, best, rng.spawn(number), burn=draws // 2, draws=draws, step=step)
    return found.replaced(stuck, again), number


def modes_of(draws: Draws) -> list[float]:
    """Return how far apart the means of chains are that cannot be draws of one distribution."""
    means, spread = draws.rates.mean(axis=1), draws.rates.std(axis=1).max(axis=0)
    apart = np.ptp(means, axis=0)
    far = apart > np.maximum(MODES_APART, 3 * spread)
    return [float(apart[far].max())] if far.any() else []


def _sweeps_for(problem: Problem, draws: int | None) -> tuple[int, int]:
    """Return draws and burn-in per chain: 1,000 each, fewer on many votes, more on very few."""
    if draws is not None:
        return draws, draws
    votes = len(problem.cell) * problem.n_components
    parameters = problem.table.n_voters * problem.table.n_outcomes * problem.n_components
    cost = votes + 6 * parameters
    kept = int(np.clip(5e7 / cost, 100, 1000)) if cost > _TINY_COST else 4000
    return kept, kept if kept >= 1000 else kept // 2


def _starts(problem: Problem, chains: int) -> tuple[list[State], int]:
    """Return one start from the majority vote and others from voters weighed at random.

    The weights are the same in every run and do not depend on the order of the voters: which modes
    are found must not depend on luck. A start that climbs to a much lower mode would waste its
    chain: the best takes its place, and the number of those is returned.
    """
    table = problem.table
    rng = np.random.default_rng(_WEIGHTS)
    voters = table.order()[1]
    steps = 30 if len(table.voter) < _MANY_VOTES else 10
    starts, level = [], []
    for chain in range(chains):
        weight = _gold_weight(table)
        if chain:
            random = np.empty(table.n_voters)
            random[voters] = rng.exponential(size=table.n_voters) ** 2
            weight = random if weight is None else weight * random
        state = starting_state(problem, table.vote_shares(weight))
        state, value, _ = fit_point(problem, state, max_iter=steps, tol=1e-4)
        starts.append(state)
        level.append(float(table.count @ value))
    best = int(np.argmax(level))
    low = np.array(level) < level[best] - max(MODE_NATS, 1e-3 * table.count.sum())
    return [starts[best] if out else s for s, out in zip(starts, low, strict=True)], int(low.sum())


def _gold_weight(table: VoteTable) -> FloatArray | None:
    """Return the weight of each voter by its record on gold labels, None if there are none."""
    known = table.gold >= 0
    if not known.any():
        return None
    cast = known[table.pattern_of_vote] & (table.outcome < table.n_classes)
    voter, pattern = table.voter[cast], table.pattern_of_vote[cast]
    count = table.count[pattern]
    right = count * (table.outcome[cast] == table.gold[pattern])
    n = np.bincount(voter, weights=count, minlength=table.n_voters)
    share = (1 + np.bincount(voter, weights=right, minlength=table.n_voters)) / (2 + n)
    odds = np.log(share * (table.n_classes - 1) / (1 - share))
    return np.maximum(odds, 0.01)
