"""Files of predictions, read in a process of their own with limits of time and memory."""

import json
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.exceptions import DataError
from karat.studio.data import StudyData, unpack_data
from karat.studio.security import hashed
from karat.studio.storage import Store

ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What there is in a file: names of columns, number of rows, and some values of each."""

    names: tuple[str, ...]
    n_rows: int
    examples: dict[str, list[str]]


def inspect(store: Store, content: bytes, filename: str) -> Columns:
    """Return the columns of a file."""
    said = _worker(store, content, filename, {"task": "inspect"})
    found = json.loads(said)
    return Columns(names=tuple(found["names"]), n_rows=found["n_rows"], examples=found["examples"])


def read(
    store: Store,
    content: bytes,
    filename: str,
    *,
    label: str,
    score: str | None = None,
    proba: Sequence[str] = (),
    positive: str | None = None,
    group: str | None = None,
) -> StudyData:
    """Return the predictions of a file.

    ``score`` is the column of scores of the positive class; or ``proba`` the columns of the
    probabilities of all classes, in the order of the sorted labels.
    """
    task = {
        "task": "read",
        "label": label,
        "score": score or None,
        "proba": list(proba),
        "positive": positive or None,
        "group": group or None,
    }
    return unpack_data(_worker(store, content, filename, task))


def _ending_of(store: Store, content: bytes, filename: str) -> str:
    """Return how the name of a file ends; refuse formats that are not read, and large files."""
    ending, most = Path(filename).suffix.lower(), store.settings.max_upload
    if ending not in ENDINGS:
        raise DataError(f"the file ends in {ending[:20]!r}; expected one of {', '.join(ENDINGS)}")
    if len(content) > most:
        raise DataError(f"the file has {len(content):,} bytes; expected at most {most:,}")
    return ending


def _worker(store: Store, content: bytes, filename: str, task: dict[str, Any]) -> bytes:
    """Let a process read a file; its name only tells the format."""
    settings, ending = store.settings, _ending_of(store, content, filename)
    with tempfile.TemporaryDirectory(prefix="karat-studio-") as folder:
        path, answer = Path(folder) / f"upload{ending}", Path(folder) / "answer"
        path.write_bytes(content)
        limits = {"seconds": settings.upload_seconds}
        order = json.dumps({**task, **limits, "path": str(path), "answer": str(answer)})
        try:
            done = subprocess.run(
                [sys.executable, "-m", "karat.studio.worker"],
                input=order.encode(),
                capture_output=True,
                timeout=settings.upload_seconds,
                check=False,
                cwd=folder,
            )
        except subprocess.TimeoutExpired as error:
            raise DataError(
                f"reading the file took longer than {settings.upload_seconds:g} seconds; pass "
                "fewer rows or columns"
            ) from error
        if done.returncode == 0 and answer.exists():
            return answer.read_bytes()
        if done.returncode == 3:  # the worker says what is wrong with the file
            raise DataError(done.stdout.decode("utf-8", "replace")[:1000])
        raise DataError("the file cannot be read, or needs too much memory")


# --- Files between the page that takes one and the page that asks what its columns are.
#
# They wait for an hour in a folder that only this user can read, under names that nobody can guess.


_SECONDS = 3600.0
_NAME = re.compile(r"[0-9a-f]{32}\.[a-z]{2,8}")


def keep(store: Store, content: bytes, filename: str) -> str:
    """Keep a file and return the name to ask for it by."""
    ending = _ending_of(store, content, filename)
    folder = _folder(store)
    name = f"{secrets.token_hex(16)}{ending}"
    (folder / name).write_bytes(content)
    return name


def kept(store: Store, name: str) -> bytes:
    """Return the content of a file that `keep` kept."""
    if not _NAME.fullmatch(name):
        raise DataError("there is no such file; choose the file again")
    try:
        return (_folder(store) / name).read_bytes()
    except OSError as error:
        raise DataError("the file was kept for an hour and is gone; choose it again") from error


def drop(store: Store, name: str) -> None:
    """Delete a file that is no longer needed."""
    if _NAME.fullmatch(name):
        (_folder(store) / name).unlink(missing_ok=True)


def _folder(store: Store) -> Path:
    """Return the folder, without the files that have waited too long."""
    # All workers of a server find the same folder, and no other server's.
    folder = Path(tempfile.gettempdir()) / f"karat-studio-{hashed(store.secret)[:16]}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        raise DataError("the folder of uploads can be read by others; remove it and try again")
    for path in folder.iterdir():
        if path.stat().st_mtime < time.time() - _SECONDS:
            path.unlink(missing_ok=True)
    return folder
