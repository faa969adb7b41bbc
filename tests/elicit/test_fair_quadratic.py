"""Errors against squared gaps between groups: what is recovered, and what cannot be."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.elicit import Elicitation, MetricOracle
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import FairQuadraticMetric

pytestmark = pytest.mark.usefixtures("sparing")
SEEDS = st.integers(0, 2**32)


def recovered(space, metrics, asked_all, fair_errors, **options):
    errors, counts = [], set()
    for truth in metrics:
        result = asked_all(Elicitation(space, "quadratic", **options), MetricOracle(truth))
        assert result.finished
        errors.append(fair_errors(result.metric, truth))
        counts.add(result.n_queries)
    return np.median(errors, axis=0), counts


# --- what is recovered


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "m", "runs", "most"), [(2, 2, 7, 70), (3, 2, 1, 520), (2, 3, 3, 180)]
)
def test_bisection_recovers_any_metric(k, m, runs, most, perfect, drawn, asked_all, fair_errors):
    rng = np.random.default_rng(10 * k + m)
    metrics = [drawn.fair_quadratic(k, m, rng) for _ in range(runs)]
    errors, counts = recovered(perfect(k, m), metrics, asked_all, fair_errors, strategy="bisection")
    assert errors[0] <= 0.002
    assert errors[1] <= 0.05
    assert errors[2] <= 0.01
    assert max(counts) <= most


def test_bisection_under_a_law(lawful, drawn, asked_all, fair_errors):
    rng = np.random.default_rng(2)
    metrics = [drawn.fair_quadratic(2, 2, rng) for _ in range(5)]
    errors, _ = recovered(lawful(), metrics, asked_all, fair_errors, strategy="bisection")
    assert errors[0] <= 0.002
    assert errors[1] <= 0.15
    assert errors[2] <= 0.03


@pytest.mark.slow
@pytest.mark.slow
def test_the_corrected_recovers_metrics_too(perfect, drawn, asked_all, fair_errors):
    """Within a ball and by ratios: ten times the questions, and ten times the error."""
    rng = np.random.default_rng(3)
    metrics = [drawn.fair_quadratic(2, 2, rng) for _ in range(7)]
    errors, counts = recovered(
        perfect(2, 2), metrics, asked_all, fair_errors, strategy="corrected", tol=0.002
    )
    assert errors[0] <= 0.08
    assert errors[1] <= 0.7
    assert errors[2] <= 0.1
    assert min(counts) > 450


def test_nobody_who_never_slips_contradicts_themselves(perfect, drawn):
    rng = np.random.default_rng(8)
    for _ in range(2):
        truth = drawn.fair_quadratic(2, 2, rng)
        result = Elicitation(perfect(2, 2), "quadratic", strategy="bisection").run(
            MetricOracle(truth)
        )
        assert result.contradictions == ()


# --- what is known beforehand


@pytest.mark.slow
def test_what_is_known_is_not_asked_for(perfect, drawn, asked_all, fair_errors):
    space, truth = perfect(3, 2), drawn.fair_quadratic(3, 2, np.random.default_rng(1))
    parts = {"cost": 3 * truth.cost, "violation": 5 * truth.violation}
    counts = {}
    for names in ((), ("cost",), ("violation",), ("cost", "violation")):
        known = {name: parts[name] for name in names}
        procedure = Elicitation(space, "quadratic", strategy="bisection", **known)
        result = asked_all(procedure, MetricOracle(truth))
        errors = fair_errors(result.metric, truth)
        assert errors[0] <= 0.005
        assert errors[1] <= 0.05
        assert errors[2] <= 0.01
        for name in names:
            assert np.allclose(getattr(result.metric, name), getattr(truth, name))
        counts[names] = result.n_queries
    assert counts["cost", "violation"] <= 40
    assert counts["violation",] <= 100
    assert counts["cost",] < counts[()]


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("tradeoff", [0.1, 0.5, 0.9])
def test_only_the_trade_off(k, m, tradeoff, perfect, drawn, asked_all):
    truth = drawn.fair_quadratic(k, m, np.random.default_rng(k * m), tradeoff)
    known = {"cost": truth.cost, "violation": truth.violation}
    for strategy, most, limit in (("bisection", 40, 0.003), ("corrected", 45, 0.1)):
        procedure = Elicitation(perfect(k, m), "quadratic", strategy=strategy, tol=1e-3, **known)
        result = asked_all(procedure, MetricOracle(truth))
        assert result.n_queries <= most
        assert result.metric.tradeoff == pytest.approx(tradeoff, abs=limit)


@pytest.mark.slow
def test_gaps_that_outweigh_errors_are_measured_where_they_are_small(
    perfect, drawn, asked_all, fair_errors
):
    """Across a wide gap the slope shows next to nothing of the errors, which give the unit."""
    rng, space = np.random.default_rng(9), perfect(2, 2)
    errors = []
    for tradeoff in (0.95, 0.98, 0.99) * 3:
        truth = drawn.fair_quadratic(2, 2, rng, tradeoff)
        result = asked_all(
            Elicitation(space, "quadratic", strategy="bisection"), MetricOracle(truth)
        )
        errors.append(fair_errors(result.metric, truth))
    assert np.max(errors, axis=0)[2] <= 0.01
    assert np.median(errors, axis=0)[1] <= 0.02


def test_a_diagonal_takes_fewer_questions(perfect, asked_all, fair_errors):
    rng = np.random.default_rng(4)
    bend = np.diag(np.abs(rng.normal(size=6)))[None]
    truth = FairQuadraticMetric(np.abs(rng.normal(size=6)), bend, 0.5).normalized()
    procedure = Elicitation(perfect(3, 2), "quadratic", strategy="bisection", diagonal=True)
    result = asked_all(procedure, MetricOracle(truth))
    assert result.n_queries <= 320  # 515 otherwise
    assert max(fair_errors(result.metric, truth)) <= 0.05
    assert not (result.metric.violation * (1 - np.eye(6))).any()
    assert len(result.weights) == 6 + 6 + 1


def test_pairs_alike_take_the_questions_of_one(perfect, drawn, asked_all, fair_errors):
    even = drawn.fair_quadratic(2, 2, np.random.default_rng(5))
    truth = FairQuadraticMetric(even.cost, np.tile(even.violation, (3, 1, 1)), 0.4).normalized()
    plain, alike = (
        asked_all(
            Elicitation(perfect(2, 3), "quadratic", strategy="bisection", same_pairs=s),
            MetricOracle(truth),
        )
        for s in (False, True)
    )
    assert alike.n_queries <= 0.5 * plain.n_queries
    assert max(fair_errors(alike.metric, truth)) <= 0.05
    assert np.array_equal(alike.metric.violation, alike.metric.violation[[1, 2, 0]])


@pytest.mark.slow
def test_sparse_weights_take_fewer_questions(perfect, asked_all, fair_errors):
    cost, bend = np.zeros(6), np.zeros((1, 6, 6))
    cost[[0, 3]], bend[0, 3, 3] = 1.0, 1.0
    truth = FairQuadraticMetric(cost, bend, 0.5).normalized()
    plain, sparse = (
        asked_all(
            Elicitation(perfect(3, 2), "quadratic", strategy="bisection", sparse=s),
            MetricOracle(truth),
        )
        for s in (False, True)
    )
    assert sparse.n_queries <= 0.8 * plain.n_queries
    assert max(fair_errors(sparse.metric, truth)) <= 0.1


# --- what is asked


@pytest.mark.parametrize(("k", "m"), [(2, 2), (2, 3)])
@pytest.mark.parametrize("strategy", ["bisection", "corrected"])
def test_every_question_is_attained(k, m, strategy, perfect, drawn):
    space = perfect(k, m)
    procedure = Elicitation(space, "quadratic", strategy=strategy, tol=0.05, max_queries=250)
    oracle = MetricOracle(drawn.fair_quadratic(k, m, np.random.default_rng(0)))
    while (query := procedure.ask()) is not None:
        for side in (query.first, query.second):
            assert side.shape == (m, k, k)
            assert side.min() > -1e-12
            if len(procedure.answers) % 20 == 0:
                assert space.group_contains(space.group_rates(side), tol=1e-7)
        if strategy == "bisection":
            assert not query.identical
        procedure.tell(oracle(query))


def test_people_are_asked_about_what_classifiers_attain(calibrated, drawn):
    procedure = Elicitation(calibrated, "quadratic", rng=0, max_queries=8, agreement=1.0)
    oracle = MetricOracle(drawn.fair_quadratic(2, 2, np.random.default_rng(0)))
    while (query := procedure.ask()) is not None:
        assert not query.identical
        for side in (query.first, query.second):
            assert calibrated.group_contains(calibrated.group_rates(side), tol=1e-7)
        procedure.tell(oracle(query))
    assert len(procedure.answers) == 8


# --- what must not matter


@given(seed=SEEDS, scale=st.sampled_from([0.5, 4.0]))
@settings(max_examples=2, deadline=None)
def test_the_scale_of_the_metric_changes_nothing(seed, scale, perfect, drawn, asked_all):
    truth = drawn.fair_quadratic(2, 2, np.random.default_rng(seed))
    larger = FairQuadraticMetric(scale * truth.cost, scale * truth.violation, truth.tradeoff)
    one, other = (
        asked_all(
            Elicitation(perfect(2, 2), "quadratic", strategy="bisection", rng=0),
            MetricOracle(metric),
        )
        for metric in (truth, larger)
    )
    assert one.transcript == other.transcript
    assert one.metric == other.metric


# --- what cannot be known


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("strategy", ["bisection", "corrected"])
def test_gaps_that_do_not_count(m, strategy, perfect, drawn):
    truth = drawn.fair_quadratic(2, m, np.random.default_rng(0), 0.0)
    with pytest.warns(NotIdentifiedWarning, match="gaps between groups made no difference"):
        result = Elicitation(perfect(2, m), "quadratic", strategy=strategy).run(MetricOracle(truth))
    assert result.metric.tradeoff < 4 * 0.004
    assert np.linalg.norm(result.metric.cost - truth.cost) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("k", "m"), [(2, 2), (2, 3), (3, 2)])
def test_errors_that_do_not_count(k, m, perfect, drawn):
    """λ = 1: each pair is found alone, so that pairs are not compared with each other."""
    truth = drawn.fair_quadratic(k, m, np.random.default_rng(7), 1.0)
    words = "one pair of groups cost against another's$" if m == 3 else "arbitrary$"
    with pytest.warns(NotIdentifiedWarning, match=r"only gaps count \(λ = 1\).*" + words):
        result = Elicitation(perfect(k, m), "quadratic", strategy="bisection").run(
            MetricOracle(truth)
        )
    assert result.metric.tradeoff > 0.999
    for found, true in zip(result.metric.violation, truth.violation, strict=True):
        found, true = (b / np.linalg.norm(b) for b in (found, true))
        assert np.linalg.norm(found - true) < 0.1


@pytest.mark.parametrize("known", [(), ("cost",)])
def test_the_corrected_says_that_it_needs_errors_to_count(known, perfect, drawn):
    """Algorithm D.2 divides by the gradient where groups have the same rates."""
    truth = drawn.fair_quadratic(2, 2, np.random.default_rng(7), 1.0)
    parts = {name: getattr(truth, name) for name in known}
    with pytest.warns(
        NotIdentifiedWarning, match=r"what gaps cost is arbitrary\. Use strategy='bi"
    ):
        result = Elicitation(
            perfect(2, 2), "quadratic", strategy="corrected", tol=0.05, **parts
        ).run(MetricOracle(truth))
    assert result.metric.tradeoff > 0.999


@pytest.mark.parametrize("tradeoff", [0.0, 1.0])
@pytest.mark.parametrize("known", [("cost",), ("violation",), ("cost", "violation")])
def test_an_end_is_found_whatever_is_known(tradeoff, known, perfect, drawn, asked_all):
    truth = drawn.fair_quadratic(2, 2, np.random.default_rng(11), tradeoff)
    parts = {name: getattr(truth, name) for name in known}
    procedure = Elicitation(perfect(2, 2), "quadratic", strategy="bisection", tol=1e-3, **parts)
    result = asked_all(procedure, MetricOracle(truth))
    assert result.metric.tradeoff == pytest.approx(tradeoff, abs=0.02)


def test_only_violation_is_known_and_errors_do_not_count_by_the_thesis(perfect, drawn):
    truth = drawn.fair_quadratic(2, 2, np.random.default_rng(12), 1.0)
    procedure = Elicitation(
        perfect(2, 2), "quadratic", strategy="corrected", violation=truth.violation, tol=0.02
    )
    with pytest.warns(NotIdentifiedWarning, match=r"only gaps count \(λ = 1\)"):
        result = procedure.run(MetricOracle(truth))
    assert result.metric.tradeoff > 0.999


@pytest.mark.parametrize("strategy", ["bisection", "corrected"])
@pytest.mark.parametrize("answer", ["tie", "skip"])
def test_someone_who_sees_no_difference_or_says_nothing(strategy, answer, perfect):
    procedure = Elicitation(perfect(2, 2), "quadratic", strategy=strategy, tol=0.05)
    with pytest.warns(NotIdentifiedWarning) as seen:
        result = procedure.run(lambda query: answer)
    said = " ".join(str(w.message) for w in seen)
    assert "nothing is known" in said or "arbitrary" in said
    assert np.isfinite([w.value for w in result.weights]).all()


def test_a_coin_contradicts_itself(perfect):
    warned = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        procedure = Elicitation(perfect(2, 2), "quadratic", strategy="bisection", tol=0.05)
        while procedure.ask() is not None:
            procedure.tell(str(rng.choice(["first", "second"])))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = procedure.result
        warned += any(issubclass(w.category, ContradictionWarning) for w in seen)
        assert 0 <= result.metric.tradeoff <= 1
    assert warned >= 2
