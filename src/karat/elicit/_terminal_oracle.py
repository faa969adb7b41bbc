"""Someone at a terminal: shows both confusions as counts, reads the answer."""

import sys
from typing import Any, TextIO

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_classes
from karat.elicit._query import Query

__all__ = ["TerminalOracle", "by_group", "side_by_side", "whole_counts"]

_KEYS = {
    "1": "first",
    "f": "first",
    "first": "first",
    "2": "second",
    "second": "second",
    "t": "tie",
    "=": "tie",
    "tie": "tie",
    "s": "skip",
    "skip": "skip",
}


class TerminalOracle:
    """Asks a person at the terminal, as numbers of cases out of so many (guideline G2).

    Parameters
    ----------
    classes : column (k,), optional
        Names of the classes, in the order of the confusions; by default 0..k-1.
    out_of : int, default 1000
        Number of cases that each confusion is shown for, in every group if there are groups.
    groups : column (m,), optional
        Names of the groups, in the order of the confusions; by default 0..m-1.
    stream_in, stream_out : text streams, optional
        Where answers come from and questions go; by default the terminal.
    """

    def __init__(
        self,
        classes: Any = None,
        *,
        out_of: int = 1000,
        groups: Any = None,
        stream_in: TextIO | None = None,
        stream_out: TextIO | None = None,
    ) -> None:
        self.classes = None if classes is None else check_classes(classes)
        self.groups = None if groups is None else check_classes(groups)
        self.out_of = out_of
        self.stream_in, self.stream_out = stream_in, stream_out
        self.n_answers = 0

    def __call__(self, query: Query) -> str:
        """Show a query and read the answer; asks again until it is one."""
        out = self.stream_out or sys.stdout
        self.n_answers += 1
        print(f"\nQuestion {self.n_answers}: which classifier is better?\n", file=out)
        print(side_by_side(query, self.classes, self.out_of, self.groups), file=out)
        while True:
            print("1 the first, 2 the second, t a tie, s skip > ", end="", file=out, flush=True)
            line = (self.stream_in or sys.stdin).readline()
            if not line:
                raise EOFError("the answers ended before the questions; nothing given is lost")
            answer = _KEYS.get(line.strip().lower())
            if answer is not None:
                return answer
            print(f"{line.strip()!r} is no answer.", file=out)


def by_group(query: Query, groups: Any = None) -> list[tuple[str | None, FloatArray, FloatArray]]:
    """Return both confusions of each group, which sum to 1 in it; None names all cases."""
    if query.first.ndim == 2:
        return [(None, query.first, query.second)]
    names = range(len(query.first)) if groups is None else groups
    return [
        (str(name), first / first.sum(), second / second.sum())
        for name, first, second in zip(names, query.first, query.second, strict=True)
    ]


def side_by_side(query: Query, classes: Any, out_of: int, groups: Any = None) -> str:
    """Return both confusions as a table of text, one line for each kind of outcome."""
    return "\n\n".join(
        _side_by_side(name, first, second, classes, out_of)
        for name, first, second in by_group(query, groups)
    )


def _side_by_side(
    group: str | None, one: FloatArray, other: FloatArray, classes: Any, out_of: int
) -> str:
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
    """Return whole counts that keep each true class's total."""
    counts = np.asarray(confusion, dtype=float) * out_of
    whole = np.floor(counts + 1e-9).astype(int)
    for row, exact in zip(whole, counts, strict=True):  # the largest remainders are rounded up
        lacking = round(exact.sum()) - row.sum()
        order = np.argsort(-(exact - row), kind="stable")
        row[order[: max(lacking, 0)]] += 1
    return whole
