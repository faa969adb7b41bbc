"""From a report to one HTML file with no outside references."""

from karat import __version__
from karat._characters import visible
from karat._extras import require
from karat.report._report import Report

__all__ = ["render_report"]


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
