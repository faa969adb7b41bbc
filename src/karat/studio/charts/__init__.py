"""Pictures for the pages of a study, drawn on the server as SVG and HTML.

Pure functions of a few numbers, so that a page, a test and a screenshot get the same picture. Only
classes and attributes are used, never inline styles, so that a strict content security policy
holds; colours are those of the style sheet, on light and dark pages. Nothing is said by colour
alone; every picture has a title, and those of classifiers a table of their numbers for screen
readers (the numbers of other pictures stand in tables of the pages that show them).
"""

from karat.studio.charts._boundary import boundary_svg
from karat.studio.charts._comparison import VIEWS, comparison_svg
from karat.studio.charts._intervals import Interval, interval_svg
from karat.studio.charts._scatter import scatter_svg
from karat.studio.charts._single import single_svg

__all__ = [
    "VIEWS",
    "Interval",
    "boundary_svg",
    "comparison_svg",
    "interval_svg",
    "scatter_svg",
    "single_svg",
]
