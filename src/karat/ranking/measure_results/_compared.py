"""Several models on the same rows: their measures, and the differences row by row."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, FloatArray
from karat.ranking.comparison_result import RankingComparison, RankingDifference
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measure_results._measured import measured_rows, rows_of
from karat.ranking.measures import ExpectedCost, Measure, Row

__all__ = ["compared_rankings"]


def compared_rankings(
    measure: Measure,
    positive: BoolArray,
    scores: Mapping[Any, FloatArray],
    weight: FloatArray | None,
    classes: AnyArray,
    level: float,
    *,
    approximate: bool,
) -> RankingComparison:
    """Return the measure of each model and the differences of all pairs."""
    each = 1 - (1 - level) / len(scores)
    models: dict[Any, RankingMeasure] = {}
    effects: dict[Any, FloatArray] = {}
    units: dict[Any, tuple[float, float]] = {}
    span = 1.0
    mass = np.ones(len(positive)) if weight is None else weight
    for name, score in scores.items():
        ordered = rows_of(positive, score, weight, approximate=approximate)
        models[name] = measured_rows(measure, ordered, classes, each, approximate=approximate)
        counted = mass * (ordered.n / mass.sum())
        rows = Row(positive, score, counted, ordered)
        effects[name] = measure.effects(rows) * np.sqrt(counted)
        units[name] = measure.unit(ordered)
        span = measure.span(ordered)
    sign = -1 if isinstance(measure, ExpectedCost) else 1
    pairs = []
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -sign * models[name].value)
        value = models[first].value - models[second].value
        unit, size = max(units[first][0], units[second][0]), min(units[first][1], units[second][1])
        spread = float(np.sum((effects[first] - effects[second]) ** 2))
        pairs.append((first, second, value, spread, unit, size))
    share = (1 - level) / len(pairs)
    return RankingComparison(
        models=models,
        differences=tuple(_difference(*pair, share, span) for pair in pairs),
        confidence=level,
    )


def _difference(
    first: Any,
    second: Any,
    value: float,
    spread: float,
    unit: float,
    size: float,
    delta: float,
    span: float,
) -> RankingDifference:
    """Return a difference with limits by Student's t.

    One more row that the models differ on is added to what the rows show: models that happen to
    agree on few rows are not known to agree.
    """
    from scipy.special import stdtr, stdtrit

    freedom = max(size - 1.0, 1.0)
    error = math.sqrt(spread * size / max(size - 1.0, 0.5) + unit**2)
    reach = -float(stdtrit(freedom, delta / 2)) * error
    p_value = float(2 * stdtr(freedom, -abs(value) / error))
    return RankingDifference(
        first=first, second=second, value=value, lower=max(value - reach, -span),
        upper=min(value + reach, span), p_value=p_value,
    )  # fmt: skip
