"""Open data by what they are: files by their first bytes, folders of parts, frames, text."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._extras import require
from karat._files import first_line
from karat._sentences import Argument, Expected, Option, Remedy, Wording
from karat._validate import check_choice, check_count, named, shown
from karat.exceptions import ColumnError, DataError, EmptyDataError, KaratError, KaratWarning
from karat.sources._text import PlainText, broken_line, json_rows, plain_bytes, plain_text
from karat.sources.engines import collect, is_fault


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


# --- Frames of every library, queries of DuckDB and tables of Spark as one lazy narwhals table.

# A query may begin with comments and brackets.
_QUERY = re.compile(
    r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*.*?\*/)*(?:select|with|from)[\s(*]", re.IGNORECASE | re.DOTALL
)


def is_query(source: str) -> bool:
    """Return whether a text is a query and not a path."""
    if _QUERY.match(source) is None:
        return False
    try:
        return not Path(source).exists()
    except (OSError, ValueError):  # longer than a path can be
        return True


def open_query(query: str, connection: Any) -> Any:
    """Return the relation of a DuckDB query, of a connection or of the default one."""
    duckdb = require("duckdb", purpose="a query", extra="duckdb")
    try:
        relation = (duckdb if connection is None else connection).sql(query)
    except Exception as error:  # a parser, a binder and a catalogue each raise their own
        raise DataError(f"the query cannot be run: {first_line(error)}") from error
    if relation is None:
        raise DataError("the query returns no table; expected one that selects rows")
    return open_frame(relation)


def open_spark_table(name: str, session: Any) -> Any:
    """Return a table of a Spark session."""
    try:
        return open_frame(session.table(name))
    except DataError:
        raise
    except Exception as error:  # what Spark raises depends on the catalogue behind the session
        raise DataError(
            f"the Spark session has no table {name!r} that can be read: {first_line(error)}"
        ) from error


_ENGINE_TABLE = re.compile(r"(duckdb|spark):(.*)", re.DOTALL)


class EngineTable(NamedTuple):
    """A table of an engine; what must stay open for it; whether reading it again gives the same."""

    frame: Any
    held: Any = None
    plain: bool = False


def open_engine_table(source: str) -> EngineTable | None:
    """Open what ``duckdb:file.db#table`` or ``spark:catalog.table`` names; None for other texts."""
    found = _ENGINE_TABLE.fullmatch(source.strip())
    if found is None:
        return None
    engine, name = found.groups()
    return _duckdb_table(name) if engine == "duckdb" else _spark_table(name)


def _duckdb_table(name: str) -> EngineTable:
    """Open a table or view of a DuckDB file, which is only read."""
    path, _, table = name.partition("#")
    duckdb = require("duckdb", purpose="a table of DuckDB", extra="duckdb")
    if not Path(path).is_file():
        raise DataError(
            f"there is no file {path!r}; a table of DuckDB is named duckdb:file.db#table"
        )
    try:
        connection = duckdb.connect(path, read_only=True)
        rows = connection.execute(
            "select table_schema, table_name, table_type from information_schema.tables"
        ).fetchall()
    except Exception as error:  # no database, one that is locked, or of another version
        raise DataError(
            f"{Path(path).name} cannot be opened with DuckDB: {first_line(error)}"
        ) from error
    names = {n if schema == "main" else f"{schema}.{n}": (schema, n, k) for schema, n, k in rows}
    chosen = names.get(table) or names.get(table.removeprefix("main."))
    if chosen is None:
        missing = f"no table {table!r}" if table else "no table named after a '#'"
        raise DataError(
            f"duckdb:{name} names {missing} of {Path(path).name}; there are {named(list(names))}"
        )
    schema, own, kind = (part.replace('"', '""') for part in chosen)
    relation = connection.sql(f'from "{schema}"."{own}"')
    return EngineTable(open_frame(relation), connection, kind == "BASE TABLE")


