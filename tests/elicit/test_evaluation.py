"""Pairs that test an elicited metric, and how often it agrees with a person on them."""

import json
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binomtest, multinomial

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    Elicitation,
    MetricOracle,
    Query,
    RateSpace,
    agreement_on,
    evaluation_pairs,
)
from karat.elicit.checks import mcnemar_p_value, paired_limits
from karat.exceptions import (  # fmt: skip
    AnswerError,
    DataError,
    ElicitationError,
    LengthMismatchError,
    MetricError,
    OptionError,
)
from karat.limits import clopper_pearson
from karat.metrics import accuracy, cost_matrix

KINDS = ("binary", "diagonal", "confusion", "rate", "odds", "groups")


def errors_of(confusion, kind):
    """Return what a side has too much of: every kind of error, or all errors of each class."""
    stack = confusion if confusion.ndim == 3 else confusion[None]
    k = stack.shape[-1]
    if kind == "diagonal":
        return (stack.sum(axis=2) - np.diagonal(stack, axis1=1, axis2=2)).ravel()
    return stack[:, ~np.eye(k, dtype=bool)].ravel()


def trades_off(first, second, kind):
    more = errors_of(first, kind) - errors_of(second, kind)
    return more.max() > 1e-10 and more.min() < -1e-10


@pytest.mark.parametrize("kind", KINDS)
def test_neither_side_dominates(kind, spaces):
    space = spaces[kind]
    pairs = evaluation_pairs(space, 15, rng=0)
    assert len(pairs) == 15
    for pair in pairs:
        assert isinstance(pair, Query)
        assert pair.kind == "question"
        assert trades_off(pair.first, pair.second, kind)
        for side in (pair.first, pair.second):
            assert side.sum() == pytest.approx(1)
            rows = side.sum(axis=-1)
            np.testing.assert_allclose(rows, pair.first.sum(axis=-1), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_are_attained(kind, spaces, calibrated):
    # Where the probabilities are right, what is attained is found exactly.
    space = calibrated if kind == "groups" else spaces[kind]
    for pair in evaluation_pairs(space, 5, rng=1):
        for side in (pair.first, pair.second):
            if kind == "groups":
                assert side.shape == (2, 2, 2)
                assert space.group_contains(space.group_rates(side), tol=1e-7)
            else:
                assert space.contains(space.coordinates(side), tol=1e-7)


@pytest.mark.parametrize("kind", ["binary", "confusion", "groups"])
def test_neither_side_dominates_in_what_is_shown(kind, spaces):
    pairs = evaluation_pairs(spaces[kind], 12, out_of=100, rng=0)
    for pair in pairs:
        first, second = pair.counts(100)
        assert trades_off(first, second, kind), "and so they do not look alike"


def test_classifiers_that_nobody_would_consider_are_left_out(spaces):
    def worst(pair):
        rows = (side.sum(axis=-1) for side in (pair.first, pair.second))
        right = (np.diagonal(side, axis1=-2, axis2=-1) for side in (pair.first, pair.second))
        return max((1 - a / b).max() for a, b in zip(right, rows, strict=True))

    for kind in ("binary", "groups"):
        pairs = evaluation_pairs(spaces[kind], 10, worst_rate=0.5, rng=0)
        assert max(worst(pair) for pair in pairs) <= 0.5
        assert max(worst(pair) for pair in evaluation_pairs(spaces[kind], 60, rng=0)) > 0.5


def test_the_same_seed_the_same_pairs(spaces):
    one, two, other = (evaluation_pairs(spaces["binary"], 4, rng=seed) for seed in (5, 5, 6))
    assert one == two != other
    shared = np.random.default_rng(5)
    assert evaluation_pairs(spaces["binary"], 4, rng=shared) == one


def test_a_guess_is_no_better_than_half_where_nobody_dominates(spaces):
    """Of dominated pairs any metric gets all right; here two opposite ones disagree on most."""
    pairs = evaluation_pairs(spaces["binary"], 400, rng=0)
    misses, alarms = cost_matrix([[0, 1], [50, 0]]), cost_matrix([[0, 50], [1, 0]])
    answers = [MetricOracle(misses)(pair) for pair in pairs]
    assert agreement_on(alarms, pairs, answers).value < 0.1


def test_a_space_without_a_question():
    """Whoever knows the labels needs no trade-off: one classifier is best for everything."""
    y = np.arange(40) % 2
    perfect = RateSpace.from_proba(y, np.eye(2)[y])
    with pytest.raises(
        ElicitationError, match=r"0 of 20,\d{3} random pairs .* 3 are wanted.*trade"
    ):
        evaluation_pairs(perfect, 3, rng=0)


def test_too_narrow_a_view(spaces):
    with pytest.raises(ElicitationError, match=r"the same out of 1\..*a greater out_of"):
        evaluation_pairs(spaces["binary"], 2, out_of=1, rng=0)


@pytest.mark.parametrize("kind", ["diagonal", "confusion", "rate"])
def test_three_classes_of_which_none_may_be_neglected(kind, spaces):
    """Pairs are found from just above what is attained on; below, the error says from where on."""
    space = spaces[kind]
    with pytest.raises(ElicitationError) as caught:
        evaluation_pairs(space, 15, worst_rate=0.5, rng=0)
    said = re.fullmatch(
        r"worst_rate is 0\.5 and every classifier of this space that was found is wrong on "
        r"(0\.5\d\d) of some class or more; pass worst_rate=(0\.\d+) or more",
        str(caught.value),
    )
    least, enough = map(float, said.groups())
    # The least, as a linear program over every classifier: maximise the smallest share right.
    mass = space.population.mass
    n, k = mass.shape
    right = np.zeros((k, n * k + 1))
    for c in range(k):
        right[c, np.arange(n) * k + c] = -mass[:, c] / mass[:, c].sum()
    right[:, -1] = 1.0
    decided = np.column_stack([np.kron(np.eye(n), np.ones(k)), np.zeros(n)])
    best = linprog(np.append(np.zeros(n * k), -1.0), right, np.zeros(k), decided, np.ones(n))
    assert 1 + best.fun <= least + 5e-4 <= 1 + best.fun + 0.03
    for worst in (enough, least + 0.005):
        pairs = evaluation_pairs(space, 15, worst_rate=worst, rng=0)
        sides = np.stack([side for pair in pairs for side in (pair.first, pair.second)])
        wrong = 1 - np.diagonal(sides, axis1=1, axis2=2) / sides.sum(axis=2)
        assert wrong.max() <= worst + 1e-9
        assert all(trades_off(pair.first, pair.second, kind) for pair in pairs)


@pytest.mark.parametrize("options", [{"n": 0}, {"out_of": 0}, {"worst_rate": 1.5}, {"rng": "a"}])
def test_options_of_pairs_that_are_none(options, spaces):
    with pytest.raises(OptionError, match=next(iter(options))):
        evaluation_pairs(spaces["binary"], **options)
    with pytest.raises(ElicitationError, match="space is list; expected a Space"):
        evaluation_pairs([1, 2])


# --- how often a metric agrees


@pytest.fixture(scope="module")
def told(spaces):
    """Thirty pairs, and someone for whom a miss is as bad as six false alarms."""
    pairs = evaluation_pairs(spaces["binary"], 30, rng=2)
    costs = cost_matrix([[0, 1], [6, 0]])
    return costs, pairs, [MetricOracle(costs)(pair) for pair in pairs]


def test_the_share_and_its_limits(told):
    costs, pairs, answers = told
    wrong = [*answers[:27], *("first" if a == "second" else "second" for a in answers[27:])]
    found = agreement_on(costs, pairs, wrong, confidence=0.9)
    assert (found.n, found.n_ties, found.n_skips) == (30, 0, 0)
    assert found.estimate == clopper_pearson(27, 30, confidence=0.9).estimate
    assert found.baseline is None
    assert np.isnan(found.p_value)
    assert "90 % of 30 answers" in found.summary()
    json.dumps(found.to_dict(), allow_nan=False)


def test_ties_and_skips_are_in_no_share(told):
    costs, pairs, answers = told
    some = ["tie", "skip", "TIE", *answers[3:]]
    found = agreement_on(costs, pairs, some)
    assert (found.n, found.n_ties, found.n_skips) == (27, 2, 1)
    assert found.value == 1.0
    assert "2 ties left out" in found.summary()
    nothing = agreement_on(costs, pairs[:2], ["skip", "tie"], baseline="accuracy")
    assert nothing.n == 0
    assert (nothing.lower, nothing.upper) == (0, 1)
    assert "nothing to agree with" in nothing.summary()
    assert agreement_on(costs, [], []).n == 0


def test_a_metric_that_sees_no_difference_does_not_agree():
    pair = Query(np.array([[0.4, 0.1], [0.2, 0.3]]), np.array([[0.5, 0.0], [0.3, 0.2]]))
    assert accuracy(pair.first) == pytest.approx(accuracy(pair.second))
    assert agreement_on("accuracy", [pair], ["first"]).value == 0.0


def test_the_other_way_round_is_the_same(told):
    costs, pairs, answers = told
    turned = ["second" if answer == "first" else "first" for answer in answers]
    one = agreement_on(costs, pairs, answers, baseline="accuracy")
    other = agreement_on(costs, [pair.swapped for pair in pairs], turned, baseline="accuracy")
    assert one == other


def test_against_a_baseline(told):
    costs, pairs, answers = told
    found = agreement_on(costs, pairs, answers, baseline="accuracy")
    guess = agreement_on("accuracy", pairs, answers, baseline=costs)
    assert found.baseline == guess.estimate
    assert (found.only_metric, found.only_baseline) == (guess.only_baseline, guess.only_metric)
    assert found.difference.value == pytest.approx(-guess.difference.value)
    assert found.difference.lower == pytest.approx(-guess.difference.upper)
    assert found.p_value == guess.p_value
    assert found.difference.value == pytest.approx(found.value - found.baseline.value)
    assert "McNemar" in found.summary()
    same = agreement_on(costs, pairs, answers, baseline=costs)
    assert (same.difference.value, same.p_value) == (0.0, 1.0)


def test_groups_are_pooled_for_a_metric_that_knows_none(spaces):
    pairs = evaluation_pairs(spaces["groups"], 10, rng=0)
    costs = cost_matrix([[0, 1], [6, 0]])
    answers = [MetricOracle(costs)(pair) for pair in pairs]
    assert agreement_on(costs, pairs, answers).value == 1.0


@pytest.mark.parametrize(
    ("pairs", "answers", "error", "message"),
    [
        (5, ["first"], DataError, "pairs is 5; expected a list of queries"),
        (["ab"], ["first"], DataError, "pair 1 is 'ab'; expected a Query"),
        ([[[[1, 2], [3]], 1]], ["first"], DataError, "pair 1 is"),
        (1, ["yes"], AnswerError, "the answer is 'yes'"),
        (1, ["first", "first"], LengthMismatchError, "answers has 2 rows and pairs has 1"),
    ],
)
def test_bad_pairs_and_answers(pairs, answers, error, message, told):
    with pytest.raises(error, match=message):
        agreement_on("accuracy", told[1][:1] if pairs == 1 else pairs, answers)


def test_a_metric_for_other_classes(told):
    with pytest.raises(MetricError, match="3 classes"):
        agreement_on(cost_matrix(1 - np.eye(3)), told[1], told[2])
    with pytest.raises(OptionError, match="metric is 'beauty'"):
        agreement_on("accuracy", told[1], told[2], baseline="beauty")


# --- two metrics on the same answers


@given(b=st.integers(0, 30), c=st.integers(0, 30))
def test_mcnemar_is_the_binomial_test_of_a_half(b, c):
    wanted = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar_p_value(b, c) == pytest.approx(wanted)


@given(n=st.integers(0, 40), parts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
       confidence=st.floats(0.5, 0.999))  # fmt: skip
@settings(deadline=None)
def test_limits_of_a_difference_hold_what_was_seen(n, parts, confidence):
    apart = int(parts[0] * n)
    b = int(parts[1] * apart)
    low, high = paired_limits(b, apart - b, n, confidence)
    seen = (2 * b - apart) / n if n else 0.0
    assert -1 <= low <= seen <= high <= 1
    assert paired_limits(apart - b, b, n, confidence) == pytest.approx((-high, -low))
    wider = paired_limits(b, apart - b, n, (1 + confidence) / 2)
    assert wider[0] <= low
    assert wider[1] >= high


@pytest.mark.parametrize("n", [8, 15])
@pytest.mark.parametrize("both", [(0.3, 0.1), (0.05, 0.02), (0.4, 0.4), (0.9, 0.05), (0.0, 0.0)])
def test_limits_of_a_difference_cover(n, both):
    """Exactly, by summing over all tables: at least as often as they say."""
    chances = [both[0], both[1], 1 - sum(both)]
    covered = 0.0
    for b, c in product(range(n + 1), repeat=2):
        if b + c <= n:
            low, high = paired_limits(b, c, n, 0.9)
            if low - 1e-12 <= both[0] - both[1] <= high + 1e-12:
                covered += multinomial.pmf([b, c, n - b - c], n, chances)
    assert covered >= 0.9 - 1e-9


def test_an_elicited_metric_predicts_the_person_and_accuracy_does_not():
    """Hiranandani 2021, section 8.2.3, on a simulated person with slips."""
    law = LogisticLaw.binary(5.0)
    space = BinarySpace.from_density(law.proba, n_points=201)
    person = MetricOracle(cost_matrix([[0, 1], [8, 0]]), flip=0.05, rng=0)
    metric = Elicitation(space, agreement=0.97, rng=0).run(person).metric
    pairs = evaluation_pairs(space, 100, rng=1)
    found = agreement_on(metric, pairs, [person(pair) for pair in pairs], baseline="accuracy")
    assert found.value > 0.8
    assert found.p_value < 0.001
    assert found.difference.lower > 0
