"""Who copies whom: pairs of voters that agree more than their errors allow."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.agreement._pairs import SharedVotes
from karat.votes.agreement._states import marginal_confusions
from karat.votes.em import (
    ListedProblem,
    State,
    TableProblem,
    VoteLaw,
    fit_point,
    log_likelihood,
    starting_state,
)

__all__ = ["FEW", "copying_forest", "voter_errors"]

FEW = 10  # voters among whom edges are found by their likelihood
_LEVEL = 0.05  # chance of any false pair if all voters were independent


def copying_forest(problem: TableProblem, state: State, shared: SharedVotes) -> IntArray | None:
    """Return who each voter may copy, or None if no pair agrees too much.

    A pair is tested on each outcome apart, because two voters that copy rare positives agree on
    nearly everything anyway. The pairs that fail, the most significant first, make a forest; the
    most accurate voter of a tree is its root. Of few voters, a pair that copies passes for the
    truth and the others seem to agree too much, so there every edge is tried in turn.
    """
    from scipy.special import ndtri

    if not len(shared.n):
        return None
    z = _excess(problem, state, shared)
    limit = -float(ndtri(_LEVEL / max(1, len(z) * problem.table.n_outcomes)))
    edges = _spanning_forest(z, shared, limit, problem.table.n_voters)
    if not edges:
        return None
    if problem.table.n_heard <= FEW:
        return _search(problem, state)
    return _rooted(edges, voter_errors(problem.law, state))


def voter_errors(law: VoteLaw, state: State) -> FloatArray:
    """Return each voter's chance of being wrong when it votes."""
    full = marginal_confusions(law.parent, state)[:, : law.n_classes]
    spoken = np.einsum("joc,c->j", full, state.weight)
    right = np.take_along_axis(full, law.group[None, None, :], axis=1)[:, 0] @ state.weight
    return np.asarray(1 - right / np.maximum(spoken, 1e-300))


def _search(problem: TableProblem, state: State) -> IntArray | None:
    """Return the forest that grows by the edge with the largest gain while that is significant."""
    from scipy.special import chdtri

    table, voters = problem.table, problem.table.n_voters
    parent = np.full(voters, -1)
    reached = float(table.count @ log_likelihood(problem, state)[0])
    pairs = voters * (voters - 1) / 2
    wanted = 0.5 * float(chdtri(1, _LEVEL / pairs))  # of a likelihood ratio, by Bonferroni
    while True:
        best = (reached + wanted, parent, state)
        errors = voter_errors(replace(problem.law, parent=parent), state)
        for i, j in combinations(np.argsort(errors, kind="stable").tolist(), 2):
            if parent[j] < 0 and _root(parent, i) != j:
                grown = parent.copy()
                grown[j] = i
                best = max(best, _fit_with(problem, grown, (i, j)), key=lambda found: found[0])
        if best[1] is parent:
            return parent if (parent >= 0).any() else None
        reached, parent, state = best


def _fit_with(
    problem: TableProblem, parent: IntArray, pair: tuple[int, int]
) -> tuple[float, IntArray, State]:
    """Fit a forest from a start in which the two voters of a new edge count half."""
    table = problem.table
    half = np.where(np.isin(np.arange(table.n_voters), pair), 0.5, 1.0)
    copying = ListedProblem.of(table, replace(problem.law, parent=parent))
    start = starting_state(copying, table.vote_shares(half))
    state, value, _ = fit_point(copying, start, max_iter=50, tol=1e-5)
    return float(table.count @ value), parent, state


def _root(parent: IntArray, voter: int) -> int:
    while parent[voter] >= 0:
        voter = int(parent[voter])
    return voter


def _excess(problem: TableProblem, state: State, shared: SharedVotes) -> FloatArray:
    """Return, per pair, the largest excess of equal votes over the outcomes, in errors."""
    best = np.full(len(shared.n), -np.inf)
    for o in range(problem.table.n_outcomes):
        rows = state.theta[:, o]
        expected = np.zeros(len(shared.n))
        for c, weight in enumerate(state.weight):
            expected += weight * rows[shared.first, c] * rows[shared.second, c]
        # The 1 keeps an outcome that is hardly expected from failing on a single item.
        error = np.sqrt(shared.n * expected * (1 - expected) + 1)
        best = np.maximum(best, (shared.both[:, o] - shared.n * expected) / error)
    return best


def _spanning_forest(
    z: FloatArray, shared: SharedVotes, limit: float, voters: int
) -> list[tuple[int, int]]:
    """Return the strongest pairs that close no circle (Kruskal)."""
    tree = np.arange(voters)
    edges = []
    for at in np.argsort(-z, kind="stable"):
        if z[at] < limit:
            break
        i, j = int(shared.first[at]), int(shared.second[at])
        if tree[i] != tree[j]:
            tree[tree == tree[j]] = tree[i]
            edges.append((i, j))
    return edges


def _rooted(edges: list[tuple[int, int]], errors: FloatArray) -> IntArray:
    """Point every edge away from the most accurate voter of its tree."""
    near: dict[int, list[int]] = {}
    for i, j in edges:
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    parent = np.full(len(errors), -1)
    seen: set[int] = set()
    for root in np.argsort(errors, kind="stable").tolist():
        if root in seen or root not in near:
            continue
        seen.add(root)
        waiting = [root]
        while waiting:
            at = waiting.pop()
            for other in near[at]:
                if other not in seen:
                    seen.add(other)
                    parent[other] = at
                    waiting.append(other)
    return parent
