"""Scores and ratings as votes: levels read from numbers, the sampler, and what its draws say.

`read_scores` turns ratings, probabilities or log-probabilities into levels, voter by voter;
`run_scores` draws the class of every item, and cut-points and separation of every voter (a latent
normal with cut-points); `fit_scores` fits one domain;
`level_chances`, `binormal`, `error_and_area` and `class_chances` are the model's
formulas, and
`pairs_apart` and `two_classes_ahead` its checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._convergence import bulk_ess, split_r_hat
from karat._sentences import Argument, Remedy
from karat._typing import AnyArray, BoolArray, FloatArray, Frame, IntArray
from karat._validate import (
    named,
    quoted_text,
    shown,
)
from karat.consensus.identification import GoldTest, check_consensus, status_of
from karat.exceptions import DataError, EmptyDataError, ScoreError, ShapeError
from karat.statistics.patterns import distinct_rows
from karat.votes.names import NUMBER_NAMES
from karat.votes.reading import answer_names
from karat.votes.table import PassedValues, table_of

_MIXED = 1.05  # R-hat above which the chains run on
_APART = 1.1  # R-hat above which they never met
_CHEAP = 2e7  # look-ups that take no time worth saving
_WORK = 2e8  # look-ups of a level that a fit may take
_AHEAD = 2.0  # standard errors by which two classes must explain the scores better than one scale
_MOST_LEFT_OUT = 12  # voters that are left out one at a time where they do not fit the model


@dataclass(frozen=True, slots=True)
class ScoreFit:
    """What was learnt of one domain."""

    proba: FloatArray  # P(class 1) of each item
    share: FloatArray  # mean, lower, upper
    error: FloatArray  # (3, voters)
    area: FloatArray  # (3, voters)
    chances: FloatArray  # posterior mean of P(level | class): voters × 2 × levels
    r_hat: float
    ess: float
    reasons: tuple[str, ...]
    status: str
    gold_test: GoldTest | None


def fit_scores(
    codes: IntArray,
    weight: FloatArray,
    gold: IntArray,
    levels: IntArray,
    fine: BoolArray,
    *,
    chains: int,
    draws: int,
    confidence: float,
    slack: float,
    rng: np.random.Generator,
    tested: bool = True,
) -> ScoreFit:
    """Fit the model to the levels of one domain, items × voters.

    ``fine`` says which voters have levels only because a continuous score was cut; ``tested``
    says that gold labels may test the consensus: that nobody picked the items by hand.
    """
    key = np.column_stack([codes + 1, gold + 1])
    pattern, first = distinct_rows(key, int(key.max()) + 2)
    count = np.bincount(pattern, weights=weight, minlength=len(first)).astype(np.float64)
    data = (codes[first], count, gold[first], levels)
    size = max(100, min(draws, int(_WORK / (2 * chains * max(codes.size, 1)))))
    drawn, r_hat, ess = _mixed(data, chains, size, rng)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    error, area = _quantities(drawn, fine)
    chances = drawn.chances().mean(axis=(0, 1))
    share = float(drawn.share.mean())
    z = pairs_apart(data[0], count, chances, share)
    blind = drawn if (gold < 0).all() else _blind(data, chains, size, rng)
    ahead = two_classes_ahead(
        data[0], count, blind.chances().mean(axis=(0, 1)), float(blind.share.mean()), levels
    )
    reasons = _reasons(codes.shape[1], r_hat, z, ahead)
    test = _gold_test(data, blind, slack) if tested else None
    status = status_of(reasons, test if r_hat <= _APART else None)
    limits = _spread(error, tails), _spread(area, tails)
    if len(z) and _dependent(z) and 3 < codes.shape[1] <= _MOST_LEFT_OUT:
        limits = _left_out(data, fine, limits, chains, size, tails, rng)
    error_limits, area_limits = limits
    unknown = ahead < _AHEAD or r_hat > _APART
    if status == "contradicted" or (status == "not identified" and unknown):
        # A voter may be right about everything or about nothing.
        error_limits[1], area_limits[2] = 0.0, 1.0
        error_limits[2] = np.maximum(error_limits[2], 0.5)
        area_limits[1] = np.minimum(area_limits[1], 0.5)
    error_limits[1] = np.maximum(error_limits[1] - slack, 0.0)
    error_limits[2] = np.minimum(error_limits[2] + slack, 1.0)
    return ScoreFit(
        proba=np.clip(drawn.proba.mean(axis=0), 0.0, 1.0)[pattern],
        share=np.array([share, *np.quantile(drawn.share, tails)]),
        error=error_limits,
        area=area_limits,
        chances=chances,
        r_hat=r_hat,
        ess=ess,
        reasons=reasons,
        status=status,
        gold_test=test,
    )


def _blind(
    data: tuple[IntArray, FloatArray, IntArray, IntArray],
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> ScoreDraws:
    """Return draws of the same model that has seen no gold label."""
    codes, count, gold, levels = data
    return _mixed((codes, count, np.full_like(gold, -1), levels), chains, draws, rng)[0]


def _gold_test(
    data: tuple[IntArray, FloatArray, IntArray, IntArray], blind: ScoreDraws, slack: float
) -> GoldTest | None:
    """Test the consensus of the scores alone on the gold labels."""
    p = np.clip(blind.proba.mean(axis=0), 0.0, 1.0)
    return check_consensus(data[2], data[1], np.column_stack([1 - p, p]), slack)


def _mixed(
    data: tuple[IntArray, FloatArray, IntArray, IntArray],
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> tuple[ScoreDraws, float, float]:
    """Return the draws, after a longer run if the chains had not met."""
    work = 2 * chains * draws * max(data[0].size, 1)
    thin = int(np.clip(_CHEAP / work, 1, 5))  # where sweeps cost nothing there are more of them
    for factor in (thin, 3 * thin):
        drawn = run_scores(
            *data, chains=chains, draws=draws, burn=draws * factor, thin=factor, rng=rng
        )
        watched = np.concatenate([drawn.separation, drawn.share[..., None]], axis=2)
        r_hat, ess = float(split_r_hat(watched).max()), float(bulk_ess(watched).min())
        if r_hat <= _MIXED:
            break
    return drawn, r_hat, ess


def _quantities(drawn: ScoreDraws, fine: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the error rate and the area of every draw and voter."""
    m = drawn.separation.shape[2]
    rough = error_and_area(drawn.chances(), drawn.share[..., None])
    smooth = binormal(drawn.separation, drawn.share[..., None])
    error, area = (np.where(fine, s, r) for s, r in zip(smooth, rough, strict=True))
    return error.reshape(-1, m), area.reshape(-1, m)


