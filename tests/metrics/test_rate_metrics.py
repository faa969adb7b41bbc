"""Metrics of error rates: quadratic, polynomial, and those that compare groups."""

import copy
import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.exceptions import MetricError, ProbabilityError
from karat.metrics import (
    FairMetric,
    FairQuadraticMetric,
    PolynomialMetric,
    QuadraticMetric,
    accuracy,
    load_metric,
)
from karat.metrics.rates import classes_for, error_rates
from karat.statistics import confusion


def confusions(rng, k, shape=()):
    size = int(np.prod(shape, dtype=int)) * k * k
    return rng.dirichlet(np.full(size, 2.0)).reshape(*shape, k, k)


def symmetric(rng, q, degree):
    from itertools import permutations

    tensor = rng.normal(size=(q,) * degree)
    orders = list(permutations(range(degree)))
    return sum(tensor.transpose(order) for order in orders) / len(orders)


def positive(rng, q):
    root = rng.normal(size=(q, q))
    return root @ root.T


def some_metrics(rng, k, m):
    q, pairs = k * k - k, m * (m - 1) // 2
    return {
        "quadratic": QuadraticMetric(rng.normal(size=q), symmetric(rng, q, 2)),
        "polynomial": PolynomialMetric([symmetric(rng, q, n) for n in (1, 2, 3)]),
        "fair": FairMetric(rng.random(q), rng.random((pairs, q)), 0.3),
        "fair quadratic": FairQuadraticMetric(
            rng.random(q), np.stack([positive(rng, q) for _ in range(pairs)]), 0.3
        ),
    }


def tables(rng, metric, k, m):
    return confusions(rng, k, () if metric.n_groups is None else (m,))


def by_loops(metric, table):
    """The definitions, written out."""

    def rates(c):
        k = len(c)
        return [c[i, j] / sum(c[i]) for i in range(k) for j in range(k) if i != j]

    if isinstance(metric, QuadraticMetric | PolynomialMetric):
        r = rates(table)
        if isinstance(metric, QuadraticMetric):
            tensors = [metric.linear, metric.quadratic]
        else:
            tensors = metric.coefficients
        total, factor = 0.0, 1.0
        for n, tensor in enumerate(tensors, start=1):
            factor *= n
            for index in np.ndindex(*tensor.shape):
                total += tensor[index] * np.prod([r[i] for i in index]) / factor
        return total
    overall, groups = rates(table.sum(axis=0)), [rates(c) for c in table]
    cost = sum(a * r for a, r in zip(metric.cost, overall, strict=True))
    unfair, pair = 0.0, 0
    for u in range(len(table)):
        for v in range(u + 1, len(table)):
            gap = np.subtract(groups[u], groups[v])
            if isinstance(metric, FairMetric):
                unfair += float(metric.violation[pair] @ np.abs(gap))
            else:
                unfair += 0.5 * float(gap @ metric.violation[pair] @ gap)
            pair += 1
    return -((1 - metric.tradeoff) * cost + metric.tradeoff * unfair)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 4), m=st.integers(2, 4))
def test_values_are_as_defined(seed, k, m):
    rng = np.random.default_rng(seed)
    for metric in some_metrics(rng, k, m).values():
        table = tables(rng, metric, k, m)
        assert metric(table) == pytest.approx(by_loops(metric, table), rel=1e-9, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 3), m=st.integers(2, 3))
def test_gradients_are_slopes(seed, k, m):
    rng = np.random.default_rng(seed)
    for metric in some_metrics(rng, k, m).values():
        table = tables(rng, metric, k, m)
        slope = metric.gradient(table)
        assert slope.shape == table.shape
        ahead = rng.normal(size=table.shape) * table  # keeps every entry positive
        ahead -= ahead.sum() * table  # and the sum 1
        step = 1e-6
        rise = (metric(table + step * ahead) - metric(table - step * ahead)) / (2 * step)
        assert np.sum(slope * ahead) == pytest.approx(rise, rel=1e-4, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 3), m=st.integers(2, 4))
def test_they_survive_json_pickle_and_copies(seed, k, m):
    rng = np.random.default_rng(seed)
    for metric in some_metrics(rng, k, m).values():
        for again in (
            load_metric(metric.to_json()),
            pickle.loads(pickle.dumps(metric)),
            copy.deepcopy(metric),
        ):
            assert again == metric
            assert hash(again) == hash(metric)
        json.loads(metric.to_json())
        assert metric.n_classes == k
        assert len(metric.describe([f"class {i}" for i in range(k)])) > 30


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), scale=st.floats(0.01, 100))
def test_scale_changes_no_ranking_and_normalising_removes_it(seed, scale):
    rng = np.random.default_rng(seed)
    a, b = rng.random(2), rng.random((3, 2))
    fair = FairMetric(a, b, 0.3)
    # Cost and violation may be scaled apart if the trade-off follows.
    moved = FairMetric(a, b * scale, 0.3 / (0.3 + 0.7 * scale))
    assert fair.equivalent(moved)
    assert not fair.equivalent(FairMetric(a, b, 0.4))
    canonical = moved.normalized()
    assert np.linalg.norm(canonical.cost) == pytest.approx(1)
    assert np.linalg.norm(canonical.violation, axis=1).sum() == pytest.approx(1)
    assert canonical.equivalent(fair, tol=1e-9)
    table = confusions(rng, 2, (3,))
    ratio = canonical(table) / fair(table)
    again = confusions(rng, 2, (3,))
    assert canonical(again) / fair(again) == pytest.approx(ratio, rel=1e-9)


