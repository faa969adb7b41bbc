"""The reader of vote tables: who said what of which item, however the table is laid out.

A table of votes is *wide*, with a row per item and a column per voter, or *long*, with a row per
vote and columns of items, voters and votes, known by their names (`karat.votes.names`). `table_of`
finds out which, and returns one value, a `TableOfVotes`, from which all that reads votes starts:
patterns of votes (`karat.votes.reading`), scores, verdicts on pairs and answers of people. Items,
voters and domains keep the values, the dtypes and the column names with which they were passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from karat._result import Passed, passed_in
from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, BoolArray, Frame, IntArray
from karat._validate import (
    collected_alone,
    encode_names,
    named,
    native_frame,
    read_column,
    read_columns,
    refuse_option,
    shown,
)
from karat.exceptions import ColumnError, DataError, LabelError
from karat.votes.names import LongColumns, find_long, fitting, is_domain, long_help, long_hint

_KEYS = ("item", "voter", "vote", "domain")


def read_table(frame: Frame, *, columns: Mapping[str, str] | None = None) -> TableOfVotes:
    """Read a table of votes whose columns you name; every estimator of votes takes it.

    Estimators read frames and arrays themselves, and know the columns of a long table by their
    names. Name the columns here where they are called otherwise, or where two fit equally well.

    Parameters
    ----------
    frame : matrix or frame
        Wide: one row per item, one column per voter. Long: a frame with a row per vote. A lazy
        frame is collected once.
    columns : mapping, optional
        The columns of ``item``, ``voter``, ``vote`` and, if wanted, ``domain`` of a long table; of
        ``item`` and ``domain`` of a wide one. What is not named is found by its name.

    Returns
    -------
    TableOfVotes
        The table with its columns, to pass in place of the frame.

    Examples
    --------
    >>> import polars as pl
    >>> from karat.weak import MajorityVote
    >>> rows = {"email": [1, 1, 2, 2], "by": ["a", "b", "a", "b"], "spam": [1, 1, 0, 1]}
    >>> table = read_table(
    ...     pl.DataFrame(rows), columns={"item": "email", "voter": "by", "vote": "spam"}
    ... )
    >>> MajorityVote().fit(table).names_
    ('a', 'b')
    """
    return table_of(collected_alone(frame, "votes"), "votes", columns=columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableOfVotes:
    """A table of votes with its columns found: who said what of which item.

    Attributes
    ----------
    name : str
        What messages call the table.
    frame : narwhals frame or None
        What was passed; None for a matrix.
    wide : narwhals frame or matrix, or None
        The voters' columns of a wide table; None of a long one.
    called : dict
        What the columns of items, voters, votes and domains are called, as far as there are any.
    """

    name: str
    frame: Any
    wide: Any
    called: Mapping[str, str]
    _passed: Passed | None = field(default=None)

    @property
    def is_long(self) -> bool:
        """Whether the table has a row per vote."""
        return self.wide is None

    @property
    def library(self) -> Any:
        """The dataframe library of the table; None for a matrix."""
        return None if self.frame is None else self.frame.implementation

    def column(self, part: str) -> Any:
        """Return the column of ``item``, ``voter``, ``vote`` or ``domain``; None without one."""
        return self.frame[self.called[part]].to_native() if part in self.called else None

    def named(self, **answer: str) -> dict[str, str]:
        """Return what columns of answers are called, from what each of them holds.

        ``named(item="item", judge="voter")`` calls the column ``judge`` as that of the voters.
        """
        return {name: self.called[part] for name, part in answer.items() if part in self.called}

    def __repr__(self) -> str:
        kind = "long" if self.is_long else "wide"
        said = ", ".join(f"{part} in {name!r}" for part, name in self.called.items())
        return f"<TableOfVotes: {kind}{': ' * bool(said)}{said}>"

    def keys(self) -> Keys:
        """Return the names and domains of the rows of a wide table."""
        return Keys(None, None) if self.frame is None else _keys(self.frame, self.called)

    def cells(self, *, null: int | None = None, each: str = "column per voter") -> Cells:
        """Return all votes, column by column: a wide table has several of them, a long one one.

        The integer ``null`` may stand in a column of text, where it becomes text too; ``each`` says
        what a column of a wide table stands for, for messages.
        """
        if self.wide is not None:
            return self._wide_cells(null, each)
        item, items = self._coded("item")
        voter, voters = self._coded("voter")
        votes = []
        if "vote" in self.called:
            name = self.called["vote"]
            column = read_column(self.column("vote"), name, null=null)
            votes = [VoteColumn(f"column {name!r}", item, voter, *column)]
        return Cells(tuple(votes), items, voters, len(items), item, voter)

    def _coded(self, part: str) -> tuple[IntArray, PassedValues]:
        column = self.column(part)
        codes, found = encode_names(column, self.called[part])
        return codes, PassedValues.of_column(column, codes, len(found))

    def _wide_cells(self, null: int | None, each: str) -> Cells:
        framed = self.frame is not None
        columns, names = read_columns(self.wide, self.name, null=null, each=each)
        n = len(columns[0][0])
        rows = np.arange(n)
        votes = tuple(
            VoteColumn(f"{self.name} column {name!r}", rows, np.full(n, j), values, mask)
            for j, ((values, mask), name) in enumerate(zip(columns, names, strict=True))
        )
        voters = PassedValues.of_columns(self.wide) if framed else PassedValues(np.array(names))
        return Cells(votes, self.keys().items, voters, n, rows, None)


class VoteColumn(NamedTuple):
    """Votes that stand in one column."""

    name: str  # as messages call it
    item: IntArray
    voter: IntArray
    values: AnyArray
    mask: BoolArray | None

    @property
    def absent(self) -> BoolArray:
        """Where there is no vote."""
        return np.zeros(len(self.values), dtype=bool) if self.mask is None else self.mask


class Cells(NamedTuple):
    """All votes of a table, column by column."""

    columns: tuple[VoteColumn, ...]
    items: PassedValues | None  # None: the rows of a wide table without names
    voters: PassedValues
    n_items: int
    item_of_row: IntArray  # the item of each row that was passed
    voter_of_row: IntArray | None  # long table: the voter of each row

    def listed(self) -> Listed:
        """Return the votes in one list; numbers beside text become text."""
        columns = self.columns
        empty = [c.absent.all() for c in columns]
        text = any(
            c.values.dtype.kind == "U" and not e for c, e in zip(columns, empty, strict=True)
        )
        values = [
            np.zeros(len(c.values), dtype=np.int64) if e else c.values
            for c, e in zip(columns, empty, strict=True)
        ]
        return Listed(
            np.concatenate([c.item for c in columns]),
            np.concatenate([c.voter for c in columns]),
            np.concatenate([v.astype(str) if text else v for v in values]),
            np.concatenate([c.absent for c in columns]),
        )


class Listed(NamedTuple):
    """Votes in a list: of which item, by whom, what, and where there is none."""

    item: IntArray
    voter: IntArray
    value: AnyArray
    absent: BoolArray


def table_of(
    votes: Any,
    name: str = "votes",
    *,
    columns: Mapping[str, str] | None = None,
    first: Sequence[str] = (),
    parts: Sequence[str] = ("item", "voter", "vote"),
    beside: Sequence[str] = (),
    long: bool | None = None,
    keys: Sequence[str] = ("item", "domain"),
) -> TableOfVotes:
    """Return a table of votes with its columns found; one that was read before, as it is.

    Parameters
    ----------
    votes : matrix, frame or TableOfVotes
        The votes.
    name : str
        What messages call them.
    columns : mapping, optional
        The columns of ``item``, ``voter``, ``vote`` and ``domain`` that somebody named.
    first : sequence of str
        Names of votes that are better than all others here.
    parts : sequence of str
        What a long table needs, of ``item``, ``voter`` and ``vote``.
    beside : sequence of str
        Columns that tell votes of one voter on one item apart, such as the order of a pair.
    long : bool, optional
        Whether the table is long; by default its names and values tell.
    keys : sequence of str
        What a wide table may have beside the voters, of ``item`` and ``domain``.
    """
    if isinstance(votes, TableOfVotes):
        return votes
    frame = native_frame(votes, name)
    passed = passed_in(votes=votes)
    if frame is None:
        if columns:
            raise ColumnError(
                Argument.of(name),
                f" is no frame, so it has no columns of the names {named(list(columns))}",
                Remedy("pass a frame"),
            )
        return TableOfVotes(name, None, votes, {}, passed)
    said = _named_columns(frame, name, columns)
    found = None
    if long is not False:
        found = find_long(
            frame,
            given={part: said[part] for part in _KEYS[:3] if part in said},
            taken=(said.get("domain"), *beside),
            parts=parts,
            first=first,
            beside=() if len(beside) > 1 else beside,
            sure=bool(long),
            name=name,
        )
    if found is not None:
        return TableOfVotes(name, frame, None, _called(found, said, parts), passed)
    if {"voter", "vote"} & set(said) or (not long and {"classifier", "vote"} <= set(frame.columns)):
        raise ColumnError(
            Argument.of(name),
            f" has columns of voters and votes and none of items; {long_help(frame.columns)}",
        )
    called = {part: column for part, column in _wide_keys(frame, said).items() if part in keys}
    drop = list(called.values())
    if drop and len(drop) == len(frame.columns):
        raise ColumnError(
            Argument.of(name),
            f" has no column but {drop}",
            Remedy("pass a column per voter"),
        )
    return TableOfVotes(name, frame, frame.drop(drop) if drop else frame, called, passed)


def _named_columns(frame: Any, name: str, columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return the columns that somebody named, by part."""
    said = dict(columns or {})
    if set(said) - set(_KEYS):
        refuse_option(said, "columns", f"columns by part: {', '.join(map(repr, _KEYS))}")
    for part, column in said.items():
        if column not in frame.columns:
            raise ColumnError(
                Argument("columns"),
                f" names {shown(column)} for {part}; {name} has {named(frame.columns)}",
            )
    return said


