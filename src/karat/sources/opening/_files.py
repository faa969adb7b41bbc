"""One file as a lazy Polars table, after a look at its first bytes."""

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from karat._extras import require
from karat._validate import check_choice
from karat.exceptions import ColumnError, DataError, EmptyDataError
from karat.sources.opening._delimited import HEAD, Dialect, dialect_of, say_dialect

__all__ = [
    "ENDINGS",
    "first_line",
    "format_of",
    "open_bytes",
    "open_file",
    "read_texts",
    "text_options",
]

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
_WORDS = {
    "csv": "CSV text", "tsv": "tab-separated text", "jsonl": "JSON lines", "parquet": "Parquet",
    "arrow": "Arrow IPC", "zip": "a ZIP archive", "gzip": "gzip", "binary": "binary data",
    "json": "one JSON document",
}  # fmt: skip
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "zip", b"\x1f\x8b": "gzip"}
_TEXT = ("csv", "tsv", "jsonl")
# Types are told from all rows. From the first hundred alone, a column of labels that begin further
# down would be text, and a column of 0 and 1 with 0.5 further down could not be read.
_ALL_ROWS: dict[str, Any] = {"infer_schema_length": None}


def format_of(path: Path) -> str | None:
    """Return the format that the ending of a name says, without ``.gz``; None for any other."""
    name = path.name.lower().removesuffix(".gz")
    return ENDINGS.get(Path(name).suffix)


def text_options(path: Path) -> dict[str, Any] | None:
    """Return how to read the cells of delimited text, zipped or not, as they stand there.

    The options are those of ``polars.read_csv``; None for other files.
    """
    kind = format_of(path)
    if kind not in ("csv", "tsv") or not path.is_file():
        return None
    try:
        with path.open("rb") as opened:
            zipped = opened.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as opened:
            dialect = dialect_of(opened.read(HEAD), kind)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {first_line(error)}") from error
    return {"infer_schema": False} | dialect._replace(decimal_comma=False).options()


