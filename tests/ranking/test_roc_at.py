"""The true-positive rate at one false-positive rate."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_curve

from karat.ranking import FprBand, roc_at, weighted_auc


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("at", [0.0, 0.013, 0.1, 0.5, 0.987, 1.0])
def test_value_and_limits_are_heights_of_the_curve(rows, at, decimals):
    y, score = rows(0, 3000, decimals)
    r = roc_at(y, score, fpr=at, confidence=0.9)
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)

    def height(u):  # the upper end of a vertical piece
        return float(np.interp(np.nextafter(u, 2), fpr, tpr))

    n1, n0 = y.sum(), (~y).sum()
    e1, e0 = (math.sqrt(math.log(4 / 0.1) / (2 * n)) for n in (n1, n0))
    assert r.value == pytest.approx(height(at), abs=1e-9)
    lower = max(0, height(at - e0) - e1) if at >= e0 else 0
    upper = min(1, height(at + e0) + e1) if at + e0 <= 1 else 1
    if decimals is None:
        assert (r.lower, r.upper) == pytest.approx((lower, upper), abs=1e-9)
    assert lower - 1e-9 <= r.lower <= r.value <= r.upper <= upper + 1e-9
    assert (r.n_positive, r.n_negative, r.at) == (n1, n0, at)


def test_means_beside_the_point_are_limits_of_bands(rows):
    y, score = rows(1, 4000)
    r = roc_at(y, score, fpr=0.3)
    assert (np.diff(r.band_width) > 0).all()
    for width, lower, upper, error in zip(
        r.band_width, r.band_lower, r.band_upper, r.band_error, strict=True
    ):
        below, above = FprBand(max(0, 0.3 - width), 0.3), FprBand(0.3, min(1, 0.3 + width))
        a, b = (weighted_auc(y, score, weight=w, limits="dkw") for w in (below, above))
        assert lower == pytest.approx(a.lower / below.area, abs=1e-9)
        assert upper == pytest.approx(b.upper / above.area, abs=1e-9)
        around = FprBand(max(0, 0.3 - width), min(1, 0.3 + width))
        c = weighted_auc(y, score, weight=around, limits="delong")
        assert error == pytest.approx(c.standard_error / around.area)
        assert lower <= r.value <= upper
    # What narrow bands say of the point they say with more variance.
    assert r.band_error[0] > r.band_error[-1]


def test_more_confidence_is_wider(rows):
    y, score = rows(2, 2000, 1)
    found = [roc_at(y, score, fpr=0.2, confidence=c) for c in (0.5, 0.9, 0.99)]
    assert all(a.lower >= b.lower for a, b in pairwise(found))
    assert all(a.upper <= b.upper for a, b in pairwise(found))


def test_weights_count_rows(rows):
    y, score = rows(3, 400, 1)
    times = np.random.default_rng(3).integers(0, 4, 400)
    a = roc_at(y, score, fpr=0.2, sample_weight=times, weighting="frequency")
    b = roc_at(np.repeat(y, times), np.repeat(score, times), fpr=0.2)
    for name in ("value", "lower", "upper", "band_lower", "band_upper", "band_error"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), abs=1e-9)
    assert not a.approximate
    c = roc_at(y, score, fpr=0.2, sample_weight=times + 0.5)
    assert c.approximate
    assert "approximate" in c.summary()


def test_few_rows_and_the_ends():
    for at in (0.0, 0.5, 1.0):
        r = roc_at([0, 1], [0.0, 1.0], fpr=at)
        assert (r.lower, r.value, r.upper) == (0, 1, 1)
    assert roc_at(["a", "b", "b"], [2, 1, 0], fpr=0.5, pos_label="a").value == 1


@pytest.mark.slow
@pytest.mark.parametrize("at", [0.02, 0.3])
def test_limits_cover_the_curve_of_the_law(normal_law, at, capsys):
    law, runs = normal_law(1.5), 200
    truth, rng, hits, beside = law.roc(at), np.random.default_rng(4), 0, 0
    for _ in range(runs):
        y = np.arange(3000) < 900
        r = roc_at(y, law.draw(rng, 900, 2100), fpr=at)
        hits += r.lower <= truth <= r.upper
        beside += bool((r.band_lower <= truth).all() and (truth <= r.band_upper).all())
    with capsys.disabled():
        print(
            f"\nroc({at}): {hits / runs:.3f} at the point, {beside / runs:.3f} beside it, of 0.95"
        )
    assert binomtest(hits, runs, 0.95, alternative="less").pvalue >= 0.001
    assert binomtest(beside, runs, 0.95, alternative="less").pvalue >= 0.001
