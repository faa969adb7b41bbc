"""Two classifiers side by side."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from markupsafe import Markup

from karat._typing import IntArray
from karat._validate import check_choice, check_count, refuse_option
from karat.studio.charts.confusions import (
    Side,
    bars_svg,
    confusion_table,
    errors_svg,
    flow_svg,
    numbers_table,
)
from karat.studio.charts.elements import element, wide

__all__ = ["VIEWS", "comparison_svg"]

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
        _pair(one.tolist(), other.tolist(), view, group, names, shared)
        for one, other, group in zip(*sides, known, strict=True)
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
            f"{table.dtype} of shape {table.shape}", name,
            f"whole numbers of shape ({k}, {k}) or (groups, {k}, {k}) for {k} class_names",
        )  # fmt: skip
    return np.asarray(table.reshape(-1, k, k))


def _pair(
    first: list[list[int]],
    second: list[list[int]],
    view: str,
    group: str | None,
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
        full = name if group is None else f"{name}, {group}"
        picture = draw(Side(name=full, counts=counts, other=other, **shared))
        if draw is confusion_table:
            picture = wide(picture, full)
        shown.append(element("div", element("p", name, class_="side-name"), picture, class_="side"))
    title = f"Out of {out_of:,}" if group is None else f"Out of {out_of:,} in {group}"
    return element(
        "div",
        None if group is None else element("p", f"{group}: out of {out_of:,}", class_="group-name"),
        element("div", *shown, class_="pair"),
        numbers_table(names, (first, second), shared["truth"], class_names, title),
        class_="shown",
    )
