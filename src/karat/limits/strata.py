"""Limits from labels of strata that are sampled at different rates.

`stratified_limits` are those of any statistic at a fixed number of labels, by pseudo-counts;
`stratified_steps` are the bets of an anytime limit of a mean.
"""

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.limits.anytime import Steps
from karat.limits.pseudo import Statistic, by_cell, ends_of

_ALL = 40  # cells of strata of which every one is tried with all draws
_KEPT = 8  # cells that are tried on either side where there are more


def stratified_limits(
    statistic: Statistic,
    counts: FloatArray,
    sizes: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
    draws: int,
    rng: np.random.Generator,
    pseudo: float = 0.5,
    possible: BoolArray | None = None,
) -> tuple[float, float]:
    """Return limits of a statistic of exactly these items, ``delta`` on either side.

    ``counts`` (strata, classes) are the labels of each stratum and ``sizes`` its items. As in
    `pseudo_count_limits`, gamma variables with the counts as shapes give the shares of each
    stratum, and one cell of one stratum a pseudo-count on top; the items without a label are then
    drawn by these shares. ``statistic`` takes numbers of items (draws, strata, classes). A stratum
    without labels may hold anything; ``possible`` (strata, classes) says which classes it may hold.
    """
    strata, k = counts.shape
    rest = np.maximum(np.round(sizes - counts.sum(axis=1)), 0).astype(np.int64)
    none = counts.sum(axis=1) == 0
    can = np.ones(counts.shape, dtype=bool) if possible is None else possible
    shapes = np.where(none[:, None], pseudo * can, counts)
    base = rng.standard_gamma(np.where(shapes > 0, shapes, 1.0), (draws, strata, k)) * (shapes > 0)
    extra = rng.standard_gamma(pseudo, draws)
    thin = (counts.sum(axis=1) <= 1) & (rest > 0)
    pairs = [
        (h, int(c))
        for h in range(strata)
        if rest[h] and not none[h]
        for c in np.flatnonzero(can[h])
    ]
    low, high = np.inf, -np.inf
    # Strata with one label or none go to their worst class, or towards it, all of them together:
    # drawn one by one they would average out, and their sum would look known.
    sides = (False, True) if thin.any() else (None,)
    for upper in sides:
        drawn = base
        if upper is not None:
            drawn = _worst(statistic, base, counts, rest, (thin, none, can), extra, upper, rng)
        totals = counts + _rest(drawn, rest, rng)
        if pairs:
            parts = (drawn, extra, totals)
            lower_, upper_ = _widest(statistic, parts, counts, rest, pairs, span, delta, rng)
        else:
            lower_, upper_ = map(float, ends_of(statistic(totals), span, delta))
        low = low if upper is True else min(low, lower_)
        high = high if upper is False else max(high, upper_)
    return max(low, span[0]), min(high, span[1])


_Drawn = tuple[FloatArray, FloatArray, FloatArray]


def _with_pseudo_count(
    drawn: _Drawn, counts: FloatArray, rest: IntArray, h: int, c: int, rng: np.random.Generator
) -> FloatArray:
    """Return the numbers of items with the pseudo-count in one cell of one stratum."""
    weight, extra, totals = drawn
    own = weight[:, h].copy()
    own[:, c] += extra
    table = totals.copy()
    table[:, h] = counts[h] + _rest(own[:, None], rest[h : h + 1], rng)[:, 0]
    return table


