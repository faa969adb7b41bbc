"""The debiased terms, by hand and by enumeration."""

from itertools import product

import numpy as np
import pytest

from karat.calibration._marginal import debiased_terms
from karat.calibration.models import folds_of


def test_folds_are_even_and_random(rng):
    fold = folds_of(100, 3, rng)
    assert sorted(np.bincount(fold).tolist()) == [33, 33, 34]
    assert fold.tolist() != folds_of(100, 3, rng).tolist()


class Recorded:
    """A model that says the mean label of the rows it was fitted to."""

    def __init__(self, y, h):
        self.mean = y.mean(axis=0)

    def __call__(self, h):
        return np.tile(self.mean, (len(h), 1))


def test_terms_by_hand(rng):
    y = (rng.random((9, 2)) < 0.5).astype(float)
    h = rng.random((9, 2))
    fold = folds_of(9, 3, np.random.default_rng(5))
    found = debiased_terms(y, h, Recorded, np.random.default_rng(5))
    for i in range(9):
        a, b = (y[fold == k].mean(axis=0) for k in range(3) if k != fold[i])
        for j in range(2):
            r = y[i, j] - h[i, j]
            one, two = a[j] - h[i, j], b[j] - h[i, j]
            assert found.terms[i, j] == pytest.approx(r * one + r * two - one * two)
            both = (a[j] + b[j]) / 2
            gain = (y[i, j] - h[i, j]) ** 2 - (y[i, j] - both) ** 2
            assert found.gains[i, j] == pytest.approx(gain)


def test_a_perfect_model_gives_the_squared_error_on_average(rng):
    h = rng.random((60_000, 1))
    g = h**2
    y = (rng.random(h.shape) < g).astype(float)
    terms = debiased_terms(y, h, lambda *_: np.square, rng).terms
    truth = 1 / 3 - 2 / 4 + 1 / 5
    assert terms.mean() == pytest.approx(truth, abs=4 * terms.std() / np.sqrt(len(h)))


def test_the_mean_has_no_bias_from_the_models_variance():
    """With constant h the mean label is well specified: ET is (p − h)² exactly, for n = 9.

    The mean is over every outcome of the labels, with the same folds: rows are alike.
    """
    p, h = 0.3, np.full((9, 1), 0.5)
    mean = 0.0
    for outcome in product([0.0, 1.0], repeat=9):
        y = np.array(outcome)[:, None]
        chance = np.prod(np.where(y == 1, p, 1 - p))
        mean += chance * debiased_terms(y, h, Recorded, np.random.default_rng(0)).terms.mean()
    assert mean == pytest.approx((p - 0.5) ** 2, abs=1e-12)
