"""True labels in the estimate: which limits are recommended, and how often they hold."""

import warnings

import numpy as np
import pytest

from karat.bounds import difference_bounds, performance_bounds
from karat.bounds._gold import metric_limits, read_sample
from karat.bounds.inputs import build_problem, read_gold, read_inputs, read_predictions
from karat.exceptions import LabelError, UndefinedMetricWarning
from karat.limits import clopper_pearson, prediction_powered_mean, wilson
from karat.metrics import LinearMetric, as_metric, balanced_accuracy, f_beta, macro
from karat.weak import DetectorLabelModel, MajorityVote, OracleLabelModel


def drawn(seed, n=1500, right=0.85, labelers=6, positive=0.4):
    """Return truth, votes of dependent labelers and predictions."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < positive).astype(int)
    hard = rng.random(n) < 0.2
    good = np.where(hard, 0.4, 0.85)
    votes = np.where(rng.random((n, labelers)) < good[:, None], y[:, None], 1 - y[:, None])
    votes[rng.random((n, labelers)) < 0.2] = -1
    h = np.where(rng.random(n) < np.where(hard, right - 0.2, right + 0.05), y, 1 - y)
    return y, votes, h


def some(y, n, seed=0):
    """Return true labels of n items drawn at random, None elsewhere."""
    gold = np.full(len(y), None, dtype=object)
    at = np.random.default_rng(seed).choice(len(y), n, replace=False)
    gold[at] = y[at]
    return gold, at


def test_the_recommended_limits_are_those_of_the_labels_and_the_bounds_stay_beside():
    y, votes, h = drawn(0)
    gold, _ = some(y, 60)
    model = DetectorLabelModel().fit(votes)
    without = performance_bounds(h, votes, model, metric="accuracy", rng=0)
    b = performance_bounds(h, votes, model, metric="accuracy", y_true=gold, rng=0)
    assert without.gold is None
    assert (without.lower_limit, without.upper_limit) == (
        without.bounds_limits.lower, without.bounds_limits.upper,
    )  # fmt: skip
    assert (b.lower_limit, b.upper_limit) == (b.gold.lower, b.gold.upper)
    assert b.bounds_limits.lower <= b.lower <= b.upper <= b.bounds_limits.upper
    assert b.gold.n == 60
    assert b.to_dict()["gold"]["labels"]["method"] == "wilson"


def test_a_model_that_has_seen_no_label_is_a_prediction_powered_mean():
    """P(Y | Z) as an array is taken not to have seen the labels: the limits are those of a mean."""
    y, votes, h = drawn(1)
    gold, at = some(y, 80)
    p = DetectorLabelModel().fit(votes).predict_proba(votes)
    b = performance_bounds(h, votes, p, metric="accuracy", classes=[0, 1], y_true=gold, rng=0)
    x = p[np.arange(len(y)), h]
    rest = np.setdiff1d(np.arange(len(y)), at)
    by_hand = prediction_powered_mean((h == y)[at].astype(float), x[at], x[rest])
    assert (b.lower_limit, b.upper_limit) == pytest.approx((by_hand.lower, by_hand.upper))


def test_below_twenty_labels_they_count_alone():
    y, votes, h = drawn(2)
    gold, at = some(y, 12)
    exact = clopper_pearson((h == y)[at].sum(), 12)
    b = performance_bounds(h, votes, metric="accuracy", y_true=gold, rng=0)
    assert (b.lower_limit, b.upper_limit) == pytest.approx((exact.lower, exact.upper))
    assert not b.gold.used


def test_a_model_that_was_fitted_with_the_labels_is_fitted_again_without_them():
    """An oracle of every item would promise that each label is as it says; crossed, it cannot."""
    y, _, h = drawn(3, n=400)
    own = np.stack([np.arange(400) // 2 % 2, np.arange(400) % 2], axis=1)  # says nothing
    gold, at = some(y, 100)
    seen = OracleLabelModel(smoothing=0.01).fit(own, gold)
    b = performance_bounds(h, own, seen, metric="accuracy", y_true=gold, rng=0)
    alone = wilson((h == y)[at].sum(), 100)
    assert b.upper_limit - b.lower_limit == pytest.approx(alone.width, rel=0.05)


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "jaccard"])
def test_ratios_of_two_classes_are_prediction_powered(metric):
    y, votes, h = drawn(4, n=3000)
    gold, _ = some(y, 400)
    b = performance_bounds(h, votes, metric=metric, y_true=gold, rng=0)
    assert b.gold.labels.method == "wilson"
    assert b.gold.width <= 1.02 * b.gold.labels.width
    names = {"zero": "no", "one": "yes"}
    words = np.array(["no", "yes"])
    asked = np.where(votes < 0, None, words[votes])
    text = performance_bounds(
        words[h], asked, metric=metric, y_true=[None if g is None else words[g] for g in gold],
        pos_label=names["one"], null="abstain", rng=0,
    )  # fmt: skip
    assert (text.lower_limit, text.upper_limit) == pytest.approx((b.lower_limit, b.upper_limit))


@pytest.mark.parametrize("metric", ["balanced_accuracy", "mcc", "g_mean", "macro_f1"])
def test_other_metrics_have_limits_of_the_labels_alone(metric):
    y, votes, h = drawn(5)
    gold, _ = some(y, 60)
    b = performance_bounds(h, votes, metric=metric, y_true=gold, rng=0)
    assert b.gold.labels.method == "pseudo-count"
    assert not b.gold.used
    assert b.lower_limit < b.value < b.upper_limit


@pytest.mark.parametrize("seen", [2, 3])
@pytest.mark.parametrize("metric", [macro(f_beta(1)), balanced_accuracy])
def test_limits_of_the_labels_alone_are_those_of_an_estimate(metric, seen):
    """Also where a class was not seen, which counts 0 below and 1 above over three classes."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 900)
    votes = np.where(rng.random((900, 4)) < 0.7, y[:, None], rng.integers(0, 3, (900, 4)))
    h = np.where(rng.random(900) < 0.8, y, rng.integers(0, 3, 900))
    at = np.flatnonzero(y < seen)[:100]
    gold = np.full(900, None, dtype=object)
    gold[at] = y[at]
    found = performance_bounds(h, votes, metric=metric, y_true=gold, classes=range(3), rng=0).gold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        alone = metric.estimate(y[at], h[at], classes=range(3), rng=0)
    assert found.value == alone.value
    assert (found.lower, found.upper) == pytest.approx((alone.lower, alone.upper), abs=0.01)
    if seen == 2 and metric is balanced_accuracy:
        assert alone.upper - alone.lower > 1 / 3


