"""Differences, curves, expectations, rankings, the value of labelers, robustness."""

import numpy as np
import pytest
from scipy.optimize import linprog

from karat.bounds import (
    bounds_curve,
    difference_bounds,
    expectation_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.exceptions import DataError, LabelError, LengthMismatchError, OptionError, ShapeError
from karat.metrics import cost_matrix, f_beta, macro
from karat.weak import OracleLabelModel


@pytest.fixture
def law(draw_law):
    return draw_law(3000, 2, seed=11)


def second(law, right, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(law.y)) < right, law.y, 1 - law.y)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "precision", "recall", "mcc", "jaccard"])
def test_difference_contains_the_truth_and_is_tighter_than_two_bounds(law, metric):
    b = law.y_pred.copy()
    b[:300] = 1 - b[:300]
    options = {"metric": metric, "classes": [0, 1], "y_true": law.y, "rng": 0}
    d = difference_bounds(law.y_pred, b, law.votes, law.p, **options)
    assert d.lower_limit <= d.truth <= d.upper_limit
    assert d.agree == pytest.approx(0.9)
    assert d.sharp == (metric != "jaccard")
    one, two = (performance_bounds(y, law.votes, law.p, **options) for y in (law.y_pred, b))
    assert d.width <= (one.upper - two.lower) - (one.lower - two.upper) + 1e-6
    back = difference_bounds(b, law.y_pred, law.votes, law.p, **options)
    assert back.lower == pytest.approx(-d.upper, abs=0.01)


def test_difference_of_a_classifier_and_itself_is_nothing(law):
    for metric in ("accuracy", "f1", cost_matrix([[0, 1], [6, 0]])):
        d = difference_bounds(
            law.y_pred, law.y_pred, law.votes, law.p, metric=metric, classes=[0, 1], rng=0
        )
        assert (d.lower, d.upper) == pytest.approx((0, 0), abs=1e-9)
        assert d.agree == 1


def test_difference_of_several_classes(draw_law):
    law = draw_law(2000, 4, seed=12)
    other = np.where(np.arange(2000) < 1000, law.y_pred, (law.y_pred + 1) % 4)
    for metric in ("accuracy", "macro_f1"):
        d = difference_bounds(
            law.y_pred,
            other,
            law.votes,
            law.p,
            metric=metric,
            classes=range(4),
            y_true=law.y,
            rng=0,
        )
        assert d.lower_limit <= d.truth <= d.upper_limit
    assert not d.sharp


@pytest.mark.parametrize("metric", ["accuracy", "f1", "precision", "mcc", "g_mean"])
def test_curve_equals_single_bounds(law, metric):
    score = law.y_pred + np.random.default_rng(0).normal(scale=0.7, size=3000)
    cuts = [-0.2, 0.3, 0.9]
    curve = bounds_curve(
        score, law.votes, law.p, metric=metric, thresholds=cuts, method="plugin", classes=[0, 1],
        y_true=law.y,
    )  # fmt: skip
    for i, cut in enumerate(cuts):
        with pytest.warns(UserWarning, match="fewer than 10"):
            b = performance_bounds(
                (score >= cut).astype(int), law.votes, law.p, metric=metric, method="plugin",
                classes=[0, 1], y_true=law.y, limit="normal",
            )  # fmt: skip
        for own, other in (("lower", "lower"), ("upper", "upper"), ("value", "truth")):
            assert getattr(curve, own)[i] == pytest.approx(getattr(b, other), abs=1e-7)
        for name in ("lower_limit", "upper_limit"):
            single = getattr(b.bounds_limits, name.partition("_")[0])
            assert getattr(curve, name)[i] == pytest.approx(single, abs=1e-7)


def test_cross_fitted_curve_covers(law):
    score = law.y_pred + np.random.default_rng(0).normal(scale=0.7, size=3000)
    curve = bounds_curve(score, law.votes, law.p, metric="f1", classes=[0, 1], y_true=law.y, rng=0)
    inside = (curve.lower_limit <= curve.value) & (curve.value <= curve.upper_limit)
    assert inside.mean() > 0.95
    single = performance_bounds(
        (score >= 0.3).astype(int), law.votes, law.p, metric="f1", classes=[0, 1], rng=0
    )
    at = np.argmin(np.abs(curve.thresholds - 0.3))
    assert curve.lower[at] == pytest.approx(single.lower, abs=0.03)
    assert curve.upper[at] == pytest.approx(single.upper, abs=0.03)
    assert "no other threshold" in curve.summary()


