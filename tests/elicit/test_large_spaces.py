"""Spaces of many items: what a pass over all rows gives, or a bound on the difference."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.decisions.population import Population
from karat.decisions.rules import decide, last_argmax
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, RateSpace
from karat.metrics import LinearMetric

pytestmark = pytest.mark.slow  # many rows

TWO = [DiagonalSpace, ConfusionSpace, RateSpace]
MANY = 70_000  # more than are kept as they are


def by_rows(proba, mass, gains):
    """Return the confusions of rules by a pass over all rows: as spaces of any size once did."""
    scores = np.einsum("ni,bij->nbj", proba, gains)
    decided = last_argmax(scores)
    return np.stack([(decided == j).T.astype(float) @ mass for j in range(proba.shape[1])], axis=2)


def two_classes(rng, n, *, digits=None):
    """Draw labels, probabilities that are not quite right, weights and groups."""
    second = rng.beta(1, 2, n)
    y = (rng.random(n) < second**1.2).astype(int)
    y[:4] = [0, 1, 0, 1]
    second = second if digits is None else np.round(second, digits)
    groups = np.where(rng.random(n) < 0.3, "a", "b")
    groups[:4] = ["a", "a", "b", "b"]
    return y, np.column_stack([1 - second, second]), rng.exponential(size=n) + 1e-3, groups


def three_classes(rng, n):
    power = rng.normal(size=(n, 3)) @ (2.0 * rng.normal(size=(3, 3)))
    proba = np.exp(power - power.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    y = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(max=2)
    return y, proba


def some_directions(proba, rng):
    """Return directions of any sign and size, along the axes, and level at some item."""
    drawn = rng.normal(size=(60, 2)) * 10.0 ** rng.uniform(-3, 3, (60, 2))
    level = proba[rng.integers(0, len(proba), 20)]
    axes = np.vstack([np.eye(2), -np.eye(2), np.ones(2), -np.ones(2)])
    return np.vstack([drawn, level, -level, level[:, ::-1], -level[:, ::-1], axes])


@pytest.mark.parametrize("kind", TWO)
@given(seed=st.integers(0, 2**32), digits=st.sampled_from([1, 2, None]), weighted=st.booleans())
@settings(max_examples=15, deadline=None)
def test_two_classes_are_what_a_pass_over_the_rows_gives(kind, seed, digits, weighted):
    rng = np.random.default_rng(seed)
    y, proba, weight, _ = two_classes(rng, 300, digits=digits)
    weight = weight if weighted else np.ones(300)
    space = kind.from_proba(y, proba, sample_weight=weight)
    mass = np.eye(2)[y] * (weight / weight.sum())[:, None]
    directions = some_directions(proba, rng)
    expected = by_rows(proba, mass, space.weights(directions))
    assert np.abs(space.boundary(directions) - expected).max() <= 1e-12
    assert not np.any(space.doubt(directions))


@pytest.mark.parametrize("digits", [None, 3])
def test_many_items_of_two_classes_are_counted_exactly(rng, digits):
    """Overall, and in groups that were sorted together."""
    y, proba, weight, groups = two_classes(rng, MANY, digits=digits)
    space = RateSpace.from_proba(y, proba, groups=groups, sample_weight=weight)
    directions = some_directions(proba, rng)[::6]  # a pass over the rows takes its time
    for part, own in ((space, groups != ""), *zip(space.parts, np.array([["a"], ["b"]]) == groups,
                                                  strict=True)):  # fmt: skip
        mass = np.eye(2)[y[own]] * (weight[own] / weight[own].sum())[:, None]
        assert part.prior == pytest.approx(mass.sum(axis=0), abs=1e-12)
        expected = by_rows(proba[own], mass, part.weights(directions))
        assert np.abs(part.boundary(directions) - expected).max() <= 1e-12
    cells = len(np.unique(proba, axis=0))
    assert len(space.population.proba) == cells
    alone = RateSpace.from_proba(
        y[groups == "a"], proba[groups == "a"], sample_weight=weight[groups == "a"]
    )
    assert alone.fingerprint == space.parts[0].fingerprint


def test_thresholds_of_many_scores_are_those_of_a_pass(rng):
    """The best of all thresholds, in both senses, for any direction."""
    y, proba, weight, _ = two_classes(rng, MANY, digits=3)
    score = proba[:, 1]
    space = BinarySpace.from_scores(y, score, sample_weight=weight)
    order = np.argsort(-score, kind="stable")
    mass = np.eye(2)[y[order]] * (weight[order] / weight.sum())[:, None]
    ends = np.append(np.flatnonzero(np.diff(score[order])), MANY - 1)
    above = np.vstack([np.zeros(2), mass.cumsum(axis=0)[ends]])
    gains = np.column_stack([above[:, 1], above[-1, 0] - above[:, 0]])
    both = np.vstack([gains, [gains[-1, 0], gains[0, 1]] - gains])
    directions = rng.normal(size=(100, 2))
    found = space.coordinates(space.boundary(directions))
    most = (directions @ both.T).max(axis=1)
    assert np.allclose(np.einsum("bd,bd->b", directions, found), most, atol=1e-12)
    best = both[np.argmax(directions @ both.T, axis=1)]
    assert np.allclose(found, best, atol=1e-12)


def test_a_calibrated_law_of_many_items_has_as_many_vertices(rng):
    """Here the hull is as long as the sample; the best vertex is that of Proposition 3.1."""
    second = rng.beta(2, 2, MANY)
    proba = np.column_stack([1 - second, second])
    space = BinarySpace.from_calibrated(proba)
    assert len(space.frontier.hull) > 0.99 * MANY
    directions = np.abs(rng.normal(size=(50, 2)))
    expected = by_rows(proba, proba / MANY, space.weights(directions))
    assert np.allclose(space.boundary(directions), expected, atol=1e-7)
    value = np.einsum("bij,bij->b", space.weights(directions), expected)
    found = np.einsum("bij,bij->b", space.weights(directions), space.boundary(directions))
    assert np.allclose(found, value, atol=1e-12)


# --- three classes


def test_up_to_65_536_items_are_kept_as_they_are(rng):
    y, proba = three_classes(rng, 65_536)
    space = ConfusionSpace.from_proba(y, proba)
    assert np.array_equal(space.population.proba, proba)
    assert np.array_equal(space.doubt(-np.ones((3, 6))), np.zeros(3))


@pytest.mark.parametrize("kind", TWO)
def test_cells_of_three_classes_are_within_their_bound(kind, rng):
    y, proba = three_classes(rng, 150_000)
    space = kind.from_proba(y, proba)
    assert len(space.population.proba) <= 65_536
    directions = space.sign * np.abs(rng.normal(size=(10, space.dim)))
    expected = by_rows(proba, np.eye(3)[y] / len(y), space.weights(directions))
    moved = np.abs(space.boundary(directions) - expected).max(axis=(1, 2))
    assert (moved <= space.doubt(directions) + 1e-12).all()
    assert moved.max() < 5e-4
    assert space.doubt(directions[0]) == pytest.approx(space.doubt(directions)[0])
    assert space.doubt(directions).max() < 0.03
    assert np.allclose(space.prior, np.bincount(y) / len(y), atol=1e-12)


def test_a_classifier_of_cells_attains_its_point_on_the_items_within_the_bound(rng):
    """What is deployed decides item by item."""
    y, proba = three_classes(rng, 100_000)
    space = ConfusionSpace.from_proba(y, proba)
    directions = -np.abs(rng.normal(size=(4, space.dim)))
    for direction, table in zip(directions, space.boundary(directions), strict=True):
        classifier = space.classifier(table)
        reached = (np.eye(3)[y] / len(y)).T @ classifier.predict_proba(proba)
        assert np.abs(reached - table).max() <= space.doubt(direction) + classifier.missing + 1e-9


def test_rows_in_another_order_leave_the_fingerprint(rng):
    order = rng.permutation(MANY)
    y, proba = three_classes(rng, MANY)
    one, two = (
        ConfusionSpace.from_proba(y, proba),
        ConfusionSpace.from_proba(y[order], proba[order]),
    )
    assert one.fingerprint == two.fingerprint
    y, proba, _, groups = two_classes(rng, MANY)
    one = RateSpace.from_proba(y, proba, groups=groups)
    two = RateSpace.from_proba(y[order], proba[order], groups=groups[order])
    assert one.fingerprint == two.fingerprint


# --- what a space promises whatever its size


@pytest.mark.parametrize("n", [300, MANY])
def test_a_fingerprint_is_computed_once(n, rng, monkeypatch):
    y, proba, _, groups = two_classes(rng, n)
    spaces = [
        RateSpace.from_proba(y, proba, groups=groups),
        BinarySpace.from_scores(y, proba[:, 1]),
        DiagonalSpace.from_proba(y, proba),
    ]
    seen = [space.fingerprint for space in spaces]

    def refuse(*_):
        raise AssertionError("computed again")

    for kind in (Population, BinarySpace):
        for name in ("optimal", "_extreme"):
            if hasattr(kind, name):
                monkeypatch.setattr(kind, name, refuse)
    assert [space.fingerprint for space in spaces] == seen
    assert [copy.deepcopy(space).fingerprint for space in spaces] == seen


def test_large_spaces_are_copied_pickled_and_smoothed(rng):
    y, proba, _, groups = two_classes(rng, MANY)
    space = RateSpace.from_proba(y, proba, groups=groups)
    assert copy.deepcopy(space) is space
    again = pickle.loads(pickle.dumps(space))
    assert again.fingerprint == space.fingerprint
    assert np.array_equal(again.sample(20, rng=0), space.sample(20, rng=0))
    smooth = BinarySpace.from_scores(y, proba[:, 1]).smoothed()
    assert smooth.population.calibrated
    assert smooth.prior == pytest.approx(space.prior, abs=1e-3)


def test_smoothing_cells_is_smoothing_items(rng):
    """The fit weighs cells by the items in them, so that its penalty stays as small."""
    y, proba = three_classes(rng, 100_000)
    whole = ConfusionSpace.from_proba(y, proba)
    smooth = whole.smoothed()
    some = ConfusionSpace.from_proba(y[:60_000], proba[:60_000]).smoothed()
    directions = -np.abs(rng.normal(size=(10, 6)))
    # Of the law, whose labels are drawn by the probabilities: they are right as they are.
    law = ConfusionSpace.from_calibrated(proba)
    for space in (smooth, some):
        assert np.allclose(space.boundary(directions), law.boundary(directions), atol=5e-3)


def test_gains_level_at_a_score_decide_as_the_deployed_rule(rng):
    """A tie in the last digit: the space counts what the classifier predicts."""
    y, proba, _, _ = two_classes(rng, MANY, digits=2)
    space = ConfusionSpace.from_proba(y, proba)
    for p in np.unique(proba[:, 1])[1:-1:7]:
        direction = -np.array([p, 1 - p])
        gains = space.weights(direction)
        decided = decide(proba, gains)
        expected = Population(proba, np.eye(2)[y] / MANY).confusion(decided)
        assert np.allclose(space.boundary(direction), expected, atol=1e-12)
        assert np.array_equal(decided, LinearMetric(gains).bayes_classifier().predict(proba))
