"""Two confusions as text that people can compare: whole numbers of cases, side by side."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.elicit.transcript import Query

__all__ = ["by_group", "comparison_text", "whole_counts"]


def by_group(query: Query, groups: Any = None) -> list[tuple[str | None, FloatArray, FloatArray]]:
    """Return the name and both confusions of each group, scaled to sum to 1.

    Without groups there is one entry, whose name is None.
    """
    if query.first.ndim == 2:
        return [(None, query.first, query.second)]
    names = range(len(query.first)) if groups is None else groups
    return [
        (str(name), first / first.sum(), second / second.sum())
        for name, first, second in zip(names, query.first, query.second, strict=True)
    ]


def comparison_text(query: Query, classes: Any, out_of: int, groups: Any = None) -> str:
    """Return both confusions as a table of text, one line for each kind of outcome."""
    return "\n\n".join(
        _table(name, first, second, classes, out_of)
        for name, first, second in by_group(query, groups)
    )


def _table(group: str | None, one: FloatArray, other: FloatArray, classes: Any, out_of: int) -> str:
    first, second = (whole_counts(table, out_of) for table in (one, other))
    k = len(first)
    names = [str(c) for c in (range(k) if classes is None else classes)]
    rows = []
    for i in range(k):
        for j in range(k):
            text = f"{names[i]} called {names[j]}" if i != j else f"{names[i]} recognised"
            rows.append((text, first[i, j], second[i, j], i == j))
    width = max(len(row[0]) for row in rows)
    head = f"of {out_of:,} cases" if group is None else f"of {out_of:,} in {group}"
    width = max(width, len(head))
    lines = [f"{head:<{width}}  {'first':>8}  {'second':>8}  difference"]
    for text, a, b, right in rows:
        change = b - a
        mark = "" if change == 0 else (" better" if (change > 0) == right else " worse")
        shown = "" if change == 0 else f"{change:+d}{mark}"
        lines.append(f"{text:<{width}}  {a:>8,}  {b:>8,}  {shown}")
    return "\n".join(lines)


def whole_counts(confusion: FloatArray, out_of: int) -> Any:
    """Return a confusion as whole counts that keep the total of each true class."""
    counts = np.asarray(confusion, dtype=float) * out_of
    whole = np.floor(counts + 1e-9).astype(int)
    for row, exact in zip(whole, counts, strict=True):  # the largest remainders are rounded up
        lacking = round(exact.sum()) - row.sum()
        order = np.argsort(-(exact - row), kind="stable")
        row[order[: max(lacking, 0)]] += 1
    return whole
