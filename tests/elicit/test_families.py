"""Families of metrics: what they value, against the metrics they report."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

from karat.elicit import DiagonalSpace
from karat.elicit.families import LinearFamily, PowerMeanFamily, RatioFamily, unit
from karat.metrics import LinearMetric, g_mean

NAMES = ["binary", "diagonal", "confusion", "rate"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("norm", [1, 2])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_linear_values_are_those_of_its_metric_but_for_a_scale(
    name, norm, seed, spaces, draw_confusions
):
    space, rng = spaces[name], np.random.default_rng(seed)
    family = LinearFamily(space, norm=norm)
    parameters = np.abs(rng.normal(size=(3, family.size)))
    tables = draw_confusions(space, 20, rng)
    values = family.values(parameters, space.coordinates(tables))
    for row, value in zip(parameters, values, strict=True):
        scale = np.linalg.norm(row) / np.linalg.norm(row, ord=norm)
        assert np.allclose(family.metric(row)(tables), scale * value, atol=1e-12)
        weights = family.weights(row)
        assert np.linalg.norm(weights, ord=norm) == pytest.approx(1)
        assert np.allclose(weights / weights.sum(), row / row.sum())
    assert np.allclose(family.values(9 * parameters, space.coordinates(tables)), values)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_ratio_values_rank_as_its_metric(name, seed, spaces, draw_confusions, ranks_alike):
    space, rng = spaces[name], np.random.default_rng(seed)
    family = RatioFamily(space)
    parameters = np.abs(rng.normal(size=(3, family.size)))
    tables = draw_confusions(space, 30, rng)
    values = family.values(parameters, space.coordinates(tables))
    assert ((space.sign * values >= 0) & (space.sign * values <= 1)).all()
    for row, value in zip(parameters, values, strict=True):
        assert np.allclose(family.metric(row)(tables), value)
        above, below = np.split(family.weights(row), 2)
        assert above.sum() == pytest.approx(1)
        assert below.sum() == pytest.approx(1)
        # The weights that are reported are a metric of the same order.
        assert ranks_alike(family.metric(np.concatenate([above, below]))(tables), value)


@pytest.mark.parametrize("kind", [LinearFamily, RatioFamily, PowerMeanFamily])
def test_a_turned_family_reports_the_opposite_order(kind, diagonal, draw_confusions, rng):
    """Appendix A.4: answers are swapped before they reach the family, the report after."""
    straight, turned = kind(diagonal), kind(diagonal, flipped=True)
    tables = draw_confusions(diagonal, 40, rng)
    for parameters in np.abs(rng.normal(size=(5, straight.size))):
        points = diagonal.coordinates(tables)
        assert np.array_equal(
            straight.values(parameters[None], points), turned.values(parameters[None], points)
        )
        up, down = straight.metric(parameters)(tables), turned.metric(parameters)(tables)
        assert np.array_equal(np.argsort(up), np.argsort(-down))


def test_a_turned_ratio_has_no_pole(binary, rng):
    family = RatioFamily(binary, flipped=True)
    for parameters in np.abs(rng.normal(size=(20, 4))):
        values = family.metric(parameters)(binary.sample(50, rng=rng))
        assert (np.abs(values) <= 1 + 1e-9).all()


@pytest.mark.parametrize("kind", [LinearFamily, RatioFamily, PowerMeanFamily])
def test_the_mean_of_one_metric_is_itself(kind, diagonal, draw_confusions, ranks_alike, rng):
    family = kind(diagonal)
    row = np.abs(rng.normal(size=family.size))
    points = diagonal.coordinates(draw_confusions(diagonal, 30, rng))
    middle = family.mean(np.stack([row, row, 2 * np.abs(rng.normal(size=family.size))]),
                         np.array([0.4, 0.6, 0.0]))  # fmt: skip
    values = family.values(np.stack([row, middle]), points)
    assert ranks_alike(*values)


def test_the_mean_of_directions_is_in_their_middle(binary):
    angles = np.array([0.2, 0.6])
    rows = 5 * np.column_stack([np.cos(angles), np.sin(angles)]) * [[1], [3]]  # length is nothing
    middle = LinearFamily(binary).mean(rows, np.array([0.5, 0.5]))
    assert np.arctan2(middle[1], middle[0]) == pytest.approx(0.4)
    assert unit(np.array([[3.0, 4.0]])).tolist() == [[0.6, 0.8]]


def test_names_say_what_each_weight_is(binary, diagonal, errors):
    assert LinearFamily(errors).names == errors.names
    assert PowerMeanFamily(diagonal).names[0] == "finding class 0"
    assert PowerMeanFamily(diagonal).names[-1].startswith("power of the mean")
    assert RatioFamily(binary).names[0] == "right about 1 (above)"
    assert RatioFamily(errors).names[-1] == "2 taken for 1 (avoided)"
    for family in (LinearFamily(errors), RatioFamily(errors), PowerMeanFamily(diagonal)):
        parameters = np.ones((2, family.size))
        assert family.weights(parameters).shape == (2, len(family.names))


# --- power means of the recalls


def power(rho):
    """Return the last parameter for a power mean of order ρ.

    It is half-normal: up to the first place ρ is 1, between the second and the third it is 0.
    """
    first, second, third = norm.ppf(0.5 + np.array([0.2, 0.4, 0.65]) / 2)
    if rho == 1:
        return first / 2
    return first + (1 - rho) * (second - first) if rho > 0 else third - rho / 1.5


def test_elasticity_of_one_is_weighted_recall(diagonal, draw_confusions, rng):
    family = PowerMeanFamily(diagonal)
    tables = draw_confusions(diagonal, 40, rng)
    recalls = diagonal.coordinates(tables) / diagonal.prior
    for weight in rng.dirichlet(np.ones(3), 5):
        parameters = np.append(4 * weight, power(1.0))
        found = family.values(parameters[None], diagonal.coordinates(tables))[0]
        assert np.allclose(found, recalls @ weight, rtol=1e-9)
        assert np.allclose(family.weights(parameters), [*weight, 1.0], atol=1e-9)
        # It is linear, so its tangent is the metric itself.
        expected = weight / diagonal.prior
        tangent = family.tangent(parameters).weights.diagonal()
        assert np.allclose(tangent, expected / expected.sum(), atol=1e-9)


@pytest.mark.parametrize("rho", [0.5, 0.0, -1.0, -3.0])
def test_elasticity_is_a_power_mean(rho, diagonal, draw_confusions, rng):
    family = PowerMeanFamily(diagonal)
    tables = draw_confusions(diagonal, 40, rng)
    recalls = diagonal.coordinates(tables) / diagonal.prior
    weight = rng.dirichlet(np.ones(3))
    found = family.values(np.append(weight, power(rho))[None], diagonal.coordinates(tables))[0]
    if rho == 0:
        assert np.allclose(found, np.prod(recalls**weight, axis=1))
        even = family.values(np.array([[1, 1, 1, power(0.0)]]), diagonal.coordinates(tables))[0]
        assert np.allclose(g_mean(tables), even)
    else:
        with np.errstate(divide="ignore"):  # a class that is never found: 0 if ρ is below 0
            expected = ((recalls**rho) @ weight) ** (1 / rho)
        assert np.allclose(found, expected)


@pytest.mark.parametrize("rho", [0.7, 0.1, -0.5, -2.0])
def test_elasticity_reports_its_gradient_at_its_optimum(rho, few_cells, item_program):
    """The optimum over all classifiers of a few cells, by a general solver."""
    space = few_cells(DiagonalSpace, 3, 14, 8)
    columns = item_program(space).columns
    n, k = 14, 3
    rng = np.random.default_rng(0)
    family = PowerMeanFamily(space)
    for weight in rng.dirichlet(np.full(3, 4.0), 2):
        parameters = np.append(weight, power(rho))

        def loss(h, parameters=parameters):
            return -np.log(family.values(parameters[None], (columns @ h)[None])[0, 0])

        def slope(h, weight=weight):
            recall = np.maximum(columns @ h / space.prior, 1e-9)
            inside = weight * recall ** (rho - 1) / space.prior
            return -(inside @ columns) / (weight @ recall**rho)

        done = minimize(
            loss, np.full(n * k, 1 / k), jac=slope, method="SLSQP", bounds=[(0, 1)] * (n * k),
            constraints={
                "type": "eq",
                "fun": lambda h: h.reshape(n, k).sum(axis=1) - 1,
                "jac": lambda h: np.kron(np.eye(n), np.ones(k)),
            },
            options={"maxiter": 500, "ftol": 1e-12},
        )  # fmt: skip
        assert done.success
        best = columns @ done.x
        step = 1e-6 * np.eye(3)
        gradient = np.array(
            [
                (family.values(parameters[None], np.stack([best + s, best - s]))[0] @ [1, -1])
                for s in step
            ]
        )
        expected = gradient / gradient.sum()
        metric = family.tangent(parameters)
        assert np.allclose(metric.weights.diagonal(), expected, atol=0.01)
        # The best classifier of the linear metric is best for the power mean, too.
        assert isinstance(metric, LinearMetric)
        point = space.coordinates(space.boundary(metric.weights.diagonal()))
        assert expected @ point >= expected @ best - 1e-2
