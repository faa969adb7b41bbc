"""People: made, found by their link, and deleted everywhere."""

import secrets
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from karat.studio.models import LogEntry, Note, Person, State, Study
from karat.studio.security import hashed, new_nonce, signed, unsigned
from karat.studio.services.studies import config_of
from karat.studio.storage import Store

_DAY = 86_400.0
_MOST_LABEL = 100


class Found(NamedTuple):
    """The person of a link, and whether the link has expired."""

    person: Person
    expired: bool


def create(
    store: Store,
    study: Study,
    *,
    label: str = "",
    kind: str = "person",
    prolific_pid: str | None = None,
    join_nonce: str | None = None,
    seed: int | None = None,
) -> Person:
    """Make a person of a study, at its first page. ``kind`` is person, preview or bot."""
    now = store.clock()
    person = Person(
        id=secrets.token_hex(16),
        study_id=study.id,
        label=label[:_MOST_LABEL],
        kind=kind,
        token_version=1,
        expires_at=now + store.settings.link_days * _DAY,
        prolific_pid=prolific_pid,
        join_nonce=join_nonce,
        seed=secrets.randbelow(2**31) if seed is None else seed,
        guess_order="none",
        seq=0,
        nonce=new_nonce(),
        created_at=now,
    )
    person.guess_order = _guess_order(study, person.seed)
    person.token_hash = hashed(token(store, person))
    with store.writing() as session:
        session.add(person)
        session.flush()
        page = {"step": 0, "phase": "consent"}
        session.add(State(person_id=person.id, seq=0, page=page, created_at=now))
    return person


def _guess_order(study: Study, seed: int) -> str:
    wanted = config_of(study).options.guess
    if wanted != "randomised":
        return wanted
    return "before" if seed % 2 else "after"


def join(store: Store, study: Study, *, join_nonce: str, prolific_pid: str | None = None) -> Person:
    """Return the person who comes by a room link: a new one, or the one who came before.

    The same form sent twice, or the same Prolific participant, is the same person.
    """
    pid = (prolific_pid or "").strip()[:_MOST_LABEL] or None
    nonce = join_nonce.strip()[:64] or None

    def earlier() -> Person | None:
        with store.reading() as session:
            wanted = select(Person).where(Person.study_id == study.id)
            if pid is not None:
                found = session.scalars(wanted.where(Person.prolific_pid == pid)).first()
                if found is not None:
                    return found
            return session.scalars(wanted.where(Person.join_nonce == nonce)).first()

    found = earlier()
    if found is not None:
        return found
    try:
        return create(store, study, prolific_pid=pid, join_nonce=nonce)
    except IntegrityError:  # the same form came twice at once, and the other was first
        found = earlier()
        if found is None:
            raise
        return found


def token(store: Store, person: Person) -> str:
    """Return the token of a person's link; the database keeps its hash only."""
    return signed(store.secret, "person", [person.id, person.token_version])


def id_of(store: Store, token: str) -> str | None:
    """Return whom a link names; None if it was not signed here. Whether it holds is not told."""
    value: Any = unsigned(store.secret, "person", token) if len(token) <= 300 else None
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)):
        return None
    return value[0]


def holds(person: Person, token: str) -> bool:
    """Whether a link is the one that a person has now."""
    return secrets.compare_digest(person.token_hash, hashed(token))


def by_token(store: Store, token: str) -> Found | None:
    """Return the person of a link; None if the link was not signed here, or was withdrawn."""
    person_id = id_of(store, token)
    person = None if person_id is None else get(store, person_id)
    if person is None or not holds(person, token):
        return None
    return Found(person, store.clock() > person.expires_at)


def get(store: Store, person_id: str) -> Person | None:
    """Return a person by id."""
    with store.reading() as session:
        return session.get(Person, person_id)


def list_of(store: Store, study_id: str, *, kinds: Iterable[str] = ("person",)) -> list[Person]:
    """Return the people of a study in the order in which they came."""
    query = select(Person).where(Person.study_id == study_id, Person.kind.in_(list(kinds)))
    with store.reading() as session:
        return list(session.scalars(query.order_by(Person.created_at, Person.id)))


def extend(store: Store, person_id: str, *, days: float) -> Person | None:
    """Let a person's link hold for so many days from now."""
    with store.writing() as session:
        person = session.get(Person, person_id)
        if person is not None:
            person.expires_at = store.clock() + days * _DAY
        return person


def log_of(store: Store, person_id: str, *, effective: bool = False) -> list[LogEntry]:
    """Return what a person sent, in order; ``effective`` leaves out what was taken back."""
    query = select(LogEntry).where(LogEntry.person_id == person_id).order_by(LogEntry.seq)
    with store.reading() as session:
        entries = list(session.scalars(query))
    if not effective:
        return entries
    undone = {entry.undoes for entry in entries if entry.phase == "undo"}
    return [entry for entry in entries if entry.phase != "undo" and entry.seq not in undone]


def add_note(store: Store, person_id: str, text: str, *, seq: int | None = None) -> Note | None:
    """Keep what an interviewer noted beside an answer, or of a person."""
    note = Note(person_id=person_id, seq=seq, text=text[:5000], created_at=store.clock())
    with store.writing() as session:
        if session.get(Person, person_id) is None:
            return None
        session.add(note)
    return note


def notes_of(store: Store, person_id: str) -> list[Note]:
    """Return the notes on a person, in order."""
    query = select(Note).where(Note.person_id == person_id).order_by(Note.created_at, Note.id)
    with store.reading() as session:
        return list(session.scalars(query))


def withdraw(store: Store, person_id: str) -> bool:
    """Delete a person: answers, states, snapshots, notes, and the link."""
    with store.writing() as session:
        person = session.get(Person, person_id)
        if person is None:
            return False
        session.delete(person)
    store.forget_deleted()
    return True
