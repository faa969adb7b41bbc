"""Laws with a known truth for the bounds, and linear programs as oracles."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog


class Law(NamedTuple):
    """A draw from the sparse setting: many labelers, few items a pattern, a known posterior."""

    y: np.ndarray
    y_pred: np.ndarray
    votes: np.ndarray
    p: np.ndarray  # the exact P(Y | Z) of each row
    right: float  # P(Ŷ = Y)
    prior: np.ndarray
    tables: np.ndarray  # P(abstain), P(vote a), P(vote b) of each labeler, given each class

    def every_pattern(self):
        """Return the probability of every pattern of votes, and the exact P(Y | Z) of each."""
        joint = self.prior[None]
        for table in self.tables:
            joint = (joint[:, None] * table.T).reshape(-1, len(self.prior))
        chance = joint.sum(axis=1)
        return chance, joint / chance[:, None]

    def sharp_accuracy(self):
        """Population-sharp accuracy bounds, from the exact P(Ŷ | Z)."""
        k = self.p.shape[1]
        q = self.right * self.p + (1 - self.right) * (1 - self.p) / (k - 1)
        lower = np.maximum(0.0, (q + self.p - 1).max(axis=1)).mean()
        return lower, np.minimum(q, self.p).sum(axis=1).mean()


def sparse_law(n, k, seed, labelers=8, right=0.8):
    """Draw from the sparse setting of the theory page on bounds."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(k, 5.0))
    y = rng.choice(k, n, p=prior)
    coverage, accuracy = rng.uniform(0.5, 0.9, labelers), rng.uniform(0.65, 0.9, labelers)
    votes = np.full((n, labelers), -1)
    log_p, tables = np.log(np.tile(prior, (n, 1))), []
    for j in range(labelers):
        a, b = (0, 1) if k == 2 else (j % k, (j + 1) % k)
        table = np.empty((k, 3))  # P(abstain), P(vote a), P(vote b) given each class
        table[:] = [1 - coverage[j] / 3, coverage[j] / 6, coverage[j] / 6]
        hit, miss = coverage[j] * accuracy[j], coverage[j] * (1 - accuracy[j])
        table[a] = [1 - coverage[j], hit, miss]
        table[b] = [1 - coverage[j], miss, hit]
        tables.append(table)
        drawn = (rng.random(n)[:, None] > table[y].cumsum(axis=1)).sum(axis=1).clip(max=2)
        votes[:, j] = np.array([-1, a, b])[drawn]
        log_p += np.log(table[:, drawn]).T
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    y_pred = np.where(rng.random(n) < right, y, (y + rng.integers(1, k, n)) % k)
    return Law(y, y_pred, votes, p, right, prior, np.array(tables))


@pytest.fixture(scope="session")
def draw_law():
    return sparse_law


def coupling_program(gain, p, q, slack=0.0):
    """Greatest Σ gain·π over couplings of q and any truth within ``slack`` of p, as an LP."""
    k, j = gain.shape
    size = k * j + 2 * k  # π, then the mass that leaves and that enters each true class
    equal, level = np.zeros((j + k, size)), np.append(q, p)
    for c in range(j):
        equal[c, [i * j + c for i in range(k)]] = 1
    for i in range(k):  # Σ_j π_ij + leaves_i − enters_i = p_i
        equal[j + i, i * j : (i + 1) * j] = 1
        equal[j + i, k * j + i] = 1
        equal[j + i, k * j + k + i] = -1
    moved = np.zeros((1, size))
    moved[0, k * j : k * j + k] = 1
    cost = np.append(-gain.ravel(), np.zeros(2 * k))
    if slack == 0:  # then one equation follows from the others, and rounding could contradict it
        equal, level = equal[1:, : k * j], level[1:]
        cost, moved = cost[: k * j], None
    # The solver lets every equation be off by 1e-7: give it masses that make that nothing.
    mass = 1e5
    done = linprog(
        cost, A_eq=equal, b_eq=mass * level, A_ub=moved,
        b_ub=None if moved is None else [mass * slack],
    )  # fmt: skip
    assert done.status == 0, done.message
    return -done.fun / mass


@pytest.fixture(scope="session")
def solve_program():
    return coupling_program


def ratio_program(top, bottom, constant, joint, p, side):
    """Best ⟨top, C⟩ / (⟨bottom, C⟩ + constant) by Charnes and Cooper's linear program."""
    patterns, k = joint.shape
    size = patterns * k * k + 1  # s·π for each pattern, and s itself
    rows, level = [], []
    for z in range(patterns):
        cell = joint[z].sum()
        for c in range(k):
            row = np.zeros(size)
            row[[z * k * k + i * k + c for i in range(k)]] = 1
            row[-1] = -joint[z, c]
            rows.append(row)
            row = np.zeros(size)
            row[z * k * k + c * k : z * k * k + (c + 1) * k] = 1
            row[-1] = -cell * p[z, c]
            rows.append(row)
    rows.append(np.append(np.tile(bottom.ravel(), patterns), constant))
    level = np.append(np.zeros(len(rows) - 1), 1.0)
    cost = np.append(np.tile(top.ravel(), patterns), 0.0)
    done = linprog(-side * cost, A_eq=np.array(rows), b_eq=level)
    assert done.status == 0
    return -side * done.fun


@pytest.fixture(scope="session")
def solve_ratio():
    return ratio_program
