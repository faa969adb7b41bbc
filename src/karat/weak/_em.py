"""Expectation–maximisation for Dawid and Skene's model, on pattern counts.

Labelers are cut into blocks. Within a block few combinations of votes occur, so the logarithms are
added up, and the expected counts split, once per combination and not once per pattern: a pass
costs two table look-ups per block, pattern and class. The products are so small that `einsum` is
used for them: the threads of a BLAS would wait for each other longer than they compute.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.statistics._kernels import distinct_rows
from karat.weak._kernels import one_hot, safe_log, smoothed_confusions

__all__ = ["EmFit", "EmProblem", "Theta", "em_problem", "log_likelihood", "run_em", "vote_start"]

# A block's table stays in the processor's first cache, a chunk's temporaries in its second.
_TABLE = 4096
_CHUNK = 1 << 14
_DENSE = 1 << 15
# The longest leap, in EM steps.
_LEAP = 256.0


class Theta(NamedTuple):
    """Parameters: P(Y) of shape (k,), and P(outcome | Y) of shape (m, k, k+1)."""

    prior: FloatArray
    confusions: FloatArray


class EmProblem(NamedTuple):
    """What stays fixed: the patterns, their weights, and the penalty.

    ``pseudo[j, y, o]`` votes are added to labeler j's confusion, in the proportions of the majority
    vote's. With ``coverage``, abstention does not depend on the truth.
    """

    ids: list[IntArray]
    tables: list[FloatArray]
    weight: FloatArray
    pseudo: FloatArray
    coverage: FloatArray | None
    prior: FloatArray | None

    @property
    def k(self) -> int:
        """Number of classes."""
        return int(self.pseudo.shape[1])


class EmFit(NamedTuple):
    """Where a run ended: ``objective`` is per item, ``gap`` an estimate of what is missing."""

    theta: Theta
    objective: float
    gap: float
    n_iter: int


def em_problem(
    codes: IntArray,
    weight: FloatArray,
    k: int,
    *,
    smoothing: float,
    missing: bool,
    prior: FloatArray | None,
) -> EmProblem:
    """Prepare the look-ups and the penalty."""
    m = codes.shape[1]
    size = _block_size(len(codes), m, k)
    ids, tables = [], []
    for start in range(0, m, size):
        block, first = distinct_rows(codes[:, start : start + size], k + 1)
        ids.append(block)
        tables.append(one_hot(codes[first, start : start + size], k))
    silent = np.array([weight[codes[:, j] < 0].sum() for j in range(m)]) / weight.sum()
    coverage = 1.0 - silent if missing else None
    bare = EmProblem(ids, tables, weight, np.zeros((m, k, k + 1)), coverage, prior)
    counts = _split(bare, _block_sums(bare, _vote_mass(bare, np.ones(m))))
    if missing:
        counts[:, :, k] = 0.0
    return bare._replace(pseudo=smoothing * smoothed_confusions(counts, 1.0))


def _block_size(n_patterns: int, m: int, k: int) -> int:
    """Return how many labelers make a block, so that its table is small beside the patterns."""
    if n_patterns * m * (k + 1) <= _DENSE:
        return m
    rows = np.clip(n_patterns / 8, 256, _TABLE)
    most = max(1, int(np.log(rows) / np.log(k + 1)))
    return -(-m // -(-m // most))  # blocks of about the same size


def vote_start(problem: EmProblem, trust: FloatArray) -> Theta:
    """Return the parameters for a vote in which labeler j has the weight ``trust[j]``."""
    mass = _vote_mass(problem, trust)
    return _maximize(problem, mass.sum(axis=1), _split(problem, _block_sums(problem, mass)))


def _vote_mass(problem: EmProblem, trust: FloatArray) -> FloatArray:
    """Return each pattern's weight, shared among classes like its votes: (k, patterns)."""
    k = problem.k
    ballot = np.concatenate([np.eye(k), np.zeros((k, 1))], axis=1)
    flat = (trust[:, None] * ballot[:, None, :]).reshape(k, -1)
    tables = _block_scores(problem, flat)
    totals = tables[0][:, problem.ids[0]]
    for table, block in zip(tables[1:], problem.ids[1:], strict=True):
        totals += table[:, block]
    cast = totals.sum(axis=0)
    shares = np.where(cast > 0, totals / np.where(cast > 0, cast, 1.0), 1.0 / k)
    return np.asarray(shares * problem.weight)


