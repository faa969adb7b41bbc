"""Choosing questions: information, agreement, and looking ahead without a trace."""

import copy
import warnings

import numpy as np
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, Elicitation, MetricOracle, RateSpace
from karat.elicit.asking import (
    AttainablePairs,
    Candidates,
    CheckPairs,
    Effort,
    Goal,
    SpherePairs,
    answer_information,
    best_question,
    class_errors,
    draw_pool,
    is_precise,
    more_errors,
    told_apart,
)
from karat.elicit.families import LinearFamily, RatioFamily
from karat.elicit.posterior import AgreementPanel, ParticlePosterior
from karat.exceptions import (
    ContradictionWarning,
    ElicitationError,
    NotIdentifiedWarning,
    OptionError,
)
from karat.metrics import cost_matrix

DOCTOR = cost_matrix([[0, 1], [4, 0]])


def posterior_of(space, n=400, seed=0):
    return ParticlePosterior.prior(LinearFamily(space), n, 0.01, np.random.default_rng(seed))


# --- the value of a question


@pytest.mark.parametrize("sizes", [(3, 1), (5, 40)])
def test_information_is_mutual_information(sizes, rng):
    """Of the answer and the metric, summed over all cases of their joint law."""
    metrics, candidates = sizes
    first, shares = rng.random((candidates, metrics)), rng.dirichlet(np.ones(metrics))
    found = answer_information(first, shares)
    for chance, bits in zip(first, found, strict=True):
        joint = np.stack([shares * chance, shares * (1 - chance)])
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        assert bits == pytest.approx(np.sum(joint * np.log2(joint / apart)), abs=1e-12)
    certain = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    assert answer_information(certain, np.full(2, 0.5)) == pytest.approx([1.0, 0.0, 0.0])


def candidates_of(margins, seen):
    n = len(margins)
    values = np.vstack([margins, np.zeros(margins.shape[1])])
    return Candidates(np.asarray(seen, dtype=float), np.arange(n), np.full(n, n), values)


def test_an_even_split_tells_most(binary):
    posterior = posterior_of(binary)
    n = len(posterior.parameters[:: posterior.stride])
    halves = np.where(np.arange(n) < n / 2, 1.0, -1.0)
    tenth = np.where(np.arange(n) < n / 10, 1.0, -1.0)
    margins = np.stack([np.ones(n), tenth, halves, -np.ones(n)])
    assert best_question([posterior], [candidates_of(margins, np.ones(4))])[0] == 2
    # A pair whose sides do not differ is no question, however it splits.
    index, bits = best_question([posterior], [candidates_of(margins, [1, 1, 0, 1])])
    assert index == 1
    assert 0 < bits < 1
    assert best_question([posterior], [candidates_of(margins, np.zeros(4))]) == (None, 0.0)


# --- where questions come from


@pytest.mark.parametrize("name", ["binary", "diagonal", "confusion", "rate"])
@pytest.mark.parametrize("inside", [False, True])
def test_pairs_are_attained_by_classifiers(name, inside, spaces):
    space = spaces[name]
    pool = draw_pool(space, 300, inside=inside, worst_rate=1.0, out_of=None)
    assert np.allclose(pool.confusions.sum(axis=2), space.prior)
    assert np.allclose(space.coordinates(pool.confusions), pool.points)
    for point in pool.points[:4]:
        assert space.contains(point)
    pairs, posterior = AttainablePairs(pool, np.random.default_rng(0)), posterior_of(space)
    (found,) = pairs.candidates(posterior)
    index, _ = best_question([posterior], [found])
    asked = pairs.pick(index)
    assert np.array_equal(space.coordinates(asked.query.first), asked.first)
    assert np.array_equal(space.coordinates(asked.query.second), asked.second)
    sides = np.stack([asked.first, asked.second])
    values = LinearFamily(space).values(posterior.parameters[:: posterior.stride], sides)
    assert np.allclose(found.margins(np.array([index]))[0], values[:, 0] - values[:, 1])


