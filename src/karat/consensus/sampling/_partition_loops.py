"""Compiled moves between partitions into clusters, and the random numbers of all loops."""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray

# --- Dirichlet-process moves on items with counts.
#
# An *item* has counts in rows of Dirichlet cells, ``stats[item, row, cell]``; the rows of a cluster
# are drawn from ``prior[row, cell]`` and integrated out. Items are domains (coupled) or local
# clusters of voters (hierarchical).


@compiled
def log_gamma(z: float) -> float:
    """Return log Γ(z) for z > 0 by Stirling's series: the sweeps spend their time here."""
    product = 1.0
    while z < 9.0:
        product *= z
        z += 1.0
    inverse = 1.0 / z
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    value = (z - 0.5) * math.log(z) - z + 0.9189385332046727 + series
    return value - math.log(product) if product != 1.0 else value


@compiled
def gain(prior: FloatArray, base: FloatArray, more: FloatArray) -> float:
    """Return log P(more | base): a product over rows of Dirichlet-multinomial terms.

    Equation 11 of Platanios et al. 2016, corrected: one ratio of Beta functions for each row, each
    at the cluster's own counts, without the order of the votes.
    """
    total = 0.0
    for g in range(prior.shape[0]):
        before = added = 0.0
        for q in range(prior.shape[1]):
            x = more[g, q]
            a = prior[g, q] + base[g, q]
            before += a
            if x > 0:
                added += x
                total += log_gamma(a + x) - log_gamma(a)
        if added > 0:
            total += log_gamma(before) - log_gamma(before + added)
    return total


@compiled
def pick(rng: np.random.Generator, logits: FloatArray, n: int) -> int:
    """Draw one of n entries with probabilities in proportion to their exponentials."""
    top = logits[0]
    for i in range(1, n):
        top = max(top, logits[i])
    total = 0.0
    for i in range(n):
        total += math.exp(logits[i] - top)
    u = rng.random() * total
    for i in range(n):
        u -= math.exp(logits[i] - top)
        if u < 0:
            return i
    return n - 1


@compiled
def put(target: FloatArray, source: FloatArray) -> None:
    """Write a table into another; loops compile seconds faster than slices."""
    for g in range(target.shape[0]):
        for q in range(target.shape[1]):
            target[g, q] = source[g, q]


@compiled
def clear(target: FloatArray) -> None:
    """Fill a table with zeros, whatever it held: fresh memory may hold NaN."""
    for g in range(target.shape[0]):
        for q in range(target.shape[1]):
            target[g, q] = 0.0


@compiled
def add(total: FloatArray, stats: FloatArray, sign: float) -> None:
    """Add the counts of an item to those of a cluster, or take them away (``sign`` -1)."""
    for g in range(stats.shape[0]):
        for q in range(stats.shape[1]):
            total[g, q] += sign * stats[g, q]


@compiled
def reassign(
    rng: np.random.Generator,
    stats: FloatArray,
    alive: IntArray,
    n_alive: int,
    prior: FloatArray,
    strength: float,
    member: IntArray,
    size: IntArray,
    total: FloatArray,
) -> None:
    """Move each item to a cluster given all others: Z_k·P_k, or α·P_new.

    Equation 3 of Platanios et al. 2016. ``alive`` lists the items; ``size`` and ``total`` hold the
    clusters, of which those of size 0 are free.
    """
    most = len(size)
    logits, where = np.empty(most + 1), np.empty(most + 1, dtype=np.int64)
    for n in range(n_alive):
        i = alive[n]
        old = member[i]
        size[old] -= 1
        add(total[old], stats[i], -1.0)
        if size[old] == 0:
            clear(total[old])  # rounding leaves crumbs
        options, free = 0, -1
        for k in range(most):
            if size[k] > 0:
                logits[options] = math.log(size[k]) + gain(prior, total[k], stats[i])
                where[options] = k
                options += 1
            elif free < 0:
                free = k
        logits[options] = math.log(strength) + gain(prior, total[free], stats[i])
        where[options] = free
        new = where[pick(rng, logits, options + 1)]
        member[i] = new
        size[new] += 1
        add(total[new], stats[i], 1.0)


