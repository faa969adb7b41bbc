"""Choosing questions: information, agreement, and looking ahead without a trace."""

import copy
import warnings

import numpy as np
import pytest

from karat.elicit import (
    BinaryLinear,
    BinaryLinearFractional,
    DiagonalLinear,
    DiagonalMonotone,
    Fair,
    FairQuadratic,
    Linear,
    LinearFractional,
    MetricOracle,
    Polynomial,
    Procedure,
    Quadratic,
    RateSpace,
)
from karat.elicit.families import LinearFamily
from karat.elicit.posterior import (
    AgreementPanel,
    AttainablePairs,
    Belief,
    Effort,
    ParticlePosterior,
    SpherePairs,
    answer_information,
    best_question,
)
from karat.exceptions import ContradictionWarning, ElicitationError, OptionError
from karat.metrics import cost_matrix

DOCTOR = cost_matrix([[0, 1], [4, 0]])


def posterior_of(space, n=400, seed=0):
    return ParticlePosterior.prior(LinearFamily(space), n, 0.01, np.random.default_rng(seed))


# --- the value of a question


@pytest.mark.parametrize("lapse", [0.001, 0.05, 0.3, 0.5])
@pytest.mark.parametrize("chance", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_information_is_what_an_answer_says_of_the_preference(lapse, chance):
    """Mutual information of preference and answer, summed over all four cases."""
    total = 0.0
    for prefers, p in ((True, chance), (False, 1 - chance)):
        for first in (True, False):
            given = 1 - lapse if prefers == first else lapse
            answered = chance * (1 - lapse if first else lapse) + (1 - chance) * (
                lapse if first else 1 - lapse
            )
            if p * given > 0:
                total += p * given * np.log2(given / answered)
    assert answer_information(np.array([chance]), lapse)[0] == pytest.approx(total, abs=1e-12)


def test_an_even_split_tells_most(binary):
    posterior = posterior_of(binary)
    n = len(posterior.parameters)
    halves = np.where(np.arange(n) < n / 2, 1.0, -1.0)
    tenth = np.where(np.arange(n) < n / 10, 1.0, -1.0)
    margins = np.stack([np.ones(n), tenth, halves, -np.ones(n)])
    margins = margins[:, :: max(1, n // 375)]
    ones = np.ones(4)
    assert best_question(posterior, margins, ones, ones) == 2
    # A pair whose sides do not differ is no question, however it splits.
    assert best_question(posterior, margins, np.array([1.0, 1.0, 0.0, 1.0]), ones) == 1


# --- where questions come from


@pytest.mark.parametrize("name", ["binary", "diagonal", "confusion", "rate"])
def test_pairs_are_attained_by_classifiers(name, spaces):
    space = spaces[name]
    for inside in (False, True):
        pairs = AttainablePairs.of(space, np.random.default_rng(0), inside=inside)
        assert np.allclose(pairs.confusions.sum(axis=2), space.prior)
        assert np.allclose(space.coordinates(pairs.confusions), pairs.points)
        for point in pairs.points[:4]:
            assert space.contains(point)
        posterior = posterior_of(space)
        margins, scale, seen = pairs.candidates(posterior)
        index = best_question(posterior, margins, scale, seen)
        first, second, query = pairs.pick(index)
        assert np.array_equal(space.coordinates(query.first), first)
        assert np.array_equal(space.coordinates(query.second), second)
        values = LinearFamily(space).values(posterior.parameters, np.stack([first, second]))
        stride = max(1, len(posterior.parameters) // 375)
        assert np.allclose(margins[index], (values[:, 0] - values[:, 1])[::stride])


@pytest.mark.parametrize("name", ["binary", "diagonal", "confusion", "rate"])
def test_sphere_pairs_are_opposite_points_of_the_ball(name, spaces):
    space = spaces[name]
    pairs, posterior = SpherePairs(space, np.random.default_rng(0)), posterior_of(space)
    margins, _, _ = pairs.candidates(posterior)
    assert np.allclose(np.linalg.norm(pairs.directions, axis=1), 1)
    for index in range(3):
        first, second, query = pairs.pick(index)
        assert np.allclose((first + second) / 2, space.center)
        assert np.linalg.norm(first - second) == pytest.approx(2 * space.radius)
        assert space.contains(first, tol=1e-7)
        values = LinearFamily(space).values(posterior.parameters, np.stack([first, second]))
        expected = (values[:, 0] - values[:, 1]) / (2 * space.radius)
        stride = max(1, len(posterior.parameters) // 375)
        assert np.allclose(margins[index], expected[::stride], atol=1e-9)
        assert np.allclose(space.coordinates(query.first), first, atol=1e-7)


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
    belief = Belief(posterior, AgreementPanel.of(binary, 400, np.random.default_rng(0)))
    assert belief.agreement() == pytest.approx(1.0)
    assert np.allclose(belief.estimate / belief.estimate.sum(), [1 / 3, 2 / 3])


# --- looking leaves no trace

ANSWERS = ["first", "second", "tie", "skip", "first", "second"]
PROCEDURES = [
    (BinaryLinear, "binary", "attainable"),
    (BinaryLinear, "binary", "sphere"),
    (BinaryLinearFractional, "binary", "attainable"),
    (Linear, "confusion", "attainable"),
    (Quadratic, "odds", "attainable"),
    (Fair, "groups", "attainable"),
]


@pytest.fixture(autouse=True, scope="module")
def few_particles():
    """Enough for what is compared here, which is one run with another of the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Procedure, "effort", Effort(particles=300, candidates=400, kept=100))
        yield


@pytest.mark.parametrize(("kind", "name", "pairs"), PROCEDURES)
@pytest.mark.parametrize("look", ["result", "forecast"])
def test_looking_on_the_way_changes_nothing(kind, name, pairs, look, spaces):
    options = {"agreement": 1.0, "max_queries": 6, "rng": 5, "pairs": pairs}
    quiet, curious = (kind(spaces[name], **options) for _ in range(2))
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
    procedure = BinaryLinear(binary, rng=0, agreement=1.0)
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
    procedure = BinaryLinear(binary, rng=1, agreement=1.0)
    result = procedure.result
    assert result.agreement < result.next_agreement <= 1
    assert np.isnan(BinaryLinear(binary, strategy="bisection").result.next_agreement)
    with pytest.raises(ElicitationError, match="keeps no posterior"):
        BinaryLinear(binary, strategy="bisection").forecast()


# --- when it stops


def test_it_stops_at_the_predicted_agreement(binary):
    oracle = MetricOracle(DOCTOR)
    counts = []
    for target in (0.8, 0.95, 0.99):
        result = BinaryLinear(binary, rng=2, agreement=target).run(oracle)
        history = result.progress.agreement
        assert result.finished
        assert result.agreement == history[-1] >= target > history[:-1].max()
        assert len(history) == result.n_queries + 1
        assert result.progress.target == target
        counts.append(result.n_queries)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_nothing_is_asked_if_anything_will_do(binary):
    procedure = BinaryLinear(binary, rng=2, agreement=0.5)
    assert procedure.ask() is None
    assert procedure.finished
    assert procedure.result.n_queries == 0


@pytest.mark.parametrize(
    ("kind", "name", "size"),
    [(BinaryLinear, "binary", 2), (BinaryLinearFractional, "binary", 4),
     (DiagonalLinear, "diagonal", 3), (Quadratic, "odds", 5), (Fair, "groups", 5)],
)  # fmt: skip
def test_by_default_it_asks_twenty_and_ten_for_each_parameter_at_most(kind, name, size, spaces):
    procedure = kind(spaces[name], rng=3, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("skip")  # so that it learns nothing
    assert len(procedure.answers) == 20 + 10 * size


def test_a_skip_teaches_nothing(errors):
    procedure = Linear(errors, rng=4, agreement=1.0)
    for answer in ("first", "second"):
        procedure.tell(answer)
    posterior = copy.deepcopy(procedure._belief.posterior)
    before, asked = procedure.result, procedure.ask()
    procedure.tell("skip")
    after = procedure.result
    assert np.array_equal(procedure._belief.posterior.parameters, posterior.parameters)
    assert np.array_equal(procedure._belief.posterior.log_weights, posterior.log_weights)
    assert after.metric == before.metric
    assert after.intervals == before.intervals
    assert after.agreement == before.agreement
    assert after.n_queries == before.n_queries + 1
    assert procedure.ask() != asked  # and something else is asked


def test_questions_are_never_about_the_same_thing_twice_over(binary):
    """No question whose sides are the same, and no end of the search in one place."""
    procedure = BinaryLinear(binary, rng=6, agreement=1.0, max_queries=30)
    oracle = MetricOracle(DOCTOR)
    while (query := procedure.ask()) is not None:
        assert not query.identical
        assert np.abs(query.first - query.second).max() > 1e-6
        procedure.tell(oracle(query))
    assert procedure.result.ratios[0].estimate == pytest.approx(4, rel=0.1)


def test_contradictory_answers_lower_confidence_and_break_nothing(binary):
    """Coins instead of people: most of them are found out."""
    warned, slips = 0, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        procedure = BinaryLinear(binary, rng=seed, agreement=1.0, max_queries=40)
        while procedure.ask() is not None:
            procedure.tell(str(rng.choice(["first", "second"])))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = procedure.result
        warned += len(seen)
        assert all("more than slips explain" in str(w.message) for w in seen)
        assert all(issubclass(w.category, ContradictionWarning) for w in seen)
        assert result.lapse.lower <= result.lapse.estimate <= result.lapse.upper
        slips.append(result.lapse.estimate)
        assert len(result.contradictions) >= 4
    assert warned >= 1
    assert min(slips) > 0.1
    assert np.mean(slips) > 0.15
    steady = BinaryLinear(binary, rng=7, agreement=1.0, max_queries=40).run(MetricOracle(DOCTOR))
    assert steady.contradictions == ()
    assert steady.lapse.estimate < 0.05
    assert steady.ratios[0].lower <= 4 <= steady.ratios[0].upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [(Quadratic, "odds"), (Polynomial, "odds"), (Fair, "groups"), (FairQuadratic, "groups")],
)
def test_coins_are_seen_to_slip(kind, name, spaces):
    """Metrics of many weights explain some coins; on average they slip more than who never does."""
    slips, contradicted = [], 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        procedure = kind(spaces[name], rng=seed, agreement=1.0, max_queries=40)
        while procedure.ask() is not None:
            procedure.tell(str(rng.choice(["first", "second"])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ContradictionWarning)
            result = procedure.result
        assert result.n_queries == 40
        assert np.isfinite([w.estimate for w in result.intervals]).all()
        slips.append(result.lapse.estimate)
        contradicted += len(result.contradictions)
    steady = kind(spaces[name], rng=0, agreement=1.0, max_queries=40)
    result = steady.run(MetricOracle("accuracy"))
    assert result.contradictions == ()
    assert np.mean(slips) > 1.4 * result.lapse.estimate
    assert contradicted >= 1


@pytest.mark.parametrize(
    ("kind", "name"),
    [(BinaryLinearFractional, "binary"), (DiagonalMonotone, "diagonal"),
     (LinearFractional, "confusion"), (Quadratic, "odds"), (Polynomial, "odds"),
     (Fair, "groups"), (FairQuadratic, "groups")],
)  # fmt: skip
def test_sphere_pairs_of_curved_metrics_work_or_are_refused(kind, name, spaces):
    """Opposite points of a ball are for linear metrics; for curved ones they are refused."""
    options = {"pairs": "sphere", "rng": 0, "max_queries": 3, "agreement": 1.0}
    if not kind.straight:
        with pytest.raises(OptionError, match="pairs is 'sphere'; expected 'attainable' for"):
            kind(spaces[name], **options)
        return
    procedure = kind(spaces[name], **options)
    for answer in ("first", "second", "first"):
        assert procedure.ask() is not None
        procedure.tell(answer)
    assert procedure.result.n_queries == 3


def test_rates_weigh_rare_classes_as_common_ones(rng):
    """The same costs of rates, whatever the prior: a space of rates learns them as they are."""
    proba = rng.dirichlet([6, 1, 1], 400)
    space = RateSpace.from_calibrated(proba)
    truth = space.linear_metric(np.ones(6) / np.sqrt(6))
    result = Linear(space, rng=0, agreement=0.97).run(MetricOracle(truth))
    fresh = space.sample(200, rng=1)
    order = truth(fresh)[:100] > truth(fresh)[100:]
    assert np.mean((result.metric(fresh)[:100] > result.metric(fresh)[100:]) == order) > 0.9
