"""What must not change an area, and what must change it as it should."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.exceptions import SmallSampleWarning
from karat.ranking import (
    FprBand,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    compare_rankings,
    weighted_auc,
)

REGIONS = [
    Uniform(), FprBand(0, 0.3), FprBand(0.2, 0.7), Power(2),
    PiecewiseLinear([0, 0.4, 0.4, 0.8], [1, 2, 0.5, 0]), TprBand(0.5, 1),
    FprBand(0, 0.5) & TprBand(0.3, 1),
]  # fmt: skip
regions = st.sampled_from(REGIONS)
many = settings(max_examples=60, deadline=None)


@st.composite
def data(draw, most=30):
    """Labels of both classes, scores with many ties, and how often each row counts."""
    n = draw(st.integers(2, most))
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    y[:2] = [True, False]
    score = np.array(draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n)), float)
    times = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    times[:2] = [1, 2]
    return y, score, times


def measure(y, score, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        return weighted_auc(y, score, **({"confidence": 0.2} | options))


def same(a, b):
    return (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper), abs=1e-11)


def rules(region):
    return ("interpolate",) if region is REGIONS[-1] else ("interpolate", "strict")


@given(rows=data(), region=regions, seed=st.integers(0, 99))
@many
def test_row_order(rows, region, seed):
    y, score, times = rows
    order = np.random.default_rng(seed).permutation(len(y))
    for ties in rules(region):
        options = {"weight": region, "ties": ties}
        a = measure(y, score, sample_weight=times, **options)
        assert same(a, measure(y[order], score[order], sample_weight=times[order], **options))


@given(rows=data(), region=regions)
@many
def test_names_of_the_classes(rows, region):
    y, score, _ = rows
    a = measure(y, score, weight=region)
    assert same(a, measure(np.where(y, "yes", "no"), score, weight=region))
    assert same(a, measure(np.where(y, "no", "yes"), score, weight=region, pos_label="no"))
    assert same(a, measure(np.where(y, "no", "yes"), score, weight=region, classes=["yes", "no"]))
    assert same(a, measure(np.where(y, -3, 8), score, weight=region, pos_label=-3))


@given(rows=data(), region=regions)
@many
def test_rising_transforms_of_the_scores(rows, region):
    y, score, times = rows
    for ties in rules(region):
        options = {"weight": region, "ties": ties, "sample_weight": times}
        a = measure(y, score, **options)
        for moved in (score**3, np.exp(score), 1e6 * score - 3, np.arctan(score)):
            assert same(a, measure(y, moved, **options))


@given(rows=data(), region=regions)
@many
def test_copies_are_weights(rows, region):
    y, score, times = rows
    for ties in rules(region):
        options = {"weight": region, "ties": ties}
        a = measure(y, score, sample_weight=times, weighting="frequency", **options)
        b = measure(np.repeat(y, times), np.repeat(score, times), **options)
        assert same(a, b)
        assert (a.n_positive, a.n_negative) == (b.n_positive, b.n_negative)


@given(rows=data(), region=regions, factor=st.floats(0.01, 100))
@many
def test_importances_have_no_scale(rows, region, factor):
    y, score, times = rows
    a, b = (
        measure(y, score, weight=region, sample_weight=w, weighting="importance")
        for w in (times + 0.5, factor * (times + 0.5))
    )
    assert same(a, b)
    assert a.approximate
    assert a.n_positive <= y.sum() + 1e-9  # Kish's number is never more than there are


@given(rows=data())
@many
def test_both_classes_and_all_scores_turned(rows):
    y, score, times = rows
    for ties in ("interpolate", "strict"):
        a = measure(y, score, sample_weight=times, ties=ties)
        assert same(a, measure(~y, -score, sample_weight=times, ties=ties))
    # A box is turned into a box.
    box = FprBand(0, 0.5) & TprBand(0.3, 1)
    turned = FprBand(0, 0.7) & TprBand(0.5, 1)
    full = measure(y, score, weight=box).value
    other = measure(~y, -score, weight=turned).value
    assert full == pytest.approx(other, abs=1e-11)


@given(rows=data())
@many
def test_turned_scores_have_the_rest_of_the_area(rows):
    y, score, times = rows
    a, b = (measure(y, s, sample_weight=times) for s in (score, -score))
    assert a.value + b.value == pytest.approx(1)
    assert (a.lower, a.upper) == pytest.approx((1 - b.upper, 1 - b.lower))


@given(rows=data(), cut=st.integers(1, 99))
@many
def test_adjacent_bands_add_up(rows, cut):
    y, score, times = rows
    for kind in (FprBand, TprBand):
        low, high, whole = (
            measure(y, score, weight=kind(*ends), sample_weight=times).value
            for ends in ((0, cut / 100), (cut / 100, 1), (0, 1))
        )
        assert low + high == pytest.approx(whole, abs=1e-11)
        assert whole == pytest.approx(measure(y, score, sample_weight=times).value, abs=1e-11)
    boxes = [
        measure(y, score, weight=FprBand(0, 0.6) & TprBand(*ends)).value
        for ends in ((0, cut / 100), (cut / 100, 1))
    ]
    assert sum(boxes) == pytest.approx(measure(y, score, weight=FprBand(0, 0.6)).value, abs=1e-11)


@given(rows=data(), width=st.floats(0.01, 0.5))
@many
def test_more_weight_is_more_area(rows, width):
    y, score, times = rows
    band = FprBand(0.2, 0.7)
    below, above = band.sandwich(width)
    for ties in ("interpolate", "strict"):
        low, middle, high = (
            measure(y, score, weight=w, ties=ties, sample_weight=times)
            for w in (below, band, above)
        )
        assert low.value <= middle.value + 1e-12
        assert middle.value <= high.value + 1e-12
        if ties == "interpolate":
            assert low.lower <= middle.lower + 1e-12
            assert middle.upper <= high.upper + 1e-12
    twice = PiecewiseLinear([0.2, 0.7], [2, 2])
    for ties in ("interpolate", "strict"):
        a, b = (measure(y, score, weight=w, ties=ties).value for w in (band, twice))
        assert b == pytest.approx(2 * a, abs=1e-11)


@given(rows=data(), region=regions)
@many
def test_better_scores_have_more_area(rows, region):
    y, score, _ = rows
    for ties in rules(region):
        before = measure(y, score, weight=region, ties=ties)
        after = measure(y, score + 1.0 * y, weight=region, ties=ties)
        assert after.value >= before.value - 1e-12
        if ties == "interpolate":
            assert after.lower >= before.lower - 1e-12
            assert after.upper >= before.upper - 1e-12


@given(rows=data(), region=regions)
@many
def test_limits_hold_the_value_and_the_closed_form_holds_them(rows, region):
    y, score, times = rows
    r = measure(y, score, weight=region, sample_weight=times)
    assert -1e-12 <= r.lower <= r.value + 1e-12
    assert r.value - 1e-12 <= r.upper <= region.area + 1e-12
    if r.half_width is not None:
        assert r.value - r.lower <= r.half_width + 1e-12
        assert r.upper - r.value <= r.half_width + 1e-12


@given(rows=data(), region=regions)
@many
def test_scales(rows, region):
    y, score, _ = rows
    raw, mean, mcclish = (
        measure(y, score, weight=region, normalize=n) for n in ("raw", "mean", "mcclish")
    )
    room = region.area - region.chance
    for name in ("value", "lower", "upper"):
        x = getattr(raw, name)
        assert getattr(mean, name) == pytest.approx(x / region.area, abs=1e-11)
        assert getattr(mcclish, name) == pytest.approx(1 - (region.area - x) / room / 2, abs=1e-11)


@given(rows=data(), region=st.sampled_from(REGIONS[:-1]))
@many
def test_interpolation_is_the_mean_over_orders_within_ties_for_the_auc(rows, region):
    """Between breaking every tie for and against the positives lies the interpolated area."""
    y, score, _ = rows
    best, worst = score + 0.1 * y, score - 0.1 * y
    a, b, c = (measure(y, s, weight=region).value for s in (worst, score, best))
    assert a - 1e-12 <= b <= c + 1e-12
    if region is REGIONS[0]:
        assert b == pytest.approx((a + c) / 2)


@given(rows=data())
@many
def test_a_copy_of_a_model_ties_with_it(rows):
    y, score, times = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        r = compare_rankings(
            y, {"a": score, "b": score, "c": -score}, sample_weight=times, limits="delong"
        )
    pair = next(d for d in r.differences if {d.first, d.second} == {"a", "b"})
    assert pair.value == 0
    assert pair.p_value == 1
    others = [d for d in r.differences if "c" in (d.first, d.second)]
    assert others[0].p_value == pytest.approx(others[1].p_value)