def _block_scores(problem: EmProblem, flat: FloatArray) -> list[FloatArray]:
    """Add up ``flat[y, (labeler, outcome)]`` over each combination of each block: (k, rows)."""
    scores, start = [], 0
    for hot in problem.tables:
        scores.append(np.einsum("yc,rc->yr", flat[:, start : start + hot.shape[1]], hot))
        start += hot.shape[1]
    return scores


def _block_sums(problem: EmProblem, mass: FloatArray) -> list[FloatArray]:
    """Add up the mass (k, patterns) of each combination of each block."""
    return [
        np.asarray([np.bincount(ids, weights=row, minlength=len(hot)) for row in mass])
        for ids, hot in zip(problem.ids, problem.tables, strict=True)
    ]


def _maximize(problem: EmProblem, mass: FloatArray, counts: FloatArray) -> Theta:
    """Return the best parameters for expected class masses (k,) and outcome counts (m, k, k+1)."""
    added = counts + problem.pseudo
    prior = mass / mass.sum() if problem.prior is None else problem.prior
    return Theta(prior, _project(problem, added))


def _project(problem: EmProblem, rows: FloatArray) -> FloatArray:
    """Scale rows to sum to 1; with ``coverage``, votes to it and abstention to the rest."""
    if problem.coverage is None:
        total = rows.sum(axis=2, keepdims=True)
        empty = np.full_like(rows, 1.0 / rows.shape[2])
        return np.where(total > 0, rows / np.where(total > 0, total, 1.0), empty)
    k, cover = problem.k, problem.coverage[:, None, None]
    total = rows[:, :, :k].sum(axis=2, keepdims=True)
    even = np.full_like(rows[:, :, :k], 1.0 / k)
    votes = cover * np.where(total > 0, rows[:, :, :k] / np.where(total > 0, total, 1.0), even)
    silent = np.broadcast_to(1.0 - cover, (*rows.shape[:2], 1))
    return np.concatenate([votes, silent], axis=2)


def _split(problem: EmProblem, tables: list[FloatArray]) -> FloatArray:
    """Turn the mass of each block's combinations into outcome counts of each labeler."""
    k = problem.k
    parts = [
        np.einsum("yr,rc->yc", mass, hot).reshape(k, -1, k + 1).swapaxes(0, 1)
        for mass, hot in zip(tables, problem.tables, strict=True)
    ]
    return np.concatenate(parts)


def _penalty(problem: EmProblem, theta: Theta) -> float:
    return float((problem.pseudo * safe_log(theta.confusions)).sum())


def log_likelihood(problem: EmProblem, fit: EmFit) -> float:
    """Return the log-likelihood of all items, without the penalty."""
    return fit.objective * float(problem.weight.sum()) - _penalty(problem, fit.theta)


def _pass(problem: EmProblem, theta: Theta) -> tuple[float, Theta]:
    """Return the penalised log-likelihood per item at ``theta``, and the next parameters."""
    k = problem.k
    flat = safe_log(theta.confusions).transpose(1, 0, 2).reshape(k, -1)
    scores = _block_scores(problem, flat)
    scores[0] += safe_log(theta.prior)[:, None]
    sums = [np.zeros((k, len(hot))) for hot in problem.tables]
    tops = [table.max(axis=0) for table in scores]
    ratios = [np.exp(table - top) for table, top in zip(scores, tops, strict=True)]
    total = 0.0
    for at in range(0, len(problem.weight), _CHUNK):
        part = slice(at, at + _CHUNK)
        ids = [block[part] for block in problem.ids]
        weight = problem.weight[part]
        joint, log_evidence = _posterior_of(scores, tops, ratios, ids)
        total += float((weight * log_evidence).sum())
        joint *= weight
        for sum_, block in zip(sums, ids, strict=True):
            for y in range(k):
                sum_[y] += np.bincount(block, weights=joint[y], minlength=sum_.shape[1])
    mass = sums[0].sum(axis=1)
    objective = (total + _penalty(problem, theta)) / float(problem.weight.sum())
    return objective, _maximize(problem, mass, _split(problem, sums))


