"""Answers as one self-contained HTML page, or as Markdown.

A `Report` is data: verdicts on top, a `Section` per question, what to do next, and the facts that
the numbers were made of. `render_report` and `render_markdown` turn it into a page.
"""

from karat.report._render import figure_svg, render_markdown, render_report, result_svg
from karat.report._report import NextStep, Report, Section, Table, Verdict

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
