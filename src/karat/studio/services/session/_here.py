"""Where a person is."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from karat.studio.models import Person, State, Study
from karat.studio.schemas import StudyConfig
from karat.studio.services import studies
from karat.studio.services.flow import phases_of, progress_of
from karat.studio.storage import Store

__all__ = ["Here", "current_step", "here_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Where a person is: all that a page shows."""

    person: Person
    study: Study
    config: StudyConfig
    page: dict[str, Any]
    phases: list[str]
    can_undo: bool
    since: float

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
        person = session.get(Person, person_id)
        if person is None:
            return None
        return here_of(session, person)


def here_of(session: Session, person: Person) -> Here:
    """Return where a person is, as a session sees it."""
    study = session.get_one(Study, person.study_id)
    state = session.get_one(State, (person.id, person.seq))
    config = studies.config_of(study)
    back = state.back is not None and session.get(State, (person.id, state.back)) is not None
    return Here(
        person=person,
        study=study,
        config=config,
        page=state.page,
        phases=phases_of(config, person.guess_order),
        can_undo=back and config.options.allow_undo,
        since=state.created_at,
    )
