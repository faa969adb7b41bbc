"""Groups of simulated people who share a law: whether its spread is covered, and chains mix."""

import time
import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from _people_settings import Array

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    ConfusionSpace,
    DiagonalSpace,
    Elicitation,
    ElicitationResult,
    RateSpace,
    shared_metric,
)
from karat.elicit._charts import Chart, chart_of
from karat.elicit._snapshot import typical_margin
from karat.elicit.spaces import Space

__all__ = ["FAMILIES", "Group", "ask_group"]

SLIPS, NOISE = 0.1, 1 / 6  # of every person: lapses, and logistic noise in typical margins
ASKED = 16  # questions for each person
PEOPLE = (6, 12)
SPREADS = (0.25, 1.0)  # τ of a group, drawn evenly on a log scale


class Group(NamedTuple):
    """What was found of one group of people."""

    covered: Array  # whether the limits hold the spread, for each part of the metric
    center: float  # share of the shared weights that their limits hold
    r_hat: float
    effective: float
    seconds: float  # CPU time of ``shared_metric``


@cache
def _space(kind: str) -> Space:
    three, two = LogisticLaw([-4, 1, 5]), LogisticLaw.binary(5.0)
    if kind == "groups":
        x, y = two.sample(4000, rng=0)
        groups = np.where(np.arange(4000) % 3, "a", "b")
        power = np.where(groups == "a", 1.0, 0.6)[:, None]  # one group is known less well
        proba = two.proba(x) ** power
        return RateSpace.from_proba(y, proba / proba.sum(axis=1, keepdims=True), groups=groups)
    built: dict[str, tuple[type[Space], LogisticLaw]] = {
        "binary": (BinarySpace, two),
        "rates": (RateSpace, two),
        "diagonal": (DiagonalSpace, three),
        "confusion": (ConfusionSpace, three),
    }
    space, law = built[kind]
    return space.from_density(law.proba, n_points=501)


# Each family with the space that it is asked about.
FAMILIES = (
    ("linear", "binary"),
    ("linear", "groups"),
    ("linear", "diagonal"),
    ("ratio", "binary"),
    ("monotone", "diagonal"),
    ("quadratic", "groups"),
    ("quadratic", "rates"),
    ("ratio", "diagonal"),
    ("linear", "confusion"),
    ("polynomial", "rates"),
    ("ratio", "confusion"),
)


def ask_group(family: str, name: str, seed: int) -> Group:
    """Draw a law and people of it, ask them, and see whether the law is found again."""
    rng, space = np.random.default_rng([seed, 11]), _space(name)
    first = Elicitation(space, family)
    chart = chart_of(first._problem.family())
    center = 0.7 * chart.center_scale * rng.normal(size=chart.dim)
    spread = chart.spread_scale * np.exp(rng.uniform(*np.log(SPREADS), size=len(chart.parts)))
    n = int(rng.integers(PEOPLE[0], PEOPLE[1] + 1))
    everyone = center + spread[chart.of] * rng.normal(size=(n, chart.dim))
    results = [_asked(family, space, chart, z, rng) for z in everyone]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "chains have not mixed")  # R-hat is looked at
        shared = shared_metric(space, results, rng=seed)
    seconds = time.process_time() - start
    truth = chart.spreads(center[None], spread[None])[0]
    held = [
        limits.lower <= t <= limits.upper for limits, t in zip(shared.spreads, truth, strict=True)
    ]
    weights = chart.family.weights(chart.parameters(center[None]))[0]
    inside = [w.lower <= t <= w.upper for w, t in zip(shared.weights, weights, strict=True)]
    covered = np.array(held, dtype=float)
    return Group(covered, float(np.mean(inside)), shared.r_hat, shared.effective_draws, seconds)


def _asked(
    family: str, space: Space, chart: Chart, z: Array, rng: np.random.Generator
) -> ElicitationResult:
    """Ask one person, who slips and is unsure near indifference."""
    endless: dict[str, Any] = {"agreement": 0.9999, "precision": 1.0001, "checks": False}
    seed = int(rng.integers(2**31))
    elicitation = Elicitation(space, family, max_queries=ASKED, rng=seed, **endless)
    prior, parameters = chart.family, chart.parameters(z[None])
    scale = NOISE * typical_margin(elicitation, prior)
    while (query := elicitation.ask()) is not None:
        sides = elicitation.question_space.coordinates(np.stack([query.first, query.second]))
        first, second = prior.values(parameters, sides)[0]
        sure = 1.0 / (1.0 + np.exp(-np.clip((first - second) / scale, -50, 50)))
        named = rng.random() < SLIPS + (1.0 - 2.0 * SLIPS) * sure
        elicitation.tell("first" if named else "second")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # contradictions are what these people are for
        return elicitation.result
