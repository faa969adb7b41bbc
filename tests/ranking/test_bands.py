"""Bands that are narrow where rates are small."""

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest, kstwo

from karat.exceptions import OptionError
from karat.ranking import (
    FprBand,
    Power,
    TprBand,
    Uniform,
    compare_rankings,
    roc_at,
    weighted_auc,
)
from karat.ranking.areas import area_and_limits, curve, curves_in_bands, limits_in_bands
from karat.ranking.bands import BetaBand, DkwBand, dkw_margin
from karat.ranking.placements import place
from karat.statistics import roc_counts

SIZES = (1, 2, 7, 60, 1000, 100_000)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_the_even_margin_is_little_more_than_the_exact_one(n, delta):
    """Kolmogorov's law of the greatest distance; the inequality is sharp in large samples."""
    beyond = kstwo.sf(dkw_margin(n, delta), n)
    assert beyond <= delta
    if n >= 1000:
        assert beyond > 0.9 * delta


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", [BetaBand, DkwBand])
def test_bands_enclose_the_shares_and_rise(n, kind):
    band = kind(n, 0.05)
    share = np.arange(min(n, 5000) + 1) / n
    low, high = band.low(share), band.high(share)
    assert (low <= share).all()
    assert (high >= share).all()
    assert ((low >= 0) & (high <= 1)).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert band.high(np.array(1.0)) == 1
    assert band.low(np.array(0.0)) == 0


@pytest.mark.parametrize("n", SIZES[2:])
def test_limits_at_ranks_are_quantiles_of_order_statistics(n):
    band = BetaBand(n, 0.04)
    ranks, low, high = band._quantiles
    each = 0.04 * 0.7 / (2 * len(ranks))
    assert low == pytest.approx(beta(ranks, n + 1 - ranks).ppf(each))
    # P(U_(r) > high) is that of fewer than r of n uniforms below it.
    assert binom.cdf(ranks - 1, n, high) == pytest.approx(np.full(len(ranks), each), rel=1e-6)
    assert {1, n} <= set(ranks.tolist())
    assert len(ranks) < 4 * np.sqrt(n) + 4


def test_narrow_at_small_rates_and_little_wider_elsewhere():
    n = 2000
    narrow, even = BetaBand(n, 0.025), DkwBand(n, 0.025)
    share = np.arange(n + 1) / n
    tail, middle = share > 0.98, np.abs(share - 0.5) < 0.1
    assert (share - narrow.low(share))[tail].mean() < 0.5 * even.margin
    assert (share - narrow.low(share))[middle].max() < 1.2 * even.margin


