"""From a report to Markdown, for a pull request or the summary of a CI job."""

import re
from collections.abc import Iterator

from karat import __version__
from karat._characters import visible
from karat.report._report import Report
from karat.report._section import Section
from karat.report._table import Table

__all__ = ["render_markdown"]

# Characters that would start markup of their own: names of columns are text, never markup.
_MARKUP = re.compile(r"([\\`*_\[\]<>|#])")


def render_markdown(report: Report) -> str:
    """Return the report as Markdown; pictures are left out, tables and code are kept.

    Text is escaped, so that a column called ``a*b`` or ``<i>`` is shown as it is.

    Parameters
    ----------
    report : Report
        What the page says.
    """
    return visible("\n\n".join(_parts(report)) + "\n")


def _parts(report: Report) -> Iterator[str]:
    yield f"# {_text(report.title)}"
    yield _text(report.introduction)
    if report.verdicts:
        yield "\n".join(
            f"- **{v.badge_text}** — {_text(v.sentence)}"
            + (f" *What would change it:* {_text(v.change)}" if v.change else "")
            for v in report.verdicts
        )
    for section in report.sections:
        yield from _section(section)
    if report.next_steps:
        yield "## What to do next"
        for step in report.next_steps:
            yield f"- {_text(step.what)}"
            if step.command:
                yield _fenced(step.command, "sh")
    if report.facts:
        yield "## What these numbers were made of"
        yield _table(Table(columns=("what", "value"), rows=report.facts))
    yield f"Written by karat {__version__}."


def _section(section: Section) -> Iterator[str]:
    yield f"## {_text(section.question)}"
    yield _text(section.answer)
    if section.table is not None:
        if section.table.caption:
            yield f"*{_text(section.table.caption)}*"
        yield _table(section.table)
    if section.assumptions:
        yield "What this rests on:"
        yield "\n".join(f"- {_text(line)}" for line in section.assumptions)
    if section.code:
        yield _fenced(section.code.rstrip("\n"), "python")


def _text(text: str) -> str:
    """Return text on one line, with every character that Markdown would read escaped."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _table(table: Table) -> str:
    head, *rows = (
        "| " + " | ".join(map(_text, line)) + " |" for line in (table.columns, *table.rows)
    )
    return "\n".join([head, "|" + " --- |" * len(table.columns), *rows])


def _fenced(code: str, language: str) -> str:
    """Return code in a fence longer than any run of backquotes in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"
