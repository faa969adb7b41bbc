"""Bars: how the cases of each true class are predicted (figure 8.3), for any number of classes."""

from markupsafe import Markup

from karat.studio.charts.confusions._side import Side
from karat.studio.charts.confusions._words import sentence, totals
from karat.studio.charts.elements import element, group, joined

__all__ = ["bars_svg"]

_WIDTH = 420
_START = 128  # where bars begin
_LONGEST = 130.0
_ROW = 34
_HEAD = 34


def bars_svg(side: Side) -> Markup:
    """Return the picture of one classifier: a bar for each truth and prediction."""
    truth, predicted = totals(side.counts)
    k = len(truth)
    most = max(max(truth), 1)
    parts: list[Markup] = []
    y = 0.0
    for i, what in enumerate(side.truth):
        head = f"{what}: {truth[i]:,} of {side.out_of:,}"
        parts.append(element("text", head, class_="heading", x=0, y=y + 22))
        y += _HEAD
        for j in range(k):
            parts.append(_bar(side, i, j, y, _LONGEST / most))
            y += _ROW
        y += 10
    said = ", ".join(
        f"{name} {total:,}" for name, total in zip(side.class_names, predicted, strict=True)
    )
    parts.append(element("text", f"predicted in all: {said}", class_="small", x=0, y=y + 16))
    return element(
        "svg",
        element("title", sentence(side.name, side.counts, side.truth, side.class_names)),
        joined(parts),
        class_="chart bars",
        role="img",
        attributes={"viewBox": f"0 0 {_WIDTH} {y + 24:g}"},
    )


def _bar(side: Side, i: int, j: int, y: float, scale: float) -> Markup:
    change, name = side.change(i, j), side.class_names[j]
    end = _START + max(scale * side.counts[i][j], 1.0)
    shown = name if len(name) <= 13 else f"{name[:12]}…"
    return group(
        side.classes_of("bar", i, j),
        element("text", "predicted", class_="small", x=_START - 8, y=y + 11, text_anchor="end"),
        element("text", shown, class_="name", x=_START - 8, y=y + 26, text_anchor="end"),
        element("rect", x=_START, y=y + 2, width=end - _START, height=_ROW - 8, rx=2),
        element("text", side.number(i, j), class_="count", x=end + 6, y=y + (13 if change else 19)),
        element("text", change, class_="change", x=end + 6, y=y + 28) if change else None,
    )
