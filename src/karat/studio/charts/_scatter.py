"""Points with a line through medians: response time against closeness (guideline G5)."""

from collections.abc import Sequence

from markupsafe import Markup

from karat.studio.charts._axes import log_ticks, plain_ticks, scale
from karat.studio.charts.elements import element, group

__all__ = ["scatter_svg"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 320, 70, 270


def scatter_svg(
    points: Sequence[tuple[float, float, bool]],
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    log_y: bool = True,
) -> Markup:
    """Return a picture of points (x, y, marked); a marked one is a cross, others are circles."""
    ys = [y for _, y, _ in points if y > 0 or not log_y] or [1.0]
    low, high = (min(ys) / 1.2, max(ys) * 1.2) if log_y else (min(0.0, *ys, 0.0), max(*ys, 1e-9))
    right = max([x for x, _, _ in points] or [1.0]) or 1.0
    across = scale(0.0, right, _LEFT + 8, _WIDTH - 14, log=False)
    up = scale(low, high, _BOTTOM, 16, log=log_y)
    y_ticks = log_ticks(low, high) if log_y else plain_ticks(low, high)
    return element(
        "svg",
        element("title", title),
        *(
            group(
                "tick",
                element("line", x1=_LEFT, x2=_WIDTH - 14, y1=up(t), y2=up(t)),
                element("text", f"{t:g}", x=_LEFT - 8, y=up(t) + 5, text_anchor="end"),
            )
            for t in y_ticks
        ),
        *(
            group(
                "tick",
                element("text", f"{t:g}", x=across(t), y=_BOTTOM + 20, text_anchor="middle"),
            )
            for t in plain_ticks(0.0, right)
        ),
        *(_mark(across(x), up(y), marked) for x, y, marked in points),
        element("text", y_axis, class_="axis", x=4, y=12),
        element("text", x_axis, class_="axis", x=(_LEFT + _WIDTH) / 2, y=_HEIGHT - 8,
                text_anchor="middle"),
        class_="chart scatter",
        role="img",
        attributes={"viewBox": f"0 0 {_WIDTH} {_HEIGHT}"},
    )  # fmt: skip


def _mark(x: float, y: float, marked: bool) -> Markup:
    if marked:
        d = f"M{x - 4:.1f},{y - 4:.1f} l8,8 M{x - 4:.1f},{y + 4:.1f} l8,-8"
        return element("path", class_="point wrong", d=d)
    return element("circle", class_="point", cx=x, cy=y, r=3.5)
