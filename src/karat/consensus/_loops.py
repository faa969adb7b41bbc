"""The Gibbs sweeps and the expectation step, compiled by numba; import only when needed.

A *component* c is a class, or a class and a difficulty. A *cell* is an entry of the table of
probabilities that one vote looks up: who voted, what, and how it relates to the vote of the
voter it may copy. The vote table is a list of cells per pattern, so one sweep costs
O(votes in distinct patterns · components), whatever the number of items.
"""

import math

import numpy as np
from numba import njit

from karat._typing import FloatArray, IntArray

__all__ = ["binomial", "cell_table", "expect", "gibbs", "pattern_log_likelihood"]

_TINY = 1e-12  # no probability is smaller, so that _SCALE_AFTER of them do not underflow
_SCALE_AFTER = 16


@njit(cache=True, nogil=True, error_model="numpy")
def _gamma(rng: np.random.Generator, shape: float) -> float:
    return float(rng.standard_gamma(shape))


@njit(cache=True, nogil=True, error_model="numpy")
def binomial(rng: np.random.Generator, n: float, p: float) -> float:
    """Draw a binomial number at a cost that hardly depends on n.

    By inversion while the mean is small, else by transformed rejection: algorithm BTRS of
    W. Hörmann, The generation of binomial random variates, J. Stat. Comput. Simul. 46 (1993).
    """
    small = min(p, 1 - p)
    if small <= 0:
        return n if p > 0.5 else 0.0
    q, k = 1 - small, 0.0
    if n * small < 10:
        chance, u = np.exp(n * np.log1p(-small)), rng.random()
        while u > chance and k < n:
            u -= chance
            k += 1
            chance *= (n - k + 1) / k * small / q
    else:
        spread = np.sqrt(n * small * q)
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * small
        alpha, mode = (2.83 + 5.1 / b) * spread, np.floor((n + 1) * small)
        while True:
            u, v = rng.random() - 0.5, rng.random()
            edge = 0.5 - abs(u)
            k = np.floor((2 * a / edge + b) * u + n * small + 0.5)
            if edge >= 0.07 and v <= 0.92 - 4.2 / b:
                break
            if k < 0 or k > n:
                continue
            height = math.lgamma(mode + 1) - math.lgamma(k + 1) + (k - mode) * np.log(small / q)
            height += math.lgamma(n - mode + 1) - math.lgamma(n - k + 1)
            if np.log(v * alpha / (a / (edge * edge) + b)) <= height:
                break
    return float(n - k if p > 0.5 else k)


@njit(cache=True, nogil=True, error_model="numpy")
def cell_table(theta: FloatArray, copied: FloatArray, table: FloatArray) -> None:
    """Fill the probability of every cell in each component.

    Columns 0…N·O−1: voter j says o of its own, θ. If any voter copies, N·O more for a vote that
    differs from its parent's, (1−κ)θ, and N·O for one that equals it, κ+(1−κ)θ.
    """
    voters, outcomes, components = theta.shape
    block = voters * outcomes
    for c in range(components):
        for j in range(voters):
            for o in range(outcomes):
                row = j * outcomes + o
                own = max(theta[j, o, c], _TINY)
                table[c, row] = own
                if table.shape[1] > block:
                    table[c, block + row] = max((1 - copied[j]) * own, _TINY)
                    table[c, 2 * block + row] = copied[j] + (1 - copied[j]) * own


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _responsibility(
    start: int,
    stop: int,
    cell: IntArray,
    table: FloatArray,
    weight: FloatArray,
    group: IntArray,
    gold: int,
    out: FloatArray,
) -> float:
    """Write P(component | one pattern) to ``out`` and return the pattern's log-likelihood.

    Products are scaled to sum 1 after every few votes and the logarithms of the scales add up,
    which is as safe as adding logarithms and takes one of them where that takes many.
    """
    value, first = 0.0, start
    for c in range(len(out)):
        out[c] = max(weight[c], _TINY) if gold < 0 or group[c] == gold else 0.0
    while True:
        last = min(first + _SCALE_AFTER, stop)
        total = 0.0
        for c in range(len(out)):
            product = out[c]
            for v in range(first, last):
                product *= table[c, cell[v]]
            out[c] = product
            total += product
        for c in range(len(out)):
            out[c] /= total
        value += np.log(total)
        first = last
        if first >= stop:
            return float(value)


