"""A metric of labelled items with its limits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, gamma

from karat.exceptions import (
    DataError,
    KaratError,
    MetricError,
    OptionError,
    SmallSampleWarning,
    UndefinedMetricWarning,
)
from karat.metrics import (
    FairMetric,
    LinearFractionalMetric,
    accuracy,
    as_metric,
    balanced_accuracy,
    cohen_kappa,
    cost_matrix,
    f_beta,
    g_mean,
    jaccard,
    macro,
    mcc,
    precision,
    recall,
    specificity,
)
from karat.metrics.estimates import as_proportion, table_ends, table_values
from karat.statistics import confusion

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 80)
CALLED = np.where(RNG.random(80) < 0.8, TRUTH, 1 - TRUTH)


def exact(x, n, delta=0.025):
    low = beta.ppf(delta, x, n - x + 1) if x else 0.0
    return low, (beta.ppf(1 - delta, x + 1, n - x) if x < n else 1.0)


def cells():
    tp = int((TRUTH & CALLED).sum())
    return tp, int(CALLED.sum()) - tp, int(TRUTH.sum()) - tp


def test_proportions_have_the_limits_of_clopper_and_pearson():
    tp, fp, fn = cells()
    wanted = {
        accuracy: exact((TRUTH == CALLED).sum(), 80),
        recall: exact(tp, tp + fn),
        precision: exact(tp, tp + fp),
        jaccard: exact(tp, tp + fp + fn),
        f_beta(1): tuple(2 * j / (1 + j) for j in exact(tp, tp + fp + fn)),
    }
    for metric, limits in wanted.items():
        found = metric.estimate(TRUTH, CALLED)
        assert (found.lower, found.upper) == pytest.approx(limits)
        assert found.value == pytest.approx(metric.score(TRUTH, CALLED))
        assert (found.method, found.guarantee, found.n) == ("clopper-pearson", "exact", 80)


def test_specificity_is_the_recall_of_the_other_class():
    found, other = specificity.estimate(TRUTH, CALLED), recall.estimate(1 - TRUTH, 1 - CALLED)
    assert (found.value, found.lower, found.upper) == (other.value, other.lower, other.upper)
    assert (found.method, found.basis) == ("clopper-pearson", "guaranteed")


def test_costs_of_two_values_are_a_proportion_and_others_are_not():
    assert as_proportion(cost_matrix([[0, 3], [3, 0]])) is not None
    assert as_proportion(cost_matrix([[0, 1], [5, 0]])) is None
    assert as_proportion(f_beta(2)) is None
    found = cost_matrix([[0, 3], [3, 0]]).estimate(TRUTH, CALLED)
    right = accuracy.estimate(TRUTH, CALLED)
    assert (found.lower, found.upper) == pytest.approx((3 * right.lower - 3, 3 * right.upper - 3))


@pytest.mark.parametrize("positive", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("n", [30, 100])
def test_f1_covers_for_every_law_by_enumeration(n, positive):
    """All outcomes with their probabilities: no draw is involved."""
    tp, fn, fp = 0.7 * positive, 0.3 * positive, 0.1 * (1 - positive)
    counted, j = tp + fn + fp, tp / (tp + fn + fp)
    truth, covered = 2 * j / (1 + j), 0.0
    for m in range(n + 1):
        x = np.arange(m + 1)
        ends = np.array([exact(i, m) if m else (0.0, 1.0) for i in x])
        inside = (2 * ends[:, 0] / (1 + ends[:, 0]) <= truth) & (
            truth <= 2 * ends[:, 1] / (1 + ends[:, 1])
        )
        covered += binom.pmf(m, n, counted) * binom.pmf(x, m, j)[inside].sum()
    assert covered >= 0.95


def test_a_single_true_positive_is_not_certainty():
    found = f_beta(1).estimate([1, 0, 0], [1, 0, 0])
    assert found.value == 1
    assert found.lower < 0.06


def textbook_mcc(tn, fp, fn, tp):
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def textbook_kappa(tn, fp, fn, tp):
    chance = (tn + fp) * (tn + fn) + (fn + tp) * (fp + tp)
    return (tn + tp - chance) / (1 - chance)


@pytest.mark.parametrize(
    ("metric", "formula"),
    [(mcc, textbook_mcc), (cohen_kappa, textbook_kappa)],
    ids=["mcc", "kappa"],
)
def test_pseudo_count_limits_beside_an_independent_computation(metric, formula):
    """By textbook formulas, quantiles over 40,000 draws of another generator."""
    counts = np.array([[30, 6], [4, 10]])
    truth, called = np.repeat([0, 0, 1, 1], counts.ravel()), np.repeat([0, 1, 0, 1], counts.ravel())
    found = metric.estimate(truth, called, rng=0)
    rng = np.random.default_rng(9)
    gamma = rng.gamma(counts.ravel(), size=(40_000, 4))
    extra = rng.gamma(0.5, size=40_000)
    low, high = 1.0, -1.0
    for cell in range(4):
        weights = gamma + extra[:, None] * np.eye(4)[cell]
        value = formula(*(weights / weights.sum(axis=1, keepdims=True)).T)
        low, high = min(low, np.quantile(value, 0.025)), max(high, np.quantile(value, 0.975))
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=0.02)
    assert metric.value_range == (-1.0, 1.0)


COUNTED = [accuracy, recall, mcc, cohen_kappa, f_beta(1), macro(f_beta(1))]


@pytest.mark.parametrize("metric", COUNTED, ids=lambda m: m.title)
@pytest.mark.parametrize("by", [None, np.repeat(["x", "y"], 40)], ids=["all", "groups"])
def test_a_confusion_has_the_estimate_of_its_rows(metric, by):
    rows = metric.estimate(TRUTH, CALLED, groups=by, rng=0)
    assert metric.estimate(confusion(TRUTH, CALLED, groups=by), rng=0) == rows


def test_a_confusion_is_read_in_the_order_of_the_metric():
    names = np.array(["ill", "healthy"])  # sorted, the positive class stands first
    table = confusion(names[TRUTH], names[CALLED])
    for said in ({"pos_label": "healthy"}, {"classes": ["ill", "healthy"]}):
        assert precision.estimate(table, **said) == precision.estimate(
            names[TRUTH], names[CALLED], **said
        )
    named = precision.with_classes(["ill", "healthy"])
    assert named.estimate(table) == named.estimate(names[TRUTH], names[CALLED])


def test_what_is_said_of_rows_does_not_go_with_a_confusion():
    table = confusion(TRUTH, CALLED)
    for name in ("y_pred", "groups", "clusters", "sample_weight"):
        with pytest.raises(DataError, match=f"{name} does not go with a confusion"):
            accuracy.estimate(table, **{name: CALLED})
    with pytest.raises(DataError, match="sums of weights; expected whole numbers"):
        accuracy.estimate(confusion(TRUTH, CALLED, np.full(80, 0.3)))
    with pytest.raises(DataError, match="y_pred is missing"):
        accuracy.estimate(TRUTH)
    with pytest.raises(MetricError, match="compares groups; pass groups="):
        FairMetric([1, 1], [[1, 1]], 0.5).estimate(table)


def test_a_metric_of_groups_takes_a_confusion_with_groups():
    metric, groups = FairMetric([1, 1], [[1, 1]], 0.5), np.repeat(["x", "y"], 40)
    rows = metric.estimate(TRUTH, CALLED, groups=groups, rng=0)
    assert metric.estimate(confusion(TRUTH, CALLED, groups=groups), rng=0) == rows


def test_the_number_is_the_result():
    found = accuracy.estimate(TRUTH, CALLED)
    assert float(found) == found.value == found.estimate.value
    assert found.basis == "guaranteed"
    assert list(found.to_dict())[:5] == ["value", "lower", "upper", "confidence", "basis"]
    assert found.to_frame().columns[:4] == ["metric", "value", "lower", "upper"]
    nothing = recall.estimate([0] * 30, [0] * 30, classes=[0, 1])
    with pytest.raises(DataError, match=r"there is no value .*, only limits from 0 to 1; read"):
        float(nothing)
    assert nothing.gaps == ()
    (gap,) = accuracy.estimate(TRUTH, CALLED, groups=np.arange(80) % 2).gaps
    assert gap.basis == "likely"


def test_an_undefined_metric_may_be_anything():
    found = recall.estimate([0] * 30, [0] * 29 + [1], classes=[0, 1])
    assert np.isnan(found.value)
    assert (found.lower, found.upper) == (0, 1)
    found = mcc.estimate([0] * 30, [0] * 29 + [1], classes=[0, 1], rng=0)
    assert (found.lower, found.upper) == (-1, 1)
    values = table_values(mcc, np.array([[[0.5, 0.0], [0.5, 0.0]], [[0.5, 0.1], [0.1, 0.3]]]))
    assert np.isnan(values[0])
    assert np.isfinite(values[1])


def test_groups_keep_their_names_and_gaps_hold_together():
    groups = np.repeat([2.0, 7.0, 9.0], [20, 30, 30])
    found = accuracy.estimate(TRUTH, CALLED, groups=groups)
    assert list(found.groups) == [2, 7, 9]
    part = accuracy.estimate(TRUTH[:20], CALLED[:20])
    assert found.groups[2].lower == part.lower
    assert [(g.first, g.second) for g in found.gaps] == [(2, 7), (2, 9), (7, 9)]
    alone = accuracy.estimate(TRUTH[:50], CALLED[:50], groups=groups[:50])
    assert found.gaps[0].upper - found.gaps[0].lower > alone.gaps[0].upper - alone.gaps[0].lower
    named = accuracy.estimate(TRUTH, CALLED, groups=np.where(groups > 2, "new", "old"))
    assert list(named.groups) == ["new", "old"]


def test_a_metric_of_groups():
    fair = FairMetric([1, 2], [[1, 1]], 0.5)
    groups = np.arange(80) % 2
    found = fair.estimate(TRUTH, CALLED, groups=groups, rng=0)
    assert found.lower < found.value < found.upper <= 0
    assert found.value == pytest.approx(fair.score(TRUTH, CALLED, groups=groups))
    with pytest.raises(KaratError, match="pass groups="):
        fair.estimate(TRUTH, CALLED)


def test_clusters_of_one_item_are_items_and_copies_add_nothing():
    alone = mcc.estimate(TRUTH, CALLED, rng=0)
    same = mcc.estimate(TRUTH, CALLED, clusters=np.arange(80), rng=0)
    assert (same.lower, same.upper) == pytest.approx((alone.lower, alone.upper), abs=0.03)
    copied = mcc.estimate(
        np.repeat(TRUTH, 5), np.repeat(CALLED, 5), clusters=np.repeat(np.arange(80), 5), rng=0
    )
    assert (copied.lower, copied.upper) == pytest.approx((alone.lower, alone.upper), abs=0.03)
    assert copied.n_effective == 80


def test_equal_weights_are_none_and_unequal_ones_count_less():
    plain = recall.estimate(TRUTH, CALLED)
    same = recall.estimate(TRUTH, CALLED, sample_weight=np.full(80, 3.0))
    assert (same.lower, same.upper) == pytest.approx((plain.lower, plain.upper))
    assert same.guarantee == "approximate"
    less = recall.estimate(TRUTH, CALLED, sample_weight=1 + 9 * (np.arange(80) % 4 == 0))
    assert less.n_effective < 80
    assert less.width > plain.width


@pytest.mark.parametrize("weights", [(0.02, 1.98), (1, 1000), (5, 0.3)])
def test_weights_of_classes_leave_recall_as_it_is(weights):
    """And a proportion across classes is that of the unweighted odds, scaled."""
    weight = np.array(weights)[TRUTH]
    plain = recall.estimate(TRUTH, CALLED)
    found = recall.estimate(TRUTH, CALLED, sample_weight=weight)
    assert (found.value, found.lower, found.upper) == (plain.value, plain.lower, plain.upper)
    assert found.n_effective == 80
    called = precision.estimate(TRUTH, CALLED, sample_weight=weight)
    ratio = weights[1] / weights[0]
    tp, fp, _ = cells()
    odds = [ratio * p / (ratio * p + 1 - p) for p in (tp / (tp + fp), *exact(tp, tp + fp))]
    assert (called.value, called.lower, called.upper) == pytest.approx(odds)
    for metric in (balanced_accuracy, g_mean):  # of recalls alone
        first = metric.estimate(TRUTH, CALLED, rng=0)
        second = metric.estimate(TRUTH, CALLED, sample_weight=weight, rng=0)
        assert (first.lower, first.upper) == pytest.approx((second.lower, second.upper))


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-200, 1e200), st.integers(0, 2**31))
def test_weights_on_another_scale_are_the_same(scale, seed):
    weight = np.exp(np.random.default_rng(seed).normal(size=80))
    for metric in (accuracy, recall, f_beta(1), mcc):
        one, other = (
            metric.estimate(TRUTH, CALLED, sample_weight=w, rng=0) for w in (weight, scale * weight)
        )
        assert (one.value, one.lower, one.upper) == pytest.approx(
            (other.value, other.lower, other.upper)
        )
        assert one.n_effective == pytest.approx(other.n_effective)


def test_items_that_weigh_nothing_are_not_there():
    weight = np.where(np.arange(80) < 50, 1.0 + TRUTH, 0.0)
    for metric in (accuracy, recall, mcc):
        some = metric.estimate(TRUTH, CALLED, sample_weight=weight, rng=0)
        rest = metric.estimate(TRUTH[:50], CALLED[:50], sample_weight=weight[:50], rng=0)
        assert (some.lower, some.upper) == pytest.approx((rest.lower, rest.upper))


def test_weighted_limits_beside_an_independent_computation():
    """Of the accuracy of two classes whose weights vary, by 40,000 draws of the formula."""
    rng = np.random.default_rng(3)
    weight = np.exp(rng.normal(size=80))
    found = accuracy.estimate(TRUTH, CALLED, sample_weight=weight, rng=0)
    cell = 2 * TRUTH + CALLED
    n, w, q = (np.array([f(weight[cell == c]) for c in range(4)])
               for f in (len, np.sum, lambda x: np.sum(x**2)))  # fmt: skip
    r = np.maximum(q * n / w**2, q.sum() / np.sum(w**2 / n))
    gamma = rng.gamma(n / r, size=(40_000, 4)) * w / n * r
    extra, ends = rng.gamma(1.0, size=40_000), []
    for c in range(4):
        table = gamma + extra[:, None] * np.eye(4)[c] * (w / n * r)[c]
        ends.append(np.quantile((table[:, 0] + table[:, 3]) / table.sum(axis=1), [0.025, 0.975]))
    ends = np.array(ends)
    assert (found.lower, found.upper) == pytest.approx(
        (ends[:, 0].min(), ends[:, 1].max()), abs=0.02
    )


def test_limits_keep_moving_with_the_confidence():
    """2,000 draws told nothing beyond .999: the limits stood still."""
    for options in ({}, {"groups": np.arange(80) % 2}, {"clusters": np.arange(80)}):
        found = [mcc.estimate(TRUTH, CALLED, confidence=c, rng=0, **options)
                 for c in (0.99, 0.999, 0.9997)]  # fmt: skip
        for first, second in pairwise(found):
            assert second.lower < first.lower - 0.02
            assert second.upper > first.upper + 0.005
    with pytest.raises(OptionError, match=r"confidence is 0.999999; expected at most 0.99996 here"):
        mcc.estimate(TRUTH, CALLED, confidence=0.999999)
    many = np.arange(80) % 60
    with pytest.raises(OptionError, match=r"Ask for confidence=0.\d+ or less, or compare fewer gr"):
        mcc.estimate(TRUTH, CALLED, groups=many, classes=[0, 1], confidence=0.99)
    assert accuracy.estimate(TRUTH, CALLED, confidence=0.999999).lower > 0  # exact, without draws


def test_many_groups_share_the_error_of_their_gaps():
    """Of 20 groups each limit has .05/190; 2,000 draws gave that of .0005 at best."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 2000)
    c = np.where(rng.random(2000) < 0.8, y, 1 - y)
    found = mcc.estimate(y, c, groups=np.arange(2000) % 20, rng=0)
    alone = [mcc.estimate(y[g::20], c[g::20], confidence=1 - 0.05 / 190, rng=1) for g in (0, 1)]
    down = np.hypot(alone[0].value - alone[0].lower, alone[1].upper - alone[1].value)
    assert found.gaps[0].value - found.gaps[0].lower == pytest.approx(down, rel=0.05)


