"""Files that are replaced only by files that are complete, and read only in the version known."""

import os
import re
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from karat.exceptions import DataError, KaratError

_E = TypeVar("_E", bound=KaratError)


def first_line(error: BaseException) -> str:
    """Return the first line of what other software says: the rest is advice on its own options.

    >>> first_line(ValueError("no such column, and more lines"))
    'no such column, and more lines'
    """
    said = (line.strip() for line in str(error).splitlines())
    return next((line for line in said if line), type(error).__name__)


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


def version_error(kind: type[_E], what: str, found: Any, needed: Any, *, again: str) -> _E:
    """Return the error that refuses a saved thing of another version.

    ``what`` begins the sentence, and ``again`` says how an older thing is made anew.

    >>> str(version_error(DataError, "the file", 1, 2, again="count the rows again"))
    'the file has version 1 and this karat reads version 2; count the rows again'
    """
    newer = type(found) is type(needed) and found > needed
    given = "no version" if found is None else f"version {found!r}"
    remedy = "it was written by a newer one: update karat" if newer else again
    sentence = f"{what} has {given} and this karat reads version {needed!r}; {remedy}"
    return kind(sentence, given=given, expected=f"version {needed!r}", remedy=remedy)


_UNFINISHED: set[Path] = set()
_GRACE = 1.0  # seconds


def stop_on_interrupt(code: int) -> None:
    """Let Ctrl-C end the process within two seconds, wherever it is.

    Python sees an interrupt only between its own steps, and a compiled step over many rows may take
    a minute. A thread waits for the signal, gives Python a second to end by itself, and else
    removes the files that are half written and ends the process. It is for a command line alone.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    heard, said = os.pipe()
    os.set_blocking(said, False)
    signal.set_wakeup_fd(said, warn_on_full_buffer=False)

    def wait() -> None:
        while received := os.read(heard, 1):
            if received[0] == signal.SIGINT:
                time.sleep(_GRACE)
                for path in tuple(_UNFINISHED):
                    path.unlink(missing_ok=True)
                os.write(2, b"interrupted\n")
                os._exit(code)

    threading.Thread(target=wait, daemon=True, name="interrupts").start()


_FORMULA = re.compile("'*[ \u00a0\ufeff]*[=+\\-@\t\r\n|%]")


def escape_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text gets an apostrophe before it.

    Numbers stay numbers. Text that looks escaped already gets one more.

    >>> escape_cell("=1+1"), escape_cell(-1.5), escape_cell("fine")
    ("'=1+1", -1.5, 'fine')
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def unescape_cell(value: Any) -> Any:
    """Return what `escape_cell` was given.

    >>> unescape_cell("'=1+1"), unescape_cell("'fine'")
    ('=1+1', "'fine'")
    """
    escaped = isinstance(value, str) and value[:1] == "'" and _FORMULA.match(value, 1)
    return value[1:] if escaped else value


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
        _UNFINISHED.add(beside)
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
            _UNFINISHED.discard(beside)


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
