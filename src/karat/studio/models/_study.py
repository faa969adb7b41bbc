"""What people are asked about, and how."""

from typing import Any

from sqlalchemy import LargeBinary, String
from sqlalchemy.orm import Mapped, deferred, mapped_column

from karat.studio.models._base import Base, new_id

__all__ = ["Study"]


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
