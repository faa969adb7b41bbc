"""Pictures for the pages of a study, drawn on the server as SVG and HTML.

Pure functions of a few numbers, so that a page, a test and a screenshot get the same picture. Only
classes and attributes are used, never inline styles, so that a strict content security policy
holds; colours are those of the style sheet, on light and dark pages. Nothing is said by colour
alone; every picture has a title, and those of classifiers a table of their numbers for screen
readers (the numbers of other pictures stand in tables of the pages that show them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from markupsafe import Markup
from markupsafe import escape as escaped

from karat._typing import IntArray
from karat._validate import check_choice, check_count, refuse_option

_BOX = 118  # width of a box that names a class
_THICKEST = 44.0  # thickness of the thickest line between two boxes


# --- Two classifiers side by side.

VIEWS = ("flow", "bars", "errors", "table")


def comparison_svg(
    first: IntArray | Sequence[object],
    second: IntArray | Sequence[object],
    *,
    out_of: int,
    class_names: Sequence[str],
    view: str = "flow",
    conditioned: bool = False,
    groups: Sequence[str] | None = None,
    names: Sequence[str] = ("System A", "System B"),
    truth: Sequence[str] | None = None,
) -> Markup:
    """Return a figure of two classifiers side by side, as HTML with SVG in it.

    Parameters
    ----------
    first, second : array-like of int, (k, k) or (groups, k, k)
        Whole numbers of cases; rows are the truth and columns the prediction.
    out_of : int
        Number of cases in all, in each group if there are groups.
    class_names : sequence of str
        Names of the classes.
    view : {"flow", "bars", "errors", "table"}, default "flow"
        The flow-chart, which is for two classes (more are shown as a table); bars; the errors
        alone; or a table.
    conditioned : bool, default False
        Whether to show shares of the true class beside the counts.
    groups : sequence of str, optional
        Names of the groups, one picture each.
    names : (str, str)
        What the two classifiers are called.
    truth : sequence of str, optional
        What is true of each class, as "have cancer"; by default "are" and the name of the class.

    Returns
    -------
    markupsafe.Markup
        Text that templates insert as it is: all names in it are escaped.
    """
    check_choice(view, "view", VIEWS)
    check_count(out_of, "out_of")
    sides = [_whole(first, "first", class_names), _whole(second, "second", class_names)]
    if sides[0].shape != sides[1].shape:
        refuse_option(sides[1].shape, "second's shape", f"that of first, {sides[0].shape}")
    known = [None] if groups is None and len(sides[0]) == 1 else list(groups or [])
    if not known:
        known = [f"group {g + 1}" for g in range(len(sides[0]))]
    if len(known) != len(sides[0]):
        refuse_option(list(known), "groups", f"{len(sides[0])} names, one a table of counts")
    shared: dict[str, Any] = {
        "out_of": out_of,
        "class_names": tuple(class_names),
        "truth": tuple(truth or [f"are {label}" for label in class_names]),
        "conditioned": conditioned,
    }
    parts = [
        _pair(one.tolist(), other.tolist(), view, group_name, names, shared)
        for one, other, group_name in zip(*sides, known, strict=True)
    ]
    # The same question has the same id, so that a page is the same when it is loaded again.
    mark = f"zoom-{crc32(repr([side.tolist() for side in sides]).encode()):08x}"
    return element(
        "figure",
        element("input", type="checkbox", id=mark, class_="zoom"),
        element("label", "Zoom in", for_=mark, class_="zoom-label"),
        *parts,
        class_=f"comparison {view}",
    )


def _whole(counts: object, name: str, class_names: Sequence[str]) -> IntArray:
    """Return counts as (groups, k, k)."""
    table = np.asarray(counts)
    k = len(class_names)
    if table.ndim not in (2, 3) or table.shape[-2:] != (k, k) or table.dtype.kind not in "iu":
        refuse_option(
            f"{table.dtype} of shape {table.shape}",
            name,
            f"whole numbers of shape ({k}, {k}) or (groups, {k}, {k}) for {k} class_names",
        )
    return np.asarray(table.reshape(-1, k, k))


def _pair(
    first: list[list[int]],
    second: list[list[int]],
    view: str,
    group_name: str | None,
    names: Sequence[str],
    shared: dict[str, Any],
) -> Markup:
    class_names, out_of = shared["class_names"], shared["out_of"]
    drawn: dict[str, Callable[[Side], Markup]] = {
        "flow": flow_svg if len(class_names) == 2 else confusion_table,
        "bars": bars_svg,
        "errors": errors_svg,
        "table": confusion_table,
    }
    draw = drawn[view]
    shown = []
    for name, counts, other in ((names[0], first, second), (names[1], second, first)):
        full = name if group_name is None else f"{name}, {group_name}"
        picture = draw(Side(name=full, counts=counts, other=other, **shared))
        if draw is confusion_table:
            picture = wide(picture, full)
        shown.append(element("div", element("p", name, class_="side-name"), picture, class_="side"))
    title = f"Out of {out_of:,}" if group_name is None else f"Out of {out_of:,} in {group_name}"
    return element(
        "div",
        None
        if group_name is None
        else element("p", f"{group_name}: out of {out_of:,}", class_="group-name"),
        element("div", *shown, class_="pair"),
        numbers_table(names, (first, second), shared["truth"], class_names, title),
        class_="shown",
    )


# --- The confusion of one classifier, as all its pictures take it.

Table = Sequence[Sequence[int]]  # whole numbers of cases; rows are the truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What a picture of one classifier needs.

    Attributes
    ----------
    name : str
        What the classifier is called on the page.
    counts : sequence of sequences of int
        Whole numbers of cases; rows are the truth, columns the prediction.
    other : sequence of sequences of int or None
        The counts of the classifier beside it, which differences are measured from.
    out_of : int
        Number of cases in all.
    class_names : tuple of str
        What the classes are called as predictions: "high risk".
    truth : tuple of str
        What is true of the cases of each class, as the end of a sentence: "have cancer".
    conditioned : bool
        Whether shares of the true class are shown beside the counts (guideline G8).
    """

    name: str
    counts: Table
    other: Table | None
    out_of: int
    class_names: tuple[str, ...]
    truth: tuple[str, ...]
    conditioned: bool

    def number(self, i: int, j: int) -> str:
        """Return how many cases of class i are predicted j, marked as right or wrong."""
        count = self.counts[i][j]
        said = f"{'✓' if i == j else '✗'} {count:,}"
        return f"{said} ({share(count, sum(self.counts[i]))})" if self.conditioned else said

    def change(self, i: int, j: int) -> str:
        """Return how that number compares with the other side's; nothing if it is the same."""
        return "" if self.other is None else difference(self.counts[i][j], self.other[i][j])

    def classes_of(self, kind: str, i: int, j: int) -> str:
        """Return the classes of the style sheet for what shows that number."""
        marks = f"{kind} {'right' if i == j else 'wrong'}"
        return f"{marks} changed" if self.change(i, j) else marks


