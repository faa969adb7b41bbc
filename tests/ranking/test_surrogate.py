import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from karat.exceptions import OptionError
from karat.ranking import FprBand, PiecewiseLinear, Power, TprBand, Uniform
from karat.ranking.learning import LOSSES, check_loss, lower_weight, rank_weights, surrogate

WEIGHTS = [
    Uniform(),
    FprBand(0, 0.3),
    FprBand(0.1, 0.4),
    FprBand(0, 0.3).sandwich(0.1).below,
    Power(3),
    PiecewiseLinear([0, 0.5, 1], [0, 1, 0.5]),
]
SCORES = st.floats(-30, 30).map(lambda x: round(x, 2))


def phi(d, loss):
    """The losses and their derivatives as they are defined."""
    if loss == "hinge":  # rounded over 0.9 < d < 1.1
        corner = (1.1 - d) ** 2 / 0.4
        value = np.where(d <= 0.9, 1 - d, np.where(d < 1.1, corner, 0.0))
        return value, np.where(d <= 0.9, -1.0, np.where(d < 1.1, (d - 1.1) / 0.2, 0.0))
    if loss == "squared_hinge":
        return np.maximum(1 - d, 0) ** 2, -2 * np.maximum(1 - d, 0)
    if loss == "logistic":
        return np.logaddexp(0, -d), -np.exp(-np.logaddexp(0, d))
    value = np.where(d < 0.5, 1 - 2 * np.maximum(d, 0) ** 2, 2 * np.maximum(1 - d, 0) ** 2)
    return value, np.where(d < 0.5, -4 * np.maximum(d, 0), -4 * np.maximum(1 - d, 0))


def by_counting(negative, weight, mass):
    """ωⱼ by comparing every pair of negatives; level ones share by mass."""
    share = mass / mass.sum()
    below = (negative[None, :] < negative[:, None]) @ share
    level = (negative[None, :] == negative[:, None]) @ share
    step = weight.cumulative(np.minimum(below + level, 1.0)) - weight.cumulative(below)
    return step / level * share / weight.area


def by_pairs(positive, negative, weight, loss, m, k):
    omega = by_counting(negative, weight, k)
    m = m / m.sum()
    value, slope = phi(positive[:, None] - negative[None, :], loss)
    return m @ value @ omega, m * (slope @ omega), -omega * (m @ slope)


def check(positive, negative, weight, loss, m, k):
    found = surrogate(positive, negative, weight, loss=loss, mass_positive=m, mass_negative=k)
    value, up, down = by_pairs(positive, negative, weight, loss, m, k)
    np.testing.assert_allclose(found.value, value, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.positive, up, atol=1e-10)
    np.testing.assert_allclose(found.negative, down, atol=1e-10)


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
@pytest.mark.parametrize("digits", [0, 8], ids=["ties", "no ties"])
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_all_pairs(loss, digits, weight, rng):
    positive, negative = rng.normal(1, 3, 60).round(digits), rng.normal(0, 3, 80).round(digits)
    check(positive, negative, weight, loss, rng.random(60) + 0.01, rng.random(80) + 0.01)


@given(
    arrays(float, st.integers(1, 12), elements=SCORES),
    arrays(float, st.integers(1, 12), elements=SCORES),
    st.sampled_from(WEIGHTS),
    st.sampled_from(sorted(LOSSES)),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=60)  # numba compiles on the first call
def test_equals_all_pairs_on_anything(positive, negative, weight, loss, seed):
    rng = np.random.default_rng(seed)
    m, k = rng.integers(1, 5, len(positive)), rng.integers(1, 5, len(negative))
    check(positive, negative, weight, loss, m.astype(float), k.astype(float))


@given(
    arrays(float, 6, elements=SCORES), arrays(float, 5, elements=SCORES),
    arrays(int, 11, elements=st.integers(1, 3)), st.sampled_from(sorted(LOSSES)),
)  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_a_weight_is_a_repetition(positive, negative, times, loss):
    m, k = times[:6].astype(float), times[6:].astype(float)
    once = surrogate(positive, negative, Power(2), loss=loss, mass_positive=m, mass_negative=k)
    again = surrogate(
        np.repeat(positive, times[:6]), np.repeat(negative, times[6:]), Power(2), loss=loss
    )
    assert once.value == pytest.approx(again.value, abs=1e-9)


