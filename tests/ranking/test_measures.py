"""Average precision, cuts, net benefit and expected cost: against oracles, and invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import average_precision_score, roc_auc_score

from karat.ranking import (
    FprBand,
    TprBand,
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
    weighted_auc,
)


def drawn(seed, n=None, weights=None):
    """Draw labels, scores with ties, and weights of a kind."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 300)) if n is None else n
    y = rng.random(n) < rng.choice([0.1, 0.5])
    y[:2] = [False, True]
    score = (rng.normal(size=n) + y).round(int(rng.integers(0, 4)))
    kinds = {
        None: None, "counts": rng.integers(1, 5, n).astype(float), "real": rng.random(n) + 0.01,
    }  # fmt: skip
    return y, score, kinds[weights]


@pytest.mark.parametrize("weights", [None, "counts", "real"])
def test_average_precision_is_that_of_scikit_learn(weights):
    for seed in range(60):
        y, score, w = drawn(seed, weights=weights)
        r = average_precision(y, score, sample_weight=w)
        wanted = average_precision_score(y, score, sample_weight=w)
        assert r.value == pytest.approx(wanted, abs=1e-12)
        assert 0 <= r.lower <= r.value <= r.upper <= 1


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_several_labels_and_classes_are_those_of_scikit_learn(average):
    rng = np.random.default_rng(1)
    labels = rng.random((120, 4)) < 0.3
    score = (rng.normal(size=(120, 4)) + labels).round(1)
    classes = rng.integers(0, 3, 120)
    for ours, theirs in (
        (average_precision, average_precision_score), (weighted_auc, roc_auc_score)
    ):  # fmt: skip
        found = ours(labels, score, average=average)
        assert found.value == pytest.approx(theirs(labels, score, average=average), abs=1e-12)
        assert list(found.per_class) == [0, 1, 2, 3]
        assert found.lower < found.value < found.upper
        each = theirs(labels, score, average=None)
        assert [p.value for p in found.per_class.values()] == pytest.approx(list(each), abs=1e-12)
    wanted = average_precision_score(classes, score[:, :3], average=average)
    found = average_precision(classes, score[:, :3], average=average)
    assert found.value == pytest.approx(wanted, abs=1e-12)
    hot = np.eye(3)[classes]
    mean = weighted_auc(hot, score[:, :3], average=average, weight=FprBand(0, 0.2))
    same = weighted_auc(classes, score[:, :3], average=average, weight=FprBand(0, 0.2))
    assert (mean.value, mean.lower) == pytest.approx((same.value, same.lower))


def test_a_pooled_band_of_true_positive_rates_mirrors():
    rng = np.random.default_rng(2)
    labels = rng.random((150, 3)) < 0.4
    score = rng.normal(size=(150, 3)) + labels
    r = weighted_auc(labels, score, average="micro", weight=TprBand(0.5, 1))
    mirrored = weighted_auc(~labels, -score, average="micro", weight=FprBand(0, 0.5))
    assert r.value == pytest.approx(mirrored.value)
    # Rows with a label are not as many as rows without one: the limits differ by that alone.
    assert (r.lower, r.upper) == pytest.approx((mirrored.lower, mirrored.upper), rel=2e-3)


def taken_by_hand(y, score, w, rows):
    """Average over the orders of level rows: what the first ``rows`` rows hold of positives."""
    left, ones = rows, 0.0
    for level in np.unique(score)[::-1]:
        here = score == level
        size, positive = w[here].sum(), w[here & y].sum()
        part = min(1.0, left / size)
        ones += part * positive
        left -= part * size
        if left <= 0:
            break
    return ones


