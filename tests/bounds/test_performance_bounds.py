import numpy as np
import pandas as pd
import pytest

from karat.bounds import difference_bounds, performance_bounds
from karat.exceptions import (
    DataError,
    KaratWarning,
    LabelError,
    LengthMismatchError,
    MetricError,
    OptionError,
    ProbabilityError,
    ShapeError,
)
from karat.metrics import (
    LinearFractionalMetric,
    LinearMetric,
    PowerMeanMetric,
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    cost_matrix,
    f1,
    f_beta,
    g_mean,
    jaccard,
    macro,
    mcc,
    micro,
    precision,
    recall,
)
from karat.weak import DawidSkene, MajorityVote, OracleLabelModel

BINARY = {
    "accuracy": accuracy, "balanced": balanced_accuracy, "mcc": mcc, "g_mean": g_mean,
    "kappa": cohen_kappa, "precision": precision, "recall": recall, "jaccard": jaccard, "f1": f1,
    "f0.5": f_beta(0.5), "costs": cost_matrix([[0, 1], [6, 0]]), "macro f1": macro(f_beta(1)),
    "mean": PowerMeanMetric([2, 1], 0.5), "worst": PowerMeanMetric([1, 2], -3, decreasing=True),
    "any": LinearFractionalMetric([[1, 2], [0, 3]], [[2, 1], [1, 4]], 0.5),
}  # fmt: skip


@pytest.fixture
def small():
    """Few patterns and many items in each: the plug-in is the population."""
    rng = np.random.default_rng(5)
    p = np.array([[0.9, 0.1], [0.45, 0.55], [0.2, 0.8], [0.6, 0.4]])
    votes = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    z = rng.integers(0, 4, 4000)
    y_pred = (rng.random(4000) < [0.15, 0.5, 0.7, 0.3][0] + 0.15 * z).astype(int)
    return y_pred, votes[z], p[z], z


def attainable(y_pred, z, p):
    """All binary confusions: TP runs over its interval, the margins are fixed."""
    called = np.array([(y_pred[z == c]).mean() for c in range(4)])
    share = np.array([p[z == c][0, 1] for c in range(4)])
    weight = np.bincount(z) / len(z)
    low = weight @ np.maximum(called + share - 1, 0)
    high = weight @ np.minimum(called, share)
    t, c = weight @ share, weight @ called
    tps = np.linspace(low, high, 20_001)
    return np.moveaxis(np.array([[1 - t - c + tps, c - tps], [t - tps, tps]]), -1, 0)


@pytest.mark.parametrize("name", BINARY)
def test_plug_in_equals_brute_force_over_tp(small, name):
    y_pred, votes, p, z = small
    b = performance_bounds(y_pred, votes, p, metric=BINARY[name], method="plugin", classes=[0, 1])
    values = BINARY[name](attainable(y_pred, z, p))
    assert b.lower == pytest.approx(values.min(), abs=1e-6)
    assert b.upper == pytest.approx(values.max(), abs=1e-6)
    assert b.sharp


@pytest.mark.parametrize("name", ["accuracy", "costs", "f1", "precision", "any"])
def test_the_two_routes_to_a_ratio_agree(small, name):
    """The binary route and the inversion used for Bernstein's limit give the same bounds."""
    y_pred, votes, p, _ = small
    options = {"metric": BINARY[name], "method": "plugin", "classes": [0, 1]}
    normal = performance_bounds(y_pred, votes, p, **options)
    other = performance_bounds(y_pred, votes, p, limit="bernstein", **options)
    assert other.lower == pytest.approx(normal.lower, abs=1e-8)
    assert other.upper == pytest.approx(normal.upper, abs=1e-8)
    assert other.lower_limit < normal.lower_limit < normal.upper_limit < other.upper_limit


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("kind", ["micro jaccard", "micro f2", "any"])
def test_ratios_of_several_classes_equal_a_linear_program(solve_ratio, rng, k, kind):
    metric = {
        "micro jaccard": micro(jaccard),
        "micro f2": micro(f_beta(2)),
        "any": LinearFractionalMetric(rng.random((k, k)), 0.2 + rng.random((k, k)), 0.3),
    }[kind]
    z = rng.integers(0, 3, 600)
    votes = np.array([[0, 1], [1, 2], [2, 0]])[z]
    p = rng.dirichlet(np.ones(k), 3)
    y_pred = rng.integers(0, k, 600)
    b = performance_bounds(y_pred, votes, p[z], metric=metric, method="plugin", classes=range(k))
    joint = np.zeros((3, k))
    np.add.at(joint, (z, y_pred), 1 / 600)
    ratio = metric.for_classes(k)
    for side, found in ((-1, b.lower), (1, b.upper)):
        expected = solve_ratio(ratio.numerator, ratio.denominator, ratio.constant, joint, p, side)
        assert found == pytest.approx(expected, abs=1e-7)
    assert b.gap <= 1e-9
    assert b.iterations < 20