def _spark_table(name: str) -> EngineTable:
    """Open a table of the Spark session that runs, or of a new one."""
    if not name.strip():
        raise DataError("spark: names no table; expected spark:table or spark:catalog.table")
    require("pyspark", purpose="a table of Spark", extra="spark")
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    except Exception as error:  # no Java, no server
        raise DataError(f"no Spark session could be started: {first_line(error)}") from error
    return EngineTable(open_spark_table(name.strip(), session), session)


def open_frame(source: Any) -> Any:
    """Return any frame as a lazy narwhals table; frames in memory become those of Polars."""
    import narwhals as nw

    try:
        seen = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError("the frame has two columns of the same name; rename one") from error
    if isinstance(seen, nw.LazyFrame):
        return seen
    if not isinstance(seen, nw.DataFrame):
        raise DataError(
            Argument("source"),
            f" is a {type(source).__name__}; expected ",
            Expected(
                "a path, a folder, a pattern such as 'scores/*.parquet', '-', a frame, a "
                "DuckDB relation or query, or a Spark frame"
            ),
        )
    require("polars", purpose="scanning a frame")
    if not len(seen):
        raise EmptyDataError("the frame has no rows")
    odd = [name for name in seen.columns if not isinstance(name, str)]
    if odd:
        raise DataError(f"the column {odd[0]!r} has a name that is no text; rename it")
    return nw.from_native(seen.to_polars().lazy())


# --- The rows of a file in memory: all of them, or a random sample, if they fit.

_ROW = "__karat_row"
_NARROW, _WIDE = 8, 32  # bytes that a number and a text take in memory


def is_plain(path: Path) -> bool:
    """Return whether a path is one file that Polars reads by itself, as its ending says."""
    ending = path.suffix.lower()
    if not path.is_file() or ending not in ENDINGS:
        return False
    if ending in (".jsonl", ".ndjson"):
        return plain_text(path).path == path and not _begins_with(path, (b"[", _BOM))
    if ending not in (".csv", ".tsv"):
        return True
    if plain_text(path).path != path or path.resolve() in _TIDIED:
        return False
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
            KaratWarning(
                Argument.of(name),
                f": a random sample of {rows:,} of {total:,} rows was read (seed 0)",
            ),
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
            Argument.of(name),
            f" has {total:,} rows of {len(widths)} columns, about "
            f"{needed / 2**30:.1f} GiB in memory, and {free / 2**30:.1f} GiB are free",
            Remedy("take a sample with --rows, or count where the rows are, with karat count"),
        )


def _free_memory() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system says it
        return None


# --- One file as a lazy Polars table, after a look at its first bytes.

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
_WORDS = {
    "csv": "CSV text",
    "tsv": "tab-separated text",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "arrow": "Arrow IPC",
    "zip": "a ZIP archive",
    "gzip": "gzip",
    "binary": "binary data",
    "json": "one JSON document",
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "zip", b"\x1f\x8b": "gzip"}
_TEXT = ("csv", "tsv", "jsonl")
_BOM = b"\xef\xbb\xbf"
_MOST_COLUMNS = 100_000
# Files of which some cells were read as what they do not say: no reader of Polars alone does.
_TIDIED: set[Path] = set()
# Types are told from all rows. From the first hundred alone, a column of labels that begin further
# down would be text, and a column of 0 and 1 with 0.5 further down could not be read.
_ALL_ROWS: dict[str, Any] = {"infer_schema_length": None}


def format_of(path: Path) -> str | None:
    """Return the format that the ending of a name says, without ``.gz``; None for any other."""
    name = path.name.lower().removesuffix(".gz")
    return ENDINGS.get(Path(name).suffix)


def text_options(path: Path) -> dict[str, Any] | None:
    """Return how to read the cells of delimited text, zipped or not, as they stand there.

    The options are those of ``polars.read_csv``; None for other files.
    """
    kind = format_of(path)
    if kind not in ("csv", "tsv") or not path.is_file():
        return None
    try:
        with plain_text(path).path.open("rb") as opened:
            dialect = dialect_of(opened.read(HEAD), kind)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {first_line(error)}") from error
    return {"infer_schema": False} | dialect._replace(decimal_comma=False).options()


