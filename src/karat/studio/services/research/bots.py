"""Bots: simulated people who play a study through the same services as the pages.

A bot is sent no data that a person would not see but for the pair itself, posts the forms that the
pages post, and every answer is committed, so that a study is tried out before people are asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._validate import check_count, check_number
from karat.elicit import MetricOracle
from karat.exceptions import ElicitationError, OptionError
from karat.metrics.base import MetricBase
from karat.studio.models import Person, Study
from karat.studio.schemas import FormField
from karat.studio.services import asking, people, session, studies
from karat.studio.services.flow import COMPARISONS
from karat.studio.storage import Store

_MOST_PAGES = 1_000  # a study that never ends is wrong, and must not run for ever
_GUESS_SPREAD = 1.0  # of the logarithm: people's guesses are a factor of e off, typically
Form = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A bot that has played: who it is, and how many comparisons and pages it answered."""

    person_id: str
    n_comparisons: int
    n_pages: int


def metric_of(asked: asking.Asked, ratio: float) -> MetricBase:
    """Return a bot's metric: errors about the last class are ``ratio`` times as bad as the first's.

    Classes between lie evenly between both on a logarithmic scale. Where groups are compared, a
    point of gap is as bad as a point of error.
    """
    k = asked.space.n_classes
    costs: dict[str, float | None] = {"ratio": ratio, "gap": 1.0}
    costs |= {f"cost_{i}": float(ratio ** (i / (k - 1))) for i in range(k)}
    metric = asking.guess_metric(asked, costs)
    if metric is None:
        raise ElicitationError("a bot has no metric for a study of this family")
    return metric


def play(
    store: Store,
    study: Study,
    *,
    n_people: int = 20,
    ratio: float = 6.0,
    flip: float = 0.1,
    rng: int = 0,
) -> list[Played]:
    """Let bots play a study to its end, one after another.

    Parameters
    ----------
    store : Store
        The database.
    study : Study
        What is played.
    n_people : int, default 20
        Number of bots.
    ratio : float, default 6
        How many times as bad an error about the last class is as one about the first.
    flip : float, default 0.1
        Share of answers that are slips.
    rng : int, default 0
        Seed of the slips and of what bots are shown.
    """
    check_count(n_people, "n_people")
    check_number(ratio, "ratio", above=0.0)
    check_number(flip, "flip", at_least=0.0, at_most=0.5)
    metric = metric_of(studies.asked_of(store, study), ratio)
    played = []
    for number in range(n_people):
        seeds = np.random.default_rng([rng, number]).integers(2**31, size=2)
        person = people.create(
            store, study, label=f"bot {number + 1}", kind="bot", seed=int(seeds[0])
        )
        oracle = MetricOracle(metric, flip=flip, rng=int(seeds[1]))
        played.append(play_one(store, person, oracle, guess=ratio))
    return played


def play_one(
    store: Store, person: Person, oracle: MetricOracle, *, guess: float | None = None
) -> Played:
    """Let someone who answers by a metric play from where they are to the end.

    ``guess`` is the ratio that the person would guess, but for how far people's guesses are off;
    None guesses nothing.
    """
    compared = pages = 0
    while pages < _MOST_PAGES:
        here = session.current_step(store, person.id)
        if here is None or here.phase == "done":
            return Played(person_id=person.id, n_comparisons=compared, n_pages=pages)
        play_page(store, here, oracle, guess=guess)
        compared += here.phase in COMPARISONS
        pages += 1
    raise ElicitationError(f"a bot has answered {pages} pages and is not at the end")


def play_page(
    store: Store, here: session.Here, oracle: MetricOracle, *, guess: float | None = None
) -> None:
    """Answer the page at which someone is; see `play_one`."""
    person = here.person
    rng = np.random.default_rng([person.seed, person.seq])
    form = _filled(here, studies.asked_of(store, here.study), oracle, guess, rng)
    outcome = session.answer(store, person.id, seq=person.seq, nonce=person.nonce, form=form)
    if not outcome.accepted:
        raise ElicitationError(
            f"a bot's answer to the page {here.phase!r} was {outcome.status}: {outcome.errors}"
        )


def _filled(
    here: session.Here,
    asked: asking.Asked,
    oracle: MetricOracle,
    guess: float | None,
    rng: np.random.Generator,
) -> Form:
    """Return the form of a page, filled in."""
    if here.phase == "consent":
        return {"agree": ["yes"]}
    if here.phase in COMPARISONS:
        return {"choice": [_choice(here.page, oracle, here.config.options.allow_tie)]}
    if here.phase in asking.QUIZ_PHASES:
        return {key.name: [str(key.key)] for key in asking.quiz_of(asked, here.phase).keys}
    if here.phase == "guess":
        return _guessed(asking.guess_fields(asked), asked, guess, rng)
    fields = {"questionnaire": here.config.questionnaire, "post": here.config.post}
    return {field.name: _answered(field, rng) for field in fields.get(here.phase, ())}


def _choice(page: dict[str, Any], oracle: MetricOracle, ties: bool) -> str:
    """Return which side is chosen as it is shown."""
    said = str(oracle(asking.query_of(page)))
    if said == "tie" and ties:
        return "tie"
    first = said != "second"
    return "A" if first != bool(page["swapped"]) else "B"


def _guessed(
    fields: tuple[FormField, ...],
    asked: asking.Asked,
    guess: float | None,
    rng: np.random.Generator,
) -> Form:
    if guess is None:
        return {}
    k = asked.space.n_classes
    known = {"ratio": guess, "gap": 1.0} | {f"cost_{i}": guess ** (i / (k - 1)) for i in range(k)}
    off = np.exp(_GUESS_SPREAD * rng.normal(size=len(fields)))
    return {
        field.name: [f"{known[field.name] * factor:.3g}"]
        for field, factor in zip(fields, off, strict=True)
    }


def _answered(field: FormField, rng: np.random.Generator) -> list[str]:
    if field.options:
        return [str(rng.choice(list(field.options)))]
    if field.kind == "number":
        low, high = field.minimum or 0.0, field.maximum or 100.0
        return [f"{rng.integers(int(low), int(high) + 1)}"]
    return ["A bot has nothing to say."]


def read_options(form: Mapping[str, Sequence[str]], *, most: int) -> dict[str, Any]:
    """Return what a researcher asks of bots, as `play` takes it; at most so many of them."""
    wanted: dict[str, Any] = {}
    for name, default in (("n_people", 20.0), ("ratio", 6.0), ("flip", 0.1)):
        text = (form.get(name) or [""])[0].strip().replace(",", ".")
        try:
            wanted[name] = float(text) if text else default
        except ValueError as error:
            raise OptionError(f"{name} is {text[:20]!r}; expected a number") from error
    wanted["n_people"] = check_count(wanted["n_people"], "n_people")
    if wanted["n_people"] > most:
        raise OptionError(f"n_people is {wanted['n_people']}; expected at most {most}")
    check_number(wanted["ratio"], "ratio", above=0.0, at_most=1e4)
    check_number(wanted["flip"], "flip", at_least=0.0, at_most=0.5)
    return wanted
