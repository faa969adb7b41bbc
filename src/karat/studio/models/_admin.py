"""Researchers, and what all workers share."""

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from karat.studio.models._base import Base

__all__ = ["Admin", "Meta"]


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