def open_file(path: Path, kind: str | None, *, quiet: bool = False) -> Any:
    """Return a file as a lazy Polars table; ``kind`` is its format if the name does not say it.

    Delimited text that is not written as its ending says is read as it is written, and a warning
    says so, unless ``quiet``.
    """
    said = check_choice(kind, "format", _FORMATS, none=True) or format_of(path)
    if said is None and path.suffix.lower() == ".json":
        return _array(path.read_bytes(), path.name)
    if said is None:
        raise DataError(
            f"{path.name} ends in {path.suffix!r}; expected ",
            Expected(f"one of {list(ENDINGS)}, with or without .gz"),
            Wording(", or pass ", Option("format"), elsewhere=""),
        )
    try:
        if not path.stat().st_size:
            raise EmptyDataError(f"{path.name} is empty: it has no bytes")
        text = plain_text(path) if said in _TEXT else PlainText(path)
        if not text.path.stat().st_size:
            raise EmptyDataError(f"{path.name} is empty: nothing is packed in it")
        if said == "jsonl" and _begins_with(text.path, (b"[",)):
            return _array(text.path.read_bytes(), path.name)
        with text.path.open("rb") as opened:
            dialect = _check_beginning(opened, said, path.name)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {first_line(error)}") from error
    if text.note and not quiet:
        warnings.warn(f"{path.name}: {text.note}", KaratWarning, stacklevel=caller_level())
    table, tidied = _lazy(text.path, said, path.name, dialect, quiet=quiet)
    if tidied:
        _TIDIED.add(path.resolve())
    return table


def _begins_with(path: Path, signs: tuple[bytes, ...]) -> bool:
    with path.open("rb") as opened:
        head = opened.read(64)
    return head.startswith(signs) or head.removeprefix(_BOM).lstrip().startswith(signs)


def _array(data: bytes, name: str) -> Any:
    """Return a JSON array of flat objects as a lazy table, a row for each."""
    pl = require("polars", purpose="reading a file")
    rows = json_rows(data, name)
    if rows is None:
        raise DataError(
            Argument.of(name),
            " is no table; expected ",
            Expected(
                'a JSON array of objects that hold single values, such as [{"label": 1, '
                '"score": 0.5}]'
            ),
        )
    try:
        return pl.DataFrame(rows, infer_schema_length=None).lazy()
    except Exception as error:  # values of several kinds in one column, or too large
        raise DataError(
            Argument.of(name),
            f" cannot be read: {first_line(error)}",
        ) from error


def read_texts(path: Path, names: Sequence[str]) -> Any:
    """Read columns of a CSV or TSV as the text that stands there."""
    pl = require("polars", purpose="reading a file")
    options = text_options(path) or {}
    return pl.read_csv(plain_text(path).path, columns=list(names), **options)


def open_bytes(data: bytes, kind: str | None, name: str, *, quiet: bool = False) -> Any:
    """Return the content of a file as a lazy Polars table; the format is looked for if not said."""
    if not data:
        raise EmptyDataError(
            Argument.of(name),
            " is empty: it has no bytes",
        )
    data = plain_bytes(data, name)
    said = check_choice(kind, "format", _FORMATS, none=True) or _looks_like(data[:4096])
    if said == "csv" and kind is None and data[:4096].split(b"\n")[0].count(b"\t"):
        said = "tsv"
    if said == "json":
        return _array(data, name)
    if said not in _FORMATS:
        raise DataError(
            Argument.of(name),
            f" looks like {_WORDS[said]}; expected ",
            Expected(f"{', '.join(_FORMATS)}"),
        )
    dialect = _check_beginning(io.BytesIO(data), said, name)
    return _lazy(io.BytesIO(data), said, name, dialect, quiet=quiet)[0]


