"""Uploaded files between the page that takes one and the page that asks what its columns are.

They wait in a folder that only this user can read, under names that nobody can guess, for an hour.
"""

import re
import secrets
import tempfile
import time
from pathlib import Path

from karat.exceptions import DataError
from karat.studio.security import hashed
from karat.studio.services.uploads import ENDINGS
from karat.studio.storage import Store

_SECONDS = 3600.0
_NAME = re.compile(r"[0-9a-f]{32}\.[a-z]{2,8}")


def keep(store: Store, content: bytes, filename: str) -> str:
    """Keep a file and return the name to ask for it by."""
    ending = Path(filename).suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"the file ends in {ending[:20]!r}; expected one of {', '.join(ENDINGS)}")
    if len(content) > store.settings.max_upload:
        raise DataError(
            f"the file has {len(content):,} bytes; expected at most {store.settings.max_upload:,}"
        )
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