def test_curve_ends_are_undefined_not_silent(law):
    score = np.random.default_rng(0).random(3000)
    curve = bounds_curve(
        score, law.votes, law.p, metric="precision", thresholds=[-1.0, 0.5, 2.0], classes=[0, 1]
    )
    assert np.isnan(curve.lower).tolist() == [False, False, True]
    assert curve.to_dict()["lower"][2] is None
    whole = bounds_curve(
        score, law.votes, law.p, metric="accuracy", thresholds=[-1.0, 2.0], classes=[0, 1],
        y_true=law.y,
    )  # fmt: skip
    assert (whole.lower_limit <= whole.value).all()
    assert (whole.value <= whole.upper_limit).all()
    nothing = bounds_curve(
        np.zeros(3000), law.votes, law.p, metric="precision", thresholds=[1.0], classes=[0, 1]
    )
    assert "undefined at every one" in repr(nothing)


def test_curve_bad_input(law, draw_law):
    three = draw_law(100, 3, seed=0)
    with pytest.raises(LabelError, match="two classes and there are 3"):
        bounds_curve(np.zeros(100), three.votes, three.p, metric="accuracy", classes=range(3))
    with pytest.raises(LengthMismatchError, match="y_score has 5"):
        bounds_curve(np.zeros(5), law.votes, law.p, metric="accuracy", classes=[0, 1])


def program(g, ids, p):
    """Greatest mean of g over couplings of items and classes, pattern by pattern, as an LP."""
    n, k = g.shape
    rows, level = [], []
    for i in range(n):
        row = np.zeros(n * k)
        row[i * k : (i + 1) * k] = 1
        rows.append(row)
        level.append(1 / n)
    for z in range(len(p)):
        for y in range(k - 1):
            row = np.zeros(n * k)
            row[np.flatnonzero(ids == z) * k + y] = 1
            rows.append(row)
            level.append((ids == z).mean() * p[z, y])
    done = linprog(-g.ravel(), A_eq=np.array(rows), b_eq=level)
    assert done.status == 0
    return -done.fun


@pytest.mark.parametrize("k", [2, 3])
def test_exact_expectation_equals_a_linear_program(rng, k):
    ids = rng.integers(0, 3, 60)
    votes = np.array([[0, 1], [1, 1], [1, 0]])[ids]
    p = rng.dirichlet(np.ones(k), 3)
    g = rng.normal(size=(60, k))
    b = expectation_bounds(g, votes, p[ids], classes=range(k))
    assert b.upper == pytest.approx(program(g, ids, p), abs=1e-7)
    assert b.lower == pytest.approx(-program(-g, ids, p), abs=1e-7)
    assert b.lower_limit < b.lower < b.upper < b.upper_limit


@pytest.mark.parametrize("k", [2, 4])
def test_smoothed_bound_converges_at_its_rate(rng, k):
    ids = rng.integers(0, 3, 300)
    votes = np.array([[0, 1], [1, 1], [1, 0]])[ids]
    p = rng.dirichlet(np.full(k, 3.0), 3)
    g = rng.random((300, k))
    exact = expectation_bounds(g, votes, p[ids], classes=range(k))
    gaps = []
    for epsilon in (0.1, 0.03, 0.01):
        b = expectation_bounds(
            g, votes, p[ids], classes=range(k), method="smoothed", epsilon=epsilon
        )
        assert b.approximation == pytest.approx(epsilon * np.log(k))
        inner = b.upper - b.approximation
        assert exact.upper - b.approximation - 1e-4 <= inner <= exact.upper + 1e-4
        assert b.upper >= exact.upper - 1e-4
        assert b.lower <= exact.lower + 1e-4
        gaps.append(exact.upper - inner)
    assert gaps[2] < 0.35 * gaps[0]


def test_expectation_of_a_match_is_accuracy(draw_law):
    law = draw_law(1500, 3, seed=1)
    g = (law.y_pred[:, None] == np.arange(3)).astype(float)
    with pytest.warns(UserWarning, match="fewer than 10"):
        b = performance_bounds(
            law.y_pred, law.votes, law.p, metric="accuracy", classes=range(3), method="plugin"
        )
    with pytest.warns(UserWarning, match="use method='crossfit'"):
        e = expectation_bounds(g, law.votes, law.p, classes=range(3))
    assert (e.lower, e.upper) == pytest.approx((b.lower, b.upper), abs=1e-7)
    crossed = expectation_bounds(g, law.votes, law.p, classes=range(3), method="crossfit", rng=0)
    lower, upper = law.sharp_accuracy()
    assert crossed.lower_limit <= 0.8 <= crossed.upper_limit
    assert crossed.lower <= lower + 0.03
    assert crossed.upper >= upper - 0.03
    with pytest.warns(UserWarning, match="use method='crossfit'"):
        wide = expectation_bounds(g, law.votes, law.p, classes=range(3), robustness=0.1)
    assert wide.upper > e.upper


