"""What classifiers attain, against linear programs with one variable for each item and class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.datasets import LogisticLaw
from karat.decisions.solvers import farthest, nearest
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, RateSpace

# Programs are solved to about 1e-7; a feasible set here is of the size of the priors.
CLOSE = 1e-6

KINDS = [
    (BinarySpace, 2),
    (DiagonalSpace, 3),
    (ConfusionSpace, 2),
    (ConfusionSpace, 3),
    (RateSpace, 3),
]
IDS = [f"{kind.__name__} {k}" for kind, k in KINDS]


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_distance_to_the_feasible_set(kind, k, few_cells, item_program):
    """Points inside, at the boundary and outside."""
    space = few_cells(kind, k, 16, 0)
    program, rng = item_program(space), np.random.default_rng(0)
    center, known = space.center, space._extremes
    reached = space.coordinates(space.boundary(rng.normal(size=(3, space.dim))))
    outside = 0
    for edge in reached:
        for way in (0.3, 1.0, 1.001, 1.4):
            target = center + way * (edge - center)
            found = nearest(target, known.copy())
            expected = program.distance(target)
            assert found.missing == pytest.approx(expected, abs=CLOSE)
            assert space.contains(target, tol=CLOSE) == (expected <= CLOSE)
            outside += expected > CLOSE
            # What the mixture says of itself is so.
            point = found.shares @ space.extreme_points(found.makers)
            assert np.abs(point - target).sum() == pytest.approx(found.missing, abs=CLOSE)
            assert found.shares.min() > 0
            assert found.shares.sum() == pytest.approx(1)
    assert outside >= 3


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_points_between_neighbours_on_the_boundary_are_attained(kind, k, few_cells):
    """Mixtures of two extreme points, as chords are: feasible, with nothing to spare."""
    space = few_cells(kind, k, 20, 5)
    rng = np.random.default_rng(1)
    direction = rng.normal(size=space.dim)
    near = np.stack([direction, direction + 0.3 * rng.normal(size=space.dim)])
    one, other = space.coordinates(space.boundary(near))
    for share in (0.0, 0.25, 0.5, 1.0):
        assert space.contains(share * one + (1 - share) * other)


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_boundary_is_the_best_of_all_classifiers(kind, k, few_cells, item_program):
    space = few_cells(kind, k, 25, 2)
    program, rng = item_program(space), np.random.default_rng(2)
    directions = rng.normal(size=(40, space.dim))
    points = space.coordinates(space.boundary(directions))
    for point, direction in zip(points, directions, strict=True):
        assert point @ direction == pytest.approx(program.best(direction), abs=1e-12)


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_way_to_the_boundary(kind, k, few_cells, item_program):
    """Never beyond it, and short of it by no more than the gap."""
    space = few_cells(kind, k, 15, 3)
    program, rng = item_program(space), np.random.default_rng(3)
    for gap in (0.03, 1e-4):
        for _ in range(3):
            along = rng.normal(size=space.dim)
            found = farthest(space.center, along, space._extremes.copy(), share=gap)
            exact = program.farthest(space.center, along)
            assert exact / (1 + gap) - CLOSE <= found <= exact + CLOSE


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_radius_and_the_ball_inside(kind, k, few_cells, item_program):
    """Algorithm B.1 by a program per coordinate and sense; every point of the ball is feasible."""
    space = few_cells(kind, k, 15, 4)
    program, rng = item_program(space), np.random.default_rng(4)
    exact = program.radius(space.center)
    assert exact / 1.03 - CLOSE <= space.radius <= exact + CLOSE
    directions = rng.normal(size=(12, space.dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for direction in directions:
        point = space.center + space.radius * direction
        assert program.distance(point) < CLOSE
        assert space.contains(point)
    # Along a coordinate the way ends, so the ball could not be much larger.
    assert any(
        program.distance(space.center + side * 1.1 * np.sqrt(space.dim) * space.radius * axis)
        > CLOSE
        for axis in np.eye(space.dim)
        for side in (1, -1)
    )


def test_a_ball_of_the_law_of_section_4_6_1(errors):
    """Every direction can be asked about on the ball."""
    rng = np.random.default_rng(0)
    assert 0.004 < errors.radius < 0.007
    for _ in range(8):
        direction = rng.normal(size=errors.dim)
        point = errors.center + errors.radius * direction / np.linalg.norm(direction)
        assert errors.contains(point)
    axis = np.eye(errors.dim)[0]
    assert not errors.contains(errors.center + 40 * errors.radius * axis)


def attained(space, classifier):
    """Return the confusion of a randomised classifier on the population of a space."""
    decided = classifier.predict_proba(space.population.proba)
    assert np.allclose(decided.sum(axis=1), 1)
    return space.population.mass.T @ decided


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_classifier_attains_its_point(kind, k, few_cells):
    space = few_cells(kind, k, 20, 6)
    rng = np.random.default_rng(6)
    corners = space.coordinates(space.sample(8, rng=rng))
    for shares in rng.dirichlet(np.ones(8), 5):
        point = 0.5 * space.center + 0.5 * shares @ corners
        classifier = space.classifier(point)
        assert classifier.missing == 0.0
        assert np.allclose(space.coordinates(attained(space, classifier)), point, atol=CLOSE)


@pytest.mark.parametrize(("kind", "k"), KINDS, ids=IDS)
def test_classifier_comes_as_near_as_any(kind, k, few_cells, item_program):
    space = few_cells(kind, k, 20, 7)
    point = space.coordinates(space.boundary(np.ones(space.dim))) * 1.2
    classifier = space.classifier(point)
    distance = item_program(space).distance(point)
    assert distance > 0.01
    assert classifier.missing == pytest.approx(distance, abs=CLOSE)
    reached = space.coordinates(attained(space, classifier))
    assert np.abs(reached - point).sum() == pytest.approx(distance, abs=CLOSE)


@pytest.mark.parametrize("kind", [DiagonalSpace, ConfusionSpace, RateSpace])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_what_a_sample_is_said_to_attain_it_attains(kind, seed, item_program):
    """Labels are counted, so the probabilities are no longer those of the law."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(3), 30)
    y = np.append([0, 1, 2], [rng.choice(3, p=row) for row in proba[3:]])
    space = kind.from_proba(y, proba)
    program = item_program(space)
    corners = space.coordinates(space.sample(5, rng=rng))
    for way in (0.2, 0.9, 1.5):
        point = space.center + way * (rng.dirichlet(np.ones(5)) @ corners - space.center)
        classifier = space.classifier(point)
        reached = space.coordinates(attained(space, classifier))
        assert np.abs(reached - point).sum() == pytest.approx(classifier.missing, abs=CLOSE)
        assert program.distance(point) <= classifier.missing + CLOSE


