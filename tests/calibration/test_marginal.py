"""Each label by itself."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from karat.calibration import marginal_calibration_error
from karat.calibration._marginal import binned
from karat.datasets import MultilabelLaw


def test_bins_are_those_of_scikit_learn():
    y, h, _ = MultilabelLaw("temperature", n_labels=1).sample(1000, rng=0)
    rate, mean = calibration_curve(y[:, 0], h[:, 0], n_bins=15, strategy="quantile")
    found = binned(y[:, 0], h[:, 0], 15)
    np.testing.assert_allclose(found[0], mean, atol=1e-12)
    np.testing.assert_allclose(found[1], rate, atol=1e-12)
    assert found[2].sum() == pytest.approx(1)


def test_by_hand():
    h = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8])
    y = np.array([0, 1, 0, 1, 1, 0.0])
    mean, rate, share, debiased = binned(y, h, 2)
    np.testing.assert_allclose(mean, [0.2, 0.7])
    np.testing.assert_allclose(rate, [1 / 3, 2 / 3])
    np.testing.assert_allclose(share, [0.5, 0.5])
    one, two = (1 / 3 - 0.2) ** 2, (2 / 3 - 0.7) ** 2
    assert debiased == pytest.approx((one + two) / 2 - (2 / 9) / 2)
    r = marginal_calibration_error(y, h, bins=2, p=1)
    assert r.value == pytest.approx((1 / 3 - 0.2 + 0.7 - 2 / 3) / 2)
    assert marginal_calibration_error(y, h, bins=2).value == pytest.approx(((one + two) / 2) ** 0.5)


def test_the_debiased_error_has_no_bias():
    rng = np.random.default_rng(0)
    found, plain = [], []
    for _ in range(300):
        h = rng.random((150, 4))
        r = marginal_calibration_error((rng.random(h.shape) < h).astype(float), h)
        found.append(r.debiased)
        plain.append(r.value**2)
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) < 4 * error
    assert np.mean(plain) > 20 * error


@pytest.mark.parametrize("p", [1, 2, 3])
def test_labels_add_up(p):
    y, h, _ = MultilabelLaw("temperature", n_labels=4).sample(500, rng=0)
    r = marginal_calibration_error(y, h, p=p)
    assert r.value == pytest.approx((r.per_label**p).sum() ** (1 / p))
    for j in range(4):
        one = marginal_calibration_error(y[:, j], h[:, j], p=p)
        assert one.value == pytest.approx(r.per_label[j])


def test_it_finds_over_confidence():
    law = MultilabelLaw("temperature", n_labels=3)
    y, h, _ = law.sample(50_000, rng=0)
    assert marginal_calibration_error(y, h).debiased == pytest.approx(
        law.canonical_error() ** 2, rel=0.1
    )


@pytest.mark.parametrize("bins", [1, 2, 1000])
def test_ties_and_constants_fill_few_bins(bins):
    rng = np.random.default_rng(0)
    h = np.column_stack([np.full(60, 0.3), rng.choice([0.2, 0.7], 60), np.linspace(0, 1, 60)])
    r = marginal_calibration_error((rng.random(h.shape) < h).astype(float), h, bins=bins)
    assert len(r.weight[0]) == 1
    assert len(r.weight[1]) <= 2
    assert all(w.sum() == pytest.approx(1) for w in r.weight)
    assert np.isfinite(r.debiased)
    assert "constant probabilities" in r.notes[0]
