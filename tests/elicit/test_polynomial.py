"""Polynomials of any order: what is recovered, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.datasets import LogisticLaw
from karat.elicit import Elicitation, MetricOracle, RateSpace
from karat.exceptions import ElicitationError, NotIdentifiedWarning, OptionError
from karat.metrics import PolynomialMetric, QuadraticMetric

pytestmark = pytest.mark.usefixtures("sparing")
SEEDS = st.integers(0, 2**32)


def worst(found, truth):
    """Return the greatest error of the tensors, in norm."""
    return max(
        np.linalg.norm(a - b) for a, b in zip(found.coefficients, truth.coefficients, strict=True)
    )


@pytest.mark.slow
def test_bisection_recovers_any_cubic(perfect, drawn, asked_all):
    space, rng, errors = perfect(2), np.random.default_rng(0), []
    for _ in range(7):
        truth = drawn.polynomial(2, 3, rng)
        result = asked_all(
            Elicitation(space, "polynomial", strategy="bisection"), MetricOracle(truth)
        )
        errors.append(worst(result.metric, truth))
        assert result.n_queries <= 110
    assert np.median(errors) <= 0.05


@pytest.mark.slow
def test_bisection_recovers_cubics_under_a_law(drawn, asked_all):
    space = RateSpace.from_density(LogisticLaw.binary(5.0).proba, n_points=201)
    rng, errors = np.random.default_rng(1), []
    for _ in range(5):
        truth = drawn.polynomial(2, 3, rng)
        result = asked_all(
            Elicitation(space, "polynomial", strategy="bisection"), MetricOracle(truth)
        )
        errors.append(worst(result.metric, truth))
    assert np.median(errors) <= 0.1


@pytest.mark.slow
@pytest.mark.slow
def test_the_corrected_recovers_cubics_roughly(perfect, drawn, asked_all):
    """Within a ball: five to ten times less exactly."""
    space, rng, errors = perfect(2), np.random.default_rng(2), []
    for _ in range(3):
        truth = drawn.polynomial(2, 3, rng)
        procedure = Elicitation(space, "polynomial", strategy="corrected")
        errors.append(worst(asked_all(procedure, MetricOracle(truth)).metric, truth))
    assert np.median(errors) <= 0.5


def test_order_two_is_quadratic(perfect, drawn, asked_all, rng):
    """The same questions, answers and metric as the quadratic family with the same tolerance."""
    truth = drawn.quadratic(2, rng)
    one = asked_all(
        Elicitation(perfect(2), "polynomial", order=2, strategy="bisection"), MetricOracle(truth)
    )
    other = asked_all(
        Elicitation(perfect(2), "quadratic", tol=1e-3, strategy="bisection"), MetricOracle(truth)
    )
    assert isinstance(one.metric, QuadraticMetric)
    assert one.metric == other.metric
    assert one.transcript.queries == other.transcript.queries


def test_a_quadratic_person_has_no_cubic_terms(perfect, asked_all):
    truth = QuadraticMetric([-1, -0.5], [[-2, 0.5], [0.5, 1]]).normalized()
    result = asked_all(
        Elicitation(perfect(2), "polynomial", strategy="bisection"), MetricOracle(truth)
    )
    first, second, third = result.metric.coefficients
    assert np.linalg.norm(third) < 0.05
    assert np.allclose(first, truth.linear, atol=0.02)
    assert np.allclose(second, truth.quadratic, atol=0.05)


def test_a_quartic_is_found_as_an_order_of_classifiers(perfect, drawn, asked_all):
    """Fifteen weights of two rates."""
    space, rng = perfect(2), np.random.default_rng(3)
    same = []
    for _ in range(3):
        truth = drawn.polynomial(2, 4, rng)
        procedure = Elicitation(space, "polynomial", order=4, strategy="bisection", tol=1e-4)
        found = asked_all(procedure, MetricOracle(truth)).metric
        left = space.confusion(rng.uniform(0, 1, (300, 2)))
        right = space.confusion(rng.uniform(0, 1, (300, 2)))
        same.append(np.mean((found(left) > found(right)) == (truth(left) > truth(right))))
        assert found.order == 4
    assert np.median(same) > 0.97


@given(seed=SEEDS, scale=st.sampled_from([0.5, 4.0]))
@settings(max_examples=4, deadline=None)
def test_the_scale_of_the_metric_changes_nothing(seed, scale, perfect, drawn, asked_all):
    truth = drawn.polynomial(2, 3, np.random.default_rng(seed))
    larger = PolynomialMetric([scale * tensor for tensor in truth.coefficients])
    one, other = (
        asked_all(
            Elicitation(perfect(2), "polynomial", strategy="bisection", rng=0), MetricOracle(metric)
        )
        for metric in (truth, larger)
    )
    assert one.transcript == other.transcript


# A person who slips may be flagged by chance; that is counted elsewhere.
@pytest.mark.filterwarnings("ignore::karat.exceptions.ContradictionWarning")
def test_people_who_slip_are_asked_about_what_classifiers_attain(drawn):
    space = RateSpace.from_density(LogisticLaw.binary(5.0).proba, n_points=201)
    truth = drawn.polynomial(2, 3, np.random.default_rng(4))
    procedure = Elicitation(space, "polynomial", rng=0, max_queries=20)
    oracle = MetricOracle(truth, flip=0.05, rng=0)
    before = procedure.result.agreement
    while (query := procedure.ask()) is not None:
        for side in (query.first, query.second):
            assert space.contains(space.coordinates(side), tol=1e-7)
        procedure.tell(oracle(query))
    result = procedure.result
    assert result.agreement > before
    assert result.lapse.lower <= result.lapse.value <= result.lapse.upper
    left, right = (procedure.question_space.sample(400, rng=1) for _ in range(2))
    found = result.metric
    assert np.mean((found(left) > found(right)) == (truth(left) > truth(right))) > 0.75


@pytest.mark.parametrize("order", [1, 0, -2, True, 2.5, "3", None])
def test_orders_that_are_none(order, perfect):
    with pytest.raises(OptionError, match=r"order is .*; expected a whole number of at least 2"):
        Elicitation(perfect(2), "polynomial", order=order)


def test_more_weights_than_anyone_can_be_asked_about(perfect):
    with pytest.raises(ElicitationError, match=r"has 923 weights.*lower the order"):
        Elicitation(perfect(3), "polynomial", order=6)
    assert (
        Elicitation(perfect(2), "polynomial", order=np.int64(6), strategy="bisection").ask()
        is not None
    )


def test_a_flat_metric(perfect):
    flat = PolynomialMetric([np.zeros((2,) * n) for n in (1, 2, 3)])
    with pytest.warns(NotIdentifiedWarning, match="no question made a difference anywhere"):
        result = Elicitation(perfect(2), "polynomial", strategy="bisection").run(MetricOracle(flat))
    assert result.n_queries == 8 * 2