def _looks_like(head: bytes) -> str:
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    if b"\x00" in head:
        return "binary"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return "json"
    if text.startswith(b"{"):
        return "jsonl"
    return "csv"


def _check_beginning(opened: BinaryIO, said: str, name: str) -> Dialect:
    """Refuse a file that does not begin as its format does, and a header that repeats a name.

    Return how delimited text is written.
    """
    head = opened.read(HEAD)
    seen = _looks_like(head[:4096])
    alike = {"csv", "tsv"} if said in ("csv", "tsv") else {said}
    if seen not in alike:
        raise DataError(
            Argument.of(name),
            f" should hold {_WORDS[said]} and begins like {_WORDS[seen]}",
            Remedy(
                "give it the ending of what it is, or pass ",
                Option("format"),
                elsewhere="give it the ending of what it is",
            ),
        )
    if said not in ("csv", "tsv"):
        return Dialect()
    dialect = dialect_of(head, said)
    text = head.decode("utf-8-sig", errors="replace")
    rows = csv.reader(io.StringIO(text), delimiter=dialect.separator)
    try:
        header = next(islice(rows, dialect.above, None), [])
    except csv.Error as error:  # lines that end with a carriage return alone
        raise DataError(
            Argument.of(name),
            " cannot be read: its lines end as those of old Macs do",
            Remedy("save it again as plain CSV"),
        ) from error
    if len(header) > _MOST_COLUMNS:
        raise DataError(
            Argument.of(name),
            f" has {len(header):,} columns or more; expected ",
            Expected(f"at most {_MOST_COLUMNS:,}"),
        )
    seen_names = Counter(column for column in header if column.strip())
    twice = [column for column, times in seen_names.items() if times > 1]
    if twice:
        raise ColumnError(
            Argument.of(name),
            f" has the column {twice[0]!r} twice",
            Remedy("rename one of them"),
        )
    return dialect


def _lazy(source: Any, kind: str, name: str, dialect: Dialect, *, quiet: bool) -> tuple[Any, bool]:
    """Return a file as a lazy table, and whether cells were read as what they do not say."""
    pl = require("polars", purpose="reading a file")
    in_memory = isinstance(source, io.BytesIO)
    try:
        said: list[str] = []
        if kind in ("csv", "tsv"):
            table, dialect = _delimited(pl, source, dialect)
            table, said = _tidied(pl, table, name)
        elif kind == "jsonl":
            table = _json(pl, source)
        elif kind == "parquet":
            table = pl.read_parquet(source).lazy() if in_memory else pl.scan_parquet(source)
        else:
            table = pl.read_ipc(source).lazy() if in_memory else pl.scan_ipc(source)
        beyond = [n for n, k in table.collect_schema().items() if k in (pl.Int128, pl.UInt128)]
        if beyond:  # identifiers and labels, which nobody computes with
            table = table.with_columns(pl.col(beyond).cast(pl.String))
        rows = len(table.head(1).collect())
    except BaseException as error:  # the readers raise many kinds of error for a broken file
        if isinstance(error, KaratError) or not is_fault(error):
            raise
        whole = source.getvalue() if in_memory else source
        where = broken_line(whole) if kind == "jsonl" else ""
        raise DataError(
            Argument.of(name),
            f" cannot be read: {where or first_line(error)}",
        ) from error
    if not rows:
        raise EmptyDataError(
            Argument.of(name),
            " has no rows",
        )
    if not quiet:
        say_dialect(dialect, name, kind)
        for note in said:
            warnings.warn(
                KaratWarning(
                    Argument.of(name),
                    f": {note}",
                ),
                stacklevel=caller_level(),
            )
    return table, bool(said)


# Signs for a missing value that programs write where numbers stand.
_MISSING = ("NA", "N/A", "#N/A", "n/a", "NULL", "null", "None")
_LOOKED_AT = 1000  # rows that tell whether a column of text may be one of numbers
_NAMELESS = re.compile(r"(_duplicated_\d+)?")


