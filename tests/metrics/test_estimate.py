"""A metric of labelled items with its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from karat.exceptions import KaratError
from karat.metrics import (
    FairMetric,
    LinearFractionalMetric,
    accuracy,
    as_metric,
    balanced_accuracy,
    cost_matrix,
    f_beta,
    jaccard,
    macro,
    mcc,
    precision,
    recall,
)
from karat.metrics.estimates import as_proportion, table_values

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


def test_surprise_limits_beside_an_independent_computation():
    """MCC by its textbook formula, quantiles over 40,000 draws of another generator."""
    counts = np.array([[30, 6], [4, 10]])
    truth, called = np.repeat([0, 0, 1, 1], counts.ravel()), np.repeat([0, 1, 0, 1], counts.ravel())
    found = mcc.estimate(truth, called, rng=0)
    rng = np.random.default_rng(9)
    gamma = rng.gamma(counts.ravel(), size=(40_000, 4))
    extra = rng.gamma(0.5, size=40_000)
    low, high = 1.0, -1.0
    for cell in range(4):
        tn, fp, fn, tp = (gamma + extra[:, None] * np.eye(4)[cell]).T
        top = tp * tn - fp * fn
        value = top / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        low, high = min(low, np.quantile(value, 0.025)), max(high, np.quantile(value, 0.975))
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=0.02)


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


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(40)), st.booleans())
def test_order_and_names_do_not_matter(order, text):
    order = list(order)
    y, c = TRUTH[:40], CALLED[:40]
    names = np.array(["ham", "spam"]) if text else np.array([3, 8])
    for metric in (f_beta(1), balanced_accuracy):
        first = metric.estimate(y, c, rng=1)
        second = metric.estimate(names[y[order]], names[c[order]], rng=1)
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
def test_surprise_limits_cover(metric):
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
    """100 samples notice .93 against .80; .89 of 80 were covered by one surprise for all."""
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
