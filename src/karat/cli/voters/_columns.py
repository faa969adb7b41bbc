"""Which columns of a file are votes, and what names the items."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.cli.frame import Coded, InputTable
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.votes.reading import LONG_NAMES

__all__ = ["ITEMS", "Reading", "Votes", "read_votes_of"]

_IDS = ("item", "id", "item_id")  # columns that name the items of a wide file
ITEMS = (*_IDS, "task")  # and of a long one
_TRUTHS = ("gold", "label", "truth", "true_label", "y_true", "target", "answer_key")
_MANY = 50  # distinct values beyond which a column is no column of classes


@dataclass(frozen=True, slots=True)
class Reading:
    """What the flags say of the columns."""

    judge: Sequence[str] = ()
    label: str | None = None
    group: str | None = None
    item: str | None = None
    voter: str | None = None
    vote: str | None = None
    also: Sequence[str] = ()  # columns that other flags name
    threshold: bool = False


class Votes(NamedTuple):
    """The votes with their code, whether they are long, and the columns that were read."""

    votes: Coded
    long: bool
    columns: list[str]


def read_votes_of(table: InputTable, flags: Reading) -> Votes:
    """Return the votes of a file, wide or long."""
    if (flags.voter is None) != (flags.vote is None):
        raise OptionError("--voter and --vote come together: both name a column of a long file")
    names = table.frame.columns
    line: tuple[str, ...] | None = None
    if flags.voter is not None and flags.vote is not None:
        item = flags.item or next((name for name in ITEMS if name in names), None)
        if item is None:
            raise ColumnError(f"--id: name the column of the items; there are {names}")
        line = (item, flags.voter, flags.vote)
    elif not flags.judge:
        line = next((known for known in LONG_NAMES if set(known) <= set(names)), None)
        if line is not None and flags.item is not None:
            line = (flags.item, *line[1:])
    return _wide(table, flags) if line is None else _long(table, flags, line)


def _long(table: InputTable, flags: Reading, line: Sequence[str]) -> Votes:
    """Select the columns of a long file, under the names of the library."""
    called = dict(zip(("item", "classifier", "vote"), line, strict=True))
    if flags.group is not None:
        # The flag wins over a column that is called 'domain'.
        called["domain"] = flags.group
    elif "domain" in table.frame.columns:
        called["domain"] = "domain"
    for name, column in called.items():
        table.column({"item": "--id", "classifier": "--voter"}.get(name, f"--{name}"), column)
    columns = [table.frame[column].alias(name) for name, column in called.items()]
    picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
    if all(name == column for name, column in called.items()):
        code = f"frame[{list(called)}]"
    else:
        code = f"frame.select({picked})"
    return Votes(Coded(table.frame.select(columns), code), True, list(called.values()))


def _wide(table: InputTable, flags: Reading) -> Votes:
    """Select a column per voter, and the column that names the items."""
    item = flags.item
    if item is not None:
        table.column("--id", item)
    else:
        item = next((n for n in _IDS if n in table.frame.columns and n not in flags.judge), None)
    taken = {flags.label, flags.group, item, *flags.also}
    if flags.judge:
        columns = table.matching("--judge", flags.judge, taken=taken)
    else:
        columns = _votes_among(table, [n for n in table.frame.columns if n not in taken], flags)
    if len(columns) < 2 and not flags.judge:
        raise ColumnError(
            f"--judge: name the columns of the voters; there are {table.frame.columns}. A long "
            "file has the columns item, classifier and vote, or those that --id, --voter and "
            "--vote name"
        )
    frame, code = table.columns("--judge", columns), f"frame[{columns}]"
    if item is not None:
        frame = frame.with_columns(table.frame[item].alias("item"))
        code = f"{code}.with_columns(item=frame[{item!r}])"
    return Votes(Coded(frame, code), False, columns)


def _votes_among(table: InputTable, names: Sequence[str], flags: Reading) -> list[str]:
    """Return the columns that can be votes; those left out are named in a warning."""
    kinds = {name: _classes(table.frame[name], flags.threshold) for name in names}
    votes = [name for name in names if kinds[name] is not None]
    if not flags.threshold:
        votes = [name for name in votes if _has_company(name, kinds)]
    left = [name for name in names if name not in votes]
    if left and len(votes) > 1:
        warnings.warn(
            f"the column{'s' * (len(left) > 1)} {', '.join(left)} hold{'s' * (len(left) == 1)} no "
            "votes like those of the others and counted as no voter; name voters with --judge, the "
            "items with --id, domains with --group and true labels with --label",
            KaratWarning,
            stacklevel=2,
        )
    for name in votes:
        if name.lower() in _TRUTHS:
            warnings.warn(
                f"the column {name} counted as a voter; if it holds true labels, pass --label "
                f"{name}",
                KaratWarning,
                stacklevel=2,
            )
    return votes


def _has_company(name: str, kinds: dict[str, set[str] | None]) -> bool:
    """Return whether another column votes for one of the classes of this one."""
    mine = kinds[name] or set()
    others = [kind or set() for other, kind in kinds.items() if other != name]
    return not mine or any(mine & kind for kind in others)


def _classes(column: Any, threshold: bool) -> set[str] | None:
    """Return the classes that a column votes for, None if its values can be no votes."""
    import polars as pl

    cast = column.drop_nulls()
    if column.dtype.is_float():
        cast = cast.drop_nans()
        if threshold:
            inside = len(cast) > 0 and bool(cast.is_between(-1, 1).all())
            return set() if inside else None
        if not (cast == cast.round(0)).all():
            return None
        cast = cast.cast(pl.Int64)
    if column.dtype.is_nested() or column.dtype.is_temporal():
        return None
    distinct = cast.unique()
    if len(distinct) > max(2, min(_MANY, len(cast) / 2)):
        return None
    return {str(value) for value in distinct.to_list() if str(value) != "-1"}
