"""Two confusions as text that people can compare: whole numbers of cases, side by side."""

from typing import Any

from karat._typing import IntArray
from karat.elicit.transcript import Query
from karat.metrics.wording import class_name

__all__ = ["comparison_text", "counts_by_group"]


def counts_by_group(
    query: Query, out_of: int, groups: Any = None
) -> list[tuple[str | None, IntArray, IntArray]]:
    """Return the name and the counts of both sides of each group.

    Without groups there is one entry, whose name is None.
    """
    first, second = query.counts(out_of)
    if first.ndim == 2:
        return [(None, first, second)]
    known = range(len(first)) if groups is None else groups
    names = [name if isinstance(name, str) else f"group {name}" for name in known]
    return list(zip(names, first, second, strict=True))


def comparison_text(query: Query, classes: Any, out_of: int, groups: Any = None) -> str:
    """Return both confusions as a table of text, one line for each kind of outcome."""
    return "\n\n".join(
        _table(name, first, second, classes, out_of)
        for name, first, second in counts_by_group(query, out_of, groups)
    )


def _table(group: str | None, first: IntArray, second: IntArray, classes: Any, out_of: int) -> str:
    k = len(first)
    names = [class_name(c) for c in (range(k) if classes is None else classes)]
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
