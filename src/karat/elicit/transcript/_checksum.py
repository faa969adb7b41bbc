"""A number that changes with anything in a transcript."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["checksum_of"]


def checksum_of(fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything but the checksum itself, as canonical JSON.

    Keys are sorted and no space is left, so that a file which another program has indented or
    reordered is still the same.
    """
    rest = {name: value for name, value in fields.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
