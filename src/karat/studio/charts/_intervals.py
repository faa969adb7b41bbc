"""Estimates with their limits, one row each: people's metrics, agreement, shared weights."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from karat.studio.charts._axes import Scale, log_ticks, plain_ticks, scale
from karat.studio.charts.elements import element, group

__all__ = ["Interval", "interval_svg"]

_WIDTH, _START, _END, _ROW = 720, 170, 700, 30


class Interval(NamedTuple):
    """One row: a name, an estimate with limits, what to compare it with, and a word about it."""

    name: str
    estimate: float
    lower: float
    upper: float
    baseline: float | None = None
    note: str = ""


def interval_svg(
    rows: Sequence[Interval],
    *,
    title: str,
    axis: str,
    log: bool = False,
    ends: tuple[float, float] | None = None,
    baseline: str = "guess",
) -> Markup:
    """Return a picture of estimates with limits; ``baseline`` says what the diamond is."""
    low, high = ends or _ends(rows, log)
    place = scale(low, high, _START, _END, log=log)
    ticks = log_ticks(low, high) if log else plain_ticks(low, high)
    bottom = 18 + _ROW * len(rows)
    marks = [
        group(
            "tick",
            element("line", x1=place(t), x2=place(t), y1=10, y2=bottom),
            element("text", f"{t:g}", x=place(t), y=bottom + 18, text_anchor="middle"),
        )
        for t in ticks
    ]
    said = axis
    if any(row.baseline is not None for row in rows):
        said += f" (● estimate with limits, ◇ {baseline})"
    return element(
        "svg",
        element("title", title),
        *marks,
        *(_row(row, 18 + _ROW * i, place, low, high) for i, row in enumerate(rows)),
        element(
            "text", said, class_="axis", x=(_START + _END) / 2, y=bottom + 40, text_anchor="middle"
        ),
        class_="chart intervals",
        role="img",
        attributes={"viewBox": f"0 0 {_WIDTH} {bottom + 50}"},
    )


def _ends(rows: Sequence[Interval], log: bool) -> tuple[float, float]:
    seen = [v for row in rows for v in (row.estimate, row.lower, row.upper, row.baseline)]
    known = [v for v in seen if v is not None and math.isfinite(v) and (v > 0 or not log)]
    if not known:
        return (0.1, 10.0) if log else (0.0, 1.0)
    low, high = min(known), max(known)
    if not log:
        return low - 0.05 * (high - low or 1.0), high + 0.05 * (high - low or 1.0)
    # Limits without end must not push everything else into a corner.
    middle = [row.estimate for row in rows if row.estimate > 0 and math.isfinite(row.estimate)]
    if middle:
        low, high = max(low, min(middle) / 100), min(high, max(middle) * 100)
    return low / 1.3, high * 1.3


def _row(row: Interval, y: float, place: Scale, low: float, high: float) -> Markup:
    middle = y + _ROW / 2 - 4
    name = row.name if len(row.name) <= 22 else f"{row.name[:21]}…"
    left, right = place(row.lower), place(row.upper)
    arrows = []
    if row.lower < low:
        arrows.append(_arrow(left, middle, -1))
    if row.upper > high:
        arrows.append(_arrow(right, middle, 1))
    diamond = None
    if row.baseline is not None:
        at = place(row.baseline)
        points = f"{at - 6:.1f},{middle} {at:.1f},{middle - 6} {at + 6:.1f},{middle} "
        diamond = element("polygon", class_="baseline", points=f"{points}{at:.1f},{middle + 6}")
    return group(
        f"interval {row.note}".strip(),
        element("text", name, class_="name", x=_START - 10, y=middle + 5, text_anchor="end"),
        element("line", class_="limits", x1=left, x2=right, y1=middle, y2=middle),
        *arrows,
        element("circle", class_="estimate", cx=place(row.estimate), cy=middle, r=5),
        diamond,
    )


def _arrow(x: float, y: float, way: int) -> Markup:
    """Return the head of an arrow: limits go on beyond the picture."""
    return element(
        "polyline", class_="limits", fill="none",
        points=f"{x - 7 * way:.1f},{y - 5} {x:.1f},{y} {x - 7 * way:.1f},{y + 5}",
    )  # fmt: skip
