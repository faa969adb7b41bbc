"""The test of canonical calibration, by enumeration of signs and by its law for many rows."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.calibration._canonical import (
    DrawSizes,
    chi_square_statistics,
    pair_scores,
    score_parts,
    score_test,
    signed_statistics,
)
from karat.calibration._marginal import rare_p_values
from karat.calibration.latent import NormalScores
from karat.datasets import MultilabelLaw


def enumerated(y, h, normal_scores):
    """The p-value over all signs of a few rows."""
    residual = (y - h) / np.sqrt(((y - h) ** 2).mean(axis=0))
    v = NormalScores(h).own
    u = np.array([np.outer(r, [1, *s]).ravel() for r, s in zip(residual, v, strict=True)])

    def statistic(signs):
        w = u * np.array(signs)[:, None]
        return (w.sum(axis=0) ** 2).sum() - (w**2).sum()

    seen = statistic(np.ones(len(y)))
    drawn = np.array([statistic(s) for s in product([-1, 1], repeat=len(y))])
    return np.mean(drawn >= seen - 1e-9)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_signs_are_those_of_all_rows(k, normal_scores):
    rng = np.random.default_rng(0)
    for _ in range(3):
        h = rng.random((11, k))
        y = (rng.random((11, k)) < h).astype(float)
        exact = enumerated(y, h, normal_scores)
        error = np.sqrt(exact * (1 - exact) / 2000)
        drawn = signed_statistics(*score_parts(y, h), rng)
        residual, features = score_parts(y, h)
        seen = float(((residual.T @ features) ** 2).sum())
        share = (1 + (drawn >= seen - 1e-9 * seen).sum()) / (1 + len(drawn))
        assert share == pytest.approx(exact, abs=4 * error + 1e-3)


def parts(kind="calibrated", n=300, k=4):
    y, h, _ = MultilabelLaw(kind, n_labels=k).sample(n, rng=0)
    return score_parts(y, h)


def signed(residual, features, seed, **sizes):
    return signed_statistics(
        residual, features, np.random.default_rng(seed), size=DrawSizes(**sizes)
    )


def test_all_ways_to_draw_are_the_same():
    residual, features = parts()
    plain = signed(residual, features, 1)
    np.testing.assert_allclose(signed(residual, features, 1, block=7), plain)
    wide, more = parts(n=30, k=9)  # more products than rows: by the Gram matrix
    gram = signed(wide, more, 2)
    np.testing.assert_allclose(signed(wide, more, 2, few=0, block=7), gram)


def test_many_rows_and_labels_get_fewer_draws():
    assert len(signed(*parts(), 0, work=1.0)) == 199


@pytest.mark.parametrize("kind", ["calibrated", "latent"])
def test_many_rows_have_the_same_law(kind):
    y, h, _ = MultilabelLaw(kind, n_labels=3).sample(3000, rng=2)
    residual, features = score_parts(y, h)
    squares = (residual**2).sum(axis=1) @ (features**2).sum(axis=1)
    by_signs = signed(residual, features, 0) - squares
    mixed = chi_square_statistics(residual, features, np.random.default_rng(0))
    shares = [0.1, 0.5, 0.9, 0.95]
    reach = np.ptp(np.quantile(mixed, [0.1, 0.9]))
    np.testing.assert_allclose(
        np.quantile(by_signs, shares), np.quantile(mixed, shares), atol=0.15 * reach
    )
    few = score_test(y, h, np.random.default_rng(0))
    many = score_test(y, h, np.random.default_rng(0), size=DrawSizes(few=100))
    assert many == pytest.approx(few, abs=0.05)


def test_certain_labels_have_nothing_to_test(rng):
    y = (rng.random((50, 2)) < 0.5).astype(float)
    assert score_test(y, y, rng) == 1.0
    assert (pair_scores(y, y, NormalScores(y).own) == 0).all()


def test_a_certain_label_beside_others_does_not_matter(rng):
    h = rng.random((200, 3))
    y = (rng.random(h.shape) < h).astype(float)
    h[:, 1] = y[:, 1]
    assert 0 < score_test(y, h, rng) <= 1


@pytest.mark.parametrize("kind", ["latent", "temperature", "shift"])
def test_errors_are_found(kind):
    for seed in range(5):
        y, h, _ = MultilabelLaw(kind, n_labels=5).sample(1500, rng=seed)
        assert score_test(y, h, np.random.default_rng(seed)) < 0.001


def test_pair_scores_by_hand(rng):
    y, h, _ = MultilabelLaw("shift", n_labels=3).sample(200, rng=0)
    v = NormalScores(h).own
    z = pair_scores(y, h, v)
    for j in range(3):
        for k in range(3):
            product_ = (y[:, j] - h[:, j]) * v[:, k]
            assert z[j, k] == pytest.approx(product_.sum() / np.sqrt((product_**2).sum()))


# Labels of which few are expected.


def exact_p_value(y, h, x):
    """The p-value of a rare label by all labels that a few rows can have."""
    variance = (h * (1 - h)) @ x**2

    def statistic(labels):
        return float((((labels - h) @ x) ** 2 / variance).sum())

    seen, total = statistic(y), 0.0
    for labels in product([0.0, 1.0], repeat=len(h)):
        chance = np.prod(np.where(np.array(labels) == 1, h, 1 - h))
        total += chance * (statistic(np.array(labels)) >= seen * (1 - 1e-9))
    return total


def test_rare_labels_have_their_exact_law():
    rng = np.random.default_rng(0)
    for _ in range(6):
        h = rng.uniform(0.01, 0.99, (9, 1))
        y = (rng.random((9, 1)) < h).astype(float)
        x = np.column_stack([np.ones(9), rng.normal(size=9)])
        exact = exact_p_value(y[:, 0], h[:, 0], x)
        found = rare_p_values(y, h, x, rng)[0]
        assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 2000) + 1e-3)
    certain = np.array([[0.0], [1.0], [1.0]])
    assert rare_p_values(certain, certain, np.ones((3, 1)), rng)[0] == 1
    assert rare_p_values(1 - certain, certain, np.ones((3, 1)), rng)[0] < 0.001


@pytest.mark.slow
@pytest.mark.parametrize("dependent", [False, True])
def test_the_level_for_rare_labels(dependent):
    """Labels of about 1 %, 300 rows; of 300 runs a level of .12 at .05 is noticed."""
    runs, found = 300, []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        h = np.column_stack([rng.beta(0.5, 50, (300, 4)), rng.random((300, 2))])
        u = rng.random((300, 1)) if dependent else rng.random(h.shape)
        found.append(score_test((u < h).astype(float), h, rng))
    for level in (0.05, 0.01):
        wrong = int((np.array(found) <= level).sum())
        assert binomtest(wrong, runs, level, alternative="greater").pvalue > 1e-3