# --- The flow-chart of two classes: truth left, predictions right (figure 8.3 with guideline G3).

_FLOW_WIDTH, _FLOW_HEIGHT = 420, 262
_FLOW_LEFT, _FLOW_RIGHT = _BOX, _FLOW_WIDTH - _BOX  # where flows begin and end
_MIDDLE = (82.0, 206.0)  # heights of the two classes
_HALF = 52.0  # half of a box's height
_SLOT = 25.0  # from the middle of a box to each of its two flows


def flow_svg(side: Side) -> Markup:
    """Return the picture of one classifier."""
    truth, predicted = totals(side.counts)
    other = None if side.other is None else totals(side.other)[1]
    return element(
        "svg",
        element("title", sentence(side.name, side.counts, side.truth, side.class_names)),
        element("text", f"Truth, out of {side.out_of:,}", class_="column", x=0, y=16),
        element("text", "Prediction", class_="column", x=_FLOW_WIDTH, y=16, text_anchor="end"),
        *(_band(side, i, j) for i in range(2) for j in range(2)),
        *(_flow_box(side, side.truth[i], "in truth", i, truth[i], None, 0.0) for i in range(2)),
        *(
            _flow_box(
                side,
                side.class_names[j],
                "predicted",
                j,
                predicted[j],
                None if other is None else other[j],
                _FLOW_RIGHT,
            )
            for j in range(2)
        ),
        *(_label(side, i, j) for i in range(2) for j in range(2)),
        class_="chart flow",
        role="img",
        attributes={"viewBox": f"0 0 {_FLOW_WIDTH} {_FLOW_HEIGHT}"},
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
    start, end, bend = _slot(i, j), _slot(j, i), (_FLOW_LEFT + _FLOW_RIGHT) / 2
    path = (
        f"M{_FLOW_LEFT},{start - half:.1f} C{bend},{start - half:.1f} {bend},{end - half:.1f} "
        f"{_FLOW_RIGHT},{end - half:.1f} L{_FLOW_RIGHT},{end + half:.1f} C{bend},{end + half:.1f} "
        f"{bend},{start + half:.1f} {_FLOW_LEFT},{start + half:.1f} Z"
    )
    return element("path", class_="right" if i == j else "wrong", d=path)


def _flow_box(
    side: Side, name: str, word: str, which: int, total: int, other: int | None, x: float
) -> Markup:
    middle, centre = _MIDDLE[which], x + _BOX / 2
    changed = "" if other is None else difference(total, other)
    said = f"{total:,} of {side.out_of:,}"
    said = said if len(said) <= 13 else f"{total:,}"  # the heading says out of how many
    return group(
        "box changed" if changed else "box",
        element("rect", x=x + 1, y=middle - _HALF, width=_BOX - 2, height=2 * _HALF, rx=6),
        element("text", word, class_="small", x=centre, y=middle - 32, text_anchor="middle"),
        text_lines(name, centre, middle - 10, class_="name"),
        element("text", said, class_="count", x=centre, y=middle + 23, text_anchor="middle"),
        element("text", changed, class_="change", x=centre, y=middle + 41, text_anchor="middle")
        if changed
        else None,
    )


def _label(side: Side, i: int, j: int) -> Markup:
    """Return the number on a flow: where flows cross, beside the box that they come from."""
    x = (_FLOW_LEFT + _FLOW_RIGHT) / 2 if i == j else _FLOW_LEFT + 4 + pill_width(side, i, j) / 2
    y = _slot(i, j) if i == j else _slot(i, j) + (8 if i < j else -8)
    return pill(side, i, j, x, y)


# --- Bars: how the cases of each true class are predicted (figure 8.3), for any number of classes.

_BARS_WIDTH = 420
_BARS_START = 128  # where bars begin
_LONGEST = 130.0  # bar
_BAR_HEIGHT = 34  # of the row of one bar
_HEAD = 34  # height of the heading of a true class


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
            y += _BAR_HEIGHT
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
        attributes={"viewBox": f"0 0 {_BARS_WIDTH} {y + 24:g}"},
    )


