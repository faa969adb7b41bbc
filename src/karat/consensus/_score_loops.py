"""One chain of the model of scores, compiled by numba. Import only when needed."""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray

_ROOT2 = math.sqrt(2.0)


@compiled
def normal_cdf(x: float) -> float:
    """Return Φ(x)."""
    return 0.5 * math.erfc(-x / _ROOT2)


@compiled
def log_cell(low: float, high: float, separation: float, zero: float, one: float) -> float:
    """Return the log-likelihood of the counts of one level between two cut-points."""
    half = separation / 2
    total = 0.0
    if zero > 0:
        p = normal_cdf(high + half) - normal_cdf(low + half)
        if p <= 1e-300:
            return -np.inf
        total += zero * math.log(p)
    if one > 0:
        p = normal_cdf(high - half) - normal_cdf(low - half)
        if p <= 1e-300:
            return -np.inf
        total += one * math.log(p)
    return total


@compiled
def voter_log(cuts: FloatArray, k: int, separation: float, counts: FloatArray) -> float:
    """Return the log-likelihood of the counts (2, levels) of one voter with k levels."""
    total, low = 0.0, -np.inf
    for level in range(k):
        high = cuts[level] if level < k - 1 else np.inf
        total += log_cell(low, high, separation, counts[0, level], counts[1, level])
        low = high
    return total


@compiled
def move_voter(
    rng: np.random.Generator,
    cuts: FloatArray,
    k: int,
    separation: float,
    counts: FloatArray,
    prior: FloatArray,
    step: FloatArray,
    adapt: float,
) -> float:
    """Move the cut-points and the separation of one voter; return the separation.

    ``prior`` is the mean and spread of a separation and the spread of a cut-point; ``step`` the
    width of a move of each cut-point, of the separation and of all cut-points together.
    """
    spread = prior[2]
    for level in range(k - 1):
        low = cuts[level - 1] if level > 0 else -np.inf
        high = cuts[level + 1] if level < k - 2 else np.inf
        old = cuts[level]
        new = old + step[level] * rng.standard_normal()
        taken = 0.0
        if low < new < high:
            change = (old * old - new * new) / (2 * spread * spread)
            for at, sign in ((new, 1.0), (old, -1.0)):
                change += sign * log_cell(low, at, separation, counts[0, level], counts[1, level])
                change += sign * log_cell(
                    at, high, separation, counts[0, level + 1], counts[1, level + 1]
                )
            if math.log(rng.random()) < change:
                cuts[level] = new
                taken = 1.0
        step[level] *= math.exp(adapt * (taken - 0.44))
    moved = separation + step[k - 1] * rng.standard_normal()
    change = ((separation - prior[0]) ** 2 - (moved - prior[0]) ** 2) / (2 * prior[1] ** 2)
    change += voter_log(cuts, k, moved, counts) - voter_log(cuts, k, separation, counts)
    taken = 0.0
    if math.log(rng.random()) < change:
        separation, taken = moved, 1.0
    step[k - 1] *= math.exp(adapt * (taken - 0.44))
    shift = step[k] * rng.standard_normal()
    shifted = cuts.copy()
    change = -voter_log(cuts, k, separation, counts)
    for level in range(k - 1):
        shifted[level] = cuts[level] + shift
        change += (cuts[level] ** 2 - shifted[level] ** 2) / (2 * spread * spread)
    change += voter_log(shifted, k, separation, counts)
    taken = 0.0
    if math.log(rng.random()) < change:
        cuts[:] = shifted
        taken = 1.0
    step[k] *= math.exp(adapt * (taken - 0.44))
    return separation


@compiled
def score_chain(
    rng: np.random.Generator,
    codes: IntArray,
    weight: FloatArray,
    gold: IntArray,
    levels: IntArray,
    prior: FloatArray,
    share: float,
    cuts: FloatArray,
    separation: FloatArray,
    burn: int,
    draws: int,
    thin: int,
    out_share: FloatArray,
    out_cuts: FloatArray,
    out_separation: FloatArray,
    proba: FloatArray,
) -> None:
    """Draw classes, share, cut-points and separations in turn, and keep what is asked for.

    ``codes`` (patterns, voters) holds levels, -1 for none; ``weight`` how many items have each
    pattern. ``proba`` gathers P(class 1) of each pattern over the draws that are kept.
    """
    n, m = codes.shape
    most = cuts.shape[1] + 1
    step = np.full((m, most + 1), 0.3)
    counts = np.zeros((m, 2, most))
    ratio = np.zeros((m, most))
    for sweep in range(burn + draws * thin):
        adapt = 1.0 / math.sqrt(1.0 + sweep) if sweep < burn else 0.0
        for j in range(m):
            half, low = separation[j] / 2, -np.inf
            for level in range(levels[j]):
                high = cuts[j, level] if level < levels[j] - 1 else np.inf
                zero = normal_cdf(high + half) - normal_cdf(low + half)
                one = normal_cdf(high - half) - normal_cdf(low - half)
                ratio[j, level] = math.log(max(one, 1e-300)) - math.log(max(zero, 1e-300))
                low = high
        counts[:] = 0.0
        keep = sweep >= burn and (sweep - burn + 1) % thin == 0
        base, total_one, total = math.log(share / (1 - share)), 0.0, 0.0
        for i in range(n):
            odds = base
            for j in range(m):
                if codes[i, j] >= 0:
                    odds += ratio[j, codes[i, j]]
            p = 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0
            if gold[i] >= 0:
                p = float(gold[i])
            whole = int(weight[i])
            one = float(rng.binomial(whole, p)) if whole > 1 else float(whole) * (rng.random() < p)
            rest = weight[i] - whole
            if rest > 0 and rng.random() < p:
                one += rest
            if keep:
                proba[i] += p / draws
            total_one += one
            total += weight[i]
            for j in range(m):
                if codes[i, j] >= 0:
                    counts[j, 1, codes[i, j]] += one
                    counts[j, 0, codes[i, j]] += weight[i] - one
        share = rng.beta(1.0 + total_one, 1.0 + total - total_one)
        share = min(max(share, 1e-9), 1 - 1e-9)
        for j in range(m):
            separation[j] = move_voter(
                rng,
                cuts[j, : levels[j] - 1],
                levels[j],
                separation[j],
                counts[j],
                prior,
                step[j],
                adapt,
            )
        if keep:
            at = (sweep - burn) // thin
            out_share[at] = share
            out_cuts[at] = cuts
            out_separation[at] = separation
