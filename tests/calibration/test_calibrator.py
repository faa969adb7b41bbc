"""A map from all probabilities to what they mean."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from karat.calibration import CopulaCalibrator, canonical_calibration_error
from karat.datasets import MultilabelLaw
from karat.exceptions import ColumnError, DataError, OptionError, ShapeError


def squared(a, b):
    return ((a - b) ** 2).sum(axis=1).mean()


@pytest.mark.parametrize("method", ["latent", "probit"])
@pytest.mark.parametrize("kind", ["latent", "temperature", "shift"])
def test_new_rows_are_better_calibrated(kind, method):
    law = MultilabelLaw(kind, n_labels=4)
    y, h, _ = law.sample(3000, rng=0)
    fitted = CopulaCalibrator(method, rng=0).fit(y, h)
    _, new, meaning = law.sample(3000, rng=1)
    most = {"shift": 0.6}.get(kind, 0.1)  # a copula cannot follow steps
    assert squared(fitted.transform(new), meaning) < most * squared(new, meaning)
    assert fitted.share_ > 0.8


def test_the_error_after_is_smaller_than_before():
    law = MultilabelLaw("latent", n_labels=4)
    fitted = CopulaCalibrator(rng=0).fit(*law.sample(3000, rng=0)[:2])
    y, h, _ = law.sample(3000, rng=1)
    before, after = (canonical_calibration_error(y, g, rng=0) for g in (h, fitted.transform(h)))
    assert after.debiased < before.debiased / 5
    assert after.p_value > 1e-3 > before.p_value


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_what_is_calibrated_is_hardly_moved(n):
    """Few rows do little harm, where the plain model would."""
    harm = []
    for seed in range(5):
        law = MultilabelLaw("calibrated", n_labels=8)
        y, h, _ = law.sample(n, rng=seed)
        _, new, meaning = law.sample(2000, rng=100 + seed)
        fitted = CopulaCalibrator(rng=0).fit(y, h)
        harm.append(squared(fitted.transform(new), meaning))
        plain = squared(fitted.model_.model(new), meaning)
        assert harm[-1] <= plain
    assert np.mean(harm) < 0.2 * plain


def test_shape_and_range():
    y, h, _ = MultilabelLaw("temperature", n_labels=3).sample(200, rng=0)
    fitted = CopulaCalibrator(rng=0).fit(y, h)
    ends = np.vstack([np.zeros(3), np.ones(3), np.eye(3), h])
    once = fitted.transform(ends)
    assert once.shape == ends.shape
    assert fitted.transform(once).shape == ends.shape
    assert ((once >= 0) & (once <= 1)).all()
    assert 0 <= fitted.share_ <= 1
    assert fitted.transform(h[:1]).shape == (1, 3)


def test_one_label_and_classes():
    y, h, _ = MultilabelLaw("temperature", n_labels=1).sample(500, rng=0)
    assert CopulaCalibrator(rng=0).fit(y[:, 0], h[:, 0]).transform(h[:, 0]).shape == (500, 1)
    rng = np.random.default_rng(0)
    prob = rng.dirichlet([1, 1, 1], 500)
    labels = np.array([rng.choice(list("abc"), p=p) for p in prob])
    fitted = CopulaCalibrator(rng=0).fit(labels, prob)
    assert fitted.names_ == ("a", "b", "c")
    assert fitted.transform(prob).shape == (500, 3)


@pytest.mark.parametrize("method", ["latent", "probit"])
def test_it_can_be_stored_and_repeated(method):
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(200, rng=0)
    fitted = CopulaCalibrator(method, rng=0).fit(y, h)
    again = CopulaCalibrator(method, rng=0).fit(y, h)
    np.testing.assert_array_equal(fitted.transform(h), again.transform(h))
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(fitted.transform(h), loaded.transform(h))


def test_columns_of_a_frame_are_known_by_name():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(400, rng=0)
    plain = CopulaCalibrator(rng=0).fit(y, h).transform(h)
    labels, probs = (pd.DataFrame(a, columns=list("abc")) for a in (y, h))
    fitted = CopulaCalibrator(rng=0).fit(labels, probs[list("cab")])
    assert fitted.names_ == ("a", "b", "c")
    np.testing.assert_allclose(fitted.transform(probs), plain)
    np.testing.assert_allclose(fitted.transform(probs[list("bca")]), plain)
    np.testing.assert_allclose(fitted.transform(h), plain)
    with pytest.raises(ColumnError, match=r"share \['a', 'b'\] and not the rest"):
        fitted.transform(probs.rename(columns={"c": "d"}))


def test_bad_use():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(50, rng=0)
    with pytest.raises(NotFittedError, match=r"not fitted; call fit"):
        CopulaCalibrator().transform(h)
    with pytest.raises(OptionError, match="method is 'dequantized'; expected 'latent' or 'probit'"):
        CopulaCalibrator("dequantized").fit(y, h)
    with pytest.raises(DataError, match="9 rows; a map needs at least 10"):
        CopulaCalibrator().fit(y[:9], h[:9])
    with pytest.raises(ShapeError, match="2 columns and the map was fitted to 3"):
        CopulaCalibrator(rng=0).fit(y, h).transform(h[:, :2])
    with pytest.raises(OptionError, match="rng is 'a'"):
        CopulaCalibrator(rng="a").fit(y, h)