@pytest.mark.parametrize("weights", [None, "counts"])
def test_cuts_take_level_rows_in_proportion(weights):
    for seed in range(30):
        y, score, w = drawn(seed, weights=weights)
        mass = np.ones(len(y)) if w is None else w
        rows = {"sample_weight": w, "weighting": None if w is None else "frequency"}
        for k in (1, 2, len(y) // 2, len(y)):
            ones = taken_by_hand(y, score, mass, float(k))
            r = precision_at(y, score, k=k, **rows)
            assert r.value == pytest.approx(ones / k, abs=1e-12)
            gain = recall_at(y, score, k=k, **rows)
            assert gain.value == pytest.approx(ones / mass[y].sum(), abs=1e-12)
            up = lift(y, score, k=k, **rows)
            assert up.value == pytest.approx(r.value / (mass[y].sum() / mass.sum()), abs=1e-12)
            assert r.lower <= r.value <= r.upper
            assert gain.lower <= gain.value <= gain.upper


def test_a_share_is_the_same_as_its_number_of_rows():
    y, score, _ = drawn(3, n=200)
    for function in (precision_at, recall_at, lift):
        one, two = function(y, score, k=50), function(y, score, share=0.25)
        assert (one.value, one.lower, one.upper) == (two.value, two.lower, two.upper)


def test_thresholds_count_rows():
    from scipy.stats import beta

    y, score, _ = drawn(4, n=150)
    above = score >= 0.5
    ones, n = int((y & above).sum()), int(above.sum())
    r = precision_at(y, score, threshold=0.5)
    assert r.value == ones / n
    assert r.lower == pytest.approx(beta.ppf(0.025, ones, n - ones + 1))
    assert r.upper == pytest.approx(beta.ppf(0.975, ones + 1, n - ones))
    assert r.method == "exact"
    assert r.basis == "guaranteed"
    r = recall_at(y, score, threshold=0.5)
    assert r.value == ones / y.sum()


def test_net_benefit_by_hand():
    rng = np.random.default_rng(5)
    p = rng.random(300).round(2)
    y = rng.random(300) < p
    for t in (0.05, 0.2, 0.5, 0.9):
        act = p >= t
        wanted = ((y & act).sum() - t / (1 - t) * (~y & act).sum()) / 300
        r = net_benefit(y, p, threshold=t)
        assert r.value == pytest.approx(wanted, abs=1e-12)
        everybody = y.mean() - t / (1 - t) * (1 - y.mean())
        assert r.over_all.value == pytest.approx(wanted - everybody, abs=1e-12)
        assert r.over_all.lower <= r.over_all.value <= r.over_all.upper
        assert r.lower <= r.value <= r.upper


def test_expected_cost_by_all_thresholds():
    for seed in range(20):
        y, score, w = drawn(seed, weights="counts" if seed % 2 else None)
        mass = np.ones(len(y)) if w is None else w
        for c in (0.1, 0.5, 0.8):
            costs = []
            for t in [*np.unique(score), np.inf]:
                miss = mass[y & (score < t)].sum() / mass[y].sum()
                alarm = mass[~y & (score >= t)].sum() / mass[~y].sum()
                costs.append(c * miss + (1 - c) * alarm)
            r = cost_curve(y, score, at=c, sample_weight=w)
            assert r.value == pytest.approx(min(costs), abs=1e-12)
            assert r.lower <= r.value <= r.upper <= min(c, 1 - c) + 1e-12


def test_cuts_that_are_never_the_cheapest_are_dropped():
    from karat.ranking._cut_measures import cheapest_cuts

    rng = np.random.default_rng(3)
    y = rng.random(3000) < 0.4
    order = np.argsort(-(rng.normal(size=3000) + y).round(2))
    missed = y.sum() - np.concatenate([[0], np.cumsum(y[order])]).astype(float)
    alarms = np.concatenate([[0], np.cumsum(~y[order])]).astype(float)
    few = cheapest_cuts(missed, alarms, few=2)
    assert len(few[0]) < 300
    for c in np.linspace(0, 1, 41):
        least = (c * missed + (1 - c) * alarms).min()
        assert (c * few[0] + (1 - c) * few[1]).min() == pytest.approx(least, abs=1e-9)


def test_rows_left_out_of_the_choice_of_their_cut():
    from karat.ranking._cut_measures import left_out_errors
    from karat.ranking._orderings import ordering_of
    from karat.ranking.placements import labelled_scores

    rng = np.random.default_rng(6)
    y = rng.random(40) < 0.4
    score = rng.permutation(40) / 40 + 0.3 * y
    c, n1, n0 = 0.37, y.sum(), (~y).sum()
    cuts = np.append(score[y], np.inf)
    missed = alarms = 0
    for i in range(40):
        kept = np.arange(40) != i
        cost = [
            c * (y & kept & (score < t)).sum() / n1
            + (1 - c) * (~y & kept & (score >= t)).sum() / n0
            for t in cuts
        ]
        best = cuts[int(np.argmin(cost))]
        missed += y[i] and score[i] < best
        alarms += not y[i] and score[i] >= best
    ordered = ordering_of(labelled_scores(y, score, None, approximate=False))
    assert left_out_errors(ordered, c) == (missed, alarms)


MEASURES = {
    "average_precision": (average_precision, {}),
    "precision_at": (precision_at, {"share": 0.3}),
    "recall_at": (recall_at, {"share": 0.3}),
    "lift": (lift, {"share": 0.3}),
    "net_benefit": (net_benefit, {"threshold": 0.4}),
    "cost_curve": (cost_curve, {"at": 0.6}),
}


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "lift"])
def test_what_rows_add_is_the_slope_of_the_measure(name):
    """Each row counted a little more moves the measure as its effect says; cuts are at a score."""
    from karat.ranking._cut_measures import AveragePrecision, Cut, ExpectedCost, NetBenefit, Row
    from karat.ranking._measures import rows_of

    kinds = {
        "average_precision": AveragePrecision(), "precision_at": Cut("precision", threshold=0.4),
        "recall_at": Cut("recall", threshold=0.4), "net_benefit": NetBenefit(0.4),
        "cost_curve": ExpectedCost(0.6137),
    }  # fmt: skip
    measure = kinds[name]
    rng = np.random.default_rng(7)
    y = rng.random(80) < 0.4
    score = np.clip(rng.random(80) * 0.7 + 0.3 * y, 0, 1)

    def value(weight):
        return measure.value(rows_of(y, score, weight, approximate=False))

    ordered = rows_of(y, score, np.ones(80), approximate=False)
    effects = measure.effects(Row(y, score, np.ones(80), ordered))
    assert effects.sum() == pytest.approx(0, abs=1e-12)
    step = 1e-5
    for i in range(0, 80, 7):
        more = np.ones(80)
        more[i] += step
        slope = (value(more) - value(np.ones(80))) / step
        assert slope == pytest.approx(effects[i], abs=2e-5)


