"""One person's way through a study: which page is next, and what they sent.

An answer and the page it leads to are one transaction, and the page a form belongs to is named by
its number and its nonce: a form of any other page changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from karat.elicit import Elicitation
from karat.exceptions import TranscriptError
from karat.studio.models import LogEntry, Person, Snapshot, State, Study
from karat.studio.schemas import StudyConfig
from karat.studio.security import new_nonce
from karat.studio.services import asking, people, studies
from karat.studio.services.flow import COMPARISONS, phases_of, progress_of, read_form
from karat.studio.storage import Store

Form = Mapping[str, Sequence[str]]


def answer(
    store: Store, person_id: str, *, seq: int, nonce: str, form: Form, here: Here | None = None
) -> Outcome:
    """Take what a person sent, commit it, and make the next page.

    ``here`` is where the person was a moment ago, if that was looked up already.

    What comes next is computed before the transaction, so that nobody waits for anybody else's
    question; the transaction then takes both, if the person is still at the same page.
    """
    here = standing_at(store, person_id, seq=seq, nonce=nonce, here=here)
    if here is None:
        return Outcome(status="stale")
    asked = studies.asked_of(store, here.study)
    keys = asking.quiz_of(asked, here.phase).keys if here.phase in asking.QUIZ_PHASES else ()
    fields = asking.guess_fields(asked) if here.phase == "guess" else ()
    read = read_form(here.phase, form, config=here.config, keys=keys, fields=fields)
    if read.errors:
        return Outcome(status="invalid", errors=read.errors)
    now = store.clock()
    client = _client_seconds(form)
    entry = LogEntry(
        person_id=person_id,
        seq=seq,
        nonce=nonce,
        phase=here.phase,
        payload=read.payload,
        seconds=max(now - here.state.created_at, 0.0),
        client_seconds=client,
        created_at=now,
    )
    after = following(store, here, asked, entry)
    return _commit(store, here, entry, after)


def _commit(store: Store, here: Here, entry: LogEntry, after: Following) -> Outcome:
    seq = entry.seq + 1
    new = State(
        person_id=entry.person_id,
        seq=seq,
        page=after.page,
        snapshot_seq=seq if after.snapshot is not None else here.state.snapshot_seq,
        back=entry.seq if here.phase in COMPARISONS else None,
        created_at=entry.created_at,
    )
    return write(store, entry, new, after)


def _client_seconds(form: Form) -> float | None:
    """Return how long the browser showed the page, if it says so."""
    try:
        value = float((form.get("client_ms") or [""])[0]) / 1000.0
    except ValueError:
        return None
    return value if math.isfinite(value) and 0.0 <= value < 1e7 else None


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
        person_id=person_id,
        seq=seq,
        nonce=nonce,
        phase="undo",
        payload={},
        undoes=before.seq,
        seconds=max(now - here.state.created_at, 0.0),
        created_at=now,
    )
    back = State(
        person_id=person_id,
        seq=seq + 1,
        page=before.page,
        snapshot_seq=before.snapshot_seq,
        back=before.back,
        created_at=now,
    )
    return write(store, entry, back, Following(page=before.page))


# --- Writing an entry of the log and the state it leads to, in one transaction.

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


# --- The page that an answer leads to.

_ANSWERS = {"A": "first", "B": "second", "tie": "tie", "skip": "skip"}
_OTHER = {"first": "second", "second": "first"}


@dataclass(slots=True, kw_only=True)
class Following:
    """The page that an answer leads to."""

    page: dict[str, Any]
    snapshot: bytes | None = None  # a new one
    evaluation: list[Any] | None = None


def following(store: Store, here: Here, asked: asking.Asked, entry: LogEntry) -> Following:
    """Return the page after an entry, and complete what the entry says."""
    person, page, seq = here.person, here.page, entry.seq + 1
    shown = int(page.get("shown", 0))
    if here.phase in COMPARISONS:
        _complete(entry, page)
    if here.phase == "comparison":
        elicitation = elicitation_at(store, asked, person, here.state.snapshot_seq)
        asking.tell(elicitation, entry.payload["answer"], entry.payload["kept"])
        return _compared(here, asked, elicitation, seq, shown)
    if here.phase == "evaluation":
        index = int(page["index"]) + 1
        pairs = person.evaluation or []
        if index < len(pairs):
            after = {**page, **pairs[index], "index": index, "shown": shown + 1}
            return Following(page=after)
    return _entered(here, asked, int(page["step"]) + 1, seq, shown)


def _compared(
    here: Here, asked: asking.Asked, elicitation: Elicitation, seq: int, shown: int
) -> Following:
    """Return the next comparison, or what comes after all of them."""
    query = asking.next_query(elicitation, here.person.seed, seq)
    snapshot = elicitation.snapshot()
    if query is None:
        after = _entered(here, asked, int(here.page["step"]) + 1, seq, shown)
        after.snapshot = snapshot
        return after
    page = {"step": here.page["step"], "phase": "comparison", "shown": shown + 1, **query}
    return Following(page=page, snapshot=snapshot)


def _entered(here: Here, asked: asking.Asked, step: int, seq: int, shown: int) -> Following:
    """Return the first page of a step."""
    phase = here.phases[step]
    page: dict[str, Any] = {"step": step, "phase": phase}
    if phase == "comparison":
        elicitation = asking.begin(asked, here.person.seed)
        query = asking.next_query(elicitation, here.person.seed, seq)
        if query is not None:
            return Following(page={**page, "shown": 1, **query}, snapshot=elicitation.snapshot())
        return _entered(here, asked, step + 1, seq, shown)
    if phase == "evaluation":
        pairs = asking.drawn_pairs(asked, here.person.seed)
        if not pairs:
            return _entered(here, asked, step + 1, seq, shown)
        page |= {**pairs[0], "index": 0, "shown": shown + 1}
        return Following(page=page, evaluation=pairs)
    return Following(page=page)


def _complete(entry: LogEntry, page: dict[str, Any]) -> None:
    """Add the question to what is logged, and turn the side shown into the side asked about."""
    told = _ANSWERS[entry.payload["choice"]]
    if page["swapped"]:
        told = _OTHER.get(told, told)
    seconds = entry.seconds
    if entry.client_seconds is not None and entry.seconds is not None:
        # A browser cannot have shown a page for longer than the server has offered it.
        seconds = min(entry.client_seconds, entry.seconds)
    view = {"view": entry.payload["view"], "rates": entry.payload["rates"]}
    sides = {name: page[name] for name in ("first", "second", "kind", "swapped")}
    kept = {"seconds": seconds, "swapped": page["swapped"], **view}
    number = {"number": page["shown"]}
    entry.payload = {**entry.payload, **sides, **number, "answer": told, "kept": kept}


# --- Where a person is.

_BEFORE = aliased(State)
# Built once: putting it together takes longer than running it.
_WHERE_SOMEONE_IS = (
    select(Person, Study, State, _BEFORE.seq)
    .join(Study, Study.id == Person.study_id)
    .join(State, and_(State.person_id == Person.id, State.seq == Person.seq))
    .outerjoin(_BEFORE, and_(_BEFORE.person_id == Person.id, _BEFORE.seq == State.back))
    .where(Person.id == bindparam("id"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Where a person is: all that a page shows."""

    person: Person
    study: Study
    config: StudyConfig
    state: State
    phases: list[str]
    can_undo: bool

    def expired(self, now: float) -> bool:
        """Whether the person's link no longer holds."""
        return now > self.person.expires_at

    @property
    def page(self) -> dict[str, Any]:
        """What is shown."""
        return self.state.page

    @property
    def phase(self) -> str:
        """Which page it is."""
        return str(self.page["phase"])

    @property
    def progress(self) -> float:
        """Share of the way that is behind the person."""
        shown = int(self.page.get("shown", 1)) - 1
        n = self.config.options.n_evaluation
        return progress_of(self.phases, int(self.page["step"]), shown, n)


