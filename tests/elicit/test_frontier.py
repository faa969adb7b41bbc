"""The curve of thresholds against SciPy's hull, brute force and the law's own integrals."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from karat.datasets import LogisticLaw
from karat.decisions.population import Frontier
from karat.decisions.rules import decide
from karat.elicit import BinarySpace, DiagonalSpace
from karat.metrics import LinearMetric, accuracy


def by_hand(score, mass):
    """Return the gains (i, j) of every threshold, from all j to all i."""
    cuts = [np.inf, *np.unique(score)[::-1]]
    return np.array([[mass[score >= c, 1].sum(), mass[score < c, 0].sum()] for c in cuts])


@st.composite
def samples(draw):
    """Draw scores with many ties and integer weights, some of them 0, of both classes."""
    n = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = rng.integers(0, 2, n)
    score = np.clip(
        np.round(0.25 * y + 0.6 * rng.random(n), draw(st.sampled_from([1, 2, 8]))), 0, 1
    )
    weight = rng.integers(0, 5, n)
    assume((weight * y).any() and (weight * (1 - y)).any())
    return score, np.eye(2)[y] * weight[:, None] / weight.sum()


def frontier_of(score, mass):
    return Frontier.of(np.column_stack([1 - score, score]), mass, 1, 0)


def distance_to_curve(point, vertices):
    """Return the distance from a point to a chain of segments."""
    a, b = vertices[:-1], vertices[1:]
    along = np.clip(np.sum((point - a) * (b - a), axis=1) / np.sum((b - a) ** 2, axis=1), 0, 1)
    return np.linalg.norm(a + along[:, None] * (b - a) - point, axis=1).min()


@given(sample=samples())
@settings(max_examples=80, deadline=None)
def test_gains_are_those_of_every_threshold(sample):
    score, mass = sample
    frontier = frontier_of(score, mass)
    assert np.allclose(frontier.gains, by_hand(score, mass), atol=1e-12)
    assert np.allclose(frontier.total, mass.sum(axis=0)[::-1])


@given(sample=samples())
@settings(max_examples=80, deadline=None)
def test_hull_is_the_upper_part_of_scipy_s(sample):
    """Strictly concave, from end to end, of the same area: that leaves only one chain."""
    score, mass = sample
    frontier = frontier_of(score, mass)
    points = by_hand(score, mass)
    chain = frontier.gains[frontier.hull]
    assert np.allclose(chain[0], points[0])
    assert np.allclose(chain[-1], points[-1])
    edges = np.diff(chain, axis=0)
    turns = edges[:-1, 0] * edges[1:, 1] - edges[:-1, 1] * edges[1:, 0]
    assert (turns < 0).all()
    # All else lies below the line between the ends, inside the triangle with the origin.
    expected = ConvexHull(np.vstack([points, [[0.0, 0.0]]])).volume
    found = ConvexHull(np.vstack([chain, [[0.0, 0.0]]])).volume
    assert found == pytest.approx(expected, rel=1e-9)


@given(sample=samples(), angle=st.floats(0.0, np.pi / 2))
@settings(max_examples=80, deadline=None)
def test_best_is_the_best_threshold_of_all(sample, angle):
    score, mass = sample
    direction = np.array([np.cos(angle), np.sin(angle)])
    best = frontier_of(score, mass).best(direction)
    assert best.gain @ direction == pytest.approx((by_hand(score, mass) @ direction).max())


@given(sample=samples(), ratio=st.floats(0.01, 100.0))
@settings(max_examples=60, deadline=None)
def test_at_threshold_predicts_from_the_ratio_on(sample, ratio):
    score, mass = sample
    with np.errstate(divide="ignore"):
        odds = score / (1 - score)
    assume(np.abs(odds / ratio - 1).min() > 1e-9)
    point = frontier_of(score, mass).at_threshold(ratio)
    assert point.gain == pytest.approx([mass[odds >= ratio, 1].sum(), mass[odds < ratio, 0].sum()])


def test_a_threshold_is_reached_by_its_own_items():
    """Proposition 3.1: i from the threshold on, itself included."""
    mass = np.eye(2)[[0, 1, 1]] / 3
    frontier = frontier_of(np.array([0.25, 0.5, 0.75]), mass)
    assert frontier.at_threshold(1.0).gain == pytest.approx([2 / 3, 1 / 3])
    assert frontier.at_threshold(1.0 + 1e-9).gain == pytest.approx([1 / 3, 1 / 3])


@given(sample=samples(), share=st.floats(0.001, 0.999))
@settings(max_examples=80, deadline=None)
def test_ends_of_a_chord_are_valued_alike_and_the_preference_turns_there(sample, share):
    score, mass = sample
    frontier = frontier_of(score, mass)
    assume(len(frontier.hull) >= 3)
    low, high = frontier.reach
    assert 0 <= low < high <= np.pi / 2
    angle = low + share * (high - low)
    direction = np.array([np.cos(angle), np.sin(angle)])
    chord = frontier.chord(direction)
    values = frontier.gains[frontier.hull] @ direction
    if chord is None:  # only where rounding cannot tell the angle from an end
        assert np.isclose(values.max(), [values[0], values[-1]], atol=1e-12).any()
        return
    ends = chord.toward_j.gain, chord.toward_i.gain
    assert ends[0] @ direction == pytest.approx(ends[1] @ direction, abs=1e-12)
    chain = frontier.gains[frontier.hull]
    assert max(distance_to_curve(end, chain) for end in ends) < 1e-12
    # The widest chord ends where one class is always predicted.
    at_ends = [np.abs(ends[0] - chain[0]).max(), np.abs(ends[1] - chain[-1]).max()]
    assert min(at_ends) < 1e-12
    assert ends[1][0] > ends[0][0]
    assert ends[1][1] < ends[0][1]
    for turn, prefers_i in ((-1e-3, True), (1e-3, False)):
        other = np.array([np.cos(angle + turn), np.sin(angle + turn)])
        assert ((ends[1] - ends[0]) @ other > 0) == prefers_i


@given(sample=samples())
@settings(max_examples=60, deadline=None)
def test_reach_is_where_one_class_begins_to_win_always(sample):
    score, mass = sample
    frontier = frontier_of(score, mass)
    assume(len(frontier.hull) >= 3)
    low, high = frontier.reach
    chain = frontier.gains[frontier.hull]

    def best(angle):
        return frontier.best(np.array([np.cos(angle), np.sin(angle)])).gain

    if low > 1e-6:
        assert np.allclose(best(low - 1e-7), chain[-1])
    if high < np.pi / 2 - 1e-6:
        assert np.allclose(best(high + 1e-7), chain[0])
    for angle in (low - 1e-6, high + 1e-6):  # beyond them nothing can be asked
        assert frontier.chord(np.array([np.cos(angle), np.sin(angle)])) is None
    for share in (0.05, 0.5, 0.95):
        angle = low + share * (high - low)
        values = chain @ [np.cos(angle), np.sin(angle)]
        assert values.max() > max(values[0], values[-1])


@given(sample=samples(), share=st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_points_say_what_mass_they_predict(sample, share):
    score, mass = sample
    frontier = frontier_of(score, mass)
    assume(len(frontier.hull) >= 3)
    low, high = frontier.reach
    angle = low + share * (high - low)
    chord = frontier.chord(np.array([np.cos(angle), np.sin(angle)]))
    assume(chord is not None)
    for point in (chord.toward_i, chord.toward_j, frontier.best(np.ones(2))):
        assert point.predicted[1] == pytest.approx(point.gain[0], abs=1e-12)
        assert mass[:, 0].sum() - point.predicted[0] == pytest.approx(point.gain[1], abs=1e-12)


@given(sample=samples(), certain=st.booleans())
@settings(max_examples=60, deadline=None)
def test_thresholds_lead_to_their_positions(sample, certain):
    """A threshold between two groups of items, also where some are certain: odds of 0 and ∞."""
    score, mass = sample
    if certain:
        score = np.clip(np.round(2 * score - 0.5, 2), 0, 1)
    frontier = frontier_of(score, mass)
    proba = np.column_stack([1 - score, score])
    for position, (gain, predicted) in enumerate(
        zip(frontier.gains, frontier.predicted, strict=True)
    ):
        chosen = decide(proba, frontier.rule(position)) == 1
        assert np.allclose(mass[chosen].sum(axis=0), predicted, atol=1e-12)
        assert mass[chosen, 1].sum() == pytest.approx(gain[0], abs=1e-12)


def test_the_law_of_section_3_6_1():
    """Exact integrals of the law, which know nothing of cells."""
    law = LogisticLaw.binary(5.0)
    frontier = BinarySpace.from_density(law.proba).frontier
    best = frontier.best(np.array([1.0, 1.0]))
    exact = law.bayes_confusion(accuracy)
    assert best.gain == pytest.approx([exact[1, 1], exact[0, 0]], abs=1e-4)
    for angle in (0.2, 0.7, 1.3):
        metric = LinearMetric([[np.sin(angle), 0], [0, np.cos(angle)]])
        exact = law.bayes_confusion(metric)
        found = frontier.best(np.array([np.cos(angle), np.sin(angle)]))
        assert found.gain @ [np.cos(angle), np.sin(angle)] == pytest.approx(metric(exact), abs=1e-7)
    # P(Y=1 | x) runs from 1/(1+e⁵) to 1/(1+e⁻⁵), so thresholds beyond e^±5 are all the same.
    low, high = frontier.reach
    assert np.tan(low) == pytest.approx(np.exp(-5), rel=0.02)
    assert np.tan(high) == pytest.approx(np.exp(5), rel=0.02)


def test_separable_scores_reach_everything():
    score = np.array([0.1, 0.2, 0.8, 0.9])
    frontier = frontier_of(score, np.eye(2)[[0, 0, 1, 1]] / 4)
    assert frontier.reach == (0.0, np.pi / 2)
    assert frontier.gains[frontier.hull].tolist() == [[0, 0.5], [0.5, 0.5], [0.5, 0]]


def test_items_that_are_certainly_of_a_third_class():
    """Trees give probabilities of exactly 0; such items do not choose between the others."""
    proba = np.array([[1, 0, 0], [0, 0.6, 0.4], [0.3, 0.7, 0], [0, 0, 1], [0.2, 0.2, 0.6]])
    y = np.array([0, 1, 1, 2, 2])
    face = DiagonalSpace.from_proba(y, proba).face(0, 1)
    assert np.isfinite(face.gains).all()
    assert face.gains[-1].tolist() == [0.2, 0.0]
    assert face.gains[0].tolist() == [0.0, 0.4]
    assert face.best(np.array([1.0, 1.0])).gain.sum() == pytest.approx(0.6)
