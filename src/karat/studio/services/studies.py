"""Studies: made, found, changed, opened and closed."""

import json
from functools import lru_cache
from typing import Any

from sqlalchemy import func, select

from karat.exceptions import OptionError
from karat.studio.data import StudyData, pack_data
from karat.studio.models import Person, Study
from karat.studio.schemas import StudyConfig
from karat.studio.security import signed, unsigned
from karat.studio.services.asking import Asked, asked_about, asked_apart, check_space
from karat.studio.storage import Store

STATUSES = ("open", "closed")


def create(store: Store, *, name: str, config: StudyConfig, data: StudyData) -> Study:
    """Make a study; refuses data about which nothing can be asked."""
    fingerprint = check_space(data, config)
    study = Study(
        name=name.strip()[:200] or "Study",
        config=config.model_dump(mode="json"),
        data=pack_data(data),
        fingerprint=fingerprint,
        status="open",
        created_at=store.clock(),
    )
    with store.writing() as session:
        session.add(study)
    return study


def get(store: Store, study_id: str) -> Study | None:
    """Return a study; None if there is none of this id."""
    with store.reading() as session:
        return session.get(Study, study_id)


def list_all(store: Store) -> list[tuple[Study, int, int]]:
    """Return all studies, newest first, each with its numbers of people and of those finished."""
    people = (
        select(
            Person.study_id.label("study_id"),
            func.count().label("n"),
            func.count(Person.finished_at).label("finished"),
        )
        .where(Person.kind == "person")
        .group_by(Person.study_id)
        .subquery()
    )
    query = (
        select(Study, func.coalesce(people.c.n, 0), func.coalesce(people.c.finished, 0))
        .outerjoin(people, people.c.study_id == Study.id)
        .order_by(Study.created_at.desc())
    )
    with store.reading() as session:
        return [(study, int(n), int(done)) for study, n, done in session.execute(query)]


def config_of(study: Study) -> StudyConfig:
    """Return what a researcher has said of a study; checked once for all that ask."""
    return _checked_config(json.dumps(study.config, sort_keys=True))


@lru_cache(maxsize=64)
def _checked_config(text: str) -> StudyConfig:
    return StudyConfig.model_validate(json.loads(text))


def update_config(store: Store, study_id: str, config: StudyConfig) -> Study | None:
    """Change texts and options; what questions are made of stays once anyone has begun."""
    with store.writing() as session:
        study = session.get(Study, study_id, with_for_update=True)
        if study is None:
            return None
        before = config_of(study)
        begun = session.scalar(
            select(func.count()).where(Person.study_id == study_id, Person.seq > 0)
        )
        if begun and before.options != config.options:
            fixed = before.options.model_dump()
            changed = [
                name for name, value in config.options.model_dump().items() if fixed[name] != value
            ]
            loose = {"completion_code", "completion_url", "show_result"}
            if set(changed) - loose:
                raise OptionError(
                    f"{', '.join(sorted(set(changed) - loose))} cannot change: {begun} people have "
                    "begun; expected a new study for other questions"
                )
        study.config = config.model_dump(mode="json")
        return study


def set_status(store: Store, study_id: str, status: str) -> Study | None:
    """Open a study for new people, or close it; whoever has begun may finish."""
    if status not in STATUSES:
        raise OptionError(f"status is {status!r}; expected one of {STATUSES}")
    with store.writing() as session:
        study = session.get(Study, study_id)
        if study is not None:
            study.status = status
        return study


def delete(store: Store, study_id: str) -> bool:
    """Delete a study with all its people and answers."""
    with store.writing() as session:
        study = session.get(Study, study_id)
        if study is None:
            return False
        session.delete(study)
    store.forget_deleted()
    return True


def room_token(store: Store, study: Study) -> str:
    """Return the token of the link by which anyone may join a study."""
    return signed(store.secret, "room", [study.id, study.room_version])


def by_room(store: Store, token: str) -> Study | None:
    """Return the study of a room link; None if the link is not one, or was replaced."""
    value: Any = unsigned(store.secret, "room", token)
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)):
        return None
    study = get(store, value[0])
    return study if study is not None and study.room_version == value[1] else None


def asked_of(store: Store, study: Study) -> Asked:
    """Return the space and the options of a study, kept by this process."""
    key = (study.id, study.fingerprint)
    return asked_about(key, config_of(study), lambda: _data_of(store, study))


def asked_apart_of(store: Store, study: Study) -> Asked:
    """Return the same, built for the caller alone: long work on it keeps nobody waiting."""
    return asked_apart(config_of(study), _data_of(store, study))


def _data_of(store: Store, study: Study) -> bytes:
    with store.reading() as session:
        return session.scalars(select(Study.data).where(Study.id == study.id)).one()
