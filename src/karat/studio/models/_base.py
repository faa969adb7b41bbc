"""What all tables share."""

import uuid
from typing import Any, ClassVar

from sqlalchemy import JSON, Double, MetaData
from sqlalchemy.orm import DeclarativeBase

__all__ = ["Base", "new_id"]


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


def new_id() -> str:
    """Return an identifier that tells nothing of how many there are."""
    return uuid.uuid4().hex
