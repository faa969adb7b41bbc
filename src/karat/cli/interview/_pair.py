"""The two classifiers of a question, drawn as bars."""

from typing import Any

from karat.elicit import Query, RateSpace, Space
from karat.elicit.oracles import counts_by_group
from karat.metrics.wording import class_name

__all__ = ["SHOWN_CASES", "drawn_pair"]

SHOWN_CASES = 1000
_BAR = 12  # characters of a bar


def drawn_pair(query: Query, space: Space, number: int) -> Any:
    """Return both confusions as bars, one row for each outcome, side by side."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    groups = space.groups if isinstance(space, RateSpace) else None
    table = Table(
        f"of {SHOWN_CASES:,} cases" + (" in each group" if query.first.ndim == 3 else ""),
        "first", "", "second", "",
        title=f"question {number}: which classifier is better?", box=box.SIMPLE,
        title_justify="left",
    )  # fmt: skip
    names = [escape(class_name(c)) for c in space.classes.tolist()]
    for group, first, second in counts_by_group(query, SHOWN_CASES, groups):
        head = "" if group is None else f"{escape(group)}: "
        for i, truth in enumerate(names):
            total = max(int(first[i].sum()), 1)
            for j, said in enumerate(names):
                text = head + (f"{truth} recognised" if i == j else f"{truth} as {said}")
                style = "green" if i == j else "red"
                bars = [f"[{style}]{_bar(int(side[i, j]), total)}[/]" for side in (first, second)]
                table.add_row(text, f"{first[i, j]:,}", bars[0], f"{second[i, j]:,}", bars[1])
            table.add_section()
    return table


def _bar(count: int, total: int) -> str:
    eighths = round(_BAR * 8 * count / total)
    return str("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip())