def first_line(error: Exception) -> str:
    """Return the first line of an error: the rest is advice on the reader's own options."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def open_file(path: Path, kind: str | None, *, quiet: bool = False) -> Any:
    """Return a file as a lazy Polars table; ``kind`` is its format if the name does not say it.

    Delimited text that is not written as its ending says is read as it is written, and a warning
    says so, unless ``quiet``.
    """
    said = check_choice(kind, "format", _FORMATS, none=True) or format_of(path)
    if said is None:
        raise DataError(
            f"{path.name} ends in {path.suffix!r}; expected one of {list(ENDINGS)}, with or "
            "without .gz, or pass format="
        )
    try:
        if not path.stat().st_size:
            raise EmptyDataError(f"{path.name} is empty: it has no bytes")
        with path.open("rb") as opened:
            zipped = opened.read(2) == b"\x1f\x8b"
        if zipped and said in _TEXT:
            with gzip.open(path) as unpacked:
                return open_bytes(unpacked.read(), said, path.name, quiet=quiet)
        with path.open("rb") as opened:
            dialect = _check_beginning(opened, said, path.name)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {first_line(error)}") from error
    return _lazy(path, said, path.name, dialect, quiet=quiet)


def read_texts(path: Path, names: Sequence[str]) -> Any:
    """Read columns of a CSV or TSV as the text that stands there."""
    pl = require("polars", purpose="reading a file")
    return pl.read_csv(path, columns=list(names), **text_options(path) or {})


def open_bytes(data: bytes, kind: str | None, name: str, *, quiet: bool = False) -> Any:
    """Return the content of a file as a lazy Polars table; the format is looked for if not said."""
    if not data:
        raise EmptyDataError(f"{name} is empty: it has no bytes")
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name} cannot be unpacked: {first_line(error)}") from error
    said = check_choice(kind, "format", _FORMATS, none=True) or _looks_like(data[:4096])
    if said == "csv" and kind is None and data[:4096].split(b"\n")[0].count(b"\t"):
        said = "tsv"
    if said not in _FORMATS:
        raise DataError(f"{name} looks like {_WORDS[said]}; expected {', '.join(_FORMATS)}")
    dialect = _check_beginning(io.BytesIO(data), said, name)
    return _lazy(io.BytesIO(data), said, name, dialect, quiet=quiet)


def _looks_like(head: bytes) -> str:
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    if b"\x00" in head:
        return "binary"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return "json"
    if text.startswith(b"{"):
        return "jsonl"
    return "csv"


def _check_beginning(opened: BinaryIO, said: str, name: str) -> Dialect:
    """Refuse a file that does not begin as its format does, and a header that repeats a name.

    Return how delimited text is written.
    """
    head = opened.read(HEAD)
    seen = _looks_like(head[:4096])
    alike = {"csv", "tsv"} if said in ("csv", "tsv") else {said}
    if seen not in alike:
        raise DataError(
            f"{name} should hold {_WORDS[said]} and begins like {_WORDS[seen]}; give it the ending "
            "of what it is, or pass format="
        )
    if said not in ("csv", "tsv"):
        return Dialect()
    dialect = dialect_of(head, said)
    text = head.decode("utf-8-sig", errors="replace")
    rows = csv.reader(io.StringIO(text), delimiter=dialect.separator)
    try:
        header = next(islice(rows, dialect.above, None), [])
    except csv.Error as error:  # lines that end with a carriage return alone
        raise DataError(
            f"{name} cannot be read: its lines end as those of old Macs do; save it again as "
            "plain CSV"
        ) from error
    twice = [column for i, column in enumerate(header) if column in header[:i]]
    if twice:
        raise ColumnError(f"{name} has the column {twice[0]!r} twice; rename one of them")
    return dialect


def _lazy(source: Any, kind: str, name: str, dialect: Dialect, *, quiet: bool) -> Any:
    pl = require("polars", purpose="reading a file")
    in_memory = isinstance(source, io.BytesIO)
    try:
        if kind in ("csv", "tsv"):
            table, dialect = _delimited(pl, source, dialect)
        elif kind == "jsonl":
            table = pl.read_ndjson(source, **_ALL_ROWS).lazy() if in_memory else _json(pl, source)
        elif kind == "parquet":
            table = pl.read_parquet(source).lazy() if in_memory else pl.scan_parquet(source)
        else:
            table = pl.read_ipc(source).lazy() if in_memory else pl.scan_ipc(source)
        table.collect_schema()
        rows = len(table.head(1).collect())
    except Exception as error:  # the readers raise many kinds of error for a broken file
        raise DataError(f"{name} cannot be read: {first_line(error)}") from error
    if not rows:
        raise EmptyDataError(f"{name} has no rows")
    if not quiet:
        say_dialect(dialect, name, kind)
    return table


def _delimited(pl: Any, source: Any, dialect: Dialect) -> tuple[Any, Dialect]:
    """Return delimited text as a lazy table; where its head has no decimals, all rows tell."""

    def known(one: Dialect) -> Any:
        if isinstance(source, io.BytesIO):
            source.seek(0)
            return pl.read_csv(source, **one.options(), **_ALL_ROWS)
        # The types are told once, and not again by every query.
        return pl.scan_csv(source, **one.options(), **_ALL_ROWS).collect_schema()

    found = known(dialect)
    if dialect.decimal_comma is None:
        other = dialect._replace(decimal_comma=True)
        again = known(other)
        kinds = [list(one.values() if hasattr(one, "values") else one.dtypes)
                 for one in (found, again)]  # fmt: skip
        if kinds[1].count(pl.Float64) > kinds[0].count(pl.Float64):
            found, dialect = again, other
    if isinstance(source, io.BytesIO):
        return found.lazy(), dialect
    return pl.scan_csv(source, **dialect.options(), schema=found), dialect


def _json(pl: Any, path: Any) -> Any:
    known = pl.scan_ndjson(path, **_ALL_ROWS).collect_schema()
    return pl.scan_ndjson(path, schema=known)
