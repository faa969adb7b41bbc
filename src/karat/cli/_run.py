"""Run a command: print its answer, write the page and the JSON, say errors in words of flags."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

# What loads NumPy is imported where it is called: `karat --help` needs none of it.
from karat._files import replaced
from karat.exceptions import DataError, KaratWarning, LabelsMatchedWarning

if TYPE_CHECKING:
    from karat.report import Section
    from karat.report.parts import NextStep, Verdict


def run(
    work: Callable[[], Any],
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
        page = None if output is None or answer.page is None else answer.page()
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


def _write(page: Page, warned: list[str], output: Path) -> None:
    """Write the page; its first section names the warnings among what the answer rests on."""
    from karat.report import Report, render_report

    first, *others = page.sections
    first = replace(first, assumptions=(*first.assumptions, *warned))
    report = Report(
        title=page.title,
        introduction=page.introduction,
        sections=(first, *others),
        verdicts=tuple(page.verdicts),
        next_steps=tuple(page.next_steps),
        facts=tuple(page.facts),
    )
    text = render_report(report)
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


def show(parts: Sequence[str | Grid]) -> None:
    """Print lines and tables; what a file holds is never read as markup."""
    out = console()
    for part in parts:
        if isinstance(part, str):
            out.print(options_in_flags(part), markup=False)
        elif _is_wider(table := _drawn(part), out):
            _print_cards(part, out)
        else:
            out.print(table)


def _is_wider(table: Any, out: Any) -> bool:
    from rich.measure import Measurement

    unbounded = out.options.update(width=_UNBOUNDED)
    return bool(Measurement.get(out, unbounded, table).maximum > out.width)


def _print_cards(grid: Grid, out: Any) -> None:
    """Print a table that is too wide row by row, a value a line: no name is cut or broken."""
    for first, *others in grid.rows:
        lines = [
            first,
            *(f"  {c}: {v}" for c, v in zip(grid.columns[1:], others, strict=True) if v),
        ]
        for line in lines:
            out.print(line, markup=False, soft_wrap=True)


def _drawn(grid: Grid) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in grid.columns:
        table.add_column(Text(name), overflow="fold")
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


# --- What a command found, before it is printed or written.


class Grid(NamedTuple):
    """A table of text, for the terminal and for a page."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


