"""One simulated person after the other: what they were asked, and what was made of it."""

import time
import warnings
from collections.abc import Iterable
from functools import partial
from multiprocessing import Pool
from typing import Any, NamedTuple

import numpy as np
from _people_settings import SETTINGS, Array, Person, draw_metric, prefers, space_of
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.elicit import Elicitation, ElicitationResult

__all__ = ["ENDLESS", "Seen", "ask_people", "seen_at"]

PROCESSES = 2  # people asked at the same time, which changes no answer
# Goes on after the default stop, so that limits are looked at after as many answers for everyone.
ENDLESS = {"agreement": 0.9999, "precision": 1.0001, "max_queries": 40}
_HARMFUL = 0.5  # no class of a side that is shown may be worse


class Seen(NamedTuple):
    """What is known of one person after some answers."""

    at: int  # answers after which this was written down; 0 for where the procedure stopped
    questions: int
    covered: float  # share of the ratios, or the worth, whose limits hold the truth
    width: float  # upper limit over lower
    agreement: float  # true
    predicted: float
    status: str
    outside: bool  # whether the wider family is why the person is flagged
    factor: float  # log of the Bayes factor of the wider family
    absurd: int  # questions of which a side is wrong on more than half of a class
    seconds: float  # CPU time of all questions


def ask_people(
    setting: str, kind: str, people: int, at: tuple[int, ...] = (), **options: Any
) -> list[Seen]:
    """Ask some people and return what was seen of them after some answers and at the stop."""
    job = partial(ask_person, setting, kind, at, options)
    space_of(setting)  # once, before processes part
    _begun(setting, options, 0).ask()
    prefers(draw_metric(SETTINGS[setting].metric, np.random.default_rng(0))[0], setting)
    with Pool(PROCESSES, threadpool_limits, (1,)) as pool:
        found: Iterable[list[Seen]] = pool.map(job, range(people), chunksize=1)
    return [seen for of_person in found for seen in of_person]


def seen_at(found: list[Seen], at: int = 0) -> list[Seen]:
    """Return what was seen after so many answers, by default at the stop."""
    return [seen for seen in found if seen.at == at]


def _begun(setting: str, options: dict[str, Any], seed: int) -> Elicitation:
    return Elicitation(space_of(setting), rng=seed, **options)


def ask_person(
    setting: str, kind: str, at: tuple[int, ...], options: dict[str, Any], seed: int
) -> list[Seen]:
    """Ask one person all there is to ask."""
    rng = np.random.default_rng([seed, 5])
    metric, truth = draw_metric(SETTINGS[setting].metric, rng)
    margins = prefers(metric, setting)
    person = Person(metric, kind, float(np.median(np.abs(margins))), rng)
    procedure, found, spent = _begun(setting, options, seed), [], 0.0
    while True:
        start = time.process_time()
        query = procedure.ask()
        if query is not None:
            procedure.tell(person(query))
        spent += time.process_time() - start
        done = len(procedure.answers) if query is not None else 0
        if done in (*at, 0):
            found.append(_seen(procedure, setting, margins, truth, done, spent))
        if query is None:
            return found


def _seen(
    procedure: Elicitation, setting: str, margins: Array, truth: Array, at: int, spent: float
) -> Seen:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # contradictions are what these people are for
        result = procedure.result
    covered, width = _limits(result, truth)
    search = procedure._search
    assert search is not None
    factor = np.nan
    if search.rivals:
        factor = search.rivals[0].evidence.named - search.posterior.evidence.named
    return Seen(
        at=at,
        questions=result.n_queries,
        covered=covered,
        width=width,
        agreement=float(np.mean((margins > 0) == (prefers(result.metric, setting) > 0))),
        predicted=result.agreement,
        status=result.status,
        outside=result.misfit is not None and "explain the answers" in result.misfit,
        factor=factor,
        absurd=sum(map(_is_absurd, result.transcript.queries)),
        seconds=spent,
    )


def _limits(result: ElicitationResult, truth: Array) -> tuple[float, float]:
    """Return the share of ratios whose limits hold the truth, and their median width."""
    if not np.isfinite(truth).all():
        return np.nan, np.nan
    if len(truth) == 1:
        found = result.ratios[0] if result.trade_off is None else result.trade_off.worth
        pairs = [(found, truth[0])]
    else:
        top = int(np.argmax([abs(weight.value) for weight in result.weights]))
        others = [truth[i] / truth[top] for i in range(len(result.weights)) if i != top]
        pairs = list(zip(result.ratios, others, strict=True))
    covered = [limits.lower <= true <= limits.upper for limits, true in pairs]
    widths = [limits.upper / max(limits.lower, 1e-9) for limits, _ in pairs]
    return float(np.mean(covered)), float(np.median(widths))


def _is_absurd(query: tuple[Any, Any]) -> bool:
    tables = np.asarray(query)
    right = np.einsum("...ii->...i", tables) / tables.sum(axis=-1)
    return bool((1.0 - right).max() > _HARMFUL + 1e-9)
