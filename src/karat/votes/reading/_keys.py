"""Names of the items of a wide table: a column, or the index of a pandas frame."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import IntArray
from karat._validate import encode_labels, shown
from karat.exceptions import ColumnError, DataError
from karat.votes.reading._passed_values import PassedValues

__all__ = ["Keys", "refuse_identifiers", "split_keys"]

_SOME = 20  # rows from which a different value in each of them is taken for a name


class Keys(NamedTuple):
    """The names of the rows, None if they have none, and their domains, likewise."""

    items: PassedValues | None
    domain_column: tuple[IntArray, PassedValues] | None


def split_keys(frame: Any) -> tuple[Keys, Any]:
    """Return what a wide narwhals frame says of its rows, and the columns of the voters.

    The columns ``item`` and ``domain`` are no voters. Where there is no column ``item``, the index
    of a pandas frame names the items, unless it only numbers them or repeats itself.
    """
    keys = [name for name in ("item", "domain") if name in frame.columns]
    codes, domains = None, None
    if "domain" in keys:
        column = frame["domain"].to_native()
        (codes,), found = encode_labels({"domain": column})
        domains = (codes, PassedValues.of_column(column, codes, len(found)))
    items = _items(frame, codes)
    if keys:
        frame = frame.drop(keys)
        if not frame.columns:
            raise ColumnError(f"votes has no column but {keys}; pass a column per voter")
    return Keys(items, domains), frame


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
                f"{name} column {shown(label)} has a different value in every row; drop it, or "
                "name it item, or name the classes in classes= if these are votes"
            )


def _may_name(dtype: Any) -> bool:
    return bool(dtype.is_integer()) or str(dtype) in ("String", "Object")


def _distinct(column: Any) -> bool:
    n = column.n_unique() if hasattr(column, "n_unique") else len(np.unique(column))
    return bool(n == len(column))


def _items(frame: Any, domain: IntArray | None) -> PassedValues | None:
    if "item" in frame.columns:
        column = frame["item"].to_native()
        (codes,), _ = encode_labels({"item": column})
        whole = codes if domain is None else codes + domain * (int(codes.max(initial=0)) + 1)
        _, first, times = np.unique(whole, return_index=True, return_counts=True)
        if (times > 1).any():
            again = frame["item"].to_list()[int(first[times > 1][0])]
            raise DataError(
                f"the column 'item' has {shown(again)} in {int(times.max())} rows; a wide table "
                "has one row per item, a long one the columns item, classifier and vote"
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