@given(arrays(float, 7, elements=SCORES), st.randoms(), st.sampled_from(WEIGHTS))
def test_rank_weights_sum_to_one_in_any_order(negative, random, weight):
    order = list(range(7))
    random.shuffle(order)
    omega = rank_weights(negative, weight)
    assert omega.sum() == pytest.approx(1)
    np.testing.assert_allclose(rank_weights(negative[order], weight), omega[order], atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
def test_gradient_by_finite_differences(weight, loss, rng):
    scores, h = rng.normal(0, 2, 25), 1e-6

    def value(s):
        return surrogate(s[:10], s[10:], weight, loss=loss).value

    slopes = [(value(scores + h * e) - value(scores - h * e)) / (2 * h) for e in np.eye(25)]
    found = surrogate(scores[:10], scores[10:], weight, loss=loss)
    got = np.concatenate([found.positive, found.negative])
    np.testing.assert_allclose(got, slopes, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("weight", [Uniform(), FprBand(0, 0.3), Power(3)], ids=repr)
def test_convex_where_the_weight_falls_with_the_false_positive_rate(weight, loss, rng):
    for _ in range(20):
        a, b = rng.normal(0, 3, (2, 30))
        ends = [surrogate(s[:12], s[12:], weight, loss=loss).value for s in (a, b)]
        middle = surrogate((a + b)[:12] / 2, (a + b)[12:] / 2, weight, loss=loss).value
        assert middle <= np.mean(ends) + 1e-12


@pytest.mark.parametrize("spread", [1e-9, 1.0, 1e3, 1e6])
def test_logistic_at_every_scale(spread, rng):
    positive, negative = rng.normal(0, spread, 50), rng.normal(0, spread, 70)
    found = surrogate(positive, negative, Uniform(), loss="logistic")
    value, up, down = by_pairs(positive, negative, Uniform(), "logistic", np.ones(50), np.ones(70))
    np.testing.assert_allclose(found.value, value, rtol=1e-12)
    np.testing.assert_allclose(found.positive, up, atol=1e-12)
    np.testing.assert_allclose(found.negative, down, atol=1e-12)


@pytest.mark.parametrize("loss", ["truncated_hinge"])
def test_wide_apart_scores_count_pairs(loss):
    """With every difference beyond the margin, the bounded loss is 1 minus the area."""
    positive, negative = np.array([30.0, 10.0]), np.array([0.0, 20.0])
    assert surrogate(positive, negative, Uniform(), loss=loss).value == pytest.approx(0.25)
    assert surrogate(positive, negative, FprBand(0, 0.5), loss=loss).value == pytest.approx(0.5)


def test_the_surrogate_is_above_the_loss_of_the_area(rng):
    """ℓ ≤ step and W′ ≤ W: the lower bound of the area in Maurer & Pontil (2020)."""
    from karat.ranking.areas import area
    from karat.ranking.placements import place

    band = FprBand(0, 0.3)
    lower = lower_weight(band, 0.5)
    for _ in range(20):
        positive, negative = rng.normal(1, 1, 40), rng.normal(0, 1, 50)
        found = surrogate(positive, negative, lower, loss="truncated_hinge")
        bound = lower.area * (1 - found.value)
        assert bound <= area(place(np.sort(positive), np.sort(negative)), band) + 1e-12


def test_lower_weights():
    band = FprBand(0, 0.2)
    lower = lower_weight(band, 0.5)
    u = np.linspace(0, 1, 101)
    assert (lower(u) <= band(u) + 1e-12).all()
    assert lower.lipschitz == pytest.approx(10)
    assert lower_weight(band, 0) is band
    assert lower_weight(Power(2), 0.5).exponent == 2
    assert lower_weight(FprBand(0, 1), 0.5).lipschitz == 0


def test_bad_options():
    with pytest.raises(OptionError, match="loss is 'hing'; expected 'hinge', "):
        check_loss("hing")
    with pytest.raises(OptionError, match="expected a weight on false-positive rates"):
        lower_weight(TprBand(0.5, 1), 0.1)
    with pytest.raises(OptionError, match="ramp is 2"):
        lower_weight(Uniform(), 2)
