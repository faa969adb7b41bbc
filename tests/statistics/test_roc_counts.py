import numpy as np
import pytest
from sklearn.metrics import roc_curve

from karat.exceptions import LabelError
from karat.statistics import confusion, roc_counts


def test_confusions_equal_thresholding_one_by_one(rng):
    y = rng.integers(0, 2, 200)
    s = rng.integers(0, 12, 200) / 4
    w = rng.random(200)
    r = roc_counts(y, s, sample_weight=w)
    for threshold, table in zip(r.thresholds, r.confusions(), strict=True):
        predicted = (s >= threshold).astype(int)
        expected = confusion(y, predicted, w, classes=[0, 1]).probabilities
        np.testing.assert_allclose(table, expected, atol=1e-15)


def test_squares_of_importances_are_kept_by_class(rng):
    y, s, w = rng.integers(0, 2, 90), rng.integers(0, 5, 90) / 4, 3 * rng.random(90)
    found = roc_counts(y, s, sample_weight=w).squares
    np.testing.assert_allclose(found, [w[y == c] @ w[y == c] for c in (0, 1)])
    assert roc_counts(y, s, sample_weight=np.ceil(w), weighting="frequency").squares is None


def test_equals_scikit_learn(rng):
    y, s, w = rng.integers(0, 2, 500), rng.random(500).round(2), rng.random(500)
    c = roc_counts(y, s, sample_weight=w).confusions()[::-1]
    fpr, tpr, _ = roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    np.testing.assert_allclose(c[:, 0, 1] / c[0, 0].sum(), fpr, atol=1e-12)
    np.testing.assert_allclose(c[:, 1, 1] / c[0, 1].sum(), tpr, atol=1e-12)


def test_positive_label():
    r = roc_counts(["no", "yes", "yes"], [0.1, 0.9, 0.2], pos_label="no")
    assert r.classes.tolist() == ["yes", "no"]
    assert r.positives.tolist() == [1, 0, 0]
    assert roc_counts(["no"], [0.1], classes=["no", "yes"]).negatives.tolist() == [1]


def test_merging(rng):
    y, s = rng.integers(0, 2, 300), rng.integers(0, 40, 300)
    parts = [roc_counts(y[i], s[i], classes=[0, 1]) for i in (slice(0, 5), slice(5, None))]
    assert parts[0] + parts[1] == parts[1] + parts[0] == roc_counts(y, s)
    with pytest.raises(LabelError, match="same classes and pos_label"):
        parts[0] + roc_counts(y, s, pos_label=0)


def test_three_classes():
    with pytest.raises(LabelError, match=r"3 classes, \[0, 1, 2\]; expected two. For one class"):
        roc_counts([0, 1, 2], [0.1, 0.2, 0.3])
