"""Several files as one table: those of a folder or of a pattern, with equal columns."""

from pathlib import Path
from typing import Any

from karat._extras import require
from karat.exceptions import ColumnError, DataError, EmptyDataError
from karat.sources.opening._files import ENDINGS, format_of, open_file

__all__ = ["list_files", "open_files"]


def list_files(source: str | Path) -> list[Path]:
    """Return the files that a path, a folder or a pattern names, sorted."""
    path = Path(source)
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.is_file() and format_of(p) is not None)
        found = sorted(p for p in inside if not _hidden(p.relative_to(path)))
        if not found:
            raise EmptyDataError(
                f"the folder {str(source)!r} holds no data; expected files that end in one of "
                f"{list(ENDINGS)}"
            )
        return found
    if any(mark in str(source) for mark in "*?[") and not path.exists():
        here = Path(path.anchor) if path.anchor else Path()
        found = sorted(p for p in here.glob(str(path.relative_to(here))) if p.is_file())
        if not found:
            raise EmptyDataError(f"no file matches the pattern {str(source)!r}")
        return found
    if not path.is_file():
        known = format_of(path) is not None or path.suffix.lower() in (".eval", ".json", ".npy")
        kinds = "" if known else f", and none ends in {path.suffix!r}; expected one of {[*ENDINGS]}"
        raise DataError(f"there is no file {str(source)!r}{kinds}")
    return [path]


def _hidden(path: Path) -> bool:
    """Return whether a part of a path is set aside, as Spark's ``_SUCCESS`` and dot files are."""
    return any(part.startswith((".", "_")) for part in path.parts)


def open_files(files: list[Path], kind: str | None) -> Any:
    """Return files as one lazy Polars table; one that differs from the first is named."""
    tables = [open_file(path, kind, quiet=i > 0) for i, path in enumerate(files)]
    if len(tables) == 1:
        return tables[0]
    kinds = {format_of(path) for path in files}
    if kind is None and len(kinds) > 1:
        odd = next(path for path in files if format_of(path) != format_of(files[0]))
        raise DataError(
            f"{files[0].name} and {odd.name} are files of two kinds; scan one kind at a time, such "
            f"as '*{files[0].suffix}'"
        )
    pl = require("polars", purpose="reading a file")
    first = dict(tables[0].collect_schema())
    aligned = [tables[0]]
    for path, table in zip(files[1:], tables[1:], strict=True):
        aligned.append(_like_the_first(pl, table, path, first, files[0]))
    return pl.concat(aligned, how="vertical_relaxed")


def _like_the_first(pl: Any, table: Any, path: Path, first: dict[str, Any], of: Path) -> Any:
    """Return a table with the columns of the first file, in its order."""
    own = dict(table.collect_schema())
    for columns, others, here, there in ((own, first, path, of), (first, own, of, path)):
        absent = [name for name in others if name not in columns]
        if absent:
            raise ColumnError(
                f"{here.name} has no column {absent[0]!r}, which {there.name} has; give all files "
                "the same columns"
            )
    for name, dtype in first.items():
        if _sort_of(dtype) == _sort_of(own[name]) or "null" in (
            _sort_of(dtype),
            _sort_of(own[name]),
        ):
            continue
        if (
            _sort_of(own[name]) == "text"
            and not table.select(pl.col(name).count()).collect().item()
        ):
            table = table.with_columns(pl.lit(None).cast(dtype).alias(name))  # an empty CSV column
            continue
        raise ColumnError(
            f"column {name!r} holds {own[name]} in {path.name} and {dtype} in {of.name}; give all "
            "files the same type"
        )
    return table.select(list(first))


def _sort_of(dtype: Any) -> str:
    text = str(dtype)
    if dtype.is_numeric():
        return "number"
    if text.startswith(("String", "Categorical", "Enum")):
        return "text"
    return text.lower()