def _widest(
    statistic: Statistic,
    drawn: _Drawn,
    counts: FloatArray,
    rest: IntArray,
    pairs: list[tuple[int, int]],
    span: tuple[float, float],
    delta: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the outermost quantiles with the pseudo-count in one of the cells of strata."""

    def ends(tried: IntArray, some: int | None) -> tuple[FloatArray, FloatArray]:
        weight, extra, totals = (part[:some] for part in drawn)
        lows, highs = np.empty(len(tried)), np.empty(len(tried))
        for i, (h, c) in enumerate(pairs[at] for at in tried):
            table = _with_pseudo_count((weight, extra, totals), counts, rest, h, c, rng)
            lows[i], highs[i] = ends_of(statistic(table), span, delta)
        return lows, highs

    lows, highs, tried = by_cell(ends, len(pairs), every=_ALL, kept=_KEPT)
    return float(lows[tried].min()), float(highs[tried].max())


def _worst(
    statistic: Statistic,
    base: FloatArray,
    counts: FloatArray,
    rest: IntArray,
    kinds: tuple[BoolArray, BoolArray, BoolArray],
    extra: FloatArray,
    upper: bool,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the gammas with every thin stratum at, or pulled to, the class that is worst for it.

    Which class that is shows where all else stays at its mean: exact for a linear statistic.
    """
    thin, none, can = kinds
    mean = (counts + _rest(base, rest, rng)).mean(axis=0)
    drawn = base.copy()
    for h in np.flatnonzero(thin):
        values = np.full(counts.shape[1], np.nan)
        for c in np.flatnonzero(can[h]):
            table = mean.copy()
            table[h] = counts[h]
            table[h, c] += rest[h]
            found = statistic(table[None])
            values[c] = (found[int(upper)] if isinstance(found, tuple) else found)[0]
        sign = 1.0 if upper else -1.0
        at = int(np.argmax(np.where(can[h], np.nan_to_num(sign * values, nan=np.inf), -np.inf)))
        if none[h]:
            drawn[:, h] = 0.0
            drawn[:, h, at] = 1.0
        else:
            drawn[:, h, at] += rng.permutation(extra)
    return drawn


def _rest(weight: FloatArray, rest: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw the labels of the items that have none, (draws, strata, classes)."""
    total = weight.sum(axis=2, keepdims=True)
    # Gammas of tiny shapes can all be 0.
    share = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1.0 / weight.shape[2])
    drawn = np.zeros(weight.shape)
    left, kept = np.broadcast_to(rest, weight.shape[:2]).copy(), np.ones(weight.shape[:2])
    for c in range(weight.shape[2] - 1):
        chance = np.clip(share[:, :, c] / np.maximum(kept, 1e-12), 0.0, 1.0)
        drawn[:, :, c] = rng.binomial(left, chance)
        left = left - drawn[:, :, c].astype(np.int64)
        kept = kept - share[:, :, c]
    drawn[:, :, -1] = left
    return drawn


# --- What each label of a stratum says of a ratio over all strata, whenever one stops.

_PRIOR = 4.0  # labels that the predicted shares of a stratum count for
_LEAST = 0.01  # share that a class is expected to have at least


def stratified_steps(
    stratum: IntArray,
    label: IntArray,
    chance: FloatArray,
    sizes: FloatArray,
    top: FloatArray,
    bottom: FloatArray,
    predicted: FloatArray,
) -> tuple[Steps, FloatArray]:
    r"""Return the steps of a ratio of the items of all strata, and what stays possible at the end.

    At each step a stratum was drawn with the probabilities ``chance`` (t, strata), given the
    earlier steps, and an item among those of it without a label. With the sums S_h of the labelled
    items, the R_h others and a guess f_h of their mean from earlier labels,

    .. math:: X = \frac1N \sum_h (S_h + R_h f_h) + \frac{R_h}{N q_h} (x - f_h)

    has the mean of all N items, whatever the guess is. ``top`` and ``bottom`` (strata, classes) are
    what an item adds; ``predicted`` (strata, classes) are shares expected before any label.
    """
    n, (strata, k) = len(stratum), top.shape
    total = float(sizes.sum())
    seen = np.zeros((n, strata, k))
    seen[np.arange(n), stratum, label] = 1.0
    after = np.cumsum(seen, axis=0)
    before = after - seen
    number = before.sum(axis=2)
    left = sizes - number
    prior = np.maximum(predicted, _LEAST)
    prior = prior / prior.sum(axis=1, keepdims=True)
    share = (_PRIOR * prior + before) / (_PRIOR + number)[:, :, None]
    # One over the chance of a stratum that cannot be drawn has no part in any case.
    factor = np.divide(left, total * chance, out=np.zeros(left.shape), where=chance > 0)
    found, cases = [], []
    for part in (top, bottom):
        guess = np.sum(share * part, axis=2)
        known = (np.sum(before * part, axis=2) + left * guess).sum(axis=1) / total
        case = known[:, None, None] + factor[:, :, None] * (part - guess[:, :, None])
        cases.append(case.reshape(n, -1))
        found.append(case[np.arange(n), stratum, label])
        found.append(known)
    value = np.divide(found[1], found[3], out=np.zeros(n), where=found[3] != 0)
    apart = (cases[0] - value[:, None] * cases[1]) ** 2
    spread = np.sum(apart * (chance[:, :, None] * share).reshape(n, -1), axis=1)
    steps = Steps(found[0], found[2], cases[0], cases[1], spread)
    return steps, _possible(after[-1], sizes, top, bottom)


def _possible(
    counts: FloatArray, sizes: FloatArray, top: FloatArray, bottom: FloatArray
) -> FloatArray:
    """Return the least and the greatest ratio if the other items were what suits it best."""
    rest = sizes - counts.sum(axis=1)
    sums = float(np.sum(counts * top)), float(np.sum(counts * bottom))
    if float((rest * bottom.max(axis=1)).sum()) + sums[1] <= 0:
        return np.array([-np.inf, np.inf])
    low, high = -np.inf, np.inf
    ends = []
    for best in (np.min, np.max):
        # The ratio is the root of its own worst case, which falls in g: Dinkelbach's iteration.
        g = 0.5
        for _ in range(50):
            gain = top - g * bottom
            pick = np.argmin(gain, axis=1) if best is np.min else np.argmax(gain, axis=1)
            at = np.arange(len(rest)), pick
            below = sums[1] + float(rest @ bottom[at])
            if below <= 0:
                break
            new = (sums[0] + float(rest @ top[at])) / below
            if abs(new - g) < 1e-12:
                break
            g = new
        ends.append(g)
    low, high = ends
    return np.array([low, high])