@pytest.mark.filterwarnings("ignore:.*patterns seen fewer")
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_limits_of_an_expectation_have_the_scale_of_its_values(draw_law, scale):
    """Also those that draw items anew, where values that are close count as equal."""
    law = draw_law(300, 2, seed=4, labelers=3)
    g = np.random.default_rng(0).exponential(size=(300, 2)) ** 3  # few items carry the mean
    options = {"classes": [0, 1], "method": "exact", "rng": 0}
    plain, normal, scaled = (
        expectation_bounds(values, law.votes, law.p, **options, **own)
        for values, own in ((g, {}), (g, {"limit": "normal"}), (scale * g, {}))
    )
    assert plain.upper_limit > normal.upper_limit > plain.upper == pytest.approx(normal.upper)
    assert scaled.upper_limit == pytest.approx(scale * plain.upper_limit, rel=1e-3)
    assert scaled.lower_limit == pytest.approx(scale * plain.lower_limit, rel=1e-3)
    with pytest.raises(OptionError, match="limit is 'bernstein'"):
        expectation_bounds(g, law.votes, law.p, limit="bernstein", **options)


def test_expectation_bad_input(law):
    with pytest.raises(ShapeError, match="one column per class"):
        expectation_bounds(np.zeros((3000, 3)), law.votes, law.p, classes=[0, 1])
    with pytest.raises(DataError, match="holds nan"):
        expectation_bounds(np.full((3000, 2), np.nan), law.votes, law.p, classes=[0, 1])


def test_ranking(law):
    models = {"poor": second(law, 0.55), "good": second(law, 0.95), "fair": second(law, 0.9, 1)}
    options = {"metric": "accuracy", "classes": [0, 1], "rng": 0}
    for by in ("average", "upper", "label_model"):
        ranking = rank_models(models, law.votes, law.p, by=by, **options)
        assert ranking.names == ("good", "fair", "poor")
    assert not ranking.certain
    clear = rank_models({k: models[k] for k in ("poor", "good")}, law.votes, law.p, **options)
    assert clear.certain
    assert "ahead by the limits of every difference" in clear.summary()
    with pytest.raises(DataError, match="fewer than two"):
        rank_models({"a": models["good"]}, law.votes, law.p, **options)
    with pytest.raises(OptionError, match="by is 'best'"):
        rank_models(models, law.votes, law.p, by="best", **options)


def test_a_noise_labeler_adds_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    right = rng.random((6000, 4)) < [0.9, 0.8, 0.7, 0.5]
    votes = np.where(right, y[:, None], 1 - y[:, None])
    y_pred = np.where(rng.random(6000) < 0.85, y, 1 - y)
    model = OracleLabelModel().fit(votes, y)
    value = weak_label_value(y_pred, votes, model, metric="accuracy", rng=0)
    assert value.names == ("0", "1", "2", "3")
    assert value.narrowing[0] > 0.05
    assert abs(value.narrowing[3]) < 0.01
    assert len(value.without) == 4
    with pytest.raises(DataError, match="one labeler"):
        weak_label_value(y_pred, votes[:, :1], OracleLabelModel().fit(votes[:, :1], y), metric="f1")


@pytest.mark.parametrize("metric", ["accuracy", pytest.param("f1", marks=pytest.mark.slow), "mcc"])
def test_robustness_curve(law, metric):
    options = {"metric": metric, "classes": [0, 1], "rng": 0}
    plain = robustness_curve(law.y_pred, law.votes, law.p, **options)
    claim = float(plain.lower_limit[[0, -1]].mean())
    curve = robustness_curve(law.y_pred, law.votes, law.p, claim=claim, **options)
    assert (np.diff(curve.lower) <= 1e-12).all()
    assert (np.diff(curve.upper) >= -1e-12).all()
    single = performance_bounds(law.y_pred, law.votes, law.p, robustness=0.1, **options)
    at = np.argmin(np.abs(curve.deltas - 0.1))
    assert curve.lower[at] == pytest.approx(single.lower, abs=1e-9)
    assert 0 < curve.breaks_at < 0.3
    few = {**options, "deltas": [0.0, 0.3]}
    held = robustness_curve(law.y_pred, law.votes, law.p, claim=-1.0, **few)
    assert held.breaks_at is None
    never = robustness_curve(law.y_pred, law.votes, law.p, claim=0.99, **few)
    assert never.breaks_at == 0.0
    assert plain.breaks_at is None
    assert "holds" in curve.summary()


def test_macro_f_is_bounded_by_the_same_call(draw_law):
    law = draw_law(1000, 3, seed=2)
    b = performance_bounds(
        law.y_pred, law.votes, law.p, metric=macro(f_beta(0.5)), classes=range(3), rng=0
    )
    assert not b.sharp
    assert "outer" in b.summary()