@pytest.mark.parametrize("law", ["continuous", "levels", "one value"])
@pytest.mark.parametrize("n", [5, 60, 400])
def test_the_band_holds_everywhere_at_once(law, n):
    """One in ten may leave it; F and its limits from the left are looked at."""
    runs, rng, left = 600, np.random.default_rng(0), 0
    band = BetaBand(n, 0.1)
    for _ in range(runs):
        if law == "continuous":
            x = np.sort(rng.random(n))
            upto, before = x, x  # F at the scores
            seen, seen_before = np.arange(1, n + 1) / n, np.arange(n) / n
        else:
            k = 4 if law == "levels" else 1
            x = rng.integers(0, k, n)
            upto, before = np.arange(1, k + 1) / k, np.arange(k) / k
            seen = np.array([(x <= v).mean() for v in range(k)])
            seen_before = np.array([(x < v).mean() for v in range(k)])
        out = (band.low(seen) > upto + 1e-12).any() or (band.high(seen) < upto - 1e-12).any()
        out |= (band.low(seen_before) > before + 1e-12).any()
        out |= (band.high(seen_before) < before - 1e-12).any()
        left += bool(out)
    assert binomtest(left, runs, 0.1, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("weight", [Uniform(), FprBand(0, 0.1), FprBand(0.3, 0.6), Power(3)])
def test_even_bands_give_the_limits_of_dkw(rows, weight, decimals):
    y, score = rows(5, 700, decimals)
    placed = place(np.sort(score[y]), np.sort(score[~y]))
    zero, one = DkwBand(placed.n_negative, 0.025), DkwBand(placed.n_positive, 0.025)
    wanted = area_and_limits(placed, weight, zero.margin, one.margin)[1:]
    assert limits_in_bands(placed, weight, zero, one) == pytest.approx(wanted, abs=1e-12)


def test_the_limits_are_areas_of_the_outermost_curves(rows):
    """Without ties: the lowest and the highest curve, by an even grid."""
    y, score = rows(6, 500)
    placed = place(np.sort(score[y]), np.sort(score[~y]))
    zero, one = BetaBand(placed.n_negative, 0.025), BetaBand(placed.n_positive, 0.025)
    lowest, highest = curves_in_bands(*curve(placed), zero, one)
    u = (np.arange(400_000) + 0.5) / 400_000
    weight = FprBand(0, 0.2)
    wanted = [(np.interp(u, *c) * weight(u)).mean() for c in (lowest, highest)]
    assert limits_in_bands(placed, weight, zero, one) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("weight", [FprBand(0, 0.05), TprBand(0.9, 1), FprBand(0, 0.1)])
def test_better_than_dkw_where_it_is_meant_to_be(rows, weight):
    y, score = rows(7, 1500)
    narrow = weighted_auc(y, score, weight=weight, limits="beta")
    even = weighted_auc(y, score, weight=weight, limits="dkw")
    assert narrow.upper - narrow.lower < 0.9 * (even.upper - even.lower)
    assert narrow.lower < narrow.value < narrow.upper
    assert narrow.half_width is None


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "levels"])
@pytest.mark.parametrize("share", [0.05, 0.4])
def test_areas_are_covered(law, share):
    """At 80 %, so that a limit that holds too seldom would show."""
    rng, runs, held, inside = np.random.default_rng(11), 400, {}, {}
    areas = {
        "AUC": Uniform(), "low rates": FprBand(0, 0.05), "high rates": TprBand(0.8, 1),
        "box": FprBand(0, 0.3) & TprBand(0.4, 1),
    }  # fmt: skip
    big = _draw(law, 400_000, 0.5, np.random.default_rng(1))
    truth = {k: weighted_auc(*big, weight=w).value for k, w in areas.items()}
    for _ in range(runs):
        y, score = _draw(law, 400, share, rng)
        for k, w in areas.items():
            r = weighted_auc(y, score, weight=w, limits="beta", confidence=0.8)
            held[k] = held.get(k, 0) + (r.lower - 2e-3 <= truth[k] <= r.upper + 2e-3)
            inside[k] = inside.get(k, 0) + (r.upper - r.lower < w.area)
    for k in areas:
        assert binomtest(held[k], runs, 0.8, alternative="less").pvalue > 0.001
        assert inside[k] > 0.9 * runs  # and they say something


def _draw(law, n, share, rng):
    y = rng.random(n) < share
    y[:2] = True, False
    score = rng.normal(size=n) + 1.5 * y
    return y, score if law == "normal" else np.clip(np.round(score), -1, 2)


def test_counts_points_and_comparisons_take_it(rows):
    y, score = rows(8, 900, 1)
    band = FprBand(0, 0.1)
    one = weighted_auc(y, score, weight=band, limits="beta")
    counted = weighted_auc(roc_counts(y, score), weight=band, limits="beta")
    assert (counted.lower, counted.upper) == pytest.approx((one.lower, one.upper), abs=1e-12)
    doubled = weighted_auc(
        y, score, weight=band, limits="beta", sample_weight=np.full(len(y), 2),
        weighting="frequency",
    )  # fmt: skip
    twice = weighted_auc(np.tile(y, 2), np.tile(score, 2), weight=band, limits="beta")
    assert (doubled.lower, doubled.upper) == pytest.approx((twice.lower, twice.upper), abs=1e-12)
    point, even = (roc_at(y, score, fpr=0.02, limits=c) for c in ("beta", "dkw"))
    assert point.lower >= even.lower
    assert point.lower <= point.value <= point.upper
    models = compare_rankings(y, {"a": score, "b": -score}, weight=band, limits="beta").models
    assert models["a"].lower <= one.lower  # it is shared by two


def test_what_it_cannot_do_is_said(rows):
    y, score = rows(9, 300)
    with pytest.raises(OptionError, match="holds importances"):
        weighted_auc(y, score, limits="beta", sample_weight=np.linspace(0.1, 1, len(y)))
    with pytest.raises(OptionError, match="ties='interpolate'"):
        weighted_auc(y, score, limits="beta", ties="strict")
    with pytest.raises(OptionError, match="'dkw' or 'beta'"):
        roc_at(y, score, fpr=0.1, limits="delong")