def _bar(side: Side, i: int, j: int, y: float, per_case: float) -> Markup:
    change, name = side.change(i, j), side.class_names[j]
    end = _BARS_START + max(per_case * side.counts[i][j], 1.0)
    shown = name if len(name) <= 13 else f"{name[:12]}…"
    return group(
        side.classes_of("bar", i, j),
        element(
            "text", "predicted", class_="small", x=_BARS_START - 8, y=y + 11, text_anchor="end"
        ),
        element("text", shown, class_="name", x=_BARS_START - 8, y=y + 26, text_anchor="end"),
        element(
            "rect", x=_BARS_START, y=y + 2, width=end - _BARS_START, height=_BAR_HEIGHT - 8, rx=2
        ),
        element("text", side.number(i, j), class_="count", x=end + 6, y=y + (13 if change else 19)),
        element("text", change, class_="change", x=end + 6, y=y + 28) if change else None,
    )


# --- Errors alone (guideline G4): what is taken for what, and how often.

_ERRORS_WIDTH = 420
_ERROR_HEIGHT = 84  # of the row of one kind of error


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
        element("text", "Prediction", class_="column", x=_ERRORS_WIDTH, y=16, text_anchor="end"),
        *(_error(side, i, j, 26.0 + _ERROR_HEIGHT * row, most) for row, (i, j) in enumerate(kinds)),
        class_="chart errors",
        role="img",
        attributes={"viewBox": f"0 0 {_ERRORS_WIDTH} {30 + _ERROR_HEIGHT * len(kinds)}"},
    )


