"""Recognise a log by what it holds."""

import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from karat._files import first_line, first_words
from karat._sentences import Expected, Option
from karat.exceptions import DataError, EmptyDataError, KaratError
from karat.sources._text import are_rows
from karat.sources.logs._inspect import is_inspect, open_archive, read_inspect
from karat.sources.logs._records import Log, is_wrench, read_snorkel, read_wrench
from karat.sources.logs._tools import (
    is_deepeval,
    is_label_studio,
    is_lm_eval,
    is_mlflow,
    is_promptfoo,
    read_deepeval,
    read_label_studio,
    read_lm_eval,
    read_mlflow,
    read_promptfoo,
)

_Reader = Callable[[Any, Path], Log]
_KINDS: dict[str, tuple[Callable[[Any], bool], _Reader]] = {
    "inspect": (is_inspect, read_inspect),
    "promptfoo": (is_promptfoo, read_promptfoo),
    "deepeval": (is_deepeval, read_deepeval),
    "mlflow": (is_mlflow, read_mlflow),
    "label-studio": (is_label_studio, read_label_studio),
    "lm-eval": (is_lm_eval, read_lm_eval),
    "wrench": (is_wrench, read_wrench),
}
_LINES = ("lm-eval", "promptfoo")  # kinds that come as JSON lines


def read_log(files: list[Path], kind: str | None, *, ignore_errors: bool = False) -> Log | None:
    """Return the one log among ``files``, or None if they are plain tables.

    ``ignore_errors`` leaves out samples that ended in an error, which are failures of the system.
    """
    named = kind in (*_KINDS, "snorkel")
    if kind is not None and not named:
        return None
    endings = {path.suffix.lower() for path in files}
    if not named and not endings & {".eval", ".json", ".jsonl", ".npy"}:
        return None
    if len(files) > 1:
        if named or endings & {".eval", ".json", ".npy"} or _are_lines_of_a_log(files[0]):
            raise DataError(f"{len(files)} logs are named; scan one log at a time")
        return None
    (path,) = files
    if path.suffix.lower() == ".npy" or kind == "snorkel":
        return read_snorkel(path)
    if not path.stat().st_size:
        raise EmptyDataError(f"{path.name} is empty: it has no bytes")
    document = _document(path, kind, named=named)
    if document is None:
        return None
    for name, (recognised, read) in _KINDS.items():
        if kind == name or (kind is None and recognised(document)):
            if name == "inspect":
                read = partial(read_inspect, ignore_errors=ignore_errors)
            return _checked(read, document, path, name)
    if path.suffix.lower() == ".jsonl" or are_rows(document):
        return None  # a plain table of JSON lines, or of one array
    raise DataError(
        f"{path.name} is JSON, and no log that is known: {_shape(document)}; expected ",
        Expected(f"a log of {', '.join(_KINDS)}, or a table as .csv, .parquet or .jsonl"),
        ". ",
        Option("format"),
        " names the kind",
    )


def _checked(read: _Reader, document: Any, path: Path, kind: str) -> Log:
    """Return what a reader finds; a part that has not the shape it knows is one error."""
    try:
        return read(document, path)
    except KaratError:
        raise
    except Exception as error:  # whatever a file holds that its tool did not write
        raise DataError(
            f"{path.name} has a part that no known version of {kind} writes: {first_line(error)}; "
            "expected the file as the tool wrote it"
        ) from error


def _document(path: Path, kind: str | None, *, named: bool) -> Any:
    """Return what a file holds as plain data; None for JSON lines that are no log."""
    ending = path.suffix.lower()
    if ending == ".eval" and not zipfile.is_zipfile(path):
        text = path.read_bytes()[:1]
        if text != b"{":
            raise DataError(f"{path.name} is no ZIP archive, as a log of inspect is")
    if zipfile.is_zipfile(path):
        return open_archive(path)
    if ending == ".jsonl":
        if not named and not _are_lines_of_a_log(path):
            return None
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            return [_parsed(line, path, at) for at, line in enumerate(lines, 1) if line.strip()]
    return _parsed(path.read_text(encoding="utf-8-sig", errors="replace"), path)


def _are_lines_of_a_log(path: Path) -> bool:
    if path.suffix.lower() != ".jsonl":
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        first = _parsed(lines.readline(), path, strict=False)
    return any(_KINDS[kind][0]([first]) for kind in _LINES)


def _parsed(text: str, path: Path, at: int = 1, *, strict: bool = True) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise DataError(f"{path.name} is nested too deep to be a log") from error
    except json.JSONDecodeError as error:
        if not strict:
            return None
        raise DataError(
            f"{path.name} cannot be read as JSON: line {at + error.lineno - 1}, {error.msg}"
        ) from error
    except ValueError as error:  # a number with too many digits
        raise DataError(f"{path.name} cannot be read as JSON: {first_words(error)}") from error


def _shape(document: Any) -> str:
    if isinstance(document, dict):
        return f"an object with the fields {list(document)[:8]}"
    first = document[0] if isinstance(document, list) and document else document
    return f"a list of {list(first)[:8] if isinstance(first, dict) else type(first).__name__}"
