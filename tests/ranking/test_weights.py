"""Weights: their norms, integrals, sandwiches, and how they are stored."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from karat.exceptions import OptionError
from karat.ranking import (
    FprBand,
    FunctionWeight,
    PiecewiseLinear,
    Power,
    TprBand,
    TwoWayBand,
    Uniform,
    Weight,
)


def falling(u):
    return np.exp(-10 * u)


def spike(u):
    return 1 / (1 + 1e4 * (u - 0.3) ** 2)


WEIGHTS = {
    "uniform": Uniform(),
    "low band": FprBand(0, 0.1),
    "band": FprBand(0.2, 0.7),
    "high band": FprBand(0.5, 1),
    "everything": FprBand(0, 1),
    "power 0": Power(0),
    "power 0.5": Power(0.5),
    "power 1": Power(1),
    "power 9": Power(9),
    "power 300": Power(300),
    "ramp": PiecewiseLinear([0, 0.05, 0.1], [1, 1, 0]),
    "jumps": PiecewiseLinear([0.1, 0.3, 0.3, 0.7], [0.5, 2, 1, 0.2]),
    "jump at 0": PiecewiseLinear([0, 0, 0.5], [3, 1, 0]),
    "falling": FunctionWeight(falling, sup=1, lipschitz=10, variation=1),
    "spike": FunctionWeight(spike, sup=1, lipschitz=65, variation=2),
}
BREAKS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.99]
each = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)


def integral(function, a, b):
    inside = sorted({x for b0 in BREAKS for x in (b0, 1 - b0) if a < x < b})
    ends = [a, *inside, b]
    return sum(
        quad(function, s, t, epsabs=1e-13, epsrel=1e-12, limit=200)[0] for s, t in pairwise(ends)
    )


@each
def test_cumulative_is_the_integral(weight):
    for v in (0.0, 0.07, 0.31, 0.5, 0.83, 0.97, 1.0):
        expected = integral(lambda x: float(weight.density(np.array(x))), 0.0, v)
        assert float(weight.cumulative(np.array(v))) == pytest.approx(expected, abs=1e-11)
    assert weight.area == pytest.approx(float(weight.cumulative(np.array(1.0))), abs=1e-14)


@each
def test_mean_cumulative_is_the_mean(weight):
    for a, b in ((0, 1), (0, 0.4), (0.2, 0.9), (0.5, 1), (0.85, 0.98), (0.55, 0.56)):
        expected = integral(lambda x: float(weight.cumulative(np.array(x))), a, b) / (b - a)
        found = float(weight.mean_cumulative(np.array(a), np.array(b)))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    for v in (0.0, 0.3, 0.951, 1.0):
        point = np.array(v)
        assert float(weight.mean_cumulative(point, point)) == float(weight.cumulative(point))


@each
def test_chance_is_the_area_under_the_diagonal(weight):
    expected = integral(lambda v: float((1 - v) * weight.density(np.array(v))), 0, 1)
    assert weight.chance == pytest.approx(expected, abs=1e-12)


@each
def test_norms_bound_what_is_seen(weight):
    v = np.linspace(0, 1, 20_001)
    seen = weight.density(v)
    assert seen.min() >= 0
    assert seen.max() <= weight.sup + 1e-12
    assert np.abs(np.diff(seen)).sum() <= weight.variation + 1e-9
    slope = np.abs(np.diff(seen)).max() / (v[1] - v[0])
    assert slope <= weight.lipschitz * (1 + 1e-9) + 1e-9
    if not isinstance(weight, FunctionWeight) and np.isfinite(weight.lipschitz):
        assert slope >= 0.9 * weight.lipschitz or weight.lipschitz == 300
    if not isinstance(weight, FunctionWeight):
        assert seen.max() == pytest.approx(weight.sup, abs=2.1 if weight.sup == 3 else 1e-3)
        jump_at_end = 2 if weight.sup == 3 else 0  # on [0, 1] a jump at 0 has no left side
        assert np.abs(np.diff(seen)).sum() >= weight.variation - jump_at_end - 1e-3


@each
def test_called_with_false_positive_rates(weight):
    u = np.array([0.0, 0.03, 0.42, 0.9])
    assert weight(u) == pytest.approx(weight.density(1 - u))
    assert isinstance(weight, Weight)


def test_norms_by_hand():
    band, ramp = FprBand(0.2, 0.7), PiecewiseLinear([0, 0.05, 0.1], [1, 1, 0])
    assert (band.area, band.sup, band.variation) == pytest.approx((0.5, 1, 2))
    assert band.lipschitz == np.inf
    assert (FprBand(0, 1).variation, FprBand(0, 1).lipschitz) == (0, 0)
    assert band.chance == pytest.approx((0.7**2 - 0.2**2) / 2)
    assert (ramp.area, ramp.sup, ramp.variation) == pytest.approx((0.075, 1, 1))
    assert ramp.lipschitz == pytest.approx(20)
    assert WEIGHTS["jumps"].variation == pytest.approx(0.5 + 1.5 + 1 + 0.8 + 0.2)
    assert WEIGHTS["jumps"].lipschitz == np.inf
    assert Power(9).area == 0.1
    assert (Power(0.5).lipschitz, Power(0).lipschitz, Power(3).lipschitz) == (np.inf, 0, 3)
    assert TprBand(0.8, 1).area == pytest.approx(0.2)
    assert TprBand(0.8, 1).chance == pytest.approx(0.02)


@pytest.mark.parametrize("box", [(0, 0.1, 0.5, 1), (0.2, 0.9, 0.1, 0.6), (0, 1, 0, 1)])
def test_chance_of_a_box(box):
    a, b, c, d = box
    u = np.linspace(a, b, 200_001)
    region = FprBand(a, b) & TprBand(c, d)
    assert region.chance == pytest.approx(np.trapezoid(np.clip(u, c, d) - c, u), abs=1e-9)
    assert region.area == pytest.approx((b - a) * (d - c))
    assert region == TprBand(c, d) & FprBand(a, b)
    assert isinstance(region, TwoWayBand)


rate = st.integers(0, 10_000).map(lambda i: i / 10_000)
bands = st.tuples(rate, rate).map(sorted).filter(lambda b: b[0] < b[1])


def test_a_box_is_made_of_one_band_of_each_kind():
    """Swapped, they would measure another box without a word."""
    with pytest.raises(OptionError, match=r"fpr is 0.1; expected a band such as FprBand\(0, 0.1\)"):
        TwoWayBand(fpr=0.1, tpr=TprBand(0.5, 1))
    with pytest.raises(OptionError, match=r"fpr is TprBand\(.*\); expected .* FprBand"):
        TwoWayBand(fpr=TprBand(0.5, 1), tpr=FprBand(0, 0.1))
    with pytest.raises(OptionError, match=r"tpr is FprBand\(.*\); expected .* TprBand"):
        TwoWayBand(fpr=FprBand(0, 0.1), tpr=FprBand(0, 0.1))


@given(ends=bands, width=st.floats(1e-4, 2))
@settings(max_examples=150, deadline=None)
def test_a_step_lies_in_its_sandwich(ends, width):
    band = FprBand(*ends)
    below, above = band.sandwich(width)
    u = np.unique(np.clip([*np.linspace(0, 1, 997), *ends, ends[0] + 1e-9, ends[1] - 1e-9], 0, 1))
    step = band(u)
    assert (below(u) <= step + 1e-9).all()
    assert (above(u) >= step - 1e-9).all()
    assert below.area <= band.area + 1e-12
    assert above.area >= band.area - 1e-12
    for side in (below, above):
        assert np.isfinite(side.lipschitz)
        assert side.sup <= 1 + 1e-12
        room = min(width, band.area / max(band.variation, 1))
        assert side.lipschitz <= (1 / room) * (1 + 1e-6) if band.variation else side.lipschitz == 0


def test_a_sandwich_closes_as_its_ramps_narrow():
    band = FprBand(0.1, 0.4)
    for width in (0.1, 0.01, 0.001):
        below, above = band.sandwich(width)
        assert band.area - below.area == pytest.approx(width)
        assert above.area - band.area == pytest.approx(width)
        assert below.lipschitz == pytest.approx(1 / width)


@each
def test_stored_and_read_again(weight):
    again = pickle.loads(pickle.dumps(weight))
    assert again == weight
    assert hash(again) == hash(weight)
    u = np.linspace(0, 1, 11)
    assert again(u).tolist() == weight(u).tolist()
    assert float(again.cumulative(np.array(0.7))) == float(weight.cumulative(np.array(0.7)))
    assert (
        json.loads(json.dumps(weight.to_dict(), allow_nan=False))["kind"] == type(weight).__name__
    )
    assert type(weight).__name__ in repr(weight)
    assert weight.title


def test_equal_weights_are_equal():
    assert FprBand(0, 0.1) == FprBand(0.0, np.float64(0.1))
    assert FprBand(0, 0.1) != FprBand(0, 0.2)
    assert FprBand(0, 0.1) != TprBand(0, 0.1)
    assert PiecewiseLinear([0, 1], [1, 2]) == PiecewiseLinear([0.0, 1.0], (1, 2))
    assert len({Power(1), Power(1.0), Power(2)}) == 2
    assert FunctionWeight(falling, sup=1) == FunctionWeight(falling, sup=1)
    assert FunctionWeight(falling, sup=1) != FunctionWeight(falling, sup=2)
    for weight in (FprBand(0, 0.1), PiecewiseLinear([0, 1], [1, 2]), TprBand(0, 0.5), Power(2)):
        with pytest.raises((AttributeError, TypeError)):
            weight.low = 0.5


def test_reprs_can_be_typed():
    for weight in (FprBand(0.1, 0.2), TprBand(0.5, 1), Power(2.0), PiecewiseLinear([0, 1], [1, 2])):
        assert eval(repr(weight)) == weight
    box = FprBand(0, 0.1) & TprBand(0.5, 1)
    assert eval(repr(box)) == box


def test_other_ways_to_say_a_weight(rows):
    """The same weight in another class gives the same area."""
    from karat.ranking import weighted_auc

    y, score = rows(0, 300, 1)
    same = [
        (Uniform(), Power(0), FprBand(0, 1), PiecewiseLinear([0, 1], [1, 1])),
        (FprBand(0.2, 0.6), PiecewiseLinear([0.2, 0.6], [1, 1])),
        (Power(1), PiecewiseLinear([0, 1], [1, 0]), FunctionWeight(lambda u: 1 - u, sup=1)),
    ]
    for first, *others in same:
        a = weighted_auc(y, score, weight=first)
        for other in others:
            b = weighted_auc(y, score, weight=other)
            assert (a.value, a.lower, a.upper, a.half_width) == pytest.approx(
                (b.value, b.lower, b.upper, b.half_width), abs=1e-12
            )
