"""Where a bound could be wrong without a word: orders of classes, small samples, odd options."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from karat.bounds import (
    bounds_curve,
    difference_bounds,
    expectation_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.exceptions import (
    ColumnError,
    DataError,
    LabelError,
    MetricError,
    OptionError,
    ProbabilityError,
)
from karat.metrics import LinearFractionalMetric, PowerMeanMetric, cost_matrix
from karat.weak import DawidSkene, MajorityVote


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.3).astype(int)
    votes = np.where(rng.random((2000, 5)) < 0.8, y[:, None], 1 - y[:, None])
    y_pred = np.where(rng.random(2000) < 0.85, y, 1 - y)
    model = DawidSkene(rng=0).fit(votes)
    return y, y_pred, votes, model, model.predict_proba(votes)


@pytest.mark.parametrize("metric", ["accuracy", "recall", "f1"])
@pytest.mark.parametrize("pos", [0, 1])
def test_arrays_and_models_mean_the_same_positive_class(data, metric, pos):
    y, y_pred, votes, model, p = data
    options = {"metric": metric, "pos_label": pos, "rng": 0, "y_true": y}
    by_model = performance_bounds(y_pred, votes, model, **options)
    by_array = performance_bounds(y_pred, votes, p, classes=[0, 1], **options)
    turned = performance_bounds(y_pred, votes, p[:, ::-1], classes=[1, 0], **options)
    soft = performance_bounds(np.eye(2)[y_pred], votes, p, classes=[0, 1], **options)
    for b in (by_array, turned, soft):
        assert (b.lower, b.upper) == pytest.approx((by_model.lower, by_model.upper), abs=0.01)
        assert b.lower_limit <= b.truth <= b.upper_limit
    draws = performance_bounds(
        y_pred, votes, p, classes=[0, 1], label_model_draws=[p, model], **options
    )
    assert draws.lower == pytest.approx(by_array.lower, abs=1e-9)


def test_a_prior_is_in_the_order_of_the_classes(data):
    _, y_pred, votes, _, p = data
    options = {"metric": "recall", "classes": [0, 1], "class_prior": [0.7, 0.3], "rng": 0}
    one = performance_bounds(y_pred, votes, p, **options)
    zero = performance_bounds(y_pred, votes, p, pos_label=0, **options)
    assert one.upper < 1
    assert zero.upper < 1
    assert zero.lower > 0.7


def test_a_metric_with_weights_has_the_positive_class_last(data):
    y, y_pred, votes, _, p = data
    costs = cost_matrix([[0, 1], [6, 0]])
    b = performance_bounds(
        y_pred, votes, p, metric=costs, classes=[0, 1], pos_label=0, y_true=y, rng=0
    )
    assert b.lower_limit <= costs.score(y, y_pred, pos_label=0) <= b.upper_limit


def test_robust_bounds_of_several_classes_contain_nearby_label_models(rng):
    k, z = 3, rng.integers(0, 4, 1200)
    votes = np.array([[0, 1], [1, 2], [2, 0], [0, 0]])[z]
    base = rng.dirichlet(np.full(k, 1.5), 4)
    y_pred = rng.integers(0, k, 1200)
    named = ("balanced_accuracy", "macro_f1", "g_mean", "micro_jaccard", "accuracy")
    means = [PowerMeanMetric([2, 1, 1], power) for power in (1.0, -1.0)]
    for metric in (*named, *means, PowerMeanMetric([2, 1, 1], 0.3, decreasing=True)):
        options = {"metric": metric, "method": "plugin", "classes": range(k)}
        wide = performance_bounds(y_pred, votes, base[z], robustness=0.15, **options)
        for _ in range(15):
            move = rng.dirichlet(np.ones(k), 4)
            near = 0.85 * base + 0.15 * move  # total variation at most .15
            b = performance_bounds(y_pred, votes, near[z], **options)
            assert wide.lower - 1e-9 <= b.lower <= b.upper <= wide.upper + 1e-9
    with pytest.raises(MetricError, match="MCC of more than two classes"):
        performance_bounds(
            y_pred, votes, base[z], metric="mcc", robustness=0.1, method="plugin", classes=range(k)
        )


def test_a_prior_that_could_not_be_used_is_refused(data):
    _, y_pred, votes, _, p = data
    base = {"metric": "recall", "classes": [0, 1], "class_prior": [0.7, 0.3], "rng": 0}
    for extra in ({"limit": "bernstein"}, {"robustness": 0.05}):
        with pytest.raises(DataError, match="class_prior cannot be used"):
            performance_bounds(y_pred, votes, p, **base, **extra)


def test_groups_do_not_take_the_prior_of_all_items(data):
    _, y_pred, votes, _, p = data
    groups = np.where(y_pred == 1, "called", "not")
    options = {"metric": "accuracy", "classes": [0, 1], "groups": groups}
    plain = performance_bounds(y_pred, votes, p, rng=0, **options)
    prior = performance_bounds(y_pred, votes, p, rng=0, class_prior=[0.7, 0.3], **options)
    for name in ("called", "not"):
        assert plain.groups[name].upper == pytest.approx(prior.groups[name].upper, abs=0.02)
    assert "within the group" in plain.groups["called"].summary()


def test_a_group_on_which_the_metric_is_undefined_says_so(data):
    _, y_pred, votes, _, p = data
    groups = np.where(np.arange(2000) < 2, "tiny", "rest")
    predicted = y_pred.copy()
    predicted[:2] = 0
    b = performance_bounds(
        predicted, votes, p, metric="precision", classes=[0, 1], groups=groups, rng=0
    )
    assert np.isnan(b.groups["tiny"].lower)
    assert "In group tiny, precision is undefined here" in b.groups["tiny"].summary()
    assert b.groups["rest"].lower > 0
    assert b.to_dict()["groups"]["tiny"]["lower"] is None


def test_verdicts_carry_the_failed_check(data):
    _, y_pred, votes, _, _ = data
    copied = np.column_stack([votes[:, 3:4]] * 3 + [votes])
    model = MajorityVote().fit(copied)
    other = votes[:, 3]
    d = difference_bounds(y_pred, other, copied, model, metric="accuracy", rng=0)
    assert d.summary().startswith("Do not rely on this")
    ranking = rank_models({"a": y_pred, "b": other}, copied, model, metric="accuracy", rng=0)
    assert not ranking.certain
    assert ranking.summary().startswith("Do not rely on this")
    score = y_pred + 0.0
    curve = bounds_curve(score, copied, model, metric="accuracy", thresholds=[0.5], rng=0)
    assert curve.summary().startswith("Do not rely on this")
    robust = robustness_curve(y_pred, copied, model, metric="accuracy", claim=0.2, rng=0)
    assert robust.summary().startswith("Do not rely on this")
    value = weak_label_value(y_pred, copied, model, metric="accuracy", rng=0)
    assert value.summary().startswith("Do not rely on this")


def test_summaries_without_labels_open_with_what_is_not_validated(data):
    _, y_pred, votes, _, _ = data
    robust = robustness_curve(y_pred, votes, metric="accuracy", rng=0)
    assert robust.check.status == "not validated"
    assert robust.summary().startswith("Not validated")
    value = weak_label_value(y_pred, votes, metric="accuracy", rng=0)
    assert value.summary().startswith("Not validated")


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
@pytest.mark.parametrize("labels", [0, 60])
def test_equal_predictions_differ_by_nothing(data, metric, labels):
    y, y_pred, votes, _, _ = data
    gold = np.where(np.arange(len(y)) < labels, y, -1) if labels else None
    d = difference_bounds(y_pred, y_pred, votes, metric=metric, y_true=gold, rng=0)
    ends = (d.lower, d.upper, d.lower_limit, d.upper_limit, d.bounds_limits.lower, d.lead)
    assert ends == (0,) * 6
    assert not d.decided
    assert "exactly 0" in d.summary()


@pytest.mark.parametrize("metric", ["accuracy", "f1", "g_mean", "jaccard"])
def test_differences_know_of_clusters(data, metric):
    _, y_pred, votes, _, p = data
    other = np.where(np.arange(2000) % 4 == 0, 1 - y_pred, y_pred)
    some = slice(0, 400)
    tens = [np.repeat(a[some], 10, axis=0) for a in (y_pred, other, votes, p)]
    options = {"metric": metric, "classes": [0, 1], "rng": 0}
    apart = difference_bounds(*tens, **options)
    together = difference_bounds(*tens, clusters=np.repeat(np.arange(400), 10), **options)
    ratio = (together.lower - together.lower_limit) / (apart.lower - apart.lower_limit)
    assert ratio == pytest.approx(np.sqrt(10), rel=0.25)


@pytest.mark.parametrize("metric", ["recall", "f1", "precision"])
def test_differences_are_antisymmetric(data, metric):
    _, y_pred, votes, _, p = data
    other = np.where(np.arange(2000) % 3 == 0, 1 - y_pred, y_pred)
    options = {"metric": metric, "classes": [0, 1], "method": "plugin"}
    for limit, off in (("normal", 1e-6), ("skew", 0.005)):  # the latter are drawn
        ab = difference_bounds(y_pred, other, votes, p, limit=limit, **options)
        ba = difference_bounds(other, y_pred, votes, p, limit=limit, **options)
        assert (ab.lower, ab.upper) == pytest.approx((-ba.upper, -ba.lower), abs=1e-9)
        assert (ab.lower_limit, ab.upper_limit) == pytest.approx(
            (-ba.upper_limit, -ba.lower_limit), abs=off
        )


@pytest.mark.slow
def test_standard_error_of_a_difference_is_that_of_the_bound(draw_law):
    """Simulation: the spread of the estimated bound over samples against the reported error."""
    law = draw_law(800, 2, seed=3, labelers=3)  # one law, from which items are drawn
    found, errors = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 800, 800)
        other = np.where(rng.random(800) < 0.3, 1 - law.y_pred[rows], law.y_pred[rows])
        d = difference_bounds(
            law.y_pred[rows], other, law.votes[rows], law.p[rows], metric="recall",
            classes=[0, 1], rng=0,
        )  # fmt: skip
        found.append((d.lower, d.upper))
        errors.append(((d.lower - d.lower_limit) / 1.645, (d.upper_limit - d.upper) / 1.645))
    spread, error = np.std(found, axis=0), np.mean(errors, axis=0)
    assert error / spread == pytest.approx([1, 1], rel=0.2)


def test_one_item_or_one_cluster_proves_nothing(data):
    y, y_pred, votes, _, p = data
    groups = np.where(np.arange(2000) == 7, "one", "rest")
    b = performance_bounds(
        y_pred, votes, p, metric="accuracy", classes=[0, 1], groups=groups, y_true=y, rng=0
    )
    one = b.groups["one"]
    assert (one.bounds_limits.lower, one.bounds_limits.upper, one.n) == (0.0, 1.0, 1)
    assert one.upper_limit - one.lower_limit == pytest.approx(0.975)  # one label, right or wrong
    assert "with 1 items the limits are rough" in one.summary()
    single = performance_bounds(
        y_pred, votes, p, metric="accuracy", classes=[0, 1], clusters=np.zeros(2000), rng=0
    )
    assert (single.lower_limit, single.upper_limit) == (0.0, 1.0)
    assert single.n == 2000


@pytest.mark.parametrize("metric", ["recall", "f1", "jaccard"])
def test_ratio_limits_are_continuous_in_the_robustness(data, metric):
    _, y_pred, votes, _, p = data
    options = {"metric": metric, "classes": [0, 1], "rng": 0}
    none = performance_bounds(y_pred, votes, p, **options)
    hair = performance_bounds(y_pred, votes, p, robustness=1e-9, **options)
    for name in ("lower", "upper", "lower_limit", "upper_limit"):
        assert getattr(hair, name) == pytest.approx(getattr(none, name), abs=0.002)


def test_smoothed_expectations_have_no_robustness(data):
    _, _, votes, _, p = data
    with pytest.raises(OptionError, match=r"robustness is 0\.1; expected 0 with method='smoothed'"):
        expectation_bounds(p, votes, p, classes=[0, 1], method="smoothed", robustness=0.1)


def test_epsilon_is_refused_where_it_would_be_ignored(data):
    _, _, votes, _, p = data
    with pytest.raises(OptionError, match=r"epsilon is 0\.1; expected None with method='exact'"):
        expectation_bounds(p, votes, p, classes=[0, 1], epsilon=0.1)
    with pytest.raises(OptionError, match="epsilon is 0; expected a number of at least"):
        expectation_bounds(p, votes, p, classes=[0, 1], method="smoothed", epsilon=0)


def test_deltas_are_total_variations(data):
    _, y_pred, votes, _, p = data
    with pytest.raises(OptionError, match=r"deltas is 2\.0; expected a number of at least 0"):
        robustness_curve(y_pred, votes, p, metric="accuracy", classes=[0, 1], deltas=[0, 2])


def test_a_class_of_probability_zero_is_no_class():
    rng = np.random.default_rng(0)
    y = rng.integers(1, 3, 500)
    votes = np.where(rng.random((500, 4)) < 0.8, y[:, None], 3 - y[:, None])
    with pytest.raises(ProbabilityError, match=r"\[0\] could never be true"):
        DawidSkene(rng=0).fit(votes, classes=[0, 1, 2], class_prior=[0, 0.5, 0.5])
    p = np.column_stack([np.zeros(500), y == 1, y == 2]).astype(float)
    votes[:, 0] = y
    with pytest.raises(MetricError, match="undefined here"):
        performance_bounds(y, votes, p, metric="balanced_accuracy", classes=[0, 1, 2], rng=0)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (DawidSkene(), NotFittedError, r"DawidSkene is not fitted; call fit\("),
        (DawidSkene, DataError, "is the class DawidSkene"),
        ("text", ColumnError, "label_model is the text"),
    ],
)
def test_what_is_no_label_model(data, model, error, message):
    _, y_pred, votes, _, _ = data
    with pytest.raises(error, match=message):
        performance_bounds(y_pred, votes, model, metric="accuracy", classes=[0, 1])


def test_labels_that_only_look_alike(data):
    _, y_pred, votes, model, p = data
    texts = DawidSkene(rng=0).fit(votes.astype(str))
    with pytest.raises(LabelError, match="knows the classes"):
        performance_bounds(y_pred, votes, texts, metric="accuracy", classes=[0, 1])
    with pytest.raises(DataError, match="pass a list of several draws"):
        performance_bounds(
            y_pred, votes, p, metric="accuracy", classes=[0, 1], label_model_draws=model
        )


def test_only_ratios_of_weights_matter(data):
    _, y_pred, votes, _, p = data
    w = np.random.default_rng(1).random(2000) + 0.5
    results = [
        performance_bounds(
            y_pred, votes, p, metric="f1", classes=[0, 1], sample_weight=scale * w, rng=0
        )
        for scale in (1.0, 1e-3, 50.0)
    ]
    assert len({(round(b.lower, 9), round(b.lower_limit, 9), b.n) for b in results}) == 1
    assert results[0].n == 2000


def test_minus_one_is_an_unknown_truth(data):
    y, y_pred, votes, _, p = data
    few = np.where(np.arange(2000) < 40, y, -1)
    b = performance_bounds(y_pred, votes, p, metric="f1", classes=[0, 1], y_true=few, rng=0)
    assert b.truth is None
    assert b.check.gold_n == 40


def test_tiny_differences_stay_in_range(data):
    _, y_pred, votes, _, p = data
    for n in (2, 5):
        d = difference_bounds(
            y_pred[:n], 1 - y_pred[:n], votes[:n], p[:n], metric="accuracy", classes=[0, 1], rng=0
        )
        assert -1 <= d.lower_limit <= d.lower <= d.upper <= d.upper_limit <= 1


def test_summaries_do_not_mislead(data):
    _, y_pred, votes, _, p = data
    options = {"metric": "accuracy", "classes": [0, 1], "rng": 0}
    never = robustness_curve(y_pred, votes, p, claim=0.99, **options)
    assert "is not shown, even if the label model is right" in never.summary()
    wide = performance_bounds(y_pred, votes, p, robustness=0.1, **options)
    assert wide.width_limit is None


@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
def test_infinite_limits_are_null_in_json(data):
    import json

    _, y_pred, votes, _, p = data
    odd = LinearFractionalMetric([[-1, 2], [3, -4]], [[1, 1], [1, 1]])
    b = performance_bounds(
        y_pred[:6], votes[:6], p[:6], metric=odd, limit="bernstein", classes=[0, 1], rng=0
    )
    assert np.isinf([b.lower_limit, b.upper_limit]).any()
    shown = json.loads(json.dumps(b.to_dict(), allow_nan=False))
    for name in ("lower_limit", "upper_limit"):
        assert (shown[name] is None) == np.isinf(getattr(b, name))
