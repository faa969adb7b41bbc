"""Files that are replaced only by files that are complete."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from karat.exceptions import DataError


def first_words(error: BaseException) -> str:
    """Return the reason why a file cannot be read, on one line and without Python's own advice.

    >>> first_words(ValueError("Exceeds the limit (4300 digits) for integer string conversion: …"))
    'a number has more than 4300 digits'
    >>> first_words(RecursionError("maximum recursion depth exceeded"))
    'it is nested too deep'
    """
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    said = " ".join(str(error).split())
    many = re.match(r"Exceeds the limit \((\d+) digits\)", said)
    return said if many is None else f"a number has more than {many[1]} digits"


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new, empty file beside ``path``; it takes the place of ``path`` at the end.

    The old file stays whole until then, whatever happens. A link keeps pointing where it does, and
    no other file is touched.
    """
    beside: Path | None = None
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a device would be lost to a rename
        raise DataError(f"{os.fspath(path)!r} cannot be written: it is not a regular file")
    try:
        beside = _new_file(target)
        yield beside
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{os.fspath(path)!r} cannot be written: {reason}") from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def _new_file(target: Path) -> Path:
    """Create a file beside ``target`` under a name that nobody has, and return its path."""
    while True:
        # A long name is cut, so that the new one is no longer than file systems allow.
        beside = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
        try:
            # Not tempfile, whose files only their owner may read: this one becomes the target.
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            continue
        return beside
