"""The file that a command reads: its rows, labels, probabilities and metric, by the flags given."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat._code import Coded, call_code, lines_of_code
from karat._extras import require
from karat._files import first_line
from karat._typing import BoolArray
from karat._validate import (
    by_frequency,
    check_alike,
    check_choice,
    check_scores,
    encode_labels,
    match_spellings,
    named,
    odd_text,
    order_classes,
    refuse_option,
    same_label,
    shown,
)
from karat.calibration.inputs import pair_columns
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    KaratWarning,
    LabelError,
    LabelsMatchedWarning,
    OptionError,
    ProbabilityError,
)
from karat.metrics import as_metric, load_metric
from karat.metrics.base import MetricBase
from karat.sources import scan
from karat.sources.cells import cells_of
from karat.sources.opening import is_plain, read_rows, read_texts, text_options
from karat.sources.stored import is_counts


def classes_of(*metrics: Coded) -> tuple[Any, ...]:
    """Return the labels that metrics are about, none where they are formulas."""
    found = [m.value.classes for m in metrics if isinstance(m.value, MetricBase)]
    return tuple(dict.fromkeys(label for known in found if known is not None for label in known))


def positive_of(metric: Coded, labels: Iterable[Any], positive: Any) -> Any:
    """Return the positive class that a flag named, or else the metric's, as the labels spell it."""
    known = metric.value.classes if isinstance(metric.value, MetricBase) else None
    if positive is not None or known is None or len(known) != 2:
        return positive
    return next((label for label in labels if same_label(label, known[-1])), None)


def read_metric(metric: str) -> Coded:
    """Return a metric's name as it is, or the metric in a file that ``metric.to_json()`` wrote."""
    if not metric.endswith(".json"):
        return Coded(metric, repr(metric))
    path = Path(metric)
    if not path.is_file():
        refuse_option(metric, "--metric", "the name of a metric, or a .json file that exists")
    return Coded(load_metric(path), f"load_metric({metric!r})")


def code_of_metric(metric: Coded) -> str:
    """Return the expression of a metric: that of its file, or of its name."""
    return metric.code if metric.code.startswith("load_metric(") else f"as_metric({metric.code})"


def import_of(metric: Coded) -> str:
    """Return the import that the code of a metric needs; none for a name."""
    return "" if isinstance(metric.value, str) else "from karat.metrics import load_metric"


# --- Files to write: checked before the work, and replaced only by files that are complete.


def check_paths(writes: Mapping[str, Path | None], reads: Sequence[Path] = ()) -> None:
    """Refuse paths that cannot be written, or that would overwrite an input or one another.

    ``writes`` are the paths by the flags that named them.
    """
    taken: dict[Path, str] = {}
    for flag, path in writes.items():
        if path is None:
            continue
        target = path.resolve()
        _check_target(flag, path, target)
        if any(_same_file(target, read) for read in reads):
            refuse_option(str(path), flag, "another file than the input")
        if target in taken:
            refuse_option(str(path), flag, f"another file than {taken[target]}")
        taken[target] = flag


def _check_target(flag: str, path: Path, target: Path) -> None:
    if target.is_dir():
        refuse_option(str(path), flag, "a file, and this is a folder")
    if target.exists() and not target.is_file():
        refuse_option(str(path), flag, "a regular file")
    if not target.parent.is_dir():
        refuse_option(str(path), flag, "a file in a folder that exists")
    if target.exists() and not os.access(target, os.W_OK):
        refuse_option(str(path), flag, "a file that may be written")
    try:
        # Only an attempt tells: a folder may be on a disk that is read-only or full.
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        reason = f"a file in a folder that can be written ({error.strerror})"
        refuse_option(str(path), flag, reason)


def _same_file(target: Path, read: Path) -> bool:
    """Return whether both are one file, be it by a symbolic link or by a hard link."""
    return target.exists() and read.exists() and target.samefile(read)


# --- Class probabilities from the columns of ``--score`` or ``--prob``.


def check_score_or_prob(score: str | None, prob: list[str] | None) -> None:
    """Refuse both flags at once: they say the same thing."""
    if score is not None and prob:
        refuse_option(score, "--score", f"no --prob with it, and there is --prob {prob[0]}")