def _error(side: Side, i: int, j: int, y: float, most: int) -> Markup:
    middle, start, end = y + 37.0, float(_BOX), float(_ERRORS_WIDTH - _BOX)
    count = side.counts[i][j]
    half = _THICKEST * count / most / 2
    tip = f"{start},{middle - half:.1f} {end - 14},{middle - half:.1f} {end},{middle} "
    tip += f"{end - 14},{middle + half:.1f} {start},{middle + half:.1f}"
    return group(
        "error",
        element("polygon", class_="wrong", points=tip) if count else None,
        _error_box(side.truth[i], "in truth", 0.0, middle),
        _error_box(side.class_names[j], "predicted", end, middle),
        pill(side, i, j, (start + end) / 2, middle),
    )


def _error_box(name: str, word: str, x: float, middle: float) -> Markup:
    centre = x + _BOX / 2
    return group(
        "box",
        element("rect", x=x + 1, y=middle - 34, width=_BOX - 2, height=68, rx=6),
        element("text", word, class_="small", x=centre, y=middle - 16, text_anchor="middle"),
        text_lines(name, centre, middle + 10, class_="name"),
    )


# --- The number on a flow, and how it compares with the other classifier's.


def pill_width(side: Side, i: int, j: int) -> float:
    """Return how wide a pill is: enough for its text in a wide font."""
    return max(9.0 * len(side.number(i, j)), 8.6 * len(side.change(i, j))) + 10


def pill(side: Side, i: int, j: int, x: float, y: float) -> Markup:
    """Return the number of cases of class i predicted j, centred at (x, y)."""
    number, change = side.number(i, j), side.change(i, j)
    width = pill_width(side, i, j)
    height = 38 if change else 24
    said = [element("text", number, class_="count", x=x, y=y + (-2 if change else 5))]
    if change:
        said.append(element("text", change, class_="change", x=x, y=y + 14))
    return group(
        side.classes_of("pill", i, j),
        element("rect", x=x - width / 2, y=y - height / 2, width=width, height=height, rx=5),
        element("g", *said, text_anchor="middle"),
    )


# --- Confusions as tables: the picture of several classes, and the numbers for screen readers.


def confusion_table(side: Side) -> Markup:
    """Return a k × k table with the differing cells marked: rows are the truth."""
    names = side.class_names
    truth, predicted = totals(side.counts)
    other = None if side.other is None else totals(side.other)[1]
    head = element(
        "tr",
        element("th", "Truth", scope="col"),
        *(element("th", f"predicted {name}", scope="col") for name in names),
        element("th", "in all", scope="col"),
    )
    rows = [
        element(
            "tr",
            element("th", what, scope="row"),
            *(_cell(side, i, j) for j in range(len(names))),
            element("td", f"{truth[i]:,}", class_="total"),
        )
        for i, what in enumerate(side.truth)
    ]
    foot = element(
        "tr",
        element("th", "predicted in all", scope="row"),
        *(
            element(
                "td",
                f"{total:,}",
                _change(difference(total, other[j]) if other else ""),
                class_="total",
            )
            for j, total in enumerate(predicted)
        ),
        element("td", f"{side.out_of:,}", class_="total"),
    )
    return element(
        "table",
        element("caption", f"{side.name}, out of {side.out_of:,}", class_="visually-hidden"),
        element("thead", head),
        element("tbody", *rows),
        element("tfoot", foot),
        class_="confusion",
    )


def _cell(side: Side, i: int, j: int) -> Markup:
    number = f"{'✓' if i == j else '✗'} {side.counts[i][j]:,}"
    part = share(side.counts[i][j], sum(side.counts[i])) if side.conditioned else ""
    return element(
        "td",
        element("span", number, class_="count"),
        element("span", part, class_="part") if part else None,
        _change(side.change(i, j)),
        class_=side.classes_of("cell", i, j),
    )


def _change(text: str) -> Markup | None:
    return element("span", text, class_="change") if text else None


