"""Answers as one self-contained HTML page, or as Markdown.

A `Report` is data: verdicts on top, a `Section` per question, what to do next, and the facts that
the numbers were made of. `render_report` and `render_markdown` turn it into a page.
"""

from karat.report._figure_svg import figure_svg
from karat.report._next_step import NextStep
from karat.report._render_markdown import render_markdown
from karat.report._render_report import render_report
from karat.report._report import Report
from karat.report._result_svg import result_svg
from karat.report._section import Section
from karat.report._table import Table
from karat.report._verdict import Verdict

__all__ = [
    "NextStep",
    "Report",
    "Section",
    "Table",
    "Verdict",
    "figure_svg",
    "render_markdown",
    "render_report",
    "result_svg",
]