def test_a_linear_metric_keeps_its_scale():
    y, votes, h = drawn(6)
    gold, _ = some(y, 60)
    right = performance_bounds(h, votes, metric="accuracy", y_true=gold, rng=0)
    cost = LinearMetric([[0, -5], [-5, 0]])
    b = performance_bounds(h, votes, metric=cost, y_true=gold, rng=0)
    assert (b.lower_limit, b.upper_limit) == pytest.approx(
        (5 * right.lower_limit - 5, 5 * right.upper_limit - 5)
    )


def test_groups_clusters_weights_and_probabilities():
    y, votes, h = drawn(7, n=2000)
    gold, _at = some(y, 200)
    group = np.where(np.arange(2000) < 1500, "a", "b")
    base = {"metric": "accuracy", "y_true": gold, "rng": 0}
    model = MajorityVote().fit(votes)
    b = performance_bounds(h, votes, model, groups=group, **base)
    assert b.groups["a"].gold.n + b.groups["b"].gold.n == 200
    assert b.groups["b"].gold.width > b.groups["a"].gold.width
    plain = performance_bounds(h, votes, model, **base)
    weighted = performance_bounds(h, votes, model, sample_weight=np.full(2000, 3.0), **base)
    soft = performance_bounds(np.eye(2)[h], votes, model, **base)
    for same in (weighted, soft):
        limits = (same.lower_limit, same.upper_limit)
        assert limits == pytest.approx((plain.lower_limit, plain.upper_limit))
    twice = performance_bounds(
        np.tile(h, 2), np.tile(votes, (2, 1)), model, metric="accuracy",
        y_true=np.tile(gold, 2), clusters=np.tile(np.arange(2000), 2), rng=0,
    )  # fmt: skip
    assert twice.gold.n == 400
    assert twice.gold.width == pytest.approx(plain.gold.width, rel=0.1)


