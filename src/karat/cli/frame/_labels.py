"""Values that a flag names as text and a column holds in a type of its own."""

from collections.abc import Iterable
from typing import Any

from karat._validate import check_choice, refuse_option

__all__ = ["read_null", "read_pos_label"]

_SHOWN = 6


def read_pos_label(columns: Iterable[Any], text: str | None) -> Any:
    """Return the label that ``--pos-label`` names, in the type of the columns that hold labels."""
    if text is None:
        return None
    known = {label: None for column in columns for label in column.drop_nulls().unique().sort()}
    for label in known:
        if text == str(label) or (isinstance(label, bool) and text == str(label).lower()):
            return label
        if isinstance(label, float) and text == f"{label:g}":
            return label
    shown = ", ".join(map(str, list(known)[:_SHOWN])) + ", …" * (len(known) > _SHOWN)
    return refuse_option(text, "--pos-label", f"one of the labels {shown}")


def read_null(text: str) -> str:
    """Return the library's ``null=`` for a flag, in which words are joined by a hyphen."""
    return check_choice(text.replace(" ", "-"), "--null", ("not-asked", "abstain")).replace(
        "-", " "
    )
