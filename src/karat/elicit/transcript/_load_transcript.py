"""Reading a saved transcript, and refusing what is none."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from karat.elicit.transcript._query import ANSWERS
from karat.elicit.transcript._transcript import SCHEMA, SCHEMA_VERSION, Transcript
from karat.exceptions import TranscriptError

__all__ = ["load_transcript"]

_FIELDS = {
    "procedure": str,
    "options": dict,
    "space": dict,
    "answers": list | tuple,
    "queries": list | tuple,
}


def load_transcript(source: Any) -> Transcript:
    """Read a transcript from JSON text, a file or a dict; a `Transcript` comes back as it is.

    Parameters
    ----------
    source : str, path, dict or Transcript
        JSON text begins with a brace; any other text is the name of a file.
    """
    if isinstance(source, Transcript):
        return source
    fields = dict(source) if isinstance(source, dict) else _parsed(source)
    _check_fields(fields)
    answers, queries = tuple(fields["answers"]), fields["queries"]
    wrong = [answer for answer in answers if answer not in ANSWERS]
    if wrong:
        raise TranscriptError(f"the transcript holds the answer {wrong[0]!r}; expected {ANSWERS}")
    if len(queries) != len(answers):
        raise TranscriptError(
            f"the transcript holds {len(answers)} answers to {len(queries)} questions"
        )
    return Transcript(
        procedure=fields["procedure"],
        options=dict(fields["options"]),
        space=dict(fields["space"]),
        answers=answers,
        queries=tuple(_sides(query) for query in queries),
    )


def _check_fields(fields: dict[str, Any]) -> None:
    if fields.get("schema") != SCHEMA:
        raise TranscriptError(
            f"this is no transcript: its schema is {fields.get('schema')!r}; expected {SCHEMA!r}"
        )
    if fields.get("version") != SCHEMA_VERSION:
        raise TranscriptError(
            f"the transcript has version {fields.get('version')!r} and this karat reads version "
            f"{SCHEMA_VERSION}; use the karat that wrote it"
        )
    lacking = [name for name in _FIELDS if name not in fields]
    if lacking:
        raise TranscriptError(f"the transcript lacks {', '.join(lacking)}; is the file whole?")
    for name, kind in _FIELDS.items():
        if not isinstance(fields[name], kind):
            raise TranscriptError(f"{name} of the transcript is {fields[name]!r}; is it edited?")


def _sides(query: Any) -> tuple[Any, Any]:
    try:
        first, second = (np.asarray(side, dtype=float).tolist() for side in query)
    except (TypeError, ValueError) as error:
        raise TranscriptError(
            f"a question of the transcript is {query!r}; expected two confusions"
        ) from error
    return first, second


def _parsed(source: Any) -> dict[str, Any]:
    if not isinstance(source, str | PathLike):
        raise TranscriptError(
            f"the transcript is {type(source).__name__}; expected JSON text, a file, a dict or a "
            "Transcript"
        )
    text = str(source)
    try:
        if not text.lstrip().startswith("{"):
            text = Path(source).read_text(encoding="utf-8")
        fields = json.loads(text)
    except OSError as error:
        raise TranscriptError(f"the transcript cannot be read: {error}") from error
    except ValueError as error:
        raise TranscriptError(f"the transcript is no JSON text: {error}") from error
    if not isinstance(fields, dict):
        raise TranscriptError("the transcript is JSON but no object; expected schema, version, …")
    return fields
