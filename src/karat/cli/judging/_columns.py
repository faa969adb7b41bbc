"""Columns of a long file, and columns by patterns."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from karat.cli.frame import InputTable
from karat.exceptions import ColumnError, OptionError

__all__ = ["LongNames", "cannot_tell", "limits_text", "matching", "parse_families"]

_ITEM = ("item", "item_id", "id", "pair_id", "task")
_VOTER = ("judge", "classifier", "annotator", "worker")
_VOTE = ("verdict", "vote", "answer", "score", "rating", "label")


class LongNames(NamedTuple):
    """What the flags call the columns of a long file; None where they do not say."""

    item: str | None = None
    voter: str | None = None
    vote: str | None = None

    def item_of(self, table: InputTable) -> str | None:
        """Return the column that names the items: the flag's, or one of a known name."""
        if self.item is not None:
            table.column("--id", self.item)
            return self.item
        return next((name for name in _ITEM if name in table.frame.columns), None)

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


def cannot_tell(what: str, told: Sequence[bool], domain: int) -> str:
    """Return what stands before limits of a domain where votes cannot tell, beside others.

    Where no domain is told, the head of the table says it.
    """
    return f"{what} cannot tell: " if any(told) and not told[domain] else ""


def parse_families(given: Sequence[str], voters: Sequence[Any]) -> dict[str, list[Any]] | None:
    """Return families of voters that count once from ``name=a,b`` or ``name=pattern*``."""
    if not given:
        return None
    families: dict[str, list[Any]] = {}
    for text in given:
        name, equals, members = text.partition("=")
        if not equals or not members:
            raise OptionError(f"--same is {text!r}; expected name=a,b,c or name=pattern*")
        chosen = []
        for part in members.split(","):
            hits = [v for v in voters if str(v) == part or fnmatchcase(str(v), part)]
            if not hits:
                raise OptionError(f"--same {text}: no voter is {part!r}; there are {voters[:20]}")
            chosen += hits
        families[name] = chosen
    return families
