"""Several people: what they share, and how far they differ."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import FloatArray
from karat._validate import check_count, check_rng, refuse_option
from karat.elicit.families import Family
from karat.elicit.people import (
    Chart,
    PeopleChains,
    PeopleDraws,
    SharedMetric,
    chart_of,
    draw_mixed,
    read_people,
    warn_of_mixing,
)
from karat.elicit.procedure import Procedure, Reported, report
from karat.elicit.result import ElicitationResult
from karat.elicit.spaces import Space
from karat.elicit.weights import WeightInterval, intervals_of

__all__ = ["shared_metric"]

_CHAINS = 16
_KEPT = 400  # draws that the result keeps


@keeps_kind
def shared_metric(
    space: Space,
    results: Sequence[ElicitationResult],
    *,
    names: Sequence[Any] | None = None,
    warm_up: int = 300,
    draws: int = 300,
    rng: int | np.random.Generator | None = None,
) -> SharedMetric:
    """Return what several people want together, with how far they differ.

    For every family of metrics: people are normal around what they share, in log-ratios of weights
    and in whatever else the family has (the log-worth of gaps between groups, the power of a mean,
    the direction of weights of any sign), and each answers with a noise of their own. Where the
    chains do not agree after ``draws``, all draws so far count as warm-up and twice as many sweeps
    follow, at most three times.

    Parameters
    ----------
    space : Space
        The space that all of them were asked about.
    results : sequence of ElicitationResult
        One per person, all of the same procedure with the same options of its own (such as
        ``same_pairs``). Stops, seeds and strategies may differ.
    names : sequence, optional
        What to call the people; by default "person 1", "person 2" and so on.
    warm_up : int, default 300
        Sweeps of the sampler before draws are kept, in which its steps adapt.
    draws : int, default 300
        Draws that are kept of each of the 16 chains.
    rng : int or generator, optional
        Randomness of the sampler.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinaryLinear, BinarySpace, MetricOracle
    >>> from karat.metrics import cost_matrix
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> people = [MetricOracle(cost_matrix([[0, 1], [c, 0]])) for c in (2, 3, 5)]
    >>> results = [BinaryLinear(space, rng=0).run(person) for person in people]
    >>> shared_metric(space, results, rng=0).spread.upper > 1
    True
    """
    procedure, family, people = read_people(space, results)
    called = [f"person {i + 1}" for i in range(len(people))] if names is None else list(names)
    if len(called) != len(people):
        refuse_option(called, "names", f"one name for each of {len(people)} people")
    chains = PeopleChains(chart_of(family), people, check_rng(rng), chains=_CHAINS)
    drawn, r_hat, effective = draw_mixed(
        chains, check_count(warm_up, "warm_up"), check_count(draws, "draws", at_least=4)
    )
    warn_of_mixing(r_hat, effective)
    return _summarised(procedure, chains, drawn, tuple(called), r_hat, effective)


def _summarised(
    procedure: Procedure,
    chains: PeopleChains,
    drawn: PeopleDraws,
    called: tuple[Any, ...],
    r_hat: float,
    effective: float,
) -> SharedMetric:
    chart, family, rng = chains.chart, chains.chart.family, chains.rng
    center = drawn.center.reshape(-1, chart.dim)
    spread = drawn.spread.reshape(len(center), -1)
    everyone = np.moveaxis(drawn.each, 2, 0).reshape(len(called), len(center), -1)
    unseen = center + spread[:, chart.of] * rng.normal(size=center.shape)
    parameters = chart.parameters(center)
    middle = _middle(family, parameters)
    shared = report(procedure, family, middle, parameters)
    each = [_reported(procedure, chart, z) for z in everyone]
    return SharedMetric(
        metric=family.metric(middle),
        intervals=shared.intervals,
        ratios=shared.ratios,
        trade_off=shared.trade_off,
        table=shared.table,
        spreads=_spreads(chart, center, spread),
        next_person=intervals_of(
            family.names,
            np.array([weight.estimate for weight in shared.intervals]),
            family.weights(chart.parameters(unseen)),
        ),
        people=tuple(person.intervals for person in each),
        people_ratios=tuple(_compared(person) for person in each),
        names=family.names,
        people_names=called,
        draws=shared.weights[:: max(1, len(center) // _KEPT)],
        agreement=_agreement(procedure, chart, drawn.each, rng),
        procedure=type(procedure).__name__,
        r_hat=r_hat,
        effective_draws=effective,
    )


def _middle(family: Family, parameters: FloatArray) -> FloatArray:
    return family.mean(parameters, np.full(len(parameters), 1.0 / len(parameters)))


def _reported(procedure: Procedure, chart: Chart, z: FloatArray) -> Reported:
    """Return what is known of one person, from draws (n, dim)."""
    parameters = chart.parameters(z)
    return report(procedure, chart.family, _middle(chart.family, parameters), parameters)


def _compared(person: Reported) -> tuple[WeightInterval, ...]:
    """Return the ratios of someone's weights, and what gaps between groups are worth to them."""
    return (*person.ratios, *(() if person.trade_off is None else (person.trade_off.worth,)))


def _spreads(chart: Chart, center: FloatArray, spread: FloatArray) -> tuple[WeightInterval, ...]:
    values = chart.spreads(center, spread)
    return intervals_of(
        tuple(part.words for part in chart.parts), np.median(values, axis=0), values
    )


def _agreement(
    procedure: Procedure, chart: Chart, each: FloatArray, rng: np.random.Generator
) -> float:
    """Return how often two different people of one draw prefer the same side of a pair."""
    space = procedure.question_space
    points = space.coordinates(space.sample(200, rng=rng))
    left, right = rng.integers(0, len(points), (2, 300))
    flat = each.reshape(-1, *each.shape[2:])
    same = []
    for people in flat[:: max(1, len(flat) // 200)]:
        values = chart.family.values(chart.parameters(people), points)
        prefers = values[:, left] > values[:, right]
        share = prefers.mean(axis=0)
        n = len(people)
        same.append(np.mean((n * (share**2 + (1 - share) ** 2) - 1) / (n - 1)))
    return float(np.mean(same))
