"""The result of an elicitation: the metric, how sure it is, and its status."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from karat._callers import caller_level
from karat._sentences import Option, Remedy
from karat._typing import FloatArray
from karat.elicit._rate_space import RateSpace
from karat.elicit.asking import ActiveSearch
from karat.elicit.families import Family
from karat.elicit.posterior import AgreementPanel, Evidence, PosteriorDraws
from karat.elicit.result import (
    CONFIDENCE,
    AgreementHistory,
    AskedQuestions,
    ElicitationResult,
    TradeOff,
    WeightInterval,
    WeightTable,
    interval_of,
    intervals_of,
    ratio_interval,
    weighted_limits,
)
from karat.elicit.spaces import BinarySpace, Space
from karat.elicit.transcript import SIGNS
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import GroupMetric
from karat.metrics.base import Elicited, MetricBase

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure


M = TypeVar("M", bound=MetricBase)
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
    contradictions = find_contradictions(procedure, draws)
    status, misfit = status_of(procedure, contradictions)
    agreement = float(progress.agreement[-1])
    metric = named_metric(
        procedure.space,
        family.metric(draws.estimate),
        Elicited(
            status=status,
            n_queries=len(procedure.answers),
            agreement=None if np.isnan(agreement) else agreement,
            limits=limits_of(ratios),
            procedure=type(procedure).__name__,
        ),
    )
    result = ElicitationResult(
        metric=metric,
        description=metric.describe(),
        intervals=intervals,
        ratios=ratios,
        trade_off=trade_off,
        table=table,
        n_queries=len(procedure.answers),
        agreement=agreement,
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


def named_metric(space: Space, metric: M, elicited: Elicited | None = None) -> M:
    """Return the metric with the names of its classes and groups, and what it rests on."""
    named = {"classes": space.classes.tolist()}
    if isinstance(metric, GroupMetric) and isinstance(space, RateSpace):
        named["groups"] = np.asarray(space.groups).tolist()
    return metric._with(**named, elicited=elicited)


def limits_of(ratios: Sequence[WeightInterval]) -> tuple[dict[str, Any], ...]:
    """Return the limits of trade-offs as plain data."""

    def number(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    return tuple(
        {
            "name": r.name,
            "value": number(r.estimate),
            "lower": number(r.lower),
            "upper": number(r.upper),
        }
        for r in ratios
    )


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


# --- The predicted agreement after each answer of a run.


def agreement_history(procedure: "Procedure", draws: PosteriorDraws) -> AgreementHistory:
    """Return the agreement after each answer."""
    if procedure._search is None:
        return _history_of_brackets(procedure, draws)
    known_after = procedure._search.history
    # The question of the orientation says nothing of the weights.
    before = len(procedure.answers) + 1 - len(known_after)
    history = np.array([*[known_after[0]] * before, *known_after])
    return AgreementHistory(
        n_queries=np.arange(len(history), dtype=float),
        agreement=history,
        target=procedure.agreement,
    )


def _history_of_brackets(procedure: "Procedure", draws: PosteriorDraws) -> AgreementHistory:
    """Return the agreement of metrics drawn evenly from the brackets, after some of the answers."""
    effort, rng = procedure.effort, np.random.default_rng(procedure.seed)
    if not procedure.predicts:
        ends = np.unique([0.0, len(procedure.answers)])
        return AgreementHistory(n_queries=ends, agreement=np.full(len(ends), np.nan))
    panel = AgreementPanel.of(procedure.question_space, effort.panel, rng)
    trail = [procedure._first_brackets(), *procedure._trail]
    steps = np.linspace(0, len(trail) - 1, procedure._affordable(effort.history_steps))
    steps = np.unique(np.round(steps).astype(int))
    # The same shares at every step, so that the history does not jump by chance.
    rng = np.random.default_rng(procedure.seed)
    share = rng.random((procedure._affordable(effort.history_draws), len(trail[0].low)))
    values = []
    for step in steps:
        low, high = trail[step].open_low, trail[step].open_high
        parameters = procedure._parameters(low + share * (high - low), trail[step])
        middle = (
            draws.estimate
            if step == len(trail) - 1
            else procedure._parameters(trail[step].middle[None], trail[step])[0]
        )
        even = np.full(len(share), 1.0 / len(share))
        values.append(panel.agreement(draws.family, middle, parameters, even))
    return AgreementHistory(n_queries=steps.astype(float), agreement=np.array(values))


# --- Whether the answers may be trusted, and the sentences that say why not.

_MANY_ANSWERS = 60  # by then someone with a metric is told from someone without
# Log of the Bayes factor from which on a wider family is offered. Settled on simulated people of
# the income data (groups by sex), tried on credit data: see docs/theory/elicitation.md.
_WIDER = 1.5
# More contradictions than this are seldom slips of someone who has a metric in mind: a coin leads
# to 20 to 25 % after 40 questions, someone who slips on 20 % of them to 15 %.
_TOO_MANY = 0.2


def status_of(procedure: "Procedure", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return "certified", "undecided" or "flagged", and for the last what is wrong."""
    search = procedure._search
    if search is None:
        return _of_brackets(procedure, contradictions)
    misfit = _no_metric(search.posterior.evidence) or _outside(procedure, search)
    if misfit is not None:
        return "flagged", misfit
    reached = search.is_known() and search.precise and search.excludes_coin
    return ("certified" if reached else "undecided"), None


