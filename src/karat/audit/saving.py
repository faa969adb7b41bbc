"""An audit on disk: what was asked for and answered, the data's fingerprint and a checksum.

`write_audit` replaces a file only by one that is complete; `read_audit` refuses a file that was
changed, and one that belongs to other data, with the parts that differ named.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from karat._files import first_words, replaced, version_error
from karat.exceptions import AuditError

_KIND, _VERSION = "karat audit", 1


def _checksum(body: Any) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def write_audit(path: str | os.PathLike[str], body: dict[str, Any]) -> None:
    """Write an audit; the old file stays until the new one is complete."""
    whole = {"kind": _KIND, "version": _VERSION, "checksum": _checksum(body), "audit": body}
    text = json.dumps(whole, ensure_ascii=False)
    with replaced(path) as new, new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  # a machine that stops now keeps the labels


def read_audit(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read an audit back, or say what is wrong with the file."""
    name = os.fspath(path)
    try:
        whole = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise AuditError(f"there is no file {str(name)!r}; save(path) writes one") from error
    except (OSError, ValueError, RecursionError) as error:
        raise AuditError(f"{str(name)!r} is not a saved audit: {first_words(error)}") from error
    if not isinstance(whole, dict) or whole.get("kind") != _KIND:
        raise AuditError(f"{str(name)!r} is not a saved audit; expected a file that save() wrote")
    if whole.get("version") != _VERSION:
        again = "go on with the karat that wrote it, or start a new audit"
        raise version_error(
            AuditError, repr(str(name)), whole.get("version"), _VERSION, again=again
        )
    body = whole.get("audit")
    if not isinstance(body, dict) or _checksum(body) != whole.get("checksum"):
        raise AuditError(
            f"{str(name)!r} was changed after it was saved: its checksum does not match. Use a "
            "copy that nothing has edited"
        )
    return body


def check_data(name: Any, saved: dict[str, str], found: dict[str, str]) -> None:
    """Refuse a saved audit of other data."""
    off = sorted({part for part in {*saved, *found} if saved.get(part) != found.get(part)})
    if not off:
        return
    missing = [part for part in off if part not in found]
    hint = f"pass {missing[0]}= as it was then" if missing else "pass the data as they were then"
    raise AuditError(
        f"{os.fspath(name)!r} is an audit of other data: {', '.join(off)} "
        f"{'differs' if len(off) == 1 else 'differ'}; {hint}, or start a new audit"
    )
