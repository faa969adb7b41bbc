import numpy as np
import pytest
from scipy.stats import norm

from karat.datasets import MultilabelLaw
from karat.exceptions import OptionError

KINDS = ["calibrated", "latent", "temperature", "shift", "interaction"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_error_is_that_of_a_large_sample(kind, p):
    law = MultilabelLaw(kind, n_labels=3, correlation=0.3)
    _, h, meaning = law.sample(200_000, rng=0)
    size = (np.abs(meaning - h) ** p).sum(axis=1)
    error = size.std() / np.sqrt(len(size))
    assert law.canonical_error(p) ** p == pytest.approx(size.mean(), abs=4 * error + 1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("kind", ["latent", "temperature"])
def test_the_error_is_that_of_another_quadrature(kind, correlation):
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    a, b = np.meshgrid(nodes, nodes, indexing="ij")
    z, other = a - 0.5, correlation * a + np.sqrt(1 - correlation**2) * b - 0.5
    g = {"latent": 0.7 * z + 0.3 * other - 0.1, "temperature": 0.6 * z}[kind]
    off = (norm.cdf(g) - norm.cdf(z)) ** 2
    total = 4 * weights @ off @ weights / (2 * np.pi)
    law = MultilabelLaw(kind, n_labels=4, correlation=correlation)
    assert law.canonical_error() == pytest.approx(np.sqrt(total), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_mean_what_the_law_says(kind):
    y, h, meaning = MultilabelLaw(kind, n_labels=3).sample(100_000, rng=1)
    assert y.shape == h.shape == meaning.shape == (100_000, 3)
    assert set(np.unique(y)) == {0.0, 1.0}
    assert ((h >= 0) & (h <= 1) & (meaning >= 0) & (meaning <= 1)).all()
    for values in (np.ones_like(h), h, np.roll(h, -1, axis=1) > 0.5, meaning):
        scored = (y - meaning) * values
        assert np.abs(scored.mean(axis=0)).max() < 4.5 * scored.std() / np.sqrt(len(y))


def test_meanings_by_hand():
    _, h, g = MultilabelLaw("shift", n_labels=3).sample(50, rng=0)
    np.testing.assert_allclose(g[:, 2], h[:, 2] + 0.15 * np.sign(h[:, 0] - 0.5))
    _, h, g = MultilabelLaw("interaction", n_labels=4).sample(50, rng=0)
    sign = np.sign(h - 0.5)
    np.testing.assert_allclose(g[:, 2], h[:, 2] + 0.15 * sign[:, 3] * sign[:, 0])
    _, h, g = MultilabelLaw("latent", n_labels=3).sample(50, rng=0)
    z = norm.ppf(h)
    np.testing.assert_allclose(g[:, 1], norm.cdf(0.7 * z[:, 1] + 0.3 * z[:, 2] - 0.1))
    _, h, g = MultilabelLaw("temperature").sample(50, rng=0)
    np.testing.assert_allclose(g, norm.cdf(0.6 * norm.ppf(h)))
    _, h, g = MultilabelLaw("calibrated", n_labels=1).sample(50, rng=0)
    np.testing.assert_array_equal(g, h)


@pytest.mark.parametrize("kind", ["shift", "interaction"])
def test_each_label_is_calibrated_by_itself(kind):
    _, h, g = MultilabelLaw(kind, n_labels=3).sample(200_000, rng=2)
    for low, high in ((0.15, 0.3), (0.3, 0.5), (0.5, 0.85)):
        here = (h[:, 0] > low) & (h[:, 0] <= high)
        assert abs((g - h)[here, 0].mean()) < 4.5 * 0.15 / np.sqrt(here.sum())


def test_probabilities_are_probit_normal_and_correlated():
    z = norm.ppf(MultilabelLaw("latent", n_labels=4, correlation=0.6).sample(50_000, rng=0).y_prob)
    np.testing.assert_allclose(z.mean(axis=0), -0.5, atol=0.03)
    np.testing.assert_allclose(np.corrcoef(z.T), 0.4 * np.eye(4) + 0.6, atol=0.03)
    np.testing.assert_allclose(z.std(axis=0), 1, atol=0.03)


def test_seeds_and_repr():
    law = MultilabelLaw("shift", n_labels=4)
    one, two = law.sample(5, rng=1), law.sample(5, rng=1)
    np.testing.assert_array_equal(one.y_true, two.y_true)
    assert repr(law) == "MultilabelLaw('shift', n_labels=4, correlation=0.4)"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: MultilabelLaw("copula"), "kind is 'copula'; expected 'calibrated', "),
        (lambda: MultilabelLaw("shift", n_labels=1), "n_labels is 1; .*at least 2"),
        (lambda: MultilabelLaw("interaction", n_labels=2), "n_labels is 2; .*at least 3"),
        (lambda: MultilabelLaw("latent", n_labels=2.5), "n_labels is 2.5; expected a whole number"),
        (lambda: MultilabelLaw("latent", correlation=1), "correlation is 1"),
        (lambda: MultilabelLaw("latent", correlation=-0.1), "correlation is -0.1"),
        (lambda: MultilabelLaw("latent").sample(0), "n is 0"),
        (lambda: MultilabelLaw("latent").sample(2.5), "n is 2.5; expected a whole number"),
        (lambda: MultilabelLaw("latent").sample("a"), "n is 'a'"),
        (lambda: MultilabelLaw("latent").sample(5, rng="a"), "rng is 'a'"),
        (lambda: MultilabelLaw("latent").canonical_error(0.5), "p is 0.5"),
    ],
)
def test_bad_input(build, message):
    with pytest.raises(OptionError, match=message):
        build()
