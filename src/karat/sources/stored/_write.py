"""Write counts."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from karat._extras import require
from karat._files import replaced
from karat._frozen import plain
from karat._typing import AnyArray
from karat.exceptions import DataError
from karat.sources.stored._layout import COLUMNS, FORMAT, VERSION

__all__ = ["write_counts"]


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
            "folds": 0 if one.by_fold is None else len(one.by_fold), "whole": _is_whole(one.counts),
        }  # fmt: skip
        tables.append(_patterns(name, one))
    if counts.votes is not None:
        header["votes"] = _meaning(counts.votes, "classes", "names", "domains") | {
            "whole": _is_whole(counts.votes.counts), "labelled": counts.votes.label is not None,
            "weighted": counts.votes.squares is not None,
        }  # fmt: skip
        tables.append(_votes(counts.votes))
    for name, one in counts.roc.items():
        header["roc"][name] = _meaning(one, "classes") | {
            "cells": one.cells, "whole": _is_whole(one.positives),
            "squares": plain(one.squares),
        }  # fmt: skip
        tables.append(_roc(name, one))
    for name, one in counts.confusions.items():
        header["confusions"][name] = _meaning(one, "classes", "groups") | {
            "whole": _is_whole(one.counts)
        }
        tables.append(_confusion(name, one))
    kinds = {name: getattr(pl, kind) for name, kind in COLUMNS.items()}
    top = pl.DataFrame({"karat": ["header"], "votes": [json.dumps(header)]})
    frames = [top, *(pl.DataFrame(table) for table in tables)]
    whole = pl.concat([_filled(pl, frame, kinds) for frame in frames])
    with replaced(target) as part:
        whole.write_parquet(part, compression="zstd")


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


def _patterns(name: str, one: Any) -> dict[str, Any]:
    cells = one.counts if one.by_fold is None else one.by_fold
    axes = (
        *(["fold"] if one.by_fold is not None else []),
        *(["group"] if one.groups is not None else []),
    )
    *lead, pattern, code = np.nonzero(cells)
    text = np.array(_as_text(one.patterns), dtype=object)
    return {
        "karat": ["patterns"] * len(code), "of": [name] * len(code),
        **dict(zip(axes, lead, strict=True)), "votes": text[pattern].tolist(), "code": code,
        "count": cells[(*lead, pattern, code)].astype(np.float64),
    }  # fmt: skip


def _votes(one: Any) -> dict[str, Any]:
    table = {
        "karat": ["votes"] * len(one.votes), "votes": _as_text(one.votes),
        "count": one.counts.astype(np.float64),
    }  # fmt: skip
    if one.squares is not None:
        table["square"] = one.squares
    if one.domain is not None:
        table["group"] = one.domain
    if one.label is not None:
        table["label"] = one.label
    return table


def _roc(name: str, one: Any) -> dict[str, Any]:
    n = len(one.scores)
    return {
        "karat": ["roc"] * 2 * n, "of": [name] * 2 * n, "code": np.repeat([0, 1], n),
        "score": np.tile(one.scores, 2).astype(np.float64),
        "count": np.concatenate([one.negatives, one.positives]).astype(np.float64),
    }  # fmt: skip


def _confusion(name: str, one: Any) -> dict[str, Any]:
    *lead, label, code = np.nonzero(one.counts)
    return {
        "karat": ["confusion"] * len(code), "of": [name] * len(code),
        **({"group": lead[0]} if lead else {}), "label": label, "code": code,
        "count": one.counts[(*lead, label, code)].astype(np.float64),
    }  # fmt: skip