def test_a_class_that_was_not_seen_is_unknown_by_its_share_alone():
    """0 below and 1 above, over the number of classes, whatever averages over them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    c = np.where(rng.random(200) < 0.8, y, rng.integers(0, 3, 200))
    for metric in (macro(f_beta(1)), macro(recall), macro(precision), balanced_accuracy):
        plain = metric.estimate(y, c, rng=0)
        with pytest.warns(UndefinedMetricWarning):
            found = metric.estimate(y, c, classes=range(4), rng=0)
        with pytest.warns(UndefinedMetricWarning):
            assert found.value == metric.score(y, c, classes=range(4))
        assert found.lower == pytest.approx(0.75 * plain.lower, abs=0.02)
        assert found.upper == pytest.approx(0.75 * plain.upper + 0.25, abs=0.02)
        assert found.lower <= found.value <= found.upper
    low, high = table_ends(balanced_accuracy, np.array([[[0.4, 0.1], [0.0, 0.0]]]))
    assert (low[0], high[0]) == pytest.approx((0.4, 0.9))
    low, high = table_ends(g_mean, np.array([[[0.4, 0.1], [0.0, 0.0]]]))
    assert (low[0], high[0]) == pytest.approx((0.0, np.sqrt(0.8)))
    low, high = table_ends(mcc, np.array([[[0.4, 0.6], [0.0, 0.0]]]))
    assert (low[0], high[0]) == (-1, 1)


def test_unequal_clusters_count_by_their_sizes():
    sizes = np.array([100] * 5 + [5] * 95)
    cluster = np.repeat(np.arange(100), sizes)
    y = np.arange(len(cluster)) % 2
    c = np.where(cluster % 7 == 0, 1 - y, y)
    with pytest.warns(SmallSampleWarning, match=r"100 clusters of these sizes count as 18.2 of on"):
        found = accuracy.estimate(y, c, clusters=cluster, rng=0)
    assert found.n_effective == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())
    with pytest.warns(SmallSampleWarning, match="3 clusters of these sizes count as 3.0"):
        accuracy.estimate(y[:300], c[:300], clusters=np.repeat([0, 1, 2], 100), rng=0)


@pytest.mark.parametrize("size", [1, 7])
def test_clusters_that_are_all_right_have_limits_of_a_beta_law(size):
    """Each cluster draws one gamma, and half a cluster of their size is wrong: Beta(1/2, m)."""
    y = np.arange(20) % 2
    cluster, y = np.repeat(np.arange(20), size), np.repeat(y, size)
    found = accuracy.estimate(y, y, clusters=cluster, rng=0)
    assert found.upper == 1
    assert beta.sf(1 - found.lower, 0.5, 20) == pytest.approx(0.025, abs=0.01)


def test_the_pseudo_cluster_of_unequal_clusters_counts_by_their_squares():
    """Sizes 1 and 9 in halves: a whole cluster of Σm²/Σm is wrong, by quadrature of its law."""
    sizes = np.tile([1, 9], 15)
    cluster = np.repeat(np.arange(30), sizes)
    y = np.arange(len(cluster)) % 2
    found = accuracy.estimate(y, y, clusters=cluster, rng=0)
    usual = (sizes @ sizes) / sizes.sum()
    shape = min(1.0, usual / sizes.mean() / 2)
    odds = (1 - found.lower) / found.lower
    # P(usual·G > odds·(G₁₅ + 9·G₁₅')), where the sum of gammas is integrated over both.
    points, weights = np.polynomial.legendre.leggauss(200)
    at, mass = (points + 1) / 2, weights / 2
    one, two = gamma.ppf(at, 15)[:, None], gamma.ppf(at, 15)[None, :]
    beyond = gamma.sf(odds * (one + 9 * two) / usual, shape)
    assert mass @ beyond @ mass == pytest.approx(0.025, abs=0.01)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(40)), st.booleans())
def test_order_and_names_do_not_matter(order, text):
    order = list(order)
    y, c = TRUTH[:40], CALLED[:40]
    names = np.array(["spam", "ham"]) if text else np.array([8, 3])
    for metric in (f_beta(1), balanced_accuracy):
        first = metric.estimate(y, c, rng=1)
        second = metric.estimate(names[y[order]], names[c[order]], pos_label=names[1], rng=1)
        assert (first.lower, first.upper) == pytest.approx((second.lower, second.upper))


def test_positive_class_is_named_and_may_be_chosen():
    found = recall.estimate(["ham", "spam", "spam"], ["ham", "spam", "ham"])
    assert found.pos_label == "spam"
    assert "'spam'" in found.summary()
    assert recall.estimate(["a", "b", "b"], ["a", "b", "a"], pos_label="a").value == 1


def test_bad_input():
    with pytest.raises(KaratError, match="y_pred holds class probabilities"):
        accuracy.estimate([0, 1], [[0.2, 0.8], [0.5, 0.5]])
    with pytest.raises(KaratError, match="one class only"):
        accuracy.estimate([1, 1], [1, 1])
    with pytest.raises(KaratError, match="no known least and greatest value"):
        LinearFractionalMetric([[2, 0], [0, 1]], [[1, 0], [0, 1]]).estimate(TRUTH, CALLED)
    with pytest.raises(KaratError, match="clusters has 3 rows"):
        accuracy.estimate(TRUTH, CALLED, clusters=[1, 2, 3])


@pytest.mark.slow
@pytest.mark.parametrize("metric", [mcc, macro(f_beta(1))], ids=["MCC", "macro F1"])
def test_pseudo_count_limits_cover(metric):
    """120 samples of 5 % positives notice .93 against .83; 36 settings are in the reproduction."""
    rng, runs, seen = np.random.default_rng(7), 120, 0
    law = np.array([0.855, 0.095, 0.015, 0.035])
    truth = float(table_values(metric, law.reshape(1, 2, 2))[0])
    for _ in range(runs):
        counts = rng.multinomial(100, law)
        y, c = np.repeat([0, 0, 1, 1], counts), np.repeat([0, 1, 0, 1], counts)
        found = metric.estimate(y, c, classes=[0, 1], rng=rng)
        seen += found.lower <= truth <= found.upper
    print(f"{metric.title}: covered {seen / runs:.3f}")
    assert binomtest(seen, runs, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.slow
def test_gaps_cover_together():
    """400 samples of three groups notice .95 against .91."""
    rng, runs, seen = np.random.default_rng(8), 400, 0
    rates = np.array([0.7, 0.85, 0.95])
    for _ in range(runs):
        y = np.ones(150, int)
        groups = np.repeat([0, 1, 2], 50)
        c = (rng.random(150) < rates[groups]).astype(int)
        gaps = accuracy.estimate(y, c, groups=groups, classes=[0, 1]).gaps
        seen += all(g.lower <= rates[g.first] - rates[g.second] <= g.upper for g in gaps)
    assert binomtest(seen, runs, 0.95, alternative="less").pvalue > 0.001


@pytest.mark.slow
def test_macro_f1_with_rare_classes_is_covered():
    """100 samples notice .93 against .80; .89 of 80 were covered by one pseudo-count for all."""
    law = np.array([0.7, 0.2, 0.04, 0.03, 0.02, 0.01])[:, None] * (0.7 * np.eye(6) + 0.05)
    law = law / law.sum()
    hit = 2 * np.diag(law) / (law.sum(axis=0) + law.sum(axis=1))
    rng, seen, metric = np.random.default_rng(0), 0, as_metric("macro_f1")
    for _ in range(100):
        cell = rng.choice(36, 100, p=law.ravel())
        found = metric.estimate(cell // 6, cell % 6, classes=range(6), rng=rng)
        seen += found.lower <= hit.mean() <= found.upper
    print(f"macro F1 of six classes: covered {seen / 100:.3f}")
    assert binomtest(seen, 100, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_weights_that_vary_are_covered(sigma):
    """600 samples notice .93 against .89; Kish's number in each cell alone covers .86."""
    rng, runs = np.random.default_rng(11), 600
    metrics = (accuracy, recall, f_beta(1), balanced_accuracy)
    seen = np.zeros(len(metrics))
    x = rng.normal(size=200_000)
    y = (rng.random(len(x)) < 0.3).astype(int)
    c = np.where(rng.random(len(x)) < 1 / (1 + np.exp(-1.5 - 0.8 * x)), y, 1 - y)
    weight = np.exp(sigma * x)
    truth = [metric.score(y, c) for metric in metrics]
    rows = rng.choice(len(x), (runs, 150), p=1 / weight / np.sum(1 / weight))
    for at in rows:
        found = [m.estimate(y[at], c[at], sample_weight=weight[at], rng=rng) for m in metrics]
        seen += [f.lower <= t <= f.upper for f, t in zip(found, truth, strict=True)]
    print(f"weights exp({sigma} x): covered {seen / runs}")
    for hits in seen:
        assert binomtest(int(hits), runs, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize("law", ["lognormal", "pareto", "five of a hundred"])
def test_clusters_of_unequal_sizes_are_covered(law):
    """400 samples notice .93 against .88; half a cluster of the mean size covered .71 to .87."""
    rng, runs, seen = np.random.default_rng(12), 400, 0
    for _ in range(runs):
        sizes = {
            "lognormal": np.ceil(np.exp(rng.normal(2, 1.5, 100))),
            "pareto": np.minimum(np.ceil(5 * rng.pareto(1.5, 100)) + 1, 5000),
            "five of a hundred": np.repeat([100, 5], [5, 95]),
        }[law].astype(int)
        cluster = np.repeat(np.arange(100), sizes)
        y = np.arange(len(cluster)) % 2
        c = np.where((rng.random(100) < 0.85)[cluster], y, 1 - y)
        found = accuracy.estimate(y, c, classes=[0, 1], clusters=cluster, rng=rng)
        seen += found.lower <= 0.85 <= found.upper
    print(f"{law} clusters: covered {seen / runs:.3f}")
    assert binomtest(seen, runs, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.parametrize(
    "metric",
    [
        *(accuracy, balanced_accuracy, cohen_kappa, f_beta(1), g_mean, jaccard, mcc, recall),
        cost_matrix([[0, 3], [1, 0]]),
        macro(cohen_kappa),
        FairMetric([1, 2], [[1, 1]], 0.5),
    ],
    ids=lambda m: m.title,
)
def test_no_table_has_a_value_outside_of_the_range(metric):
    rng = np.random.default_rng(5)
    groups = (2,) if isinstance(metric, FairMetric) else ()
    low, high = metric.for_classes(2).value_range
    values = []
    for concentration in rng.choice([0.05, 0.5, 5.0], 300):
        cells = rng.dirichlet(np.full(4 * 2 ** len(groups), concentration)) + 1e-9
        values.append(metric((cells / cells.sum()).reshape(*groups, 2, 2)))
    assert low <= min(values)
    assert max(values) <= high
    assert np.ptp(values) > (high - low) / 4  # so that the tables reach far enough to tell
