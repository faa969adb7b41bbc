"""Reads one uploaded file, in a process that may be stopped: ``python -m karat.studio.worker``.

Standard input says what to do, as JSON; the answer is written to a file. Exit code 3 means that
something is wrong with the file, and standard output says what.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from karat._files import first_line
from karat._validate import by_frequency, check_probabilities, match_spellings, told_positive
from karat.exceptions import DataError, KaratError, KaratWarning
from karat.sources.opening import ENDINGS, open_bytes
from karat.studio.data import StudyData, pack_data
from karat.studio.words import in_fields

_MEMORY = 4 * 1024**3
_MOST_ROWS, _MOST_CLASSES, _MOST_GROUPS, _MOST_COLUMNS = 1_000_000, 12, 12, 2_000


def main() -> int:
    """Do what standard input says; return the exit code."""
    order = json.loads(sys.stdin.buffer.read())
    _limit(order["seconds"])
    try:
        frame = _frame(Path(order["path"]))
        work = _inspected if order["task"] == "inspect" else _data
        Path(order["answer"]).write_bytes(work(frame, order))
    except (KaratError, MemoryError) as error:
        said = in_fields(error.sentence) if isinstance(error, KaratError) else str(error)
        sys.stdout.write(said or "the file needs too much memory")
        return 3
    return 0


def _limit(seconds: float) -> None:
    try:
        import resource
    except ImportError:  # not on Windows; the time limit of the parent still holds
        return
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _frame(path: Path) -> Any:
    kind = ENDINGS[path.suffix.lower()]
    try:
        frame = open_bytes(path.read_bytes(), kind, "the file", quiet=True).collect()
    except KaratError:
        raise
    except BaseException as error:  # the readers raise many kinds of error, panics among them
        raise DataError(f"the file cannot be read: {first_line(error)[:300]}") from error
    if not len(frame):
        raise DataError("the file has no rows")
    if len(frame) > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise DataError(
            f"the file has {len(frame):,} rows and {frame.width:,} columns; expected at most "
            f"{_MOST_ROWS:,} and {_MOST_COLUMNS:,}"
        )
    return frame


def _inspected(frame: Any, _: dict[str, Any]) -> bytes:
    examples = {
        name: [
            str(value)[:60] for value in frame[name].drop_nulls().unique(maintain_order=True)[:6]
        ]
        for name in frame.columns
    }
    found = {"names": frame.columns, "n_rows": len(frame), "examples": examples}
    return json.dumps(found).encode()


def _column(frame: Any, what: str, name: str) -> Any:
    if name not in frame.columns:
        raise DataError(f"there is no column {name!r} for the {what}; there are {frame.columns}")
    column = frame[name]
    if column.null_count():
        first = int(column.is_null().arg_max()) + 1
        raise DataError(f"the {what} is missing in row {first}; every row needs one")
    return column


def _numbers(frame: Any, what: str, name: str) -> Any:
    column = _column(frame, what, name)
    if not column.dtype.is_numeric():
        raise DataError(f"the column {name!r} of the {what} holds {column.dtype}, not numbers")
    return column.to_numpy().astype(np.float64)


def _coded(column: Any, what: str, most: int) -> tuple[Any, list[Any]]:
    names = column.unique().sort().to_list()
    if not 2 <= len(names) <= most:
        raise DataError(f"the {what} has {len(names):,} values; expected 2 to {most}")
    plain = [name if isinstance(name, bool | int | str) else str(name) for name in names]
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[value] for value in column.to_list()]), plain


def _one_spelling(column: Any) -> Any:
    """Return labels with one spelling for each class, as every command reads them."""
    found = match_spellings({column.name: by_frequency(column)})
    return column.cast(str).replace(found.replace) if found.replace else column


def _first_is_positive(classes: list[Any], positive: str | None) -> bool:
    """Return whether the first of two classes is the positive one: named, or told by the labels."""
    names = [str(name) for name in classes]
    if positive is not None:
        alike = [n for n in names if n.strip().casefold() == positive.strip().casefold()]
        named = positive if positive in names else alike[0] if len(alike) == 1 else None
        if named is None or len(classes) != 2:
            raise DataError(f"the positive class is {positive!r} and the labels are {names}")
        return names.index(named) == 0
    if len(classes) != 2:
        return False
    told = told_positive(classes)
    if told is None:
        raise DataError(
            f"the labels are {names[0]!r} and {names[1]!r}; say which is the positive class, for "
            f"example {names[0]}"
        )
    return told == 0


def _data(frame: Any, order: dict[str, Any]) -> bytes:
    column = _column(frame, "label", order["label"])
    codes, classes = _coded(_one_spelling(column), "label", _MOST_CLASSES)
    first_is_positive = _first_is_positive(classes, order["positive"])
    if first_is_positive:  # the second one is to be the positive class
        codes, classes = 1 - codes, classes[::-1]
    if order["proba"]:
        if len(order["proba"]) != len(classes):
            raise DataError(
                f"there are {len(order['proba'])} columns of probabilities and {len(classes)} "
                f"classes: {classes}; expected one for each"
            )
        columns = [_numbers(frame, "probability", name) for name in order["proba"]]
        values = np.column_stack(columns[::-1] if first_is_positive else columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)  # rounded ones are divided by their sums
            values = check_probabilities(values, "the probabilities")
    elif order["score"] is None:
        raise DataError("there is no column of scores; choose one, or one of each class")
    elif len(classes) != 2:
        raise DataError(f"one score is for two classes and there are {len(classes)}: {classes}")
    else:
        values = _numbers(frame, "score", order["score"])
    if not np.isfinite(values).all():
        raise DataError("a score is not a finite number")
    members, groups = None, list[Any]()
    if order["group"] is not None:
        members, groups = _coded(_column(frame, "group", order["group"]), "group", _MOST_GROUPS)
    return pack_data(
        StudyData(
            codes=codes,
            values=values,
            classes=tuple(classes),
            members=members,
            groups=tuple(groups),
        )
    )


if __name__ == "__main__":
    sys.exit(main())