def _spread(draws: FloatArray, tails: list[float]) -> FloatArray:
    return np.stack([draws.mean(axis=0), *np.quantile(draws, tails, axis=0)])


def _dependent(z: FloatArray) -> bool:
    """Whether more pairs are off than one in a hundred would be."""
    from scipy.special import bdtrc

    off = int((np.abs(z) > 2.576).sum())
    return off > 0 and bool(bdtrc(off - 1, len(z), 0.01) < 0.01)


def _reasons(m: int, r_hat: float, z: FloatArray, ahead: float) -> tuple[str, ...]:
    """Return why the scores alone do not identify the error rates; none if they do."""
    reasons = []
    if m < 3:
        reasons.append("two voters cannot tell which of them is wrong")
    if r_hat > _APART:
        reasons.append(f"chains from other starts do not meet (R-hat {r_hat:.2f})")
    if ahead < _AHEAD:
        reasons.append(
            "one scale without classes explains the scores about as well as two classes do"
        )
    if len(z) and _dependent(z):
        off = 100 * float((np.abs(z) > 2.576).mean())
        reasons.append(
            f"{off:.0f} % of the pairs of voters agree more or less than the model expects of 1 %"
        )
    return tuple(reasons)


def _left_out(
    data: tuple[IntArray, FloatArray, IntArray, IntArray],
    fine: BoolArray,
    limits: tuple[FloatArray, FloatArray],
    chains: int,
    draws: int,
    tails: list[float],
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return limits that span what the others say when any one voter is left out."""
    codes, count, gold, levels = data
    found = tuple(one.copy() for one in limits)
    for j in range(codes.shape[1]):
        rest = np.delete(np.arange(codes.shape[1]), j)
        drawn = run_scores(
            codes[:, rest],
            count,
            gold,
            levels[rest],
            chains=chains,
            draws=draws,
            burn=draws,
            rng=rng,
        )
        for whole, part in zip(found, _quantities(drawn, fine[rest]), strict=True):
            spread = _spread(part, tails)
            whole[1, rest] = np.minimum(whole[1, rest], spread[1])
            whole[2, rest] = np.maximum(whole[2, rest], spread[2])
    return found[0], found[1]


_FEWEST = 20  # items that two voters share


def pairs_apart(
    codes: IntArray, weight: FloatArray, chances: FloatArray, share: float
) -> FloatArray:
    """Return z of each pair of voters: their observed correlation of levels beside the model's.

    ``chances`` (voters, 2, levels) is P(level | class). Levels are compared after they were centred
    and scaled by the model; a pair that shares fewer than 20 items has no z.
    """
    m, grid = codes.shape[1], np.arange(chances.shape[2])
    mean = chances @ grid  # voters × classes
    marginal = (1 - share) * chances[:, 0] + share * chances[:, 1]
    centre = marginal @ grid
    spread = np.sqrt(np.maximum(marginal @ grid**2 - centre**2, 1e-12))
    found = []
    for i in range(m):
        for j in range(i + 1, m):
            both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            n = weight[both].sum()
            if n < _FEWEST:
                continue
            a = (codes[both, i] - centre[i]) / spread[i]
            b = (codes[both, j] - centre[j]) / spread[j]
            seen = float(weight[both] @ (a * b) / n)
            error = np.sqrt(max(float(weight[both] @ ((a * b - seen) ** 2) / n), 1e-9) / n)
            product = (mean[i] - centre[i]) * (mean[j] - centre[j]) / (spread[i] * spread[j])
            found.append((seen - float((1 - share) * product[0] + share * product[1])) / error)
    return np.array(found)


# --- Whether two classes explain the scores better than one scale without classes.
#
# If voters see one quality t that varies continuously, :math:`z_j = \lambda_j t + \sqrt{1 -
# \lambda_j^2}\,\epsilon_j`, their scores agree as they do with two classes, and which side of what
# point is "class 1" cannot be known. Both models have one number per voter beside the cut-points.

_MOST = 1500  # items that are compared
_NODES = 21


def two_classes_ahead(
    codes: IntArray, weight: FloatArray, chances: FloatArray, share: float, levels: IntArray
) -> float:
    """Return by how many standard errors two classes predict the scores better than one scale."""
    rows = np.arange(len(codes))
    if len(rows) > _MOST:
        rows = np.random.default_rng(0).choice(
            len(codes), _MOST, replace=False, p=weight / weight.sum()
        )
        weight = np.ones(len(codes))
    codes, weight = codes[rows], weight[rows]
    two = _two_classes(codes, chances, share)
    one = _one_scale(codes, weight, levels)
    ahead = two - one
    total = float(weight.sum())
    mean = float(weight @ ahead / total)
    spread = float(np.sqrt(max(float(weight @ (ahead - mean) ** 2) / total, 1e-12)))
    return float(mean * np.sqrt(total) / spread)


def _two_classes(codes: IntArray, chances: FloatArray, share: float) -> FloatArray:
    log = np.log(np.maximum(chances, 1e-12))
    parts = np.log([1 - share, share])[:, None] + np.zeros(len(codes))
    for j in range(codes.shape[1]):
        said = codes[:, j] >= 0
        parts[:, said] += log[j][:, codes[said, j]]
    return np.asarray(np.logaddexp(parts[0], parts[1]))


def _one_scale(codes: IntArray, weight: FloatArray, levels: IntArray) -> FloatArray:
    """Return the log-likelihood of each item under the best loadings."""
    from scipy.optimize import minimize
    from scipy.special import ndtri

    cuts = []
    for j in range(codes.shape[1]):
        said = codes[:, j] >= 0
        count = np.bincount(codes[said, j], weights=weight[said], minlength=levels[j]) + 1e-3
        below = ndtri(np.cumsum(count)[:-1] / count.sum())
        cuts.append(np.concatenate([[-np.inf], below, [np.inf]]))
    nodes, mass = np.polynomial.hermite_e.hermegauss(_NODES)
    mass = mass / mass.sum()

    def items(loading: FloatArray) -> FloatArray:
        return _factor_log(codes, cuts, np.tanh(loading), nodes, mass)

    best = minimize(
        lambda loading: -float(weight @ items(loading)) / weight.sum(),
        np.full(codes.shape[1], 0.9),
        method="L-BFGS-B",
        bounds=[(-3.0, 3.0)] * codes.shape[1],
        options={"maxiter": 40},
    )
    return items(best.x)


def _factor_log(
    codes: IntArray,
    cuts: list[FloatArray],
    loading: FloatArray,
    nodes: FloatArray,
    mass: FloatArray,
) -> FloatArray:
    from scipy.special import ndtr

    log = np.zeros((len(codes), len(nodes)))
    for j, edges in enumerate(cuts):
        scale = np.sqrt(1 - loading[j] ** 2)
        below = ndtr((edges[:, None] - loading[j] * nodes) / scale)
        level = np.log(np.maximum(np.diff(below, axis=0), 1e-12))
        said = codes[:, j] >= 0
        log[said] += level[codes[said, j]]
    top = log.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(log - top) @ mass))


# --- Scores of voters as levels: ratings as they are, continuous scores by their own quantiles.

_TAIL = 2.3  # the outermost cut of a continuous score, in standard deviations of a normal one


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores and their levels, items × voters; NaN and -1 where a voter was not asked."""

    scores: FloatArray
    codes: IntArray
    edges: tuple[FloatArray, ...]  # the least score of each level of a voter, from the second on
    levels: IntArray
    fine: BoolArray  # voters whose scores were cut into levels here
    voters: PassedValues
    items: PassedValues | None
    item_of_row: IntArray
    domain: Any  # the column of domains, one per row, None if there is none
    called: Mapping[str, str]  # what the table calls its items, voters and domains
    library: Any  # the dataframe library of the table, None for a matrix

    def coded(self, scores: FloatArray) -> IntArray:
        """Return the levels of other scores of the same voters."""
        codes = np.full(scores.shape, -1)
        for j, edges in enumerate(self.edges):
            there = ~np.isnan(scores[:, j])
            codes[there, j] = np.searchsorted(edges, scores[there, j], side="right")
        return codes


def read_scores(table: Frame, *, most: int) -> ScoreTable:
    """Read a wide or a long table of numbers; more than ``most`` distinct ones are binned."""
    read = table_of(table, "scores", first=NUMBER_NAMES)
    cells = read.cells()
    voters, items = cells.voters, cells.items
    scores = np.full((cells.n_items, len(voters)), np.nan)
    for column in cells.columns:
        value = _numbers(column.values, column.mask, column.name)
        there = ~np.isnan(value)
        item, voter = column.item[there], column.voter[there]
        _refuse_repeats(item, voter, voters, items)
        scores[item, voter] = value[there]
    listed = voters.tolist()
    if len(listed) < 2:
        raise ShapeError(
            f"scores has one voter only, {named(listed)}; its errors show only where another "
            "disagrees. Pass at least three to learn anything without gold labels"
        )
    silent = np.flatnonzero(np.isnan(scores).all(axis=0))
    if silent.size:
        raise DataError(f"{shown(listed[silent[0]])} gives no score; leave it out")
    edges = tuple(_edges(scores[~np.isnan(scores[:, j]), j], most) for j in range(len(listed)))
    flat = [j for j, cut in enumerate(edges) if not len(cut)]
    if flat:
        raise DataError(
            f"{shown(listed[flat[0]])} gives one score only, which says nothing; leave it out"
        )
    levels = np.array([len(cut) + 1 for cut in edges])
    distinct = [len(np.unique(scores[~np.isnan(scores[:, j]), j])) for j in range(len(listed))]
    fine = np.array(distinct) > levels
    found = ScoreTable(
        scores,
        np.zeros((0, 0), np.int64),
        edges,
        levels,
        fine,
        voters,
        items,
        cells.item_of_row,
        read.column("domain"),
        answer_names(read),
        read.library,
    )
    return replace(found, codes=found.coded(scores))


def _edges(values: FloatArray, most: int) -> FloatArray:
    """Return the least score of each level but the first: all distinct ones, or quantiles.

    The quantiles are those of a normal variable cut into equal steps: levels are finer in the
    tails, where a rare class shows.
    """
    from scipy.special import ndtr

    distinct = np.unique(values)
    if len(distinct) <= most:
        return distinct[1:]
    ordered = np.sort(values)
    # A quantile that is a score itself: any monotone transform of the scores gives the same levels.
    share = ndtr(np.linspace(-_TAIL, _TAIL, most - 1))
    at = np.floor(share * len(ordered)).astype(np.int64)
    edges = np.unique(ordered[at])
    return np.asarray(edges[edges > ordered[0]])


def _refuse_repeats(
    item: IntArray, voter: IntArray, voters: PassedValues, items: PassedValues | None
) -> None:
    """Refuse two scores of one voter for one item; a column of a wide table has none."""
    key, counts = np.unique(item * len(voters) + voter, return_counts=True)
    if (counts > 1).any() and items is not None:
        i, j = divmod(int(key[counts > 1][0]), len(voters))
        raise DataError(
            f"{shown(voters.tolist()[j])} scores the item {shown(items.tolist()[i])} twice; keep "
            "one score, or their mean"
        )


def _numbers(values: AnyArray, mask: Any, name: str) -> FloatArray:
    """Return numbers, NaN where there is none; text that shows numbers is read as such."""
    gone = np.zeros(len(values), bool) if mask is None else mask
    if gone.all():
        raise EmptyDataError(
            Argument.of(name),
            " holds no score",
            Remedy("leave it out"),
        )
    try:
        number = np.where(gone, "nan", values).astype(float) if values.dtype.kind == "U" else values
    except ValueError as error:
        said = f"{name} holds text ({quoted_text(values, gone)}); scores are numbers"
        raise ScoreError(said) from error
    number = np.where(gone, np.nan, number.astype(np.float64))
    infinite = np.flatnonzero(np.isinf(number))
    if infinite.size:
        # log P = -inf is a probability of 0: an extreme score, and an order is all that is used.
        number = np.where(np.isneginf(number), np.finfo(float).min, number)
        number = np.where(np.isposinf(number), np.finfo(float).max, number)
    return np.asarray(number)


def warm() -> None:
    """Run one short chain."""
    codes = np.array([[0, 1], [1, 0], [1, 1]])
    run_scores(
        codes,
        np.ones(3),
        np.full(3, -1),
        np.array([2, 2]),
        chains=1,
        draws=1,
        burn=1,
        rng=np.random.default_rng(0),
    )


# --- Several chains of the model of scores.

# Mean and spread of a separation, spread of a cut-point: voters are better than chance on the
# whole (an area of .86 in the middle), and hardly any score says nothing at all.
PRIOR = np.array([1.5, 1.0, 1.5])


@dataclass(frozen=True, slots=True)
class ScoreDraws:
    """What the chains drew: (chains, draws, …)."""

    share: FloatArray  # P(class 1)
    cuts: FloatArray  # voters × (levels − 1); infinite beyond a voter's own levels
    separation: FloatArray  # voters
    proba: FloatArray  # chains × patterns: P(class 1), averaged over draws

    def chances(self) -> FloatArray:
        """Return P(level | class) of every draw: chains × draws × voters × 2 × levels."""
        return level_chances(self.cuts, self.separation)


def starting_point(
    codes: IntArray, weight: FloatArray, levels: IntArray, rng: np.random.Generator
) -> tuple[float, FloatArray, FloatArray]:
    """Return a share, cut-points at each voter's own quantiles, and separations, dispersed."""
    from scipy.special import ndtri

    m, most = codes.shape[1], int(levels.max()) - 1
    cuts = np.full((m, most), np.inf)
    for j in range(m):
        said = codes[:, j] >= 0
        count = np.bincount(codes[said, j], weights=weight[said], minlength=levels[j]) + 0.5
        below = np.cumsum(count)[:-1] / count.sum()
        cuts[j, : levels[j] - 1] = np.sort(
            1.2 * ndtri(below) + 0.05 * rng.standard_normal(levels[j] - 1)
        )
    return float(rng.uniform(0.25, 0.75)), cuts, np.maximum(rng.normal(1.5, 0.7, m), 0.1)


def run_scores(
    codes: IntArray,
    weight: FloatArray,
    gold: IntArray,
    levels: IntArray,
    *,
    chains: int,
    draws: int,
    burn: int,
    rng: np.random.Generator,
    thin: int = 1,
    start: tuple[float, FloatArray, FloatArray] | None = None,
) -> ScoreDraws:
    """Run the chains, each from a start of its own unless ``start`` is given."""
    from karat.consensus._score_loops import score_chain

    m, most = codes.shape[1], int(levels.max()) - 1
    share = np.zeros((chains, draws))
    cuts = np.zeros((chains, draws, m, most))
    separation = np.zeros((chains, draws, m))
    proba = np.zeros((chains, len(codes)))
    for c in range(chains):
        p, at, apart = starting_point(codes, weight, levels, rng) if start is None else start
        score_chain(
            rng.spawn(1)[0],
            np.ascontiguousarray(codes),
            weight,
            gold,
            levels,
            PRIOR,
            p,
            at.copy(),
            apart.copy(),
            burn,
            draws,
            thin,
            share[c],
            cuts[c],
            separation[c],
            proba[c],
        )
    return ScoreDraws(share, cuts, separation, proba)


# --- A latent normal with cut-points: what a voter says given the class.
#
# A voter j sees :math:`z = \pm\mu_j/2 + \epsilon`, plus for class 1, and gives the level between
# whose cut-points z lies: :math:`P(\text{level} \le l \mid y) = \Phi(c_{jl} \mp \mu_j/2)`. The odds
# of class 1 rise with the level wherever :math:`\mu_j > 0`, whatever the cut-points.


def level_chances(cuts: FloatArray, separation: FloatArray) -> FloatArray:
    """Return P(level | class): (…, 2, levels) of cut-points (…, levels − 1); infinite cuts end."""
    from scipy.special import ndtr

    half = np.asarray(separation)[..., None, None] / 2
    sign = np.array([1.0, -1.0])[:, None]
    below = ndtr(cuts[..., None, :] + sign * half)
    ends = (*below.shape[:-1], 1)
    edges = np.concatenate([np.zeros(ends), below, np.ones(ends)], axis=-1)
    return np.asarray(np.diff(edges, axis=-1))


def error_and_area(chances: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the error rate of each voter read at its own calibration, and its area under the ROC.

    The error is that of calling every level by its more probable class; ``share`` is P(class 1).
    The area counts a pair on one level half.
    """
    zero, one = chances[..., 0, :], chances[..., 1, :]
    p = np.asarray(share)[..., None]
    error = np.minimum((1 - p) * zero, p * one).sum(axis=-1)
    below = np.cumsum(zero, axis=-1) - zero / 2
    return error, (one * below).sum(axis=-1)


def binormal(separation: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return error rate and area of a score that is not cut into levels.

    The best threshold is where both classes are as probable: at log((1 − p)/p)/μ.
    """
    from scipy.special import ndtr

    apart = np.maximum(np.abs(separation), 1e-9)
    at = np.log((1 - share) / share) / apart
    error = share * ndtr(at - apart / 2) + (1 - share) * ndtr(-at - apart / 2)
    return np.asarray(error), np.asarray(ndtr(separation / np.sqrt(2)))


def class_chances(codes: IntArray, chances: FloatArray, share: float) -> FloatArray:
    """Return P(class 1) of items × voters of levels, -1 where there is none."""
    log = np.log(np.maximum(chances, 1e-300))
    ratio = log[:, 1] - log[:, 0]  # voters × levels
    total = np.full(len(codes), np.log(share / (1 - share)))
    for j in range(codes.shape[1]):
        total += np.where(codes[:, j] >= 0, ratio[j][np.maximum(codes[:, j], 0)], 0.0)
    return np.asarray(1 / (1 + np.exp(-total)))
