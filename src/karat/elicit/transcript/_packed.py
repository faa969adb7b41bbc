"""A header in JSON and arrays of numbers as bytes, with a checksum before them."""

import hashlib
import json
from typing import Any

import numpy as np

from karat._typing import AnyArray
from karat._validate import shown
from karat.exceptions import TranscriptError

__all__ = ["pack", "unpack"]

_MAGIC = b"KARAT-ELICIT"
_VERSION = 2
_DIGEST = 32
_NUMBERS = ("<f4", "<f8", ">f4", ">f8")  # what arrays may hold: no objects, which would be code


def pack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> bytes:
    """Return a header and arrays as bytes with a checksum."""
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    text = json.dumps(header | {"arrays": layout}, ensure_ascii=False).encode()
    parts = [len(text).to_bytes(4, "little"), text]
    parts += [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
    body = b"".join(parts)
    return _MAGIC + _VERSION.to_bytes(2, "little") + hashlib.sha256(body).digest() + body


def unpack(snapshot: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a snapshot; refuse bytes that are none."""
    body = _checked_body(snapshot)
    end = 4 + int.from_bytes(body[:4], "little")
    try:
        header = json.loads(body[4:end])
        layout = header.pop("arrays")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise TranscriptError(
            "the header of the snapshot cannot be read, though its checksum fits; pass what "
            "procedure.snapshot() gave, or resume from the transcript"
        ) from error
    arrays = {}
    for entry in layout if isinstance(layout, list) else [layout]:
        name, kind, shape = _checked_layout(entry)
        dtype, count = np.dtype(kind), int(np.prod(shape, dtype=object))
        if end + count * dtype.itemsize > len(body):
            raise TranscriptError(
                f"the snapshot ends within its array {shown(name)}, though its checksum fits; "
                "resume from the transcript"
            )
        arrays[name] = np.frombuffer(body, dtype, count, end).reshape(shape)
        end += count * dtype.itemsize
    return header, arrays


def _checked_body(snapshot: Any) -> bytes:
    """Return what is behind the checksum, if that fits."""
    start = len(_MAGIC) + 2
    if not isinstance(snapshot, bytes | bytearray | memoryview):
        raise TranscriptError(
            f"the snapshot is {type(snapshot).__name__}; expected the bytes that "
            "procedure.snapshot() gave"
        )
    data = bytes(snapshot)
    if data[: len(_MAGIC)] != _MAGIC:
        raise TranscriptError(
            "these bytes are no snapshot of an elicitation; pass what procedure.snapshot() gave"
        )
    version = int.from_bytes(data[len(_MAGIC) : start], "little")
    if version != _VERSION:
        raise TranscriptError(
            f"the snapshot has version {version} and this karat reads version {_VERSION}; resume "
            "from the transcript of the same answers"
        )
    body = data[start + _DIGEST :]
    if hashlib.sha256(body).digest() != data[start : start + _DIGEST]:
        raise TranscriptError(
            "the snapshot is damaged: its checksum does not fit. Resume from an earlier snapshot "
            "or from the transcript"
        )
    return body


def _checked_layout(entry: Any) -> tuple[str, str, list[int]]:
    """Return the name, the kind of number and the shape of an array, if they can be those."""
    if isinstance(entry, list) and len(entry) == 3:
        name, kind, shape = entry
        lengths = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if isinstance(name, str) and kind in _NUMBERS and lengths and len(shape) <= 8:
            return name, kind, shape
    raise TranscriptError(
        f"the snapshot describes an array by {shown(entry)}; expected its name, its kind of number "
        "and its shape as procedure.snapshot() writes them"
    )