def read_probabilities(
    table: InputTable,
    truth: Any,
    score: str | None,
    prob: list[str] | None,
    positive: Any,
    *,
    ordered: bool = False,
) -> tuple[Coded, list[Any]]:
    """Return the matrix of class probabilities and the classes in the order of its columns.

    Columns of ``--prob`` are matched with the classes by name, else they are in the order of the
    sorted labels, with a warning where these are text. Of two classes the positive one
    comes second, whatever its name, where a score or ``ordered`` asks for one.
    """
    check_score_or_prob(score, prob)
    classes = truth.drop_nulls().unique().sort().to_list()
    if positive is not None and len(classes) != 2:
        refuse_option(
            positive, "--pos-label", f"two classes with it, and there are {named(classes)}"
        )
    order = classes
    if len(classes) == 2 and (positive is not None or score is not None or ordered):
        order = order_classes(np.array(classes), positive, name="--label").classes.tolist()
    if score is not None:
        column = table.column("--score", score)
        if len(classes) != 2:
            expected = (
                f"two classes with it, and there are {named(classes)}; pass one --prob per class"
            )
            refuse_option(score, "--score", expected)
        second = check_scores(column, f"--score {score}")
        if (outside := np.flatnonzero((second < 0) | (second > 1))).size:
            raise ProbabilityError(
                f"--score {score}: data row {outside[0] + 1} is {second[outside[0]]:g} "
                f"({outside.size:,} such rows in all); expected probabilities between 0 and 1"
            )
        code = f"np.column_stack([1 - frame[{score!r}], frame[{score!r}]])"
        return Coded(np.column_stack([1.0 - second, second]), code), order
    columns = table.names("--prob", prob, ("prob",))
    matrix = table.columns("--prob", columns)
    if len(columns) != len(classes):
        expected = (
            f"one column for each of the {len(classes)} classes {named(classes)}, in this order"
        )
        refuse_option(columns, "--prob", expected)
    of = {name: prob for prob, name in pair_columns(["y"], columns, classes).names.items()}
    place = dict(zip(classes, columns, strict=True))  # in the order of the sorted labels
    columns = [of[str(c)] if of else place[c] for c in order]
    return Coded(matrix.select(columns).to_numpy(), f"frame[{columns}].to_numpy()"), order


