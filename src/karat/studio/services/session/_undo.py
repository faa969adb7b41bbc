"""Taking back the last answer."""

from karat.studio.models import LogEntry, Person, State
from karat.studio.services.session._following import Following
from karat.studio.services.session._here import here_of
from karat.studio.services.session._write import Outcome, write
from karat.studio.storage import Store

__all__ = ["undo"]


def undo(store: Store, person_id: str, *, seq: int, nonce: str) -> Outcome:
    """Take back the last answer of a comparison: its page is shown again, as it was."""
    with store.reading() as session:
        person = session.get(Person, person_id)
        if person is None or (person.seq, person.nonce) != (seq, nonce):
            return Outcome(status="stale")
        here = here_of(session, person)
        state = session.get_one(State, (person.id, person.seq))
        if not here.can_undo or here.phase == "done":
            return Outcome(status="invalid", errors={"undo": "There is nothing to take back."})
        before = session.get_one(State, (person.id, state.back))
    now = store.clock()
    entry = LogEntry(
        person_id=person.id, seq=seq, nonce=nonce, phase="undo", payload={}, undoes=before.seq,
        seconds=max(now - here.since, 0.0), created_at=now,
    )  # fmt: skip
    back = State(
        person_id=person.id, seq=seq + 1, page=before.page, snapshot_seq=before.snapshot_seq,
        back=before.back, created_at=now,
    )  # fmt: skip
    return write(store, entry, back, Following(page=before.page))
