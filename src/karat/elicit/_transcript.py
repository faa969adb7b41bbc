"""A run as data: what was asked and answered, from which it is replayed."""

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from karat._frozen import Frozen
from karat.elicit._query import ANSWERS
from karat.exceptions import TranscriptError

__all__ = ["Transcript", "load_transcript"]

SCHEMA = "karat.elicitation"
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transcript(Frozen):
    """The questions and answers of one person, and all that is needed to ask them again.

    Attributes
    ----------
    procedure : str
        Name of the procedure, such as ``BinaryLinear``.
    options : dict
        Its options, the seed among them.
    space : dict
        Kind, classes and fingerprint of the space.
    answers : tuple of str
        One of first, second, tie and skip for each question.
    queries : tuple of pairs
        The two confusions of each question, as nested lists.
    """

    procedure: str
    options: dict[str, Any]
    space: dict[str, Any]
    answers: tuple[str, ...]
    queries: tuple[tuple[Any, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the transcript as plain data: schema, version and its fields."""
        return {"schema": SCHEMA, "version": SCHEMA_VERSION} | Frozen.to_dict(self)

    def to_json(self) -> str:
        """Return the transcript as JSON text that `load_transcript` reads back."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the transcript to a file; an interruption leaves the old file whole."""
        target = Path(path)
        partial = target.with_name(target.name + ".part")
        partial.write_text(self.to_json() + "\n", encoding="utf-8")
        partial.replace(target)


def load_transcript(source: Any) -> Transcript:
    """Read a transcript from JSON text, a file, a dict, or give back one that is read already.

    Parameters
    ----------
    source : str, path, dict or Transcript
        JSON text begins with a brace; any other text is the name of a file.
    """
    if isinstance(source, Transcript):
        return source
    fields = dict(source) if isinstance(source, dict) else _parsed(source)
    if fields.get("schema") != SCHEMA:
        raise TranscriptError(
            f"this is no transcript: its schema is {fields.get('schema')!r}; expected {SCHEMA!r}"
        )
    if fields.get("version") != SCHEMA_VERSION:
        raise TranscriptError(
            f"the transcript has version {fields.get('version')!r} and this karat reads version "
            f"{SCHEMA_VERSION}; use the karat that wrote it"
        )
    names = ("procedure", "options", "space", "answers", "queries")
    lacking = [name for name in names if name not in fields]
    if lacking:
        raise TranscriptError(f"the transcript lacks {', '.join(lacking)}; is the file whole?")
    for name, kind in (
        ("procedure", str), ("options", dict), ("space", dict), ("answers", list | tuple),
        ("queries", list | tuple),
    ):  # fmt: skip
        if not isinstance(fields[name], kind):
            raise TranscriptError(f"{name} of the transcript is {fields[name]!r}; is it edited?")
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
