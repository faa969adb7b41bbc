"""Where chains over all domains start."""

import numpy as np

from karat.consensus.model import Problem
from karat.consensus.sampling._pooled_domains import PooledDomains, log_prior, rows_of
from karat.consensus.sampling.loops import PooledState
from karat.votes.em import State, fit_point, starting_state

__all__ = ["pooled_start"]


def pooled_start(
    pooled: PooledDomains, rng: np.random.Generator, *, one_cluster: bool
) -> PooledState:
    """Return a start from a climb in each domain, with voters weighed at random.

    With ``one_cluster`` all domains share error rates, or each voter has the same rates in all
    domains; otherwise nothing is shared.
    """
    n, k = pooled.n_voters, pooled.n_classes
    rows = np.empty((pooled.n_domains, n, *pooled.prior.shape))
    rows[:] = pooled.prior / pooled.prior.sum(axis=1, keepdims=True)
    weight = np.empty((pooled.n_domains, k))
    for d, problem in enumerate(pooled.problems):
        noise = rng.exponential(size=problem.table.n_voters) ** 0.5
        state = starting_state(problem, problem.table.vote_shares(noise))
        state, _, _ = fit_point(problem, state, max_iter=20, tol=1e-4)
        state = _upright(pooled, problem, state)
        rows[d, pooled.voters[d]] = rows_of(pooled, state.theta)
        weight[d] = state.weight
    mean = rows.mean(axis=0)
    if pooled.structure == "coupled":
        clusters = np.empty((pooled.n_domains + 1, *rows.shape[1:]))
        clusters[:-1], clusters[-1] = rows, mean
        alone = np.arange(pooled.n_domains)
        member = np.full_like(alone, pooled.n_domains) if one_cluster else alone
        return PooledState(clusters, weight, member, np.empty((0, 0), dtype=np.int64), np.ones(1))
    pairs = pooled.n_domains * n
    atoms = np.empty((pairs + 1, *pooled.prior.shape))
    atoms[:pairs], atoms[pairs] = rows.reshape(pairs, *pooled.prior.shape), mean.mean(axis=0)
    local = np.tile(np.arange(n), (pooled.n_domains, 1))  # every voter is alone in its domain
    atom = np.arange(pairs).reshape(pooled.n_domains, n)
    if one_cluster:
        atoms[:n] = mean
        atom = local.copy()
    return PooledState(atoms, weight, local, atom, np.ones(2))


def _upright(pooled: PooledDomains, problem: Problem, state: State) -> State:
    """Return the state or its mirror image: of two classes, swapped labels fit votes as well.

    Only the prior distinguishes them, and sweeps do not lead from one to the other.
    """
    if pooled.n_classes != 2 or (problem.table.gold >= 0).any():
        return state
    mirror = State(state.theta[:, :, ::-1].copy(), state.copied, state.weight[::-1].copy())
    sides = (state, mirror)
    return max(sides, key=lambda s: log_prior(pooled, rows_of(pooled, s.theta)))
