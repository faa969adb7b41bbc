"""Someone who is asked."""

from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from karat.studio.models._base import Base, new_id

__all__ = ["Person"]


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
