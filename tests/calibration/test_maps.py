"""The maps that are mixed, against scikit-learn and by other optimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from karat.calibration.latent import LatentCopula, NormalScores
from karat.calibration.maps import (
    Rows,
    fit_mixture,
    fit_parts,
    fit_platt,
    fit_stack,
    fit_temperature,
    logistic_weights,
    logits,
    mixture_weights,
)
from karat.calibration.models import COPULAS
from karat.datasets import MultilabelLaw


def rows_of(kind="latent", n=300, k=3, seed=0, weight=None):
    y, h, _ = MultilabelLaw(kind, n_labels=k).sample(n, rng=seed)
    return Rows(y, h, np.ones(n) if weight is None else weight, False)


@pytest.mark.parametrize("c", [10.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_regression_is_that_of_scikit_learn(c, weighted):
    rng = np.random.default_rng(0)
    x = 3 * rng.normal(size=(200, 4))
    y = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    weight = rng.integers(1, 4, 200).astype(float) if weighted else np.ones(200)
    peer = LogisticRegression(C=c, tol=1e-10, max_iter=10_000).fit(x, y, sample_weight=weight)
    found = logistic_weights(x, y, weight, c)
    np.testing.assert_allclose(found, [*peer.intercept_, *peer.coef_[0]], atol=1e-5)


def test_labels_that_can_be_separated_or_never_occur_stay_finite():
    x = np.linspace(-3, 3, 40)[:, None]
    weight = np.ones(40)
    assert np.isfinite(logistic_weights(x, (x[:, 0] > 0).astype(float), weight, 10.0)).all()
    intercept, slope = logistic_weights(x, np.zeros(40), weight, 10.0)
    assert slope == 0
    assert intercept == pytest.approx(logit(0.5 / 41), abs=0.02)
    assert logistic_weights(x, np.ones(40), weight, 10.0)[0] == pytest.approx(-intercept)


def test_platt_and_stack_are_regressions_on_logits():
    rows = rows_of()
    x = logit(rows.h)
    np.testing.assert_allclose(logits(rows.h), x)
    assert np.isfinite(logits(np.array([0.0, 1.0]))).all()
    for fit, c, own in ((fit_platt, 10.0, True), (fit_stack, 0.1, False)):
        found = fit(rows)(rows.h)
        for j in range(3):
            columns = x[:, [j]] if own else x
            peer = LogisticRegression(C=c, tol=1e-10, max_iter=10_000).fit(columns, rows.y[:, j])
            np.testing.assert_allclose(found[:, j], peer.predict_proba(columns)[:, 1], atol=1e-5)


def test_temperature_has_the_least_log_loss():
    rows = rows_of("temperature", n=5000)
    found = fit_temperature(rows)
    x = logit(rows.h)

    def loss(log_factor):
        at = np.exp(log_factor[0]) * x
        return (np.logaddexp(0, at) - rows.y * at).sum()

    best = minimize(loss, [0.0], method="Nelder-Mead", tol=1e-10)
    assert found.factor == pytest.approx(np.exp(best.x[0]), rel=1e-4)
    assert found.factor < 0.8  # the law is over-confident


def test_temperature_of_classes_is_that_of_a_softmax():
    rng = np.random.default_rng(0)
    h = rng.dirichlet(np.ones(4), 4000)
    g = h**0.5 / (h**0.5).sum(axis=1, keepdims=True)
    y = np.eye(4)[(g.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)]
    found = fit_temperature(Rows(y, h, np.ones(4000), True))
    assert found.factor == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(found(h).sum(axis=1), 1)


@pytest.mark.parametrize("method", list(COPULAS))
def test_a_row_of_weight_2_is_two_rows(method):
    plain = rows_of(n=150)
    weight = np.random.default_rng(1).integers(1, 4, 150)
    twice = Rows(np.repeat(plain.y, weight, axis=0), np.repeat(plain.h, weight, axis=0),
                 np.ones(weight.sum()), False)  # fmt: skip
    weighted = plain._replace(weight=weight.astype(float))
    new = rows_of(seed=5).h
    parts = zip(*(fit_parts(rows, COPULAS[method]) for rows in (weighted, twice)), strict=True)
    for one, other in parts:
        np.testing.assert_allclose(one(new), other(new), atol=1e-6)


def test_weighted_scores_with_ties():
    h = np.array([[0.1], [0.2], [0.2], [0.4]])
    weight = np.array([2.0, 1.0, 3.0, 0.0])
    scores, plain = NormalScores(h, weight), NormalScores(np.repeat(h, [2, 1, 3, 0], axis=0))
    np.testing.assert_allclose(scores(h), plain(h))
    np.testing.assert_allclose(scores.own[:3], plain.own[[0, 2, 3]])
    assert LatentCopula(np.ones((4, 1)), h, weight).tau < 0


def test_mixture_weights_by_another_optimiser():
    rng = np.random.default_rng(0)
    right = rng.beta([[4.0], [3.0], [1.0]], 1.5, (3, 400))
    weight = rng.integers(1, 3, 400).astype(float)

    def loss(free):
        w = np.exp(free - np.logaddexp.reduce(free))
        return -(weight @ np.log(w @ right)) - np.log(w).sum()

    best = minimize(loss, np.zeros(3), method="BFGS", tol=1e-10).x
    wanted = np.exp(best - np.logaddexp.reduce(best))
    np.testing.assert_allclose(mixture_weights(right, weight), wanted, atol=1e-4)


def test_a_map_that_is_right_has_the_weight():
    sure, wrong = np.full(1000, 0.9), np.full(1000, 0.2)
    found = mixture_weights(np.array([sure, wrong]), np.ones(1000))
    assert found[0] > 0.99
    assert found[1] >= 1 / 1002  # one observation each, so none is given up for good


def test_the_mixture_is_not_worse_than_its_parts():
    """Of many held-out rows; by the convexity of the log-loss it often is better than each."""
    for kind in ("latent", "temperature", "calibrated"):
        rows, new = rows_of(kind, n=600, k=4), rows_of(kind, n=4000, k=4, seed=9)
        mixture = fit_mixture(rows, COPULAS["latent"], np.random.default_rng(0))
        losses = [
            -np.log(np.where(new.y == 1, p, 1 - p)).mean()
            for p in (g(new.h) for g in (mixture, *mixture.maps))
        ]
        assert losses[0] < min(losses[1:]) + 0.003
