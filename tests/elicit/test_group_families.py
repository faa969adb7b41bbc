"""Rates of groups side by side, and the families of metrics over them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from karat.datasets import LogisticLaw
from karat.elicit import RateSpace
from karat.elicit._rate_space import JointRates
from karat.elicit.families import (
    LinearGaps,
    Monomials,
    PolynomialFamily,
    SquaredGaps,
    emphasised,
    flattened,
)
from karat.elicit.spaces import AnyClassifier
from karat.exceptions import ElicitationError
from karat.metrics import FairMetric, FairQuadraticMetric, PolynomialMetric, QuadraticMetric

SEEDS = st.integers(0, 2**32)
SHAPES = [(2, 2), (3, 2), (2, 3), (3, 4)]


def random_rates(joint, n, rng):
    """Draw rates (n, m, q) of confusions with any entries."""
    k, m = joint.space.n_classes, joint.n_groups
    rows = rng.dirichlet(np.ones(k), (n, m, k))
    return rows[..., ~np.eye(k, dtype=bool)]


def overall_rates(tables):
    """Return the rates of joint confusions (n, m, k, k), all groups together."""
    pooled = tables.sum(axis=1)
    rates = pooled / pooled.sum(axis=2, keepdims=True)
    return rates[:, ~np.eye(pooled.shape[-1], dtype=bool)]


# --- coordinates


@pytest.mark.parametrize(("k", "m"), SHAPES)
@given(seed=SEEDS)
@settings(max_examples=5, deadline=None)
def test_coordinates_are_the_rates_of_each_group(k, m, seed, perfect):
    joint = JointRates(perfect(k, m))
    rates = random_rates(joint, 7, np.random.default_rng(seed))
    tables = joint.space.group_confusion(rates)
    assert tables.shape == (7, m, k, k)
    assert np.allclose(tables.sum(axis=(1, 2, 3)), 1)
    points = joint.coordinates(tables)
    assert np.allclose(points.reshape(7, m, -1), rates)
    # τ: the overall rates are those of the pooled confusion, gaps are differences.
    assert np.allclose(joint.prevalence.sum(axis=0), 1)
    overall, gaps = joint.parts_of(points)
    assert np.allclose(overall, overall_rates(tables))
    for p, (u, v) in enumerate(joint.pairs):
        assert u < v
        assert np.allclose(gaps[:, p], rates[:, u] - rates[:, v])
    assert len(joint.pairs) == m * (m - 1) // 2


def test_prevalence_is_the_share_of_a_group_within_a_class():
    """Three quarters of the ones and a quarter of the zeros are in the group b."""
    y = np.repeat([0, 1], 8)
    groups = np.array(list("aaaaaabb" + "aabbbbbb"))
    joint = JointRates(RateSpace.from_proba(y, np.eye(2)[y], groups=groups))
    assert np.allclose(joint.prevalence, [[0.75, 0.25], [0.25, 0.75]])
    assert joint.pair_names == ("a and b",)
    assert joint.names[2] == "b: 0 taken for 1"
    assert joint.dim == 4
    # predicting 1 always: every 0 is taken for 1, whatever the group
    assert joint.constant(1).tolist() == [1, 0]
    assert joint.constant(0).tolist() == [0, 1]
    assert np.allclose(joint.coordinates(joint.guess), 0.5)


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 2)])
def test_constant_classifiers_and_guessing_are_attained(k, m, perfect, calibrated):
    for space in (perfect(k, m), calibrated):
        joint = JointRates(space)
        for label in range(space.n_classes):
            assert space.group_contains(np.tile(joint.constant(label), (m, 1)), tol=1e-7)
        assert space.group_contains(np.tile(space.center, (m, 1)), tol=1e-7)
        sample = space.group_rates(joint.sample(5, rng=0))
        assert all(space.group_contains(row, tol=1e-7) for row in sample)


def test_every_group_attains_the_ball_of_its_radius(lawful):
    space, rng = lawful(3), np.random.default_rng(0)
    assert space.common_radius == min(space.group_radii)
    for part, radius in zip(space.parts, space.group_radii, strict=True):
        assert radius == part.radius
        for step in rng.normal(size=(4, space.dim)):
            assert part.contains(space.center + radius * step / np.linalg.norm(step), tol=1e-7)


def test_a_group_that_cannot_change_one_rate_alone_is_named():
    """Two kinds of items in the second group: most rates there change together only."""
    rng = np.random.default_rng(0)
    y, proba = np.arange(90) % 3, rng.dirichlet(np.ones(3), 90)
    few = np.arange(90) >= 45
    proba[few] = np.array([[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]])[(y[few] == 2).astype(int)]
    space = RateSpace.from_proba(y, proba, groups=np.where(few, "north", "south"))
    with pytest.raises(ElicitationError, match="group 'north': no classifier changes one coord"):
        _ = space.common_radius


@given(seed=SEEDS)
@settings(max_examples=5, deadline=None)
def test_any_classifier_is_attained_and_is_of_three_kinds(seed):
    space = RateSpace.from_density(LogisticLaw([1, 3, 5]).proba, n_points=101)
    arena = AnyClassifier(space)
    tables = arena.sample(9, rng=seed)
    assert np.array_equal(tables, arena.sample(9, rng=seed))
    for table in tables:
        assert space.contains(space.coordinates(table), tol=1e-7)
    assert arena.dim == 6
    assert arena.names == space.names
    assert np.array_equal(arena.coordinates(arena.guess), space.center)
    # Every third is best for some costs; no other is, but lies between two, or towards guessing.
    assert np.array_equal(tables[::3], space.sample(9, rng=seed)[::3])
    for step in (space.coordinates(tables) - space.center)[::3]:
        assert not space.contains(space.center + 1.01 * step, tol=1e-7)


# --- metrics that compare groups


def positive(family, n, rng):
    drawn = rng.normal(size=(n, family.size))
    return np.where(family.signed, drawn, np.abs(drawn))


@pytest.mark.parametrize("kind", [LinearGaps, SquaredGaps])
@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize(
    "options", [{}, {"same_pairs": True}, {"sparse": True}, {"diagonal": True}], ids=str
)
@given(seed=SEEDS)
@settings(max_examples=4, deadline=None)
def test_values_are_those_of_the_metric_that_is_reported(kind, k, m, options, seed, perfect):
    if "diagonal" in options and kind is LinearGaps:
        return
    rng, joint = np.random.default_rng(seed), JointRates(perfect(k, m))
    family = kind(joint, **options)
    rows = positive(family, 3, rng)
    tables = joint.space.group_confusion(random_rates(joint, 6, rng))
    values = family.values(rows, joint.coordinates(tables))
    weights = family.weights(rows)
    assert weights.shape == (3, len(family.names))
    assert len(set(family.names)) == len(family.names)
    for row, value, weight in zip(rows, values, weights, strict=True):
        metric = family.metric(row)
        assert isinstance(metric, FairMetric if kind is LinearGaps else FairQuadraticMetric)
        assert np.allclose([metric(table) for table in tables], value, atol=1e-10)
        # It is normalised, as Definitions 5.1 and 6.4 have it.
        even = metric.normalized()
        assert np.allclose(even.cost, metric.cost)
        assert np.allclose(even.violation, metric.violation)
        assert even.tradeoff == pytest.approx(metric.tradeoff)
        assert weight[-1] == metric.tradeoff
        assert np.allclose(weight[: len(metric.cost)], metric.cost)
        if "same_pairs" in options:
            assert np.allclose(metric.violation, metric.violation[:1])
        if "diagonal" in options:
            assert not (metric.violation * (1 - np.eye(joint.q))).any()


@pytest.mark.parametrize("kind", [LinearGaps, SquaredGaps])
@pytest.mark.parametrize("sparse", [False, True])
@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_what_is_written_is_read(kind, sparse, seed, perfect):
    rng = np.random.default_rng(seed)
    family = kind(JointRates(perfect(3, 2)), sparse=sparse)
    cost, violation, tradeoff = family.read(positive(family, 5, rng))
    again = family.read(family.write(cost, violation, tradeoff))
    assert np.allclose(again[0], cost)
    assert np.allclose(again[1], violation, atol=1e-9)
    assert np.allclose(again[2], tradeoff)
    # Costs and violations in one scale: λ/(1−λ) is the size of one against the other.
    scale = tradeoff / (1 - tradeoff)
    joined = family.parameters_of(7 * cost, 7 * scale[:, None, None] * violation)
    assert all(
        np.allclose(a, b, atol=1e-8) for a, b in zip(family.read(joined), again, strict=True)
    )
    ends = family.write(cost[:2], violation[:2], np.array([0.0, 1.0]))
    assert np.isfinite(ends).all()
    assert np.allclose(family.read(ends)[2], [0, 1], atol=1e-9)


@pytest.mark.parametrize("kind", [LinearGaps, SquaredGaps])
def test_what_is_known_is_no_parameter(kind, perfect, drawn, rng):
    joint = JointRates(perfect(2, 3))
    make = drawn.fair if kind is LinearGaps else drawn.fair_quadratic
    truth = make(2, 3, rng)
    flat = truth.violation.reshape(3, -1)
    sizes = {}
    for known in ((), ("cost",), ("violation",), ("cost", "violation")):
        given_ = {"cost": 5 * truth.cost, "violation": 3 * flat}
        family = kind(joint, **{name: given_[name] for name in known})
        sizes[known] = family.size
        rows = positive(family, 4, rng)
        for row in rows:
            metric = family.metric(row)
            for name in known:
                assert np.allclose(getattr(metric, name), getattr(truth, name))
        metric = family.metric(family.write(truth.cost[None], flat[None], np.array([0.3]))[0])
        assert metric.tradeoff == pytest.approx(0.3)
        assert np.allclose(metric.cost, truth.cost)
        assert np.allclose(metric.violation, truth.violation)
    per_pair = 2 if kind is LinearGaps else 4
    assert list(sizes.values()) == [2 + 3 * per_pair + 1, 3 * per_pair + 1, 3, 1]


@pytest.mark.parametrize("kind", [LinearGaps, SquaredGaps])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_trade_off_is_anything_alike_before_anything_is_said(kind, sparse, perfect):
    """Half-normal parameters make λ uniform, and costs of every error alike."""
    family = kind(JointRates(perfect(2, 2)), sparse=sparse)
    rows = positive(family, 4000, np.random.default_rng(4))
    cost, _, tradeoff = family.read(rows)
    assert kstest(tradeoff, "uniform").pvalue > 1e-4
    angle = np.arctan2(cost[:, 1], cost[:, 0]) / (np.pi / 2)
    assert np.mean(angle < 0.5) == pytest.approx(0.5, abs=0.04)
    if not sparse:
        assert kstest(angle, "uniform").pvalue > 1e-4
    else:  # many are near 0
        assert np.mean((angle < 0.1) | (angle > 0.9)) > 0.4


@pytest.mark.parametrize("kind", [LinearGaps, SquaredGaps])
def test_the_middle_of_metrics_is_theirs(kind, perfect, rng):
    """Of one it is itself; of two its values are the mean of theirs, but for a scale."""
    joint = JointRates(perfect(2, 2))
    family = kind(joint)
    rows = positive(family, 2, rng)
    same = family.mean(np.stack([rows[0], rows[0], rows[1]]), np.array([0.3, 0.7, 0.0]))
    points = joint.coordinates(joint.space.group_confusion(random_rates(joint, 20, rng)))
    values = family.values(np.stack([rows[0], same]), points)
    assert np.allclose(*values)
    middle = family.mean(rows, np.array([0.5, 0.5]))
    both, one = family.values(rows, points).mean(axis=0), family.values(middle[None], points)[0]
    assert np.allclose(both / both.sum(), one / one.sum())


def test_names_say_which_groups_and_which_rates(perfect):
    joint = JointRates(perfect(2, 3))
    names = LinearGaps(joint).names
    assert names[0] == "cost: 0 taken for 1"
    assert names[2] == "gap between 0 and 1: 0 taken for 1"
    assert names[-1] == "trade-off"
    assert LinearGaps(joint, same_pairs=True).names[2].startswith("gap between any two groups: ")
    squares = SquaredGaps(joint).names
    assert squares[3] == "gap between 0 and 1: 0 taken for 1 × 1 taken for 0"
    assert len(SquaredGaps(joint, diagonal=True).names) == 2 + 3 * 2 + 1


def test_what_a_gap_is_worth(perfect):
    """Costs of 1 and 1 against gaps of 1 and 3, λ a quarter: 4·¼ / (2·¾) points of error."""
    joint = JointRates(perfect(2, 2))
    metric = FairMetric([1, 1], [[1, 3]], 0.25).normalized()
    family = LinearGaps(joint)
    row = family.write(metric.cost[None], metric.violation[None], np.array([metric.tradeoff]))
    words, worth = family.gap_worth(row)
    assert "one point of error-rate gap" in words
    assert worth == pytest.approx(4 * 0.25 / (2 * 0.75))
    # A point more of every error, and of every gap, by the metric itself.
    low = joint.space.group_confusion(np.full((2, 2), 0.2))
    worse = joint.space.group_confusion(np.full((2, 2), 0.21))
    apart = joint.space.group_confusion(
        np.stack([0.2 + 0.01 * joint.prevalence[1], 0.2 - 0.01 * joint.prevalence[0]])
    )
    loss = [metric(low) - metric(table) for table in (apart, worse)]
    assert loss[0] / loss[1] == pytest.approx(worth[0])
    ends = family.write(
        np.tile(metric.cost, (2, 1)), np.tile(metric.violation, (2, 1, 1)), np.array([0.0, 1.0])
    )
    none, all_ = family.gap_worth(ends)[1]
    assert none == 0
    assert all_ > 1e6


# --- polynomials


@pytest.mark.parametrize(("k", "order"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3)])
@pytest.mark.parametrize("sparse", [False, True])
@given(seed=SEEDS)
@settings(max_examples=4, deadline=None)
def test_polynomial_values_are_those_of_the_metric(k, order, sparse, seed, perfect):
    rng, space = np.random.default_rng(seed), perfect(k)
    family = PolynomialFamily(space, Monomials(space.dim, order), sparse=sparse)
    assert family.signed.all()
    rows = rng.normal(size=(3, family.size))
    tables = space.confusion(rng.uniform(0, 1 / k, (8, space.dim)))
    values = family.values(rows, space.coordinates(tables))
    for row, value in zip(rows, values, strict=True):
        metric = family.metric(row)
        assert isinstance(metric, QuadraticMetric if order == 2 else PolynomialMetric)
        assert np.allclose(metric(tables), value, atol=1e-12)
        norm = metric.normalized()
        assert np.allclose(norm(tables), value, atol=1e-12)
    weights = family.weights(rows)
    assert weights.shape == (3, len(family.names))
    assert np.allclose(weights[:, : space.dim], [
        m.linear if order == 2 else m.coefficients[0] for m in map(family.metric, rows)
    ])  # fmt: skip
    same = family.mean(rows, np.array([0.0, 1.0, 0.0]))
    assert np.allclose(family.values(same[None], space.coordinates(tables))[0], values[1])


@given(values=st.lists(st.floats(-100, 100), min_size=1, max_size=6), sparse=st.booleans())
def test_emphasis_can_be_undone(values, sparse):
    rows = np.array([values])
    assert np.allclose(flattened(emphasised(rows, sparse), sparse), rows)
    assert (emphasised(rows, sparse) * rows >= 0).all()
