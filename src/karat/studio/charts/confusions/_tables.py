"""Confusions as tables: the picture of several classes, and the numbers for screen readers."""

from collections.abc import Sequence

from markupsafe import Markup

from karat.studio.charts.confusions._side import Side
from karat.studio.charts.confusions._words import Table, difference, outcome, share, totals
from karat.studio.charts.elements import element, joined

__all__ = ["confusion_table", "numbers_table"]


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
                "td", f"{total:,}", _change(difference(total, other[j]) if other else ""),
                class_="total",
            )
            for j, total in enumerate(predicted)
        ),
        element("td", f"{side.out_of:,}", class_="total"),
    )  # fmt: skip
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
            rows.append(_row(outcome(what, predicted), cells))
    columns = [totals(side)[1] for side in sides]
    for j, predicted in enumerate(class_names):
        cells = [f"{column[j]:,}" for column in columns]
        if len(sides) == 2:
            cells.append(f"{columns[1][j] - columns[0][j]:+,}")
        rows.append(_row(f"predicted {predicted} in all", cells))
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


def _row(head: str, cells: Sequence[str]) -> Markup:
    return element("tr", element("th", head, scope="row"), *(element("td", cell) for cell in cells))
