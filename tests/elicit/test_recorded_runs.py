"""Runs that were recorded when each family was a class of its own: nothing has changed since.

Every line is a space, a family, a strategy and options with the number of answers, the last 200 of
them, and the weights with their limits.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    ConfusionSpace,
    DiagonalSpace,
    Elicitation,
    MetricOracle,
    RateSpace,
)
from karat.elicit.asking import Effort
from karat.metrics import (
    FairMetric,
    FairQuadraticMetric,
    PolynomialMetric,
    QuadraticMetric,
    cost_matrix,
    f_beta,
    g_mean,
    weighted_accuracy,
)

RUNS = json.loads((Path(__file__).parent / "recorded_runs.json").read_text(encoding="utf-8"))
IDS = [f"{run['space']} {run['family']} {run['strategy']} {sorted(run['options'])}" for run in RUNS]
LAW = LogisticLaw.binary(5.0)
COSTS = cost_matrix([[0, 1, 2], [1, 0, 1], [6, 3, 0]])


def groups_space():
    x, y = LAW.sample(400, rng=0)
    return RateSpace.from_proba(y, LAW.proba(x), groups=np.where(np.arange(400) % 3, "a", "b"))


def cubic():
    tensor = np.zeros((2, 2, 2))
    tensor[0, 0, 0] = -3.0
    return PolynomialMetric([[-1, -0.5], [[0, 1], [1, 0]], tensor])


@pytest.fixture(scope="module")
def asked():
    """The spaces, and the metric that is looked for in each and by each family."""
    three, few = LogisticLaw([1, 3, 5]), {"n_points": 201}
    spaces = {
        "binary": BinarySpace.from_density(LAW.proba, **few),
        "diagonal": DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, **few),
        "confusion": ConfusionSpace.from_density(three.proba, **few),
        "rate": RateSpace.from_density(three.proba, **few),
        "odds": RateSpace.from_density(LAW.proba, **few),
        "groups": groups_space(),
    }
    recalls = weighted_accuracy([0.21, 0.59, 0.2])
    metrics = {
        ("binary", "linear"): cost_matrix([[0, 1], [4, 0]]),
        ("binary", "ratio"): f_beta(1),
        ("diagonal", "linear"): recalls,
        ("diagonal", "ratio"): recalls,
        ("diagonal", "monotone"): g_mean,
        ("confusion", "linear"): COSTS,
        ("confusion", "ratio"): COSTS,
        ("rate", "linear"): COSTS,
        ("odds", "quadratic"): QuadraticMetric([-1, -2], [[-4, 0], [0, -1]]),
        ("odds", "polynomial"): cubic(),
        ("groups", "linear"): FairMetric([1, 3], [[1, 1]], 0.5),
        ("groups", "quadratic"): FairQuadraticMetric([0.6, 0.8], [[[2, 0], [0, 0]]], 0.4),
    }
    return spaces, metrics


@pytest.fixture(autouse=True)
def recorded_effort(lean, monkeypatch):
    effort = Effort(
        particles=200,
        rival_particles=150,
        pool=120,
        candidates=200,
        panel=80,
        draws=60,
        history_steps=3,
        history_draws=40,
        kept=60,
        boundary=40,
    )
    monkeypatch.setattr(Elicitation, "effort", effort)


@pytest.mark.parametrize("run", RUNS, ids=IDS)
def test_a_recorded_run_is_the_same_again(run, asked):
    spaces, metrics = asked
    active = run["strategy"] == "active"
    person = metrics[run["space"], run["family"]]
    elicitation = Elicitation(
        spaces[run["space"]],
        run["family"],
        strategy=run["strategy"],
        rng=3,
        max_queries=12 if active else None,
        **run["options"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = elicitation.run(MetricOracle(person, flip=0.1 if active else 0.0, rng=1))
    assert result.n_queries == run["n"]
    assert "".join(answer[0] for answer in result.transcript.answers)[-200:] == run["answers"]
    found = [(weight.value, weight.lower, weight.upper) for weight in result.weights]
    np.testing.assert_allclose(found, run["weights"], rtol=1e-5, atol=1e-6)


WITHOUT_SLIPS = [run for run in RUNS if run["strategy"] == "published"]


@pytest.mark.parametrize("run", WITHOUT_SLIPS, ids=lambda run: f"{run['space']} {run['family']}")
def test_where_the_print_has_no_slips_corrected_is_published(run, asked):
    spaces, metrics = asked
    oracle = metrics[run["space"], run["family"]]
    found = []
    for strategy in ("published", "corrected"):
        elicitation = Elicitation(
            spaces[run["space"]], run["family"], strategy=strategy, rng=3, **run["options"]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(elicitation.run(MetricOracle(oracle)))
    assert found[0].transcript.queries == found[1].transcript.queries
    assert found[0].weights == found[1].weights
    assert len(WITHOUT_SLIPS) == 8
