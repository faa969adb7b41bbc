"""Run a command: print its answer, write the page and the JSON, and say its warnings."""

from __future__ import annotations

import codecs
import io
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

# What loads NumPy is imported where it is called: `karat --help` needs none of it.
from karat._files import escape_cell, first_line, replaced
from karat.cli.words import in_flags
from karat.exceptions import DataError, KaratWarning, LabelsMatchedWarning

if TYPE_CHECKING:
    from karat.report import Report
    from karat.report.answer import Answer
    from karat.report.parts import Table


def run(
    work: Callable[[], Answer],
    *,
    output: Path | None = None,
    as_json: bool = False,
    reads: Sequence[Path] = (),
    writes: Mapping[str, Path | None] | None = None,
) -> None:
    """Check the paths, do the work, write the page and print the answer.

    Parameters
    ----------
    work : callable
        Does the work and returns the answer.
    output : Path, optional
        Where to write the page.
    as_json : bool, default False
        Whether to print JSON, with the warnings in it, and nothing else.
    reads : sequence of Path
        Files that the command reads and must not overwrite.
    writes : mapping, optional
        Other files that ``work`` writes, by the flags that named them.
    """
    from karat.cli._table import check_paths

    check_paths({"--output": output, **(writes or {})}, reads)
    with reported_warnings() as warned:
        answer = work()
        page = None if output is None or answer.findings is None else answer.page()
    try:
        # The page comes first: a terminal that fails must not take it along.
        if output is not None and page is not None:
            _write(page, [*warned.first, *warned.warnings], output)
    finally:
        if as_json:
            from karat._result import plain

            said = {"notes": warned.first} | answer.data | {"warnings": warned.warnings}
            sys.stdout.write(json.dumps(plain(said)) + "\n")
        else:
            show([*(f"{note}." for note in warned.first), *answer.text])


def _write(page: Report, warned: list[str], output: Path) -> None:
    """Write the page; its first section names the warnings among what the answer rests on."""
    from karat.report import render_report

    first, *others = page.sections
    first = replace(first, assumptions=(*first.assumptions, *warned))
    text = render_report(replace(page, sections=(first, *others)))
    with replaced(output) as path:
        path.write_text(text, encoding="utf-8")


# --- Text and tables at the terminal.

# Into a pipe nothing is wrapped or cut: whoever reads it there has no window.
_UNBOUNDED = 10_000


def console(*, stderr: bool = False) -> Any:
    """Return a console as wide as the terminal, or without bounds where there is none."""
    from rich.console import Console

    chosen = Console(stderr=stderr, highlight=False)
    if not chosen.is_terminal:
        chosen = Console(stderr=stderr, highlight=False, width=_UNBOUNDED)
    return chosen


def show(parts: Sequence[str | Table]) -> None:
    """Print lines and tables; what a file holds is never read as markup."""
    out = console()
    for part in parts:
        if isinstance(part, str):
            out.print(in_flags(part), markup=False)
        elif _is_wider(table := _drawn(part), out):
            _print_cards(part, out)
        else:
            out.print(table)


def _is_wider(table: Any, out: Any) -> bool:
    from rich.measure import Measurement

    unbounded = out.options.update(width=_UNBOUNDED)
    return bool(Measurement.get(out, unbounded, table).maximum > out.width)


def _print_cards(grid: Table, out: Any) -> None:
    """Print a table that is too wide row by row, a value a line: no name is cut or broken."""
    for first, *others in grid.rows:
        lines = [
            first,
            *(f"  {c}: {v}" for c, v in zip(grid.columns[1:], others, strict=True) if v),
        ]
        for line in lines:
            out.print(line, markup=False, soft_wrap=True)


def _drawn(grid: Table) -> Any:
    from rich import table as rich_table
    from rich.text import Text

    table = rich_table.Table()
    for name in grid.columns:
        table.add_column(Text(name), overflow="fold")
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


# --- Warnings of the library as lines for people.


