"""What people sent, in order, and what an interviewer noted beside it."""

from typing import Any

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from karat.studio.models._base import Base

__all__ = ["LogEntry", "Note"]


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
