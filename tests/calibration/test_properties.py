"""What must not change the answer, and how it must change."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from karat.calibration import (
    CopulaCalibrator,
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.calibration.latent import LatentCopula, ProbitCopula

MODELS = [LatentCopula, ProbitCopula]


@st.composite
def tables(draw, least=30, most=80, widest=4):
    """Labels and probabilities, with ties, ends, constants and labels that are always the same."""
    n, k = draw(st.integers(least, most)), draw(st.integers(1, widest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    h = rng.beta(draw(st.sampled_from([0.2, 1, 5])), 1, (n, k))
    decimals = draw(st.sampled_from([0, 1, 16]))
    y = rng.random((n, k)) < rng.beta(1, 1, (1, k))
    return y.astype(float), h.round(decimals), rng


def error_of(y, h, **options):
    return canonical_calibration_error(y, h, confidence=None, **options)


@settings(max_examples=30, deadline=None)
@given(tables())
def test_everything_is_finite_and_in_range(table):
    y, h, rng = table
    r = canonical_calibration_error(y, h, rng=rng)
    assert r.value >= 0
    assert r.lower**2 - 1e-12 <= max(r.debiased, 0) <= r.upper**2 + 1e-12
    assert 0 < r.p_value <= 1
    assert 0 <= r.guaranteed.lower <= r.guaranteed.upper == np.sqrt(y.shape[1])
    proof = calibration_certificate(y, h, rng=rng)
    assert 0 <= proof.lower <= max(proof.value, 0) + 1e-12
    better = CopulaCalibrator(rng=rng).fit(y, h).transform(rng.random(h.shape))
    assert ((better >= 0) & (better <= 1)).all()
    assert marginal_calibration_error(y, h).value <= y.shape[1] ** 0.5


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(["latent", "probit"]))
def test_the_order_of_rows_does_not_matter(table, method):
    y, h, rng = table
    rows = rng.permutation(len(y))
    one, two = error_of(y, h, method=method), error_of(y[rows], h[rows], method=method)
    assert two.value == pytest.approx(one.value, abs=1e-7)
    np.testing.assert_allclose(two.pairs, one.pairs, atol=1e-7)
    assert marginal_calibration_error(y[rows], h[rows]).value == pytest.approx(
        marginal_calibration_error(y, h).value
    )


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(["latent", "probit"]))
def test_the_order_of_labels_does_not_matter(table, method):
    y, h, rng = table
    order = rng.permutation(y.shape[1])
    one, two = error_of(y, h, method=method), error_of(y[:, order], h[:, order], method=method)
    assert two.value == pytest.approx(one.value, abs=1e-7)
    np.testing.assert_allclose(two.per_label, one.per_label[order], atol=1e-7)
    np.testing.assert_allclose(two.pairs, one.pairs[np.ix_(order, order)], atol=1e-7)
    np.testing.assert_allclose(two.marginal, one.marginal[order], atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(MODELS))
def test_an_increasing_recoding_of_a_column_changes_no_meaning(table, model):
    """The meaning is a function of ranks; only what h itself says changes."""
    y, h, rng = table
    recoded = h.copy()
    recoded[:, 0] = np.sqrt(h[:, 0]) / 2 + 0.1
    assume(len(np.unique(recoded[:, 0])) == len(np.unique(h[:, 0])))
    new = rng.random(h.shape)
    moved = new.copy()
    moved[:, 0] = np.sqrt(new[:, 0]) / 2 + 0.1
    one, two = model(y, h), model(y, recoded)
    np.testing.assert_allclose(two.fitted, one.fitted, atol=1e-9)
    np.testing.assert_allclose(two(moved), one(new), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(MODELS))
def test_a_label_and_its_opposite_are_as_far_off(table, model):
    y, h, _ = table
    other, less = y.copy(), h.copy()
    other[:, 0], less[:, 0] = 1 - y[:, 0], 1 - h[:, 0]
    assume(len(np.unique(less[:, 0])) == len(np.unique(h[:, 0])))
    one, two = model(y, h).fitted, model(other, less).fitted
    np.testing.assert_allclose(two[:, 0], 1 - one[:, 0], atol=1e-6)
    np.testing.assert_allclose(two[:, 1:], one[:, 1:], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(tables(least=60), st.integers(2, 4))
def test_rows_that_are_repeated_say_the_same(table, times):
    """Up to the step of the ranks, whose extremes move with the number of rows."""
    y, h, _ = table
    share = y.mean(axis=0)
    assume(((share > 0) & (share < 1)).all())
    one = error_of(y, h)
    two = error_of(np.repeat(y, times, axis=0), np.repeat(h, times, axis=0))
    assert two.value == pytest.approx(one.value, abs=0.05)
    np.testing.assert_allclose(two.pairs, one.pairs * times**0.5, rtol=0.05, atol=0.2)


@settings(max_examples=15, deadline=None)
@given(tables())
def test_containers_hold_the_same(table):
    y, h, _ = table
    names = [f"label {j}" for j in range(y.shape[1])]
    plain = canonical_calibration_error(y, h, rng=0)
    lists = canonical_calibration_error(y.tolist(), h.tolist(), rng=0)
    pandas = canonical_calibration_error(
        pd.DataFrame(y, columns=names), pd.DataFrame(h, columns=names), rng=0
    )
    polars = canonical_calibration_error(
        pl.DataFrame(y, schema=names), pl.DataFrame(h, schema=names), rng=0
    )
    if y.shape[1] > 1:  # one column is one of classes, and is called after the positive one
        assert lists == plain
        assert pandas == plain
    assert pandas == polars
    assert lists.value == pandas.value == plain.value


@settings(max_examples=20, deadline=None)
@given(tables(widest=3), st.floats(1, 4), st.floats(1, 4))
def test_errors_of_higher_powers_are_not_smaller_for_one_label(table, p, q):
    y, h, _ = table
    low, high = sorted([p, q])
    one, two = (error_of(y[:, 0], h[:, 0], p=power).value for power in (low, high))
    assert one <= two + 1e-9


@settings(max_examples=15, deadline=None)
@given(tables(), st.sampled_from(["latent", "probit"]))
def test_the_order_of_labels_does_not_matter_to_a_map(table, method):
    y, h, rng = table
    order = rng.permutation(y.shape[1])
    one = CopulaCalibrator(method, rng=0).fit(y, h)
    two = CopulaCalibrator(method, rng=0).fit(y[:, order], h[:, order])
    np.testing.assert_allclose(two.weights_, one.weights_, atol=1e-4)
    np.testing.assert_allclose(two.transform(h[:, order]), one.transform(h)[:, order], atol=1e-3)


@settings(max_examples=15, deadline=None)
@given(tables(), st.integers(2, 5))
def test_maps_of_classes_sum_to_1(table, k):
    y, _, rng = table
    h = rng.dirichlet(np.full(k, 0.3), len(y))
    classes = np.eye(k)[rng.integers(0, k, len(y))]
    fitted = CopulaCalibrator(rng=0).fit(classes, h)
    new = np.vstack([np.eye(k), rng.dirichlet(np.full(k, 0.3), 20)])
    np.testing.assert_allclose(fitted.transform(new).sum(axis=1), 1, atol=1e-9)
    assert fitted.weights_.sum() == pytest.approx(1)
