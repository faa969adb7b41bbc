"""The tables: studies, people, the log of answers that only grows, and the states it leads to.

A person's state is the log of what they sent plus, for speed, a snapshot of the elicitation; both
are written by the same transaction. Times are seconds since 1970, in UTC.
"""

import uuid
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    Double,
    ForeignKey,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, deferred, mapped_column

# --- What all tables share.


class Base(DeclarativeBase):
    """The base of all tables; constraints have names, so that migrations can find them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        dict[str, Any]: JSON,
        list[Any]: JSON,
        float: Double,
    }


class Admin(Base):
    """A researcher; the password is kept as argon2 hashes it."""

    __tablename__ = "admin"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    session_version: Mapped[int] = mapped_column(default=1)


class Meta(Base):
    """Values that all workers share, such as the key that links are signed with."""

    __tablename__ = "meta"

    name: Mapped[str] = mapped_column(String(50), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


# --- What people sent, in order, and what an interviewer noted beside it.


class LogEntry(Base):
    """One thing that a person sent: rows are added and never changed.

    The number of a page and its nonce can be used once: the same form posted twice counts once.
    ``phase`` is that of the page, or ``undo``; ``undoes`` is then the number that is taken back.
    """

    __tablename__ = "log"
    __table_args__ = (
        UniqueConstraint("person_id", "seq", name="uq_log_seq"),
        UniqueConstraint("person_id", "nonce", name="uq_log_nonce"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"), index=True)
    seq: Mapped[int]
    nonce: Mapped[str] = mapped_column(String(32))
    phase: Mapped[str] = mapped_column(String(20))
    payload: Mapped[dict[str, Any]]  # what was answered, and to which question
    undoes: Mapped[int | None]
    seconds: Mapped[float | None]  # on the server, since the page could be shown
    client_seconds: Mapped[float | None]  # in the browser, since the page was shown
    created_at: Mapped[float]


class Note(Base):
    """What an interviewer noted beside an answer, or of a person as a whole."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"), index=True)
    seq: Mapped[int | None]
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[float]


def new_id() -> str:
    """Return an identifier that tells nothing of how many there are."""
    return uuid.uuid4().hex


class Person(Base):
    """A person of a study, and where they are in it.

    ``seq`` and ``nonce`` name the page that is to be answered: a form that carries others is of a
    page that was answered before. Both change with every entry of the log.
    """

    __tablename__ = "person"
    __table_args__ = (
        UniqueConstraint("study_id", "prolific_pid", name="uq_person_prolific"),
        UniqueConstraint("study_id", "join_nonce", name="uq_person_join"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(100), default="")
    kind: Mapped[str] = mapped_column(String(10), default="person")  # person, preview or bot
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    token_version: Mapped[int] = mapped_column(default=1)
    expires_at: Mapped[float]
    prolific_pid: Mapped[str | None] = mapped_column(String(100))
    join_nonce: Mapped[str | None] = mapped_column(String(64))
    seed: Mapped[int]
    guess_order: Mapped[str] = mapped_column(String(10))  # before, after or none
    seq: Mapped[int] = mapped_column(default=0)
    nonce: Mapped[str] = mapped_column(String(32))
    evaluation: Mapped[list[Any] | None]  # the evaluation pairs, once they are drawn
    created_at: Mapped[float]
    finished_at: Mapped[float | None]


# --- Where a person is: which page is shown, and what the elicitation knows.


class State(Base):
    """The page after ``seq`` entries of the log; the last few are kept, to go back to."""

    __tablename__ = "state"

    person_id: Mapped[str] = mapped_column(
        ForeignKey("person.id", ondelete="CASCADE"), primary_key=True
    )
    seq: Mapped[int] = mapped_column(primary_key=True)
    page: Mapped[dict[str, Any]]
    snapshot_seq: Mapped[int | None]  # of the snapshot that belongs to it
    back: Mapped[int | None]  # number of the state before the last answer
    created_at: Mapped[float]


class Snapshot(Base):
    """The elicitation as bytes, from which any worker goes on; replayed from the log if lost."""

    __tablename__ = "snapshot"

    person_id: Mapped[str] = mapped_column(
        ForeignKey("person.id", ondelete="CASCADE"), primary_key=True
    )
    seq: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Study(Base):
    """A study: its texts and options, and the predictions that questions are made of.

    ``config`` is a `StudyConfig` as JSON, ``data`` what `pack_data` gave. ``fingerprint`` is that
    of the space of the data, by which workers keep it.
    """

    __tablename__ = "study"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(10), default="open")  # open or closed
    config: Mapped[dict[str, Any]]
    data: Mapped[bytes] = deferred(mapped_column(LargeBinary, nullable=False))
    fingerprint: Mapped[str] = mapped_column(String(64))
    room_version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[float]
