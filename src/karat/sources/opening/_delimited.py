"""How a file of delimited text is written: its separator and its decimal mark, and saying so."""

import csv
import io
import re
import warnings
from itertools import islice
from typing import Any, NamedTuple

from karat._callers import caller_level
from karat.exceptions import KaratWarning

__all__ = ["HEAD", "Dialect", "dialect_of", "say_dialect"]

HEAD = 1 << 16  # bytes that are looked at
_LINES = 50
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Groups of three digits may be thousands as well as decimals, and so tell nothing.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([.,]\d{3})+")


# What spreadsheets write, and hide, above the header.
_NAMES_ITS_OWN = re.compile(r'"?sep=([\t !#-/:-@\[-`{-~])"?[ \t]*\r?\n', re.IGNORECASE)


class Dialect(NamedTuple):
    """The separator, and whether numbers have decimal commas; None: the head does not tell."""

    separator: str = ","
    decimal_comma: bool | None = False
    mixed: bool = False  # some numbers with a comma, others with a point
    above: int = 0  # lines above the header: one where the file names its separator itself

    @property
    def usual(self) -> bool:
        """Whether it is what every reader takes a file of its ending for."""
        return self.separator == "," and not self.decimal_comma and not self.above

    def options(self) -> dict[str, Any]:
        """Return the options of the readers of Polars."""
        found: dict[str, Any] = {"separator": self.separator}
        if self.above:
            found["skip_rows"] = self.above
        return found | {"decimal_comma": True} if self.decimal_comma else found


def dialect_of(head: bytes, kind: str) -> Dialect:
    """Return the dialect of delimited text from its first bytes; ``kind`` is csv or tsv.

    Another separator than that of the ending is taken where a line above the header names it, such
    as ``sep=;``, else only where the first line has none of those and every line has as many of
    the other.
    """
    text = head.decode("utf-8-sig", errors="replace")
    if len(head) >= HEAD:
        text = text[: text.rfind("\n") + 1] or text  # the last line may be cut
    own = "\t" if kind == "tsv" else ","
    above = 0
    if (named := _NAMES_ITS_OWN.match(text)) is not None:
        own, above, text = named[1], 1, text[named.end() :]
    lines = _fields(text, own)
    separator = own
    if lines and len(lines[0]) == 1 and kind == "csv" and not above:
        for other in _OTHERS:
            split = _fields(text, other)
            if len({len(line) for line in split}) == 1 and len(split[0]) > 1:
                separator, lines = other, split
                break
    if separator == ",":  # a quoted "0,1" may as well be a list
        return Dialect(above=above)
    values = [v.strip() for line in lines[1:] for v in line if not _THOUSANDS.fullmatch(v.strip())]
    comma = any(_COMMA.fullmatch(value) for value in values)
    point = any(_POINT.fullmatch(value) for value in values)
    if comma and point:
        return Dialect(separator, False, mixed=True, above=above)
    return Dialect(separator, comma if comma or point else None, above=above)


def _fields(text: str, separator: str) -> list[list[str]]:
    """Return the fields of the first lines."""
    try:
        read = csv.reader(io.StringIO(text), delimiter=separator)
        return [line for line in islice(read, _LINES) if line]
    except csv.Error:
        return []


def say_dialect(dialect: Dialect, name: str, kind: str) -> None:
    """Say in one line that a file is not written as its ending says."""
    said = []
    if kind == "csv" and dialect.separator != ",":
        sign = _OTHERS.get(dialect.separator, repr(dialect.separator))
        said.append(f"its columns are separated by {sign}")
    if dialect.decimal_comma:
        said.append("its numbers have decimal commas")
    if dialect.mixed:
        said.append(
            "some of its numbers have decimal commas and others points; columns with commas are "
            "read as text"
        )
    if said:
        warnings.warn(f"{name}: {' and '.join(said)}", KaratWarning, stacklevel=caller_level())