def test_linear_metrics_of_several_classes_equal_a_linear_program(solve_program, rng):
    k = 4
    z = rng.integers(0, 3, 900)
    votes = np.array([[0, 1], [1, 2], [2, 3]])[z]
    p = rng.dirichlet(np.ones(k), 3)
    y_pred = rng.integers(0, k, 900)
    metric = LinearMetric(rng.normal(size=(k, k)))
    b = performance_bounds(y_pred, votes, p[z], metric=metric, method="plugin", classes=range(k))
    q = np.array([np.bincount(y_pred[z == c], minlength=k) / (z == c).sum() for c in range(3)])
    weight = np.bincount(z) / 900
    upper = sum(
        w * solve_program(metric.weights, a, c) for w, a, c in zip(weight, p, q, strict=True)
    )
    lower = -sum(
        w * solve_program(-metric.weights, a, c) for w, a, c in zip(weight, p, q, strict=True)
    )
    assert (b.lower, b.upper) == pytest.approx((lower, upper), abs=1e-8)


MEANS = [PowerMeanMetric([3, 1, 0.5], power) for power in (1.0, 0.4, 0.0, -2.0)]
MEANS += [PowerMeanMetric([3, 1, 0], 1.0), PowerMeanMetric([3, 1, 0], 0.5, decreasing=True)]


@pytest.mark.parametrize(
    "metric",
    ["balanced_accuracy", "mcc", "cohen_kappa", "g_mean", "macro_f1", "micro_f1", *MEANS],
    ids=lambda m: m if isinstance(m, str) else f"{m.title} {m.power:g}",
)
def test_metrics_of_several_classes_contain_every_law(rng, metric):
    """Random couplings with the right margins stay inside; sharp ones are nearly reached."""
    k, z = 3, rng.integers(0, 4, 2000)
    votes = np.array([[0, 1], [1, 2], [2, 0], [0, 0]])[z]
    p = rng.dirichlet(np.full(k, 0.7), 4)
    y_pred = rng.integers(0, k, 2000)
    b = performance_bounds(y_pred, votes, p[z], metric=metric, method="plugin", classes=range(k))
    q = np.array([np.bincount(y_pred[z == c], minlength=k) / (z == c).sum() for c in range(4)])
    for _ in range(300):
        table = np.zeros((k, k))
        for c in range(4):
            table += (z == c).mean() * _random_coupling(p[c], q[c], rng)
        assert b.lower - 1e-9 <= b.metric(table) <= b.upper + 1e-9
    power = getattr(metric, "power", None if metric in ("g_mean", "macro_f1") else 1.0)
    assert b.sharp == (power == 1.0)


def _random_coupling(p, q, rng):
    """Fill a table greedily in a random order of cells: a vertex of the transport polytope."""
    left, right = p.copy(), q.copy()
    table = np.zeros((len(p), len(q)))
    for cell in rng.permutation(len(p) * len(q)):
        i, j = divmod(int(cell), len(q))
        amount = min(left[i], right[j])
        table[i, j] = amount
        left[i] -= amount
        right[j] -= amount
    return table