def numbers_table(
    names: Sequence[str],
    sides: Sequence[Table],
    truth: Sequence[str],
    class_names: Sequence[str],
    title: str,
) -> Markup:
    """Return every number of a picture, with the difference, for those who do not see it."""
    heads = [*names, "difference"] if len(sides) == 2 else list(names)
    rows = []
    for i, what in enumerate(truth):
        for j, predicted in enumerate(class_names):
            cells = [f"{s[i][j]:,} ({share(s[i][j], sum(s[i]))})" for s in sides]
            if len(sides) == 2:
                cells.append(f"{sides[1][i][j] - sides[0][i][j]:+,}")
            rows.append(_numbers_row(outcome(what, predicted), cells))
    columns = [totals(side)[1] for side in sides]
    for j, predicted in enumerate(class_names):
        cells = [f"{column[j]:,}" for column in columns]
        if len(sides) == 2:
            cells.append(f"{columns[1][j] - columns[0][j]:+,}")
        rows.append(_numbers_row(f"predicted {predicted} in all", cells))
    table = element(
        "table",
        element("caption", f"{title}; shares of the true class in brackets"),
        element(
            "thead",
            element("tr", *(element("th", head, scope="col") for head in ("outcome", *heads))),
        ),
        element("tbody", joined(rows)),
    )
    # Tables take no width below that of their cells, so it is what holds the table that is hidden.
    return element("div", table, class_="visually-hidden")


def _numbers_row(head: str, cells: Sequence[str]) -> Markup:
    return element("tr", element("th", head, scope="row"), *(element("td", cell) for cell in cells))


# --- One classifier alone.


def single_svg(
    counts: IntArray | Sequence[object],
    *,
    out_of: int,
    class_names: Sequence[str],
    view: str = "flow",
    conditioned: bool = False,
    name: str = "A system",
    truth: Sequence[str] | None = None,
) -> Markup:
    """Return a figure of one classifier's counts (k, k); options as in `comparison_svg`."""
    rows = np.asarray(counts).tolist()
    what = tuple(truth or [f"are {label}" for label in class_names])
    side = Side(
        name=name,
        counts=rows,
        other=None,
        out_of=out_of,
        truth=what,
        class_names=tuple(class_names),
        conditioned=conditioned,
    )
    if view == "bars":
        picture = bars_svg(side)
    elif len(rows) == 2 and view != "table":
        picture = flow_svg(side)
    else:
        picture = wide(confusion_table(side), name)
    return element(
        "figure",
        picture,
        numbers_table((name,), (rows,), what, class_names, f"Out of {out_of:,}"),
        class_="comparison single",
    )


# --- Two lines: what is attained, as counted and as smoothed.

_BOUNDARY_WIDTH, _BOUNDARY_HEIGHT, _BOUNDARY_LEFT, _BOUNDARY_BOTTOM = 560, 360, 70, 305

Line = Sequence[tuple[float, float]]


def boundary_svg(counted: Line, smoothed: Line, *, x_axis: str, y_axis: str) -> Markup:
    """Return a picture of two lines of points: solid as counted, dashed as smoothed."""
    every = [*counted, *smoothed] or [(0.0, 0.0), (1.0, 1.0)]
    left, right = min(x for x, _ in every), max(x for x, _ in every)
    low, high = min(y for _, y in every), max(y for _, y in every)
    across = scale(left, right, _BOUNDARY_LEFT, _BOUNDARY_WIDTH - 16, log=False)
    up = scale(low, high, _BOUNDARY_BOTTOM, 30, log=False)

    def line(points: Line, class_: str) -> Markup | None:
        places = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        return element("polyline", class_=class_, points=places, fill="none") if points else None

    return element(
        "svg",
        element("title", f"Solid: {y_axis} against {x_axis} as counted; dashed: smoothed."),
        *(
            group(
                "tick",
                element("line", x1=_BOUNDARY_LEFT, x2=_BOUNDARY_WIDTH - 16, y1=up(t), y2=up(t)),
                element("text", f"{t:g}", x=_BOUNDARY_LEFT - 8, y=up(t) + 5, text_anchor="end"),
            )
            for t in plain_ticks(low, high)
        ),
        *(
            group(
                "tick",
                element("line", x1=across(t), x2=across(t), y1=30, y2=_BOUNDARY_BOTTOM),
                element(
                    "text", f"{t:g}", x=across(t), y=_BOUNDARY_BOTTOM + 20, text_anchor="middle"
                ),
            )
            for t in plain_ticks(left, right)
        ),
        line(counted, "counted"),
        line(smoothed, "smoothed"),
        element("text", y_axis, class_="axis", x=4, y=16),
        element(
            "text",
            x_axis,
            class_="axis",
            x=(_BOUNDARY_LEFT + _BOUNDARY_WIDTH) / 2,
            y=_BOUNDARY_HEIGHT - 12,
            text_anchor="middle",
        ),
        class_="chart boundary",
        role="img",
        attributes={"viewBox": f"0 0 {_BOUNDARY_WIDTH} {_BOUNDARY_HEIGHT}"},
    )


