"""From what is known of a metric to the result that is shown."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.elicit.asking import ActiveSearch
from karat.elicit.families import Family
from karat.elicit.posterior import PosteriorDraws
from karat.elicit.procedure._agreement_history import agreement_history
from karat.elicit.procedure._status import (
    answered_sides,
    find_contradictions,
    status_of,
    warn_of_answers,
)
from karat.elicit.result import AskedQuestions, ElicitationResult
from karat.elicit.spaces import BinarySpace, RateSpace
from karat.elicit.weights import (
    CONFIDENCE,
    TradeOff,
    WeightInterval,
    WeightTable,
    interval_of,
    intervals_of,
    ratio_interval,
    weighted_limits,
)
from karat.metrics import GroupMetric, MetricBase

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["Reported", "build_result", "report"]

_TAIL = (1.0 - CONFIDENCE) / 2


class Reported(NamedTuple):
    """What is said of metrics that are still possible, and of the estimate among them."""

    weights: FloatArray  # (draws, w)
    intervals: tuple[WeightInterval, ...]
    ratios: tuple[WeightInterval, ...]
    trade_off: TradeOff | None
    table: WeightTable | None


def report(
    procedure: "Procedure", family: Family, estimate: FloatArray, kept: FloatArray
) -> Reported:
    """Return what the parameters of an estimate (size,) and of draws (n, size) amount to."""
    weights = family.weights(kept)
    intervals = intervals_of(family.names, family.weights(estimate[None])[0], weights)
    return Reported(
        weights,
        intervals,
        _ratios(procedure, intervals, weights),
        _trade_off(family, estimate, kept, intervals[-1], weights),
        family.table(estimate),
    )


def build_result(procedure: "Procedure", draws: PosteriorDraws) -> ElicitationResult:
    """Return the result of a procedure whose answers leave the metrics of ``draws`` possible."""
    family, search = draws.family, procedure._search
    kept = draws.thinned(procedure.effort.kept)
    weights, intervals, ratios, trade_off, table = report(procedure, family, draws.estimate, kept)
    progress = agreement_history(procedure, draws)
    metric = family.metric(draws.estimate)
    contradictions = find_contradictions(procedure, draws)
    status, misfit = status_of(procedure, contradictions)
    result = ElicitationResult(
        metric=metric,
        description=_description(procedure, metric),
        intervals=intervals,
        ratios=ratios,
        trade_off=trade_off,
        table=table,
        n_queries=len(procedure.answers),
        agreement=float(progress.agreement[-1]),
        next_agreement=float("nan") if search is None else search.next_agreement(),
        finished=procedure.finished,
        transcript=procedure.transcript,
        procedure=type(procedure).__name__,
        strategy=procedure.strategy,
        lapse=None if search is None else _lapse(search),
        contradictions=contradictions,
        status=status,
        misfit=misfit,
        precise=search is None or search.precise,
        effective_particles=float("nan") if search is None else search.posterior.effective,
        acceptance=float("nan") if search is None else search.posterior.acceptance,
        draws=weights,
        progress=progress,
        questions=_questions(procedure, draws),
    )
    warn_of_answers(procedure, result)
    return result


def _description(procedure: "Procedure", metric: MetricBase) -> str:
    """Return the metric in words, with the names that the space has."""
    classes = procedure.space.classes.tolist()
    if isinstance(metric, GroupMetric) and isinstance(procedure.space, RateSpace):
        return metric.describe(classes, np.asarray(procedure.space.groups).tolist())
    return metric.describe(classes)


def _ratios(
    procedure: "Procedure", intervals: tuple[WeightInterval, ...], draws: FloatArray
) -> tuple[WeightInterval, ...]:
    """Return each weight against the greatest of its kind, in words."""
    dim = procedure.space.dim
    ratios = []
    compared = procedure._n_comparable(len(intervals))
    for start in range(0, compared, dim):  # a ratio metric has two sets of weights
        part = intervals[start : start + dim]
        top = int(np.argmax([abs(w.estimate) for w in part]))
        if procedure.space.kind == "binary":
            top = 1  # "a miss costs so many false alarms", whichever is greater
        for i, weight in enumerate(part):
            if i != top:
                columns = draws[:, [start + i, start + top]]
                name = procedure._ratio_name(i, top)
                if compared > dim:
                    name += weight.name.removeprefix(procedure.space.names[i])
                ratio = ratio_interval(name, weight, part[top], columns)
                ratios.append(_opened(ratio, procedure, columns))
    return tuple(ratios)


def _trade_off(
    family: Family,
    estimate: FloatArray,
    kept: FloatArray,
    tradeoff: WeightInterval,
    weights: FloatArray,
) -> TradeOff | None:
    """Return how errors are traded against gaps; None for a family without groups."""
    worth = family.gap_worth(kept)
    middle = family.gap_worth(estimate[None])
    if worth is None or middle is None:
        return None
    return TradeOff(
        tradeoff=tradeoff,
        worth=interval_of(worth[0], float(middle[1][0]), worth[1]),
        draws=weights[:, -1],
    )


def _opened(ratio: WeightInterval, procedure: "Procedure", draws: FloatArray) -> WeightInterval:
    """Leave a limit open where draws lie beyond the trade-offs that questions tell apart.

    There they are the prior's, and not the answers': any other ratio beyond would fit as well, so
    that the limits hold all of these.
    """
    space, search = procedure.space, procedure._search
    if not isinstance(space, BinarySpace):
        return ratio
    low, high = space.frontier.reach if search is None else search.goal.reach
    angle = np.arctan2(np.abs(draws[:, 1]), np.abs(draws[:, 0]))
    lower, upper = ratio.lower, ratio.upper
    if np.mean(angle > high) > _TAIL:
        lower, upper = 0.0, max(upper, float(1.0 / np.tan(high)))
    if np.mean(angle < low) > _TAIL:
        lower, upper = min(lower, float(1.0 / np.tan(low))), np.inf
    return replace(ratio, lower=lower, upper=upper)


def _lapse(search: ActiveSearch) -> WeightInterval:
    rates, shares = search.posterior.noise.lapse, search.posterior.shares
    low, high = weighted_limits(rates, shares)
    return WeightInterval(
        name="how often the person slips",
        estimate=float(shares @ rates),
        lower=low,
        upper=high,
    )


def _questions(procedure: "Procedure", draws: PosteriorDraws) -> AskedQuestions:
    space = procedure.question_space
    first, second, _ = answered_sides(procedure)
    rng = np.random.default_rng(procedure.seed)
    boundary = space.coordinates(space.sample(procedure.effort.boundary, rng=rng))
    values = draws.family.values(draws.estimate[None], boundary)[0]
    values = -values if procedure._flipped else values
    return AskedQuestions(
        first=first,
        second=second,
        answers=procedure.answers,
        names=space.names,
        boundary=boundary[np.argsort(boundary[:, 0])],
        best=boundary[int(np.argmax(values))],
    )