# --- Tables from files, and columns by the flags that name them.

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
PREDICTIONS = ("pred", "y_pred")  # how names of columns of predictions begin
_COUNTS = ("number of rows", "number_of_rows", "__number_of_rows")  # a column that is not there
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
    counted: str = ""  # the column that says how many rows of the file each row stands for

    def column(self, flag: str, name: str) -> Any:
        """Return a column, or say which ones there are."""
        if name not in self.frame.columns:
            names = self.every or self.frame.columns
            same = [other for other in names if other.casefold() == name.casefold()]
            close = same or get_close_matches(name, names, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"there are {named(names)}"
            raise ColumnError(f"{flag} {name}: there is no such column; {meant}")
        check_cells(flag, name, self.frame[name], counted=bool(self.counted))
        return self.frame[name]

    def check_filled(self, flag: str, names: Sequence[str], label: str | None = None) -> None:
        """Refuse an empty cell of some columns, of the rows with a label if that is named."""
        for name in names:
            empty = self.frame[name].is_null()
            if label is not None:
                empty &= self.frame[label].is_not_null()
            if empty.any():
                first, rows = f"data row {empty.arg_max() + 1}", empty.sum()
                if self.counted:
                    first, rows = "a data row", self.frame[self.counted].filter(empty).sum()
                raise DataError(
                    f"{flag} {name}: {first} is empty ({rows:,} such rows in all); fill them in, "
                    "or take them out of the file"
                )

    def labelled(self, name: str) -> InputTable:
        """Return the rows that have a label in the column of ``--label``, and say how many."""
        known = self.column("--label", name).is_not_null()
        rows = self.frame[self.counted] if self.counted else known.is_null() | True
        missing, total = int(rows.filter(~known).sum()), int(rows.sum())
        if not missing:
            return self
        if missing == total:
            raise EmptyDataError(f"--label {name}: no row has a label")
        warnings.warn(
            f"{missing:,} of {total:,} rows have no label in {name}, and are left out",
            KaratWarning,
            stacklevel=3,
        )
        code = f".filter(pl.col({name!r}).is_not_null())"
        return replace(self, frame=self.frame.filter(known), filtered=self.filtered + code)

    def matched(self, names: Sequence[str | None], known: Sequence[Any] = ()) -> InputTable:
        """Return the table with one spelling for each class in columns of labels, and say so.

        ``known`` are the classes of a metric, whose spelling is kept.
        """
        polars = require("polars", purpose="reading labels")
        kinds: tuple[Any, ...] = (polars.String, polars.Categorical, polars.Enum)
        there = dict.fromkeys(n for n in names if n is not None and n in self.frame.columns)
        if any(self.frame[name].dtype in kinds for name in there):
            kinds = (*kinds, polars.Boolean)  # beside text, true and false are words
        texts = [name for name in there if self.frame[name].dtype in kinds]
        columns = [self.frame[name].cast(polars.String) for name in texts]
        rows = self.frame[self.counted].to_numpy() if self.counted else None
        found = match_spellings({c.name: by_frequency(c, rows) for c in columns}, known)
        words = any(self.frame[name].dtype == polars.Boolean for name in texts)
        if not found.replace and not words:
            return self
        for note in found.said:
            warnings.warn(note, LabelsMatchedWarning, stacklevel=3)
        code = f".with_columns(pl.col({texts!r}).cast(pl.String).replace({found.replace!r}))"
        frame = self.frame.with_columns(c.replace(found.replace) for c in columns)
        return replace(self, frame=frame, filtered=self.filtered + code)

    def optional(self, flag: str, name: str | None) -> Any:
        """Return a column, or None where the flag was not passed."""
        return None if name is None else self.column(flag, name)

    @property
    def repeats(self) -> dict[str, Any]:
        """What is passed beside columns where each row stands for several."""
        return _repeats(self.counted, self.frame, "frame")

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

    def with_codes(self, *names: str | None) -> InputTable:
        """Return the table with groups as text where some have leading zeros: 01 and 1 are two."""
        there = [name for name in names if name is not None and name in self.frame.columns]
        found = self
        for name, texts in self._with_zeros(there).items():
            found = found._with_texts(name, texts)
        return found

    def with_text_ids(self, *names: str) -> InputTable:
        """Return the table with the ids of some columns, where they are there, as they stand."""
        found = self
        for name in names:
            texts = found.text_ids(name) if name in found.frame.columns else None
            if texts is not None:
                found = found._with_texts(name, texts)
        return found

    def _with_texts(self, name: str, texts: Any) -> InputTable:
        """Return the table with a column as it stands in the file."""
        code = f".with_columns({self.text_ids_code(name)})"
        return replace(self, frame=self.frame.with_columns(texts), filtered=self.filtered + code)

    @property
    def code(self) -> str:
        """The line that reads the file."""
        if self.counted:
            named = [name for name in self.frame.columns if name != self.counted]
            read = f"karat.scan({str(self.path)!r}).distinct_rows({named!r})"
            return f"frame = {read}{self.filtered}"
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
            name
            for name in self.frame.columns
            if name.lower().startswith(tuple(starts)) and name != self.counted
        ]
        if not found:
            names = self.every or self.frame.columns
            raise ColumnError(f"{flag}: name at least one column; there are {named(names)}")
        return found

    def matching(
        self, flag: str, given: Sequence[str], *, taken: Collection[str | None] = ()
    ) -> list[str]:
        """Return the columns that names and patterns choose, each once, in the order of the flags.

        A column that is called like a pattern, or like a list such as ``a,b``, is meant by its
        name. No pattern chooses a column that is ``taken`` by another flag: '*' would read the
        true labels as votes.
        """
        names: list[str] = [name for name in self.frame.columns if name != self.counted]
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
                raise ColumnError(f"{flag} {pattern}: no column matches; there are {named(names)}")
            found += [name for name in hits if name not in found]
        return found


