"""Whether chains agree: split R-hat and effective sample sizes, rank-normalised.

A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Rank-normalization, folding, and
localization: an improved R-hat, Bayesian Analysis 16 (2021).
"""

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

from karat._typing import FloatArray


def split_r_hat(draws: FloatArray) -> FloatArray:
    """Return R-hat of draws (chains × draws × quantities): 1 when the chains agree.

    The larger of the rank-normalised one and that of the folded draws, which sees chains of equal
    centre and unequal spread.
    """
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))


def bulk_ess(draws: FloatArray) -> FloatArray:
    """Return the effective number of independent draws for the middle of the law."""
    return _ess(_normal_scores(_split(draws)))


def tail_ess(draws: FloatArray) -> FloatArray:
    """Return the smaller effective number of draws of the 5 % and 95 % quantiles."""
    halves = _split(draws)
    both = [
        _ess((halves <= np.quantile(halves, q, axis=(0, 1))).astype(np.float64))
        for q in (0.05, 0.95)
    ]
    return np.minimum(*both)


def _split(draws: FloatArray) -> FloatArray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]], axis=0)


def _normal_scores(draws: FloatArray) -> FloatArray:
    flat = draws.reshape(-1, draws.shape[2])
    return np.asarray(ndtri((_ranks(flat) - 0.375) / (len(flat) + 0.25)).reshape(draws.shape))


def _ranks(columns: FloatArray) -> FloatArray:
    """Return ranks from 1 in each column, equal values sharing the mean of theirs.

    As ``scipy.stats.rankdata``, whose import takes longer than a small fit.
    """
    order = np.argsort(columns, axis=0, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=0)
    place = np.broadcast_to(np.arange(len(columns))[:, None], columns.shape)
    new = np.ones(columns.shape, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=0)
    ends = np.ones(columns.shape, dtype=bool)
    ends[:-1] = new[1:]
    last = np.minimum.accumulate(np.where(ends, place, len(columns))[::-1], axis=0)[::-1]
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    return ranks


def _r_hat(z: FloatArray) -> FloatArray:
    n = z.shape[1]
    within = z.var(axis=1, ddof=1).mean(axis=0)
    between = n * z.mean(axis=1).var(axis=0, ddof=1)
    still = within <= 0
    ratio = np.divide(between, np.where(still, 1, within))
    value = np.sqrt((n - 1) / n + ratio / n)
    return np.where(still, np.where(between > 0, np.inf, 1.0), value)


def _ess(z: FloatArray) -> FloatArray:
    """Geyer's initial monotone sequence on the autocorrelation of all chains together."""
    chains, n, _ = z.shape
    centred = z - z.mean(axis=1, keepdims=True)
    size = next_fast_len(2 * n)
    power = np.abs(rfft(centred, size, axis=1)) ** 2
    covariance = irfft(power, size, axis=1)[:, :n] / n
    within = covariance[:, 0].mean(axis=0) * n / (n - 1)
    total = within * (n - 1) / n
    if chains > 1:
        total = total + z.mean(axis=1).var(axis=0, ddof=1)
    safe = np.where(total > 0, total, 1.0)
    rho = 1 - (within - covariance.mean(axis=0)) / safe
    rho[0] = 1.0
    even = 2 * (n // 2)
    pairs = rho[0:even:2] + rho[1:even:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    pairs = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    tau = np.maximum(-1 + 2 * pairs.sum(axis=0), 1 / np.log10(chains * n))
    return np.asarray(np.where(total > 0, chains * n / tau, chains * n))
