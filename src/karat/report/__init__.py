"""One self-contained HTML page of answers (extra ``report``)."""

from karat.report._figure_svg import figure_svg
from karat.report._render_report import render_report
from karat.report._result_svg import result_svg
from karat.report._section import Section
from karat.report._table import Table

__all__ = ["Section", "Table", "figure_svg", "render_report", "result_svg"]