@pytest.mark.parametrize("name", ["binary", "diagonal", "confusion", "rate"])
def test_sphere_pairs_are_opposite_points_of_the_ball(name, spaces):
    space = spaces[name]
    pairs, posterior = SpherePairs(space, np.random.default_rng(0)), posterior_of(space)
    (found,) = pairs.candidates(posterior)
    assert np.allclose(np.linalg.norm(pairs.directions, axis=1), 1)
    for index in range(3):
        asked = pairs.pick(index)
        assert np.allclose((asked.first + asked.second) / 2, space.center)
        assert np.linalg.norm(asked.first - asked.second) == pytest.approx(2 * space.radius)
        assert space.contains(asked.first, tol=1e-7)
        sides = np.stack([asked.first, asked.second])
        values = LinearFamily(space).values(posterior.parameters[:: posterior.stride], sides)
        margins = found.margins(np.array([index]))[0]
        assert np.allclose(margins, values[:, 0] - values[:, 1], atol=1e-9)
        assert np.allclose(space.coordinates(asked.query.first), asked.first, atol=1e-7)


@pytest.mark.parametrize(
    ("family", "name"),
    [("linear", "binary"), ("linear", "groups"), ("ratio", "binary")],
)
@pytest.mark.parametrize("worst", [0.3, 0.5])
def test_no_classifier_is_wrong_on_too_much_of_a_class(family, name, worst, spaces):
    """Neither in questions nor in checks, in no group."""
    procedure = Elicitation(
        spaces[name], family, rng=0, agreement=1.0, worst_rate=worst, max_queries=12
    )
    kinds = set()
    while (query := procedure.ask()) is not None:
        for side in (query.first, query.second):
            assert class_errors(side).max() <= worst + 1e-9
        kinds.add(query.kind)
        procedure.tell("second" if len(procedure.answers) % 2 else "first")
    assert "dominated" in kinds


def test_a_worst_rate_that_leaves_nothing_says_what_is_attained(binary, errors):
    with pytest.raises(
        ElicitationError, match=r"worst_rate is 0.01 and no classifier .* pass worst"
    ):
        Elicitation(binary, worst_rate=0.01).ask()
    tables = errors.sample(500, rng=0)
    least = class_errors(tables).max(axis=1).min()
    assert least > 0.5  # no classifier of this law recognises half of every class
    with pytest.raises(ElicitationError, match=r"worst_rate is 0.45 .* found: 0.6"):
        Elicitation(errors, worst_rate=0.45).ask()
    query = Elicitation(
        errors
    ).ask()  # the default gives way, to the better tenth of the classifiers
    assert class_errors(query.first).max() <= np.quantile(class_errors(tables).max(axis=1), 0.15)


def test_classifiers_that_look_alike_are_not_asked_about(binary):
    """Of ten cases hardly any two thresholds differ; of two, none."""
    procedure = Elicitation(binary, rng=0, out_of=10, agreement=1.0, checks=False, max_queries=8)
    while (query := procedure.ask()) is not None:
        first, second = query.counts(10)
        assert not np.array_equal(first, second)
        procedure.tell("first")
    with pytest.raises(ElicitationError, match="out_of is 2 and all classifiers look alike"):
        Elicitation(binary, out_of=2).ask()


# --- checks


@pytest.mark.parametrize("name", ["binary", "confusion", "groups"])
def test_more_errors_are_worse_in_every_respect_and_attained(name, spaces, rng):
    space = spaces[name]
    if name == "groups":
        joint = Elicitation(space).question_space
        better = joint.sample(20, rng=rng)
    else:
        better = space.sample(20, rng=rng)
    for table in better[class_errors(better).reshape(20, -1).max(axis=1) < 0.9]:
        worse = more_errors(table, 0.5)
        assert np.allclose(worse.sum(axis=-1), table.sum(axis=-1))
        k = table.shape[-1]
        off = ~np.eye(k, dtype=bool)
        rates = [t / t.sum(axis=-1, keepdims=True) for t in (table, worse)]
        raised = (rates[1] - rates[0])[..., off]
        assert raised.min() > 0
        assert np.ptp(raised) < 1e-12  # so that gaps between groups stay as they are
        assert worse.min() >= -1e-12
        if name == "groups" and class_errors(table).max() < 0.4:
            assert space.group_contains(space.group_rates(worse), tol=1e-7)
        elif name == "binary" and class_errors(table).max() < 0.4:
            assert space.contains(space.coordinates(worse), tol=1e-7)