def test_ten_patients_whose_rows_are_all_right_are_ten_labels():
    y, votes, _ = drawn(11, n=1000)
    gold = np.where(np.arange(1000) < 100, y, -1)
    model = MajorityVote().fit(votes)
    b = performance_bounds(
        y, votes, model, metric="accuracy", y_true=gold, clusters=np.arange(1000) // 10, rng=0
    )
    assert b.lower_limit == pytest.approx(clopper_pearson(10, 10).lower)


def test_a_group_without_labels_keeps_the_limits_of_its_bounds():
    y, votes, h = drawn(8)
    gold = np.where(np.arange(1500) < 100, y, None)
    group = np.where(np.arange(1500) < 700, "a", "b")
    b = performance_bounds(h, votes, metric="accuracy", y_true=gold, groups=group, rng=0)
    assert b.groups["b"].gold is None
    assert b.groups["b"].lower_limit == b.groups["b"].bounds_limits.lower


def test_labels_outside_the_classes_are_refused():
    y, votes, h = drawn(9)
    gold, at = some(y, 30)
    gold[at[0]] = 7
    with pytest.raises(LabelError, match="7"):
        performance_bounds(h, votes, metric="accuracy", y_true=gold)


def test_a_difference_is_prediction_powered_too():
    y, votes, h = drawn(10, n=3000)
    other = np.where(np.random.default_rng(1).random(3000) < 0.1, 1 - h, h)
    gold, _at = some(y, 300)
    d = difference_bounds(h, other, votes, metric="accuracy", y_true=gold, rng=0)
    truth = (h == y).mean() - (other == y).mean()
    assert d.lower_limit < truth < d.upper_limit
    assert d.upper_limit - d.lower_limit < 0.12  # they differ on a tenth of the items
    f1 = difference_bounds(h, other, votes, metric="f1", y_true=gold, rng=0)
    assert f1.gold.labels.method == "pseudo-count"
    assert f1.lower_limit < f1.value < f1.upper_limit


def sparse(k, n, rng, labelers=8):
    """Draw the law of sparse votes: labelers of two classes each, predictions right in .8."""
    prior = rng.dirichlet(np.full(k, 5.0))
    cover, right = rng.uniform(0.5, 0.9, labelers), rng.uniform(0.65, 0.9, labelers)
    y = rng.choice(k, n, p=prior)
    votes = np.full((n, labelers), -1)
    for j in range(labelers):
        a, b = (0, 1) if k == 2 else (j % k, (j + 1) % k)
        said = np.where(rng.random(n) < right[j], y, np.where(y == a, b, a))
        chance = np.where(rng.random(n) < 0.5, a, b)
        own = np.isin(y, [a, b])
        speaks = rng.random(n) < np.where(own, cover[j], cover[j] / 3)
        votes[:, j] = np.where(speaks, np.where(own, said, chance), -1)
    h = np.where(rng.random(n) < 0.8, y, (y + rng.integers(1, k, n)) % k)
    return y, votes, h