def test_cross_fitting_covers_where_the_plug_in_does_not(draw_law):
    law = draw_law(2000, 5, seed=3)
    options = {"metric": "accuracy", "classes": range(5), "y_true": law.y}
    b = performance_bounds(law.y_pred, law.votes, law.p, rng=0, **options)
    assert b.lower_limit <= b.truth <= b.upper_limit
    lower, upper = law.sharp_accuracy()
    assert b.lower == pytest.approx(lower, abs=0.04)
    assert b.upper == pytest.approx(upper, abs=0.03)
    with pytest.warns(KaratWarning, match="patterns seen fewer than 10 times"):
        plug = performance_bounds(law.y_pred, law.votes, law.p, method="plugin", **options)
    assert plug.width < 0.7 * b.width
    assert "too narrow" in plug.summary()


def test_elicited_metrics_binary_and_four_classes(draw_law):
    for k in (2, 4):
        law = draw_law(3000, k, seed=1)
        costs = np.full((k, k), 1.0) - np.eye(k)
        costs[1, 0] = 6.0
        for metric in (cost_matrix(costs), f_beta(0.5) if k == 2 else macro(f_beta(0.5))):
            b = performance_bounds(
                law.y_pred, law.votes, law.p, metric=metric, classes=range(k), y_true=law.y, rng=0
            )
            assert b.lower_limit <= b.truth <= b.upper_limit
            assert b.metric == metric


def test_summary_plot_fields_and_robustness(draw_law):
    law = draw_law(1500, 2, seed=2)
    run = lambda **o: performance_bounds(  # noqa: E731
        law.y_pred, law.votes, law.p, metric="accuracy", classes=[0, 1], rng=1, **o
    )
    b = run()
    assert b.summary().startswith("Not validated: no true label has tested")
    assert b.width <= b.width_limit
    assert b.lower <= b.label_model_estimate <= b.upper
    wide = run(robustness=0.1)
    assert wide.lower < b.lower
    assert wide.upper > b.upper
    assert "is right to within 0.1 in total variation" in wide.summary()
    everything = run(robustness=1.0)
    assert (everything.lower, everything.upper) == (0.0, 1.0)
    strict = run(confidence=0.999)
    assert strict.lower_limit < b.lower_limit


def test_robust_bounds_contain_every_nearby_label_model(small, rng):
    y_pred, votes, p, z = small
    base = p[[np.flatnonzero(z == c)[0] for c in range(4)]]
    for metric in ("accuracy", "f1", "precision", "mcc"):
        options = {"metric": metric, "method": "plugin", "classes": [0, 1]}
        wide = performance_bounds(y_pred, votes, p, robustness=0.08, **options)
        for _ in range(25):
            near = np.clip(base[:, 1] + rng.uniform(-0.08, 0.08, 4), 0, 1)
            q = np.column_stack([1 - near, near])[z]
            b = performance_bounds(y_pred, votes, q, **options)
            assert wide.lower - 1e-9 <= b.lower <= b.upper <= wide.upper + 1e-9


def test_groups_weights_clusters_and_soft_predictions(draw_law):
    law = draw_law(2000, 2, seed=4)
    base = {"metric": "f1", "classes": [0, 1], "rng": 0}
    groups = np.where(np.arange(2000) % 3 == 0, "a", "b")
    b = performance_bounds(law.y_pred, law.votes, law.p, groups=groups, y_true=law.y, **base)
    assert set(b.groups) == {"a", "b"}
    for name, part in b.groups.items():
        assert part.n == (groups == name).sum()
        assert part.lower_limit <= part.truth <= part.upper_limit
    plain = performance_bounds(law.y_pred, law.votes, law.p, **base)
    ones = performance_bounds(law.y_pred, law.votes, law.p, sample_weight=np.ones(2000), **base)
    assert (ones.lower, ones.upper) == pytest.approx((plain.lower, plain.upper), abs=0.01)
    doubled = performance_bounds(
        np.repeat(law.y_pred, 2), np.repeat(law.votes, 2, axis=0), np.repeat(law.p, 2, axis=0),
        clusters=np.repeat(np.arange(2000), 2), **base,
    )  # fmt: skip
    assert doubled.lower - doubled.lower_limit == pytest.approx(
        plain.lower - plain.lower_limit, rel=0.1
    )
    soft = performance_bounds(np.eye(2)[law.y_pred], law.votes, law.p, **base)
    assert (soft.lower, soft.upper) == pytest.approx((plain.lower, plain.upper), abs=0.01)


