"""From what is known of a metric to the result that is shown."""

import copy
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat._typing import FloatArray
from karat.elicit._active import Belief, Judge, best_question
from karat.elicit._binary_space import BinarySpace
from karat.elicit._fair_family import FairFamily
from karat.elicit._families import Family
from karat.elicit._polynomial_family import PolynomialFamily
from karat.elicit._query import SIGNS
from karat.elicit._space import Space
from karat.elicit.result import (
    CONFIDENCE,
    AgreementHistory,
    AskedQuestions,
    ElicitationResult,
    TradeOff,
    WeightInterval,
    ratio_interval,
    weighted_limits,
)
from karat.exceptions import ContradictionWarning, ElicitationError, NotIdentifiedWarning

if TYPE_CHECKING:
    from karat.elicit._procedure import Procedure

__all__ = ["Known", "build_result", "projected"]

_SHOWN = 400  # draws that a result keeps
_TABLES = (FairFamily, PolynomialFamily)  # families whose weights are many
_TAIL = (1.0 - CONFIDENCE) / 2
_BOUNDARY = 300  # points that show what is attainable
# More contradictions than this are seldom slips of someone who has a metric in mind: a coin leads
# to 20 to 25 % after 40 questions, someone who slips on 20 % of them to 15 %.
_TOO_MANY = 0.2


@dataclass(frozen=True, slots=True)
class Known:
    """Metrics that are still possible, with their shares, and the one in the middle."""

    family: Family
    parameters: FloatArray
    shares: FloatArray
    estimate: FloatArray

    def thinned(self, n: int) -> FloatArray:
        """Return n metrics of equal share."""
        at = (np.arange(n) + 0.5) / n
        chosen = np.searchsorted(np.cumsum(self.shares), at).clip(max=len(self.shares) - 1)
        return np.asarray(self.parameters[chosen])


def build_result(procedure: "Procedure", known: Known) -> ElicitationResult:
    """Collect everything a result says."""
    family, belief = known.family, procedure._belief
    draws = family.weights(known.thinned(_SHOWN))
    estimate = family.weights(known.estimate[None])[0]
    intervals = _intervals(family.names, estimate, draws)
    progress = _progress(procedure, known)
    contradictions = _contradictions(procedure, known)
    result = ElicitationResult(
        metric=family.metric(known.estimate),
        intervals=intervals,
        ratios=_ratios(procedure, intervals, draws),
        trade_off=_trade_off(known, intervals, draws),
        table=family.table(known.estimate) if isinstance(family, _TABLES) else None,
        n_queries=len(procedure.answers),
        agreement=float(progress.agreement[-1]),
        next_agreement=float("nan") if belief is None else belief.next_agreement(),
        finished=procedure.finished,
        transcript=procedure.transcript,
        procedure=type(procedure).__name__,
        strategy=procedure.strategy,
        lapse=None if belief is None else _lapse(belief, procedure.seed),
        contradictions=contradictions,
        effective_particles=float("nan") if belief is None else belief.cloud.effective,
        acceptance=float("nan") if belief is None else belief.cloud.acceptance,
        draws=draws,
        progress=progress,
        questions=_questions(procedure, known),
    )
    _warn(procedure, result)
    return result


def _intervals(
    names: tuple[str, ...], estimate: FloatArray, draws: FloatArray
) -> tuple[WeightInterval, ...]:
    even = np.full(len(draws), 1.0 / len(draws))
    rows = []
    for name, value, column in zip(names, estimate, draws.T, strict=True):
        low, high = weighted_limits(column, even)
        rows.append(
            WeightInterval(
                name=name,
                estimate=float(value),
                lower=min(low, float(value)),
                upper=max(high, float(value)),
            )
        )
    return tuple(rows)


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
                name = procedure.space.trade_off(i, top)
                if compared > dim:
                    name += weight.name.removeprefix(procedure.space.names[i])
                ratio = ratio_interval(name, weight, part[top], columns)
                ratios.append(_opened(ratio, procedure.space, columns))
    return tuple(ratios)


