"""The rows of a file in memory: all of them, or a random sample, if they fit."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._validate import check_count
from karat.exceptions import DataError, KaratWarning
from karat.sources.engines import collect
from karat.sources.opening._delimited import HEAD, dialect_of
from karat.sources.opening._files import ENDINGS

__all__ = ["is_plain", "read_rows"]

_ROW = "__karat_row"
_NARROW, _WIDE = 8, 32  # bytes that a number and a text take in memory


def is_plain(path: Path) -> bool:
    """Return whether a path is one file that Polars reads by itself, as its ending says."""
    ending = path.suffix.lower()
    if not path.is_file() or ending not in ENDINGS:
        return False
    if ending not in (".csv", ".tsv"):
        return True
    with path.open("rb") as opened:
        dialect = dialect_of(opened.read(HEAD), ENDINGS[ending])
    tabs = ending == ".tsv" and dialect.separator == "\t" and not dialect.above
    return dialect.usual or (tabs and dialect.decimal_comma is False)


def read_rows(lazy: Any, name: str, rows: int | None) -> Any:
    """Return all rows, or a random sample of ``rows``; refuse what does not fit into memory."""
    total = _length(lazy)
    if rows is not None and check_count(rows, "--rows") < total:
        chosen = np.sort(np.random.default_rng(0).choice(total, rows, replace=False))
        warnings.warn(
            f"{name}: a random sample of {rows:,} of {total:,} rows was read (seed 0)",
            KaratWarning,
            stacklevel=caller_level(),
        )
        return _sample(lazy, chosen)
    _check_memory(lazy, total, name)
    return collect(lazy)


def _length(lazy: Any) -> int:
    import narwhals as nw

    return int(collect(lazy.select(nw.len().alias("n")))["n"][0])


def _sample(lazy: Any, chosen: Any) -> Any:
    import polars as pl

    kept = pl.LazyFrame({_ROW: chosen.astype(np.uint32)})
    numbered = lazy.to_native().with_row_index(_ROW)
    return numbered.join(kept, on=_ROW, how="semi").sort(_ROW).drop(_ROW).collect()


def _check_memory(lazy: Any, total: int, name: str) -> None:
    """Say before the work that rows will not fit, where the free memory is known."""
    widths = [_NARROW if kind.is_numeric() else _WIDE for kind in lazy.collect_schema().values()]
    needed, free = total * sum(widths), _free_memory()
    if free is not None and needed > free:
        raise DataError(
            f"{name} has {total:,} rows of {len(widths)} columns, about {needed / 2**30:.1f} GiB "
            f"in memory, and {free / 2**30:.1f} GiB are free; take a sample with --rows, or count "
            "where the rows are, with karat count"
        )


def _free_memory() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system says it
        return None
