"""The record of one run: what was asked, what was answered, and with which options."""

import json
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from karat._files import replaced
from karat._frozen import Frozen
from karat.elicit.transcript._checksum import checksum_of

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Transcript"]

SCHEMA = "karat.elicitation"
SCHEMA_VERSION = 2


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
    kinds : tuple of str
        Why each question was asked: ``question``, ``dominated`` or ``repeat`` (see `Query`).
    kept : tuple of dict
        What was kept beside each answer, such as ``{"seconds": 2.3, "side": "left"}``.
    extra : dict
        Whatever else a file held: a procedure that resumes keeps it, and ``save`` writes it again
        as it was.
    """

    procedure: str
    options: dict[str, Any]
    space: dict[str, Any]
    answers: tuple[str, ...]
    queries: tuple[tuple[Any, Any], ...]
    kinds: tuple[str, ...] = ()
    kept: tuple[dict[str, Any], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Say of every answer what it was given to and that nothing was kept, if nobody did."""
        n = len(self.answers)
        object.__setattr__(self, "kinds", self.kinds or ("question",) * n)
        object.__setattr__(self, "kept", self.kept or tuple({} for _ in range(n)))
        Frozen.__post_init__(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the transcript as plain data: schema, version, its fields and their checksum."""
        fields = Frozen.to_dict(self)
        extra: dict[str, Any] = fields.pop("extra")
        fields = extra | {"schema": SCHEMA, "version": SCHEMA_VERSION} | fields
        return fields | {"checksum": checksum_of(fields)}

    def to_json(self) -> str:
        """Return the transcript as JSON text that `load_transcript` reads back."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the transcript to a file; an interruption leaves the old file whole."""
        with replaced(path) as beside:
            beside.write_text(self.to_json() + "\n", encoding="utf-8")
