"""One best classifier: elicitation's frontier, `maximise` and the optimiser on the same rows."""

import numpy as np
import pytest

from karat.decisions import Attainable, maximise
from karat.elicit import Elicitation, RateSpace
from karat.elicit.families import LinearGaps, SquaredGaps, fairness_frontier
from karat.elicit.result import NamedEstimate
from karat.metrics import FairMetric, FairQuadraticMetric, LinearFractionalMetric
from karat.optimize import FrankWolfeClassifier

N = 1200
SETTINGS = [
    (seed, k, m, kind)
    for seed, (k, m, kind) in enumerate(
        [(k, m, kind) for k in (2, 3, 4) for m in (2, 3) for kind in ("fair", "fair-quadratic")]
        + [(k, 0, "ratio") for k in (2, 3, 4)]
    )
]


def draw(seed, k, m, noisy):
    """Return probabilities, labels, groups and weights of rows.

    Groups differ in how much the probabilities tell. Labels are drawn, or every row comes once
    with each label, weighted by its probability: then the probabilities are right on these rows.
    """
    rng = np.random.default_rng([seed, 17])
    proba = rng.dirichlet(np.full(k, 0.7), N)
    groups = rng.integers(0, m, N) if m else None
    if m:
        proba = proba ** rng.uniform(0.3, 2.0, m)[groups, None]
        proba /= proba.sum(axis=1, keepdims=True)
    y = (rng.random((N, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    if noisy:
        return proba, y, groups, np.ones(N), rng
    rows, labels = np.repeat(np.arange(N), k), np.tile(np.arange(k), N)
    return proba[rows], labels, None if groups is None else groups[rows], proba.ravel(), rng


def metric_of(kind, k, m, rng):
    q, pairs = k * k - k, m * (m - 1) // 2
    if kind == "ratio":
        gains = np.diag(rng.random(k))
        return LinearFractionalMetric(gains, 0.5 + gains + 0.5 * rng.random((k, k)))
    if kind == "fair":
        return FairMetric(rng.random(q), rng.random((pairs, q)), rng.uniform(0.1, 0.9))
    root = rng.normal(size=(pairs, q, q))
    bend = root @ np.swapaxes(root, 1, 2) / q
    return FairQuadraticMetric(rng.random(q), 2 * bend, rng.uniform(0.1, 0.9))


def sampled(attainable, n, rng):
    """Return confusions of rules that are best for random costs, apart in every block."""
    k = attainable.n_classes
    costs = np.abs(rng.normal(size=(n, k, k))) ** 2 * 10 ** rng.uniform(-1, 1, (n, k, k))
    costs[:, range(k), range(k)] = 0.0
    order = [rng.permutation(n) for _ in attainable.blocks]
    tables = [
        block.optimal(-costs[some] / block.prior[:, None])
        for block, some in zip(attainable.blocks, order, strict=True)
    ]
    return np.stack(tables, axis=1) if attainable.n_groups else tables[0]


def frontier_value(metric, space):
    """Return the elicited metric, and its value at the place that `frontier` calls its best."""
    joint, unit = Elicitation(space).question_space, metric.normalized()
    family = LinearGaps(joint) if metric.kind == "fair" else SquaredGaps(joint)
    violation = unit.violation.reshape(1, len(unit.violation), -1)
    theta = family.write(unit.cost[None], violation, np.array([unit.tradeoff]))[0]
    share = NamedEstimate(name="trade-off", value=unit.tradeoff, lower=0.0, upper=1.0)
    found, elicited = fairness_frontier(family, theta, share, 5, 0), family.metric(theta)
    assert found.gap <= 1e-8
    assert elicited.equivalent(metric, tol=1e-9)
    return elicited, -((1 - elicited.tradeoff) * found.best[0] + elicited.tradeoff * found.best[1])


def space_of(y, proba, groups, weight):
    return RateSpace.from_proba(y, proba, groups=groups, sample_weight=weight)


@pytest.mark.slow
@pytest.mark.parametrize("noisy", [False, True], ids=["right probabilities", "drawn labels"])
@pytest.mark.parametrize(("seed", "k", "m", "kind"), SETTINGS)
def test_three_ways_to_the_best_classifier_agree(seed, k, m, kind, noisy):
    proba, y, groups, weight, rng = draw(seed, k, m, noisy)
    metric = metric_of(kind, k, m, rng)
    basis = np.ones((len(y), 1)) if groups is None else np.eye(m)[groups]
    if m:
        metric, at_frontier = frontier_value(metric, space_of(y, proba, groups, weight))
    options = {"groups": groups, "sample_weight": weight}
    attainable = Attainable.from_proba(y, proba, **options)
    best = maximise(metric, attainable, tol=1e-8)
    assert best.gap <= 1e-8
    assert metric(best.confusion) == pytest.approx(best.value, abs=1e-12)
    if m:
        assert at_frontier == pytest.approx(best.value, abs=1e-6)
    # What is said of the mixture is what it does on the rows.
    shares = best.mixture.class_shares(proba, basis)
    assert metric.score(y, shares, **options) == pytest.approx(best.value, abs=1e-9)
    clf = FrankWolfeClassifier(metric=metric)
    clf.fit_from_proba(proba, y, basis=basis, groups_val=groups, sample_weight=weight)
    predicted = clf.predict_proba_from_proba(proba, basis=basis)
    value = metric.score(y, predicted, **options)
    assert clf.history_.value == pytest.approx(value, abs=1e-9)
    assert value == pytest.approx(best.value, abs=1e-3)
    others = metric._values(sampled(attainable, 1000, rng))
    # Of three classes or more, labels that were drawn may favour one of a thousand rules by
    # chance. It is not looked for: on new rows such rules do worse than plug-in rules.
    lucky = 3e-3 if noisy and kind == "ratio" and k > 2 else 1e-9
    assert others.max() <= min(best.value, value) + lucky
