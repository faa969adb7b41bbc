"""Where a person is."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import aliased

from karat.studio.models import Person, State, Study
from karat.studio.schemas import StudyConfig
from karat.studio.services import people, studies
from karat.studio.services.flow import phases_of, progress_of
from karat.studio.storage import Store

__all__ = ["Here", "by_link", "current_step", "standing_at"]


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
