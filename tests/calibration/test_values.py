"""The canonical error: known cases, what it is made of, and what marginals do not see."""

import math

import numpy as np
import pytest

from karat.calibration import canonical_calibration_error, marginal_calibration_error
from karat.calibration._canonical import limits_of_power
from karat.calibration.latent import LatentCopula
from karat.calibration.models import CentredCopula
from karat.datasets import MultilabelLaw


@pytest.mark.parametrize("method", ["latent", "probit"])
@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("kind", ["latent", "temperature"])
def test_the_value_is_that_of_the_law(method, p, kind):
    law = MultilabelLaw(kind, n_labels=3)
    y, h, _ = law.sample(50_000, rng=0)
    r = canonical_calibration_error(y, h, p=p, method=method, confidence=None)
    assert r.value == pytest.approx(law.canonical_error(p), rel=0.05)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_value_by_hand(p):
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(200, rng=0)
    meant = CentredCopula(y, h).fitted
    total = sum(abs(meant[i, j] - h[i, j]) ** p for i in range(200) for j in range(3)) / 200
    r = canonical_calibration_error(y, h, p=p, confidence=None)
    assert r.value == pytest.approx(total ** (1 / p))
    np.testing.assert_allclose(r.per_label, ((meant - h) ** 2).mean(axis=0))


def test_without_confidence_only_the_value_is_measured():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(200, rng=0)
    quick, full = (canonical_calibration_error(y, h, confidence=c, rng=0) for c in (None, 0.9))
    assert quick.value == full.value
    names = ("debiased", "standard_error", "guaranteed", "p_value")
    assert all(getattr(quick, name) is None for name in names)
    assert all(getattr(full, name) is not None for name in names)
    assert np.isnan([quick.lower, quick.upper, quick.confidence]).all()
    assert (quick.basis, full.basis) == ("unknown", "likely")
    assert full.guaranteed.basis == "guaranteed"


def test_the_parts_belong_together():
    y, h, _ = MultilabelLaw("latent", n_labels=4).sample(600, rng=0)
    r = canonical_calibration_error(y, h, rng=0)
    assert r.per_label.sum() == pytest.approx(r.debiased)
    lower, upper = r.lower**2, r.upper**2  # limits of the square, whose roots are shown
    assert (lower + upper) / 2 == pytest.approx(r.debiased)
    assert (upper - lower) / 2 == pytest.approx(1.959964 * r.standard_error, rel=1e-5)
    assert r.marginal.sum() == pytest.approx(marginal_calibration_error(y, h).debiased)
    wide = canonical_calibration_error(y, h, confidence=0.99, rng=0)
    assert wide.lower < r.lower < r.upper < wide.upper
    assert wide.guaranteed.lower <= r.guaranteed.lower
    assert r.pairs.shape == (4, 4)


def test_the_same_seed_gives_the_same_answer_and_the_global_generator_is_not_touched():
    y, h, _ = MultilabelLaw("latent", n_labels=3).sample(200, rng=0)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two = (canonical_calibration_error(y, h, rng=7) for _ in range(2))
    assert one == two
    assert one != canonical_calibration_error(y, h, rng=8)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("k", [5, 20])
def test_marginals_do_not_see_a_shift_across_labels(k):
    """Done once for each of five samples, so that none is chosen."""
    for seed in range(5):
        y, h, _ = MultilabelLaw("shift", n_labels=k).sample(2000, rng=seed)
        marginal = marginal_calibration_error(y, h)
        assert abs(marginal.debiased) < 0.1 * 0.15**2 * k
        r = canonical_calibration_error(y, h, rng=seed)
        assert r.lower**2 > 0.3 * 0.15**2 * k
        assert r.p_value < 0.001
        assert 0 < r.guaranteed.lower < 0.15 * math.sqrt(k)
        shifted = [(j, (j + 1) % k) for j in range(k)]
        assert min(r.pairs[j, other] for j, other in shifted) > 4


def test_a_shift_of_known_size_is_found_in_its_label():
    rng = np.random.default_rng(0)
    h = rng.uniform(0.2, 0.8, (20_000, 3))
    y = (rng.random(h.shape) < h + np.array([0.0, 0.1, 0.0])).astype(float)
    r = canonical_calibration_error(y, h, rng=0)
    found = (y - h).mean(axis=0) ** 2
    np.testing.assert_allclose(r.per_label, found, atol=0.002)
    np.testing.assert_allclose(r.marginal, found, atol=0.0003)