def _posterior_of(
    scores: list[FloatArray],
    tops: list[FloatArray],
    ratios: list[FloatArray],
    ids: list[IntArray],
) -> tuple[FloatArray, FloatArray]:
    """Return P(Y | z) of shape (k, patterns) and log P(z).

    Likelihood ratios within each block are multiplied, which needs no exponential per pattern;
    where blocks contradict each other so much that the product vanishes, logarithms are added.
    """
    joint = ratios[0].take(ids[0], axis=1)
    shift = tops[0].take(ids[0])
    for ratio, top, block in zip(ratios[1:], tops[1:], ids[1:], strict=True):
        joint *= ratio.take(block, axis=1)
        shift += top.take(block)
    evidence = joint.sum(axis=0)
    if evidence.min() < 1e-200:
        joint = scores[0].take(ids[0], axis=1)
        for table, block in zip(scores[1:], ids[1:], strict=True):
            joint += table.take(block, axis=1)
        shift = joint.max(axis=0)
        # Numbers too small to be normal are slow.
        joint = np.exp(np.maximum(joint - shift, -600.0))
        evidence = joint.sum(axis=0)
    joint /= evidence
    return joint, shift + np.log(evidence)


def _leap(problem: EmProblem, a: Theta, b: Theta, c: Theta) -> tuple[Theta, float]:
    """Return a SQUAREM extrapolation of three successive iterates, and EM's rate there."""
    logs = [[safe_log(part) for part in theta] for theta in (a, b, c)]
    first = [y - x for x, y in zip(logs[0], logs[1], strict=True)]
    second = [y - x for x, y in zip(logs[1], logs[2], strict=True)]
    bend = [y - x for x, y in zip(first, second, strict=True)]
    size, turn = (np.sqrt(sum(float((d**2).sum()) for d in v)) for v in (first, bend))
    rate = np.sqrt(sum(float((d**2).sum()) for d in second)) / max(size, 1e-300)
    step = min(max(1.0, size / max(turn, 1e-300)), _LEAP)
    moved = [x + 2 * step * r + step**2 * v for x, r, v in zip(logs[0], first, bend, strict=True)]
    prior, rows = (np.exp(v - v.max(axis=-1, keepdims=True)) for v in moved)
    fixed = prior / prior.sum() if problem.prior is None else problem.prior
    return Theta(fixed, _project(problem, rows)), float(rate)


def run_em(problem: EmProblem, start: Theta, *, max_iter: int, tol: float) -> EmFit:
    """Run accelerated EM until the estimated gain that is left is at most ``tol`` per item.

    One iteration is one pass over the patterns. EM gains at a linear rate r² near its limit, so
    what is left after a gain g is about g / (1 - r²).
    """
    theta, gap, used = start, np.inf, 0
    value, after = _pass(problem, theta)
    while used < max_iter:
        next_value, beyond = _pass(problem, after)
        leap, rate = _leap(problem, theta, after, beyond)
        gap = (next_value - value) / max(1.0 - min(rate, 1.0) ** 2, 1e-3)
        leap_value, leap_after = _pass(problem, leap)
        used += 2
        if leap_value >= next_value:
            theta, value, after = leap, leap_value, leap_after
        else:
            theta, value, after = after, next_value, beyond
        if gap <= tol:
            break
    return EmFit(theta, value, max(gap, 0.0), used)