def test_checks_come_when_they_should(binary):
    """The third question, then every fifth, every second after 25; repeats have swapped sides."""
    goal = Goal(agreement=0.95, precision=3.0, most=60)
    due = [n for n in range(1, 36) if goal.check_is_due(n)]
    assert due == [3, 5, 10, 15, 20, 25, 26, 28, 30, 32, 34, 35]
    procedure = Elicitation(binary, rng=1, agreement=1.0, max_queries=20)
    oracle = MetricOracle(DOCTOR, flip=0.2, rng=3)
    asked = []
    while (query := procedure.ask()) is not None:
        if query.kind == "repeat":
            swapped = query.swapped
            assert any(np.array_equal(q.first, swapped.first) for q in asked)
        asked.append(query)
        procedure.tell(oracle(query))
    kinds = [query.kind for query in asked]
    assert [n for n, kind in enumerate(kinds, start=1) if kind != "question"][:3] == [3, 5, 10]
    assert {"dominated", "repeat"} <= set(kinds)
    assert procedure.transcript.kinds == tuple(kinds)
    quiet = Elicitation(binary, rng=1, checks=False, agreement=1.0, max_queries=20)
    quiet.run(MetricOracle(DOCTOR))
    assert set(quiet.transcript.kinds) == {"question"}


def test_dominated_pairs_show_the_better_side_where_it_was_named_less(binary):
    pool = draw_pool(binary, 100, inside=False, worst_rate=0.5, out_of=None)
    checks, posterior = CheckPairs(pool, 0.5, np.random.default_rng(0)), posterior_of(binary)
    posterior.evidence.n_first = 3
    query = checks.pick(posterior, [])
    assert DOCTOR(query.second) > DOCTOR(query.first)


# --- precision


def test_limits_hold_everyone_who_answers_alike():
    """Nobody is shown a classifier that misses half of a rare class, though it would be best."""
    rare = BinarySpace.from_calibrated(LogisticLaw.binary(2.0).proba(np.linspace(-0.4, 1.6, 401)))
    _, high = told_apart(draw_pool(rare, 600, inside=False, worst_rate=0.5, out_of=None).points)
    edge = 1 / np.tan(high)
    assert edge > 1.2
    for seed, cost in enumerate((0.3 * edge, 0.6 * edge, 0.9 * edge)):
        procedure = Elicitation(rare, rng=seed, max_queries=30)
        person = MetricOracle(cost_matrix([[0, 1], [cost, 0]]))
        while (query := procedure.ask()) is not None:
            procedure.tell(person(query))
        with pytest.warns(NotIdentifiedWarning, match="told apart here|may tell them apart"):
            result = procedure.result
        assert result.ratios[0].lower <= cost <= result.ratios[0].upper
        assert result.status == "undecided"
        assert not result.precise


def test_angles_between_which_pairs_tell_trade_offs_apart():
    points = np.array([[0.1, 0.5], [0.3, 0.4], [0.4, 0.1]])
    low, high = told_apart(points)
    assert np.tan(low) == pytest.approx(0.1 / 0.3)
    assert np.tan(high) == pytest.approx(0.2 / 0.1)


