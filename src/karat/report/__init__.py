"""One self-contained HTML page of answers (extra ``report``)."""

from karat.report._figure import figure_svg, result_svg
from karat.report._render import render_report
from karat.report._section import Section, Table

__all__ = ["Section", "Table", "figure_svg", "render_report", "result_svg"]
