"""The picture of a result as SVG."""

from typing import TYPE_CHECKING

from karat._extras import require
from karat._result import Result
from karat.report._figure_svg import figure_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["result_svg"]


def result_svg(result: Result) -> str:
    """Return the picture of a result as an SVG element, and leave no figure open.

    Parameters
    ----------
    result : Result
        Any result of karat that can be drawn.
    """
    pyplot = require("matplotlib.pyplot", purpose="putting a picture into a report")
    figure: Figure = result.plot().figure  # type: ignore[assignment]
    try:
        return figure_svg(figure)
    finally:
        pyplot.close(figure)
