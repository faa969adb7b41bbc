"""One person's comparisons as they were shown, with times and notes."""

from dataclasses import dataclass, field
from typing import Any

from karat._typing import IntArray
from karat.studio.models import Person, Study
from karat.studio.services import asking, people, studies
from karat.studio.services.flow import COMPARISONS
from karat.studio.storage import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """A comparison: both sides in whole numbers as they were shown, and what was answered.

    ``drawing`` is how they are drawn; ``said`` names the chosen system; ``undone`` is whether the
    person took the answer back.
    """

    seq: int
    number: int
    phase: str
    kind: str
    said: str
    undone: bool
    seconds: float | None
    client_seconds: float | None
    server_seconds: float | None
    left: IntArray
    right: IntArray
    drawing: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def answers_of(store: Store, study: Study, person: Person) -> list[ShownAnswer]:
    """Return the comparisons of a person, in order."""
    asked = studies.asked_of(store, study)
    words, out_of = asking.words_of(asked), asked.config.options.out_of
    entries = people.log_of(store, person.id)
    undone = {entry.undoes for entry in entries if entry.phase == "undo"}
    notes: dict[int | None, list[str]] = {}
    for note in people.notes_of(store, person.id):
        notes.setdefault(note.seq, []).append(note.text)
    shown = []
    for entry in entries:
        if entry.phase not in COMPARISONS:
            continue
        told = entry.payload
        left, right = asking.counts_of(told, out_of)
        names = {"A": words.systems[0], "B": words.systems[1], "tie": "equally good"}
        shown.append(
            ShownAnswer(
                seq=entry.seq,
                number=told["number"],
                phase=entry.phase,
                kind=told["kind"],
                said=names.get(told["choice"], "skipped"),
                undone=entry.seq in undone,
                seconds=told["kept"]["seconds"],
                client_seconds=entry.client_seconds,
                server_seconds=entry.seconds,
                left=left,
                right=right,
                notes=notes.get(entry.seq, []),
                drawing={
                    "out_of": out_of,
                    "class_names": words.predicted,
                    "truth": words.truth,
                    "groups": asked.groups,
                    "names": words.systems,
                    "view": told["view"],
                    "conditioned": told["rates"],
                },
            )
        )
    return shown