def test_precision_by_hand(binary, diagonal):
    goal = Goal(agreement=0.95, precision=3.0, most=60, compared=2)
    low, _ = binary.frontier.reach
    angles = np.linspace(0.6, 0.9, 1000)
    inside = np.column_stack([np.cos(angles), np.sin(angles)])
    assert is_precise(LinearFamily(binary), inside, goal)
    tight = Goal(agreement=0.95, precision=1.2, most=60, compared=2)
    assert not is_precise(LinearFamily(binary), inside, tight)
    beyond = np.append(angles, np.full(100, low / 2))  # limits that the space leaves open
    beyond = np.column_stack([np.cos(beyond), np.sin(beyond)])
    assert not is_precise(LinearFamily(binary), beyond, goal)
    assert is_precise(RatioFamily(binary), np.ones((10, 4)), Goal(0.95, 3.0, 60))
    three = Goal(agreement=0.95, precision=3.0, most=60, compared=3)
    small = np.column_stack([np.ones(100), np.full(100, 0.5), np.linspace(0.001, 0.3, 100)])
    assert is_precise(LinearFamily(diagonal, norm=1), small, three)
    wide = np.column_stack([np.ones(100), np.full(100, 0.5), np.linspace(0.01, 0.9, 100)])
    assert not is_precise(LinearFamily(diagonal, norm=1), wide, three)


# --- agreement


def test_agreement_is_counted_pair_by_pair(diagonal, rng):
    panel = AgreementPanel.of(diagonal, 400, np.random.default_rng(0))
    family = LinearFamily(diagonal)
    draws = np.abs(rng.normal(size=(5, 3)))
    shares = rng.dirichlet(np.ones(5))
    mine = np.abs(rng.normal(size=3))
    total = 0.0
    for share, theirs in zip(shares, draws, strict=True):
        same = [
            (mine @ (panel.points[i] - panel.points[j]) > 0)
            == (theirs @ (panel.points[i] - panel.points[j]) > 0)
            for i, j in zip(panel.left, panel.right, strict=True)
        ]
        total += share * np.mean(same)
    assert panel.agreement(family, mine, draws, shares) == pytest.approx(total, abs=1e-9)
    assert panel.agreement(family, mine, np.tile(mine, (4, 1)), np.full(4, 0.25)) == 1.0
    margins = [
        abs((d / np.linalg.norm(d)) @ (panel.points[i] - panel.points[j]))
        for i, j in zip(panel.left, panel.right, strict=True)
        for d in draws
    ]
    assert panel.typical_margin(family, draws) == pytest.approx(np.median(margins))


def test_agreement_of_a_certain_posterior_is_one(binary):
    posterior = posterior_of(binary)
    posterior.parameters[:] = [1.0, 2.0]
    panel = AgreementPanel.of(binary, 400, np.random.default_rng(0))
    family, shares = posterior.family, posterior.shares
    estimate = family.mean(posterior.parameters, shares)
    assert panel.agreement(family, estimate, posterior.parameters, shares) == pytest.approx(1.0)
    assert np.allclose(estimate / estimate.sum(), [1 / 3, 2 / 3])


# --- looking leaves no trace

ANSWERS = ["first", "second", "tie", "skip", "first", "second"]
PROCEDURES = [
    ("linear", "binary", "attainable"),
    ("linear", "binary", "sphere"),
    ("ratio", "binary", "attainable"),
    ("linear", "confusion", "attainable"),
    ("quadratic", "odds", "attainable"),
    ("linear", "groups", "attainable"),
]