def recommended(h, votes, gold, k, metrics, seed):
    """Return the limits that `performance_bounds` recommends; label models are fitted once."""
    rng = np.random.default_rng(seed)
    inputs = read_inputs({"y_pred": h}, votes, None, classes=range(k), y_true=gold)
    predicted = read_predictions(h, inputs)
    sample = read_sample(inputs, None, read_gold(gold, inputs.classes, len(h)), None, rng)
    problem = build_problem(inputs, predicted, n_outcomes=k, method="crossfit", rng=rng)
    return {
        name: metric_limits(
            as_metric(name), inputs, predicted, sample, problem.pooled,
            confidence=0.95, rng=rng,
        )
        for name in metrics
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_the_shortcut_of_the_simulations_is_what_is_recommended(metric):
    y, votes, h = sparse(2, 500, np.random.default_rng(0))
    gold, _ = some(y, 60)
    b = performance_bounds(h, votes, metric=metric, classes=[0, 1], y_true=gold, rng=0)
    short = recommended(h, votes, gold, 2, [metric], 0)[metric]
    assert (b.lower_limit, b.upper_limit) == pytest.approx((short.lower, short.upper))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize(("k", "n", "most"), [(2, 50, 0.8), (2, 300, 0.7), (5, 50, 0.95)])
def test_metrics_with_labels_are_covered_and_narrower(k, n, most):
    """40 laws notice .93 against .70 (250 are in the theory); p̂ is refitted without each fold."""
    from scipy.stats import binomtest

    names = ["accuracy", "f1", "precision", "recall"] if k == 2 else ["accuracy"]
    seen, width, alone = (dict.fromkeys(names, 0.0) for _ in range(3))
    rng = np.random.default_rng([k, n])
    for seed in range(40):
        y, votes, h = sparse(k, 2000, rng)
        share = 0.2 + 0.6 * (y == 1).mean()  # P(Ŷ=1) = .8 π + .2 (1 − π), π near its share
        true = {"accuracy": 0.8, "precision": 0.8 * y.mean() / share, "recall": 0.8}
        true["f1"] = 2 * 0.8 * y.mean() / (share + y.mean())
        gold, _ = some(y, n, seed)
        for name, limits in recommended(h, votes, gold, k, names, seed).items():
            seen[name] += limits.lower <= true[name] <= limits.upper
            width[name], alone[name] = width[name] + limits.width, alone[name] + limits.labels.width
    for name, hits in seen.items():
        ratio = width[name] / alone[name]
        print(f"{name}, {k} classes, {n} labels: covered {hits / 40:.3f}, width {ratio:.2f}")
        assert binomtest(int(hits), 40, 0.93, alternative="less").pvalue > 0.001
        # Few wrong calls among 50 labels: then precision and recall have limits of labels alone.
        assert ratio < (0.9 if n == 50 and name in ("precision", "recall") else most)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100])
def test_differences_with_labels_are_covered(n):
    """100 samples notice .93 against .82; both err together on hard items."""
    from scipy.stats import binomtest

    seen, width, lone = 0, 0.0, 0.0
    for seed in range(100):
        y, votes, h = drawn(seed, n=800)
        rng = np.random.default_rng([seed, n])
        other = np.where(rng.random(800) < 0.15, 1 - h, h)
        right = 0.8 * 0.9 + 0.2 * 0.65  # of the first; the second is turned over in .15
        truth = right - (0.85 * right + 0.15 * (1 - right))
        gold, _ = some(y, n, seed)
        p = MajorityVote().fit(votes).predict_proba(votes)
        d = difference_bounds(
            h, other, votes, p, metric="accuracy", classes=[0, 1], y_true=gold, rng=0
        )
        seen += d.lower_limit <= truth <= d.upper_limit
        width, lone = width + d.gold.width, lone + d.gold.labels.width
    print(f"difference, {n} labels: covered {seen / 100:.3f}, width {width / lone:.2f}")
    assert binomtest(seen, 100, 0.93, alternative="less").pvalue > 0.001
    assert width < 1.02 * lone


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize("metric", ["accuracy", "f1", "precision", "recall"])
def test_with_a_label_of_every_item_the_estimate_is_what_is_seen(metric):
    """There is nothing left to predict, and folds of the label model must not move it."""
    rng = np.random.default_rng(5)
    y, votes, h = sparse(2, 1500, rng)
    found = performance_bounds(h, votes, metric=metric, y_true=y, rng=0).gold
    seen = as_metric(metric).estimate(y, h)
    assert found.value == pytest.approx(seen.value, abs=1e-12)
    assert found.labels.value == pytest.approx(seen.value, abs=1e-12)
    assert found.lower <= seen.value <= found.upper
    assert found.width <= 1.02 * found.labels.width
    # One label less is nearly the same.
    gold = y.astype(float)
    gold[0] = np.nan
    nearly = performance_bounds(h, votes, metric=metric, y_true=gold, rng=0).gold
    assert nearly.value == pytest.approx(found.value, abs=0.25 * found.width)
