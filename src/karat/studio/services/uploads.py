"""Files of predictions, read in a process of their own with limits of time and memory."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.exceptions import DataError
from karat.studio.data import StudyData, unpack_data
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


def _worker(store: Store, content: bytes, filename: str, task: dict[str, Any]) -> bytes:
    """Let a process read a file; its name only tells the format."""
    settings = store.settings
    ending = Path(filename).suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"the file ends in {ending[:20]!r}; expected one of {', '.join(ENDINGS)}")
    if len(content) > settings.max_upload:
        raise DataError(
            f"the file has {len(content):,} bytes; expected at most {settings.max_upload:,}"
        )
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
