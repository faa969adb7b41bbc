"""Text files as plain UTF-8: unpacked as far as is safe, and read in the encoding they have.

Excel's "Unicode text" is UTF-16, older programs write Latin-1, and a small archive can hold
terabytes. `plain_text` returns a file that every reader understands: the file itself, or a copy in
a temporary folder, made once and deleted when the process ends. `unpacked` is where everything that
was compressed comes in, a piece at a time and no further than `check_unpacked` lets it.
"""

from __future__ import annotations

import atexit
import codecs
import gzip
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from karat._files import first_words
from karat._sentences import Argument
from karat.exceptions import DataError

_PIECE = 1 << 20
# What a file may grow to, and by how much beyond that: text seldom packs to a hundredth.
_ANY_SIZE = 1 << 28
_TIMES = 100


def check_unpacked(size: int, packed: int, name: str, *, any_size: int = _ANY_SIZE) -> None:
    """Refuse what has grown beyond ``any_size`` bytes and a hundred times its packed size."""
    if size > any_size and size > _TIMES * packed:
        raise DataError(
            Argument.of(name),
            f" unpacks to more than {_TIMES} times its {packed:,} bytes ({size:,} "
            "so far), as files do that are made to fill a memory; if that is meant, "
            "unpack it first",
        )


def unpacked(stream: Any, packed: int, name: str, *, any_size: int = _ANY_SIZE) -> bytes:
    """Return what a stream unpacks to, refused as soon as it is too much."""
    return b"".join(_pieces(stream, packed, name, any_size=any_size))


def _pieces(stream: Any, packed: int, name: str, *, any_size: int = _ANY_SIZE) -> Iterator[bytes]:
    size = 0
    try:
        while piece := stream.read(_PIECE):
            size += len(piece)
            check_unpacked(size, packed, name, any_size=any_size)
            yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            Argument.of(name),
            f" cannot be unpacked: {first_words(error)}",
        ) from error


class PlainText(NamedTuple):
    """A file of UTF-8 text, and what was done to it, for people."""

    path: Path
    note: str = ""


_COPIES: dict[tuple[str, int, int], PlainText] = {}


def plain_text(path: Path) -> PlainText:
    """Return a text file as UTF-8 that is not compressed: itself, or a copy until the end."""
    state = path.stat()
    key = (os.path.realpath(path), state.st_mtime_ns, state.st_size)
    found = _COPIES.get(key)
    if found is None or not found.path.exists():
        found = _COPIES[key] = _plain(path, len(_COPIES))
    return found


def _plain(path: Path, number: int) -> PlainText:
    """Unpack and decode a file, each only where it is needed."""
    found, note = path, ""
    with path.open("rb") as opened:
        zipped = opened.read(2) == b"\x1f\x8b"
    if zipped:
        found = _folder() / f"{number}-unpacked"
        with gzip.open(path) as stream:
            _write(found, _pieces(stream, path.stat().st_size, path.name), path.name)
    encoding = _encoding_of(found, path.name)
    if encoding is not None:
        copy, note = _folder() / f"{number}-plain", f"it was read as {_CALLED[encoding]}"
        with found.open("rb") as stream:
            decoded = codecs.iterdecode(iter(lambda: stream.read(_PIECE), b""), encoding, "replace")
            _write(copy, (part.encode() for part in decoded), path.name)
        found = copy
    return PlainText(found, note)


def plain_bytes(data: bytes, name: str) -> bytes:
    """Return text that is in memory, unpacked and as UTF-8; any other content as it is."""
    if data[:2] == b"\x1f\x8b":
        import io

        with gzip.open(io.BytesIO(data)) as stream:
            data = unpacked(stream, len(data), name)
    encoding = _marked(data[:_HEAD])
    return data if encoding is None else data.decode(encoding, "replace").encode()


def _write(path: Path, pieces: Iterable[bytes], name: str) -> None:
    try:
        with path.open("wb") as written:
            for piece in pieces:
                written.write(piece)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise DataError(
            Argument.of(name),
            f" needs a copy in {path.parent}, which cannot be written: {error.strerror}",
        ) from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@cache
def _folder() -> Path:
    """Return the folder of the copies, which goes with the process."""
    folder = Path(tempfile.mkdtemp(prefix="karat-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# --- Which encoding a file has.

_HEAD = 1 << 12
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CALLED = {
    "utf-32": "UTF-32",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252 (Latin-1), since it is not UTF-8",
}
_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def _marked(head: bytes) -> str | None:
    """Return the encoding that the first bytes show; None for one of single bytes, or UTF-8."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    half = len(head) // 2
    if half > 1 and b"\x00" in head:
        for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            if head[first::2].count(0) > 0.6 * half and not head[1 - first :: 2].count(0):
                return encoding
    return None


def _encoding_of(path: Path, name: str) -> str | None:
    """Return the encoding of a file that is not UTF-8; refuse one that is broken UTF-8."""
    with path.open("rb") as opened:
        marked = _marked(opened.read(_HEAD))
        if marked is not None:
            return marked
        opened.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        line, letters = 1, False
        while True:
            piece = opened.read(_PIECE)
            if b"\x00" in piece:
                return None  # no text: whoever reads it says so
            waiting = decoder.getstate()[0]
            if piece.isascii() and piece and not waiting:
                line += piece.count(b"\n")
                continue
            try:
                decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                line += piece[: max(error.start - len(waiting), 0)].count(b"\n")
                break
            letters = letters or bool(_LETTER.search(waiting + piece))
            line += piece.count(b"\n")
            if not piece:
                return None
        others = letters or any(_LETTER.search(part) for part in (piece, opened.read(_ANY_SIZE)))
    if others:
        raise DataError(
            Argument.of(name),
            f" is broken UTF-8: line {line} holds bytes that are no text",
        )
    return "cp1252"


# --- JSON that holds the rows of a table.


def json_rows(data: bytes, name: str) -> list[dict[str, Any]] | None:
    """Return the objects of a JSON array of flat objects; None for any other JSON."""
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise DataError(
            Argument.of(name),
            f" cannot be read as JSON: {first_words(error)}",
        ) from error
    return found if are_rows(found) else None


def are_rows(document: Any) -> bool:
    """Return whether a JSON document is a list of objects that hold single values."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(
            isinstance(row, dict) and not any(isinstance(v, dict | list) for v in row.values())
            for row in document
        )
    )


def broken_line(path: Path | bytes) -> str:
    """Return which line of JSON lines is no object, and why; nothing where each one is."""
    lines = path.split(b"\n") if isinstance(path, bytes) else path.open("rb")
    try:
        for number, line in enumerate(lines, start=1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
            if not text.strip():
                continue
            try:
                found = json.loads(text)
            except (ValueError, RecursionError) as error:
                return f"line {number}: {first_words(error)}"
            if not isinstance(found, dict):
                return f'line {number} is no object, such as {{"label": 1}}'
    finally:
        if not isinstance(lines, list):
            lines.close()
    return ""