def _of_brackets(procedure: "Procedure", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return the status of a search that takes every answer for right: it tests nothing."""
    if not contradictions:
        return "undecided", None
    n = len(contradictions)
    return "flagged", (
        f"{n} answer{'s' * (n > 1)} contradict{'s' * (n == 1)} the others, and "
        f"strategy={procedure.strategy!r} takes every answer for right; use 'active'"
    )


def _no_metric(evidence: Evidence) -> str | None:
    """Return why the answers are not those of someone with a metric in mind."""
    late = evidence.n_named >= _MANY_ANSWERS and evidence.above_no_metric < 0
    if not (evidence.contradicted or late):
        return None
    n = evidence.n_named + evidence.n_ties
    if evidence.n_ties > max(evidence.n_first, evidence.n_second):
        what = f"{evidence.n_ties} of {n} answers are ties, also where a side is clearly better"
    elif max(evidence.n_first, evidence.n_second) > 0.8 * evidence.n_named:
        side = "first" if evidence.n_first > evidence.n_second else "second"
        count = max(evidence.n_first, evidence.n_second)
        what = f"{count} of {n} answers name the {side} side, whatever it shows"
    else:
        what = f"the {n} answers are more like those of a coin than of any metric of this family"
    return f"{what}; do not use this metric. Ask again, or ask whether the question was understood"


def _outside(procedure: "Procedure", search: ActiveSearch) -> str | None:
    """Return that another family explains the answers better, if one does."""
    if not search.rivals:
        return None
    wide = search.rivals[0]
    factor = wide.evidence.named - search.posterior.evidence.named
    if factor < _WIDER:
        return None
    return (
        f"metrics of {procedure.wider} explain the answers {_times(factor)} as well as those of "
        f"{type(procedure).__name__}: what the person has in mind is probably not of this family. "
        f"Go on with procedure.widened(), which is a {procedure.wider} with the same answers"
    )


def _times(log_factor: float) -> str:
    return f"{np.exp(log_factor):.0f} times" if log_factor < 7 else "over 1,000 times"


def answered_sides(procedure: "Procedure") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coordinates of both sides of each question, and the signs of the answers."""
    space, queries = procedure.question_space, procedure._queries
    if not queries:
        return np.empty((0, space.dim)), np.empty((0, space.dim)), np.empty(0)
    first = space.coordinates(np.stack([q.first for q in queries]))
    second = space.coordinates(np.stack([q.second for q in queries]))
    signs = np.array([SIGNS[answer] for answer in procedure.answers])
    return first, second, signs * (-1.0 if procedure._flipped else 1.0)


def find_contradictions(procedure: "Procedure", draws: PosteriorDraws) -> tuple[int, ...]:
    """Return the numbers of the answers that nearly all metrics still possible disagree with."""
    first, second, signs = answered_sides(procedure)
    if not len(signs) or not procedure.explains:
        return ()
    values = draws.family.values(draws.parameters, np.vstack([first, second]))
    margins = values[:, : len(first)] - values[:, len(first) :]
    wrong = draws.shares @ (margins * signs < -1e-12)
    # Particles allow for slips, so most of them suffice; brackets hold every answer to be right.
    limit = 0.5 if procedure._search is not None else 0.999
    return tuple(int(i) + 1 for i in np.flatnonzero(wrong > limit))


def warn_of_answers(procedure: "Procedure", result: ElicitationResult) -> None:
    """Warn of answers that contradict each other, and of what they leave arbitrary."""
    given = sum(answer != "skip" for answer in procedure.answers)
    n = len(result.contradictions)
    if procedure.strategy != "active" and n:
        warnings.warn(
            ContradictionWarning(
                f"{n} of {given} answers contradict the others (questions "
                f"{', '.join(map(str, result.contradictions[:5]))}{', …' * (n > 5)}), "
                "and ",
                Option("strategy", procedure.strategy),
                " takes every answer for right",
                Remedy("use 'active', which allows for slips"),
            ),
            stacklevel=caller_level(),
        )
    elif n >= 4 and n > _TOO_MANY * given:
        warnings.warn(
            f"{n} of {given} answers contradict the others, more than slips explain: perhaps no "
            "metric of this family is what the person has in mind, or the sides were confused",
            ContradictionWarning,
            stacklevel=caller_level(),
        )
    arbitrary = procedure._unidentified()
    if arbitrary is not None and procedure.finished:
        warnings.warn(arbitrary, NotIdentifiedWarning, stacklevel=caller_level())
