"""From sections to one HTML file with no outside references."""

from collections.abc import Sequence

from karat import __version__
from karat._extras import require
from karat.report._section import Section

__all__ = ["render_report"]


def render_report(title: str, introduction: str, sections: Sequence[Section]) -> str:
    """Return a self-contained HTML page; everything but the figures is escaped.

    Parameters
    ----------
    title, introduction : str
        What stands at the top.
    sections : sequence of Section
        One per question, in the order to show them.
    """
    jinja2 = require("jinja2", purpose="writing a report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("karat.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page: str = environment.get_template("report.html").render(
        title=title, introduction=introduction, sections=sections, version=__version__
    )
    return page