# --- Points, some of them marked: response time against closeness (guideline G5).

_SCATTER_WIDTH, _SCATTER_HEIGHT, _SCATTER_LEFT, _SCATTER_BOTTOM = 720, 320, 70, 270


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
    across = scale(0.0, right, _SCATTER_LEFT + 8, _SCATTER_WIDTH - 14, log=False)
    up = scale(low, high, _SCATTER_BOTTOM, 16, log=log_y)
    y_ticks = log_ticks(low, high) if log_y else plain_ticks(low, high)
    return element(
        "svg",
        element("title", title),
        *(
            group(
                "tick",
                element("line", x1=_SCATTER_LEFT, x2=_SCATTER_WIDTH - 14, y1=up(t), y2=up(t)),
                element("text", f"{t:g}", x=_SCATTER_LEFT - 8, y=up(t) + 5, text_anchor="end"),
            )
            for t in y_ticks
        ),
        *(
            group(
                "tick",
                element(
                    "text", f"{t:g}", x=across(t), y=_SCATTER_BOTTOM + 20, text_anchor="middle"
                ),
            )
            for t in plain_ticks(0.0, right)
        ),
        *(_mark(across(x), up(y), marked) for x, y, marked in points),
        element("text", y_axis, class_="axis", x=4, y=12),
        element(
            "text",
            x_axis,
            class_="axis",
            x=(_SCATTER_LEFT + _SCATTER_WIDTH) / 2,
            y=_SCATTER_HEIGHT - 8,
            text_anchor="middle",
        ),
        class_="chart scatter",
        role="img",
        attributes={"viewBox": f"0 0 {_SCATTER_WIDTH} {_SCATTER_HEIGHT}"},
    )


def _mark(x: float, y: float, marked: bool) -> Markup:
    if marked:
        d = f"M{x - 4:.1f},{y - 4:.1f} l8,8 M{x - 4:.1f},{y + 4:.1f} l8,-8"
        return element("path", class_="point wrong", d=d)
    return element("circle", class_="point", cx=x, cy=y, r=3.5)


# --- Estimates with their limits, one row each: people's metrics, agreement, shared weights.

_INTERVALS_WIDTH, _INTERVALS_START, _INTERVALS_END = 720, 170, 700
_INTERVAL_HEIGHT = 30  # of the row of one estimate


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
    place = scale(low, high, _INTERVALS_START, _INTERVALS_END, log=log)
    ticks = log_ticks(low, high) if log else plain_ticks(low, high)
    bottom = 18 + _INTERVAL_HEIGHT * len(rows)
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
        *(
            _interval(row, 18 + _INTERVAL_HEIGHT * i, place, low, high)
            for i, row in enumerate(rows)
        ),
        element(
            "text",
            said,
            class_="axis",
            x=(_INTERVALS_START + _INTERVALS_END) / 2,
            y=bottom + 40,
            text_anchor="middle",
        ),
        class_="chart intervals",
        role="img",
        attributes={"viewBox": f"0 0 {_INTERVALS_WIDTH} {bottom + 50}"},
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


def _interval(row: Interval, y: float, place: Scale, low: float, high: float) -> Markup:
    middle = y + _INTERVAL_HEIGHT / 2 - 4
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
        element(
            "text", name, class_="name", x=_INTERVALS_START - 10, y=middle + 5, text_anchor="end"
        ),
        element("line", class_="limits", x1=left, x2=right, y1=middle, y2=middle),
        *arrows,
        element("circle", class_="estimate", cx=place(row.estimate), cy=middle, r=5),
        diamond,
    )


def _arrow(x: float, y: float, way: int) -> Markup:
    """Return the head of an arrow: limits go on beyond the picture."""
    return element(
        "polyline",
        class_="limits",
        fill="none",
        points=f"{x - 7 * way:.1f},{y - 5} {x:.1f},{y} {x - 7 * way:.1f},{y + 5}",
    )


# --- Axes for pictures of numbers: ticks that are round, on a plain or a logarithmic scale.

