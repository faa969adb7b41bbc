"""Writing an entry of the log and the state it leads to, in one transaction."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from karat.studio.models import LogEntry, Person, Snapshot, State
from karat.studio.security import new_nonce
from karat.studio.services.session._following import Following
from karat.studio.storage import Store

__all__ = ["Outcome", "write"]

_KEPT_STATES = 12  # to go back to
_PRUNED_EVERY = 4  # answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a form: accepted, stale (of another page) or invalid."""

    status: str
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether it was counted."""
        return self.status == "accepted"


def write(store: Store, entry: LogEntry, new: State, following: Following) -> Outcome:
    """Write an entry and the state it leads to, unless the person is elsewhere by now."""
    person_id = entry.person_id
    moved: dict[str, Any] = {"seq": new.seq, "nonce": new_nonce()}
    if following.evaluation is not None:
        moved["evaluation"] = following.evaluation
    if following.page["phase"] == "done":
        moved["finished_at"] = entry.created_at
    try:
        with store.writing() as session:
            # Whoever comes second waits for this row, and then finds another number in it.
            at = (Person.id == person_id, Person.seq == entry.seq, Person.nonce == entry.nonce)
            changed = session.execute(
                update(Person).where(*at).values(**moved),
                execution_options={"synchronize_session": False},
            )
            if changed.rowcount != 1:  # type: ignore[attr-defined]
                return Outcome(status="stale")
            session.add_all([entry, new])
            if following.snapshot is not None:
                kept = {"person_id": person_id, "seq": new.seq, "data": following.snapshot}
                session.execute(insert(Snapshot).values(**kept))
            session.flush()
            _prune(session, person_id, new.seq)
    except IntegrityError:
        return Outcome(status="stale")
    return Outcome(status="accepted")


def _prune(session: Session, person_id: str, seq: int) -> None:
    """Remove states that nobody can go back to, and the snapshots that only they need."""
    old = seq - _KEPT_STATES
    if old < 0 or seq % _PRUNED_EVERY:
        return
    session.execute(delete(State).where(State.person_id == person_id, State.seq <= old))
    needed = select(State.snapshot_seq).where(
        State.person_id == person_id, State.snapshot_seq.is_not(None)
    )
    session.execute(
        delete(Snapshot).where(Snapshot.person_id == person_id, Snapshot.seq.not_in(needed))
    )