@pytest.fixture(autouse=True, scope="module")
def few_particles():
    """Enough for what is compared here, which is one run with another of the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Elicitation, "effort", Effort(particles=300, candidates=400, kept=100))
        yield


@pytest.mark.parametrize(("family", "name", "pairs"), PROCEDURES)
@pytest.mark.parametrize("look", ["result", "forecast"])
def test_looking_on_the_way_changes_nothing(family, name, pairs, look, spaces):
    options = {"agreement": 1.0, "max_queries": 6, "rng": 5, "pairs": pairs}
    quiet, curious = (Elicitation(spaces[name], family, **options) for _ in range(2))
    for answer in ANSWERS:
        assert curious.ask() == quiet.ask()
        if look == "result":
            assert 0.4 < curious.result.agreement <= 1
        else:
            curious.forecast(2, n_people=2)
        quiet.tell(answer)
        curious.tell(answer)
    assert curious.result == quiet.result
    assert curious.result == curious.result


def test_forecasts_promise_more_for_more_answers(binary):
    procedure = Elicitation(binary, rng=0, agreement=1.0)
    for _ in range(3):
        procedure.tell(MetricOracle(DOCTOR)(procedure.ask()))
    forecast = procedure.forecast(6, n_people=10)
    assert forecast.n_queries.tolist() == [0, 1, 2, 3]
    assert forecast.expected_n_queries.tolist() == [4, 5, 6, 7, 8, 9]
    assert np.array_equal(forecast.agreement, procedure.result.progress.agreement)
    expected = forecast.expected_agreement
    assert ((expected > 0.5) & (expected <= 1)).all()
    assert expected[-1] > forecast.agreement[-1]
    assert "6 more answers would bring" in forecast.summary()
    assert procedure.forecast(6, n_people=10) == forecast


def test_the_next_answer_is_expected_to_help(binary):
    procedure = Elicitation(binary, rng=1, agreement=1.0)
    result = procedure.result
    assert result.agreement < result.next_agreement <= 1
    assert np.isnan(Elicitation(binary, strategy="bisection").result.next_agreement)
    with pytest.raises(ElicitationError, match="keeps no posterior"):
        Elicitation(binary, strategy="bisection").forecast()


# --- when it stops


def test_it_stops_at_the_predicted_agreement(binary):
    oracle = MetricOracle(DOCTOR)
    counts = []
    for target in (0.98, 0.99, 0.995):
        result = Elicitation(binary, rng=2, agreement=target, checks=False, precision=99).run(
            oracle
        )
        history = result.progress.agreement
        assert result.finished
        assert result.agreement == history[-1] >= target > history[8:-1].max(initial=0.0)
        assert len(history) == result.n_queries + 1
        assert result.progress.target == target
        counts.append(result.n_queries)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_nothing_is_asked_if_anything_will_do(binary):
    """But for the least number of answers: fewer are no evidence of anything.

    Of someone to whom both errors are alike, since limits that reach to where questions tell
    nothing are never precise.
    """
    procedure = Elicitation(binary, rng=2, agreement=0.5, precision=1e9, checks=False)
    result = procedure.run(MetricOracle(cost_matrix([[0, 1], [1, 0]])))
    assert procedure.finished
    assert result.n_queries == 8


def test_it_goes_on_until_the_ratio_is_precise(binary):
    oracle, counts = MetricOracle(DOCTOR), []
    for precision in (10.0, 2.0, 1.2):
        result = Elicitation(binary, rng=2, precision=precision, checks=False).run(oracle)
        assert result.precise
        assert result.ratios[0].upper <= precision * result.ratios[0].lower
        counts.append(result.n_queries)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.parametrize(
    ("family", "name", "size"),
    [("linear", "binary", 2), ("ratio", "binary", 4),
     ("linear", "diagonal", 3), ("quadratic", "odds", 5), ("linear", "groups", 5)],
)  # fmt: skip
def test_by_default_it_asks_twenty_and_ten_for_each_parameter_at_most(family, name, size, spaces):
    for checks, least in ((False, 0), (True, 60)):
        procedure = Elicitation(spaces[name], family, rng=3, agreement=1.0, checks=checks)
        while procedure.ask() is not None:
            procedure.tell("skip")  # so that it learns nothing
        assert len(procedure.answers) == max(20 + 10 * size, least)


def test_a_skip_teaches_nothing(errors):
    procedure = Elicitation(errors, rng=4, agreement=1.0)
    for answer in ("first", "second"):
        procedure.tell(answer)
    posterior = copy.deepcopy(procedure._search.posterior)
    before, asked = procedure.result, procedure.ask()
    procedure.tell("skip")
    after = procedure.result
    assert np.array_equal(procedure._search.posterior.parameters, posterior.parameters)
    assert np.array_equal(procedure._search.posterior.log_weights, posterior.log_weights)
    assert after.metric == before.metric
    assert after.weights == before.weights
    assert after.agreement == before.agreement
    assert after.n_queries == before.n_queries + 1
    assert procedure.ask() != asked  # and something else is asked


def test_questions_are_never_about_the_same_thing_twice_over(binary):
    """No question whose sides are the same, and no end of the search in one place."""
    procedure = Elicitation(binary, rng=6, agreement=1.0, max_queries=30)
    oracle = MetricOracle(DOCTOR)
    while (query := procedure.ask()) is not None:
        assert not query.identical
        assert np.abs(query.first - query.second).max() > 1e-6
        procedure.tell(oracle(query))
    assert procedure.result.ratios[0].value == pytest.approx(4, rel=0.1)


def test_contradictory_answers_lower_confidence_and_break_nothing(binary):
    """Coins instead of people: most of them are found out."""
    warned, slips = 0, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        procedure = Elicitation(binary, rng=seed, agreement=1.0, max_queries=40)
        while procedure.ask() is not None:
            procedure.tell(str(rng.choice(["first", "second"])))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = procedure.result
        warned += len(seen)
        assert all("more than slips explain" in str(w.message) for w in seen)
        assert all(issubclass(w.category, ContradictionWarning) for w in seen)
        assert result.lapse.lower <= result.lapse.value <= result.lapse.upper
        slips.append(result.lapse.value)
        assert len(result.contradictions) >= 4
    assert warned >= 1
    assert min(slips) > 0.1
    assert np.mean(slips) > 0.15
    steady = Elicitation(binary, rng=7, agreement=1.0, max_queries=40).run(MetricOracle(DOCTOR))
    assert steady.contradictions == ()
    assert steady.lapse.value < 0.05
    assert steady.ratios[0].lower <= 4 <= steady.ratios[0].upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "name"),
    [("quadratic", "odds"), ("polynomial", "odds"), ("linear", "groups"), ("quadratic", "groups")],
)
def test_coins_are_seen_to_slip(family, name, spaces):
    """Metrics of many weights explain some coins; on average they slip more than who never does."""
    slips, contradicted = [], 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        procedure = Elicitation(spaces[name], family, rng=seed, agreement=1.0, max_queries=40)
        while procedure.ask() is not None:
            procedure.tell(str(rng.choice(["first", "second"])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ContradictionWarning)
            result = procedure.result
        assert result.n_queries == 40
        assert np.isfinite([w.value for w in result.weights]).all()
        slips.append(result.lapse.value)
        contradicted += len(result.contradictions)
    steady = Elicitation(spaces[name], family, rng=0, agreement=1.0, max_queries=40)
    result = steady.run(MetricOracle("accuracy"))
    assert len(result.contradictions) <= 2  # of 40: pairs of nearly the same value
    assert np.mean(slips) > 1.4 * result.lapse.value
    assert contradicted >= 1


@pytest.mark.parametrize(
    ("family", "name"),
    [("ratio", "binary"), ("monotone", "diagonal"),
     ("ratio", "confusion"), ("quadratic", "odds"), ("polynomial", "odds"),
     ("linear", "groups"), ("quadratic", "groups")],
)  # fmt: skip
def test_sphere_pairs_of_curved_metrics_are_refused(family, name, spaces):
    """Opposite points of a ball are for linear metrics."""
    with pytest.raises(OptionError, match="pairs is 'sphere'; expected 'attainable' for"):
        Elicitation(spaces[name], family, pairs="sphere")


def test_rates_weigh_rare_classes_as_common_ones(rng):
    """The same costs of rates, whatever the prior: a space of rates learns them as they are."""
    proba = rng.dirichlet([6, 1, 1], 400)
    space = RateSpace.from_calibrated(proba)
    truth = space.linear_metric(np.ones(6) / np.sqrt(6))
    result = Elicitation(space, rng=0, agreement=0.97).run(MetricOracle(truth))
    fresh = space.sample(200, rng=1)
    order = truth(fresh)[:100] > truth(fresh)[100:]
    assert np.mean((result.metric(fresh)[:100] > result.metric(fresh)[100:]) == order) > 0.9
