"""Which columns of a file are verdicts on pairs, in which order."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.cli.frame import Coded, InputTable
from karat.cli.judging._columns import LongNames, matching
from karat.cli.voters import Todo
from karat.exceptions import ColumnError, OptionError

__all__ = ["PairFlags", "judges_of", "verdicts_of"]


class PairFlags(NamedTuple):
    """What the flags say of pairs."""

    order: Sequence[str]
    names: LongNames
    label: str | None = None
    group: str | None = None
    system: Sequence[str] = ()
    panel: bool = False
    cost: Sequence[str] = ()
    same: Sequence[str] = ()
    todo: Todo = Todo()
    labels: str | None = None
    label_probability: str | None = None


def verdicts_of(table: InputTable, flags: PairFlags) -> tuple[Coded, Coded | None]:
    """Return the verdicts: one long table, or two wide ones."""
    order = list(flags.order)
    if len(order) > 2:
        raise OptionError(
            f"--order is {order}; expected one column that says the order, or two: the verdicts in "
            "either order"
        )
    wide = len(order) == 2 and any(mark in "".join(order) for mark in "*?[")
    if wide:
        first, second = (matching(table, "--order", [pattern]) for pattern in order)
        if len(first) != len(second):
            raise ColumnError(
                f"--order {order[0]} matches {len(first)} columns and {order[1]} {len(second)}; "
                "expected a column per judge in either order"
            )
        same = dict(zip(second, first, strict=True))
        return (
            _named(table, flags, table.frame.select(first), f"frame[{first}]"),
            _named(
                table, flags, table.frame.select(second).rename(same),
                f"frame[{second}].rename({same})",
            ),
        )  # fmt: skip
    for name in order:
        table.column("--order", name)
    columns = flags.names.found(table, vote=len(order) == 1)
    if columns is None:
        raise ColumnError(
            f"--order: a long file has columns of items, judges and verdicts; name them with --id, "
            f"--voter and --vote. There are {table.frame.columns}"
        )
    called = {"item": columns["item"], "judge": columns["who"]}
    if len(order) == 1:
        called |= {"order": order[0], "verdict": columns["what"]}
    else:
        called |= {"verdict_order1": order[0], "verdict_order2": order[1]}
    picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
    frame = table.frame.select([table.frame[c].alias(name) for name, c in called.items()])
    return Coded(frame, f"frame.select({picked})"), None


def _named(table: InputTable, flags: PairFlags, frame: Any, code: str) -> Coded:
    """Return a wide table of verdicts with the names of its pairs, if the file has them."""
    item = flags.names.item_of(table)
    if item is None or item in frame.columns:
        return Coded(frame, code)
    names = table.frame[item]
    if flags.names.item is None and names.n_unique() < len(names):
        return Coded(frame, code)  # nobody said that this column names the pairs
    return Coded(
        frame.with_columns(names.alias("item")), f"{code}.with_columns(item=frame[{item!r}])"
    )


def judges_of(verdicts: Coded) -> list[str]:
    """Return the names of the judges of a long table, or of a wide one."""
    frame = verdicts.value
    if "judge" in frame.columns:
        return [str(name) for name in frame["judge"].unique(maintain_order=True)]
    return [name for name in frame.columns if name != "item"]
