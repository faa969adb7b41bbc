"""Counts in a Parquet file: written whole or not at all, read back with a check of the version.

A file is one long table: every row is a cell of one of the counts, and the first row holds, as
JSON, the version of the format and what the codes of the cells stand for. `is_counts` looks at the
columns alone.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from karat._extras import require
from karat._files import replaced, version_error
from karat._result import plain
from karat._sentences import Argument, Expected, Remedy
from karat._typing import AnyArray
from karat.exceptions import DataError
from karat.statistics import Confusion, PatternCounts, RocCounts, VoteCounts
from karat.statistics.patterns import distinct_votes


def is_counts(path: str | Path) -> bool:
    """Return whether a file holds counts and not rows, by its columns."""
    if Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return False
    pl = require("polars", purpose="reading a file")
    if _is_cut(Path(path)):
        raise DataError(
            Argument.of(Path(path).name),
            " was cut short: it begins as a Parquet file and does not end as one",
            Remedy("copy or write it again"),
        )
    try:
        return list(pl.read_parquet_schema(path)) == list(COLUMNS)
    except Exception:  # whatever is wrong with the file is said where its rows are read
        return False


def _is_cut(path: Path) -> bool:
    """Return whether a file begins with the sign of Parquet and does not end with it."""
    with path.open("rb") as opened:
        if opened.read(4) != b"PAR1":
            return False
        opened.seek(max(path.stat().st_size - 4, 0))
        return opened.read(4) != b"PAR1" or path.stat().st_size < 12


def read_counts(path: str | Path) -> dict[str, Any]:
    """Return the fields of a `Counts` from a file; refuse another version and a broken file."""
    pl = require("polars", purpose="reading counts")
    name = Path(path).name
    if not Path(path).is_file():
        raise DataError(f"there is no file {str(path)!r}")
    if not is_counts(path):
        raise DataError(
            Argument.of(name),
            " holds no counts; expected ",
            Expected("a file that karat count wrote"),
        )
    table = pl.read_parquet(path)
    heads = table.filter(pl.col("karat") == "header")
    if len(heads) > 1:
        raise DataError(
            Argument.of(name),
            f" holds {len(heads)} files of counts, one after the other; expected ",
            Expected("one"),
            Remedy("load each by itself, and add the counts of parts that belong together"),
        )
    try:
        header = json.loads(heads["votes"][0])
    except (ValueError, IndexError, pl.exceptions.PolarsError) as error:
        raise DataError(
            Argument.of(name),
            " has no header; it was not written whole",
        ) from error
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        again = "count the rows again with karat count"
        raise version_error(DataError, name, header.get("version"), VERSION, again=again)

    def rows(kind: str, of: str | None = None) -> Any:
        some = table.filter(pl.col("karat") == kind)
        return some if of is None else some.filter(pl.col("of") == of)

    try:
        _check_rows(header, table, name)
        return _fields(header, rows)
    except DataError:
        raise
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise DataError(
            Argument.of(name),
            f" was not written whole, or was changed: {error!r}",
        ) from error


def _check_rows(header: dict[str, Any], table: Any, name: str) -> None:
    """Refuse a file that has other rows than were written."""
    keys = ["karat", "of"]
    seen = {
        (kind, of): rows
        for kind, of, rows in table.group_by(keys).len().iter_rows()
        if kind != "header"
    }
    written = {(kind, of): rows for kind, of, rows in header["rows"]}
    for key in {**written, **seen}:
        if seen.get(key, 0) != written.get(key, 0):
            kind, of = key
            what = ("scores" if kind == "roc" else kind) + (f" of {of}" if of else "")
            raise DataError(
                Argument.of(name),
                f" holds {seen.get(key, 0):,} rows of its {what}, and {written.get(key, 0):,} were "
                "written: it was cut short or changed",
                Remedy("count the rows again with karat count"),
            )


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


# --- Write counts.


def write_counts(counts: Any, path: str | Path) -> None:
    """Write a `Counts` to a Parquet file, which is replaced only when it is complete."""
    pl = require("polars", purpose="writing counts")
    target = Path(path)
    if target.suffix.lower() != ".parquet":
        raise DataError(f"{target.name} ends in {target.suffix!r}; counts are written as .parquet")
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "null_abstains": counts.null_abstains,
    }
    header |= {"patterns": {}, "votes": None, "roc": {}, "confusions": {}}
    tables = []
    for name, one in counts.patterns.items():
        if one.squares is not None:
            raise DataError(
                f"the patterns of {name} are sums of weights, from which limits cannot be "
                "computed; count them without weights"
            )
        header["patterns"][name] = _meaning(one, "classes", "names", "groups") | {
            "folds": 0 if one.by_fold is None else len(one.by_fold),
            "whole": _is_whole(one.counts),
        }
        tables.append(_write_patterns(name, one))
    if counts.votes is not None:
        header["votes"] = _meaning(counts.votes, "classes", "names", "domains") | {
            "whole": _is_whole(counts.votes.counts),
            "labelled": counts.votes.label is not None,
            "weighted": counts.votes.squares is not None,
        }
        tables.append(_write_votes(counts.votes))
    for name, one in counts.roc.items():
        header["roc"][name] = _meaning(one, "classes") | {
            "cells": one.cells,
            "whole": _is_whole(one.positives),
            "squares": plain(one.squares),
        }
        tables.append(_write_roc(name, one))
    for name, one in counts.confusions.items():
        header["confusions"][name] = _meaning(one, "classes", "groups") | {
            "whole": _is_whole(one.counts)
        }
        tables.append(_write_confusion(name, one))
    header["rows"] = [
        [table["karat"][0], table["of"][0] if "of" in table else None, len(table["karat"])]
        for table in tables
        if len(table["karat"])
    ]
    kinds = {name: getattr(pl, kind) for name, kind in COLUMNS.items()}
    top = pl.DataFrame({"karat": ["header"], "votes": [json.dumps(header)]})
    frames = [top, *(pl.DataFrame(table) for table in tables)]
    whole = pl.concat([_filled(pl, frame, kinds) for frame in frames])
    with replaced(target) as part:
        try:
            whole.write_parquet(part, compression="zstd")
        except pl.exceptions.PolarsError as error:  # a full disk is one of its own
            raise DataError(f"{str(target)!r} cannot be written: {error}") from error


def _filled(pl: Any, frame: Any, kinds: dict[str, Any]) -> Any:
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in kinds.items()
    )


def _is_whole(counts: AnyArray) -> bool:
    return bool(np.issubdtype(counts.dtype, np.integer))


def _meaning(one: Any, *fields: str) -> dict[str, Any]:
    return {name: plain(getattr(one, name)) for name in fields}


def _as_text(codes: AnyArray) -> list[str]:
    return [" ".join(map(str, row)) for row in codes.tolist()]


def _write_patterns(name: str, one: Any) -> dict[str, Any]:
    cells = one.counts if one.by_fold is None else one.by_fold
    axes = (
        *(["fold"] if one.by_fold is not None else []),
        *(["group"] if one.groups is not None else []),
    )
    *lead, pattern, code = np.nonzero(cells)
    text = np.array(_as_text(one.patterns), dtype=object)
    return {
        "karat": ["patterns"] * len(code),
        "of": [name] * len(code),
        **dict(zip(axes, lead, strict=True)),
        "votes": text[pattern].tolist(),
        "code": code,
        "count": cells[(*lead, pattern, code)].astype(np.float64),
    }


def _write_votes(one: Any) -> dict[str, Any]:
    table = {
        "karat": ["votes"] * len(one.votes),
        "votes": _as_text(one.votes),
        "count": one.counts.astype(np.float64),
    }
    if one.squares is not None:
        table["square"] = one.squares
    if one.domain is not None:
        table["group"] = one.domain
    if one.label is not None:
        table["label"] = one.label
    return table


def _write_roc(name: str, one: Any) -> dict[str, Any]:
    n = len(one.scores)
    if one.is_beyond_floats:
        raise DataError(
            f"the scores of {name!r} are whole numbers beyond 2^53, which a file of counts "
            "cannot hold; count them in cells"
        )
    return {
        "karat": ["roc"] * 2 * n,
        "of": [name] * 2 * n,
        "code": np.repeat([0, 1], n),
        "score": np.tile(one.scores, 2).astype(np.float64),
        "count": np.concatenate([one.negatives, one.positives]).astype(np.float64),
    }


def _write_confusion(name: str, one: Any) -> dict[str, Any]:
    *lead, label, code = np.nonzero(one.counts)
    return {
        "karat": ["confusion"] * len(code),
        "of": [name] * len(code),
        **({"group": lead[0]} if lead else {}),
        "label": label,
        "code": code,
        "count": one.counts[(*lead, label, code)].astype(np.float64),
    }


FORMAT = "karat counts"
VERSION = 2
# kind: header, patterns, votes, roc or confusion; of: the column that was counted; votes: codes of
# the voters, with spaces between; group, fold, label and code: positions and codes; square: the sum
# of squared weights, where items have importances.
COLUMNS = {
    "karat": "String",
    "of": "String",
    "group": "Int64",
    "fold": "Int64",
    "votes": "String",
    "label": "Int64",
    "code": "Int64",
    "score": "Float64",
    "count": "Float64",
    "square": "Float64",
}
