"""Sums over rows against loops."""

import numpy as np
import pytest

from karat.decisions.rules import decide

chunks = pytest.mark.parametrize("chunk", [16_384, 7], ids=["one chunk", "many chunks"])


def loops(sample, select, shares, plain):
    n, k = sample.proba.shape
    n_basis = 1 if plain else sample.basis.shape[1]
    total = np.zeros((select.shape[1], n_basis, k, k))
    for x in range(n):
        for s in range(select.shape[1]):
            for b in range(n_basis):
                phi = 1.0 if plain else sample.basis[x, b]
                for i in range(k):
                    truth = sample.proba[x, i] if sample.labels is None else sample.labels[x] == i
                    for j in range(k):
                        total[s, b, i, j] += (
                            sample.weight[x] * select[x, s] * phi * truth * shares[x, j]
                        )
    return total


@chunks
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("decided", [True, False])
def test_moments(draw_sample, labels, plain, decided, chunk, rng):
    sample = draw_sample(rng, labels=labels)
    select = rng.random((60, 2))
    codes = rng.integers(0, 3, 60)
    shares = np.eye(3)[codes] if decided else rng.dirichlet(np.ones(3), 60)
    found = sample.moments(select, codes if decided else shares, plain=plain, chunk=chunk)
    np.testing.assert_allclose(found, loops(sample, select, shares, plain), atol=1e-14)
    if plain:
        ones = loops(sample, np.ones((60, 1)), shares, True)[0, 0]
        confusion = sample.confusion(codes if decided else shares, chunk=chunk)
        np.testing.assert_allclose(confusion, ones, atol=1e-14)


@chunks
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("plain", [True, False])
def test_sums_are_the_moments_of_being_right(draw_sample, labels, plain, chunk, rng):
    sample = draw_sample(rng, labels=labels)
    select = rng.random((60, 2))
    found = sample.sums(select, plain=plain, chunk=chunk)
    for j in range(3):
        always = np.zeros((60, 3))
        always[:, j] = 1.0
        expected = loops(sample, select, always, plain)
        np.testing.assert_allclose(found, expected[:, :, :, j], atol=1e-14)


@pytest.mark.parametrize("n", [60, 20_000], ids=["one chunk", "many chunks"])
def test_the_rule_is_the_greatest_score(draw_sample, n, rng):
    sample = draw_sample(rng, n)
    diagonal, every = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 3))
    scores = np.einsum("nl,lj,nj->nj", sample.basis, diagonal, sample.proba)
    found = decide(sample.proba, diagonal, sample.basis)
    np.testing.assert_array_equal(found, scores.argmax(axis=1))
    scores = np.einsum("nl,lij,ni->nj", sample.basis, every, sample.proba)
    found = decide(sample.proba, every, sample.basis)
    np.testing.assert_array_equal(found, scores.argmax(axis=1))


def test_a_tie_goes_to_the_later_class():
    proba = np.array([[0.5, 0.5], [0.2, 0.8], [0.25, 0.75]])
    assert decide(proba, np.array([[3.0, 1.0]]), np.ones((3, 1))).tolist() == [0, 1, 1]
    thirds = np.array([[0.25, 0.25, 0.5]])
    assert decide(thirds, np.array([[2.0, 2.0, 0.5]]), np.ones((1, 1))).tolist() == [1]
    assert decide(thirds, np.ones((1, 3, 3)), np.ones((1, 1))).tolist() == [2]


def test_without_basis_functions_the_most_probable_class_is_predicted():
    proba = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    basis = np.array([[0.0], [0.0], [1.0]])
    weights = np.array([[9.0, 1.0, 1.0]])
    assert decide(proba, weights, basis).tolist() == [0, 1, 0]
    gains = np.diag(weights[0])[None]
    assert decide(proba, gains, basis).tolist() == [0, 1, 0]


def test_some_rows_are_a_sample_of_their_own(draw_sample, rng):
    sample = draw_sample(rng)
    rows = np.array([3, 5, 5, 8])
    some = sample.take(rows)
    assert some.weight.sum() == pytest.approx(1)
    np.testing.assert_allclose(some.weight, sample.weight[rows] / sample.weight[rows].sum())
    np.testing.assert_array_equal(some.labels, sample.labels[rows])
    assert some.without_labels().labels is None
