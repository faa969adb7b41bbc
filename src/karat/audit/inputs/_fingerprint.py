"""A short text that tells the data of an audit from other data."""

import hashlib

import numpy as np

from karat._typing import AnyArray
from karat.audit.inputs._items import Items

__all__ = ["fingerprints"]


def fingerprints(items: Items) -> dict[str, str]:
    """Return a digest of each part of the data, by the name of the argument."""
    parts = {
        "classes": items.classes,
        "y_pred": items.called,
        "against": items.other,
        "groups": items.group,
        "ids": items.ids,
        items.source or "proba": None if items.guess is None else np.round(items.guess, 9),
    }
    return {name: _digest(values) for name, values in parts.items() if values is not None}


def _digest(values: AnyArray) -> str:
    if values.dtype.kind in "US":
        raw = "\x1f".join(values.tolist()).encode()
    else:
        raw = np.ascontiguousarray(
            values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        ).tobytes()
    return hashlib.sha256(repr(values.shape).encode() + raw).hexdigest()[:20]
