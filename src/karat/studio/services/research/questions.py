"""Questionnaires as text that a researcher can edit: one question a line.

A line is ``name | question | kind``, where the kind is nothing (a line of text), ``number 0 to
120``, ``one of: a; b; c`` or ``any of: a; b; c``; a star after the name asks for an answer.
"""

import re
from typing import Any

from karat.exceptions import OptionError
from karat.studio.schemas import FormField

_NUMBER = re.compile(r"number(?:\s+(-?[\d.]+)\s+to\s+(-?[\d.]+))?")


def questions_as_text(fields: tuple[FormField, ...]) -> str:
    """Return questions as text; `read_questions` reads it back."""
    return "\n".join(_line(field) for field in fields)


def _line(field: FormField) -> str:
    parts = [field.name + "*" * field.required, " ".join(field.text.split())]
    if field.kind == "number":
        low, high = field.minimum, field.maximum
        limits = "" if low is None or high is None else f" {low:g} to {high:g}"
        parts.append(f"number{limits}")
    elif field.kind != "text":
        word = "one of" if field.kind == "choice" else "any of"
        parts.append(f"{word}: {'; '.join(field.options)}")
    return " | ".join(parts)


def read_questions(text: str) -> list[dict[str, Any]]:
    """Return the questions of a text as plain data, for `FormField` to check."""
    lines = [line.strip() for line in text.splitlines()]
    return [_read(line, number) for number, line in enumerate(lines, start=1) if line]


def _read(line: str, number: int) -> dict[str, Any]:
    parts = [part.strip() for part in line.split("|")]
    if len(parts) not in (2, 3) or not all(parts[:2]):
        raise OptionError(
            f"line {number} of the questions is {line[:60]!r}; expected name | question, or "
            "name | question | kind"
        )
    name, asked, kind = parts[0], parts[1], parts[2] if len(parts) == 3 else ""
    found: dict[str, Any] = {"name": name.rstrip("*"), "text": asked}
    found["required"] = name.endswith("*")
    start, _, rest = kind.partition(":")
    if limits := _NUMBER.fullmatch(kind):
        found["kind"] = "number"
        if limits[1] is not None:
            found |= {"minimum": limits[1], "maximum": limits[2]}
    elif start in ("one of", "any of"):
        found["kind"] = "choice" if start == "one of" else "choices"
        found["options"] = [option.strip() for option in rest.split(";") if option.strip()]
    elif kind not in ("", "text"):
        raise OptionError(
            f"line {number} of the questions has the kind {kind[:40]!r}; expected nothing, "
            "number, number 0 to 10, one of: a; b or any of: a; b"
        )
    return found
