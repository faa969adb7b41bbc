"""What a page of a person shows, as plain data for its template."""

from dataclasses import dataclass, field
from typing import Any

from karat.studio.models import Person
from karat.studio.schemas import FormField, StudyTexts
from karat.studio.services import asking, results, session, studies
from karat.studio.storage import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two systems side by side: whole numbers of cases, and how to draw them."""

    left: Any
    right: Any
    out_of: int
    predicted_names: list[str]
    truth: list[str]
    groups: list[str] | None
    view: str
    views: list[str]
    rates: bool
    rates_switch: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: which it is, its words, and what is asked on it."""

    phase: str
    seq: int
    nonce: str
    study_name: str
    texts: StudyTexts
    progress: float
    template: str
    pair: Pair | None = None
    fields: tuple[FormField, ...] = ()
    keys: tuple[asking.Key, ...] = ()
    number: int = 0
    can_undo: bool = False
    allow_tie: bool = False
    allow_skip: bool = False
    result: list[str] = field(default_factory=list)  # sentences on the person's own answers
    completion_code: str = ""
    completion_url: str = ""
    preview: bool = False
    words: dict[str, str] = field(default_factory=dict)


def page_of(store: Store, person_id: str, *, view: str = "", rates: bool = False) -> Page | None:
    """Return the page that is next for a person; None if there is no such person any more."""
    here = session.current_step(store, person_id)
    return None if here is None else page_at(store, here, view=view, rates=rates)


def page_at(store: Store, here: session.Here, *, view: str = "", rates: bool = False) -> Page:
    """Return the page of where a person is."""
    config, person, phase = here.config, here.person, here.phase
    asked = studies.asked_of(store, here.study)
    options = config.options
    known: dict[str, Any] = {}
    if phase in ("comparison", "evaluation"):
        known |= {
            "pair": _pair(asked, here.page, view, rates),
            "number": here.page["shown"],
            "allow_tie": options.allow_tie,
            "allow_skip": options.allow_skip,
        }
    elif phase in asking.QUIZ_PHASES:
        quiz = asking.quiz_of(asked, phase)
        known |= {"pair": _pair(asked, quiz.sides, view, rates), "keys": quiz.keys}
    elif phase == "figure":
        quiz = asking.quiz_of(asked, "comprehension")
        known |= {"pair": _pair(asked, quiz.sides, view, rates)}
    elif phase == "guess":
        known |= {"fields": asking.guess_fields(asked)}
    elif phase == "questionnaire":
        known |= {"fields": config.questionnaire}
    elif phase == "post":
        known |= {"fields": _filled(config.post, asked)}
    elif phase == "done":
        known |= _done(store, person, asked)
    return Page(
        phase=phase,
        seq=person.seq,
        nonce=person.nonce,
        study_name=here.study.name,
        texts=config.texts,
        progress=here.progress,
        template=f"participant/{_TEMPLATES.get(phase, phase)}.html",
        can_undo=here.can_undo and phase != "done",
        preview=person.kind == "preview",
        **known,
    )


_TEMPLATES = {
    "comparison": "compare",
    "evaluation": "compare",  # people are not told
    "questionnaire": "fields",
    "guess": "fields",
    "post": "fields",
    **dict.fromkeys(asking.QUIZ_PHASES, "quiz"),
}


def _pair(asked: asking.Asked, sides: dict[str, Any], view: str, rates: bool) -> Pair:
    options, words = asked.config.options, asking.words_of(asked)
    left, right = asking.counts_of(sides, options.out_of)
    many = len(asked.classes) > 2
    views: list[str] = ["table"] if many else list(dict.fromkeys((options.view, *options.views)))
    return Pair(
        left=left,
        right=right,
        out_of=options.out_of,
        predicted_names=words.predicted,
        truth=words.truth,
        groups=asked.groups,
        view=view if view in views else views[0],
        views=views,
        rates=rates and options.rates_switch,
        rates_switch=options.rates_switch,
    )


def _filled(fields: tuple[FormField, ...], asked: asking.Asked) -> tuple[FormField, ...]:
    """Return fields with the names of the classes in their words."""
    words = asking.words_of(asked)
    names = {"{positive}": words.predicted[-1], "{negative}": words.predicted[0]}
    filled = []
    for one in fields:
        text = one.text
        for mark, name in names.items():
            text = text.replace(mark, name)
        filled.append(one.model_copy(update={"text": text}))
    return tuple(filled)


def _done(store: Store, person: Person, asked: asking.Asked) -> dict[str, Any]:
    options = asked.config.options
    known: dict[str, Any] = {
        "completion_code": options.completion_code,
        "completion_url": options.completion_url,
    }
    if options.show_result:
        found = results.person_result(store, person.id)
        if found is not None and found.result is not None:
            known["result"] = asking.own_words(asked, found.result, found.guess)
    return known
