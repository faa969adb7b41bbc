"""A map from all probabilities to what they mean."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from karat.calibration import CopulaCalibrator, canonical_calibration_error
from karat.calibration.maps import PARTS
from karat.datasets import MultilabelLaw
from karat.exceptions import (
    ColumnError,
    DataError,
    LengthMismatchError,
    OptionError,
    ProbabilityError,
    ShapeError,
    WeightError,
)


def squared(a, b):
    return ((a - b) ** 2).sum(axis=1).mean()


@pytest.mark.parametrize("method", ["latent", "probit"])
@pytest.mark.parametrize("kind", ["latent", "temperature", "shift"])
def test_new_rows_are_better_calibrated(kind, method):
    law = MultilabelLaw(kind, n_labels=4)
    y, h, _ = law.sample(3000, rng=0)
    fitted = CopulaCalibrator(method, rng=0).fit(y, h)
    _, new, meaning = law.sample(3000, rng=1)
    most = {"shift": 0.6}.get(kind, 0.1)  # no part can follow steps
    assert squared(fitted.transform(new), meaning) < most * squared(new, meaning)


def test_the_error_after_is_smaller_than_before():
    law = MultilabelLaw("latent", n_labels=4)
    fitted = CopulaCalibrator(rng=0).fit(*law.sample(3000, rng=0)[:2])
    y, h, _ = law.sample(3000, rng=1)
    before, after = (canonical_calibration_error(y, g, rng=0) for g in (h, fitted.transform(h)))
    assert after.debiased < before.debiased / 5
    assert after.p_value > 1e-3 > before.p_value


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_what_is_calibrated_is_moved_less_than_by_its_parts(n):
    """Few rows do less harm than a logistic regression of all logits, or a copula alone, does."""
    harm = []
    for seed in range(5):
        law = MultilabelLaw("calibrated", n_labels=8)
        y, h, _ = law.sample(n, rng=seed)
        _, new, meaning = law.sample(2000, rng=100 + seed)
        fitted = CopulaCalibrator(rng=0).fit(y, h)
        every = [squared(part(new), meaning) for part in (fitted.transform, *fitted.model_.maps)]
        harm.append(every)
    mixed, _, _, stack, first, second = np.mean(harm, axis=0)
    assert mixed < min(stack, first, second)


def test_shape_and_range():
    y, h, _ = MultilabelLaw("temperature", n_labels=3).sample(200, rng=0)
    fitted = CopulaCalibrator(rng=0).fit(y, h)
    ends = np.vstack([np.zeros(3), np.ones(3), np.eye(3), h])
    once = fitted.transform(ends)
    assert once.shape == ends.shape
    assert fitted.transform(once).shape == ends.shape
    assert ((once >= 0) & (once <= 1)).all()
    assert fitted.transform(h[:1]).shape == (1, 3)


def test_one_label_and_classes():
    y, h, _ = MultilabelLaw("temperature", n_labels=1).sample(500, rng=0)
    assert CopulaCalibrator(rng=0).fit(y[:, 0], h[:, 0]).transform(h[:, 0]).shape == (500, 1)
    rng = np.random.default_rng(0)
    prob = rng.dirichlet([1, 1, 1], 500)
    labels = np.array([rng.choice(list("abc"), p=p) for p in prob])
    fitted = CopulaCalibrator(rng=0).fit(labels, prob)
    assert fitted.names_ == ("a", "b", "c")
    for better in (
        fitted.transform(prob),
        fitted.transform(np.eye(3)),
        CopulaCalibrator("probit", rng=0).fit(labels, prob).transform(prob),
        CopulaCalibrator(rng=0).fit(pd.get_dummies(labels).to_numpy(), prob).transform(prob),
        CopulaCalibrator(rng=0).cross_fit_transform(labels, prob),
    ):
        np.testing.assert_allclose(better.sum(axis=1), 1, atol=1e-12)
    with pytest.raises(ProbabilityError, match="row 0 sums to"):
        fitted.transform(prob / 2)
    assert fitted.score(labels, prob).per == "row"


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
    with pytest.raises(DataError, match="9 rows to fit a map to; it needs at least 10"):
        CopulaCalibrator().fit(y[:9], h[:9])
    with pytest.raises(ShapeError, match="2 columns and the map was fitted to 3"):
        CopulaCalibrator(rng=0).fit(y, h).transform(h[:, :2])
    with pytest.raises(OptionError, match="rng is 'a'"):
        CopulaCalibrator(rng="a").fit(y, h)


def test_the_weights_are_reported():
    y, h, _ = MultilabelLaw("temperature", n_labels=3).sample(1000, rng=0)
    fitted = CopulaCalibrator(rng=0).fit(y, h)
    assert fitted.parts_ == PARTS
    assert fitted.weights_.sum() == pytest.approx(1)
    assert (fitted.weights_ > 0).all()
    mixed = sum(w * part(h) for w, part in zip(fitted.weights_, fitted.model_.maps, strict=True))
    np.testing.assert_allclose(fitted.transform(h), mixed)


def test_a_clone_gives_the_same_map():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(200, rng=0)
    fitted = CopulaCalibrator("probit", rng=3).fit(y, h)
    again = clone(fitted)
    with pytest.raises(NotFittedError):
        again.transform(h)
    np.testing.assert_array_equal(again.fit(y, h).transform(h), fitted.transform(h))


def test_rows_of_weight_0_have_no_part():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(300, rng=0)
    weight = np.where(np.arange(300) < 200, 1.0, 0.0)
    with_them = CopulaCalibrator(rng=0).fit(y, h, sample_weight=weight)
    without = CopulaCalibrator(rng=0).fit(y[:200], h[:200])
    np.testing.assert_allclose(with_them.transform(h), without.transform(h))
    score = without.score(y, h, sample_weight=weight)
    assert score.after == pytest.approx(without.score(y[:200], h[:200]).after)


def test_weights_turn_one_law_into_another():
    """Rows of two laws, and weights that leave one of them."""
    law, other = MultilabelLaw("temperature", n_labels=2), MultilabelLaw("calibrated", n_labels=2)
    first, second = law.sample(1500, rng=0), other.sample(1500, rng=1)
    y, h = (np.vstack([first[i], second[i]]) for i in (0, 1))
    weight = np.repeat([1.0, 0.001], 1500)
    new = law.sample(2000, rng=2)
    plain, weighted = (
        squared(CopulaCalibrator(rng=0).fit(y, h, sample_weight=w).transform(new[1]), new[2])
        for w in (None, weight)
    )
    assert weighted < plain / 2


def test_labels_of_a_row_have_no_part_in_its_probabilities():
    y, h, _ = MultilabelLaw("latent", n_labels=2).sample(100, rng=0)
    calibrator = CopulaCalibrator(rng=0)
    found = calibrator.cross_fit_transform(y, h, n_folds=4, groups=np.arange(100) % 2)
    changed = y.copy()
    changed[7] = 1 - changed[7]
    again = CopulaCalibrator(rng=0).cross_fit_transform(changed, h, n_folds=4)
    np.testing.assert_array_equal(found[7], again[7])
    assert (found != again).any()
    score = calibrator.cross_score_
    assert score.groups == (0, 1)
    p = np.where(y == 1, found, 1 - found)
    assert score.after == pytest.approx(-np.log(p).mean())
    np.testing.assert_array_equal(
        calibrator.transform(h), CopulaCalibrator(rng=0).fit(y, h).transform(h)
    )


def test_labels_are_scored_by_name():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(400, rng=0)
    labels, probs = (pd.DataFrame(a, columns=list("abc")) for a in (y, h))
    fitted = CopulaCalibrator(rng=0).fit(labels, probs)
    wanted = fitted.score(y, h)
    assert fitted.score(labels[list("cab")], probs[list("bca")]).after == pytest.approx(
        wanted.after
    )


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"sample_weight": np.ones(9)}, LengthMismatchError, "sample_weight has 9 rows"),
        ({"sample_weight": -np.ones(50)}, WeightError, "sample_weight row 0 is -1"),
        ({"sample_weight": np.zeros(50)}, WeightError, "zero in every row"),
        ({"sample_weight": np.arange(50) < 9}, DataError, "9 rows to fit a map to"),
    ],
)
def test_bad_weights(options, error, says):
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(50, rng=0)
    with pytest.raises(error, match=says):
        CopulaCalibrator(rng=0).fit(y, h, **options)


def test_bad_scores_and_folds():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(50, rng=0)
    with pytest.raises(NotFittedError):
        CopulaCalibrator().score(y, h)
    fitted = CopulaCalibrator(rng=0).fit(y, h)
    with pytest.raises(LengthMismatchError, match="groups has 9 rows"):
        fitted.score(y, h, groups=np.arange(9))
    with pytest.raises(ShapeError, match="2 columns and the map was fitted to 3"):
        fitted.score(y[:, :2], h[:, :2])
    with pytest.raises(OptionError, match="n_folds is 1"):
        CopulaCalibrator().cross_fit_transform(y, h, n_folds=1)
    with pytest.raises(DataError, match="rows to fit a map to"):
        CopulaCalibrator().cross_fit_transform(y[:11], h[:11])
