"""Two classes by one sort: against a pass over the rows, exact sums and brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from karat.decisions.population import Chain, OddsOrder, Population, running_sums, upper_hull
from karat.decisions.rules import decide


def by_rows(proba, mass, gains):
    """Return the confusions of rules by a pass over all rows for each of them."""
    tables = []
    for rule in gains:
        scores = proba @ rule
        second = scores[:, 1] >= scores[:, 0]
        tables.append(np.stack([mass[~second].sum(axis=0), mass[second].sum(axis=0)], axis=1))
    return np.stack(tables)


@st.composite
def populations(draw):
    """Draw probabilities with ties, certain ones and tiny ones, and masses, some of them 0."""
    n = draw(st.integers(1, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["eighths", "hundredths", "any", "tiny", "nearly equal"]))
    second = {
        "eighths": rng.integers(0, 9, n) / 8,
        "hundredths": np.round(rng.random(n), 2),
        "any": rng.random(n),
        "tiny": 10.0 ** -rng.uniform(0, 300, n),
        "nearly equal": 0.2 + rng.integers(-3, 4, n) * 2.0**-55,
    }[kind]
    rows = draw(st.sampled_from([2, 4]))
    mass = rng.random((n, rows)) * rng.integers(0, 2, (n, rows))
    return np.column_stack([1 - second, second]), mass / max(mass.sum(), 1.0), rng


def rules(proba, rng):
    """Return gains of any sign and size: random, without some, and ties with some of the items."""
    drawn = rng.normal(size=(30, 2, 2)) * 10.0 ** rng.uniform(-8, 8, (30, 2, 2))
    sparse = rng.integers(-2, 3, (60, 2, 2)).astype(float)
    at = proba[rng.integers(0, len(proba), 40)]
    ties = np.zeros((40, 2, 2))
    ties[:, 0, 1], ties[:, 1, 0] = -at[:, 1], -at[:, 0]
    ties[::2] += rng.normal(size=(20, 2, 1))  # the same for both decisions: changes nothing
    return np.concatenate([drawn, sparse, ties, -ties, np.zeros((1, 2, 2))])


@given(drawn=populations())
@settings(max_examples=150, deadline=None)
def test_sorting_gives_what_a_pass_over_the_rows_gives(drawn):
    proba, mass, rng = drawn
    gains = rules(proba, rng)
    found = Population(proba, mass).optimal(gains)
    # As deployed: rounding may decide a tie, but it must decide it here as it does there.
    for table, rule in zip(found, gains, strict=True):
        decided = decide(proba, rule)
        expected = np.stack([mass[decided == j].sum(axis=0) for j in range(2)], axis=1)
        assert np.abs(table - expected).max() <= 1e-12
    assert (found >= 0).all()


def test_a_large_sample_is_counted_as_before(rng):
    n = 100_000
    second = np.round(rng.beta(1, 3, n), 5)
    proba = np.column_stack([1 - second, second])
    weight = rng.exponential(size=n)
    y = (rng.random(n) < second).astype(int)
    mass = np.eye(2)[y] * (weight / weight.sum())[:, None]
    gains = rng.normal(size=(200, 2, 2))
    gains[100:, [0, 1], [0, 1]] = 0.0
    found = Population(proba, mass).optimal(gains)
    assert np.abs(found - by_rows(proba, mass, gains)).max() <= 1e-12


def test_ties_go_to_the_second_class():
    """Proposition 3.1: from the threshold on, itself included."""
    second = np.array([0.25, 0.5, 0.5, 0.75])
    proba = np.column_stack([1 - second, second])
    order = OddsOrder.of(proba, np.eye(4) / 4)
    assert len(order.key) == 3
    up, down = order.confusions(np.array([np.eye(2), -np.eye(2)]))
    assert up[:, 1].tolist() == [0, 0.25, 0.25, 0.25]
    assert down[:, 1].tolist() == [0.25, 0.25, 0.25, 0]
    assert order.confusions(np.zeros((1, 2, 2)))[0, :, 1].tolist() == [0.25] * 4


@given(seed=st.integers(0, 2**32), n=st.integers(0, 3000))
@settings(max_examples=40, deadline=None)
def test_running_sums_are_those_of_exact_arithmetic(seed, n):
    rng = np.random.default_rng(seed)
    mass = rng.exponential(size=(n, 2)) * rng.integers(0, 2, (n, 2))
    sums = running_sums(mass)
    assert sums.shape == (n + 1, 2)
    assert not sums[0].any()
    assert (np.diff(sums, axis=0) >= 0).all()
    for at in {0, n // 3, n}:
        exact = [math.fsum(column) for column in mass[:at].T]
        assert np.allclose(sums[at], exact, rtol=1e-13, atol=0)


def test_ten_million_equal_masses_add_up():
    sums = running_sums(np.full((10_000_000, 1), 1e-7))
    assert sums[-1] == pytest.approx([1.0], abs=1e-13)
    assert sums[3_333_333] == pytest.approx([0.3333333], abs=1e-13)


# --- hulls


def curve_of(rng, n, lean):
    """Return what thresholds gain where the second class is more frequent at the start."""
    second = rng.random(n) < 0.5 + lean * np.linspace(0.5, -0.5, n)
    steps = np.column_stack([second, ~second]) * rng.integers(0, 4, (n, 1)) / n
    sums = running_sums(steps)
    return np.column_stack([sums[:, 0], sums[-1, 1] - sums[:, 1]])


@pytest.mark.parametrize("n", [100, 30_000])
@pytest.mark.parametrize("lean", [0.0, 0.3, 1.0])
def test_upper_hull_is_the_upper_part_of_scipy_s(rng, n, lean):
    """The same points, but for those that rounding puts on a straight edge."""
    points = curve_of(rng, n, lean)
    ours = points[upper_hull(points)]
    low = np.array([[0.0, 0.0]])  # below all: what is left of the hull is the upper part
    theirs = points[[v for v in ConvexHull(np.vstack([points, low])).vertices if v < len(points)]]
    assert (np.diff(ours, axis=0) * (1, -1) >= 0).all()
    apart = np.abs(ours[:, None] - theirs[None]).max(axis=2)
    assert apart.min(axis=0).max() < 1e-9
    # Ours may keep a vertex that lies within rounding of an edge; then the areas are the same.
    areas = [ConvexHull(np.vstack([hull, low])).volume for hull in (ours, theirs)]
    assert areas[0] == pytest.approx(areas[1], rel=1e-12)


@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 300), lean=st.sampled_from([-0.5, 0.0, 0.5, 1.0])
)
@settings(max_examples=60, deadline=None)
def test_the_best_vertex_is_the_best_of_all(seed, n, lean):
    rng = np.random.default_rng(seed)
    points = curve_of(rng, n, lean)
    chain = Chain(points[upper_hull(points)])
    edges = np.diff(chain.points, axis=0)
    normals = np.column_stack([-edges[:, 1], edges[:, 0]])  # both ends of an edge are best
    directions = np.vstack([rng.normal(size=(50, 2)), normals, -normals, np.eye(2), -np.eye(2)])
    best = chain.best(directions)
    values = np.einsum("bd,bd->b", chain.points[best], directions)
    assert np.allclose(values, (directions @ chain.points.T).max(axis=1), rtol=1e-12, atol=1e-15)
