"""The boundary of what classifiers attain, as counted and smoothed (figure 8.1, guideline G1)."""

from collections.abc import Sequence

from markupsafe import Markup

from karat.studio.charts._axes import plain_ticks, scale
from karat.studio.charts.elements import element, group

__all__ = ["boundary_svg"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 360, 70, 305

Line = Sequence[tuple[float, float]]


def boundary_svg(counted: Line, smoothed: Line, *, x_axis: str, y_axis: str) -> Markup:
    """Return a picture of two lines of points: solid as counted, dashed as smoothed."""
    every = [*counted, *smoothed] or [(0.0, 0.0), (1.0, 1.0)]
    left, right = min(x for x, _ in every), max(x for x, _ in every)
    low, high = min(y for _, y in every), max(y for _, y in every)
    across = scale(left, right, _LEFT, _WIDTH - 16, log=False)
    up = scale(low, high, _BOTTOM, 30, log=False)

    def line(points: Line, class_: str) -> Markup | None:
        places = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        return element("polyline", class_=class_, points=places, fill="none") if points else None

    return element(
        "svg",
        element("title", f"Solid: {y_axis} against {x_axis} as counted; dashed: smoothed."),
        *(
            group("tick", element("line", x1=_LEFT, x2=_WIDTH - 16, y1=up(t), y2=up(t)),
                  element("text", f"{t:g}", x=_LEFT - 8, y=up(t) + 5, text_anchor="end"))
            for t in plain_ticks(low, high)
        ),
        *(
            group("tick", element("line", x1=across(t), x2=across(t), y1=30, y2=_BOTTOM),
                  element("text", f"{t:g}", x=across(t), y=_BOTTOM + 20, text_anchor="middle"))
            for t in plain_ticks(left, right)
        ),
        line(counted, "counted"),
        line(smoothed, "smoothed"),
        element("text", y_axis, class_="axis", x=4, y=16),
        element("text", x_axis, class_="axis", x=(_LEFT + _WIDTH) / 2, y=_HEIGHT - 12,
                text_anchor="middle"),
        class_="chart boundary",
        role="img",
        attributes={"viewBox": f"0 0 {_WIDTH} {_HEIGHT}"},
    )  # fmt: skip
