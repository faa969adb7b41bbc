"""The order of the pages, and how what people send is read: pure functions, without a database.

``phases_of`` lists the pages of a person, ``read_form`` turns a posted form into what is logged or
says what is wrong with it, and ``progress_of`` says how far someone has come.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from karat.studio.schemas import FormField, StudyConfig
from karat.studio.services.asking import QUIZ_PHASES, Key

_MOST_TEXT = 5_000
Form = Mapping[str, Sequence[str]]


class Parsed(NamedTuple):
    """What a form says, or what is wrong with it, by field."""

    payload: dict[str, Any]
    errors: dict[str, str]


def read_form(
    phase: str,
    form: Form,
    *,
    config: StudyConfig,
    keys: Sequence[Key] = (),
    fields: Sequence[FormField] = (),
) -> Parsed:
    """Read the form of a page."""
    if phase == "consent":
        agreed = _one(form, "agree") == "yes"
        wrong = {} if agreed else {"agree": "Please say that you agree, or close this page."}
        return Parsed({"agree": agreed}, wrong)
    if phase == "questionnaire":
        return read_fields(config.questionnaire, form)
    if phase == "post":
        return read_fields(config.post, form)
    if phase == "guess":
        return read_fields(fields, form)
    if phase in ("comparison", "evaluation"):
        return _choice(form, config)
    if keys:
        return _quiz(keys, form)
    return Parsed({}, {})


def _one(form: Form, name: str) -> str:
    """Return a field as text that every database can hold."""
    values = form.get(name) or [""]
    text = str(values[0]).replace("\x00", "").replace("\r\n", "\n")
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def _choice(form: Form, config: StudyConfig) -> Parsed:
    options = config.options
    # A is the system that stands first on the page, whichever side of the question it is.
    allowed = ["A", "B", *["tie"] * options.allow_tie, *["skip"] * options.allow_skip]
    choice, view = _one(form, "choice"), _one(form, "view")
    if choice not in allowed:
        return Parsed({}, {"choice": "Please choose one of both systems."})
    shown = view if view in ("flow", "bars", "errors", "table") else options.view
    return Parsed({"choice": choice, "view": shown, "rates": _one(form, "rates") == "1"}, {})


def _quiz(keys: Sequence[Key], form: Form) -> Parsed:
    answers: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for key in keys:
        text = _one(form, key.name)
        if isinstance(key.key, str):
            answers[key.name] = text if text in ("A", "B", "same") else None
        else:
            answers[key.name] = _number(text)
        if answers[key.name] is None:
            errors[key.name] = (
                "Please choose one." if isinstance(key.key, str) else "Please write a number."
            )
    right = {key.name: key.right(answers[key.name]) for key in keys}
    payload = {"answers": answers, "right": right, "score": sum(right.values()), "of": len(keys)}
    return Parsed(payload, errors)


def read_fields(fields: Sequence[FormField], form: Form) -> Parsed:
    """Read the fields of a questionnaire; what is left empty is None."""
    payload: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in fields:
        value, wrong = _READERS[field.kind](field, form)
        if wrong is None and field.required and value in (None, []):
            wrong = "Please answer this question."
        payload[field.name] = value
        if wrong is not None:
            errors[field.name] = wrong
    return Parsed(payload, errors)


def _read_text(field: FormField, form: Form) -> tuple[Any, str | None]:
    text = _one(form, field.name)
    if len(text) > _MOST_TEXT:
        return text[:_MOST_TEXT], f"Please use at most {_MOST_TEXT:,} characters."
    return text or None, None


def _read_number(field: FormField, form: Form) -> tuple[Any, str | None]:
    text = _one(form, field.name)
    if not text:
        return None, None
    value = _number(text)
    low, high = field.minimum, field.maximum
    if value is None:
        return None, "Please write a number."
    if (low is not None and value < low) or (high is not None and value > high):
        return None, f"Please write a number{_range(low, high)}."
    return value, None


def _range(low: float | None, high: float | None) -> str:
    least = "" if low is None else f" of at least {low:g}"
    most = "" if high is None else f" of at most {high:g}"
    return f"{least}{' and' if least and most else ''}{most}"


def _read_choice(field: FormField, form: Form) -> tuple[Any, str | None]:
    text = _one(form, field.name)
    if not text:
        return None, None
    return (text, None) if text in field.options else (None, "Please choose one of the answers.")


def _read_choices(field: FormField, form: Form) -> tuple[Any, str | None]:
    chosen = [str(value) for value in form.get(field.name) or []]
    known = [option for option in field.options if option in chosen]
    return known, None if len(known) == len(set(chosen)) else "Please choose among the answers."


_READERS = {
    "text": _read_text,
    "number": _read_number,
    "choice": _read_choice,
    "choices": _read_choices,
}


def _number(text: str) -> float | None:
    """Read a number as people write it: 12, 12.5, 12,5 or 12 %."""
    plain = text.strip().rstrip("%").strip().replace(",", ".")
    if len(plain) > 30:
        return None
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# --- Which pages there are, in order.

COMPARISONS = ("comparison", "evaluation")  # people are not told which is which
_TYPICAL = 24  # comparisons that people answer, typically, with check pairs
_PER_PAGE = 1.0


def phases_of(config: StudyConfig, guess_order: str) -> list[str]:
    """Return the pages of a person in order, from consent to thanks."""
    options = config.options
    return [
        "consent",
        *(["questionnaire"] if config.questionnaire else []),
        "task",
        "figure",
        *(QUIZ_PHASES if options.quiz else ()),
        *(["guess"] if guess_order == "before" else []),
        "comparison",
        *(["evaluation"] if options.n_evaluation else []),
        *(["guess"] if guess_order == "after" else []),
        *(["post"] if config.post else []),
        "done",
    ]


def progress_of(phases: list[str], step: int, answered: int, n_evaluation: int) -> float:
    """Return the share of the way that is behind someone.

    How many comparisons there will be depends on the answers, so the way ahead is a guess: at
    least a few are always left until the last is answered.
    """
    pages = len(phases) - 1 - sum(phase in COMPARISONS for phase in phases)
    typical = _TYPICAL + n_evaluation
    phase = phases[step]
    before = step - sum(earlier in COMPARISONS for earlier in phases[:step])
    if phase in COMPARISONS:
        done = before * _PER_PAGE + typical * answered / (answered + max(typical - answered, 3))
    else:
        done = before * _PER_PAGE + (typical if "comparison" in phases[:step] else 0)
    return min(1.0, done / (pages * _PER_PAGE + typical)) if phase != "done" else 1.0
