"""A matplotlib figure as SVG that fits into a page."""

import io
import re
from typing import TYPE_CHECKING

from karat._extras import require
from karat.plot.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure_svg"]


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
