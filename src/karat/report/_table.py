"""A table of a report, as data."""

from dataclasses import dataclass

from karat._frozen import Frozen

__all__ = ["Table"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table(Frozen):
    """A table: column names and rows of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
