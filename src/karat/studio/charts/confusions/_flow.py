"""The flow-chart of two classes: truth left, predictions right (figure 8.3 with guideline G3)."""

from markupsafe import Markup

from karat.studio.charts.confusions._pill import pill, pill_width
from karat.studio.charts.confusions._side import Side
from karat.studio.charts.confusions._words import difference, sentence, totals
from karat.studio.charts.elements import element, group, text_lines

__all__ = ["flow_svg"]

_WIDTH, _HEIGHT = 420, 262
_BOX = 118  # width of a box
_LEFT, _RIGHT = _BOX, _WIDTH - _BOX  # where flows begin and end
_MIDDLE = (82.0, 206.0)  # heights of the two classes
_HALF = 52.0  # half of a box's height
_SLOT = 25.0  # from the middle of a box to each of its two flows
_THICKEST = 44.0


def flow_svg(side: Side) -> Markup:
    """Return the picture of one classifier."""
    truth, predicted = totals(side.counts)
    other = None if side.other is None else totals(side.other)[1]
    return element(
        "svg",
        element("title", sentence(side.name, side.counts, side.truth, side.class_names)),
        element("text", f"Truth, out of {side.out_of:,}", class_="column", x=0, y=16),
        element("text", "Prediction", class_="column", x=_WIDTH, y=16, text_anchor="end"),
        *(_band(side, i, j) for i in range(2) for j in range(2)),
        *(_box(side, side.truth[i], "in truth", i, truth[i], None, 0.0) for i in range(2)),
        *(
            _box(
                side,
                side.class_names[j],
                "predicted",
                j,
                predicted[j],
                None if other is None else other[j],
                _RIGHT,
            )
            for j in range(2)
        ),
        *(_label(side, i, j) for i in range(2) for j in range(2)),
        class_="chart flow",
        role="img",
        attributes={"viewBox": f"0 0 {_WIDTH} {_HEIGHT}"},
    )


def _slot(own: int, across: int) -> float:
    """Return the height at which the flow between two boxes meets the box ``own``."""
    return _MIDDLE[own] + (_SLOT if across else -_SLOT)


def _band(side: Side, i: int, j: int) -> Markup | None:
    """Return the flow from truth i to prediction j, as wide as it has cases."""
    count = side.counts[i][j]
    if count == 0:
        return None
    half = max(2.5, _THICKEST * count / side.out_of) / 2
    start, end, bend = _slot(i, j), _slot(j, i), (_LEFT + _RIGHT) / 2
    path = (
        f"M{_LEFT},{start - half:.1f} C{bend},{start - half:.1f} {bend},{end - half:.1f} "
        f"{_RIGHT},{end - half:.1f} L{_RIGHT},{end + half:.1f} C{bend},{end + half:.1f} "
        f"{bend},{start + half:.1f} {_LEFT},{start + half:.1f} Z"
    )
    return element("path", class_="right" if i == j else "wrong", d=path)


def _box(
    side: Side, name: str, word: str, which: int, total: int, other: int | None, x: float
) -> Markup:
    middle, centre = _MIDDLE[which], x + _BOX / 2
    changed = "" if other is None else difference(total, other)
    said = f"{total:,} of {side.out_of:,}"
    said = said if len(said) <= 13 else f"{total:,}"  # the heading says out of how many
    return group(
        "box changed" if changed else "box",
        element(
            "rect", x=x + 1, y=middle - _HALF, width=_BOX - 2, height=2 * _HALF, rx=6,
        ),
        element("text", word, class_="small", x=centre, y=middle - 32, text_anchor="middle"),
        text_lines(name, centre, middle - 10, class_="name"),
        element(
            "text", said, class_="count", x=centre, y=middle + 23,
            text_anchor="middle",
        ),
        element("text", changed, class_="change", x=centre, y=middle + 41, text_anchor="middle")
        if changed
        else None,
    )  # fmt: skip


def _label(side: Side, i: int, j: int) -> Markup:
    """Return the number on a flow: where flows cross, beside the box that they come from."""
    x = (_LEFT + _RIGHT) / 2 if i == j else _LEFT + 4 + pill_width(side, i, j) / 2
    y = _slot(i, j) if i == j else _slot(i, j) + (8 if i < j else -8)
    return pill(side, i, j, x, y)