@pytest.mark.parametrize("kind", [DiagonalSpace, ConfusionSpace, RateSpace])
def test_what_is_asked_of_a_sample_can_be_deployed(kind):
    """The classifiers of a space's own questions are among those it can name."""
    law = LogisticLaw([-4, 1, 5])
    x, y = law.sample(200, rng=0)
    space = kind.from_proba(y, law.proba(x))
    for table in space.sample(25, rng=1):
        classifier = space.classifier(table)
        assert classifier.missing == 0.0
        assert np.allclose(
            space.coordinates(attained(space, classifier)), space.coordinates(table), atol=CLOSE
        )


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_classifier_of_scores_attains_its_point(power, rng):
    """The hull of a sample is a matter of its labels, whatever the scores say of themselves."""
    score = rng.random(80) ** power
    y = (rng.random(80) < 0.2 + 0.6 * score).astype(int)
    space = BinarySpace.from_scores(y, score)
    for direction in ([1.0, 1.0], [3.0, 1.0], [1.0, 2.0]):
        table = space.boundary(direction)
        classifier = space.classifier(table)
        assert classifier.missing == 0.0
        assert np.allclose(attained(space, classifier), table, atol=CLOSE)


def test_predictions_are_drawn_with_their_probabilities(errors):
    classifier = errors.classifier(errors.center)
    proba = errors.population.proba[[30, 100, 170]]
    chances = classifier.predict_proba(proba)
    drawn = classifier.predict(np.repeat(proba, 4000, axis=0), rng=0).reshape(3, 4000)
    for item, chance in zip(drawn, chances, strict=True):
        shares = [(item == c).mean() for c in errors.classes]
        assert np.abs(shares - chance).max() < 5 * np.sqrt(0.25 / 4000)
    assert np.array_equal(classifier.predict(proba, rng=5), classifier.predict(proba, rng=5))


def test_binary_probabilities_may_be_one_column(binary):
    classifier = binary.classifier(binary.center + 0.02)
    both = binary.population.proba
    assert np.allclose(classifier.predict_proba(both[:, 1]), classifier.predict_proba(both))
