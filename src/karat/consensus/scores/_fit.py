"""One domain of scores fitted: draws, checks, error rates and areas with limits."""

from dataclasses import dataclass

import numpy as np

from karat._convergence import bulk_ess, split_r_hat
from karat._typing import BoolArray, FloatArray, IntArray
from karat.consensus.identification import GoldTest, check_consensus, status_of
from karat.consensus.scores._check import pairs_apart
from karat.consensus.scores._formulas import binormal, error_and_area
from karat.consensus.scores._one_scale import two_classes_ahead
from karat.consensus.scores._run import ScoreDraws, run_scores
from karat.statistics.kernels import distinct_rows

__all__ = ["ScoreFit", "fit_scores"]

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
            codes[:, rest], count, gold, levels[rest], chains=chains, draws=draws, burn=draws,
            rng=rng,
        )  # fmt: skip
        for whole, part in zip(found, _quantities(drawn, fine[rest]), strict=True):
            spread = _spread(part, tails)
            whole[1, rest] = np.minimum(whole[1, rest], spread[1])
            whole[2, rest] = np.maximum(whole[2, rest], spread[2])
    return found[0], found[1]
