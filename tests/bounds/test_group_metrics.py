"""Bounds of metrics that compare groups."""

import json
import pickle
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.stats import binomtest

from karat.bounds import (
    bounds_curve,
    difference_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.bounds._problem import Rows, Sample
from karat.bounds.solvers._solve import _least_effective
from karat.exceptions import (
    DataError,
    LengthMismatchError,
    MetricError,
    OptionError,
    UndefinedHereError,
)
from karat.metrics import FairMetric, FairQuadraticMetric, balanced_accuracy, cost_matrix
from karat.weak import DawidSkene


class Table:
    """Votes, groups and predictions in which every pattern is frequent, and their law."""

    def __init__(self, k, m, patterns, seed, sharpness=1.0):
        rng = np.random.default_rng(seed)
        n = 60 * m * patterns
        self.k, self.m = k, m
        self.group = np.append(np.repeat(np.arange(m), patterns), rng.integers(0, m, n))
        self.z = np.append(np.tile(np.arange(patterns), m), rng.integers(0, patterns, n))
        self.votes = np.array(list(product(range(k), repeat=3)))[self.z]
        self.p = rng.dirichlet(np.full(k, sharpness), (m, patterns)).clip(1e-3)
        self.p /= self.p.sum(axis=-1, keepdims=True)
        law = rng.dirichlet(np.ones(k), (m, patterns))
        draw = rng.random(len(self.z))[:, None]
        self.y_pred = (draw > law[self.group, self.z].cumsum(axis=1)[:, :-1]).sum(axis=1)
        self.joint = np.zeros((m, patterns, k))  # P(G, Z, Ŷ)
        np.add.at(self.joint, (self.group, self.z, self.y_pred), 1 / len(self.z))

    @property
    def truth(self):
        return np.einsum("gz,gzi->gi", self.joint.sum(axis=2), self.p)

    def bounds(self, metric, method="plugin", **options):
        proba = self.p[self.group, self.z]
        return performance_bounds(
            self.y_pred, self.votes, proba, metric=metric, groups=self.group,
            classes=range(self.k), method=method, **options,
        )  # fmt: skip

    def coupling(self, rng):
        """Random vertices of the transport polytopes: P(G, Y, Ŷ) that agrees with everything."""
        total = np.zeros((self.m, self.k, self.k))
        for g, z in np.ndindex(self.joint.shape[:2]):
            cell = self.joint[g, z].sum()
            left, right = cell * self.p[g, z], self.joint[g, z].copy()
            for at in rng.permutation(self.k**2):
                i, j = divmod(int(at), self.k)
                amount = min(left[i], right[j])
                total[g, i, j] += amount
                left[i] -= amount
                right[j] -= amount
        return total


class Program:
    """The linear program over every coupling, written out in full: an oracle for both ends."""

    def __init__(self, table):
        t = table
        m, patterns, k = t.joint.shape
        self.size = m * patterns * k * k
        at = np.arange(self.size).reshape(m, patterns, k, k)
        rows, level = [], []
        for g, z in np.ndindex(m, patterns):
            for c in range(k):
                shown, truth = np.zeros(self.size), np.zeros(self.size)
                shown[at[g, z, :, c]] = truth[at[g, z, c]] = 1
                rows += [shown, truth]
                level += [t.joint[g, z, c], t.joint[g, z].sum() * t.p[g, z, c]]
        # One equation of each pattern follows from the others, and rounding could contradict it.
        keep = np.arange(len(rows)) % (2 * k) != 0
        self.rows, self.level = np.array(rows)[keep], np.array(level)[keep]
        errors = [(i, j) for i in range(k) for j in range(k) if i != j]
        self.overall, self.own = np.zeros((len(errors), self.size)), []
        for g in range(m):
            own = np.zeros((len(errors), self.size))
            for e, (i, j) in enumerate(errors):
                own[e, at[g, :, i, j]] = 1 / t.truth[g, i]
                self.overall[e, at[g, :, i, j]] = 1 / t.truth[:, i].sum()
            self.own.append(own)

    def least(self, cost, more=None):
        rows, level, upper = self.rows, 1e4 * self.level, None
        if more is not None:
            rows, upper = np.hstack([rows, np.zeros((len(rows), more.shape[1] - self.size))]), more
        done = linprog(
            cost, A_eq=rows, b_eq=level, A_ub=upper,
            b_ub=None if upper is None else np.zeros(len(upper)),
        )  # fmt: skip
        assert done.status == 0, done.message
        return done.fun / 1e4

    def ends(self, metric):
        share = metric.tradeoff
        gaps = np.concatenate([self.own[u] - self.own[v] for u, v in metric._pairs()])
        price, cost = share * metric.violation.ravel(), (1 - share) * metric.cost @ self.overall
        sizes = -np.eye(len(gaps))
        sandwich = np.block([[gaps, sizes], [-gaps, sizes]])
        upper = -self.least(np.append(cost, price), sandwich)
        lower = min(
            self.least(-cost - (price * signs) @ gaps)
            for signs in product((-1, 1), repeat=len(gaps))
        )
        return lower, upper


def fair(rng, k, m, tradeoff=0.5):
    pairs, q = m * (m - 1) // 2, k * k - k
    return FairMetric(rng.random(q), rng.random((pairs, q)), tradeoff)


def quadratic(rng, m, tradeoff=0.5):
    roots = rng.normal(size=(m * (m - 1) // 2, 2, 2))
    return FairQuadraticMetric(rng.random(2), roots @ np.swapaxes(roots, 1, 2), tradeoff)


@pytest.mark.parametrize(("k", "m", "patterns"), [(2, 2, 4), (2, 3, 4), (3, 2, 3)])
@pytest.mark.parametrize("tradeoff", [0.1, 0.5, 0.95, 1.0])
def test_both_ends_equal_the_linear_program_over_all_couplings(k, m, patterns, tradeoff):
    table = Table(k, m, patterns, seed=k + 10 * m)
    metric = fair(np.random.default_rng(1), k, m, tradeoff)
    b = table.bounds(metric)
    assert (b.lower, b.upper) == pytest.approx(Program(table).ends(metric), abs=2e-7)
    assert b.sharp
    assert b.gap < 1e-8
    assert b.groups is None


def test_a_closed_form():
    """One pattern a group: the rates of a group move between two known values."""
    group = np.repeat([0, 1], 100)
    y_pred = np.tile([0, 1], 100)
    votes = np.zeros((200, 2), dtype=int)
    p = np.where(group[:, None] == 0, [0.5, 0.5], [0.8, 0.2])
    metric = FairMetric([0, 0], [[0, 1]], 1.0)  # minus the gap of the miss rates
    b = performance_bounds(
        y_pred, votes, p, metric=metric, groups=group, classes=[0, 1], method="plugin"
    )
    # Half are called positive. Group 0 can miss all or none, and so can group 1.
    assert (b.lower, b.upper) == pytest.approx((-1.0, 0.0), abs=1e-12)
    only = FairMetric([0, 0], [[1, 0]], 1.0)  # false alarms: group 1 has 0.3/0.8 at least
    b = performance_bounds(
        y_pred, votes, p, metric=only, groups=group, classes=[0, 1], method="plugin"
    )
    assert (b.lower, b.upper) == pytest.approx((-0.625, 0.0), abs=1e-12)


def test_the_smallest_group_gives_the_degrees_of_freedom():
    """Kish's number of each group by itself, or its clusters where they are fewer."""
    rng = np.random.default_rng(3)
    group, z = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    weight, cluster = rng.gamma(1.0, size=90), rng.integers(0, 25, 90)
    ids, called = 2 * group + z, rng.integers(0, 2, 90)
    counts, squares = np.zeros((2, 1, 6, 2))
    np.add.at(counts, (0, ids, called), weight)
    np.add.at(squares, (0, ids, called), weight**2)
    own = [weight[group == g] for g in range(3)]
    kish = [w.sum() ** 2 / (w @ w) for w in own]
    problem = SimpleNamespace(group=np.repeat(np.arange(3), 2), sample=Sample(counts, squares))
    assert _least_effective(problem) == pytest.approx(min(kish))
    problem.sample = Sample(counts, squares, Rows(ids, called, 0 * ids, weight, cluster))
    clusters = [len(np.unique(cluster[group == g])) for g in range(3)]
    assert _least_effective(problem) == pytest.approx(min(*kish, *clusters))


def test_more_groups_and_classes_have_an_outer_lower_end():
    table = Table(3, 3, 2, seed=4)
    rng = np.random.default_rng(2)
    metric = fair(rng, 3, 3)
    b = table.bounds(metric)
    assert not b.sharp
    assert "outer, not sharp" in b.summary()
    values = [metric(table.coupling(rng)) for _ in range(300)]
    assert b.lower <= min(values)
    assert max(values) <= b.upper + 1e-9
    # Equality of three kinds of error in two groups has few orders, so it is exact.
    priced = np.zeros((1, 6))
    priced[0, [0, 2, 4]] = 1
    two = Table(3, 2, 2, seed=5)
    few = FairMetric(np.ones(6), priced, 0.5)
    assert two.bounds(few).lower == pytest.approx(Program(two).ends(few)[0], abs=2e-7)


@pytest.mark.parametrize("m", [2, 3])
def test_squared_differences_equal_a_search_over_every_tp(m):
    table = Table(2, m, 4, seed=m)
    metric = quadratic(np.random.default_rng(3), m)
    b = table.bounds(metric)
    joint, weight = table.joint, table.joint.sum(axis=2)
    low = np.maximum(joint[..., 1] + weight * table.p[..., 1] - weight, 0).sum(axis=1)
    high = np.minimum(joint[..., 1], weight * table.p[..., 1]).sum(axis=1)

    def value(mix):
        tp, shown, truth = low + mix * (high - low), joint[..., 1].sum(axis=1), table.truth[:, 1]
        rows = [[weight.sum(axis=1) - shown - truth + tp, shown - tp], [truth - tp, tp]]
        return metric(np.maximum(np.moveaxis(np.array(rows), -1, 0), 0))

    corners = [value(np.array(c)) for c in product((0.0, 1.0), repeat=m)]
    best = minimize(
        lambda x: -value(x), np.full(m, 0.5), bounds=[(0, 1)] * m, method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 5000},
    )  # fmt: skip
    assert b.lower == pytest.approx(min(corners), abs=1e-9)
    assert b.upper == pytest.approx(-best.fun, abs=1e-7)
    assert b.sharp


@given(
    k=st.integers(2, 3), m=st.integers(2, 3), seed=st.integers(0, 2**16),
    tradeoff=st.floats(0, 1), squared=st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_no_consistent_coupling_lies_outside(k, m, seed, tradeoff, squared):
    rng = np.random.default_rng(seed)
    table = Table(k, m, 3, seed)
    metric = quadratic(rng, m, tradeoff) if squared and k == 2 else fair(rng, k, m, tradeoff)
    b = table.bounds(metric)
    assert b.lower_limit <= b.lower <= b.upper <= b.upper_limit <= 0
    assert b.lower - 1e-9 <= b.label_model_estimate <= b.upper + 1e-9
    for _ in range(30):
        assert b.lower - 1e-9 <= metric(table.coupling(rng)) <= b.upper + 1e-9


@given(k=st.integers(2, 3), m=st.integers(2, 3), seed=st.integers(0, 2**16))
@settings(max_examples=20, deadline=None)
def test_without_fairness_it_is_the_linear_metric(k, m, seed):
    """λ = 0: costs of error rates, which for P(Y) as it is are costs of a confusion."""
    rng = np.random.default_rng(seed)
    table = Table(k, m, 3, seed)
    table.p[:] = table.p[:1]  # one label model for all groups, as the linear bound has it
    metric = fair(rng, k, m, tradeoff=0.0)
    costs = np.zeros((k, k))
    costs[~np.eye(k, dtype=bool)] = metric.cost
    linear = performance_bounds(
        table.y_pred, table.votes, table.p[0, table.z], classes=range(k), method="plugin",
        metric=cost_matrix(costs / table.truth.sum(axis=0)[:, None]),
    )  # fmt: skip
    b = table.bounds(metric)
    # Knowing the group can only help: predictions differ between groups.
    assert linear.lower - 1e-9 <= b.lower
    assert b.upper <= linear.upper + 1e-9
    table.group[:] = np.arange(len(table.z)) % m
    spread = np.tile(table.y_pred, m), np.tile(table.votes, (m, 1)), np.tile(table.z, m)
    same = performance_bounds(
        *spread[:2], table.p[0, spread[2]], metric=metric, classes=range(k), method="plugin",
        groups=np.repeat(np.arange(m), len(table.z)),
    )  # fmt: skip
    assert (same.lower, same.upper) == pytest.approx((linear.lower, linear.upper), abs=1e-8)


def test_errors_and_limits_without_fairness_are_those_of_balanced_accuracy(draw_law):
    """Costs of 1/2 make it balanced accuracy − 1, which has its own route to a limit."""
    law = draw_law(2000, 2, seed=9)
    options = {"classes": [0, 1], "limit": "normal", "rng": 0}
    known = performance_bounds(law.y_pred, law.votes, law.p, metric=balanced_accuracy, **options)
    b = performance_bounds(
        law.y_pred, law.votes, law.p, metric=FairMetric([0.5, 0.5], [[1, 1]], 0.0),
        groups=np.arange(2000) % 2, **options,
    )  # fmt: skip
    assert 1 + b.lower == pytest.approx(known.lower, abs=0.01)
    assert 1 + b.upper == pytest.approx(known.upper, abs=0.01)
    assert b.upper_limit - b.upper == pytest.approx(known.upper_limit - known.upper, rel=0.05)
    assert b.lower - b.lower_limit == pytest.approx(known.lower - known.lower_limit, rel=0.05)


@given(seed=st.integers(0, 2**16), share=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_better_votes_shrink_the_bounds(seed, share):
    """Merge two patterns into one: what the votes no longer tell apart widens the bounds."""
    table = Table(2, 2, 4, seed)
    metric = fair(np.random.default_rng(seed), 2, 2, share)
    fine = table.bounds(metric)
    merged = table.z // 2
    weight = table.joint.sum(axis=2)[..., None]
    p = (weight * table.p).reshape(2, 2, 2, 2).sum(axis=2)
    p /= weight.reshape(2, 2, 2, 1).sum(axis=2)
    coarse = performance_bounds(
        table.y_pred, np.array([[0, 1], [1, 0]])[merged], p[table.group, merged], metric=metric,
        groups=table.group, classes=[0, 1], method="plugin",
    )  # fmt: skip
    assert coarse.lower - 1e-9 <= fine.lower
    assert fine.upper <= coarse.upper + 1e-9


def test_groups_and_classes_may_be_renamed_and_turned():
    table = Table(2, 2, 4, seed=6)
    metric = FairMetric([1, 3], [[2, 0.5]], 0.4)
    b = table.bounds(metric)
    names, classes = np.array(["men", "women"]), np.array(["no", "yes"])
    proba = table.p[table.group, table.z]
    told = performance_bounds(
        classes[table.y_pred], classes[table.votes], proba, metric=metric, method="plugin",
        groups=names[table.group],
    )  # fmt: skip
    assert (told.lower, told.upper_limit) == pytest.approx((b.lower, b.upper_limit))
    turned = performance_bounds(
        table.y_pred, table.votes, proba, metric=FairMetric([3, 1], [[0.5, 2]], 0.4),
        groups=1 - table.group, classes=[0, 1], pos_label=0, method="plugin",
    )  # fmt: skip
    assert (turned.lower, turned.upper) == pytest.approx((b.lower, b.upper))


def test_truth_check_draws_weights_clusters_and_soft_predictions(draw_law):
    law = draw_law(1500, 2, seed=4)
    group = np.arange(1500) % 2
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    base = {"metric": metric, "classes": [0, 1], "rng": 0}
    b = performance_bounds(law.y_pred, law.votes, law.p, groups=group, y_true=law.y, **base)
    assert b.truth == pytest.approx(metric.score(law.y, law.y_pred, groups=group))
    assert b.lower_limit <= b.truth <= b.upper_limit
    assert not b.check.contradicted
    assert "right within every group" in b.summary()
    assert b.width_limit is None
    plain = (b.lower, b.upper)
    weighted, soft = (
        performance_bounds(shown, law.votes, law.p, groups=group, sample_weight=w, **base)
        for shown, w in ((law.y_pred, np.ones(1500)), (np.eye(2)[law.y_pred], None))
    )
    assert (weighted.lower, weighted.upper) == pytest.approx(plain, abs=0.02)
    assert (soft.lower, soft.upper) == pytest.approx(plain, abs=0.02)
    twice = performance_bounds(
        np.tile(law.y_pred, 2), np.tile(law.votes, (2, 1)), np.tile(law.p, (2, 1)),
        groups=np.tile(group, 2), clusters=np.tile(np.arange(1500), 2), **base,
    )  # fmt: skip
    reach = b.lower - b.bounds_limits.lower
    assert twice.lower - twice.bounds_limits.lower == pytest.approx(reach, rel=0.15)
    logit = np.log(law.p[:, 1] / law.p[:, 0])
    draws = [1 / (1 + np.exp(-s * logit)) for s in (0.5, 0.8, 1.0, 1.3, 2.0)]
    drawn = performance_bounds(
        law.y_pred, law.votes, law.p, groups=group,
        label_model_draws=[np.column_stack([1 - d, d]) for d in draws], **base,
    )  # fmt: skip
    assert drawn.upper_limit - drawn.lower_limit > b.upper_limit - b.lower_limit
    model = DawidSkene(rng=0).fit(law.votes)
    assert performance_bounds(law.y_pred, law.votes, model, groups=group, **base).width > 0


def test_the_label_model_is_checked_in_each_group():
    """One model for groups with other base rates passes as a whole and fails in a group."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 6000)
    y = (rng.random(6000) < np.where(group == 0, 0.2, 0.6)).astype(int)
    votes = np.where(rng.random((6000, 6)) < 0.8, y[:, None], 1 - y[:, None])
    y_pred = np.where(rng.random(6000) < 0.9, y, 1 - y)
    options = {"metric": FairMetric([1, 1], [[1, 1]], 0.5), "classes": [0, 1], "rng": 0}
    b = performance_bounds(
        y_pred, votes, DawidSkene(rng=0).fit(votes), groups=group, y_true=y, **options
    )
    assert "Do not rely on this" in b.summary()
    assert "in group 0, the 300 true labels do not fit it" in b.check.reasons[0]
    proba = np.empty((6000, 2))
    for own in (group == 0, group == 1):
        proba[own] = DawidSkene(rng=0).fit(votes[own]).predict_proba(votes[own])
    own = performance_bounds(y_pred, votes, proba, groups=group, y_true=y, **options)
    assert not own.check.contradicted
    assert own.lower_limit <= own.truth <= own.upper_limit
    again = pickle.loads(pickle.dumps(own))
    assert again == own
    assert json.dumps(again.to_dict(), allow_nan=False)


def test_a_tiny_group_proves_nothing(draw_law):
    law = draw_law(1000, 2, seed=5)
    metric = FairMetric([1, 2], [[1, 1]], 0.5)
    b = performance_bounds(
        law.y_pred, law.votes, law.p, metric=metric, classes=[0, 1], rng=0,
        groups=(np.arange(1000) == 3).astype(int),
    )  # fmt: skip
    assert (b.lower_limit, b.upper_limit) == (-2.5, 0.0)
    assert not b.check.contradicted


def one_kind(k, m, priced):
    """Equal costs, and a price of differences in some kinds of error."""
    q = k * k - k
    violation = np.zeros((m * (m - 1) // 2, q))
    violation[:, priced] = 0.7
    return FairMetric(np.arange(1, q + 1) / q, violation, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "m", "metric"),
    [
        (2, 2, one_kind(2, 2, [0, 1])),
        (2, 3, one_kind(2, 3, [0, 1])),
        (2, 2, FairQuadraticMetric([1, 2], [[[3, 1], [1, 2]]], 0.5)),
        (3, 2, one_kind(3, 2, [1, 3])),
    ],
)
def test_limits_have_the_error_of_the_bound(draw_law, k, m, metric):
    """Simulation: the spread of the estimated bound over samples against the reported error."""
    law = draw_law(900, k, seed=3, labelers=3)
    # Groups that differ in how often the last class is predicted, so that no gap is near 0.
    group = np.arange(900) % m
    y_pred = np.where(np.random.default_rng(0).random(900) < 0.3 * group, k - 1, law.y_pred)
    found, errors = [], []
    for seed in range(40):  # a spread from 40 samples is off by .11
        rows = np.random.default_rng(seed).integers(0, 900, 900)
        b = performance_bounds(
            y_pred[rows], law.votes[rows], law.p[rows], metric=metric, groups=group[rows],
            classes=range(k), rng=0,
        )  # fmt: skip
        found.append((b.lower, b.upper))
        errors.append(((b.lower - b.lower_limit) / 1.65, (b.upper_limit - b.upper) / 1.65))
    ratio = np.mean(errors, axis=0) / np.std(found, axis=0)
    # Where corners are nearly tied the least of them varies less than each: limits are cautious.
    assert 0.75 < ratio[0] < 1.6
    assert ratio[1] == pytest.approx(1, rel=0.25)


def draw_groups(draw_law, k, seed, n=2000):
    """The sparse setting, in which one group's predictions are changed by a bias."""
    law = draw_law(n, k, seed=seed)
    rng = np.random.default_rng(10_000 + seed)
    group = rng.integers(0, 2, n)
    shifted = (rng.random(n) < 0.15) & (group == 1)
    return law, group, np.where(shifted, k - 1, law.y_pred)


def population(law, metric, k):
    """The value in the population: Ŷ is right with probability .8, and one group is shifted."""
    right = np.full((k, k), (1 - law.right) / (k - 1))
    np.fill_diagonal(right, law.right)
    shifted = 0.85 * right
    shifted[:, -1] += 0.15
    share = np.bincount(law.y, minlength=k) / len(law.y)
    return metric(np.stack([right, shifted]) * share[:, None] / 2)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_limits_cover_in_the_sparse_setting(draw_law, k, capsys):
    """Four times in five the test would notice a coverage of .70 (40 runs) or .50 (12 runs)."""
    runs, hits = 40 if k == 2 else 12, np.zeros(2, int)
    q = k * k - k
    priced = np.arange(q) % (k - 1) == 0  # one kind of error a class: few orders to try
    metric = FairMetric(np.ones(q), priced[None].astype(float), 0.5)
    for seed in range(runs):
        law, group, y_pred = draw_groups(draw_law, k, 3000 + seed, n=1000)
        b = performance_bounds(
            y_pred, law.votes, law.p, metric=metric, groups=group, classes=range(k), rng=seed
        )
        truth = population(law, metric, k)
        hits += [b.lower_limit <= truth, truth <= b.upper_limit]
    with capsys.disabled():
        print(f"\nfair, |Y|={k}: lower {hits[0] / runs:.2f}, upper {hits[1] / runs:.2f}")
    assert all(binomtest(int(h), runs, 0.93, alternative="less").pvalue > 0.001 for h in hits)


@pytest.mark.slow
def test_limits_at_the_bound_itself_have_their_level(draw_law, capsys):
    """The population's sharp bounds, from every pattern of the law and the exact p and q.

    Four times in five the test would notice a coverage of .815.
    """
    runs, n, hits = 80, 2000, np.zeros(2, int)
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    least = np.array([0.2, 0.3])  # P(Ŷ = 1 | z) of each group is this and half of P(Y = 1 | z)
    for seed in range(runs):
        law = draw_law(n, 2, seed=seed)
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 2, n)
        y_pred = (rng.random(n) < least[group] + 0.5 * law.p[:, 1]).astype(int)
        b = performance_bounds(
            y_pred, law.votes, law.p, metric=metric, groups=group, classes=[0, 1], rng=seed
        )
        chance, p = law.every_pattern()
        lower, upper = sharp_ends(metric, chance / 2, p[:, 1], least[:, None] + 0.5 * p[:, 1])
        hits += [b.lower_limit <= lower, upper <= b.upper_limit]
    with capsys.disabled():
        print(f"\nat the bounds: lower {hits[0] / runs:.3f}, upper {hits[1] / runs:.3f}")
    assert all(binomtest(int(h), runs, 0.95, alternative="less").pvalue > 0.001 for h in hits)


def sharp_ends(metric, weight, p, q):
    """Both ends for two groups, by a search over the share of true positives in each.

    ``weight`` is P(G, Z), the same in both groups; ``q`` is P(Ŷ = 1 | G, Z).
    """
    low, high, called = (a @ weight for a in (np.maximum(p + q - 1, 0), np.minimum(p, q), q))
    truth, size = p @ weight, weight.sum()
    least, most, found = np.zeros(2), np.ones(2), []
    for _ in range(4):  # ever closer around the best; all corners are in the first round
        mixes = np.stack(np.meshgrid(*np.linspace(least, most, 41).T), axis=-1).reshape(-1, 2)
        tp = low + mixes * (high - low)
        rows = [[size - called - truth + tp, called - tp], [truth - tp, tp]]
        found.append(metric._values(np.moveaxis(np.array(rows), (0, 1), (2, 3))))
        best, step = mixes[found[-1].argmax()], (most - least) / 20
        least, most = np.maximum(best - step, 0), np.minimum(best + step, 1)
    return found[0].min(), found[-1].max()


VOTES = [[0, 1], [1, 1], [0, -1], [1, 0]] * 5
PREDICTED = [0, 1, 0, 1] * 5
P = np.array([[0.7, 0.3], [0.1, 0.9], [0.8, 0.2], [0.4, 0.6]] * 5)
GROUPS = ["a", "b"] * 10
TWO = FairMetric([1, 1], [[1, 1]], 0.5)
THREE = FairMetric([1, 1], np.ones((3, 2)), 0.5)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"groups": None}, MetricError, "compares groups; pass groups="),
        ({"metric": THREE}, MetricError, r"for 3 groups and groups holds 2: \['a', 'b'\]"),
        ({"groups": ["a"] * 20}, MetricError, "for 2 groups and groups holds 1"),
        ({"groups": ["a"] * 3 + ["b"]}, LengthMismatchError, "groups has 4 rows"),
        ({"sample_weight": [1.0, 0.0] * 10}, UndefinedHereError, "group 1 .* has no weight"),
        ({"label_model": [[1.0, 0.0]] * 20}, UndefinedHereError, "none of its items in class 1"),
        ({"metric": FairMetric(np.ones(6), np.ones((1, 6)), 0.5)}, MetricError, "is for 3 classes"),
        ({"class_prior": [0.5, 0.5]}, DataError, "class_prior cannot be used with"),
        ({"robustness": 0.1}, OptionError, "robustness is 0.1; expected 0 with"),
        (
            {"limit": "bernstein"},
            OptionError,
            "limit is 'bernstein'; expected 'skew' or 'normal' with",
        ),
    ],
    ids=lambda v: "-".join(v) if isinstance(v, dict) else None,
)
def test_bad_input(changes, error, message):
    good = {"y_pred": PREDICTED, "weak_labels": VOTES, "label_model": P, "metric": TWO}
    with pytest.raises(error, match=message):
        performance_bounds(**(good | {"classes": [0, 1], "groups": GROUPS} | changes))


