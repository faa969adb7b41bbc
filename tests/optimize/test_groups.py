"""Metrics that compare groups, which the classifier does not see."""

import numpy as np
import pytest

from karat.exceptions import DataError, OptionError
from karat.metrics import FairMetric, FairQuadraticMetric, LinearMetric
from karat.optimize import CoordinateSearchClassifier, FrankWolfeClassifier


def two_groups(n, rng, k=2):
    """Rows of two groups with other base rates; a column that tells most of the group."""
    group = rng.integers(0, 2, n)
    hint = np.where(rng.random(n) < 0.9, group, 1 - group)
    logits = rng.normal(size=(n, k)) * 1.5
    logits[:, -1] += np.where(group == 1, -1.5, 0.5)
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    basis = np.column_stack([np.ones(n), hint])
    return proba, y, np.array(["f", "m"])[group], basis


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("gradient", ["known", "probed"])
def test_probes_and_gradients_agree_with_a_function_of_the_rows(k, gradient):
    rng = np.random.default_rng(0)
    proba, y, groups, basis = two_groups(3000, rng, k)
    q = k * k - k
    metric = FairMetric(np.ones(q), np.ones((1, q)), 0.4)

    def function(y_true, shares, groups):
        return metric.score(y_true, shares, groups=groups)

    given = {"groups_val": groups, "basis": basis}
    options = {"entries": "all", "n_iter": 6, "step": "harmonic"}
    one = FrankWolfeClassifier(metric=metric, gradient=gradient, **options)
    one.fit_from_proba(proba, y, **given)
    other = FrankWolfeClassifier(metric=function, **options).fit_from_proba(proba, y, **given)
    assert one.history_.baseline == pytest.approx(other.history_.baseline)
    shares = one.predict_proba_from_proba(proba, basis=basis)
    assert one.history_.value == pytest.approx(metric.score(y, shares, groups=groups), abs=1e-9)
    if gradient == "probed":
        np.testing.assert_allclose(one.mixture_.weights, other.mixture_.weights, rtol=1e-4)


@pytest.mark.parametrize("kind", [FairMetric, FairQuadraticMetric])
def test_weighing_equality_more_brings_the_groups_closer(kind):
    rng = np.random.default_rng(1)
    proba, y, groups, basis = two_groups(20_000, rng)
    gaps, costs = [], []
    for tradeoff in (0.0, 0.5, 0.9):
        violation = np.ones((1, 2)) if kind is FairMetric else 20 * np.eye(2)[None]
        metric = kind([1, 1], violation, tradeoff)
        clf = FrankWolfeClassifier(metric=metric, n_iter=40)
        clf.fit_from_proba(proba, y, groups_val=groups, basis=basis)
        shares = clf.predict_proba_from_proba(proba, basis=basis)
        only_gap, only_cost = FairMetric([1, 1], [[1, 1]], 1.0), FairMetric([1, 1], [[1, 1]], 0.0)
        gaps.append(-only_gap.score(y, shares, groups=groups))
        costs.append(-only_cost.score(y, shares, groups=groups))
    assert gaps[0] > gaps[1] >= gaps[2] - 1e-9  # absolute gaps may be closed by 0.5 already
    assert costs[0] <= costs[1] + 1e-3
    assert costs[1] <= costs[2] + 1e-3


@pytest.mark.parametrize("tradeoff", [0.3, 0.5, 0.9])
def test_corners_are_settled_in(tradeoff):
    """No pair of thresholds, one for each value of the hint, is better but for chance."""
    rng = np.random.default_rng(6)
    proba, y, groups, basis = two_groups(40_000, rng)
    metric = FairMetric([1, 1], [[1, 1]], tradeoff)
    clf = FrankWolfeClassifier(metric=metric)
    clf.fit_from_proba(proba, y, groups_val=groups, basis=basis)
    second, hint = proba[:, 1], basis[:, 1].astype(int)
    cuts = np.linspace(0.02, 0.98, 49)
    tables = np.zeros((2, 49, 2, 2, 2))  # hint, cut, group, truth, prediction
    g = (groups == "m").astype(int)
    for h in range(2):
        for c, cut in enumerate(cuts):
            some = hint == h
            said = (second[some] >= cut).astype(int)
            np.add.at(tables[h, c], (g[some], y[some], said), 1 / len(y))
    best = max(metric(a + b) for a in tables[0] for b in tables[1])
    assert clf.history_.value > best - 1e-9
    assert clf.history_.gaps[-1] <= 1e-7


@pytest.mark.parametrize("tradeoff", [0.3, 0.9])
def test_decisions_without_chance_are_as_good_as_any_thresholds(tradeoff):
    """The most frequent class of a mixture is not: groups are even by chance alone there."""
    rng = np.random.default_rng(11)
    proba, y, groups, basis = two_groups(3000, rng)
    metric = FairMetric([1, 1], [[1, 1]], tradeoff)
    clf = FrankWolfeClassifier(metric=metric, deterministic=True)
    clf.fit_from_proba(proba, y, groups_val=groups, basis=basis)
    cuts = np.linspace(0.05, 0.95, 15)
    best = max(
        metric.score(y, (proba[:, 1] >= np.where(basis[:, 1], a, b)).astype(int), groups=groups)
        for a in cuts
        for b in cuts
    )
    history = clf.history_
    assert history.value > best - 0.005
    shares = clf.predict_proba_from_proba(proba, basis=basis)
    assert set(np.unique(shares)) == {0, 1}
    assert metric.score(y, shares, groups=groups) == pytest.approx(history.value)


