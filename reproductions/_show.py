"""What the reproductions share: tables on the terminal, and figures that are promised."""

import importlib.util
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Promise", "number", "say", "show_table", "verdict"]

_WIDTH = 140


class Promise(NamedTuple):
    """A figure that a reproduction has to reach."""

    what: str
    value: float
    wanted: float
    at_most: bool = False

    @property
    def kept(self) -> bool:
        """Whether it is reached."""
        return self.value <= self.wanted if self.at_most else self.value >= self.wanted

    def line(self) -> str:
        """Return the figure, what was wanted and whether it is reached."""
        sign = "at most" if self.at_most else "at least"
        state = "kept" if self.kept else "MISSED"
        return f"{state}: {self.what}: {self.value:.3f} (promised: {sign} {self.wanted:g})"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as text; a dash if there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def say(text: str) -> None:
    """Print a paragraph at once, also into a pipe."""
    print(text, flush=True)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, with rich where it is installed."""
    if importlib.util.find_spec("rich") is None:
        _show_plain(title, columns, rows)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=title, box=box.SIMPLE, title_justify="left")
    for row in rows:
        table.add_row(*row)
    console = Console(width=None if Console().is_terminal else _WIDTH, highlight=False)
    console.print(table)


def _show_plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [list(columns), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    say(title)
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    say("")


def verdict(promises: Sequence[Promise]) -> int:
    """Print every promised figure; return the exit code, 1 if one is missed."""
    say("Promised figures")
    for promise in promises:
        say(f"  {promise.line()}")
    missed = sum(not promise.kept for promise in promises)
    if missed:
        say(f"{missed} of {len(promises)} promised figures missed")
    return int(missed > 0)