def current_step(store: Store, person_id: str) -> Here | None:
    """Return where a person is; None if there is no such person (any more)."""
    with store.reading() as session:
        found = session.execute(_WHERE_SOMEONE_IS, {"id": person_id}).one_or_none()
    if found is None:
        return None
    person, study, state, back = found
    config = studies.config_of(study)
    return Here(
        person=person,
        study=study,
        config=config,
        state=state,
        phases=phases_of(config, person.guess_order),
        can_undo=back is not None and config.options.allow_undo,
    )


def by_link(store: Store, token: str) -> Here | None:
    """Return where the person of a link is; None if the link was not signed here, or is gone."""
    person_id = people.id_of(store, token)
    here = None if person_id is None else current_step(store, person_id)
    return here if here is not None and people.holds(here.person, token) else None


def standing_at(
    store: Store, person_id: str, *, seq: int, nonce: str, here: Here | None = None
) -> Here | None:
    """Return where a person is, if it is at the page of a form; None for forms of other pages."""
    here = here or current_step(store, person_id)
    if here is None or here.phase == "done":
        return None
    return here if (here.person.seq, here.person.nonce) == (seq, nonce) else None


# --- A person's elicitation, from its snapshot or from the log.


def elicitation_of(store: Store, person: Person, study: Study | None = None) -> Elicitation | None:
    """Return the elicitation of a person as it stands; None where it has not begun."""
    study = study or studies.get(store, person.study_id)
    if study is None:
        return None
    with store.reading() as session:
        state = session.get(State, (person.id, person.seq))
    if state is None or state.snapshot_seq is None:
        return None
    return elicitation_at(store, studies.asked_of(store, study), person, state.snapshot_seq)


def elicitation_at(
    store: Store, asked: asking.Asked, person: Person, at: int | None
) -> Elicitation:
    """Return the elicitation of a snapshot, or replay the log where it cannot be used."""
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
