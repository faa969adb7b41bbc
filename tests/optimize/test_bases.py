"""Values of basis functions against their formulas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.optimize import Clusters, ColumnBasis, Constant, FrankWolfeClassifier, RadialBasis
from karat.optimize.basis import fit_basis, independent

LABELS = np.array([0, 1] * 10)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(20, 3)) * [1.0, 10.0, 0.1] + [0, 5, 0]


def scaled(rows, other=None):
    return ((rows if other is None else other) - rows.mean(axis=0)) / rows.std(axis=0)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_is_one_indicator_for_each_value(frame):
    X = frame({"age": [30, 40, 50, 30], "place": ["b", "a", "b", "c"]})
    for name in ("place", 1, -1):
        basis = ColumnBasis(name).fitted(X, LABELS[:4])
        assert basis.names_ == tuple(f"{name}={v}" for v in "abc")
        assert basis.values(X).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        new = frame({"age": [1, 2], "place": ["z", "a"]})
        assert basis.values(new).tolist() == [[0, 0, 0], [1, 0, 0]]


def test_columns_of_arrays_and_of_frames_named_by_numbers():
    X = np.array([[0.5, 1], [0.2, 2], [0.1, 1]])
    for rows in (X, pd.DataFrame(X), pd.DataFrame(X, columns=[1, 0])):
        assert ColumnBasis(1).fitted(rows, LABELS[:3]).values(rows).tolist() == [
            [1, 0],
            [0, 1],
            [1, 0],
        ]


def test_clusters_are_those_of_the_nearest_center(rows):
    basis = Clusters(3).fitted(rows, LABELS)
    fresh = rows + 0.1
    values = basis.values(fresh)
    centers = basis.model_.cluster_centers_
    distance = np.linalg.norm(scaled(rows, fresh)[:, None] - centers, axis=2)
    np.testing.assert_array_equal(values, np.eye(3)[distance.argmin(axis=1)])
    assert basis.names_ == ("cluster 0", "cluster 1", "cluster 2")


def test_radial_functions_of_given_centers(rows):
    centers = rows[:2] + 0.3
    basis = RadialBasis(centers, width=0.7).fitted(rows, LABELS)
    squares = ((scaled(rows)[:, None] - scaled(rows, centers)) ** 2).sum(axis=2)
    np.testing.assert_allclose(basis.values(rows), np.exp(-squares / (2 * 0.49)))


def test_radial_functions_of_classes_are_means_over_their_rows(rows):
    basis = RadialBasis(width=2.0).fitted(rows, LABELS)
    squares = ((scaled(rows)[:, None] - scaled(rows)) ** 2).sum(axis=2)
    kernel = np.exp(-squares / 8.0)
    expected = np.column_stack([kernel[:, c == LABELS].mean(axis=1) for c in (0, 1)])
    np.testing.assert_allclose(basis.values(rows), expected)
    assert basis.names_ == ("near 0", "near 1")


def test_the_width_is_the_median_distance(rows):
    basis = RadialBasis(2).fitted(rows, LABELS)
    z = scaled(rows)
    pairs = [np.linalg.norm(z[i] - z[j]) for i in range(20) for j in range(i)]
    assert basis.width_ == pytest.approx(np.median(pairs))
    assert basis.values(rows).shape == (20, 2)


def test_a_seed_may_be_a_generator(rows):
    for kind in (Clusters, RadialBasis):
        one = kind(3, rng=np.random.default_rng(5)).fitted(rows, LABELS)
        other = kind(3, rng=np.random.default_rng(5)).fitted(rows, LABELS)
        np.testing.assert_array_equal(one.values(rows), other.values(rows))


def test_a_list_is_put_together(rows):
    def high(X):
        return (X[:, 0] > 0).astype(float)

    X = np.column_stack([rows, np.arange(20) % 2])
    basis = fit_basis(["constant", 3, high, Constant()], X, LABELS)
    assert basis.names == ("constant", "3=0.0", "3=1.0", "high", "constant")
    values = basis.values(X)
    np.testing.assert_array_equal(values[:, 3], rows[:, 0] > 0)
    np.testing.assert_array_equal(values[:, 1] + values[:, 2], 1)


def test_a_basis_is_not_changed_by_fitting(rows):
    basis = RadialBasis(2)
    basis.fitted(rows, LABELS)
    assert not hasattr(basis, "centers_")
    assert repr(basis) == "RadialBasis(centers=2, width=None, rng=0)"


def test_equal_bases_have_equal_settings(rng):
    assert ColumnBasis("a") == ColumnBasis("a")
    assert ColumnBasis("a") != ColumnBasis("b")
    assert Clusters(2) != RadialBasis(2)
    # So long that the text leaves most of it out.
    centers = rng.normal(size=(500, 3))
    other = centers.copy()
    other[250] += 1
    assert RadialBasis(centers) == RadialBasis(centers.copy())
    assert RadialBasis(centers) != RadialBasis(other)
    assert hash(RadialBasis(centers)) == hash(RadialBasis(centers.copy()))


def test_what_is_kept_of_dependent_functions_spans_the_same(rng):
    for _ in range(50):
        free = rng.random((30, 3))
        mixing = rng.integers(0, 2, (3, 6)).astype(float)
        basis = (free @ mixing) / 3
        kept = independent(basis)
        assert len(kept) == np.linalg.matrix_rank(basis)
        assert np.linalg.matrix_rank(basis[:, kept]) == len(kept)
        fitted = basis[:, kept] @ np.linalg.lstsq(basis[:, kept], basis, rcond=None)[0]
        np.testing.assert_allclose(fitted, basis, atol=1e-9)
        assert (np.diff(kept) > 0).all()


def test_a_constant_and_all_indicators_are_as_the_indicators(law, rng):
    proba, y = law(2).sample(2000, rng)
    place = rng.integers(0, 3, 2000)
    indicators = np.eye(3)[place]
    both = np.column_stack([np.ones(2000), indicators])
    shares = [
        FrankWolfeClassifier(n_iter=4)
        .fit_from_proba(proba, y, basis=b)
        .predict_proba_from_proba(proba, basis=b)
        for b in (indicators, both)
    ]
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-9)


def test_a_value_that_is_new_gets_the_most_probable_class(saved_model, law, rng):
    proba, y = law(2).sample(2000, rng)
    X = np.column_stack([proba, rng.integers(0, 3, 2000)])
    clf = FrankWolfeClassifier(saved_model([0, 1]), basis=[2]).fit(X, y, X_val=X, y_val=y)
    new = np.column_stack([proba, np.full(2000, 7)])
    shares = clf.predict_proba(new)
    start = clf.mixture_.start
    expected = start * proba + (1 - start) * np.eye(2)[np.argmax(proba, axis=1)]
    np.testing.assert_allclose(shares, expected)
    assert (clf.predict(X) != np.argmax(proba, axis=1)).any()