def _repeats(counted: str, frame: Any, called: str) -> dict[str, Any]:
    if not counted:
        return {}
    weight = Coded(frame[counted], f"{called}[{counted!r}]")
    return {"sample_weight": weight, "weighting": "frequency"}


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
    *,
    counted: bool = False,
    codes: str | None = None,
) -> InputTable:
    """Read a file, a folder, a pattern, the standard input or a log into a Polars frame.

    With ``rows``, a random sample of so many rows is read. ``wanted`` names the columns that a
    command needs, and ``starts`` how others that it needs begin; by default all are read. With
    ``counted`` a large table comes as its distinct rows, unless its groups are ``codes`` of
    delimited text, which may have leading zeros. A log gives its votes, a row each.
    """
    if is_counts(path):
        raise DataError(
            f"{path.name} holds counts, and this command needs rows; karat evaluate, score, gate, "
            "auc, calibration, elicit, judges and bounds answer from counts"
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
    own = replace(source, frame=lazy, _collected=[])
    table = InputTable(path, None, every=source.names, scanned=not is_plain(path))
    counted = counted and rows is None and not (codes and text_options(path))
    if counted and not own.is_small:
        cells = cells_of(own.frame, own.names)
        if not cells.is_sample:
            count = next(name for name in _COUNTS if name not in own.names)
            series = require("polars", purpose="counting rows").Series(count, cells.counts)
            return replace(table, frame=cells.rows.with_columns(series), counted=count)
    return replace(table, frame=read_rows(lazy, path.name, rows))


def is_large(path: Path) -> bool:
    """Return whether a table has too many rows to look at each; no log and no input has."""
    if str(path) == "-":
        return False
    source = scan(path)
    return source.log is None and not source.is_small


def scan_table(path: Path) -> InputTable:
    """Return the columns of a Parquet file without its rows."""
    polars = require("polars", purpose="scanning a file")
    try:
        return InputTable(path, polars.scan_parquet(path).head(0).collect())
    except Exception as error:  # the readers raise many kinds of error for a broken file
        said = f"{str(path)!r} cannot be scanned as Parquet: {first_line(error)}"
        raise DataError(said) from error


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The rows of a table that have a label, and the lines that pick them."""

    table: InputTable
    label: str
    names: Sequence[str]  # columns of predictions
    frame: Any

    def column(self, flag: str, name: str) -> Coded:
        """Return a column of the labelled rows."""
        self.table.column(flag, name)
        return Coded(self.frame[name], f"known[{name!r}]")

    def optional(self, flag: str, name: str | None) -> Coded | None:
        """Return a column, or None where the flag was not passed."""
        return None if name is None else self.column(flag, name)

    @property
    def repeats(self) -> dict[str, Any]:
        """What is passed beside columns where each row stands for several."""
        return _repeats(self.table.counted, self.frame, "known")

    @property
    def models(self) -> dict[str, Coded]:
        """The predictions, by their column."""
        return {name: self.column("--pred", name) for name in self.names}

    @property
    def lines(self) -> list[str]:
        """The lines that read the table and pick the rows."""
        return [self.table.code, f"known = frame.drop_nulls({self.label!r})"]

    def code(self, *lines: str) -> str:
        """Return lines below those that read the table and pick the rows."""
        return lines_of_code(*self.lines, *lines)

    def classes(self, metric: Coded, name: str, pos_label: str | None) -> list[Any]:
        """Return the classes of labels and predictions in every row, in the metric's order.

        Labels and predictions must be alike: numbers or text, with a class in common.
        """
        frame, label = self.table.frame, self.label
        if frame[label].dtype.is_numeric() != frame[name].dtype.is_numeric():
            first = [f"{frame[c].drop_nulls()[0]!r}" for c in (label, name)]
            raise LabelError(
                f"--label {label} holds {first[0]} and --pred {name} holds {first[1]}, a number "
                "and a text; give both the same labels"
            )
        labels = {*frame[label].drop_nulls().unique(), *frame[name].drop_nulls().unique()}
        every = sorted(labels, key=lambda v: (str(type(v)), v))
        both = {"y_true": self.frame[label], "y_pred": self.frame[name]}
        codes, found = encode_labels(both, every)
        check_alike({f"--label {label}": codes[0], f"--pred {name}": codes[1]}, found)
        positive = read_pos_label([frame[label], frame[name]], pos_label)
        formula = as_metric(metric.value)
        return list(formula._order_of(found, pos_label=positive, name=f"--label {label}").tolist())


def known_rows(
    table: InputTable, label: str, pred: Sequence[str] | None, *metrics: Coded
) -> KnownRows:
    """Return the labelled rows, with one spelling for each class of labels and predictions."""
    table.column("--label", label)
    names = table.names("--pred", pred, PREDICTIONS)
    table.columns("--pred", names)
    table = table.matched([label, *names], classes_of(*metrics))
    table.check_filled("--pred", names, label)
    known = table.frame.drop_nulls([label])
    if not len(known):
        raise EmptyDataError(f"--label {label} is empty in every row; label some rows first")
    return KnownRows(table, label, names, known)


# --- Values that a flag names as text and a column holds in a type of its own.

_SHOWN, _LONGEST = 6, 60


def check_cells(flag: str, name: str, column: Any, *, counted: bool = False) -> None:
    """Quote the cell of a column of numbers that is none; where labels stand, say so and go on.

    Of distinct rows, which are ``counted``, it is not known where they stand in the file.
    """
    numbers = flag in ("--score", "--prob", "--weight", "--label-probability")
    if not column.dtype.is_(_text()) or not (numbers or flag in ("--label", "--pred")):
        return
    empty = column.is_null()
    values = column.fill_null("").to_numpy()
    odd = odd_text(values, empty.to_numpy())
    if odd is None:
        return
    row, cell = "a data row" if counted else f"data row {odd + 1}", column[odd]
    if numbers:
        expected = "probabilities" if flag == "--prob" else "numbers"
        raise DataError(f"{flag} {name}: {row} holds {shown(cell)}; expected {expected}")
    others = column.drop_nulls()
    if 2 * others.cast(float, strict=False).is_finite().sum() > len(others):
        warnings.warn(
            f"{flag} {name}: {row} holds {shown(cell)} and most rows hold numbers; it "
            "counts as a class of its own",
            KaratWarning,
            stacklevel=2,
        )


def _text() -> Any:
    import polars as pl

    return pl.String


def read_pos_label(columns: Iterable[Any], text: str | None) -> Any:
    """Return the label that ``--pos-label`` names, in the type of the columns that hold labels."""
    if text is None:
        return None
    known = {label: None for column in columns for label in column.drop_nulls().unique().sort()}
    for label in known:
        if _is_called(label, text):
            return label
    word = text.strip().casefold()
    alike = [label for label in known if str(label).strip().casefold() == word]
    if alike:  # several are spellings of one class
        return alike[0]
    return refuse_option(text, "--pos-label", f"one of the labels {_listed(known)}")


def _is_called(label: Any, text: str) -> bool:
    if text == str(label) or (isinstance(label, bool) and text == str(label).lower()):
        return True
    return isinstance(label, float) and text == f"{label:g}"


def _cut(label: Any) -> str:
    text = str(label)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _listed(labels: Iterable[Any]) -> str:
    known = list(labels)
    return ", ".join(_cut(label) for label in known[:_SHOWN]) + ", …" * (len(known) > _SHOWN)


def read_class_prior(
    columns: Iterable[Any], text: str | None
) -> tuple[list[Any] | None, list[float] | None]:
    """Return the classes and P(Y) that ``--class-prior`` gives as ``ham=0.8,spam=0.2``."""
    if text is None:
        return None, None
    found = {label for column in columns for label in column.drop_nulls().unique()}
    labels = sorted(label for label in found if str(label) not in ("-1", "-1.0"))
    example = ",".join(f"{label}={1 / len(labels):.2g}" for label in labels[:_SHOWN])
    expected = f"a probability for each of the labels {_listed(labels)}, such as {example}"
    shares: dict[Any, float] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        label = [label for label in labels if _is_called(label, name.strip())]
        try:
            shares[label[0]] = float(number)
        except (IndexError, ValueError):
            refuse_option(text, "--class-prior", expected)
    if len(shares) < len(labels):
        refuse_option(text, "--class-prior", expected)
    return labels, [shares[label] for label in labels]


def read_classes(columns: Iterable[Any], text: str | None) -> list[Any] | None:
    """Return the classes that ``--classes`` lists, in the type of the columns that hold labels.

    A class that no column holds is taken in the type of the others.
    """
    if text is None:
        return None
    known = {label for column in columns for label in column.drop_nulls().unique().to_list()}
    kinds = {type(label) for label in known}
    found = []
    for name in (part.strip() for part in text.split(",")):
        held = [label for label in known if _is_called(label, name)]
        try:
            found.append(held[0] if held else next(iter(kinds or {str}))(name))
        except ValueError:
            refuse_option(text, "--classes", f"labels as the columns hold them: {_listed(known)}")
    if len(set(found)) < 2 or len(set(found)) < len(found):
        refuse_option(text, "--classes", "two classes or more, each once, such as ham,spam")
    return found


def read_null(text: str | None) -> str | None:
    """Return the library's ``null=`` for a flag, in which words are joined by a hyphen."""
    if text is None:
        return None
    known = ("not-asked", "abstain")
    return check_choice(text.replace(" ", "-"), "--null", known).replace("-", " ")


def in_order(
    metric: Coded, classes: list[Any] | None, prior: list[float] | None, positive: Any
) -> tuple[list[Any] | None, list[float] | None]:
    """Return classes and their probabilities in the order of the metric."""
    if classes is None or prior is None:
        return None, None
    shares = dict(zip(classes, prior, strict=True))
    order = as_metric(metric.value)._order_of(np.array(classes), pos_label=positive).tolist()
    return order, [shares[label] for label in order]


# --- The rows that karat optimize learns from and decides.


class DecidedRows(NamedTuple):
    """What the classifier is found with and what it decides, with the code of each part."""

    known: Any  # whether a row has a label
    labels: Any
    positive: Any
    proba: Any
    fitted: dict[str, Any]  # options of fit_from_proba
    decided: dict[str, Any]  # options of predict_from_proba
    made: tuple[str, ...]  # lines that make proba and the basis


def decided_rows(
    table: InputTable,
    metric: Coded,
    label: str,
    score: str | None,
    prob: list[str] | None,
    pos_label: str | None,
    basis: list[str] | None,
    group: str | None,
) -> DecidedRows:
    """Return the rows with a label and those to decide, and the lines that make both."""
    truth = table.column("--label", label)
    known = ~truth.is_null().to_numpy()
    if not known.any():
        raise DataError(f"--label {label}: every row is empty; some rows need a label")
    if truth.drop_nulls().n_unique() == 1:
        only = truth.drop_nulls()[0]
        raise DataError(
            f"--label {label}: every labelled row is {only!r}; label some rows of another class too"
        )
    classes = truth.drop_nulls().unique().sort().to_list()
    positive = positive_of(metric, classes, read_pos_label([truth], pos_label))
    proba, order = read_probabilities(table, truth, score, prob, positive)
    fitted: dict[str, Any] = {"classes": order}
    decided: dict[str, Any] = {}
    made = [f"proba = {proba.code}"]
    if basis:
        functions = _functions(table, basis)
        made.append(functions.code)
        fitted["basis"] = Coded(functions.value.filter(known), "basis.filter(known)")
        decided["basis"] = Coded(functions.value, "basis")
    groups = table.coded("--group", group)
    if groups is not None:
        absent = np.flatnonzero(groups.value.is_null().to_numpy() & known)
        if absent.size:
            raise DataError(
                f"--group {group} row {absent[0]} is missing ({absent.size} such labelled rows in "
                "all); give them a group of their own, or drop them"
            )
        fitted["groups_val"] = Coded(groups.value.filter(known), f"{groups.code}.filter(known)")
    return DecidedRows(
        known, truth.drop_nulls(), positive, proba.value, fitted, decided, tuple(made)
    )


def _functions(table: InputTable, basis: list[str]) -> Coded:
    """Return a constant and an indicator of each value of some columns, as a frame."""
    import polars as pl

    from karat.optimize import ColumnBasis
    from karat.optimize.basis import fit_basis

    table.columns("--basis", basis)
    unused = np.empty(0)  # neither a constant nor an indicator looks at labels
    fitted = fit_basis(["constant", *map(ColumnBasis, basis)], table.frame, unused)
    functions = ", ".join(["'constant'", *(f"ColumnBasis({name!r})" for name in basis)])
    code = (
        f"fitted = fit_basis([{functions}], frame, np.empty(0))\n"
        "basis = pl.DataFrame(fitted.values(frame), schema=list(fitted.names))"
    )
    return Coded(pl.DataFrame(fitted.values(table.frame), schema=list(fitted.names)), code)


def with_decisions(frame: Any, decided: Any) -> Any:
    """Return the table with a column of decisions, under a name that is free."""
    import polars as pl

    name = "decision"
    while name in frame.columns:
        name += "_"
    return frame.with_columns(pl.Series(name, decided))


def has_label(table: InputTable, labels: list[str]) -> BoolArray:
    """Return which rows are to be measured: all but those without any label."""
    chosen = table.columns("--label", labels)
    keep = np.any([chosen[name].is_not_null().to_numpy() for name in labels], axis=0)
    if not keep.any():
        raise EmptyDataError("--label: no row has a label; expected some rows that have one")
    return np.asarray(keep)


def with_columns(table: InputTable, names: Sequence[str], values: Any) -> Any:
    """Return the rows as they are written to another file, with further columns."""
    import polars as pl

    added = [pl.Series(name, values[:, j]) for j, name in enumerate(names)]
    return table.as_written.with_columns(added)
