"""What is found, before it is printed or drawn: a `Finding` per question, an `Answer` of several.

The command line prints an answer and writes its page; in Python ``answer.to_html()`` gives it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from karat._callers import caller_level
from karat._result import Frozen, Result
from karat.exceptions import KaratWarning, MissingExtraError
from karat.report._render import render_report, result_svg
from karat.report.parts import NextStep, Report, Section, Table, Verdict


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finding(Frozen):
    """The answer to one question.

    Attributes
    ----------
    key : str
        Name of the question in `Evaluation.findings`.
    question, answer : str
        Heading and answer of the section.
    results : dict
        The results of the library by name; the first is drawn.
    picture : str
        What the picture shows.
    """

    key: str
    question: str
    answer: str
    results: dict[str, Result]
    picture: str = ""
    table: Table | None = None
    assumptions: tuple[str, ...] = ()
    code: str = ""
    verdicts: tuple[Verdict, ...] = ()
    next_steps: tuple[NextStep, ...] = ()
    drawn: Result | None = None

    def section(self) -> Section:
        """Return the section of a report, with its picture."""
        figure = "" if self.drawn is None else _picture(self.drawn)
        return Section(
            question=self.question,
            answer=sentence(self.answer),
            figure=figure,
            figure_text=self.picture if figure else "",
            table=self.table,
            assumptions=self.assumptions,
            code=self.code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question about a table, for a terminal, a page and a program.

    Attributes
    ----------
    data : dict
        The results by name; arrays and results become plain data where it is written. Names from
        a file, such as columns, are keys of the values and never of ``data`` itself.
    text : sequence of str or Table
        What is printed, in order.
    title, introduction : str
        What stands at the top of the page.
    findings : callable, optional
        Returns the sections of the page, drawn or not; it is called, and pictures are drawn, only
        for a page.
    verdicts, next_steps, facts : sequence
        The other parts of a page, as in `karat.report.Report`.
    """

    data: dict[str, Any] = field(default_factory=dict)
    text: Sequence[str | Table] = ()
    title: str = ""
    introduction: str = ""
    findings: Callable[[], Sequence[Finding | Section]] | None = None
    verdicts: Sequence[Verdict] = ()
    next_steps: Sequence[NextStep] = ()
    facts: Sequence[tuple[str, str]] = ()

    def page(self) -> Report:
        """Return the page as data, with the pictures."""
        found = () if self.findings is None else self.findings()
        return Report(
            title=self.title,
            introduction=self.introduction,
            sections=tuple(f if isinstance(f, Section) else f.section() for f in found),
            verdicts=tuple(self.verdicts),
            next_steps=tuple(self.next_steps),
            facts=tuple(self.facts),
        )

    def to_html(self) -> str:
        """Return the page as HTML."""
        return render_report(self.page())


def finding(
    question: str,
    answer: str,
    result: Any = None,
    *,
    picture: str = "",
    table: Table | None = None,
    assumptions: Sequence[str] = (),
    code: str = "",
) -> Finding:
    """Return a finding about one result, whose picture is drawn on the page."""
    return Finding(
        key=question,
        question=question,
        answer=answer,
        results={} if result is None else {"result": result},
        drawn=result,
        picture=picture,
        table=table,
        assumptions=tuple(assumptions),
        code=code,
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> Table:
    """Return a table of text."""
    return Table(columns=tuple(columns), rows=tuple(map(tuple, rows)), caption=caption)


def sentence(text: str) -> str:
    """Return text that ends as a sentence does."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _picture(result: Result) -> str:
    """Return the picture of a result; where matplotlib is absent none, and a warning says so."""
    try:
        return result_svg(result)
    except MissingExtraError as error:
        warnings.warn(f"the page has no pictures: {error}", KaratWarning, stacklevel=caller_level())
        return ""
