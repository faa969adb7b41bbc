"""Limits against their formulas, and against the worst law by enumeration."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_curve

from karat.exceptions import SmallSampleWarning
from karat.ranking import (
    FprBand,
    FunctionWeight,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    weighted_auc,
)
from karat.ranking._approximate import resampled
from karat.ranking.areas import band_limits
from karat.ranking.bands import dkw_margin
from karat.ranking.methods import limits_of
from karat.ranking.placements import place
from karat.statistics import RocCounts

few = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
WEIGHTS = [
    Uniform(),
    FprBand(0, 0.3),
    FprBand(0.2, 0.6),
    Power(3),
    PiecewiseLinear([0, 0.2, 0.2, 0.5], [2, 1, 0.5, 0]),
]
each = pytest.mark.parametrize("weight", WEIGHTS, ids=repr)


def placements(ones, zeros):
    return place(np.sort(np.asarray(ones, float)), np.sort(np.asarray(zeros, float)))


# The bands of Dvoretzky, Kiefer, Wolfowitz and Massart.


def by_the_formula(ones, zeros, weight, e0, e1):
    """The limits of the theory page, a positive at a time."""
    ones, zeros = np.sort(ones), np.sort(zeros)

    def mean(a, b):
        return float(weight.mean_cumulative(np.array(a), np.array(b)))

    n1, lower, upper = len(ones), 0.0, e1 * weight.area
    for i, x in enumerate(ones):
        below, upto = np.mean(zeros < x), np.mean(zeros <= x)
        low, high = i / n1, (i + 1) / n1
        left = max(0.0, min(high, 1 - e1) - min(low, 1 - e1))
        lower += left * mean(max(0, below - e0), max(0, upto - e0))
        kept = max(0.0, max(high, e1) - max(low, e1))
        upper += kept * mean(min(1, below + e0), min(1, upto + e0))
    return lower, upper


@each
@pytest.mark.parametrize("decimals", [None, 0])
def test_band_limits_are_those_of_the_formula(rows, weight, decimals):
    y, score = rows(0, 400, decimals)
    r = weighted_auc(y, score, weight=weight, confidence=0.7, limits="dkw")
    n1, n0 = int(y.sum()), int((~y).sum())
    e1, e0 = (math.sqrt(math.log(4 / 0.3) / (2 * n)) for n in (n1, n0))
    assert r.margins == pytest.approx((e0, e1))
    assert (r.lower, r.upper) == pytest.approx(
        by_the_formula(score[y], score[~y], weight, e0, e1), abs=1e-12
    )
    assert r.half_width == pytest.approx(weight.area * e1 + weight.sup * e0)
    assert r.value - r.half_width <= r.lower <= r.value <= r.upper <= r.value + r.half_width


def every_law(points, seen, steps, reach):
    """All distribution functions on a grid of shares that stay within ``reach`` of one seen."""
    grid = range(steps + 1)
    return np.array(
        [
            np.array(f) / steps
            for f in itertools.combinations_with_replacement(grid, points)
            if f[-1] == steps and np.abs(np.array(f) / steps - seen).max() <= reach + 1e-12
        ]
    )


def curves(f1, f0):
    """Corners of all ROC curves, one for each pair of laws."""
    one, zero = 1 - f1[:, None, ::-1], 1 - f0[None, :, ::-1]
    shape = len(f1), len(f0), f1.shape[1]
    ends = np.ones((*shape[:2], 1))
    return (
        np.concatenate([np.broadcast_to(zero, shape), ends], axis=2),
        np.concatenate([np.broadcast_to(one, shape), ends], axis=2),
    )


def areas_in_band(fpr, tpr, low, high):
    """Area between two false-positive rates, segment by segment."""
    run, rise = np.diff(fpr, axis=2), np.diff(tpr, axis=2)
    start, end = np.clip(fpr[..., :-1], low, high), np.clip(fpr[..., 1:], low, high)
    slope = np.divide(rise, run, out=np.zeros_like(run), where=run > 0)
    middle = tpr[..., :-1] + slope * ((start + end) / 2 - fpr[..., :-1])
    return ((end - start) * middle).sum(axis=2)


TINY = {
    "apart": ([1.0, 3.0], [0.0, 2.0]),
    "level": ([1.0, 2.0], [1.0, 0.0]),
    "all level": ([1.0, 1.0], [1.0, 1.0]),
    "wrong": ([0.0, 1.0], [1.0, 2.0]),
}


@pytest.mark.parametrize("data", TINY)
@pytest.mark.parametrize(("e0", "e1"), [(0.25, 0.25), (0.0, 0.5), (0.5, 0.0), (0.25, 0.5)])
@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.3), (0.25, 0.6)])
def test_limits_are_the_worst_laws_inside_the_bands(data, e0, e1, band):
    """Every pair of laws on a grid of shares, on the scores, between them and beyond them."""
    ones, zeros = TINY[data]
    scores = np.unique([*ones, *zeros])
    support = np.sort(np.concatenate([scores, scores + 0.5, [-1e9]]))

    def seen(values):
        return np.array([np.mean(np.array(values) <= x) for x in support])

    laws = [every_law(len(support), seen(v), 4, e) for v, e in ((ones, e1), (zeros, e0))]
    found = areas_in_band(*curves(*laws), *band)
    limits = band_limits(placements(ones, zeros), FprBand(*band), e0, e1)
    assert limits == pytest.approx((found.min(), found.max()), abs=1e-12)


@pytest.mark.parametrize("data", TINY)
@each
def test_strict_limits_hold_for_all_laws_inside_the_bands(data, weight):
    ones, zeros = TINY[data]
    scores = np.unique([*ones, *zeros])
    support = np.sort(np.concatenate([scores, scores + 0.5, [-1e9]]))

    def seen(values):
        return np.array([np.mean(np.array(values) <= x) for x in support])

    n, delta = 2, 4 * math.exp(-2 * 2 * 0.5**2)  # both margins are one half
    assert dkw_margin(n, delta / 2) == pytest.approx(0.5)
    f1, f0 = (every_law(len(support), seen(v), 4, 0.5) for v in (ones, zeros))
    # Eq. 1: Σ over atoms of the negatives of W at the end of the atom times P(positive above).
    shares = np.diff(f0, axis=1, prepend=0)
    areas = (1 - f1) @ (shares * weight.density(f0)).T
    placed = placements(ones, zeros)
    limits = limits_of(
        "dkw", placed, weight, delta=delta, ties="strict", rng=np.random.default_rng(0)
    )
    assert limits.lower <= areas.min() + 1e-12
    assert limits.upper >= areas.max() - 1e-12


def test_strict_limits_that_say_nothing_say_why(rows):
    """2ε₀ alone is more than the whole area of this band."""
    y, score = rows(15, 400)
    with pytest.warns(SmallSampleWarning, match="end of an atom.*ties='interpolate'"):
        weighted_auc(y, score, weight=FprBand(0, 0.1), ties="strict")
    assert weighted_auc(y, score, weight=FprBand(0, 0.1)).lower > 0


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("box", [(0, 0.3, 0.4, 1), (0.1, 0.6, 0.2, 0.7), (0, 1, 0, 1)])
def test_box_limits_are_the_shifted_curves(rows, box, decimals):
    a, b, c, d = box
    y, score = rows(1, 3000, decimals, share=0.5)
    r = weighted_auc(y, score, weight=FprBand(a, b) & TprBand(c, d), limits="dkw")
    e0, e1 = r.margins
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    u = np.linspace(a, b, 200_001)
    lower = np.where(u >= e0, np.interp(u - e0, fpr, tpr) - e1, 0)
    upper = np.where(u + e0 <= 1, np.interp(u + e0, fpr, tpr) + e1, 1)
    expected = [np.trapezoid(np.clip(h, c, d) - c, u) for h in (lower, upper)]
    if decimals is None:
        assert (r.lower, r.upper) == pytest.approx(expected, abs=2e-5)
    # Level scores at an end of the curve are cut at 0 and 1 before they are mixed: closer.
    assert expected[0] - 2e-5 <= r.lower <= r.value <= r.upper <= expected[1] + 2e-5
    assert r.half_width is None


def test_a_box_without_walls_is_a_band(rows):
    y, score = rows(2, 1000, 1)
    box = weighted_auc(y, score, weight=FprBand(0.1, 0.4) & TprBand(0, 1))
    band = weighted_auc(y, score, weight=FprBand(0.1, 0.4))
    assert (box.value, box.lower, box.upper) == pytest.approx((band.value, band.lower, band.upper))


REGIONS = [*WEIGHTS, TprBand(0.7, 1), FprBand(0, 0.3) & TprBand(0.4, 1)]


@few
@pytest.mark.parametrize("region", REGIONS, ids=repr)
@pytest.mark.parametrize("ties", ["interpolate", "strict"])
@pytest.mark.parametrize("limits", ["dkw", "delong", "bootstrap", "maurer-pontil"])
def test_more_confidence_is_wider(rows, region, ties, limits):
    if limits == "maurer-pontil" and region is WEIGHTS[-1]:
        return  # it has jumps
    if region is REGIONS[-1] and (ties == "strict" or limits in ("delong", "maurer-pontil")):
        return  # boxes know neither
    if limits == "bootstrap" and (ties == "strict" or region in WEIGHTS[2:]):
        return  # slow; and eq. 1 jumps at atoms, so that samples may all be above its value
    y, score = rows(3, 800, 1)
    before = None
    for confidence in (0.5, 0.95, 0.999):
        r = weighted_auc(
            y, score, weight=region, confidence=confidence, ties=ties, limits=limits,
            rng=0,
        )  # fmt: skip
        assert 0 <= r.lower <= r.value <= r.upper
        if ties == "interpolate":
            assert r.upper <= region.area + 1e-12
        if before is not None:
            assert r.lower <= before.lower
            assert r.upper >= before.upper
        before = r


def test_scales_move_limits_with_the_value(rows):
    y, score = rows(4, 1500)
    weight = FprBand(0.1, 0.4)
    raw = weighted_auc(y, score, weight=weight, limits="delong")
    mean = weighted_auc(y, score, weight=weight, limits="delong", normalize="mean")
    chance, area = (0.4**2 - 0.1**2) / 2, 0.3
    mcclish = weighted_auc(y, score, weight=weight, limits="delong", normalize="mcclish")
    for name in ("value", "lower", "upper"):
        x = getattr(raw, name)
        assert getattr(mean, name) == pytest.approx(x / area)
        assert getattr(mcclish, name) == pytest.approx(0.5 * (1 + (x - chance) / (area - chance)))
    for limits, name in (("dkw", "half_width"), ("delong", "standard_error")):
        raw, mean, mcclish = (
            getattr(weighted_auc(y, score, weight=weight, limits=limits, normalize=n), name)
            for n in ("raw", "mean", "mcclish")
        )
        assert mean == pytest.approx(raw / area)
        assert mcclish == pytest.approx(raw / 2 / (area - chance))


def test_half_widths_that_were_promised():
    """A million rows with 10 % positives: .0065 for the AUC and .0021 for FPR up to .1."""
    score = np.arange(2.0)
    counts = RocCounts(
        scores=score, positives=np.array([20_000, 80_000]),
        negatives=np.array([880_000, 20_000]), classes=np.array([0, 1]),
    )  # fmt: skip
    whole = weighted_auc(counts, limits="dkw")
    band = weighted_auc(counts, weight=FprBand(0, 0.1), limits="dkw")
    assert whole.half_width <= 0.0065
    assert band.half_width <= 0.0021


# DeLong.


@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_variance_is_that_of_midranks(rows, delong, decimals):
    y, score = rows(5, 500, decimals)
    (value,), covariance = delong(y, score)
    r = weighted_auc(y, score, limits="delong")
    assert r.value == pytest.approx(value, abs=1e-12)
    assert r.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), abs=1e-10)
    reach = norm.ppf(0.975) * r.standard_error
    assert (r.lower, r.upper) == pytest.approx((value - reach, value + reach), abs=1e-12)


SMOOTH = [
    Uniform(), Power(3), FprBand(0, 0.31), FprBand(0.203, 0.61), PiecewiseLinear([0, 0.5], [1, 0]),
    FunctionWeight(lambda u: np.exp(-5 * u), sup=1, lipschitz=5), TprBand(0.7, 1),
]  # fmt: skip


@few
@pytest.mark.parametrize("region", SMOOTH, ids=repr)
@pytest.mark.parametrize("decimals", [None, 0])
def test_variance_from_moving_the_weight_of_each_row(rows, region, decimals):
    """The influence of a row is what a little more weight on it does to the area."""
    y, score = rows(6, 60, decimals, share=0.4)
    h = 1e-6
    total = 0.0
    for label in (True, False):
        here = np.flatnonzero(y == label)
        moved = []
        for row in here:
            ends = []
            for sign in (1, -1):
                w = np.ones(len(y))
                w[row] += sign * h * len(here)
                ends.append(weighted_auc(y, score, weight=region, sample_weight=w).value)
            moved.append((ends[0] - ends[1]) / (2 * h))
        total += np.var(moved, ddof=1) / len(here)
    r = weighted_auc(y, score, weight=region, limits="delong")
    assert r.standard_error == pytest.approx(math.sqrt(total), rel=1e-6)


@few
def test_strict_ties_have_their_own_variance():
    """With half the scores level, the placement of a positive is the share strictly below it."""
    rng = np.random.default_rng(7)
    y = rng.random(600) < 0.4
    score = (rng.normal(size=600) + y).round(0)
    ones, zeros = score[y], score[~y]
    below = (zeros[None, :] < ones[:, None]).mean(axis=1)
    above = (ones[None, :] > zeros[:, None]).mean(axis=1)
    expected = np.var(below, ddof=1) / y.sum() + np.var(above, ddof=1) / (~y).sum()
    r = weighted_auc(y, score, ties="strict", limits="delong")
    assert r.standard_error == pytest.approx(math.sqrt(expected), rel=1e-10)


@pytest.mark.parametrize("limits", ["delong", "bootstrap"])
def test_few_rows_are_told(rows, limits):
    y, score = rows(8, 300, share=0.2)
    assert y.sum() < 100
    with pytest.warns(SmallSampleWarning, match=rf"{int(y.sum())} positives.*too narrow below 100"):
        weighted_auc(y, score, limits=limits, rng=0)
    with pytest.warns(SmallSampleWarning, match=rf"{int(y.sum())} negatives.*too narrow below 100"):
        weighted_auc(~y, score, limits=limits, rng=0)
    with pytest.warns(SmallSampleWarning, match=rf"{int(y.sum())} positives"):
        weighted_auc(y, score, weight=TprBand(0.5, 1), limits=limits, rng=0)
    y, score = rows(8, 600, share=0.4)
    weighted_auc(y, score, limits=limits, rng=0)  # a warning would be an error


def test_one_positive_says_what_still_holds():
    rng = np.random.default_rng(9)
    zeros = rng.normal(size=1000)
    y, score = np.append(np.zeros(1000, int), 1), np.append(zeros, 1.5)
    with pytest.warns(SmallSampleWarning, match="1 positives and 1,000 negatives") as caught:
        r = weighted_auc(y, score, limits="dkw")
    assert (r.lower, r.upper) == (0, 1)
    placed, e0 = np.mean(zeros < 1.5), math.sqrt(math.log(2 / 0.05) / 2000)
    text = str(caught[0].message)
    assert "For just the positives seen" in text
    assert f"between {placed - e0:.4f} and {min(1, placed + e0):.4f} at 95 %" in text
    with pytest.warns(SmallSampleWarning, match="too narrow"):
        r = weighted_auc(y, score, limits="delong")
    assert (r.lower, r.upper, r.standard_error) == (0, 1, np.inf)
    with pytest.warns(SmallSampleWarning, match="For just the negatives seen"):
        weighted_auc(1 - y, score, weight=TprBand(0, 1), limits="dkw")


# The bootstrap.


def test_bootstrap_agrees_with_delong_in_large_samples(rows):
    y, score = rows(10, 4000, 2)
    for weight in (Uniform(), Power(4), FprBand(0, 0.2)):
        a, b = (
            weighted_auc(y, score, weight=weight, limits=c, rng=1) for c in ("bootstrap", "delong")
        )
        # 1,000 samples know a standard error to 2.2 %.
        assert a.standard_error == pytest.approx(b.standard_error, rel=0.12)
        assert (a.lower, a.upper) == pytest.approx((b.lower, b.upper), abs=0.4 * b.standard_error)


@few
@pytest.mark.parametrize("ties", ["interpolate", "strict"])
@pytest.mark.parametrize("region", [FprBand(0, 0.3), Power(3)], ids=repr)
def test_bootstrap_is_that_of_drawing_rows(rows, pairwise, quadrature, ties, region):
    y, score = rows(11, 250, 1, share=0.2)
    fast = weighted_auc(y, score, weight=region, limits="bootstrap", ties=ties, rng=0)
    rng = np.random.default_rng(0)
    ones, zeros = np.flatnonzero(y), np.flatnonzero(~y)
    values = []
    for _ in range(600):
        rows_drawn = np.concatenate([rng.choice(ones, len(ones)), rng.choice(zeros, len(zeros))])
        label, drawn = y[rows_drawn], score[rows_drawn]
        if ties == "strict":
            values.append(pairwise(label, drawn, region))
        else:
            values.append(weighted_auc(label, drawn, weight=region).value)
    error = np.std(values, ddof=1)
    assert fast.standard_error == pytest.approx(error, rel=0.15)
    slow = np.quantile(values, [0.025, 0.975])
    assert (fast.lower, fast.upper) == pytest.approx(slow, abs=0.35 * error)


@few
def test_bootstrap_is_reproducible_and_keeps_the_classes(rows):
    y, score = rows(12, 200, 1)
    options = {"limits": "bootstrap", "weight": FprBand(0, 0.4) & TprBand(0.2, 1)}
    first = weighted_auc(y, score, rng=3, **options)
    assert first == weighted_auc(y, score, rng=3, **options)
    assert first != weighted_auc(y, score, rng=4, **options)
    rng = np.random.default_rng(3)
    assert first == weighted_auc(y, score, rng=rng, **options)
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    weighted_auc(y, score, **options)
    assert state == np.random.get_state()[1].tolist()  # noqa: NPY002
    seen = []
    resampled(
        placements(score[y], score[~y]), lambda p: seen.append(p) or 0.0, 20,
        np.random.default_rng(0),
    )  # fmt: skip
    for p in seen:
        drawn = p.mass * y.sum()
        assert drawn == pytest.approx(drawn.round())
        assert p.mass.sum() == pytest.approx(1)
        steps = np.diff(p.share) * (~y).sum()
        assert steps == pytest.approx(steps.round(), abs=1e-9)
        assert (p.share[0], p.share[-1]) == (0, pytest.approx(1))


# Maurer and Pontil.


def large_counts(n, share):
    """Counts of so many rows that Theorem 2 says something."""
    k = np.arange(20.0)
    ones, zeros = np.exp(k / 8), np.exp(-k / 8)
    ones, zeros = ones / ones.sum() * n * share, zeros / zeros.sum() * n * (1 - share)
    return RocCounts(
        scores=k, positives=ones.round().astype(np.int64),
        negatives=zeros.round().astype(np.int64), classes=np.array([0, 1]),
    )  # fmt: skip


def by_theorem_2(counts, lipschitz, sup, delta):
    n1, n0 = counts.positives.sum(), counts.negatives.sum()
    n, rare = n1 + n0, min(n1, n0) / (n1 + n0)
    root = math.sqrt(2 * math.log(4 / delta) / n)
    assert rare > root
    return (lipschitz + 9 * sup) / rare**2 * root


@pytest.mark.parametrize(
    ("weight", "lipschitz"),
    [(Uniform(), 0), (Power(3), 3), (PiecewiseLinear([0, 0.2, 0.4], [1, 1, 0]), 5)],
)
def test_theorem_2_by_hand(weight, lipschitz):
    counts = large_counts(10**9, 0.3)
    r = weighted_auc(counts, weight=weight, limits="maurer-pontil", confidence=0.9)
    reach = by_theorem_2(counts, lipschitz, 1.0, 0.1)
    assert reach < 0.1
    assert r.upper == pytest.approx(min(weight.area, r.value + reach), rel=1e-9)
    assert r.lower == pytest.approx(max(0, r.value - reach), rel=1e-9)
    narrow = weighted_auc(counts, weight=weight, confidence=0.9)
    assert r.lower < narrow.lower
    assert r.upper >= narrow.upper


def test_a_step_is_put_between_ramps():
    counts = large_counts(10**13, 0.5)
    band = FprBand(0.1, 0.4)
    r = weighted_auc(counts, weight=band, limits="maurer-pontil")
    root, rare = math.sqrt(2 * math.log(80) / 10**13), 0.5
    width = math.sqrt(2 * root / (rare**2 * 2))
    below, above = band.sandwich(width)
    values = [weighted_auc(counts, weight=w).value for w in (below, above)]
    reach = by_theorem_2(counts, 1 / width, 1.0, 0.05)
    assert r.lower == pytest.approx(values[0] - reach, rel=1e-6)
    assert r.upper == pytest.approx(values[1] + reach, rel=1e-6)
    assert 0 < r.lower < values[0] < r.value < values[1] < r.upper < band.area


def test_theorem_2_is_silent_where_it_has_nothing_to_say(rows):
    y, score = rows(13, 2000)
    with pytest.warns(SmallSampleWarning, match="the bound of Theorem 2 is"):
        r = weighted_auc(y, score, limits="maurer-pontil")
    assert (r.lower, r.upper) == (0, 1)
    y, score = rows(13, 2000, share=0.02)  # A_δ asks for more than √(2 ln 80 / 2000) = 6.6 %
    with pytest.warns(SmallSampleWarning, match="rarer class is 0.0.* needs more than 0.066"):
        weighted_auc(y, score, limits="maurer-pontil")


# Proposition 1 of Maurer & Pontil (2020).


@few
def test_the_law_of_proposition_1():
    """Negatives at 0 and 1, positives at 1/2: eq. 1's plug-in is biased however many rows."""
    rng = np.random.default_rng(14)
    band, n = FprBand(0, 0.5), 20_000
    strict, smooth = [], []
    for _ in range(400):
        zeros = rng.integers(0, 2, n).astype(float)
        y = np.append(np.zeros(n, bool), True)
        score = np.append(zeros, 0.5)
        strict.append(weighted_auc(y, score, weight=band, ties="strict").value)
        smooth.append(weighted_auc(y, score, weight=band).value)
    # Eq. 1 of the law is r·1{r ≥ 1/2} at r = 1/2; samples fall on either side of it.
    assert np.mean(strict) == pytest.approx(0.25, abs=4 * 0.25 / math.sqrt(400))
    assert min(strict) == 0
    assert max(strict) == pytest.approx(0.5, abs=0.02)
    # The integrated form is (r − 1/2)₊, which is continuous: 0 at r = 1/2.
    assert np.abs(smooth).max() < 4 * 0.5 / math.sqrt(n)
