"""Errors alone (guideline G4): what is taken for what, and how often."""

from markupsafe import Markup

from karat.studio.charts.confusions._pill import pill
from karat.studio.charts.confusions._side import Side
from karat.studio.charts.confusions._words import sentence
from karat.studio.charts.elements import element, group, text_lines

__all__ = ["errors_svg"]

_WIDTH = 420
_BOX = 118
_ROW = 84
_THICKEST = 44.0


def errors_svg(side: Side) -> Markup:
    """Return the picture of one classifier: a row for each kind of error."""
    k = len(side.class_names)
    kinds = [(i, j) for i in range(k) for j in range(k) if i != j]
    most = max(1, *(side.counts[i][j] for i, j in kinds))
    if side.other is not None:
        most = max(most, *(side.other[i][j] for i, j in kinds))
    said = sentence(side.name, side.counts, side.truth, side.class_names)
    return element(
        "svg",
        element("title", f"Errors alone. {said}"),
        element("text", "Truth", class_="column", x=0, y=16),
        element("text", "Prediction", class_="column", x=_WIDTH, y=16, text_anchor="end"),
        *(
            _row(side, i, j, 26.0 + _ROW * row, most)
            for row, (i, j) in enumerate(kinds)
        ),
        class_="chart errors",
        role="img",
        attributes={"viewBox": f"0 0 {_WIDTH} {30 + _ROW * len(kinds)}"},
    )  # fmt: skip


def _row(side: Side, i: int, j: int, y: float, most: int) -> Markup:
    middle, start, end = y + 37.0, float(_BOX), float(_WIDTH - _BOX)
    count = side.counts[i][j]
    half = _THICKEST * count / most / 2
    tip = f"{start},{middle - half:.1f} {end - 14},{middle - half:.1f} {end},{middle} "
    tip += f"{end - 14},{middle + half:.1f} {start},{middle + half:.1f}"
    return group(
        "error",
        element("polygon", class_="wrong", points=tip) if count else None,
        _box(side.truth[i], "in truth", 0.0, middle),
        _box(side.class_names[j], "predicted", end, middle),
        pill(side, i, j, (start + end) / 2, middle),
    )


def _box(name: str, word: str, x: float, middle: float) -> Markup:
    centre = x + _BOX / 2
    return group(
        "box",
        element("rect", x=x + 1, y=middle - 34, width=_BOX - 2, height=68, rx=6),
        element("text", word, class_="small", x=centre, y=middle - 16, text_anchor="middle"),
        text_lines(name, centre, middle + 10, class_="name"),
    )