def _tidied(pl: Any, table: Any, name: str) -> tuple[Any, list[str]]:
    """Leave out empty columns without a name, and read signs of a missing value among numbers.

    Spreadsheets write the former, R and pandas the latter. Return what is to be said of it.
    """
    kinds = table.collect_schema()
    nameless = [column for column in kinds if _NAMELESS.fullmatch(column.strip())]
    if nameless and not kinds.keys() - set(nameless):
        raise DataError(
            Argument.of(name),
            " has no line with the names of its columns",
            Remedy("write one"),
        )
    if nameless:
        filled = table.select(pl.col(nameless).count()).collect().row(0)
        if any(filled):
            at = list(kinds).index(nameless[[bool(n) for n in filled].index(True)]) + 1
            raise ColumnError(f"column {at} of {name} has no name and is not empty; name it")
        table = table.drop(nameless)
    text = [column for column, kind in table.collect_schema().items() if kind == pl.String]
    if not text:
        return table, []

    def is_sign(column: str) -> Any:
        return pl.col(column).is_in(_MISSING)

    def is_number(column: str, kind: Any = pl.Float64) -> Any:
        return pl.col(column).cast(kind, strict=False).is_not_null() & ~is_sign(column)

    def is_odd(column: str) -> Any:
        return ~(is_sign(column) | is_number(column) | pl.col(column).is_null())

    head = table.select(text).head(_LOOKED_AT).collect()
    odd = head.select(is_odd(column).any() for column in text).row(0)
    text = [column for column, strange in zip(text, odd, strict=True) if not strange]
    if not text:
        return table, []
    seen = table.select(
        value
        for i, column in enumerate(text)
        for value in (
            is_odd(column).any().alias(f"odd {i}"),
            is_sign(column).sum().alias(f"signs {i}"),
            is_number(column).sum().alias(f"numbers {i}"),
            is_number(column, pl.Int64).sum().alias(f"whole {i}"),
        )
    ).collect(engine="streaming")
    changed, said = [], []
    for i, column in enumerate(text):
        strange, signs, numbers, whole = seen.row(0)[4 * i : 4 * i + 4]
        if strange or not signs or not numbers:
            continue
        kind = pl.Int64 if whole == numbers else pl.Float64
        value = pl.when(is_sign(column)).then(None).otherwise(pl.col(column))
        changed.append(value.cast(kind).alias(column))
        said.append(
            f"{_signs(pl, table, column)} stands among the numbers of {shown(column)} in {signs:,} "
            "rows, and counts as missing"
        )
    return table.with_columns(changed), said


def _signs(pl: Any, table: Any, column: str) -> str:
    held = table.select(pl.col(column).filter(pl.col(column).is_in(_MISSING)).unique().sort())
    return " or ".join(held.collect()[column].to_list()[:3])


def _delimited(pl: Any, source: Any, dialect: Dialect) -> tuple[Any, Dialect]:
    """Return delimited text as a lazy table; where its head has no decimals, all rows tell."""

    def known(one: Dialect) -> Any:
        if isinstance(source, io.BytesIO):
            source.seek(0)
            return pl.read_csv(source, **one.options(), **_ALL_ROWS)
        # The types are told once, and not again by every query.
        return pl.scan_csv(source, **one.options(), **_ALL_ROWS).collect_schema()

    found = known(dialect)
    if dialect.decimal_comma is None:
        other = dialect._replace(decimal_comma=True)
        again = known(other)
        kinds = [
            list(one.values() if hasattr(one, "values") else one.dtypes) for one in (found, again)
        ]
        if kinds[1].count(pl.Float64) > kinds[0].count(pl.Float64):
            found, dialect = again, other
    if isinstance(source, io.BytesIO):
        return found.lazy(), dialect
    return pl.scan_csv(source, **dialect.options(), schema=found), dialect


