"""Read counts."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from karat._extras import require
from karat._typing import AnyArray
from karat.exceptions import DataError
from karat.sources.stored._layout import COLUMNS, FORMAT, VERSION
from karat.statistics import Confusion, PatternCounts, RocCounts, VoteCounts
from karat.statistics.kernels import distinct_votes

__all__ = ["is_counts", "read_counts"]


def is_counts(path: str | Path) -> bool:
    """Return whether a file holds counts and not rows, by its columns."""
    if Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return False
    pl = require("polars", purpose="reading a file")
    try:
        return list(pl.read_parquet_schema(path)) == list(COLUMNS)
    except Exception:  # whatever is wrong with the file is said where its rows are read
        return False


def read_counts(path: str | Path) -> dict[str, Any]:
    """Return the fields of a `Counts` from a file; refuse another version and a broken file."""
    pl = require("polars", purpose="reading counts")
    name = Path(path).name
    if not Path(path).is_file():
        raise DataError(f"there is no file {str(path)!r}")
    if not is_counts(path):
        raise DataError(f"{name} holds no counts; expected a file that karat count wrote")
    table = pl.read_parquet(path)
    try:
        header = json.loads(table.filter(pl.col("karat") == "header")["votes"][0])
    except (ValueError, IndexError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{name} has no header; it was not written whole") from error
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise DataError(
            f"{name} holds counts of version {header.get('version')!r}; this karat reads version "
            f"{VERSION}. Count again, or use the karat that wrote it"
        )

    def rows(kind: str, of: str | None = None) -> Any:
        some = table.filter(pl.col("karat") == kind)
        return some if of is None else some.filter(pl.col("of") == of)

    try:
        return _fields(header, rows)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise DataError(f"{name} was not written whole, or was changed: {error!r}") from error


def _fields(header: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Return the fields of a `Counts`; ``rows`` gives the rows of a kind, and of one column."""
    votes = header["votes"]
    return {
        "patterns": {k: _patterns(rows("patterns", k), h) for k, h in header["patterns"].items()},
        "votes": None if votes is None else _votes(rows("votes"), votes),
        "roc": {k: _roc(rows("roc", k), h) for k, h in header["roc"].items()},
        "confusions": {
            k: _confusion(rows("confusion", k), h) for k, h in header["confusions"].items()
        },
        "null_abstains": header["null_abstains"],
    }


def _counts(rows: Any, header: dict[str, Any]) -> AnyArray:
    counts: AnyArray = rows["count"].to_numpy()
    return counts.astype(np.int64) if header["whole"] else counts


def _codes(rows: Any, header: dict[str, Any]) -> AnyArray:
    """Return the votes of each row as codes."""
    width = len(header["names"])
    texts, inverse = np.unique(rows["votes"].to_numpy().astype(str), return_inverse=True)
    codes = np.array([text.split(" ") for text in texts.tolist()], dtype=np.int64)
    return codes.reshape(len(texts), width)[inverse]


def _names(header: dict[str, Any], key: str) -> AnyArray | None:
    return None if header[key] is None else np.array(header[key])


def _patterns(rows: Any, header: dict[str, Any]) -> PatternCounts:
    codes, classes = _codes(rows, header), np.array(header["classes"])
    place, first = distinct_votes(codes, len(classes))
    groups = _names(header, "groups")
    sizes = [len(first), len(classes)]
    index = [place, rows["code"].to_numpy()]
    if groups is not None:
        sizes, index = [len(groups), *sizes], [rows["group"].to_numpy(), *index]
    if header["folds"]:
        sizes, index = [header["folds"], *sizes], [rows["fold"].to_numpy(), *index]
    counts = _counts(rows, header)
    cells = np.zeros(sizes, dtype=counts.dtype)
    np.add.at(cells, tuple(index), counts)
    return PatternCounts(
        counts=cells.sum(axis=0) if header["folds"] else cells,
        patterns=codes[first],
        classes=classes,
        names=tuple(header["names"]),
        groups=groups,
        by_fold=cells if header["folds"] else None,
    )


def _votes(rows: Any, header: dict[str, Any]) -> VoteCounts:
    domains = _names(header, "domains")
    return VoteCounts(
        votes=_codes(rows, header),
        counts=_counts(rows, header),
        classes=np.array(header["classes"]),
        names=tuple(header["names"]),
        domain=None if domains is None else rows["group"].to_numpy(),
        domains=domains,
        label=rows["label"].to_numpy() if header["labelled"] else None,
        squares=rows["square"].to_numpy() if header["weighted"] else None,
    )


def _roc(rows: Any, header: dict[str, Any]) -> RocCounts:
    code, counts = rows["code"].to_numpy(), _counts(rows, header)
    return RocCounts(
        scores=rows["score"].to_numpy()[code == 1],
        positives=counts[code == 1],
        negatives=counts[code == 0],
        classes=np.array(header["classes"]),
        cells=header["cells"],
        squares=None if header["squares"] is None else np.array(header["squares"], dtype=float),
    )


def _confusion(rows: Any, header: dict[str, Any]) -> Confusion:
    groups, k = _names(header, "groups"), len(header["classes"])
    index = [rows["label"].to_numpy(), rows["code"].to_numpy()]
    sizes = [k, k]
    if groups is not None:
        sizes, index = [len(groups), k, k], [rows["group"].to_numpy(), *index]
    counts = _counts(rows, header)
    cells = np.zeros(sizes, dtype=counts.dtype)
    np.add.at(cells, tuple(index), counts)
    return Confusion(counts=cells, classes=np.array(header["classes"]), groups=groups)
