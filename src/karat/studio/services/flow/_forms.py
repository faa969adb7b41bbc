"""Reading posted forms: what is logged, or what is wrong."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from karat.studio.schemas import FormField, StudyConfig
from karat.studio.services.asking import Key

__all__ = ["Parsed", "read_fields", "read_form"]

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
