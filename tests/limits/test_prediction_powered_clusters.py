"""Labels in clusters: as many as their clusters where these err as one."""

import numpy as np
import pytest

from karat.limits import clopper_pearson
from karat.limits.prediction_powered import (
    limits_of_mean,
    limits_of_ratio,
)
from karat.limits.proportions import wilson_limits


def limits_of(f, clusters, x=None, shift=0.0, n_total=np.inf):
    """Return the limits of labels in clusters of equal size, in their order."""
    x = np.zeros(len(f)) if x is None else x
    return limits_of_mean(
        f, x[:, None], np.array([shift]), n_total, delta=0.025, finite=False,
        cluster=np.repeat(np.arange(clusters), len(f) // clusters),
    )  # fmt: skip


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_labels_that_all_agree_are_as_many_as_their_clusters(value):
    found, exact = limits_of(np.full(100, value), 10), clopper_pearson(10 * value, 10)
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))
    many = limits_of(np.full(400, value), 40)
    low, high = wilson_limits(40 * value, 40, 0.025)
    assert many.upper - many.lower == pytest.approx(high - low, rel=0.1)


def test_a_ratio_of_labels_that_all_agree_has_as_many_as_their_clusters():
    found = limits_of_ratio(
        np.ones(100), np.ones(100), np.zeros((100, 1)), np.zeros(1), np.inf, success=(1, 1),
        failure=(0, 1), delta=0.025, finite=False, cluster=np.repeat(np.arange(10), 10),
    )  # fmt: skip
    assert found.lower == pytest.approx(clopper_pearson(10, 10).lower)


def test_clusters_of_one_are_no_clusters():
    f = np.repeat([1.0, 0.0], [70, 30])
    found = limits_of(f, 100)
    low, high = wilson_limits(70, 100, 0.025)
    assert found.upper - found.lower == pytest.approx(high - low, rel=0.02)


def test_repeats_of_every_label_change_nothing():
    """The ridge is so many clusters: rows that repeat do not make predictions look surer."""
    rng = np.random.default_rng(3)
    f = (rng.random(40) < 0.7).astype(float)
    x = np.clip(0.5 * f + 0.5 * rng.random(40), 0, 1)
    once = limits_of(f, 40, x, 0.05, 2000.0)
    often = limits_of(np.repeat(f, 6), 40, np.repeat(x, 6), 0.05, 12_000.0)
    assert 0 < once.left < 1
    assert often.value == pytest.approx(once.value, abs=1e-6)
    assert often.weight == pytest.approx(once.weight, abs=1e-6)
    top, bottom = f * (x > 0.3), np.maximum(f, x > 0.6).astype(float)
    shape = {"success": (1, 1), "failure": (0, 1), "delta": 0.025, "finite": False}
    ratios = [
        limits_of_ratio(
            np.repeat(top, m), np.repeat(bottom, m), np.repeat(x, m)[:, None], np.array([0.05]),
            2000.0 * m, cluster=np.repeat(np.arange(40), m), **shape,
        ).value
        for m in (1, 6)
    ]  # fmt: skip
    assert ratios[0] == pytest.approx(ratios[1], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [10, 20, 40])
@pytest.mark.parametrize("whole", [False, True])
def test_limits_hold_where_whole_clusters_err_and_where_they_do_not(clusters, whole, fails):
    """600 samples notice .93 against .89; errors that are independent cost at most twice."""
    rng = np.random.default_rng(clusters)
    runs, seen, width, plain = 600, 0, 0.0, 0.0
    for _ in range(runs):
        f = np.repeat(rng.random(8 * clusters) < 0.8, 10) if whole else None
        f = (rng.random(80 * clusters) < 0.8 if f is None else f).astype(float)
        m = 0.3 * f + 0.7 * rng.random(len(f))
        labelled = f[: 10 * clusters]
        x = m[: len(labelled)]
        found = limits_of(labelled, clusters, x, m.mean() - x.mean(), len(f))
        seen += found.lower <= 0.8 <= found.upper
        width += found.labels_upper - found.labels_lower
        low, high = wilson_limits(labelled.sum(), len(labelled), 0.025)
        plain += float(high - low)
    assert not fails(seen, runs, 0.93)
    if not whole:
        assert width < 2 * plain