def _trade_off(
    known: Known, intervals: tuple[WeightInterval, ...], draws: FloatArray
) -> TradeOff | None:
    """Return how errors are traded against gaps, for metrics of groups."""
    family = known.family
    if not isinstance(family, FairFamily):
        return None
    even = np.full(_SHOWN, 1.0 / _SHOWN)
    words, worth = family.trade_offs(known.thinned(_SHOWN))
    low, high = weighted_limits(worth, even)
    middle = float(family.trade_offs(known.estimate[None])[1][0])
    return TradeOff(
        tradeoff=intervals[-1],
        worth=WeightInterval(
            name=words, estimate=middle, lower=min(low, middle), upper=max(high, middle)
        ),
        draws=draws[:, -1],
    )


def _opened(ratio: WeightInterval, space: Space, draws: FloatArray) -> WeightInterval:
    """Leave a limit open where draws lie beyond the trade-offs that the space can tell apart.

    There they are the prior's, and not the answers': any greater ratio would fit as well.
    """
    if not isinstance(space, BinarySpace):
        return ratio
    low, high = space.frontier.reach
    angle = np.arctan2(np.abs(draws[:, 1]), np.abs(draws[:, 0]))
    return replace(
        ratio,
        lower=0.0 if np.mean(angle > high) > _TAIL else ratio.lower,
        upper=np.inf if np.mean(angle < low) > _TAIL else ratio.upper,
    )


def _progress(procedure: "Procedure", known: Known) -> AgreementHistory:
    """Return the agreement after each answer."""
    if procedure._belief is not None:
        known_after = procedure._belief.history
        # The question of the orientation says nothing of the weights.
        before = len(procedure.answers) + 1 - len(known_after)
        history = np.array([*[known_after[0]] * before, *known_after])
        return AgreementHistory(
            n_queries=np.arange(len(history), dtype=float),
            agreement=history,
            target=procedure.agreement,
        )
    judge = Judge.of(procedure.arena, np.random.default_rng(procedure.seed))
    trail = [procedure._first_brackets(), *procedure._trail]
    steps = np.linspace(0, len(trail) - 1, procedure._affordable(25))
    steps = np.unique(np.round(steps).astype(int))
    rng = np.random.default_rng(procedure.seed)
    share = rng.random((procedure._affordable(200), len(trail[0].low)))
    values = []
    for step in steps:
        low, high = trail[step].open_low, trail[step].open_high
        parameters = procedure._parameters(low + share * (high - low), trail[step])
        middle = (
            known.estimate
            if step == len(trail) - 1
            else procedure._parameters(trail[step].middle[None], trail[step])[0]
        )
        even = np.full(len(share), 1.0 / len(share))
        values.append(judge.agreement(known.family, middle, parameters, even))
    return AgreementHistory(n_queries=steps.astype(float), agreement=np.array(values))