def test_quadratic_and_polynomial_say_the_same():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=6), symmetric(rng, 6, 2)
    table = confusions(rng, 3)
    assert QuadraticMetric(a, b)(table) == pytest.approx(PolynomialMetric([a, b], 2)(table))
    assert QuadraticMetric(a, b).normalized().equivalent(QuadraticMetric(3 * a, 3 * b))


def test_no_difference_between_groups_leaves_the_cost():
    one = confusions(np.random.default_rng(0), 3)
    alike = np.stack([0.2 * one, 0.5 * one, 0.3 * one])
    metric = FairMetric(np.arange(6), np.ones((3, 6)), 0.4)
    assert metric(alike) == pytest.approx(-0.6 * error_rates(one) @ np.arange(6))


def test_predictions_with_groups_are_scored():
    rng = np.random.default_rng(0)
    y, p, g = rng.integers(0, 2, 400), rng.integers(0, 2, 400), rng.choice(["f", "m"], 400)
    weight = rng.random(400)
    metric = FairMetric([1, 2], [[1, 1]], 0.5)
    names = np.array(["no", "yes"])
    found = metric.score(names[y], names[p], groups=g, sample_weight=weight)
    table = confusion(y, p, weight, g)
    assert found == pytest.approx(metric(table))
    with pytest.raises(MetricError, match="pass groups="):
        metric.score(y, p)
    with pytest.raises(MetricError, match="scorer is not given"):
        metric.as_scorer()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: QuadraticMetric([1, 2, 3], np.eye(3)), "k² − k"),
        (lambda: QuadraticMetric([1, 2], [[0, 1], [0, 0]]), "not symmetric"),
        (lambda: QuadraticMetric([1, 2], np.eye(3)), "shape"),
        (lambda: QuadraticMetric([1, np.nan], np.eye(2)), "finite"),
        (lambda: PolynomialMetric([]), "expected a list"),
        (lambda: PolynomialMetric([[1, 2], [1, 2]]), "indices"),
        (lambda: PolynomialMetric([[1, 2]], order=2), "1 tensors"),
        (lambda: FairMetric([1, -1], [[1, 1]], 0.5), "at least 0"),
        (lambda: FairMetric([1, 1], [[1, 1]] * 2, 0.5), "pair of groups"),
        (lambda: FairMetric([1, 1], [[1, 1, 1]], 0.5), "shape"),
        (lambda: FairMetric([1, 1], [[1, 1]], 1.5), "tradeoff"),
        (lambda: FairQuadraticMetric([1, 1], [[[1, 0], [0, -1]]], 0.5), "semidefinite"),
        (lambda: FairQuadraticMetric([1, 1], [[1, 1]], 0.5), "shape"),
    ],
)
def test_bad_coefficients_are_refused(make, said):
    with pytest.raises((MetricError, ValueError), match=said):
        make()


def test_bad_confusions_are_refused():
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    one = np.array([[0.4, 0.1], [0.1, 0.4]])
    with pytest.raises(MetricError, match="without them"):
        metric(one)
    with pytest.raises(ProbabilityError, match="its group's share"):
        metric([one, one])
    with pytest.raises(MetricError, match="for 2 groups and was given 3"):
        metric(np.stack([one, one, one]) / 3)
    with pytest.raises(MetricError, match="group 1 has no item"):
        metric([0.5 * one, [[0.25, 0.25], [0, 0]]])
    with pytest.raises(MetricError, match="2 classes"):
        metric(confusions(np.random.default_rng(0), 3, (2,)))
    with pytest.raises(MetricError, match="not linear"):
        QuadraticMetric([1, 2], np.eye(2)).bayes_classifier()
    assert not metric.equivalent(accuracy)


def test_numbers_of_errors():
    assert [classes_for(k * k - k, "cost") for k in range(2, 8)] == list(range(2, 8))


@pytest.mark.parametrize("kind", ["fair", "fair quadratic"])
def test_groups_are_called_by_their_names(kind, rng):
    metric = some_metrics(rng, 2, 3)[kind]
    names = ["north", "south", "west"]
    said = metric.describe(["no", "yes"], names)
    u, v = re.search(r"between groups (\d) and (\d)", metric.describe()).groups()
    assert f"between groups {names[int(u)]} and {names[int(v)]}." in said
    assert re.search(r"a point of (no taken for yes|yes taken for no) costs", said)
    with pytest.raises(MetricError, match="groups names 2 groups and the metric is for 3"):
        metric.describe(groups=names[:2])


def test_a_group_without_some_class_is_named():
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    with pytest.raises(MetricError, match="group west has no item of some class"):
        metric.score([0, 1, 0, 0], [0, 1, 1, 0], groups=["east", "east", "west", "west"])
