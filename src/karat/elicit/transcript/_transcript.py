"""The record of one run: what was asked, what was answered, and with which options."""

import json
from dataclasses import dataclass
from os import PathLike
from typing import Any

from karat._files import replaced
from karat._frozen import Frozen

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Transcript"]

SCHEMA = "karat.elicitation"
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transcript(Frozen):
    """The questions and answers of one person, and all that is needed to ask the questions again.

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
        with replaced(path) as beside:
            beside.write_text(self.to_json() + "\n", encoding="utf-8")
