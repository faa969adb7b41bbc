"""Tables from files, and columns by name."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from karat._extras import require
from karat.exceptions import ColumnError, DataError
from karat.metrics import MetricBase, as_metric, load_metric

__all__ = ["as_label", "named_columns", "pick_column", "pick_columns", "read_metric", "read_table"]

_READERS = {
    ".csv": "read_csv",
    ".parquet": "read_parquet",
    ".arrow": "read_ipc",
    ".feather": "read_ipc",
    ".ipc": "read_ipc",
}


def read_table(path: Path) -> Any:
    """Read a CSV, Parquet or Arrow file into a Polars frame."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path.name} ends in {path.suffix!r}; expected one of {list(_READERS)}")
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r}")
    polars = require("polars", purpose="reading a file")
    try:
        frame = getattr(polars, reader)(path)
    except Exception as error:  # the readers raise many kinds of error for a broken file
        raise DataError(f"{path.name} cannot be read: {error}") from error
    if not len(frame):
        raise DataError(f"{path.name} has no rows")
    return frame


def pick_column(frame: Any, name: str, flag: str) -> Any:
    """Return a column, or say which ones there are."""
    if name not in frame.columns:
        close = get_close_matches(name, frame.columns, n=1)
        meant = f"did you mean {close[0]!r}?" if close else f"there are {frame.columns}"
        raise ColumnError(f"{flag} {name}: there is no such column; {meant}")
    return frame[name]


def pick_columns(frame: Any, names: Sequence[str], flag: str) -> Any:
    """Return several columns as a frame."""
    for name in names:
        pick_column(frame, name, flag)
    return frame.select(list(names))


def named_columns(frame: Any, given: Sequence[str], starts: Sequence[str]) -> list[str]:
    """Return the columns given, or guess those whose names start as such columns usually do."""
    if given:
        return list(given)
    return [c for c in frame.columns if c.lower().startswith(tuple(starts))]


def as_label(column: Any, text: str | None) -> Any:
    """Return the label of a column that a flag names, in the column's own type."""
    return next((label for label in column.unique() if str(label) == text), text)


def read_metric(metric: str) -> MetricBase:
    """Return a metric from its name, or from a file that ``metric.to_json()`` wrote."""
    return load_metric(Path(metric)) if metric.endswith(".json") else as_metric(metric)
