"""Render a report to one HTML file or to Markdown, with pictures as SVG."""

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat import __version__
from karat._characters import visible
from karat._extras import require
from karat._result import Result
from karat.plot.style import INK
from karat.report.parts import Report, Section, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
            f"- **{v.badge}** — {_text(v.sentence)}"
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


def render_report(report: Report) -> str:
    """Return a self-contained HTML page; everything but the figures is escaped.

    Parameters
    ----------
    report : Report
        What the page says.
    """
    jinja2 = require("jinja2", purpose="writing a report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("karat.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    template = environment.get_template("report.html")
    page: str = template.render(report=report, version=__version__)
    return visible(page)


def result_svg(result: Result) -> str:
    """Return the picture of a result as an SVG element, and leave no figure open.

    Parameters
    ----------
    result : Result
        Any result of karat that can be drawn.
    """
    pyplot = require("matplotlib.pyplot", purpose="putting a picture into a report")
    figure: Figure = result.plot().figure  # type: ignore[assignment]
    try:
        return figure_svg(figure)
    finally:
        pyplot.close(figure)


def figure_svg(figure: "Figure") -> str:
    """Return a figure as an SVG element: text as text, no background, ink of the page's colour.

    The figure is left open; drawing it again gives the same text.
    """
    matplotlib = require("matplotlib", purpose="putting a figure into a report")
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "karat"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    # A page scales the picture to its width; only the proportions are the picture's own.
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    for ink in (INK, "#000000", "black"):
        svg = svg.replace(f"fill: {ink}", "fill: currentColor")
        svg = svg.replace(f"stroke: {ink}", "stroke: currentColor")
    # Text without a colour of its own is black in SVG; on a dark page it must be light.
    return svg.replace("<svg", '<svg fill="currentColor"', 1)