class Page(NamedTuple):
    """What stands on a page."""

    title: str
    introduction: str
    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = ()
    next_steps: Sequence[NextStep] = ()
    facts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command found.

    Attributes
    ----------
    data : dict
        What ``--json`` prints, beside ``warnings``; arrays and results become plain data. Names
        from a file, such as columns, are keys of the values and never of ``data`` itself.
    text : sequence of str or Grid
        What is printed otherwise, in order.
    page : callable, optional
        Makes the page of ``--output``. It is called only if there is one to write: pictures and
        templates take a second to load.
    """

    data: dict[str, Any]
    text: Sequence[str | Grid]
    page: Callable[[], Page] | None = None


def section(
    question: str,
    answer: str,
    *,
    result: Any = None,
    picture: str = "",
    grid: Grid | None = None,
    assumptions: Sequence[str] = (),
    code: str = "",
) -> Section:
    """Return a section of a page, with the picture of a result; ``picture`` says what it shows."""
    from karat.report import Section, result_svg
    from karat.report.parts import Table

    return Section(
        question=question,
        answer=answer if answer.endswith(".") else f"{answer}.",
        figure="" if result is None else result_svg(result),
        figure_text=picture,
        table=None if grid is None else Table(**grid._asdict()),
        assumptions=tuple(assumptions),
        code=code,
    )


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
        text = in_flags(" ".join(str(message).split()))
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


# --- Sentences of the library in the words of a command.

_FLAGS = {
    "y_true": "--label",
    "y_pred": "--pred",
    "y_score": "--score",
    "y_prob": "--prob",
    "weak_labels": "--weak",
    "votes": "--judge",
    "groups": "--group",
    "domains": "--group",
    "clusters": "--cluster",
    "sample_weight": "--weight",
    "label_probability": "--label-probability",
}
_OPTIONS = (
    "pos_label",
    "confidence",
    "null",
    "metric",
    "threshold",
    "class_prior",
    "limits",
    "at_least",
    "weighting",
)
_ROLES = ("label", "pred", "score", "prob", "weak", "judge", "group", "id", "weight")
# These look at labelled rows alone, so that the library's numbers of rows are not those of a file.
_LABELLED = {"score", "gate", "optimize", "calibration", "evaluate"}
# Words that are also words of a sentence are arguments only where a fault of theirs is told.
_COLUMN = r"(?: column ('[^']*'))?"
_ROW = r"( row \d+ is missing \(\d+ missing[^)]*\)|,? row \d+| holds text \(row \d+: )?"
_NAME = re.compile(
    rf"(?<![\w.'-])(y_\w+|weak_labels|sample_weight|label_probability){_COLUMN}{_ROW}(?![\w=('-])"
    rf"|(?<![\w.'-])(votes|groups|domains|clusters){_COLUMN}(?= (?:row|holds|has \d)){_ROW}"
)
# What helps in Python and not at a terminal, and what is said instead.
_INSTEAD = (
    (re.compile(r"[.;] If the others just do not occur here.*$"), "; add rows of another class"),
    (
        re.compile(r"[.;,] (?:Name them with classes=|or y_true == one of them|and classes= ).*$"),
        "",
    ),
    (re.compile(r", or pass classes= if (?:it is|they are) \S.*$"), ""),
    (re.compile(r"; leave pos_label out, or name the classes .*$"), "; leave --pos-label out"),
    (re.compile(r" Pass classes= if they are right$"), ""),
    (re.compile(r", or name the metric's classes with metric\.with_classes\(.*\)$"), ""),
    (re.compile(r"replace (\{.*\}) in the labels"), r"replace \1 in the file"),
    (re.compile(r", or pass format=$"), ""),
    # A flag that is not given is None in Python.
    (re.compile(r", ('[^']*') or None$"), r" or \1"),
    (re.compile(r"(?<=expected )('[^']*') or None$"), r"\1"),
    (re.compile(r"^classes holds"), "the labels are of"),
    *((re.compile(rf"^{o} (?=is )"), f"--{o.replace('_', '-')} ") for o in _OPTIONS),
    (re.compile(rf"\b({'|'.join(_ROLES)})=['\"]([^'\"]*)['\"]"), r"--\1 \2"),
)

_words: ContextVar[Sequence[str]] = ContextVar("_words", default=())


@contextmanager
def command_line(words: Sequence[str]) -> Iterator[None]:
    """Note the words of the command that runs, by which sentences name its columns."""
    token = _words.set(tuple(words))
    try:
        yield
    finally:
        _words.reset(token)


def in_flags(text: str) -> str:
    """Return a sentence with flags and columns where the library names its arguments.

    >>> with command_line(["auc", "mails.csv", "--label", "truth", "--score", "p"]):
    ...     in_flags("y_score row 3 is missing or NaN (1 such rows in all)")
    '--score p data row 4 is missing or NaN (1 such rows in all)'
    """
    words = _words.get()
    if not words:
        return text
    for phrase, instead in _INSTEAD:
        text = phrase.sub(instead, text)
    text = _NAME.sub(
        lambda m: _flagged(m[1] or m[4], m[2] or m[5], m[3] or m[6] or "", words), text
    )
    return options_in_flags(text)


def options_in_flags(text: str) -> str:
    """Return an answer with flags where the library names an argument to pass.

    >>> options_in_flags("pass some labels as y_true=, or pos_label='spam'")
    "pass some labels as --label, or --pos-label 'spam'"
    >>> options_in_flags("pass class_prior=, or some labels")
    'pass --class-prior, or some labels'
    """
    for name, flag in _FLAGS.items():
        text = re.sub(rf"\b{name}=(?=[\s.,;)]|$)", flag, text)
    for name in _OPTIONS:
        flag = f"--{name.replace('_', '-')}"
        text = re.sub(rf"\b{name}=(?=[\s.,;)]|$)", flag, text)
        text = re.sub(rf"\b{name}=", f"{flag} ", text)
    return text


def _flagged(name: str, column: str | None, row: str, words: Sequence[str]) -> str:
    flag = _FLAGS.get(name)
    if flag is None:
        return f"{name}{row}"
    given = [after for word, after in zip(words, [*words[1:], ""], strict=True) if word == flag]
    given += [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
    if column is not None:
        given = [column[1:-1]]
    one = len(given) == 1 and not set(given[0]) & set("*?[,")
    return f"{flag} {given[0]}{_placed(row, words)}" if one else f"{flag}{_placed(row, words)}"


def _placed(row: str, words: Sequence[str]) -> str:
    """Return where a fault is: data rows count from 1, and labelled ones are not rows of a file."""
    if words[0] not in _LABELLED:
        return re.sub(r",? ?(\(?)row (\d+)", lambda m: f" {m[1]}data row {int(m[2]) + 1}", row)
    if missing := re.search(r"\((\d+) missing", row):
        return f" is empty in {missing[1]} rows"
    return " holds text (such as " if "holds text" in row else ""


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
        from karat.sources.opening import first_line

        try:
            getattr(frame.head(1), self.method)(BytesIO())
        except Exception as error:  # the writers raise many kinds of error
            endings = " or ".join(e for e, method in _WRITERS.items() if method != self.method)
            expected = f"a name that ends in {endings} for this table ({first_line(error)})"
            refuse_option(str(self.path), self.flag, expected)

    def __call__(self, frame: Any, target: Path) -> None:
        """Write a frame, or say in a line why not."""
        from karat.sources.opening import first_line

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
