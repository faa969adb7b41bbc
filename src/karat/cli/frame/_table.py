"""Tables from files, and columns by the flags that name them."""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from karat._code import Coded, call_code
from karat._extras import require
from karat.cli.frame._labels import check_cells
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    KaratWarning,
    OptionError,
)
from karat.sources import scan
from karat.sources.opening import first_line, is_plain, read_rows, read_texts, text_options
from karat.sources.stored import is_counts

__all__ = ["InputTable", "check_once", "read_table", "scan_table"]

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
_SOME = 1000  # distinct labels to look at where a file is not read in; a ROC curve needs two


@dataclass(frozen=True, slots=True)
class InputTable:
    """The rows of a file; columns are picked by the flag that named them."""

    path: Path
    frame: Any
    log: bool = False
    every: Sequence[str] = ()  # all columns of the file, where some were read
    scanned: bool = False  # read by karat.scan and by no reader of Polars alone
    filtered: str = ""  # what was done to the rows after reading, as code

    def column(self, flag: str, name: str) -> Any:
        """Return a column, or say which ones there are."""
        if name not in self.frame.columns:
            names = self.every or self.frame.columns
            same = [other for other in names if other.casefold() == name.casefold()]
            close = same or get_close_matches(name, names, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"there are {names}"
            raise ColumnError(f"{flag} {name}: there is no such column; {meant}")
        check_cells(flag, name, self.frame[name])
        return self.frame[name]

    def check_filled(self, flag: str, names: Sequence[str], label: str | None = None) -> None:
        """Refuse an empty cell of some columns, of the rows with a label if that is named."""
        for name in names:
            empty = self.frame[name].is_null()
            if label is not None:
                empty &= self.frame[label].is_not_null()
            if empty.any():
                raise DataError(
                    f"{flag} {name}: data row {empty.arg_max() + 1} is empty ({empty.sum():,} such "
                    "rows in all); fill them in, or take them out of the file"
                )

    def labelled(self, name: str) -> "InputTable":
        """Return the rows that have a label in the column of ``--label``, and say how many."""
        known = self.column("--label", name).is_not_null()
        missing = int((~known).sum())
        if not missing:
            return self
        if missing == len(known):
            raise EmptyDataError(f"--label {name}: no row has a label")
        warnings.warn(
            f"{missing:,} of {len(known):,} rows have no label in {name}, and are left out",
            KaratWarning,
            stacklevel=3,
        )
        code = f".filter(pl.col({name!r}).is_not_null())"
        return replace(self, frame=self.frame.filter(known), filtered=self.filtered + code)

    def optional(self, flag: str, name: str | None) -> Any:
        """Return a column, or None where the flag was not passed."""
        return None if name is None else self.column(flag, name)

    def coded(self, flag: str, name: str | None) -> Coded | None:
        """Return a column with the code that picks it, or None where the flag was not passed."""
        return None if name is None else Coded(self.column(flag, name), f"frame[{name!r}]")

    def text_ids(self, name: str) -> Any | None:
        """Return the ids of a CSV or TSV as they stand there where they would not survive.

        Of 0007 the number 7 is left, of 1.10 the number 1.1, and nobody finds them again.
        """
        numbers = self.column("--id", name)
        if not numbers.dtype.is_numeric() or text_options(self.path) is None:
            return None
        texts = read_texts(self.path, [name])[name]
        if len(texts) != len(numbers):  # a sample of the rows
            return None
        return texts if (texts != numbers.cast(texts.dtype)).any() else None

    def _with_zeros(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the columns of whole numbers that have leading zeros in the file, as text."""
        whole = [name for name in names if self.frame[name].dtype.is_integer()]
        if not whole or text_options(self.path) is None:
            return {}
        texts = read_texts(self.path, whole)
        if len(texts) != len(self.frame):  # a sample of the rows
            return {}
        zeros = {name: texts[name].str.contains(r"^[+-]?0\d").fill_null(False) for name in whole}
        return {name: texts[name] for name in whole if zeros[name].any()}

    @property
    def as_written(self) -> Any:
        """The rows to write to another file: 0007 stays what it is."""
        return self.frame.with_columns(self._with_zeros(self.frame.columns).values())

    def text_ids_code(self, name: str) -> str:
        """Return the expression that reads a column as it stands in the file."""
        options = {"columns": [name]} | (text_options(self.path) or {})
        usual = {"separator": ","}.items()
        said = ", ".join(f"{key}={v!r}" for key, v in options.items() if (key, v) not in usual)
        return f"pl.read_csv({str(self.path)!r}, {said})"

    def with_codes(self, *names: str | None) -> "InputTable":
        """Return the table with groups as text where some have leading zeros: 01 and 1 are two."""
        there = [name for name in names if name is not None and name in self.frame.columns]
        found = self
        for name, texts in self._with_zeros(there).items():
            found = found._with_texts(name, texts)
        return found

    def with_text_ids(self, *names: str) -> "InputTable":
        """Return the table with the ids of some columns, where they are there, as they stand."""
        found = self
        for name in names:
            texts = found.text_ids(name) if name in found.frame.columns else None
            if texts is not None:
                found = found._with_texts(name, texts)
        return found

    def _with_texts(self, name: str, texts: Any) -> "InputTable":
        """Return the table with a column as it stands in the file."""
        code = f".with_columns({self.text_ids_code(name)})"
        return replace(self, frame=self.frame.with_columns(texts), filtered=self.filtered + code)

    @property
    def code(self) -> str:
        """The line that reads the file."""
        if self.log or self.scanned:
            what = "votes()" if self.log else "columns"
            return f"frame = karat.scan({str(self.path)!r}).{what}{self.filtered}"
        ending = self.path.suffix.lower()
        options = _OPTIONS.get(ending, {})
        path = Coded(self.path, repr(str(self.path)))
        every = {name: Coded(value, repr(value)) for name, value in options.items()}
        return "frame = " + call_code(f"pl.{_READERS[ending]}", path, **every) + self.filtered

    def labels(self, name: str) -> Any:
        """Return some distinct labels of a file that was not read in, in the type of the column."""
        polars = require("polars", purpose="scanning a file")
        some = polars.scan_parquet(self.path).select(name).unique().head(_SOME)
        return some.collect(engine="streaming")[name]

    def columns(self, flag: str, names: Sequence[str]) -> Any:
        """Return several columns as a frame."""
        check_once(flag, names)
        for name in names:
            self.column(flag, name)
        return self.frame.select(list(names))

    def names(
        self,
        flag: str,
        given: Sequence[str] | None,
        starts: Sequence[str],
        *,
        taken: Collection[str | None] = (),
    ) -> list[str]:
        """Return the columns that a flag chooses, or those whose names start as such names do."""
        found = self.matching(flag, given or (), taken=taken) or [
            name for name in self.frame.columns if name.lower().startswith(tuple(starts))
        ]
        if not found:
            names = self.every or self.frame.columns
            raise ColumnError(f"{flag}: name at least one column; there are {names}")
        return found

    def matching(
        self, flag: str, given: Sequence[str], *, taken: Collection[str | None] = ()
    ) -> list[str]:
        """Return the columns that names and patterns choose, each once, in the order of the flags.

        A column that is called like a pattern, or like a list such as ``a,b``, is meant by its
        name. No pattern chooses a column that is ``taken`` by another flag: '*' would read the
        true labels as votes.
        """
        names: list[str] = self.frame.columns
        each = _parts(given, names)
        check_once(flag, each)
        found: list[str] = []
        for pattern in each:
            if pattern in names or not any(mark in pattern for mark in "*?["):
                self.column(flag, pattern)
                hits = [pattern]
            else:
                own = [name for name in names if name not in taken]
                hits = [name for name in own if fnmatchcase(name, pattern)]
            if not hits:
                raise ColumnError(f"{flag} {pattern}: no column matches; there are {names}")
            found += [name for name in hits if name not in found]
        return found


def _parts(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return names and patterns, lists such as ``a,b`` split."""
    return [part for one in given for part in ([one] if one in names else one.split(","))]


def check_once(flag: str, names: Sequence[str]) -> None:
    """Refuse a flag that names a column twice."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise OptionError(f"{flag} is {name!r} twice; expected every column once")


def read_table(
    path: Path,
    rows: int | None = None,
    wanted: Sequence[str | None] = (),
    starts: Sequence[str] = (),
) -> InputTable:
    """Read a file, a folder, a pattern, the standard input or a log into a Polars frame.

    With ``rows``, a random sample of so many rows is read. ``wanted`` names the columns that a
    command needs, and ``starts`` how others that it needs begin; by default all are read. A log
    gives its votes, a row each.
    """
    if is_counts(path):
        raise DataError(
            f"{path.name} holds counts, and this command needs rows; karat bounds, judges and auc "
            "answer from counts"
        )
    source = scan(path)
    if source.log is not None and "judge" in source.names:
        return InputTable(path, source.votes(), log=True)
    lazy = source.frame
    named = _parts([name for name in wanted if name is not None], source.names)
    if named or starts:
        kept = [
            n
            for n in source.names
            if n.lower().startswith(tuple(starts))
            or any(n == name or fnmatchcase(n, name) for name in named)
        ]
        lazy = lazy.select(*kept) if kept else lazy
    frame = read_rows(lazy, path.name, rows)
    return InputTable(path, frame, every=source.names, scanned=not is_plain(path))


def scan_table(path: Path) -> InputTable:
    """Return the columns of a Parquet file without its rows."""
    polars = require("polars", purpose="scanning a file")
    try:
        return InputTable(path, polars.scan_parquet(path).head(0).collect())
    except Exception as error:  # the readers raise many kinds of error for a broken file
        said = f"{str(path)!r} cannot be scanned as Parquet: {first_line(error)}"
        raise DataError(said) from error
