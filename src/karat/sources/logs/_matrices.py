"""Weak labels of Snorkel and WRENCH: wide tables in which -1 abstained."""

from pathlib import Path
from typing import Any

import numpy as np

from karat._extras import require
from karat.exceptions import DataError, EmptyDataError
from karat.sources.logs._facts import Log, LogFacts, needed

__all__ = ["is_wrench", "read_snorkel", "read_wrench"]


def read_snorkel(path: Path) -> Log:
    """Return the label matrix that ``numpy.save`` wrote, a column per labeling function."""
    pl = require("polars", purpose="reading a matrix")
    try:
        matrix = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path.name} is no matrix that numpy.save wrote: {error}") from error
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind not in "iu":
        shape = getattr(matrix, "shape", type(matrix).__name__)
        raise DataError(f"{path.name} holds {shape}; expected a matrix (n, m) of whole numbers")
    if not matrix.size:
        raise EmptyDataError(f"{path.name} has no rows")
    frame = pl.DataFrame({f"lf_{j}": matrix[:, j].astype(np.int64) for j in range(matrix.shape[1])})
    return _wide(frame, "snorkel", matrix.shape[1])


def is_wrench(document: Any) -> bool:
    """Return whether a document maps identifiers to weak labels."""
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and "weak_labels" in first


def read_wrench(document: Any, path: Path) -> Log:
    """Return a row per item: ``id``, ``label`` (null where it is -1 or absent) and the votes."""
    pl = require("polars", purpose="reading weak labels")
    votes = [
        needed(entry, "weak_labels", f"{path.name}, item {k}") for k, entry in document.items()
    ]
    odd = [row for row in votes if not _is_row(row)]
    if odd:
        raise DataError(
            f"{path.name} has the weak labels {str(odd[0])[:60]}; expected a list of whole numbers"
        )
    wide = {len(row) for row in votes}
    if wide == {0}:
        raise EmptyDataError(f"{path.name} has no weak labels")
    if len(wide) != 1:
        raise DataError(f"{path.name} has items with {min(wide)} and with {max(wide)} weak labels")
    labels = [entry.get("label") for entry in document.values()]
    kinds = {type(label) for label in labels if label is not None}
    if len(kinds) > 1 or kinds - {int, str}:
        raise DataError(
            f"{path.name} has labels of {len(kinds)} kinds, such as "
            f"{next(label for label in labels if label is not None)!r}; expected whole numbers, or "
            "text throughout"
        )
    columns: dict[str, Any] = {"id": list(document)}
    if any(label not in (None, -1) for label in labels):
        columns["label"] = [None if label == -1 else label for label in labels]
    columns |= {f"lf_{j}": [row[j] for row in votes] for j in range(len(votes[0]))}
    return _wide(pl.DataFrame(columns, infer_schema_length=None), "wrench", len(votes[0]))


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and all(type(vote) is int for vote in row)


def _wide(frame: Any, kind: str, labelers: int) -> Log:
    names = tuple(f"lf_{j}" for j in range(labelers))
    return Log(frame, LogFacts(kind=kind, judges=names, items=len(frame), roles={}))
