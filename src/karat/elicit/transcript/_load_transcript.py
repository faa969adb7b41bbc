"""Reading a saved transcript, and refusing what is none."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from karat._files import first_words
from karat._validate import shown
from karat.elicit.transcript._checksum import checksum_of
from karat.elicit.transcript._query import ANSWERS, KINDS
from karat.elicit.transcript._transcript import SCHEMA, SCHEMA_VERSION, Transcript
from karat.exceptions import TranscriptError

__all__ = ["load_transcript"]

_FIELDS = {
    "procedure": str,
    "options": dict,
    "space": dict,
    "answers": list | tuple,
    "queries": list | tuple,
    "kinds": list | tuple,
    "kept": list | tuple,
}
_FRAME = ("schema", "version", "checksum")
_SAVED = "pass the file as transcript.save wrote it"


def load_transcript(source: Any) -> Transcript:
    """Read a transcript from JSON text, a file or a dict; a `Transcript` comes back as it is.

    A transcript that was cut off, or changed after it was saved, is refused: its checksum does not
    fit. What else a file holds, and whatever was kept beside an answer, comes back as it was.

    Parameters
    ----------
    source : str, path, dict or Transcript
        JSON text begins with a brace; any other text is the name of a file.
    """
    if isinstance(source, Transcript):
        return source
    fields = dict(source) if isinstance(source, dict) else _parsed(source)
    _check_frame(fields)
    _check_fields(fields)
    return Transcript(
        procedure=fields["procedure"],
        options=dict(fields["options"]),
        space=dict(fields["space"]),
        answers=tuple(fields["answers"]),
        queries=tuple(_sides(query) for query in fields["queries"]),
        kinds=tuple(fields["kinds"]),
        kept=tuple(dict(kept) for kept in fields["kept"]),
        extra={n: value for n, value in fields.items() if n not in (*_FRAME, *_FIELDS)},
    )


def _check_frame(fields: dict[str, Any]) -> None:
    """Refuse what is no transcript, of another version, or not as it was saved."""
    if fields.get("schema") != SCHEMA:
        raise TranscriptError(
            f"this is no transcript: its schema is {shown(fields.get('schema'))}; expected "
            f"{SCHEMA!r}. {_SAVED[0].upper()}{_SAVED[1:]}"
        )
    if fields.get("version") != SCHEMA_VERSION:
        raise TranscriptError(
            f"the transcript has version {shown(fields.get('version'))} and this karat reads "
            f"version {SCHEMA_VERSION}; use the karat that wrote it, or ask again"
        )
    if "checksum" not in fields:
        raise TranscriptError(
            "the transcript has no checksum, so nobody can say whether it is whole and as it was "
            f"saved; {_SAVED}"
        )
    lacking = [name for name in _FIELDS if name not in fields]
    if lacking:
        raise TranscriptError(f"the transcript lacks {', '.join(lacking)}; {_SAVED}")
    try:
        fits = fields["checksum"] == checksum_of(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise TranscriptError(
            f"the transcript holds what JSON cannot ({error}); {_SAVED}"
        ) from error
    if not fits:
        raise TranscriptError(
            f"the transcript was changed after it was saved: its checksum does not fit; {_SAVED}"
        )


def _check_fields(fields: dict[str, Any]) -> None:
    """Refuse fields of another shape, though someone has signed them."""
    for name, kind in _FIELDS.items():
        if not isinstance(fields[name], kind):
            raise TranscriptError(
                f"{name} of the transcript is {shown(fields[name])}; expected what "
                "procedure.transcript has there"
            )
    for name, known, one in (("answers", ANSWERS, "answer"), ("kinds", KINDS, "kind")):
        wrong = [value for value in fields[name] if value not in known]
        if wrong:
            raise TranscriptError(f"the transcript holds the {one} {wrong[0]!r}; expected {known}")
    n = len(fields["answers"])
    for name, what in (("queries", "questions"), ("kinds", "kinds"), ("kept", "things kept")):
        if len(fields[name]) != n:
            raise TranscriptError(f"the transcript holds {n} answers to {len(fields[name])} {what}")
    wrong = [kept for kept in fields["kept"] if not isinstance(kept, dict)]
    if wrong:
        raise TranscriptError(f"the transcript keeps {shown(wrong[0])}; expected a dict per answer")


def _sides(query: Any) -> tuple[Any, Any]:
    try:
        first, second = (np.asarray(side, dtype=float).tolist() for side in query)
    except (TypeError, ValueError) as error:
        raise TranscriptError(
            f"a question of the transcript is {shown(query)}; expected two confusions"
        ) from error
    return first, second


def _parsed(source: Any) -> dict[str, Any]:
    if not isinstance(source, str | PathLike):
        raise TranscriptError(
            f"the transcript is {type(source).__name__}; expected JSON text, a file, a dict or a "
            "Transcript"
        )
    text = str(source)
    if not text.strip():
        raise TranscriptError(f"the transcript is an empty text; {_SAVED}, or its name")
    try:
        if not text.lstrip().startswith("{"):
            text = Path(source).read_text(encoding="utf-8")
        fields = json.loads(text)
    except OSError as error:
        raise TranscriptError(f"the transcript cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise TranscriptError(
            f"the transcript is no JSON text, or was cut off ({first_words(error)}); copy the file "
            "again, or go back to a copy of it"
        ) from error
    if not isinstance(fields, dict):
        raise TranscriptError(
            f"the transcript is JSON but no object; expected schema, version, …: {_SAVED}"
        )
    return fields
