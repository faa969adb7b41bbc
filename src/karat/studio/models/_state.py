"""Where a person is: which page is shown, and what the elicitation knows."""

from typing import Any

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from karat.studio.models._base import Base

__all__ = ["Snapshot", "State"]


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