Scale = Callable[[float], float]


def plain_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers between two ends."""
    if high <= low:
        return [low]
    raw = (high - low) / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= raw)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(step * n, 12) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten between two ends; powers alone if they are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) <= 4 else (1,)
    found = [f * 10.0**p for p in powers for f in factors]
    return [t for t in found if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]


def scale(low: float, high: float, start: float, end: float, *, log: bool) -> Scale:
    """Return the map from values between ``low`` and ``high`` to places; what is outside is cut."""
    at = math.log if log else float
    left, right = at(low), at(high)
    span = right - left or 1.0

    def place(value: float) -> float:
        inside = min(max(value, low), high)
        return start + (end - start) * (at(inside) - left) / span

    return place


# --- What pictures say: outcomes, shares and differences in words.
#
# People who know machine learning take "labelled" for the truth, so predictions are "predicted"
# (guideline G6 of Hiranandani 2021).


def outcome(truth: str, predicted: str) -> str:
    """Return what happened to a case, in words."""
    return f"{truth}, predicted {predicted}"


def share(count: int, total: int) -> str:
    """Return a count as a percentage of the cases of its true class."""
    if total == 0:
        return "–"
    percent = 100.0 * count / total
    digits = 1 if percent < 99.95 and percent >= 0.05 else 0
    return f"{percent:.{digits}f}\N{NO-BREAK SPACE}%"


def difference(here: int, there: int) -> str:
    """Return how a count compares with that of the other classifier; nothing if they are equal."""
    if here == there:
        return ""
    return f"▲ {here - there:,} more" if here > there else f"▼ {there - here:,} fewer"


def totals(counts: Table) -> tuple[list[int], list[int]]:
    """Return the numbers of cases of each true class and of each predicted class."""
    return [sum(row) for row in counts], [sum(column) for column in zip(*counts, strict=True)]


def sentence(name: str, counts: Table, truth: Sequence[str], class_names: Sequence[str]) -> str:
    """Return all of a confusion as one sentence, for those who do not see the picture."""
    parts = []
    for what, row in zip(truth, counts, strict=True):
        said = ", ".join(
            f"{count:,} predicted {predicted}"
            for count, predicted in zip(row, class_names, strict=True)
        )
        parts.append(f"of {sum(row):,} that {what}: {said}")
    return f"{name}: {'; '.join(parts)}."


# --- Elements of SVG and HTML as text, with everything that comes from outside escaped.

_EMPTY = ("input",)  # elements that HTML does not close


def element(
    name: str, /, *children: object, attributes: dict[str, object] | None = None, **more: object
) -> Markup:
    """Return one element; children that are not markup yet are escaped.

    Attributes are keyword arguments, ``class_`` for ``class`` and an underscore for a hyphen;
    those that XML writes otherwise (``viewBox``) go in ``attributes``. None leaves one out, and
    numbers are written with at most two decimals.
    """
    known = {key.rstrip("_").replace("_", "-"): value for key, value in more.items()}
    known.update(attributes or {})
    written = "".join(
        f' {key}="{_shown(value)}"' for key, value in known.items() if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Return parts one after another; text among them is escaped."""
    # Plain text while it is put together: a page has hundreds of elements, and `Markup` is slow.
    return Markup(
        "".join(
            part if type(part) is Markup else str.__str__(escaped(part))
            for part in parts
            if part is not None
        )
    )


def group(class_: str, *children: object) -> Markup:
    """Return a group of SVG elements that share a class."""
    return element("g", *children, class_=class_)


def wide(table: Markup, name: str) -> Markup:
    """Return a table in a region that scrolls sideways, by keyboard too."""
    return element(
        "div", table, class_="wide", tabindex="0", role="region", aria_label=f"Table: {name}"
    )


def text_lines(
    text: str, x: float, y: float, *, class_: str, anchor: str = "middle", width: int = 13
) -> Markup:
    """Return text of at most two lines around ``y``; what does not fit is cut, with an ellipsis."""
    lines = wrap(text, width) or [""]
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][: width - 1]}…"]
    first = y - 7.5 * (len(lines) - 1)
    return joined(
        element("text", line, class_=class_, x=x, y=first + 15 * i, text_anchor=anchor)
        for i, line in enumerate(lines)
    )


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))