class Reported(NamedTuple):
    """What is said first in an answer, and the warnings."""

    first: list[str]
    warnings: list[str]


@contextmanager
def reported_warnings() -> Iterator[Reported]:
    """Write each warning once, as one line on the standard error stream, and yield the list.

    Python's own form names a file and a line of source, which say nothing at a terminal. What was
    done to labels is no warning: it is kept apart, to be said first in the answer.
    """
    reported = Reported([], [])

    def report(message: Warning | str, *_: Any, **__: Any) -> None:
        text = _on_one_line(message)
        if isinstance(message, LabelsMatchedWarning):
            if text not in reported.first:
                reported.first.append(text)
        elif text not in reported.warnings:
            reported.warnings.append(text)
            sys.stderr.write(f"warning: {text}\n")
            sys.stderr.flush()

    with warnings.catch_warnings():
        warnings.simplefilter("always", KaratWarning)
        warnings.showwarning = report
        yield reported


def _on_one_line(warned: Warning | str) -> str:
    said = in_flags(warned.sentence) if isinstance(warned, KaratWarning) else str(warned)
    return " ".join(said.split())


# --- Tables that a command writes.

_WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc"}


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes a frame in the format that the ending of a path says, to whatever path."""

    flag: str
    path: Path
    method: str

    def check(self, frame: Any) -> None:
        """Refuse a format that cannot hold the columns of a frame, before the work."""
        from karat._validate import refuse_option

        try:
            getattr(frame.head(1), self.method)(BytesIO())
        except Exception as error:  # the writers raise many kinds of error
            endings = " or ".join(e for e, method in _WRITERS.items() if method != self.method)
            expected = f"a name that ends in {endings} for this table ({first_line(error)})"
            refuse_option(str(self.path), self.flag, expected)

    def __call__(self, frame: Any, target: Path) -> None:
        """Write a frame, or say in a line why not."""
        try:
            getattr(frame, self.method)(target)
        except OSError:
            raise
        except Exception as error:  # the writers raise many kinds of error
            said = f"{str(self.path)!r} cannot be written: {first_line(error)}"
            raise DataError(said) from error


def table_writer(flag: str, path: Path) -> TableWriter:
    """Return the writer for the ending of a path."""
    from karat._validate import refuse_option

    method = _WRITERS.get(path.suffix.lower())
    if method is None:
        refuse_option(str(path), flag, f"a name that ends in {' or '.join(_WRITERS)}")
    return TableWriter(flag, path, method)


def for_people(frame: Any, writer: TableWriter) -> Any:
    """Return a table that somebody will fill in: in CSV, no cell is taken for a formula."""
    if writer.method != "write_csv":
        return frame
    import polars as pl

    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    escaped = (frame[name].map_elements(escape_cell, return_dtype=pl.String) for name in texts)
    return frame.with_columns(escaped).rename({name: escape_cell(name) for name in frame.columns})


# --- Characters that a terminal's encoding lacks.

# What karat's own sentences, tables and bars are made of, as ASCII has it. Names that a file holds
# are not changed: any other character is shown as its number.
_PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "‑": "-",
    "…": "...",
    "×": "x",
    "·": "*",
    "•": "*",
    "°": " deg",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "→": "->",
    "∞": "inf",
    "±": "+-",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "²": "^2",
    "√": "sqrt",
    "\u00a0": " ",
    "│": "|",
    "─": "-",
    "━": "-",
    "┃": "|",
    "█": "#",
    "░": ".",
    "✓": "yes",
    "✗": "no",
    "λ": "lambda",
    "γ": "gamma",
    "α": "alpha",
    "ε": "epsilon",
    "Ŷ": "Y^",
}


def plain_characters(*streams: Any) -> None:
    """Let streams print what their encoding lacks: signs as ASCII has them, others as numbers."""
    codecs.register_error("karat-plain", _plain)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="karat-plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    known = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(known), error.end
