import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix

from karat.exceptions import DataError, LabelError, ShapeError
from karat.statistics import Confusion, confusion, rates


def test_closed_form():
    c = confusion([0, 0, 1, 1], [0, 1, 1, 1])
    assert c.counts.tolist() == [[1, 1], [0, 2]]
    assert c.probabilities.tolist() == [[0.25, 0.25], [0.0, 0.5]]
    assert c.rates.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert c.classes.tolist() == [0, 1]
    assert c.n == 4
    assert c[1, 1] == 0.5
    assert np.asarray(c).shape == c.shape == (2, 2)


@pytest.mark.parametrize("k", [2, 3, 17])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0, -3, 10**7])
def test_equals_scikit_learn(rng, k, weighted, offset):
    y, p = rng.integers(0, k, size=(2, 3000)) * 3 + offset
    w = rng.random(3000) if weighted else None
    ours = confusion(y, p, w)
    np.testing.assert_allclose(ours.counts, confusion_matrix(y, p, sample_weight=w), rtol=1e-12)
    total = confusion_matrix(y, p, sample_weight=w, normalize="all")
    np.testing.assert_allclose(ours.probabilities, total, rtol=1e-12)
    per_class = confusion_matrix(y, p, sample_weight=w, normalize="true")
    np.testing.assert_allclose(rates(y, p, w).rates, per_class, rtol=1e-12)


def test_groups_come_first(rng):
    y, p = rng.integers(0, 3, size=(2, 500))
    g = rng.choice(["b", "a"], 500)
    c = confusion(y, p, groups=g)
    assert c.groups.tolist() == ["a", "b"]
    assert c.shape == (2, 3, 3)
    assert c.probabilities.sum() == pytest.approx(1)
    for i, name in enumerate(c.groups):
        own = confusion(y[g == name], p[g == name])
        assert c.counts[i].tolist() == own.counts.tolist()
        np.testing.assert_allclose(c.rates[i], own.rates)
    assert c.pooled() == confusion(y, p)


def test_probabilities_of_a_randomised_classifier(rng):
    y = rng.integers(0, 3, 400)
    w = rng.random(400)
    proba = rng.dirichlet(np.ones(3), 400)
    expected = np.array([(proba * w[:, None])[y == i].sum(axis=0) for i in range(3)])
    np.testing.assert_allclose(confusion(y, proba, w).counts, expected, rtol=1e-12)
    hard = np.eye(3)[rng.integers(0, 3, 400)]
    assert confusion(y, hard) == Confusion(
        counts=confusion(y, hard.argmax(axis=1)).counts.astype(float), classes=np.arange(3)
    )
    grouped = confusion(y, pl.DataFrame(proba), groups=y % 2)
    np.testing.assert_allclose(grouped.counts.sum(axis=0), confusion(y, proba).counts)


def test_one_column_of_probabilities_needs_classes():
    with pytest.raises(ShapeError, match=r"3 columns and there are 2 classes \[0, 1\].*classes="):
        confusion([0, 1], [[0.5, 0.25, 0.25], [0.2, 0.3, 0.5]])
    c = confusion([0, 1], [[0.5, 0.25, 0.25], [0.2, 0.3, 0.5]], classes=[0, 1, 2])
    assert c.counts.tolist() == [[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0, 0, 0]]
    assert np.isnan(c.rates[2]).all()


def test_frames_in(rng):
    frame = pd.DataFrame({"y": ["a", "b", "b"], "p": ["b", "b", "a"], "w": [1.0, 2.0, 4.0]})
    expected = [[0, 1], [4, 2]]
    assert confusion(frame["y"], frame["p"], frame["w"]).counts.tolist() == expected
    other = pl.from_pandas(frame)
    assert confusion(other["y"], other["p"], other["w"]).counts.tolist() == expected


def test_absent_classes():
    c = confusion(["a", "a"], ["a", "a"], classes=["b", "a", "c"])
    assert c.counts.tolist() == [[0, 0, 0], [0, 2, 0], [0, 0, 0]]
    with pytest.raises(LabelError, match=r"y_true and y_pred hold one class only, 'a'.*classes="):
        confusion(["a", "a"], ["a", "a"])


def test_merging_different_labels_and_groups():
    a = confusion(["x", "y"], ["y", "y"], groups=["m", "m"])
    b = confusion(["z", "y"], ["z", "x"], groups=["f", "m"])
    whole = confusion(["x", "y", "z", "y"], ["y", "y", "z", "x"], groups=["m", "m", "f", "m"])
    assert a + b == whole
    assert b + a == whole


def test_merging_keeps_a_chosen_order():
    a = confusion([1, 0], [1, 1], classes=[1, 0])
    b = confusion([1, 0], [0, 0], classes=[1, 0])
    assert (a + b).classes.tolist() == [1, 0]


def test_weighted_parts_add_up_within_rounding(rng):
    y, p, w = rng.integers(0, 3, 500), rng.integers(0, 3, 500), rng.random(500)
    parts = [confusion(y[i::5], p[i::5], w[i::5]) for i in range(5)]
    np.testing.assert_allclose(sum(parts).counts, confusion(y, p, w).counts, rtol=1e-13)


def test_what_cannot_be_merged():
    with pytest.raises(LabelError, match="the same in another order"):
        confusion([0, 1], [1, 1], classes=[0, 1]) + confusion([0, 1], [1, 1], classes=[1, 0])
    with pytest.raises(LabelError, match="Are these identifiers"):
        confusion(np.arange(20_000), np.arange(20_000))
    plain = confusion([0, 1], [1, 1])
    with pytest.raises(DataError, match="one part has groups"):
        plain + confusion([0, 1], [1, 1], groups=[0, 1])
    with pytest.raises(LabelError, match="same kind of classes"):
        plain + confusion(["a", "b"], ["a", "b"])
    with pytest.raises(TypeError):
        plain + rates([0, 1], [1, 1])


def test_summary_and_repr():
    c = confusion(["ham", "ham", "spam"], ["ham", "spam", "spam"])
    assert c.summary() == "3 items, 2 classes (ham, spam): 66.7 % predicted right"
    assert "ham, spam" in repr(c)
    assert "1 as spam" in c._repr_html_()
    assert (
        "finds 50.0 % of ham, 100.0 % of spam"
        in rates(*[["ham", "ham", "spam"]] * 1 + [["ham", "spam", "spam"]]).summary()
    )


def test_labels_are_escaped_in_html():
    c = confusion(["<b>", "a"], ["<b>", "a"])
    assert "<b>" not in c._repr_html_()


def test_results_are_read_only():
    c = confusion([0, 1], [1, 1])
    with pytest.raises(ValueError, match="read-only"):
        c.counts[0, 0] = 5
    with pytest.raises(AttributeError):
        c.counts = None
