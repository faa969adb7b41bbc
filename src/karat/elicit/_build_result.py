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
    NamedEstimate,
    TradeOff,
    WeightTable,
    estimate_of,
    estimates_of,
    ratio_estimate,
    weighted_limits,
)
from karat.elicit.spaces import BinarySpace, Space
from karat.elicit.transcript import SIGNS
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import GroupMetric
from karat.metrics.base import Elicited, MetricBase

if TYPE_CHECKING:
    from karat.elicit._elicitation import Elicitation


M = TypeVar("M", bound=MetricBase)
_TAIL = (1.0 - CONFIDENCE) / 2


class Reported(NamedTuple):
    """What is said of metrics that are still possible, and of the estimate among them."""

    draws: FloatArray  # of the weights, (draws, w)
    weights: tuple[NamedEstimate, ...]
    ratios: tuple[NamedEstimate, ...]
    trade_off: TradeOff | None
    table: WeightTable | None


def report(run: "Elicitation", family: Family, estimate: FloatArray, kept: FloatArray) -> Reported:
    """Return what the parameters of an estimate (size,) and of draws (n, size) amount to."""
    drawn = family.weights(kept)
    weights = estimates_of(family.names, family.weights(estimate[None])[0], drawn)
    return Reported(
        drawn,
        weights,
        _ratios(run, weights, drawn),
        _trade_off(family, estimate, kept, weights[-1], drawn),
        family.table(estimate),
    )


def build_result(run: "Elicitation", draws: PosteriorDraws) -> ElicitationResult:
    """Return the result of an elicitation whose answers leave the metrics of ``draws`` possible."""
    family, search = draws.family, run._search
    kept = draws.thinned(run.effort.kept)
    drawn, weights, ratios, trade_off, table = report(run, family, draws.estimate, kept)
    progress = agreement_history(run, draws)
    contradictions = find_contradictions(run, draws)
    status, misfit = status_of(run, contradictions)
    agreement = float(progress.agreement[-1])
    metric = named_metric(
        run.space,
        family.metric(draws.estimate),
        Elicited(
            status=status,
            n_queries=len(run.answers),
            agreement=None if np.isnan(agreement) else agreement,
            limits=limits_of(ratios),
            procedure=f"{run.family} family, strategy {run.strategy}",
        ),
    )
    result = ElicitationResult(
        metric=metric,
        description=metric.describe(),
        weights=weights,
        ratios=ratios,
        trade_off=trade_off,
        table=table,
        n_queries=len(run.answers),
        agreement=agreement,
        next_agreement=float("nan") if search is None else search.next_agreement(),
        finished=run.finished,
        transcript=run.transcript,
        space=run.space.kind,
        family=run.family,
        strategy=run.strategy,
        lapse=None if search is None else _lapse(search),
        contradictions=contradictions,
        status=status,
        misfit=misfit,
        precise=search is None or search.precise,
        effective_particles=float("nan") if search is None else search.posterior.effective,
        acceptance=float("nan") if search is None else search.posterior.acceptance,
        draws=drawn,
        progress=progress,
        questions=_questions(run, draws),
    )
    warn_of_answers(run, result)
    return result


def named_metric(space: Space, metric: M, elicited: Elicited | None = None) -> M:
    """Return the metric with the names of its classes and groups, and what it rests on."""
    named = {"classes": space.classes.tolist()}
    if isinstance(metric, GroupMetric) and isinstance(space, RateSpace):
        named["groups"] = np.asarray(space.groups).tolist()
    return metric._with(**named, elicited=elicited)


