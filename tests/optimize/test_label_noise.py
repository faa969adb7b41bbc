"""A model of noisy labels, corrected by a small clean sample (Hiranandani 2021, Example 7.1)."""

import numpy as np
import pytest

from karat.metrics import LinearMetric, accuracy
from karat.optimize import FrankWolfeClassifier, PlugInClassifier

# P(noisy | true): class 2 is mostly called 1, and class 0 often 2.
NOISE = np.array([[0.7, 0.0, 0.3], [0.1, 0.9, 0.0], [0.0, 0.65, 0.35]])


def noisy(proba):
    """What a model of noisy labels learns: ``Σ_i η_i(x)·T_ij``."""
    return proba @ NOISE


@pytest.fixture(scope="module")
def three(law):
    where = law(3)
    best = where.population.max(axis=1).mean()
    plain = np.eye(3)[np.argmax(noisy(where.population), axis=1)]
    return where, best, accuracy(where.confusion(plain))


def test_all_entries_undo_asymmetric_noise(three, rng):
    where, best, plain = three
    assert plain < best - 0.04
    clean, y = where.sample(5000, rng)
    for kind in (PlugInClassifier, FrankWolfeClassifier):
        clf = kind(metric="accuracy", entries="all").fit_from_proba(noisy(clean), y)
        shares = clf.predict_proba_from_proba(noisy(where.population))
        assert accuracy(where.confusion(shares)) > best - 0.01
    diagonal = PlugInClassifier(metric="accuracy").fit_from_proba(noisy(clean), y)
    shares = diagonal.predict_proba_from_proba(noisy(where.population))
    assert accuracy(where.confusion(shares)) > plain


def centered(weights):
    """A constant for each class of the model changes nothing; nor does the scale."""
    weights = weights - weights.mean(axis=1, keepdims=True)
    return weights / np.abs(weights).mean()


@pytest.mark.parametrize("gains", [np.eye(3), [[1.0, 0.2, 0], [0, 1, 0.5], [0.3, 0, 1]]])
def test_weights_are_those_of_the_inverse_noise(three, gains, rng):
    """``Σ_i L_ij·η_i = Σ_m (T⁻¹L)_mj·η̃_m``: Table 7.1's correction, as a product.

    Here labels are as expected: each row is there with each label, weighted by its probability.
    """
    where, _, _ = three
    rows = where.population[:3000]
    proba, y = np.repeat(noisy(rows), 3, axis=0), np.tile(np.arange(3), len(rows))
    clf = PlugInClassifier(metric=LinearMetric(gains), entries="all", ridge=0.0)
    clf.fit_from_proba(proba, y, sample_weight=rows.ravel())
    expected = centered(np.linalg.inv(NOISE) @ gains)
    np.testing.assert_allclose(centered(clf.weights_.weights[0]), expected, atol=1e-6)
    clean, labels = where.sample(50_000, rng)
    clf.fit_from_proba(noisy(clean), labels)
    np.testing.assert_allclose(centered(clf.weights_.weights[0]), expected, atol=0.15)


def test_training_labels_may_be_the_noisy_ones(three, rng):
    """Matching on training rows with noisy labels, the metric on few clean rows."""
    where, best, _ = three
    clean, true = where.sample(20_000, rng)
    drawn = (rng.random((20_000, 1)) > NOISE[true].cumsum(axis=1)).sum(axis=1).clip(max=2)
    small, y_small = where.sample(5000, rng)
    clf = PlugInClassifier(metric="accuracy", entries="all", matching="labels")
    clf.fit_from_proba(noisy(clean), drawn, proba_val=noisy(small), y_val=y_small)
    shares = clf.predict_proba_from_proba(noisy(where.population))
    assert accuracy(where.confusion(shares)) > best - 0.015


def test_two_classes_need_no_more_than_the_diagonal(law, rng):
    """Then the weights are those of the threshold on noisy probabilities that is right."""
    where = law(2)
    flip = np.array([[0.9, 0.1], [0.4, 0.6]])
    clean, y = where.sample(20_000, rng)
    clf = PlugInClassifier(metric="accuracy").fit_from_proba(clean @ flip, y)
    # η = 1/2 is η̃ = 0.1/2 + 0.6/2.
    assert clf.decision_regions().thresholds[0] == pytest.approx(0.35, abs=0.02)
