"""Text and tables at the terminal."""

from collections.abc import Sequence
from typing import Any

from karat.cli.frame._answer import Grid
from karat.cli.wording import options_in_flags

__all__ = ["console", "show"]

# Into a pipe nothing is wrapped or cut: whoever reads it there has no window.
_UNBOUNDED = 10_000


def console(*, stderr: bool = False) -> Any:
    """Return a console as wide as the terminal, or without bounds where there is none."""
    from rich.console import Console

    chosen = Console(stderr=stderr, highlight=False)
    if not chosen.is_terminal:
        chosen = Console(stderr=stderr, highlight=False, width=_UNBOUNDED)
    return chosen


def show(parts: Sequence[str | Grid]) -> None:
    """Print lines and tables; what a file holds is never read as markup."""
    out = console()
    for part in parts:
        if not isinstance(part, Grid):
            out.print(options_in_flags(part), markup=False)
        elif _is_wider(table := _drawn(part), out):
            _print_cards(part, out)
        else:
            out.print(table)


def _is_wider(table: Any, out: Any) -> bool:
    from rich.measure import Measurement

    unbounded = out.options.update(width=_UNBOUNDED)
    return bool(Measurement.get(out, unbounded, table).maximum > out.width)


def _print_cards(grid: Grid, out: Any) -> None:
    """Print a table that is too wide row by row, a value a line: no name is cut or broken."""
    for first, *others in grid.rows:
        lines = [
            first,
            *(f"  {c}: {v}" for c, v in zip(grid.columns[1:], others, strict=True) if v),
        ]
        for line in lines:
            out.print(line, markup=False, soft_wrap=True)


def _drawn(grid: Grid) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in grid.columns:
        table.add_column(Text(name), overflow="fold")
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table
