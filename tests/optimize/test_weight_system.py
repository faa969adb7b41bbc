"""From slopes to weights: what made the slopes is found again."""

import numpy as np
import pytest

from karat.exceptions import ProbeError
from karat.metrics import f_beta, g_mean, macro
from karat.optimize._feedback import BlackBox, KnownMetric, ProbedMetric, ValidationRows
from karat.optimize._probes import ClassProbes, WeightSystem, separated_probes


@pytest.fixture(params=["fixed", "separated"])
def probes(request, draw_sample, rng):
    def made(off_diagonal):
        # Separated probes of all entries are many programs; one basis function will do.
        slow = off_diagonal and request.param == "separated"
        sample = draw_sample(rng, 120, n_basis=1 if slow else 2)
        if request.param == "separated":
            return separated_probes(sample, sample.without_labels(), off_diagonal=off_diagonal)
        return ClassProbes(sample, sample.without_labels(), off_diagonal=off_diagonal)

    return made


def at_the_model(probes):
    proba = probes.validation.proba
    return probes.position(proba, proba, sums=True, rows=True)


def test_diagonal_weights_are_recovered(probes, rng):
    found = probes(False)
    moves, _ = found.moves(at_the_model(found))
    weights = rng.normal(size=(2, 3))
    slopes = np.einsum("pbii,bi->p", moves, weights)
    system = WeightSystem(moves, off_diagonal=False, ridge=0.0)
    np.testing.assert_allclose(system.solve(slopes), weights, rtol=1e-6)
    assert system.solvable
    assert 1 <= system.condition < 1e6


def test_all_weights_are_recovered_up_to_a_constant_for_each_true_class(probes, rng):
    found = probes(True)
    moves, _ = found.moves(at_the_model(found))
    weights = rng.normal(size=moves.shape[1:])
    slopes = np.einsum("pbij,bij->p", moves, weights)
    system = WeightSystem(moves, off_diagonal=True, ridge=0.0)
    centered = weights - weights.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(system.solve(slopes), centered, rtol=1e-5, atol=1e-6)


def test_a_ridge_shrinks(probes, rng):
    found = probes(False)
    moves, _ = found.moves(at_the_model(found))
    slopes = np.einsum("pbii,bi->p", moves, rng.normal(size=(2, 3)))
    sizes = [
        np.linalg.norm(WeightSystem(moves, off_diagonal=False, ridge=r).solve(slopes))
        for r in (0.0, 0.1, 1.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_rare_class_counts_as_much_as_a_common_one(rng):
    """Scaling a column scales its weight back, at any ridge."""
    moves = np.zeros((6, 2, 3, 3))
    moves[:, :, range(3), range(3)] = rng.normal(size=(6, 2, 3))
    rare = moves.copy()
    rare[:, :, 2] *= 1e-4
    slopes = rng.normal(size=6)
    for ridge in (0.0, 0.01):
        one = WeightSystem(moves, off_diagonal=False, ridge=ridge).solve(slopes)
        other = WeightSystem(rare, off_diagonal=False, ridge=ridge).solve(slopes)
        np.testing.assert_allclose(one * [1, 1, 1e4], other, rtol=1e-8)


def test_a_singular_system_names_the_weight(rng):
    moves = np.zeros((4, 2, 2, 2))
    moves[:, :, range(2), range(2)] = rng.normal(size=(4, 2, 2))
    moves[:, 1, 0, 0] = 0.0
    system = WeightSystem(moves, off_diagonal=False, ridge=1e-6)
    assert not system.solvable
    with pytest.raises(ProbeError, match=r"class 'ham' with the basis function 'night'"):
        system.require_solvable(("constant", "night"), ("ham", "spam"))


@pytest.mark.parametrize("metric", [g_mean, macro(f_beta(1))], ids=["G-mean", "macro F1"])
@pytest.mark.parametrize("off_diagonal", [False, True])
def test_slopes(probes, metric, off_diagonal, rng):
    """Of a metric of confusions, of the same as a function of rows, and of its gradient."""
    found = probes(off_diagonal)
    sample = found.validation
    shares = rng.dirichlet(np.ones(3), 120)
    at = found.position(shares, shares, sums=True, rows=True)
    _, seen = found.moves(at)
    value = metric(at.confusion)
    inside = sample.confusion(sample.proba)

    def on_rows(y_true, given, sample_weight):
        table = np.stack([sample_weight[y_true == i] @ given[y_true == i] for i in range(3)])
        return metric(table)

    rows = ValidationRows(sample.labels, None, sample.weight, np.arange(3))
    probed = ProbedMetric(metric, 1e-3, 120, inside).slopes(at, value, found, seen)
    called = BlackBox(on_rows, rows, 1e-3, str).slopes(at, value, found, seen)
    np.testing.assert_allclose(probed, called, atol=1e-6)
    known = KnownMetric(metric, 1e-3, 120, inside).slopes(at, value, found, seen)
    ahead = [metric(at.confusion + 1e-6 * move) for move in seen]
    behind = [metric(at.confusion - 1e-6 * move) for move in seen]
    np.testing.assert_allclose(known, (np.array(ahead) - behind) / 2e-6, atol=1e-7)


def test_where_the_gradient_is_infinite_it_is_taken_a_little_inside(draw_sample, rng):
    """The second class is never found: G-mean 0, with a root of 0."""
    sample = draw_sample(rng)
    feedback = KnownMetric(g_mean, 1e-3, 60, sample.confusion(sample.proba))
    always = np.zeros((60, 3))
    always[:, 0] = 1.0
    slope = feedback.gradient(sample.confusion(always))
    assert np.isfinite(slope).all()
    assert slope[1, 1] > 0
    assert slope[1, 1] > slope[0, 0]