def test_squared_differences_of_several_classes_are_refused():
    table = Table(3, 2, 2, seed=0)
    with pytest.raises(MetricError, match="bounded for two classes and up to six groups"):
        table.bounds(FairQuadraticMetric(np.ones(6), np.eye(6)[None], 0.5))


def test_other_bounds_say_what_to_use():
    message = r"bound it with performance_bounds\(\.\.\., groups=\.\.\.\)"
    options = {"metric": TWO, "classes": [0, 1]}
    for bound in (weak_label_value, robustness_curve):
        with pytest.raises(MetricError, match=message):
            bound(PREDICTED, VOTES, P, **options)
    with pytest.raises(MetricError, match=message):
        difference_bounds(PREDICTED, PREDICTED[::-1], VOTES, P, **options)
    with pytest.raises(MetricError, match=message):
        bounds_curve(np.arange(20.0), VOTES, P, **options)
    with pytest.raises(MetricError, match="pass groups="):
        rank_models({"a": PREDICTED, "b": PREDICTED[::-1]}, VOTES, P, **options)


@pytest.mark.slow
def test_limits_of_few_positives_have_their_level(capsys):
    """100 items in two groups, 7 % positive: the delta method's upper limits cover .88.

    The truth is the bound of the population, from 400,000 items; 150 runs notice .93 against .85.
    """
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    patterns = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [-1, 0], [-1, 1]])
    share, one = [0.5, 0.1, 0.1, 0.02, 0.25, 0.03], np.array([0.01, 0.05, 0.08, 0.6, 0.03, 0.3])

    def bounds(n, seed, **options):
        rng = np.random.default_rng(seed)
        z, group = rng.choice(6, n, p=share), rng.integers(0, 2, n)
        called = rng.random(n) < np.array([0.05, 0.1])[group] + 0.8 * one[z]
        p = np.column_stack([1 - one[z], one[z]])
        return performance_bounds(
            called.astype(int), patterns[z], p, metric=metric, groups=group, classes=[0, 1],
            rng=seed, **options,
        )  # fmt: skip

    whole = bounds(400_000, 10_000, method="plugin")
    hits = np.zeros(2, int)
    for seed in range(150):
        b = bounds(100, seed)
        hits += [b.lower_limit <= whole.lower, whole.upper <= b.upper_limit]
    with capsys.disabled():
        print(f"\nfair, few positives: lower {hits[0] / 150:.2f}, upper {hits[1] / 150:.2f}")
    assert all(binomtest(int(h), 150, 0.93, alternative="less").pvalue > 0.001 for h in hits)
    plain = bounds(100, 0, limit="normal")
    assert bounds(100, 0).upper_limit >= plain.upper_limit
