"""Lower limits that hold for any law: the certificate, and what its bet is told."""

import numpy as np
import pytest
from scipy.stats import norm

from karat.calibration import calibration_certificate
from karat.calibration._certificate import cross_fitted_gain, split_rng, strict_gain
from karat.calibration.inputs import read_table
from karat.calibration.latent import DequantizedCopula
from karat.calibration.models import CentredCopula, ShrunkModel, Trees, fit_shrunk
from karat.datasets import MultilabelLaw


@pytest.mark.parametrize("fit", [CentredCopula, Trees, "dequantized"])
def test_gains_stay_within_what_the_bet_was_told(fit):
    """Labels that are as bad for the map as can be."""
    rng = np.random.default_rng(0)
    y, h, _ = MultilabelLaw("temperature", n_labels=4).sample(400, rng=0)
    if fit == "dequantized":
        fit = lambda y, h: DequantizedCopula(y, h, rng)  # noqa: E731
    model = fit_shrunk(y, h, fit, rng, radius=True)
    others = np.vstack([rng.random((500, 4)), (rng.random((500, 4)) < 0.5).astype(float)])
    g = model(others)
    assert ((g >= 0) & (g <= 1)).all()
    assert np.abs(g - others).sum(axis=1).max() <= model.radius * (1 + 1e-12)
    best, worst = (g > others).astype(float), (g < others).astype(float)
    gain, loss = (((y - others) ** 2 - (y - g) ** 2).sum(axis=1) for y in (best, worst))
    assert max(gain.max(), -loss.min()) <= 2 * model.radius
    assert gain.max() > model.radius  # once the move is not bound enough


def test_the_cross_fitted_limit_is_the_mean_less_a_normal_quantile_of_its_errors():
    y, h, _ = MultilabelLaw("temperature", n_labels=3).sample(300, rng=1)
    rng = np.random.default_rng(0)
    gains, lower = cross_fitted_gain(read_table(y, h), CentredCopula, 0.05, rng)
    each = gains.sum(axis=1)
    error = np.sqrt(np.sum((each - each.mean()) ** 2) / 299 / 300)
    assert gains.shape == (300, 3)
    assert lower == pytest.approx(each.mean() - norm.isf(0.05) * error)


def test_the_bet_is_told_a_range_that_holds_all_gains():
    """A rare label that h thinks certain not to be: gains are larger than moves."""
    rng, told = np.random.default_rng(0), {}

    def seen(values, low, high, delta):
        told.update(values=values, low=low, high=high)
        return 0.0

    h = rng.uniform(0, 0.05, (400, 2))
    y = (rng.random(h.shape) < 0.3).astype(float)
    strict_gain(read_table(y, h), CentredCopula, 0.05, rng, limit=seen)
    assert told["low"] <= told["values"].min()
    assert told["values"].max() <= told["high"]
    assert told["values"].max() > told["high"] / 2


def test_a_move_is_shortened():
    h = np.array([[0.2, 0.8], [0.5, 0.5]])
    model = ShrunkModel(lambda h: np.array([[0.6, 0.4], [0.5, 0.7]]), 0.5, radius=0.2)
    np.testing.assert_allclose(model(h), [[0.3, 0.7], [0.5, 0.6]])
    np.testing.assert_allclose(ShrunkModel(lambda h: h, 0.5, radius=0.2)(h), h)
    np.testing.assert_allclose(ShrunkModel(lambda h: h + 9, 1.0)(h), np.ones((2, 2)))


def test_the_gain_by_hand():
    y, h, _ = MultilabelLaw("shift", n_labels=3).sample(300, rng=0)
    rng = split_rng(np.random.default_rng(4))
    gains, lower = strict_gain(read_table(y, h), CentredCopula, 0.05, rng)
    r = calibration_certificate(y, h, rng=4)
    assert r.value == pytest.approx(gains.sum() / len(gains))
    assert r.lower == pytest.approx(max(lower, 0))
    assert r.n == len(gains) == 150
    assert r.per_label.sum() == pytest.approx(r.value)
    rng = split_rng(np.random.default_rng(4))
    fold = rng.permutation(300) % 2
    model = fit_shrunk(y[fold == 0], h[fold == 0], CentredCopula, rng, radius=True)
    y, h = y[fold == 1], h[fold == 1]
    np.testing.assert_allclose(gains, (y - h) ** 2 - (y - model(h)) ** 2)


@pytest.mark.parametrize(
    ("model", "split"), [("copula", "strict"), ("copula", "cross-fitted"), ("trees", "strict")]
)
def test_a_shift_is_proven_and_calibration_is_not(model, split):
    for kind, proven in (("shift", True), ("calibrated", False)):
        y, h, _ = MultilabelLaw(kind, n_labels=3).sample(2500, rng=0)
        r = calibration_certificate(y, h, model=model, split=split, rng=0)
        assert r.proves is proven
        assert r.lower <= 3 * 0.15**2
        assert r.strict is (split == "strict")
        assert ("not canonically calibrated" in r.summary()) is proven


def test_only_trees_prove_an_interaction():
    y, h, _ = MultilabelLaw("interaction", n_labels=3).sample(6000, rng=0)
    assert calibration_certificate(y, h, model="trees", rng=0).proves
    assert not calibration_certificate(y, h, rng=0).proves


def test_cross_fitting_is_sharper():
    y, h, _ = MultilabelLaw("shift", n_labels=3).sample(2000, rng=0)
    strict, sharp = (
        calibration_certificate(y, h, split=split, rng=0) for split in ("strict", "cross-fitted")
    )
    assert strict.lower < sharp.lower < sharp.value
