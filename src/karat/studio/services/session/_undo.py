"""Taking back the last answer."""

from karat.studio.models import LogEntry, State
from karat.studio.services.session._following import Following
from karat.studio.services.session._here import standing_at
from karat.studio.services.session._write import Outcome, write
from karat.studio.storage import Store

__all__ = ["undo"]


def undo(store: Store, person_id: str, *, seq: int, nonce: str) -> Outcome:
    """Take back the last answer of a comparison: its page is shown again, as it was."""
    here = standing_at(store, person_id, seq=seq, nonce=nonce)
    if here is None:
        return Outcome(status="stale")
    with store.reading() as session:
        before = session.get(State, (person_id, here.state.back)) if here.can_undo else None
    if before is None:
        return Outcome(status="invalid", errors={"undo": "There is nothing to take back."})
    now = store.clock()
    entry = LogEntry(
        person_id=person_id, seq=seq, nonce=nonce, phase="undo", payload={}, undoes=before.seq,
        seconds=max(now - here.state.created_at, 0.0), created_at=now,
    )  # fmt: skip
    back = State(
        person_id=person_id, seq=seq + 1, page=before.page, snapshot_seq=before.snapshot_seq,
        back=before.back, created_at=now,
    )  # fmt: skip
    return write(store, entry, back, Following(page=before.page))