@pytest.mark.parametrize("name", MEASURES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_invariants(name, data):
    """Order of rows, a rising map of scores, repeated rows and text labels change nothing."""
    function, cut = MEASURES[name]
    n = data.draw(st.integers(4, 40))
    y = data.draw(arrays(bool, n))
    y[:2] = [True, False]
    score = data.draw(arrays(float, n, elements=st.integers(0, 8).map(lambda v: v / 8)))
    r = function(y, score, **cut)
    limits = (r.value, r.lower, r.upper)
    order = np.random.default_rng(0).permutation(n)
    again = function(y[order], score[order], **cut)
    assert (again.value, again.lower, again.upper) == pytest.approx(limits, abs=1e-9)
    named = function(np.where(y, "yes", "no"), score, pos_label="yes", **cut)
    assert (named.value, named.lower, named.upper) == pytest.approx(limits, abs=1e-12)
    assert named.pos_label == "yes"
    if name != "net_benefit":
        mapped = function(y, np.exp(3 * score), **cut)
        assert (mapped.value, mapped.lower, mapped.upper) == pytest.approx(limits, abs=1e-9)
    twice = function(np.tile(y, 2), np.tile(score, 2), **cut)
    counted = function(y, score, sample_weight=np.full(n, 2), weighting="frequency", **cut)
    assert (twice.value, twice.lower, twice.upper) == pytest.approx(
        (counted.value, counted.lower, counted.upper), abs=1e-9
    )
    both = np.column_stack([1 - score, score])
    assert function(y, both, **cut).value == pytest.approx(r.value, abs=1e-12)
    wide = function(y, score, confidence=0.99, **cut)
    assert wide.lower <= r.lower + 1e-9
    assert wide.upper >= r.upper - 1e-9


@pytest.mark.parametrize("name", MEASURES)
def test_models_are_compared_row_by_row(name):
    function, cut = MEASURES[name]
    rng = np.random.default_rng(8)
    y = rng.random(800) < 0.3
    good = 1 / (1 + np.exp(-(rng.normal(size=800) + 2.5 * y - 1.5)))
    poor = 1 / (1 + np.exp(-(rng.normal(size=800) + 0.3 * y - 1.5)))
    r = compare_rankings(y, {"good": good, "poor": poor}, measure=name, **cut)
    assert r.best == "good"
    d = r.differences[0]
    assert d.value == pytest.approx(function(y, good, **cut).value - function(y, poor, **cut).value)
    better = d.upper < 0 if name == "cost_curve" else d.lower > 0
    assert better
    assert d.p_value < 0.01
    near = good + 1e-9 * rng.random(800)
    same = compare_rankings(y, {"a": good, "b": np.clip(near, 0, 1)}, measure=name, **cut)
    pair = same.differences[0]
    assert pair.lower < 0 < pair.upper  # models that agree are not known to agree exactly
    assert pair.upper - pair.lower < (d.upper - d.lower) / 2


def test_groups_are_ranked_by_themselves():
    rng = np.random.default_rng(9)
    y = rng.random(400) < 0.3
    score = rng.normal(size=400) + y
    groups = np.where(rng.random(400) < 0.5, "north", "south")
    r = average_precision(y, score, groups=groups)
    for name in ("north", "south"):
        here = groups == name
        wanted = average_precision(y[here], score[here], confidence=0.975)
        assert r.groups[name].value == wanted.value
        assert r.groups[name].lower == wanted.lower
    assert r.gap.value == abs(r.groups["north"].value - r.groups["south"].value)


def test_a_micro_average_pools_labels_that_no_row_has(rng):
    """Every entry counts, as in scikit-learn; only averages over labels skip such a label."""
    y = (rng.random((200, 3)) < 0.2).astype(int)
    y[:, 2] = 0
    scores = rng.random((200, 3)) * 0.5 + 0.3 * y
    scores[:, 2] += 0.5
    found = average_precision(y, scores, average="micro")
    assert found.value == pytest.approx(
        average_precision_score(y.ravel(), scores.ravel()), abs=1e-12
    )
    assert found.per_class[0].summary()