def test_one_label_is_the_usual_binary_calibration():
    law = MultilabelLaw("temperature", n_labels=1)
    y, h, _ = law.sample(20_000, rng=0)
    r = canonical_calibration_error(y[:, 0], h[:, 0], rng=0)
    assert r.value == pytest.approx(law.canonical_error(), rel=0.1)
    assert r.lower < law.canonical_error() < r.upper
    assert r.names == ("1",)


def test_a_model_that_does_not_fit_says_so():
    """Probabilities at both ends, calibrated: no Gaussian threshold means that."""
    rng = np.random.default_rng(0)
    h = rng.choice([0.05, 0.45, 0.5, 0.55], size=(20_000, 3), p=[0.5, 0.2, 0.1, 0.2])
    y = (rng.random(h.shape) < h).astype(float)
    r = canonical_calibration_error(y, h, method="probit", rng=0)
    assert r.debiased < 0
    assert 0 < r.upper**2 < 0.001  # that of curves, which fit
    assert any("does not describe" in note for note in r.notes)
    assert "not distinguishable from 0" in r.summary()
    assert r.p_value > 0.001
    assert r.guaranteed.lower == 0
    # The default is centred on the move that it makes at h, and has limits that hold.
    centred = canonical_calibration_error(y, h, rng=0)
    assert centred.lower == 0
    assert not any("does not describe" in note for note in centred.notes)


def test_the_centred_model_by_hand():
    """h, the move of the latent model beyond its own at h, and a ridge of what is left."""
    y, h, _ = MultilabelLaw("temperature", n_labels=3).sample(400, rng=1)
    new = np.random.default_rng(2).random((50, 3))
    model, seen, own = CentredCopula(y, h), LatentCopula(y, h), LatentCopula(h, h)
    for rows, found in ((h, model.fitted), (new, model(new))):
        v = seen.scores.own if rows is h else seen.scores(rows)
        fit, left = seen.scores.own, y - (h + seen.fitted - own.fitted)
        for j in range(3):
            x = np.column_stack([np.ones(400), fit, fit[:, [j]] * fit])
            penalty = np.diag(np.sqrt(0.02 * (x**2).sum(axis=0)))
            weights = np.linalg.lstsq(
                np.vstack([x, penalty]), np.append(left[:, j], np.zeros(7)), rcond=None
            )[0]
            moved = rows[:, j] + (seen(rows) if rows is new else seen.fitted)[:, j]
            moved = moved - (own(rows) if rows is new else own.fitted)[:, j]
            added = np.column_stack([np.ones(len(v)), v, v[:, [j]] * v]) @ weights
            np.testing.assert_allclose(found[:, j], np.clip(moved + added, 0, 1), atol=1e-9)


def test_certain_errors_are_not_excluded_by_limits():
    """An interaction that no copula sees: the estimate is near 0, the proof is not."""
    y, h, _ = MultilabelLaw("interaction", n_labels=4).sample(3000, rng=0)
    r = canonical_calibration_error(y, h, rng=0)
    assert r.upper >= r.guaranteed.lower >= 0


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, 7])
def test_limits_of_another_power_hold_for_any_errors(p):
    """They are met: by errors of 0 and 1, and by errors that are all alike."""
    rng = np.random.default_rng(0)
    every = [rng.random((50, 4)) ** k for k in (1, 8)]
    every += [np.full((50, 4), 0.3), (rng.random((50, 4)) < 0.2).astype(float)]
    met = []
    for off in every:
        square = (off**2).sum(axis=1).mean()
        error = (off**p).sum(axis=1).mean() ** (1 / p)
        lower, upper = limits_of_power(square, square, p, 4)
        assert lower - 1e-12 <= error <= upper + 1e-12
        met.append((np.isclose(error, lower), np.isclose(error, upper)))
    assert np.any(met, axis=0).all()
    assert limits_of_power(-1.0, 0.09, 2, 4) == pytest.approx((0, 0.3))


def test_limits_are_of_the_error_that_is_the_value():
    y, h, _ = MultilabelLaw("shift", n_labels=4).sample(1500, rng=0)
    square, other = (canonical_calibration_error(y, h, p=p, rng=0) for p in (2, 1))
    assert square.debiased == other.debiased
    lower, upper = (x**2 for x in (square.lower, square.upper))
    assert (other.lower, other.upper) == pytest.approx(limits_of_power(lower, upper, 1, 4))
    assert "CE1 is between" in other.summary()
    assert f"{other.lower:.4f} and {other.upper:.4f} at 95 %" in other.summary()
    assert other.guaranteed.upper == 4