def _called(found: LongColumns, said: Mapping[str, str], parts: Sequence[str]) -> dict[str, str]:
    """Return what the columns of a long table are called, by part."""
    called = {part: getattr(found, part) for part in ("item", "voter", "vote") if part in parts}
    domain = said.get("domain", found.domain)
    return called if domain is None else called | {"domain": domain}


# --- The rows of a wide table: what names the items and the domains.

_SOME = 20  # rows from which a different value in each of them is taken for a name
_FEWEST = 3  # the same for a column that is called like one of items


class Keys(NamedTuple):
    """The names of the rows, None if they have none, and their domains, likewise."""

    items: PassedValues | None
    domain_column: tuple[IntArray, PassedValues] | None


def _wide_keys(frame: Any, said: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a wide frame that name items and domains, which are no voters.

    A column called ``item`` names the items, or one that is called like those of items and has
    another value in every row.
    """
    names = [c for c in frame.columns if isinstance(c, str)]
    item = said.get("item", "item" if "item" in names else None)
    if item is None and len(frame) >= _FEWEST:
        item = next((c for c in fitting("item", names) if _distinct(frame[c])), None)
    domain = said.get("domain", next((c for c in names if is_domain(c)), None))
    found = {"item": item, "domain": domain}
    return {part: column for part, column in found.items() if column is not None}


def _keys(frame: Any, called: Mapping[str, str]) -> Keys:
    """Return the names and domains of the rows of a wide frame.

    Where no column names the items, the index of a pandas frame does, unless it only numbers them
    or repeats itself.
    """
    codes, domains = None, None
    if "domain" in called:
        column = frame[called["domain"]].to_native()
        codes, found = encode_names(column, called["domain"])
        domains = (codes, PassedValues.of_column(column, codes, len(found)))
    return Keys(_items(frame, called.get("item"), codes), domains)


def refuse_identifiers(table: Any, classes: Any, name: str) -> None:
    """Refuse a column of whole numbers or text with a different value in every row.

    ``table`` is a narwhals frame or a matrix; where the user names the classes nothing is guessed.
    """
    if classes is not None:
        return
    if hasattr(table, "iter_columns"):
        columns = [(c.name, c) for c in table.iter_columns() if _may_name(c.dtype)]
    elif isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.kind in "iuU":
        columns = list(enumerate(table.T))
    else:
        return
    for label, column in columns:
        if len(column) >= _SOME and _distinct(column[:_SOME]) and _distinct(column):
            raise ColumnError(
                Argument.of(name),
                f" column {shown(label)} has a different value in every row",
                Remedy(
                    "drop it, or name it item, or name the classes in ",
                    Option("classes"),
                    " if these are votes",
                ),
            )


def _may_name(dtype: Any) -> bool:
    return bool(dtype.is_integer()) or str(dtype) in ("String", "Object")


def _distinct(column: Any) -> bool:
    n = column.n_unique() if hasattr(column, "n_unique") else len(np.unique(column))
    return bool(n == len(column))


def _items(frame: Any, name: str | None, domain: IntArray | None) -> PassedValues | None:
    if name is not None:
        column = frame[name].to_native()
        codes, _ = encode_names(column, name)
        whole = codes if domain is None else codes + domain * (int(codes.max(initial=0)) + 1)
        _, first, times = np.unique(whole, return_index=True, return_counts=True)
        if (times > 1).any():
            again = frame[name].to_list()[int(first[times > 1][0])]
            raise DataError(
                f"the column {name!r} has {shown(again)} in {int(times.max())} rows, and a wide "
                f"table has one row per item. If it is a long one: {long_help(frame.columns)}"
            )
        return PassedValues.of_rows(column, np.arange(len(codes)))
    if not frame.implementation.is_pandas():
        return None
    index = frame.to_native().index
    if index.nlevels > 1 or not index.is_unique or index.hasnans:
        return None
    if index.dtype.kind in "iu" and (index == np.arange(len(index))).all():
        return None
    return PassedValues.of_rows(index.to_series(), np.arange(len(index)))


@contextmanager
def perhaps_long(table: TableOfVotes) -> Iterator[None]:
    """Add to an error of a wide table that it may be a long one, if its names say so."""
    try:
        yield
    except (ColumnError, LabelError) as error:
        hint = "" if table.frame is None else long_hint(table.frame)
        if not hint:
            raise
        raise type(error)(error, f". {hint}") from error


# --- Names of voters, domains and items, in the dtype in which they were passed.


@dataclass(frozen=True, slots=True)
class PassedValues:
    """The distinct values of a column that was passed, one entry per code.

    ``values`` is a narwhals Series where the column came from a data frame library, so that a
    Categorical or an Int8 comes back as such, and a NumPy array otherwise.
    """

    values: Any

    @classmethod
    def of_column(cls, column: Any, codes: IntArray, n: int) -> Self:
        """Return the value of each of ``n`` codes; ``codes`` holds the code of each row."""
        row = np.zeros(n, dtype=np.int64)
        row[codes] = np.arange(len(codes))  # rows of one code hold the same value: any will do
        return cls.of_rows(column, row)

    @classmethod
    def of_rows(cls, column: Any, rows: IntArray) -> Self:
        """Return the values of a column in some of its rows."""
        series = _as_series(column)
        if series is not None:
            return cls(series[rows])
        return cls(np.asarray(column).reshape(-1)[rows])

    @classmethod
    def of_columns(cls, frame: Any) -> Self:
        """Return the column names of a narwhals frame; those of pandas may be no text."""
        native = frame.to_native()
        if frame.implementation.is_pandas():
            return cls(_as_series(native.columns.to_series()))
        return cls(np.array(frame.columns))

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[Any]:
        """Return the values as Python objects."""
        listed = self.values.to_list() if hasattr(self.values, "to_list") else self.values.tolist()
        return list(listed)

    def to_numpy(self) -> AnyArray:
        """Return the values as an array of NumPy."""
        return np.asarray(self.values)

    def take(self, positions: Any) -> Any:
        """Return the values at some positions: a narwhals Series or a NumPy array."""
        return self.values[np.asarray(positions, dtype=np.int64)]


def _as_series(column: Any) -> Any:
    """Return a narwhals Series of a column of a data frame library, None for anything else."""
    frame = native_frame(column, "the column")
    if frame is not None:  # a frame with one column passes for that column
        return next(frame.iter_columns())
    if isinstance(column, np.ndarray | list | tuple | range):
        return None
    import narwhals as nw

    if type(column).__module__.partition(".")[0] == "pyarrow" and hasattr(column, "to_pylist"):
        import pyarrow as pa

        column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    seen = nw.from_native(column, series_only=True, pass_through=True)
    return seen if isinstance(seen, nw.Series) else None