def _json(pl: Any, path: Any) -> Any:
    """Return JSON lines as a lazy table; a mark of the encoding before them is passed over."""
    if isinstance(path, io.BytesIO) or _begins_with(path, (_BOM,)):
        data = path.getvalue() if isinstance(path, io.BytesIO) else path.read_bytes()
        return pl.read_ndjson(io.BytesIO(data.removeprefix(_BOM)), **_ALL_ROWS).lazy()
    known = pl.scan_ndjson(path, **_ALL_ROWS).collect_schema()
    return pl.scan_ndjson(path, schema=known)


# --- How a file of delimited text is written: its separator and its decimal mark, and saying so.

HEAD = 1 << 16  # bytes that are looked at
_LINES = 50
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Groups of three digits may be thousands as well as decimals, and so tell nothing.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([.,]\d{3})+")


# What spreadsheets write, and hide, above the header.
_NAMES_ITS_OWN = re.compile(r'"?sep=([\t !#-/:-@\[-`{-~])"?[ \t]*\r?\n', re.IGNORECASE)


class Dialect(NamedTuple):
    """The separator, and whether numbers have decimal commas; None: the head does not tell."""

    separator: str = ","
    decimal_comma: bool | None = False
    mixed: bool = False  # some numbers with a comma, others with a point
    above: int = 0  # lines above the header: one where the file names its separator itself

    @property
    def usual(self) -> bool:
        """Whether it is what every reader takes a file of its ending for."""
        return self.separator == "," and not self.decimal_comma and not self.above

    def options(self) -> dict[str, Any]:
        """Return the options of the readers of Polars."""
        found: dict[str, Any] = {"separator": self.separator}
        if self.above:
            found["skip_rows"] = self.above
        return found | {"decimal_comma": True} if self.decimal_comma else found


def dialect_of(head: bytes, kind: str) -> Dialect:
    """Return the dialect of delimited text from its first bytes; ``kind`` is csv or tsv.

    Another separator than that of the ending is taken where a line above the header names it, such
    as ``sep=;``, else only where the first line has none of those and every line has as many of
    the other.
    """
    text = head.decode("utf-8-sig", errors="replace")
    if len(head) >= HEAD:
        text = text[: text.rfind("\n") + 1] or text  # the last line may be cut
    own = "\t" if kind == "tsv" else ","
    above = 0
    if (named := _NAMES_ITS_OWN.match(text)) is not None:
        own, above, text = named[1], 1, text[named.end() :]
    lines = _fields(text, own)
    separator = own
    if lines and len(lines[0]) == 1 and kind == "csv" and not above:
        for other in _OTHERS:
            split = _fields(text, other)
            if len({len(line) for line in split}) == 1 and len(split[0]) > 1:
                separator, lines = other, split
                break
    if separator == ",":  # a quoted "0,1" may as well be a list
        return Dialect(above=above)
    values = [v.strip() for line in lines[1:] for v in line if not _THOUSANDS.fullmatch(v.strip())]
    comma = any(_COMMA.fullmatch(value) for value in values)
    point = any(_POINT.fullmatch(value) for value in values)
    if comma and point:
        return Dialect(separator, False, mixed=True, above=above)
    return Dialect(separator, comma if comma or point else None, above=above)


def _fields(text: str, separator: str) -> list[list[str]]:
    """Return the fields of the first lines."""
    try:
        read = csv.reader(io.StringIO(text), delimiter=separator)
        return [line for line in islice(read, _LINES) if line]
    except csv.Error:
        return []


def say_dialect(dialect: Dialect, name: str, kind: str) -> None:
    """Say in one line that a file is not written as its ending says."""
    said = []
    if kind == "csv" and dialect.separator != ",":
        sign = _OTHERS.get(dialect.separator, repr(dialect.separator))
        said.append(f"its columns are separated by {sign}")
    if dialect.decimal_comma:
        said.append("its numbers have decimal commas")
    if dialect.mixed:
        said.append(
            "some of its numbers have decimal commas and others points; columns with commas are "
            "read as text"
        )
    if said:
        warnings.warn(
            KaratWarning(
                Argument.of(name),
                f": {' and '.join(said)}",
            ),
            stacklevel=caller_level(),
        )
