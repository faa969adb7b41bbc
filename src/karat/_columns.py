"""The columns of a result's table: one row per estimate, group, class or point."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

from karat._frozen import Frozen

__all__ = ["crossed", "html_table", "one_row", "rows_of", "stacked", "vote_columns"]

_SCALARS = (bool, int, float, str, np.generic)
_SHOWN = 8  # rows that a notebook shows of a long table
_BESIDE_VOTES = {"count", "domain", "group", "prediction", "truth"}


def one_row(result: Any) -> dict[str, list[Any]]:
    """Return the fields that are one value each; a metric is given by its title.

    A number that is None becomes NaN, and anything else that is None is left out.
    """
    row: dict[str, list[Any]] = {}
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, Frozen) and (title := getattr(value, "title", None)) is not None:
            row[field.name] = [title]
        elif isinstance(value, _SCALARS):
            row[field.name] = [value]
        elif value is None and str(field.type).startswith(("float | None", "int | None")):
            row[field.name] = [float("nan")]
    if "pos_label" not in row and getattr(result, "pos_label", None) is not None:
        row["pos_label"] = [result.pos_label]
    return row


def rows_of(result: Any, columns: Iterable[str]) -> dict[str, Any]:
    """Return columns by a list of words: ``lower``, ``value=values`` or ``name=names[index]``.

    An attribute that is None is left out, and one that is a single value is repeated.
    """
    found: dict[str, Any] = {}
    for word in columns:
        name, _, source = word.partition("=")
        attribute, _, index = (source or name).partition("[")
        values = getattr(result, attribute)
        if values is None:
            continue
        if index:
            values = [values[i] for i in getattr(result, index.rstrip("]"))]
        found[name] = values
    length = next(len(v) for v in found.values() if isinstance(v, list | tuple | np.ndarray))
    return {
        name: values if isinstance(values, list | tuple | np.ndarray) else [values] * length
        for name, values in found.items()
    }


def stacked(column: str, parts: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the row of every part under one another, with its name in the first column."""
    rows = [{column: [name]} | _row(part, column) for name, part in parts.items()]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, [None])[0] for row in rows] for name in names}


def _row(part: Any, column: str) -> dict[str, list[Any]]:
    return {name: value for name, value in one_row(part).items() if name != column}


def crossed(axes: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Return one row per cell of arrays whose axes have names and values."""
    shape = tuple(len(places) for places in axes.values())
    cells = dict(zip(axes, np.indices(shape).reshape(len(shape), -1), strict=True))
    named = {
        name: np.asarray(places)[cells[name]]
        if isinstance(places, np.ndarray)
        else [places[i] for i in cells[name]]
        for name, places in axes.items()
    }
    return named | {name: np.asarray(array).reshape(-1) for name, array in values.items()}


def vote_columns(names: Iterable[Any], codes: Any, classes: Any) -> dict[str, list[Any]]:
    """Return a column of labels per voter from codes: -1 where it abstained, None if not asked.

    A voter that has the name of another column gets an underscore.
    """
    abstained: Any = "-1" if np.asarray(classes).dtype.kind == "U" else -1
    labels = np.array([*np.asarray(classes).tolist(), None, abstained], dtype=object)
    columns: dict[str, list[Any]] = {}
    for name, column in zip(names, np.asarray(codes).T, strict=True):
        free = str(name)
        while free in columns or free in _BESIDE_VOTES:
            free += "_"
        columns[free] = labels[column].tolist()
    return columns


def html_table(named: list[tuple[Any, str]], columns: Callable[[], Mapping[str, Any]]) -> str:
    """Return a table for a notebook: names with values, else the first rows of all columns."""
    if named:
        return _html([([str(name)], [value]) for name, value in named])
    table = columns()
    length = len(next(iter(table.values())))
    if length == 1:
        return _html([([name], [_text(values[0])]) for name, values in table.items()])
    rows: list[tuple[list[str], list[str]]] = [
        ([], [_text(v[i]) for v in table.values()]) for i in range(min(length, _SHOWN))
    ]
    more = f"<p>{length - _SHOWN:,} more rows: to_frame()</p>" if length > _SHOWN else ""
    return _html([(list(table), []), *rows]) + more


def _html(rows: list[tuple[list[str], list[str]]]) -> str:
    said = "".join(
        "<tr>"
        + "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in names)
        + "".join(f"<td>{escape(value)}</td>" for value in values)
        + "</tr>"
        for names, values in rows
    )
    # Pages without a document type give tables a colour of their own, black on black.
    return f"<table style='color:inherit'>{said}</table>"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