@compiled
def split_or_merge(
    rng: np.random.Generator,
    stats: FloatArray,
    alive: IntArray,
    n_alive: int,
    prior: FloatArray,
    strength: float,
    member: IntArray,
    size: IntArray,
    total: FloatArray,
) -> bool:
    """Propose to split the cluster of two random items, or to merge theirs; return if accepted.

    The items are allocated one after another (D. B. Dahl, An improved merge-split sampler for
    conjugate Dirichlet process mixture models, 2005).
    """
    if n_alive < 2:
        return False
    i, j = int(rng.random() * n_alive), int(rng.random() * (n_alive - 1))
    j = j + 1 if j >= i else j
    i, j = alive[i], alive[j]
    home, other = member[i], member[j]
    split = home == other
    rest = np.empty(n_alive, dtype=np.int64)
    n_rest = 0
    for n in range(n_alive):
        item = alive[n]
        if item != i and item != j and (member[item] == home or member[item] == other):
            rest[n_rest] = item
            n_rest += 1
    for n in range(n_rest - 1, 0, -1):  # a random order
        m = int(rng.random() * (n + 1))
        rest[n], rest[m] = rest[m], rest[n]
    left, right = np.empty(prior.shape), np.empty(prior.shape)
    put(left, stats[i])
    put(right, stats[j])
    n_left, n_right = 1, 1
    goes_left = np.zeros(n_rest, dtype=np.int64)
    proposed = 0.0  # log probability of this allocation
    for n in range(n_rest):
        item = rest[n]
        a = math.log(n_left) + gain(prior, left, stats[item])
        b = math.log(n_right) + gain(prior, right, stats[item])
        top = max(a, b)
        both = top + math.log(math.exp(a - top) + math.exp(b - top))
        to_left = math.log(rng.random()) < a - both if split else member[item] == home
        if to_left:
            proposed += a - both
            add(left, stats[item], 1.0)
            n_left += 1
            goes_left[n] = 1
        else:
            proposed += b - both
            add(right, stats[item], 1.0)
            n_right += 1
    empty, union = np.empty(prior.shape), np.empty(prior.shape)
    clear(empty)
    put(union, left)
    add(union, right, 1.0)
    apart = gain(prior, empty, left) + gain(prior, empty, right)
    together = gain(prior, empty, union)
    ratio = math.log(strength) + math.lgamma(n_left) + math.lgamma(n_right)
    ratio += apart - math.lgamma(n_left + n_right) - together - proposed
    if math.log(rng.random()) >= (ratio if split else -ratio):
        return False
    if split:
        free = 0
        while size[free] > 0:
            free += 1
        member[j] = free
        for n in range(n_rest):
            if goes_left[n] == 0:
                member[rest[n]] = free
        size[home], size[free] = n_left, n_right
        put(total[home], left)
        put(total[free], right)
    else:
        member[j] = home
        for n in range(n_rest):
            member[rest[n]] = home
        size[home], size[other] = n_left + n_right, 0
        put(total[home], union)
        clear(total[other])
    return True


@compiled
def concentration(
    rng: np.random.Generator, strength: float, clusters: int, items: int, shape: float, rate: float
) -> float:
    """Draw the concentration of a Dirichlet process given how many clusters the items have.

    M. D. Escobar and M. West, Bayesian density estimation and inference using mixtures, 1995; the
    prior is Gamma(shape, rate).
    """
    if items == 0:
        return float(gamma(rng, shape) / rate)
    x, y = gamma(rng, strength + 1), gamma(rng, float(items))
    less = rate - math.log(x / (x + y))
    odds = (shape + clusters - 1) / (items * less)
    more = 1.0 if rng.random() * (1 + odds) < odds else 0.0
    return float(gamma(rng, shape + clusters - 1 + more) / less)


@compiled
def draw_rows(
    rng: np.random.Generator, prior: FloatArray, counts: FloatArray, rows: FloatArray
) -> None:
    """Draw each row from its Dirichlet posterior (Platanios et al. 2016, equation 16)."""
    for g in range(prior.shape[0]):
        total = 0.0
        for q in range(prior.shape[1]):
            a = prior[g, q] + counts[g, q]
            rows[g, q] = gamma(rng, a) if a > 0 else 0.0
            total += rows[g, q]
        for q in range(prior.shape[1]):
            rows[g, q] = rows[g, q] / total if total > 0 else prior[g, q]


# --- Gamma and binomial numbers.
#
# They take uniform numbers from NumPy's generator; numba compiles its gamma numbers too, but three
# times as long as these.


@compiled
def gamma(rng: np.random.Generator, shape: float) -> float:
    """Draw a number of the Gamma law with ``shape`` > 0 and rate 1.

    G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, ACM Trans. Math.
    Softw. 26 (2000). It is for shapes of at least 1; a smaller one is raised by 1 and the number
    multiplied by the power 1/shape of a uniform number.
    """
    factor = 1.0
    if shape < 1.0:
        factor = rng.random() ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        # A normal number by the polar method (Marsaglia & Bray 1964): numba takes longer to
        # compile its own than all the rest of this function.
        x, radius = 0.0, 1.0
        while radius >= 1.0 or radius == 0.0:
            x, y = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
            radius = x * x + y * y
        x *= math.sqrt(-2.0 * math.log(radius) / radius)
        v = 1.0 + c * x
        if v > 0.0:
            v, square, u = v * v * v, x * x, 1.0 - rng.random()
            if u < 1.0 - 0.0331 * square * square:  # the common case needs no logarithm
                return factor * d * v
            if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return factor * d * v


@compiled
def binomial(rng: np.random.Generator, n: float, p: float) -> float:
    """Draw a binomial number at a cost that hardly depends on n.

    By inversion while the mean is small, else by transformed rejection: algorithm BTRS of
    W. Hörmann, The generation of binomial random variates, J. Stat. Comput. Simul. 46 (1993).
    """
    small = p if p < 0.5 else 1 - p
    if small <= 0:
        return n if p > 0.5 else 0.0
    q, k = 1 - small, 0.0
    if n * small < 10:
        chance, u = math.exp(n * math.log1p(-small)), rng.random()
        while u > chance and k < n:
            u -= chance
            k += 1
            chance *= (n - k + 1) / k * small / q
    else:
        spread = math.sqrt(n * small * q)
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * small
        alpha, mode = (2.83 + 5.1 / b) * spread, math.floor((n + 1) * small)
        while True:
            u, v = rng.random() - 0.5, rng.random()
            edge = 0.5 - abs(u)
            k = math.floor((2 * a / edge + b) * u + n * small + 0.5) * 1.0
            if edge >= 0.07 and v <= 0.92 - 4.2 / b:
                break
            if k < 0 or k > n:
                continue
            height = math.lgamma(mode + 1) - math.lgamma(k + 1) + (k - mode) * math.log(small / q)
            height += math.lgamma(n - mode + 1) - math.lgamma(n - k + 1)
            if math.log(v * alpha / (a / (edge * edge) + b)) <= height:
                break
    return n - k if p > 0.5 else k
