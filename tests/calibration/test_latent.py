"""The models: normal scores, the closed form, maximum likelihood, the dequantized sum."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.covariance import ledoit_wolf

from karat.calibration.latent import (
    DequantizedCopula,
    LatentCopula,
    NormalScores,
    ProbitCopula,
    probit_weights,
    shrunk_correlation,
)
from karat.calibration.models import Trees
from karat.datasets import MultilabelLaw


def drawn(kind="latent", n=300, k=3, seed=0):
    return MultilabelLaw(kind, n_labels=k).sample(n, rng=seed)[:2]


def with_ties(h):
    return np.column_stack([h[:, 0], np.full(len(h), 0.4), *h[:, 2:].T.round(1)])


def test_normal_scores_are_those_of_mid_ranks(normal_scores):
    h = drawn()[1].round(2)
    own = NormalScores(h).own
    np.testing.assert_allclose(own / own.std(axis=0), normal_scores(h), atol=1e-12)
    assert NormalScores(np.array([[0.2], [0.9], [0.2]])).own.ravel() == pytest.approx(
        norm.ppf([0.375, 0.75, 0.375])
    )


@pytest.mark.parametrize("ties", [False, True])
def test_scores_of_own_rows_are_those_of_any_rows(ties):
    h = with_ties(drawn()[1]) if ties else drawn()[1]
    scores = NormalScores(h)
    np.testing.assert_array_equal(scores(h), scores.own)


def test_scores_of_new_rows_are_between_and_finite():
    scores = NormalScores(np.array([[0.2], [0.4], [0.6]]))
    found = scores(np.array([[0.0], [0.2], [0.3], [0.4], [0.7], [1.0]])).ravel()
    assert found == pytest.approx(norm.ppf(np.array([0.5, 1, 1.5, 2, 3.5, 3.5]) / 4))


@pytest.mark.parametrize("kind", ["latent", "temperature", "shift"])
def test_the_closed_form_is_the_latent_gaussian_model(by_quadrature, kind):
    y, h = drawn(kind)
    fitted = LatentCopula(y, h).fitted
    rows = range(0, 300, 29)
    for j in range(3):
        np.testing.assert_allclose(fitted[list(rows), j], by_quadrature(y, h, j, rows), rtol=1e-5)


@pytest.mark.parametrize("model", [LatentCopula, ProbitCopula])
@pytest.mark.parametrize("kind", ["calibrated", "latent", "temperature"])
def test_models_find_the_meaning(model, kind):
    y, h, meaning = MultilabelLaw(kind, n_labels=3).sample(100_000, rng=1)
    assert np.sqrt(((model(y, h).fitted - meaning) ** 2).mean()) < 0.01


def test_the_shrunk_correlation_is_that_of_ledoit_and_wolf():
    h = drawn(n=60, k=8)[1]
    v = NormalScores(h).own
    cov, _ = ledoit_wolf(v, assume_centered=True)
    size = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(shrunk_correlation(v), cov / np.outer(size, size), atol=1e-7)
    assert np.linalg.eigvalsh(shrunk_correlation(NormalScores(h[:5]).own)).min() > 0


def test_probit_is_the_maximum_likelihood(by_lbfgs):
    y, h = drawn()
    v = NormalScores(h).own
    x = np.column_stack([np.ones(len(v)), v])
    weight = ProbitCopula(y, h).weight
    for j in range(3):
        other = by_lbfgs(x, y[:, j], np.array([1e-6, 1, 1, 1]))
        np.testing.assert_allclose(weight[j], other, atol=2e-5)


@pytest.mark.parametrize("positives", [1, 40, 199])
def test_probit_is_finite_and_at_its_optimum_for_labels_that_can_be_separated(by_lbfgs, positives):
    x = np.column_stack([np.ones(200), norm.ppf(np.arange(1, 201) / 201)])
    y = (np.arange(200) >= 200 - positives).astype(float)
    np.testing.assert_allclose(
        probit_weights(x, y), by_lbfgs(x, y, np.array([1e-6, 1.0])), rtol=1e-3, atol=1e-3
    )


def test_the_dequantized_sum_is_that_of_the_paper(by_loops):
    y, h = drawn(n=40, k=2)
    jitter = np.random.default_rng(3).random(y.shape) - 0.5
    fitted = DequantizedCopula(y, h, np.random.default_rng(3)).fitted
    np.testing.assert_allclose(fitted, by_loops(y, h, jitter), atol=1e-6)


def test_the_dequantized_sum_stays_wrong_however_many_rows():
    """The jitter weakens correlations: what a label means is drawn toward its frequency."""
    y, h, meaning = MultilabelLaw("temperature", n_labels=2).sample(6000, rng=0)
    jittered = DequantizedCopula(y, h, np.random.default_rng(0)).fitted
    ours = LatentCopula(y, h).fitted
    assert ((jittered - meaning) ** 2).mean() > 20 * ((ours - meaning) ** 2).mean()


@pytest.mark.parametrize("model", [LatentCopula, ProbitCopula, Trees])
def test_models_say_the_same_of_their_own_rows(model):
    y, h = drawn(n=120)
    for given in (h, with_ties(h)):
        fitted = model(y, given)
        np.testing.assert_allclose(fitted(given), fitted.fitted, atol=1e-12)
        assert ((fitted.fitted >= 0) & (fitted.fitted <= 1)).all()


@pytest.mark.parametrize("model", [LatentCopula, ProbitCopula, Trees])
@pytest.mark.parametrize("always", [0.0, 1.0])
def test_a_label_that_is_always_the_same_is_near_certain(model, always):
    y, h = drawn(n=120)
    y[:, 1] = always
    assert np.abs(model(y, h).fitted[:, 1] - always).max() < 0.01


def test_a_latent_label_is_never_explained_in_full():
    h = drawn(n=500)[1]
    fitted = LatentCopula((h > 0.4).astype(float), h)
    assert (fitted.noise > 0.1).all()
    assert np.isfinite(fitted.fitted).all()


def test_what_is_explained_beyond_the_most_is_shrunk_to_it():
    """The variance of the index is .98 then, and that of the noise the rest."""
    h = drawn(n=500)[1]
    y = (h > 0.4).astype(float)
    v = NormalScores(h).own
    v = v / v.std(axis=0)
    tau = norm.isf(y.mean(axis=0))
    r = (y - y.mean(axis=0)).T @ v / len(v) / norm.pdf(tau)[:, None]
    correlation = shrunk_correlation(v)
    explained = np.array([one @ np.linalg.solve(correlation, one) for one in r])
    assert (explained > 1.0).any()
    fitted = LatentCopula(y, h)
    kept = np.minimum(explained, 0.98)
    np.testing.assert_allclose(fitted.noise, np.sqrt(1 - kept))
    index = fitted.weight * NormalScores(h).own.std(axis=0)
    np.testing.assert_allclose([one @ correlation @ one for one in index], kept)


def test_trees_see_an_interaction_and_copulas_do_not():
    y, h, meaning = MultilabelLaw("interaction", n_labels=3).sample(6000, rng=0)
    off = ((h - meaning) ** 2).mean()
    assert ((Trees(y, h)(h) - meaning) ** 2).mean() < off / 2
    assert ((LatentCopula(y, h)(h) - meaning) ** 2).mean() > 0.9 * off
