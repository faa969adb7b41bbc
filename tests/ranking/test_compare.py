"""Several models on the same rows."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from karat.ranking import FprBand, Power, TprBand, Uniform, compare_rankings, weighted_auc

few = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


def three_models(seed=0, n=600, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    shared = rng.normal(size=n)
    scores = {
        "good": shared + 1.5 * y,
        "fair": shared + 0.5 * rng.normal(size=n) + 1.2 * y,
        "poor": rng.normal(size=n) + 0.3 * y,
    }
    return y, {k: s if decimals is None else s.round(decimals) for k, s in scores.items()}


@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("limits", ["delong", "dkw"])
def test_differences_are_those_of_delong(delong, decimals, limits):
    y, scores = three_models(decimals=decimals)
    areas, covariance = delong(y, *scores.values())
    names = list(scores)
    r = compare_rankings(y, scores, limits=limits)
    assert len(r.differences) == 3
    for d in r.differences:
        i, j = names.index(d.first), names.index(d.second)
        error = math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        value = areas[i] - areas[j]
        assert value >= 0
        assert d.value == pytest.approx(value, abs=1e-12)
        if limits == "delong":
            assert d.p_value == pytest.approx(2 * norm.sf(value / error), rel=1e-8)
            reach = norm.ppf(1 - 0.05 / 6) * error
            assert (d.lower, d.upper) == pytest.approx((value - reach, value + reach), abs=1e-10)
        else:
            a, b = r.models[d.first], r.models[d.second]
            assert (d.lower, d.upper) == pytest.approx((a.lower - b.upper, a.upper - b.lower))


@pytest.mark.parametrize(
    "region", [Uniform(), FprBand(0, 0.2), TprBand(0.6, 1), Power(2)], ids=repr
)
@pytest.mark.parametrize("limits", ["delong", "dkw"])
def test_models_share_the_doubt(region, limits):
    y, scores = three_models(1)
    r = compare_rankings(y, scores, weight=region, limits=limits, confidence=0.9)
    for name, score in scores.items():
        alone = weighted_auc(y, score, weight=region, limits=limits, confidence=1 - 0.1 / 3)
        assert r.models[name].value == alone.value
        assert (r.models[name].lower, r.models[name].upper) == pytest.approx(
            (alone.lower, alone.upper)
        )
    assert r.best == "good"
    assert r.confidence == 0.9
    assert "at 90 %" in r.summary()


@pytest.mark.parametrize("region", [FprBand(0, 0.2), TprBand(0.6, 1), Power(2)], ids=repr)
def test_a_model_that_says_nothing_new_has_the_error_of_the_other(region):
    """Against constant scores the paired error is the standard error of the area itself."""
    y, scores = three_models(2)
    both = {"good": scores["good"], "constant": np.zeros(len(y))}
    r = compare_rankings(y, both, weight=region, limits="delong")
    alone = weighted_auc(y, scores["good"], weight=region, limits="delong")
    d = r.differences[0]
    assert d.first == "good"
    assert d.upper - d.lower == pytest.approx(2 * norm.ppf(0.975) * alone.standard_error, rel=1e-9)


def test_pairing_is_narrower_than_the_models_apart():
    y, scores = three_models(3, 2000)
    r = compare_rankings(y, scores, limits="delong")
    close = next(d for d in r.differences if {d.first, d.second} == {"good", "fair"})
    apart = r.models[close.first].upper - r.models[close.second].lower
    assert close.upper < apart


@pytest.mark.parametrize("limits", ["delong", "dkw"])
def test_weights_that_are_frequencies_are_copies(limits):
    y, scores = three_models(4, 300, 1)
    times = np.random.default_rng(4).integers(0, 4, 300)
    weighted = compare_rankings(
        y, scores, sample_weight=times, weighting="frequency", limits=limits
    )
    copied = compare_rankings(
        np.repeat(y, times), {k: np.repeat(s, times) for k, s in scores.items()},
        limits=limits,
    )  # fmt: skip
    for a, b in zip(weighted.differences, copied.differences, strict=True):
        assert (a.first, a.second) == (b.first, b.second)
        assert (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper), abs=1e-12)
        assert a.p_value == pytest.approx(b.p_value, rel=1e-8)


def test_the_scale_of_importances_does_not_matter():
    y, scores = three_models(5, 1000)
    w = np.random.default_rng(5).exponential(size=1000)
    a, b = (compare_rankings(y, scores, sample_weight=w * s, limits="delong") for s in (1, 37.1))
    for d, e in zip(a.differences, b.differences, strict=True):
        assert (d.value, d.lower, d.p_value) == pytest.approx((e.value, e.lower, e.p_value))
    assert all(m.approximate for m in a.models.values())
    # Equal importances are no weights at all.
    c = compare_rankings(y, scores, sample_weight=np.full(1000, 2.0), limits="delong")
    plain = compare_rankings(y, scores, limits="delong")
    for d, e in zip(c.differences, plain.differences, strict=True):
        assert (d.lower, d.p_value) == pytest.approx((e.lower, e.p_value))


def test_two_equal_models_do_not_differ():
    y, scores = three_models(6)
    r = compare_rankings(y, {"a": scores["good"], "b": np.exp(scores["good"])}, limits="delong")
    d = r.differences[0]
    assert (d.value, d.lower, d.upper, d.p_value) == (0, 0, 0, 1)


@few
def test_one_positive_settles_nothing():
    y = np.arange(50) == 49
    scores = {"a": np.arange(50.0), "b": -np.arange(50.0)}
    d = compare_rankings(y, scores, limits="delong").differences[0]
    assert (d.value, d.lower, d.upper, d.p_value) == (1, -1, 1, 1)


def test_boxes_are_compared_by_the_band_inside():
    y, scores = three_models(7)
    for limits in ("auto", "delong"):
        r = compare_rankings(y, scores, weight=FprBand(0, 0.5) & TprBand(0.2, 1), limits=limits)
        assert all(0 <= d.p_value <= 1 for d in r.differences)
        assert all(d.lower <= d.value <= d.upper for d in r.differences)
    # A box that no curve enters has nothing to compare.
    r = compare_rankings(y, scores, weight=FprBand(0, 1e-4) & TprBand(0.999, 1))
    assert all(d.p_value is None for d in r.differences)


def test_scales_and_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    y, scores = three_models(8)
    plain = compare_rankings(y, scores, limits="delong", weight=FprBand(0, 0.3))
    mean = compare_rankings(y, scores, limits="delong", weight=FprBand(0, 0.3), normalize="mean")
    for d, e in zip(plain.differences, mean.differences, strict=True):
        assert (e.value, e.lower, e.upper) == pytest.approx(
            (d.value / 0.3, d.lower / 0.3, d.upper / 0.3)
        )
        assert e.p_value == pytest.approx(d.p_value)
    for frame in (pd.DataFrame(scores), pl.DataFrame(scores)):
        assert compare_rankings(y, frame, limits="delong", weight=FprBand(0, 0.3)) == plain
    matrix = np.column_stack(list(scores.values()))
    assert list(compare_rankings(y, matrix).models) == ["0", "1", "2"]


def test_models_may_be_named_like_parameters():
    y, scores = three_models(9)
    r = compare_rankings(y, {"y_true": scores["good"], "sample_weight": scores["poor"]})
    assert r.best == "y_true"


@pytest.mark.slow
def test_paired_limits_cover_the_difference(capsys):
    """2,000 draws of two correlated scores whose areas are known."""
    from scipy.stats import binomtest

    runs, n, rho = 2000, 1000, 0.6
    truth = norm.cdf(1.0 / math.sqrt(2)) - norm.cdf(0.7 / math.sqrt(2))
    rng = np.random.default_rng(10)
    hits = 0
    for _ in range(runs):
        y = rng.random(n) < 0.3
        shared, own = rng.normal(size=(2, n))
        a = shared + 1.0 * y
        b = rho * shared + math.sqrt(1 - rho**2) * own + 0.7 * y
        d = compare_rankings(y, {"a": a, "b": b}, limits="delong").differences[0]
        lower, upper = (d.lower, d.upper) if d.first == "a" else (-d.upper, -d.lower)
        hits += lower <= truth <= upper
    with capsys.disabled():
        print(f"\npaired difference: {hits / runs:.4f} of 0.95")
    assert binomtest(hits, runs, 0.935, alternative="less").pvalue >= 0.001
    assert binomtest(hits, runs, 0.965, alternative="greater").pvalue >= 0.001


@few
def test_names_come_back_as_they_were_passed():
    y, scores = three_models(n=80)
    r = compare_rankings(y, dict(enumerate(scores.values())))
    assert list(r.models) == [0, 1, 2]
    assert r.best in (0, 1, 2)
    assert {d.first for d in r.differences} <= {0, 1, 2}
    assert r.summary().startswith(f"{r.best} has the greatest")
    assert "0" in repr(r)
    areas = weighted_auc(np.arange(80) % 3, np.random.default_rng(0).normal(size=(80, 3)))
    assert areas.per_class[2].classes.tolist() == ["the rest", 2]