def test_without_weight_on_groups_it_is_the_metric_of_all():
    rng = np.random.default_rng(2)
    proba, y, groups, _ = two_groups(5000, rng)
    fair = FairMetric([1, 3], [[1, 1]], 0.0)
    prior = np.bincount(y) / len(y)
    plain = LinearMetric([[0, -1 / prior[0]], [-3 / prior[1], 0]])  # the same, of joint rates
    one = FrankWolfeClassifier(metric=fair, n_iter=3, step="harmonic")
    one.fit_from_proba(proba, y, groups_val=groups)
    two = FrankWolfeClassifier(metric=plain, n_iter=3).fit_from_proba(proba, y)
    np.testing.assert_allclose(one.history_.values, two.history_.values, atol=1e-9)


def test_coordinate_search_knows_groups_too():
    rng = np.random.default_rng(3)
    proba, y, groups, _ = two_groups(2000, rng)
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    clf = CoordinateSearchClassifier(metric=metric, spacing=0.01)
    clf.fit_from_proba(proba, y, groups_val=groups)
    found = metric.score(y, clf.predict_from_proba(proba), groups=groups)
    assert clf.value_ == pytest.approx(found, abs=1e-9)


def test_folds_hold_rows_of_each_group_out():
    rng = np.random.default_rng(4)
    proba, y, groups, basis = two_groups(4000, rng)
    metric = FairMetric([1, 1], [[1, 1]], 0.3)
    clf = FrankWolfeClassifier(metric=metric, n_folds=5)
    clf.fit_from_proba(proba, y, groups_val=groups, basis=basis)
    history = clf.history_
    assert history.held_out.lower < history.held_out.value < history.held_out.upper
    assert history.held_out.value > history.held_out_baseline


def test_groups_must_be_there_and_as_many_as_the_metric_compares():
    rng = np.random.default_rng(5)
    proba, y, groups, _ = two_groups(200, rng)
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    with pytest.raises(DataError, match="pass groups_val="):
        FrankWolfeClassifier(metric=metric).fit_from_proba(proba, y)
    with pytest.raises(DataError, match="for 2 groups and groups_val has 3"):
        FrankWolfeClassifier(metric=metric).fit_from_proba(
            proba, y, groups_val=np.where(np.arange(200) < 5, "x", groups)
        )


def test_corrective_shares_need_a_known_metric():
    rng = np.random.default_rng(7)
    proba, y, _, _ = two_groups(300, rng)
    for options in ({"metric": lambda y, p: p[:, 1].mean()}, {"gradient": "probed"}):
        clf = FrankWolfeClassifier(step="corrective", **options)
        with pytest.raises(OptionError, match="where the gradient of the metric is not known"):
            clf.fit_from_proba(proba, y)


def test_corrective_shares_are_as_good_as_any_for_smooth_metrics():
    rng = np.random.default_rng(8)
    proba, y, _, _ = two_groups(20_000, rng, 3)
    plain = FrankWolfeClassifier(metric="g_mean", n_iter=40).fit_from_proba(proba, y)
    other = FrankWolfeClassifier(metric="g_mean", step="corrective").fit_from_proba(proba, y)
    # labels of 20,000 rows are chance by about so much
    assert other.history_.value > plain.history_.value - 3e-4
    shares = other.predict_proba_from_proba(proba)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize("names", [["f", "m"], [7, 3], [True, False]])
@pytest.mark.parametrize("deterministic", [False, True])
def test_rates_carry_the_names_of_the_groups(names, deterministic):
    rng = np.random.default_rng(9)
    proba, y, groups, basis = two_groups(900, rng)
    groups = np.where(groups == "f", *names)
    weight = rng.uniform(0.5, 2.0, 900)
    clf = FrankWolfeClassifier(
        metric=FairMetric([1, 1], [[1, 1]], 0.5), deterministic=deterministic, pos_label=0
    )
    clf.fit_from_proba(proba, y, groups_val=groups, basis=basis, sample_weight=weight)
    history = clf.history_
    assert history.groups.tolist() == sorted(names)
    shares = clf.predict_proba_from_proba(proba, basis=basis)
    for shown, used in ((history.rates, shares), (history.baseline_rates, np.round(proba))):
        for g, name in enumerate(sorted(names)):
            for c, label in enumerate([1, 0]):  # the positive class, 0, is the last
                rows = (groups == name) & (y == label)
                assert shown[g, c] == pytest.approx(
                    np.average(used[rows, label], None, weight[rows])
                )
    assert f"rates of {sorted(names)[0]}" in dict(history._table())


def test_a_function_has_its_groups_named_too():
    rng = np.random.default_rng(10)
    proba, y, groups, _ = two_groups(300, rng)

    def right(y_true, shares, groups):
        return shares[np.arange(len(y_true)), y_true].mean() - np.ptp(
            [shares[groups == g, 1].mean() for g in ("f", "m")]
        )

    history = (
        FrankWolfeClassifier(metric=right).fit_from_proba(proba, y, groups_val=groups).history_
    )
    assert history.groups.tolist() == ["f", "m"]
    none = FrankWolfeClassifier(metric="g_mean").fit_from_proba(proba, y).history_
    assert none.groups.size == none.rates.size == 0


def test_every_evaluation_of_a_line_search_counts():
    rng = np.random.default_rng(12)
    proba, y, groups, basis = two_groups(400, rng)
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    asked = {}
    for step in ("harmonic", "line-search"):
        clf = FrankWolfeClassifier(metric=metric, gradient="probed", step=step, n_iter=6)
        clf.fit_from_proba(proba, y, groups_val=groups, basis=basis)
        asked[step] = clf.history_.n_evaluations[-1]
    assert asked["line-search"] > asked["harmonic"]  # both kinds of steps were made
