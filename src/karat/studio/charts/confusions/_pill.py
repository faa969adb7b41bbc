"""The number on a flow, and how it compares with the other classifier's."""

from markupsafe import Markup

from karat.studio.charts.confusions._side import Side
from karat.studio.charts.elements import element, group

__all__ = ["pill", "pill_width"]


def pill_width(side: Side, i: int, j: int) -> float:
    """Return how wide a pill is: enough for its text in a wide font."""
    return max(9.0 * len(side.number(i, j)), 8.6 * len(side.change(i, j))) + 10


def pill(side: Side, i: int, j: int, x: float, y: float) -> Markup:
    """Return the number of cases of class i predicted j, centred at (x, y)."""
    number, change = side.number(i, j), side.change(i, j)
    wide = pill_width(side, i, j)
    high = 38 if change else 24
    said = [element("text", number, class_="count", x=x, y=y + (-2 if change else 5))]
    if change:
        said.append(element("text", change, class_="change", x=x, y=y + 14))
    return group(
        side.classes_of("pill", i, j),
        element("rect", x=x - wide / 2, y=y - high / 2, width=wide, height=high, rx=5),
        element("g", *said, text_anchor="middle"),
    )
