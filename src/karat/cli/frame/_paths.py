"""Files to write: checked before the work, and replaced only by files that are complete."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat._files import replaced
from karat._validate import refuse_option

__all__ = ["check_paths", "replaced"]


def check_paths(writes: Mapping[str, Path | None], reads: Sequence[Path] = ()) -> None:
    """Refuse paths that cannot be written, or that would overwrite an input or one another.

    ``writes`` are the paths by the flags that named them.
    """
    taken: dict[Path, str] = {}
    for flag, path in writes.items():
        if path is None:
            continue
        target = path.resolve()
        _check_target(flag, path, target)
        if any(_same_file(target, read) for read in reads):
            refuse_option(str(path), flag, "another file than the input")
        if target in taken:
            refuse_option(str(path), flag, f"another file than {taken[target]}")
        taken[target] = flag


def _check_target(flag: str, path: Path, target: Path) -> None:
    if target.is_dir():
        refuse_option(str(path), flag, "a file, and this is a folder")
    if target.exists() and not target.is_file():
        refuse_option(str(path), flag, "a regular file")
    if not target.parent.is_dir():
        refuse_option(str(path), flag, "a file in a folder that exists")
    if target.exists() and not os.access(target, os.W_OK):
        refuse_option(str(path), flag, "a file that may be written")
    try:
        # Only an attempt tells: a folder may be on a disk that is read-only or full.
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        reason = f"a file in a folder that can be written ({error.strerror})"
        refuse_option(str(path), flag, reason)


def _same_file(target: Path, read: Path) -> bool:
    """Return whether both are one file, be it by a symbolic link or by a hard link."""
    return target.exists() and read.exists() and target.samefile(read)
