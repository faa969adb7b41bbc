"""Answers as one self-contained HTML page, or as Markdown.

A `Report` is data: verdicts on top, a `Section` per question, what to do next, and the facts that
the numbers were made of; these parts of it stand in `karat.report.parts`. `render_report` and
`render_markdown` turn it into a page.
"""

from karat.report._render import figure_svg, render_markdown, render_report, result_svg
from karat.report.parts import Report, Section

__all__ = ["Report", "Section", "figure_svg", "render_markdown", "render_report", "result_svg"]
