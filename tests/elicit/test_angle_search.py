"""Searches over angles, against people whose answers follow a known function."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from karat.elicit import Query
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    angle_sweep,
    angles_of,
    direction,
    halving,
    sphere_cycles,
    swapped,
    unimodal,
)

ANSWERS = ["first", "second", "tie", "skip"]


def drive(steps, answer):
    """Run a search with a function that answers; return the queries."""
    asked = []
    try:
        query = next(steps)
        while True:
            asked.append(query)
            query = steps.send(answer(query))
    except StopIteration:
        return asked


def prefers(value):
    """Answer by a function of a side."""

    def answer(query):
        gap = value(query.first) - value(query.second)
        return "tie" if gap == 0 else "first" if gap > 0 else "second"

    return answer


def scalars(s, t):
    return Query(np.array([s]), np.array([t]))


positive = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=13).map(np.array)


# --- angles


@given(vector=positive)
@settings(max_examples=200, deadline=None)
def test_angles_and_directions_are_inverse(vector):
    assume(np.linalg.norm(vector) > 1e-3)
    unit = vector / np.linalg.norm(vector)
    angles = angles_of(unit)
    assert ((angles >= 0) & (angles <= np.pi / 2)).all()
    assert np.allclose(direction(angles), unit, atol=1e-12)
    assert np.allclose(angles_of(3.7 * unit), angles, atol=1e-7)


@given(angles=st.lists(st.floats(0.01, np.pi / 2 - 0.01), min_size=1, max_size=12).map(np.array))
@settings(max_examples=200, deadline=None)
def test_directions_and_angles_are_inverse(angles):
    unit = direction(angles)
    assert np.linalg.norm(unit) == pytest.approx(1)
    assert (unit >= 0).all()
    # The sines of many small angles leave little for the last ones to say.
    seen = np.cumprod(np.append(1.0, np.sin(angles[:-1]))) > 1e-4
    assert np.allclose(angles_of(unit)[seen], angles[seen], atol=1e-6)


def test_the_angles_of_section_4_2_2():
    one, two = 0.3, 1.1
    expected = [np.cos(one), np.sin(one) * np.cos(two), np.sin(one) * np.sin(two)]
    assert np.allclose(direction(np.array([one, two])), expected)
    many = direction(np.array([[one, two], [two, one]]))
    assert np.allclose(many[0], expected)
    assert many.shape == (2, 3)


# --- one question a halving


@given(truth=st.floats(0.0, 1.0), tol=st.sampled_from([0.3, 0.02, 1e-4]))
@settings(max_examples=100, deadline=None)
def test_halving_finds_a_value(truth, tol):
    brackets = Brackets.of(0.0, 1.0, 3, (0.0, 1.0))
    asked = drive(
        halving(brackets, 1, tol, lambda v: scalars(v, 0.0)),
        lambda q: "first" if truth > q.first[0] else "second",
    )
    assert len(asked) == np.ceil(np.log2(1 / tol))
    assert brackets.low[1] <= truth <= brackets.high[1]
    assert brackets.width(1) <= tol
    assert brackets.low[[0, 2]].tolist() == [0, 0]  # the others are left alone
    assert brackets.high[[0, 2]].tolist() == [1, 1]


@given(answers=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_halving_ends_and_never_widens_whatever_is_said(answers):
    brackets = Brackets.of(0.0, 1.0, 1, (0.0, 1.0))
    widths, given_answers = [1.0], iter(answers + ["skip"] * 4)

    def answer(query):
        widths.append(brackets.width(0))
        assert brackets.low[0] < query.first[0] < brackets.high[0]
        return next(given_answers)

    asked = drive(halving(brackets, 0, 1e-3, lambda v: scalars(v, 0.0)), answer)
    assert len(asked) <= len(answers) + 4
    assert (np.diff(widths) <= 0).all()
    assert 0 <= brackets.low[0] <= brackets.high[0] <= 1


def test_a_tie_leaves_the_middle_half_and_a_skip_asks_nearby():
    brackets = Brackets.of(0.0, 1.0, 1, (0.0, 1.0))
    steps = halving(brackets, 0, 0.01, lambda v: scalars(v, 0.0))
    assert next(steps).first[0] == 0.5
    asked = steps.send("tie")
    assert (brackets.low[0], brackets.high[0]) == (0.25, 0.75)
    assert brackets.answered.tolist() == [[1, 1]]
    assert asked.first[0] == 0.5
    places = [steps.send("skip").first[0] for _ in range(3)]
    assert places == pytest.approx([0.45, 0.55, 0.4])
    assert (brackets.low[0], brackets.high[0]) == (0.25, 0.75)
    with pytest.raises(StopIteration):
        steps.send("skip")


def test_nothing_is_asked_where_there_is_no_question():
    brackets = Brackets.of(0.2, 0.8, 1, (0.0, 1.0))
    assert drive(halving(brackets, 0, 0.01, lambda v: None), None) == []
    assert (brackets.open_low[0], brackets.open_high[0]) == (0.0, 1.0)


def test_an_end_that_no_answer_set_may_be_anywhere():
    brackets = Brackets.of(0.2, 0.8, 1, (0.0, 1.0))
    brackets.raise_low(0, 0.4)
    assert (brackets.open_low[0], brackets.open_high[0]) == (0.4, 1.0)
    brackets.cut_high(0, 0.7)
    assert (brackets.open_low[0], brackets.open_high[0]) == (0.4, 0.7)
    brackets.reopen(0, 0.1, 0.9)
    assert (brackets.open_low[0], brackets.open_high[0]) == (0.0, 1.0)


# --- a direction


@given(vector=positive, tol=st.sampled_from([0.05, 0.01]))
@settings(max_examples=100, deadline=None)
def test_one_sweep_finds_any_positive_direction(vector, tol):
    assume(np.linalg.norm(vector) > 1e-3)
    unit = vector / np.linalg.norm(vector)
    n = len(unit) - 1
    brackets = Brackets.of(0.0, np.pi / 2, n)
    asked = drive(
        angle_sweep(brackets, tol, lambda u: Query(u, -u)), prefers(lambda side: side @ unit)
    )
    assert len(asked) <= n * np.ceil(np.log2(np.pi / 2 / tol))
    found = direction(brackets.middle)
    # Half a width for each angle, and what the later angles' errors do to the earlier ones.
    assert np.linalg.norm(found - unit) <= np.sqrt(n) * tol / 2 + n * tol**2
    assert all(np.linalg.norm(query.first) == pytest.approx(1) for query in asked)


def test_a_sweep_of_some_of_the_brackets():
    unit = direction(np.array([0.4, 1.2, 0.9]))
    brackets = Brackets.of(0.0, np.pi / 2, 6)
    steps = angle_sweep(brackets, 0.001, lambda u: Query(u, -u), start=2, size=3)
    drive(steps, prefers(lambda side: side @ unit))
    assert np.allclose(brackets.middle[2:5], [0.4, 1.2, 0.9], atol=2e-3)
    assert np.allclose(brackets.middle[[0, 1, 5]], np.pi / 4)


@pytest.mark.parametrize(("q", "count"), [(6, 320), (12, 704)])
def test_cycles_of_algorithm_4_2(q, count):
    """Two cycles come near; one sweep with an eighth of the questions comes nearer."""
    rng = np.random.default_rng(q)
    errors = []
    for _ in range(10):
        unit = np.abs(rng.normal(size=q))
        unit /= np.linalg.norm(unit)
        answer = prefers(lambda side, a=unit: side @ a)
        cycled, swept = (Brackets.of(0.0, np.pi / 2, q - 1) for _ in range(2))
        asked = drive(sphere_cycles(cycled, 0.01, Query), answer)
        assert len(asked) == count
        asked = drive(angle_sweep(swept, 0.01, lambda u: Query(u, -u)), answer)
        assert len(asked) == count / 8
        errors.append([np.linalg.norm(direction(b.middle) - unit) for b in (cycled, swept)])
    two_cycles, one_sweep = np.array(errors).T
    assert np.median(two_cycles) < 0.05
    assert one_sweep.max() < min(0.007, two_cycles.max())


# --- four or two questions a halving


def hill(peak, left, right, power):
    """Return a function that rises to its peak and falls from it, each side at its own pace."""

    def height(x):
        return -left * (peak - x) ** power if x < peak else -right * (x - peak) ** power

    return height


@given(
    peak=st.floats(0.0, np.pi / 2),
    left=st.floats(0.01, 10.0),
    right=st.floats(0.01, 10.0),
    power=st.sampled_from([0.5, 1, 2, 4]),
    n_questions=st.sampled_from([4, 2]),
)
@settings(max_examples=200, deadline=None)
def test_unimodal_finds_the_peak(peak, left, right, power, n_questions):
    brackets = Brackets.of(0.0, np.pi / 2, 1)
    height = hill(peak, left, right, power)
    asked = drive(
        unimodal(brackets, 0, 0.02, scalars, n_questions=n_questions),
        prefers(lambda side: height(side[0])),
    )
    halvings = np.ceil(np.log2(np.pi / 2 / 0.02))
    assert brackets.width(0) <= 0.02
    assert brackets.low[0] - 1e-9 <= peak <= brackets.high[0] + 1e-9
    assert len(asked) == 4 * halvings if n_questions == 4 else len(asked) <= 2 * halvings


@pytest.mark.parametrize("n_questions", [2, 4])
def test_unimodal_finds_a_peak_between_flat_ends(n_questions):
    """Beyond the reach of the data all classifiers are the same: the answer there is a tie."""
    for peak in np.linspace(0.52, 0.98, 24):
        height = hill(peak, 1.0, 1.0, 1)
        brackets = Brackets.of(0.0, 1.0, 1, (0.0, 1.0))

        def value(side, height=height):
            return height(max(side[0], 0.51))  # all the lower half is flat

        drive(unimodal(brackets, 0, 0.02, scalars, n_questions=n_questions), prefers(value))
        assert brackets.low[0] - 1e-9 <= peak <= brackets.high[0] + 1e-9


@given(answers=st.lists(st.sampled_from(ANSWERS), max_size=80), n_questions=st.sampled_from([4, 2]))
@settings(max_examples=100, deadline=None)
def test_unimodal_ends_whatever_is_said(answers, n_questions):
    brackets = Brackets.of(0.0, 1.0, 1, (0.0, 1.0))
    given_answers = iter(answers + ["skip"] * 100)
    asked = drive(
        unimodal(brackets, 0, 1e-3, scalars, n_questions=n_questions), lambda q: next(given_answers)
    )
    assert len(asked) <= 10 * n_questions
    assert brackets.width(0) <= 1e-3


def test_line_7_takes_down_then_up_for_up():
    brackets = Brackets.of(0.0, 1.0, 1, (0.0, 1.0))
    steps = unimodal(brackets, 0, 0.6, scalars)
    next(steps)
    for said in ("second", "first", "first"):
        steps.send(said)
    with pytest.raises(StopIteration):
        steps.send("second")
    assert (brackets.low[0], brackets.high[0]) == (0.5, 1.0)


# --- turned round


@given(answers=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_swapped_turns_preferences_and_leaves_the_rest(answers):
    heard = []

    def listener():
        for n in range(len(answers)):
            answer = yield scalars(n, 0.0)
            heard.append(answer)

    said = iter(answers)
    asked = drive(swapped(listener()), lambda q: next(said))
    other = {"first": "second", "second": "first", "tie": "tie", "skip": "skip"}
    assert heard == [other[a] for a in answers]
    assert [query.first[0] for query in asked] == list(range(len(answers)))


def test_swapped_finds_the_lowest_point():
    brackets = Brackets.of(0.0, 1.0, 1, (0.0, 1.0))
    drive(swapped(unimodal(brackets, 0, 0.01, scalars)), prefers(lambda s: (s[0] - 0.3) ** 2))
    assert abs(brackets.middle[0] - 0.3) < 0.01


def test_an_empty_search_stays_empty_when_swapped():
    assert drive(swapped(iter(())), None) == []