def limits_of(ratios: Sequence[NamedEstimate]) -> tuple[dict[str, Any], ...]:
    """Return the limits of trade-offs as plain data."""

    def number(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    return tuple(
        {
            "name": r.name,
            "value": number(r.value),
            "lower": number(r.lower),
            "upper": number(r.upper),
        }
        for r in ratios
    )


def _ratios(
    run: "Elicitation", weights: tuple[NamedEstimate, ...], draws: FloatArray
) -> tuple[NamedEstimate, ...]:
    """Return each weight against the greatest of its kind, in words."""
    dim = run.space.dim
    ratios = []
    compared = run._problem.n_comparable(len(weights))
    for start in range(0, compared, dim):  # a ratio metric has two sets of weights
        part = weights[start : start + dim]
        top = int(np.argmax([abs(w.value) for w in part]))
        if run.space.kind == "binary":
            top = 1  # "a miss costs so many false alarms", whichever is greater
        for i, weight in enumerate(part):
            if i != top:
                columns = draws[:, [start + i, start + top]]
                name = run._problem.ratio_name(i, top)
                if compared > dim:
                    name += weight.name.removeprefix(run.space.names[i])
                ratio = ratio_estimate(name, weight, part[top], columns)
                ratios.append(_opened(ratio, run, columns))
    return tuple(ratios)


def _trade_off(
    family: Family,
    estimate: FloatArray,
    kept: FloatArray,
    tradeoff: NamedEstimate,
    weights: FloatArray,
) -> TradeOff | None:
    """Return how errors are traded against gaps; None for a family without groups."""
    worth = family.gap_worth(kept)
    middle = family.gap_worth(estimate[None])
    if worth is None or middle is None:
        return None
    return TradeOff(
        tradeoff=tradeoff,
        worth=estimate_of(worth[0], float(middle[1][0]), worth[1]),
        draws=weights[:, -1],
    )


def _opened(ratio: NamedEstimate, run: "Elicitation", draws: FloatArray) -> NamedEstimate:
    """Leave a limit open where draws lie beyond the trade-offs that questions tell apart.

    There they are the prior's, and not the answers': any other ratio beyond would fit as well, so
    that the limits hold all of these.
    """
    space, search = run.space, run._search
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


def _lapse(search: ActiveSearch) -> NamedEstimate:
    rates, shares = search.posterior.noise.lapse, search.posterior.shares
    low, high = weighted_limits(rates, shares)
    return NamedEstimate(
        name="how often the person slips",
        value=float(shares @ rates),
        lower=low,
        upper=high,
    )


def _questions(run: "Elicitation", draws: PosteriorDraws) -> AskedQuestions:
    space = run.question_space
    first, second, _ = answered_sides(run)
    rng = np.random.default_rng(run.seed)
    boundary = space.coordinates(space.sample(run.effort.boundary, rng=rng))
    values = draws.family.values(draws.estimate[None], boundary)[0]
    values = -values if run._flipped else values
    return AskedQuestions(
        first=first,
        second=second,
        answers=run.answers,
        names=space.names,
        boundary=boundary[np.argsort(boundary[:, 0])],
        best=boundary[int(np.argmax(values))],
    )


# --- The predicted agreement after each answer of a run.


def agreement_history(run: "Elicitation", draws: PosteriorDraws) -> AgreementHistory:
    """Return the agreement after each answer."""
    if run._search is None:
        return _history_of_brackets(run, draws)
    known_after = run._search.history
    # The question of the orientation says nothing of the weights.
    before = len(run.answers) + 1 - len(known_after)
    history = np.array([*[known_after[0]] * before, *known_after])
    return AgreementHistory(
        n_queries=np.arange(len(history), dtype=float),
        agreement=history,
        target=run.agreement,
    )


def _history_of_brackets(run: "Elicitation", draws: PosteriorDraws) -> AgreementHistory:
    """Return the agreement of metrics drawn evenly from the brackets, after some of the answers."""
    effort, rng = run.effort, np.random.default_rng(run.seed)
    if not run._problem.predicts:
        ends = np.unique([0.0, len(run.answers)])
        return AgreementHistory(n_queries=ends, agreement=np.full(len(ends), np.nan))
    panel = AgreementPanel.of(run.question_space, effort.panel, rng)
    trail = [run._problem.first_brackets(), *run._trail]
    steps = np.linspace(0, len(trail) - 1, run._problem.affordable(effort.history_steps))
    chosen = np.unique(np.round(steps).astype(int)).tolist()
    # The same shares at every step, so that the history does not jump by chance.
    rng = np.random.default_rng(run.seed)
    share = rng.random((run._problem.affordable(effort.history_draws), len(trail[0].low)))
    values = []
    for step in chosen:
        low, high = trail[step].open_low, trail[step].open_high
        parameters = run._problem.parameters(low + share * (high - low), trail[step])
        middle = (
            draws.estimate
            if step == len(trail) - 1
            else run._problem.parameters(trail[step].middle[None], trail[step])[0]
        )
        even = np.full(len(share), 1.0 / len(share))
        values.append(panel.agreement(draws.family, middle, parameters, even))
    return AgreementHistory(
        n_queries=np.array(chosen, dtype=np.float64), agreement=np.array(values)
    )


# --- Whether the answers may be trusted, and the sentences that say why not.

_MANY_ANSWERS = 60  # by then someone with a metric is told from someone without
# Log of the Bayes factor from which on a wider family is offered. Settled on simulated people of
# the income data (groups by sex), tried on credit data: see docs/theory/elicitation.md.
_WIDER = 1.5
# More contradictions than this are seldom slips of someone who has a metric in mind: a coin leads
# to 20 to 25 % after 40 questions, someone who slips on 20 % of them to 15 %.
_TOO_MANY = 0.2


def status_of(run: "Elicitation", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return "certified", "undecided" or "flagged", and for the last what is wrong."""
    search = run._search
    if search is None:
        return _of_brackets(run, contradictions)
    misfit = _no_metric(search.posterior.evidence) or _outside(run, search)
    if misfit is not None:
        return "flagged", misfit
    reached = search.is_known() and search.precise and search.excludes_coin
    return ("certified" if reached else "undecided"), None


def _of_brackets(run: "Elicitation", contradictions: tuple[int, ...]) -> tuple[str, str | None]:
    """Return the status of a search that takes every answer for right: it tests nothing."""
    if not contradictions:
        return "undecided", None
    n = len(contradictions)
    return "flagged", (
        f"{n} answer{'s' * (n > 1)} contradict{'s' * (n == 1)} the others, and "
        f"strategy={run.strategy!r} takes every answer for right; use 'active'"
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


def _outside(run: "Elicitation", search: ActiveSearch) -> str | None:
    """Return that another family explains the answers better, if one does."""
    if not search.rivals:
        return None
    wide = search.rivals[0]
    factor = wide.evidence.named - search.posterior.evidence.named
    if factor < _WIDER:
        return None
    return (
        f"metrics of the {run._problem.wider} family explain the answers {_times(factor)} as well "
        f"as those of the {run.family} one: what the person has in mind is probably not of this "
        "family. Go on with elicitation.widened(), which has the same answers"
    )


def _times(log_factor: float) -> str:
    return f"{np.exp(log_factor):.0f} times" if log_factor < 7 else "over 1,000 times"


def answered_sides(run: "Elicitation") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coordinates of both sides of each question, and the signs of the answers."""
    space, queries = run.question_space, run._queries
    if not queries:
        return np.empty((0, space.dim)), np.empty((0, space.dim)), np.empty(0)
    first = space.coordinates(np.stack([q.first for q in queries]))
    second = space.coordinates(np.stack([q.second for q in queries]))
    signs = np.array([SIGNS[answer] for answer in run.answers])
    return first, second, signs * (-1.0 if run._flipped else 1.0)


def find_contradictions(run: "Elicitation", draws: PosteriorDraws) -> tuple[int, ...]:
    """Return the numbers of the answers that nearly all metrics still possible disagree with."""
    first, second, signs = answered_sides(run)
    if not len(signs) or not run._problem.explains:
        return ()
    values = draws.family.values(draws.parameters, np.vstack([first, second]))
    margins = values[:, : len(first)] - values[:, len(first) :]
    wrong = draws.shares @ (margins * signs < -1e-12)
    # Particles allow for slips, so most of them suffice; brackets hold every answer to be right.
    limit = 0.5 if run._search is not None else 0.999
    return tuple(int(i) + 1 for i in np.flatnonzero(wrong > limit))


def warn_of_answers(run: "Elicitation", result: ElicitationResult) -> None:
    """Warn of answers that contradict each other, and of what they leave arbitrary."""
    given = sum(answer != "skip" for answer in run.answers)
    n = len(result.contradictions)
    if run.strategy != "active" and n:
        warnings.warn(
            ContradictionWarning(
                f"{n} of {given} answers contradict the others (questions "
                f"{', '.join(map(str, result.contradictions[:5]))}{', …' * (n > 5)}), "
                "and ",
                Option("strategy", run.strategy),
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
    arbitrary = run._problem.unidentified(run._standing)
    if arbitrary is not None and run.finished:
        warnings.warn(arbitrary, NotIdentifiedWarning, stacklevel=caller_level())