def test_draws_of_the_label_model_widen_the_limits(draw_law):
    law = draw_law(2000, 2, seed=5)
    rng = np.random.default_rng(0)
    sharpness = np.exp(rng.normal(scale=0.5, size=40))
    logit = np.log(law.p[:, 1] / law.p[:, 0])
    draws = [1 / (1 + np.exp(-s * logit)) for s in sharpness]
    draws = np.stack([np.column_stack([1 - d, d]) for d in draws])
    options = {"metric": "accuracy", "classes": [0, 1], "rng": 0}
    plain = performance_bounds(law.y_pred, law.votes, law.p, **options)
    spread = performance_bounds(law.y_pred, law.votes, law.p, label_model_draws=draws, **options)
    assert spread.lower_limit < plain.lower_limit
    assert spread.upper_limit > plain.upper_limit
    same = performance_bounds(
        law.y_pred, law.votes, law.p, label_model_draws=[law.p] * 3, **options
    )
    assert same.lower_limit == pytest.approx(plain.lower_limit, abs=1e-9)


def test_label_models_frames_and_strings(draw_law):
    law = draw_law(1500, 2, seed=6)
    names = np.array(["ham", "spam"])
    votes = pd.DataFrame(np.where(law.votes < 0, None, names[law.votes]))
    models = [
        DawidSkene(rng=0).fit(votes),
        OracleLabelModel().fit(votes, names[law.y]),
        MajorityVote().fit(votes),
    ]
    for model in models:
        b = performance_bounds(names[law.y_pred], votes, model, metric="f1", rng=0)
        ham = performance_bounds(
            names[law.y_pred], votes, model, metric="f1", pos_label="ham", rng=0
        )
        assert b.upper != ham.upper
    b = performance_bounds(names[law.y_pred], votes, law.p, metric="accuracy", rng=0)
    assert b.lower_limit <= 0.8 <= b.upper_limit


def test_a_foreign_label_model_is_called_on_patterns_only(draw_law):
    law = draw_law(1000, 2, seed=7)
    own = DawidSkene(rng=0).fit(law.votes)

    class Foreign:
        classes_ = np.array([0, 1])
        rows = 0

        def predict_proba(self, votes):
            Foreign.rows = len(votes)
            return own.predict_proba(votes)

    b = performance_bounds(law.y_pred, law.votes, Foreign(), metric="accuracy", rng=0)
    mine = performance_bounds(law.y_pred, law.votes, own, metric="accuracy", rng=0)
    assert Foreign.rows < 1000
    assert (b.lower, b.upper) == pytest.approx((mine.lower, mine.upper))


def test_class_prior_replaces_the_mean_of_the_label_model(small):
    y_pred, votes, p, _ = small
    options = {"metric": "recall", "method": "plugin", "classes": [0, 1]}
    plain = performance_bounds(y_pred, votes, p, **options)
    rare = performance_bounds(y_pred, votes, p, class_prior=[0.4, 0.6], **options)
    assert rare.upper != plain.upper


