"""What a command, or a report on one result, says: lines and tables, and a page of findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from karat.evaluation.questions import Finding
from karat.report import Report, render_report
from karat.report.parts import NextStep, Table, Verdict


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
    findings : callable
        Returns the sections of the page; it is called, and pictures are drawn, only for a page.
    verdicts, next_steps, facts : sequence
        The other parts of a page, as in `karat.report.Report`.
    """

    data: dict[str, Any] = field(default_factory=dict)
    text: Sequence[str | Table] = ()
    title: str = ""
    introduction: str = ""
    findings: Callable[[], Sequence[Finding]] = tuple
    verdicts: Sequence[Verdict] = ()
    next_steps: Sequence[NextStep] = ()
    facts: Sequence[tuple[str, str]] = ()

    def page(self) -> Report:
        """Return the page as data, with the pictures."""
        return Report(
            title=self.title,
            introduction=self.introduction,
            sections=tuple(finding.section() for finding in self.findings()),
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
