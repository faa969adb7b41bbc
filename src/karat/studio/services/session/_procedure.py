"""A person's elicitation, from its snapshot or from the log."""

from karat.elicit import Procedure
from karat.exceptions import TranscriptError
from karat.studio.models import Person, Snapshot, State, Study
from karat.studio.services import asking, people, studies
from karat.studio.storage import Store

__all__ = ["procedure_at", "procedure_of"]


def procedure_of(store: Store, person: Person, study: Study | None = None) -> Procedure | None:
    """Return the elicitation of a person as it stands; None where it has not begun."""
    study = study or studies.get(store, person.study_id)
    if study is None:
        return None
    with store.reading() as session:
        state = session.get(State, (person.id, person.seq))
    if state is None or state.snapshot_seq is None:
        return None
    return procedure_at(store, studies.asked_of(store, study), person, state.snapshot_seq)


def procedure_at(store: Store, asked: asking.Asked, person: Person, at: int | None) -> Procedure:
    """Return the procedure of a snapshot, or replay the log where it cannot be used."""
    with store.reading() as session:
        kept = None if at is None else session.get(Snapshot, (person.id, at))
    if kept is not None:
        try:
            return asking.restored(asked, kept.data)
        except TranscriptError:  # of another version of karat, or damaged
            pass
    told = [
        entry.payload
        for entry in people.log_of(store, person.id, effective=True)
        if entry.phase == "comparison" and entry.seq < person.seq
    ]
    return asking.replayed(asked, person.seed, told)
