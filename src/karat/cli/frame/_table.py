"""Tables from files, and columns by the flags that name them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from karat._extras import require
from karat._validate import refuse_option
from karat.exceptions import ColumnError, DataError, EmptyDataError

__all__ = ["InputTable", "read_table", "table_writer"]

_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".parquet": "read_parquet",
    ".arrow": "read_ipc",
    ".feather": "read_ipc",
    ".ipc": "read_ipc",
    ".jsonl": "read_ndjson",
    ".ndjson": "read_ndjson",
}
# Types are told from all rows. From the first hundred alone, a column of labels that begin further
# down would be text, and a column of 0 and 1 with 0.5 further down could not be read.
_ALL_ROWS: dict[str, Any] = {"infer_schema_length": None}
_OPTIONS: dict[str, dict[str, Any]] = {
    ".csv": _ALL_ROWS,
    ".tsv": _ALL_ROWS | {"separator": "\t"},
    ".jsonl": _ALL_ROWS,
    ".ndjson": _ALL_ROWS,
}
_WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc"}


@dataclass(frozen=True, slots=True)
class InputTable:
    """The rows of a file; columns are picked by the flag that named them."""

    path: Path
    frame: Any

    def column(self, flag: str, name: str) -> Any:
        """Return a column, or say which ones there are."""
        names = self.frame.columns
        if name not in names:
            close = get_close_matches(name, names, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"there are {names}"
            raise ColumnError(f"{flag} {name}: there is no such column; {meant}")
        return self.frame[name]

    def optional(self, flag: str, name: str | None) -> Any:
        """Return a column, or None where the flag was not passed."""
        return None if name is None else self.column(flag, name)

    def columns(self, flag: str, names: Sequence[str]) -> Any:
        """Return several columns as a frame."""
        for name in names:
            self.column(flag, name)
        return self.frame.select(list(names))

    def names(self, flag: str, given: Sequence[str] | None, starts: Sequence[str]) -> list[str]:
        """Return the columns that a flag names, or those whose names start as such names do."""
        found = list(given or ()) or [
            name for name in self.frame.columns if name.lower().startswith(tuple(starts))
        ]
        if not found:
            raise ColumnError(f"{flag}: name at least one column; there are {self.frame.columns}")
        return found


def read_table(path: Path) -> InputTable:
    """Read a file into a Polars frame, by the ending of its name."""
    ending = path.suffix.lower()
    if ending not in _READERS:
        raise DataError(f"{path.name} ends in {path.suffix!r}; expected one of {list(_READERS)}")
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r}")
    polars = require("polars", purpose="reading a file")
    try:
        frame = getattr(polars, _READERS[ending])(path, **_OPTIONS.get(ending, {}))
    except Exception as error:  # the readers raise many kinds of error for a broken file
        raise DataError(f"{path.name} cannot be read: {_first_line(error)}") from error
    if not len(frame):
        raise EmptyDataError(f"{path.name} has no rows")
    return InputTable(path, frame)


def _first_line(error: Exception) -> str:
    """Return the first line of an error: the rest is advice on the reader's own options."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def table_writer(flag: str, path: Path) -> Callable[[Any, Path], None]:
    """Return the function that writes a frame as ``path``'s ending says, to whatever path."""
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        refuse_option(str(path), flag, f"a name that ends in {' or '.join(_WRITERS)}")
    return lambda frame, target: getattr(frame, writer)(target)