VOTES = [[0, 1], [1, 1], [0, -1], [1, 0]] * 5
PREDICTED = [0, 1, 0, 1] * 5
P = [[0.7, 0.3], [0.1, 0.9], [0.8, 0.2], [0.4, 0.6]] * 5


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"label_model": [[0.7, 0.4]] * 20}, ProbabilityError, "row 0 sums to 1.1"),
        ({"label_model": [[0.7, 0.3]] * 19 + [[0.5, 0.5]]}, ProbabilityError, "same weak labels"),
        ({"label_model": P[:19]}, LengthMismatchError, "label_model has 19 rows"),
        ({"label_model": [[0.2, 0.3, 0.5]] * 20}, ShapeError, "3 columns and there are 2 classes"),
        ({"y_pred": PREDICTED[:19]}, LengthMismatchError, "y_pred has 19 rows"),
        ({"y_pred": [0, 1, 2, 1] * 5}, LabelError, "row 2 holds 2"),
        ({"weak_labels": [[0, 1], [1, 1], [0, -1], [1, 7]] * 5}, LabelError, "holds 7"),
        ({"weak_labels": [[-1, -1]] * 20, "classes": None}, LabelError, "every vote"),
        ({"metric": "nice"}, OptionError, "metric is .nice.; expected a metric of karat.metrics"),
        ({"metric": LinearMetric(np.eye(3))}, MetricError, "is for 3 classes"),
        ({"method": "magic"}, OptionError, "method is 'magic'; expected 'crossfit' or 'plugin'"),
        ({"limit": "t"}, OptionError, "limit is 't'"),
        ({"confidence": 95}, OptionError, "confidence is 95"),
        ({"robustness": -1}, OptionError, "robustness is -1"),
        ({"y_pred": [0] * 20, "metric": "precision"}, DataError, "precision is undefined here"),
        ({"y_true": [None] * 20}, DataError, "missing in every row"),
        ({"y_true": [0] * 19}, LengthMismatchError, "y_true has 19 rows"),
        ({"pos_label": "x"}, OptionError, "pos_label is 'x'; expected "),
        ({"class_prior": [0.5, 0.6]}, ProbabilityError, "sums to 1.1"),
        ({"groups": [0] * 3}, LengthMismatchError, "groups has 3 rows"),
        ({"clusters": [0] * 3}, LengthMismatchError, "clusters has 3 rows"),
        ({"clusters": [None] + [0] * 19}, LabelError, "^clusters row 0 is missing"),
        ({"clusters": [0.5] * 20}, LabelError, "^clusters row 0 holds 0.5"),
        (
            {"limit": "bernstein", "sample_weight": [1.0] * 20},
            OptionError,
            "expected 'skew' or 'normal' with",
        ),
        (
            {"limit": "bernstein", "metric": "mcc"},
            OptionError,
            "expected 'skew' or 'normal', because MCC",
        ),
        ({"rng": "seed"}, OptionError, "rng is 'seed'"),
    ],
    ids=lambda v: "-".join(v) if isinstance(v, dict) else None,
)
def test_bad_input(changes, error, message):
    good = {"y_pred": PREDICTED, "weak_labels": VOTES, "label_model": P, "metric": "accuracy"}
    with pytest.raises(error, match=message):
        performance_bounds(**(good | {"classes": [0, 1]} | changes))


def test_a_label_model_that_never_saw_a_class():
    model = DawidSkene(rng=0).fit([[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]] * 5)
    with pytest.raises(LabelError, match="holds 2"):
        performance_bounds([0, 1, 2] * 4, [[0, 1, 0]] * 12, model, metric="accuracy")
    with pytest.raises(LabelError, match="knows the classes"):
        performance_bounds([0, 1] * 4, [[0, 1, 0]] * 8, model, metric="accuracy", classes=[0, 1, 2])


def test_a_failed_check_is_said_first(draw_law):
    law = draw_law(3000, 2, seed=8)
    copied = np.column_stack([law.votes, law.votes[:, :1], law.votes[:, :1]])
    model = MajorityVote().fit(copied)
    b = performance_bounds(law.y_pred, copied, model, metric="accuracy", rng=0)
    assert b.check.contradicted
    assert b.summary().startswith("Do not rely on this:")


def test_difference_needs_labels(small):
    y_pred, votes, p, _ = small
    with pytest.raises(DataError, match="pass labels"):
        difference_bounds(np.eye(2)[y_pred], y_pred, votes, p, metric="accuracy", classes=[0, 1])