def _sides(procedure: "Procedure") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coordinates of both sides of each question, and what was said."""
    space, queries = procedure.arena, procedure._queries
    if not queries:
        return np.empty((0, space.dim)), np.empty((0, space.dim)), np.empty(0)
    first = space.coordinates(np.stack([q.first for q in queries]))
    second = space.coordinates(np.stack([q.second for q in queries]))
    said = np.array([SIGNS[answer] for answer in procedure.answers])
    return first, second, said * (-1.0 if procedure._flipped else 1.0)


def _contradictions(procedure: "Procedure", known: Known) -> tuple[int, ...]:
    """Return the numbers of the answers that nearly all metrics still possible disagree with."""
    first, second, said = _sides(procedure)
    if not len(said) or not procedure.explains:
        return ()
    values = known.family.values(known.parameters, np.vstack([first, second]))
    margins = values[:, : len(first)] - values[:, len(first) :]
    wrong = known.shares @ (margins * said < -1e-12)
    limit = 0.5 if procedure._belief is not None else 0.999
    return tuple(int(i) + 1 for i in np.flatnonzero(wrong > limit))


def _lapse(belief: Belief, seed: int) -> WeightInterval:
    slips, kept = belief.cloud.lapse
    drawn = np.random.default_rng(seed).beta(slips, kept)
    low, high = weighted_limits(drawn, belief.cloud.shares)
    return WeightInterval(
        name="how often the person slips", estimate=belief.cloud.lapse_mean, lower=low, upper=high
    )


def _questions(procedure: "Procedure", known: Known) -> AskedQuestions:
    space = procedure.arena
    first, second, _ = _sides(procedure)
    rng = np.random.default_rng(procedure.seed)
    boundary = space.coordinates(space.sample(_BOUNDARY, rng=rng))
    values = known.family.values(known.estimate[None], boundary)[0]
    values = -values if procedure._flipped else values
    return AskedQuestions(
        first=first,
        second=second,
        answers=procedure.answers,
        names=space.names,
        boundary=boundary[np.argsort(boundary[:, 0])],
        best=boundary[int(np.argmax(values))],
    )


def _warn(procedure: "Procedure", result: ElicitationResult) -> None:
    told = sum(answer != "skip" for answer in procedure.answers)
    n = len(result.contradictions)
    if procedure.strategy != "active" and n:
        warnings.warn(
            f"{n} of {told} answers contradict the others (questions "
            f"{', '.join(map(str, result.contradictions[:5]))}{', …' * (n > 5)}), and "
            f"strategy={procedure.strategy!r} takes every answer at its word; use 'active', which "
            "allows for slips",
            ContradictionWarning,
            stacklevel=4,
        )
    elif n >= 4 and n > _TOO_MANY * told:
        warnings.warn(
            f"{n} of {told} answers contradict the others, more than slips explain: perhaps no "
            "metric of this family is what the person has in mind, or the sides were confused",
            ContradictionWarning,
            stacklevel=4,
        )
    flat = procedure._unidentified()
    if flat is not None and procedure.finished:
        warnings.warn(flat, NotIdentifiedWarning, stacklevel=4)


def projected(
    progress: AgreementHistory, belief: Belief, extra: int, n_people: int, seed: int
) -> AgreementHistory:
    """Return the history with the mean of what people drawn from the posterior would answer."""
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(n_people):
        drawn = int(rng.choice(len(belief.cloud.shares), p=belief.cloud.shares))
        person = belief.cloud.parameters[drawn].copy()
        runs.append(_asked_on(copy.deepcopy(belief), person, extra, rng))
    last = progress.n_queries[-1]
    return AgreementHistory(
        n_queries=progress.n_queries,
        agreement=progress.agreement,
        expected_n_queries=last + 1.0 + np.arange(extra),
        expected_agreement=np.mean(runs, axis=0),
        target=progress.target,
    )


def _asked_on(
    belief: Belief, person: FloatArray, extra: int, rng: np.random.Generator
) -> list[float]:
    """Return the predicted agreement after each of ``extra`` answers of a person."""
    cloud, asker = belief.cloud, belief.asker
    if asker is None:
        raise ElicitationError("nothing was asked yet; answer the first question, then look ahead")
    lapse, history = cloud.lapse_mean, list[float]()
    for _ in range(extra):
        index = best_question(cloud, *asker.candidates(cloud))
        if index is None:
            return history + [history[-1] if history else belief.agreement()] * (
                extra - len(history)
            )
        first, second, _query = asker.pick(index)
        values = cloud.family.values(person[None], np.stack([first, second]))[0]
        said = 1.0 if values[0] > values[1] else -1.0
        cloud.tell(first, second, -said if rng.random() < lapse else said)
        history.append(belief.agreement())
    return history