@njit(cache=True, nogil=True, error_model="numpy")
def pattern_log_likelihood(
    start: IntArray,
    cell: IntArray,
    gold: IntArray,
    group: IntArray,
    table: FloatArray,
    weight: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return log P(votes) and P(component | votes) of every pattern."""
    patterns, components = len(start) - 1, len(weight)
    value = np.empty(patterns)
    proba = np.empty((patterns, components))
    share = np.empty(components)
    for p in range(patterns):
        value[p] = _responsibility(
            start[p], start[p + 1], cell, table, weight, group, gold[p], share
        )
        for c in range(components):
            proba[p, c] = share[c]
    return value, proba


@njit(cache=True, nogil=True, error_model="numpy")
def expect(
    start: IntArray, cell: IntArray, count: FloatArray, proba: FloatArray, rows: int
) -> FloatArray:
    """Return the expected number of votes of each cell in each component."""
    counts = np.zeros((rows, proba.shape[1]))
    for p in range(len(count)):
        for v in range(start[p], start[p + 1]):
            for c in range(proba.shape[1]):
                counts[cell[v], c] += count[p] * proba[p, c]
    return counts


@njit(cache=True, nogil=True, error_model="numpy")
def _allocate(
    rng: np.random.Generator,
    start: IntArray,
    cell: IntArray,
    count: FloatArray,
    gold: IntArray,
    group: IntArray,
    table: FloatArray,
    weight: FloatArray,
    counts: FloatArray,
    sizes: FloatArray,
    proba_sum: FloatArray,
    keep: bool,
) -> float:
    """Draw how many items of each pattern belong to each component, and tally their votes."""
    components = len(weight)
    share, logits = np.empty(components), np.empty(components)
    counts[:] = 0.0
    sizes[:] = 0.0
    value = 0.0
    for p in range(len(count)):
        value += count[p] * _responsibility(
            start[p], start[p + 1], cell, table, weight, group, gold[p], share
        )
        if keep:
            for c in range(components):
                proba_sum[p, c] += share[c]
        whole = np.floor(count[p] + 1e-9)
        rest = count[p] - whole
        left, mass = whole, 1.0
        for c in range(components):
            drawn = 0.0
            if left > 0:
                if c == components - 1 or share[c] >= mass:
                    drawn = left
                elif left == 1:
                    drawn = 1.0 if rng.random() * mass < share[c] else 0.0
                else:
                    drawn = binomial(rng, left, share[c] / mass)
                left -= drawn
                mass -= share[c]
            logits[c] = drawn
        if rest > 1e-9:
            # A fraction of an item: its complete-data likelihood counts to that power.
            total = 0.0
            for c in range(components):
                share[c] = share[c] ** rest if share[c] > 0 else 0.0
                total += share[c]
            u = rng.random() * total
            chosen = components - 1
            for c in range(components):
                u -= share[c]
                if u < 0:
                    chosen = c
                    break
            logits[chosen] += rest
        for c in range(components):
            if logits[c] > 0:
                sizes[c] += logits[c]
                for v in range(start[p], start[p + 1]):
                    counts[cell[v], c] += logits[c]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _own_votes(
    rng: np.random.Generator,
    theta: FloatArray,
    copied: FloatArray,
    counts: FloatArray,
    own: FloatArray,
    copies: FloatArray,
) -> None:
    """Split the votes into those given alone (``own``) and copied ones (``copies``: yes, no)."""
    voters, outcomes, components = theta.shape
    block = voters * outcomes
    for j in range(voters):
        copies[j, 0] = 0.0
        copies[j, 1] = 0.0
        for o in range(outcomes):
            row = j * outcomes + o
            for c in range(components):
                own[j, o, c] = counts[row, c]
                if len(counts) > block:
                    apart, same = counts[block + row, c], counts[2 * block + row, c]
                    taken = 0.0
                    if same > 0:
                        chance = copied[j] / (copied[j] + (1 - copied[j]) * theta[j, o, c] + 1e-300)
                        whole = np.floor(same + 1e-9)
                        taken = binomial(rng, whole, chance)
                        if same - whole > 1e-9 and rng.random() < chance:
                            taken += same - whole
                    own[j, o, c] += apart + same - taken
                    copies[j, 0] += taken
                    copies[j, 1] += apart + same - taken


@njit(cache=True, nogil=True, error_model="numpy")
def _beta(rng: np.random.Generator, a: float, b: float) -> float:
    x, y = _gamma(rng, a), _gamma(rng, b)
    return float(x / (x + y)) if x + y > 0 else 0.5


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_rows(
    rng: np.random.Generator, own: FloatArray, prior: FloatArray, theta: FloatArray
) -> None:
    """Class-conditional errors: one Dirichlet row per voter and component."""
    voters, outcomes, components = theta.shape
    for j in range(voters):
        for c in range(components):
            total = 0.0
            for o in range(outcomes):
                theta[j, o, c] = _gamma(rng, prior[c, o] + own[j, o, c])
                total += theta[j, o, c]
            for o in range(outcomes):
                theta[j, o, c] = theta[j, o, c] / total if total > 0 else prior[c, o]


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_rates(
    rng: np.random.Generator,
    own: FloatArray,
    prior: FloatArray,
    group: IntArray,
    classes: int,
    theta: FloatArray,
) -> None:
    """Symmetric errors: one rate per voter and difficulty, spread evenly over the wrong classes.

    ``prior[h] = (wrong, right)``; the rate of abstaining is the voter's own, Beta(1, 1).
    """
    voters, outcomes, components = theta.shape
    levels = components // classes
    for j in range(voters):
        silent = 0.0
        if outcomes > classes:
            spoke = 0.0
            for c in range(components):
                silent += own[j, classes, c]
                for o in range(classes):
                    spoke += own[j, o, c]
            silent = _beta(rng, 1.0 + silent, 1.0 + spoke)
        for h in range(levels):
            wrong = right = 0.0
            for k in range(classes):
                c = k * levels + h
                for o in range(classes):
                    if o == group[c]:
                        right += own[j, o, c]
                    else:
                        wrong += own[j, o, c]
            rate = _beta(rng, prior[h, 0] + wrong, prior[h, 1] + right)
            for k in range(classes):
                c = k * levels + h
                for o in range(classes):
                    chance = 1 - rate if o == group[c] else rate / (classes - 1)
                    theta[j, o, c] = (1 - silent) * chance
                if outcomes > classes:
                    theta[j, classes, c] = silent


@njit(cache=True, nogil=True, error_model="numpy")
def _error_rates(
    theta: FloatArray,
    copied: FloatArray,
    parent: IntArray,
    order: IntArray,
    weight: FloatArray,
    group: IntArray,
    classes: int,
    full: FloatArray,
    rates: FloatArray,
) -> None:
    """Write each voter's chance of being wrong when it votes, copying included.

    ``order`` has every parent before its children; ``full`` is the voter's marginal row.
    """
    voters, outcomes, components = theta.shape
    for i in range(voters):
        j = order[i]
        wrong = spoke = 0.0
        for c in range(components):
            for o in range(outcomes):
                chance = theta[j, o, c]
                if parent[j] >= 0:
                    chance = copied[j] * full[parent[j], o, c] + (1 - copied[j]) * chance
                full[j, o, c] = chance
                if o < classes:
                    spoke += weight[c] * chance
                    if o != group[c]:
                        wrong += weight[c] * chance
        rates[j] = wrong / spoke if spoke > 0 else np.nan


@njit(cache=True, nogil=True, error_model="numpy")
def _finite_errors(
    counts: FloatArray, group: IntArray, classes: int, outcomes: int, errors: FloatArray
) -> None:
    """Write the share of each voter's votes cast that are wrong under the drawn labels."""
    voters = len(errors)
    block = voters * outcomes
    for j in range(voters):
        wrong = spoke = 0.0
        for first in range(0, len(counts), block):
            for o in range(classes):
                for c in range(counts.shape[1]):
                    votes = counts[first + j * outcomes + o, c]
                    spoke += votes
                    if o != group[c]:
                        wrong += votes
        errors[j] = wrong / spoke if spoke > 0 else np.nan


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_state(
    theta: FloatArray, copied: FloatArray, kept_theta: FloatArray, kept_copied: FloatArray
) -> None:
    # Loops, because numba compiles them seconds faster than an assignment of arrays.
    for j in range(theta.shape[0]):
        kept_copied[j] = copied[j]
        for o in range(theta.shape[1]):
            for c in range(theta.shape[2]):
                kept_theta[j, o, c] = theta[j, o, c]


@njit(cache=True, nogil=True, error_model="numpy")
def gibbs(
    rng: np.random.Generator,
    start: IntArray,
    cell: IntArray,
    count: FloatArray,
    gold: IntArray,
    group: IntArray,
    classes: int,
    symmetric: bool,
    prior: FloatArray,
    weight_prior: FloatArray,
    copy_prior: FloatArray,
    parent: IntArray,
    order: IntArray,
    n_rows: int,
    theta: FloatArray,
    copied: FloatArray,
    weight: FloatArray,
    sweeps: int,
    rates: FloatArray,
    finite: FloatArray,
    weights: FloatArray,
    value: FloatArray,
    thetas: FloatArray,
    copies: FloatArray,
    every: int,
    proba_sum: FloatArray,
) -> None:
    """Run ``sweeps`` sweeps from (theta, copied, weight), which hold the last state at the end.

    The draws fill ``rates``, ``finite``, ``weights`` and ``value`` (the log-likelihood) if those
    have a row per sweep; every ``every``-th full state goes to ``thetas``. Burn-in passes arrays
    of no rows.
    """
    voters, outcomes, components = theta.shape
    table = np.empty((components, n_rows))
    counts, sizes = np.empty((n_rows, components)), np.empty(components)
    own, full = np.empty(theta.shape), np.empty(theta.shape)
    tally = np.empty((voters, 2))
    keep = len(rates) > 0
    for s in range(sweeps):
        cell_table(theta, copied, table)
        reached = _allocate(
            rng,
            start,
            cell,
            count,
            gold,
            group,
            table,
            weight,
            counts,
            sizes,
            proba_sum,
            keep,
        )
        _own_votes(rng, theta, copied, counts, own, tally)
        if symmetric:
            _draw_rates(rng, own, prior, group, classes, theta)
        else:
            _draw_rows(rng, own, prior, theta)
        total = 0.0
        for c in range(components):
            weight[c] = _gamma(rng, weight_prior[c] + sizes[c])
            total += weight[c]
        for c in range(components):
            weight[c] /= total
        for j in range(voters):
            if parent[j] >= 0:
                copied[j] = _beta(rng, copy_prior[0] + tally[j, 0], copy_prior[1] + tally[j, 1])
        if keep:
            value[s] = reached
            for c in range(components):
                weights[s, c] = weight[c]
            _error_rates(theta, copied, parent, order, weight, group, classes, full, rates[s])
            _finite_errors(counts, group, classes, outcomes, finite[s])
            if s % every == 0 and s // every < len(thetas):
                _keep_state(theta, copied, thetas[s // every], copies[s // every])
