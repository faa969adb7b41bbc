"""Columns of a long file, and columns by patterns."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from karat.cli.frame import InputTable
from karat.exceptions import ColumnError

__all__ = ["LongNames", "limits_text", "matching"]

_ITEM = ("item", "item_id", "id", "pair_id", "task")
_VOTER = ("judge", "classifier", "annotator", "worker")
_VOTE = ("verdict", "vote", "answer", "score", "rating", "label")


class LongNames(NamedTuple):
    """What the flags call the columns of a long file; None where they do not say."""

    item: str | None = None
    voter: str | None = None
    vote: str | None = None

    def found(self, table: InputTable, *, vote: bool) -> dict[str, str] | None:
        """Return the columns item, who and what of a long file; None if it has none of these."""
        columns = {}
        for key, flag, given, known in (
            ("item", "--id", self.item, _ITEM),
            ("who", "--voter", self.voter, _VOTER),
            ("what", "--vote", self.vote, _VOTE),
        ):
            if key == "what" and not vote:
                continue
            if given is not None:
                table.column(flag, given)
            name = given or next((n for n in known if n in table.frame.columns), None)
            if name is None:
                return None
            columns[key] = name
        return columns


def matching(table: InputTable, flag: str, patterns: Sequence[str]) -> list[str]:
    """Return the columns that names and patterns choose, each once."""
    found: list[str] = []
    for pattern in patterns:
        hits = [n for n in table.frame.columns if n == pattern or fnmatchcase(n, pattern)]
        if not hits:
            raise ColumnError(
                f"{flag} {pattern}: no column matches; there are {table.frame.columns}"
            )
        found += [n for n in hits if n not in found]
    return found


def limits_text(lower: float, upper: float, signed: bool = False) -> str:
    """Return limits as a table shows them."""
    return f"{lower:+.3f} to {upper:+.3f}" if signed else f"{lower:.3f} to {upper:.3f}"
