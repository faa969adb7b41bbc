"""A command calls the library once or a few times, and shows the lines that do the same.

`call` calls a function and `fit` an estimator with columns of the file that was read; both give
what came back beside the Python that gives it again. `check_taken` refuses flags that a function
has no use for, by its signature, so that no command keeps a list of which flags go together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from karat._code import Coded, call_code, lines_of_code, values
from karat._validate import named
from karat.exceptions import ColumnError, KaratWarning, OptionError


class Called(NamedTuple):
    """What the library gave, the line that gives it again, and that below what it needs."""

    result: Any
    line: str
    code: str


def call(
    function: Callable[..., Any],
    *columns: Any,
    read: Sequence[str],
    imports: Iterable[str] = (),
    **options: Any,
) -> Called:
    """Call a function with columns of a table; ``read`` are the lines that read the table.

    An option that is None is left out: the library's own default counts.
    """
    given = {name: value for name, value in options.items() if value is not None}
    result = function(*_values(columns), **values(given))
    line = call_code(function.__name__, *columns, **given)
    return Called(result, line, lines_of_code(*read, line, imports=imports))


def fit(
    kind: type,
    options: Mapping[str, Any],
    *columns: Any,
    read: Sequence[str],
    then: Sequence[str] = (),
    **fitted: Any,
) -> Called:
    """Fit an estimator to columns of a table; ``then`` are the lines that look at it."""
    options = {name: value for name, value in options.items() if value is not None}
    given = {name: value for name, value in fitted.items() if value is not None}
    estimator = kind(**values(options)).fit(*_values(columns), **values(given))
    build = call_code(kind.__name__, **options)
    line = f"estimator = {call_code(f'{build}.fit', *columns, **given)}"
    return Called(estimator, line, lines_of_code(*read, line, *then))


def _values(columns: Sequence[Any]) -> list[Any]:
    return [column.value if isinstance(column, Coded) else column for column in columns]


def check_taken(
    given: Mapping[str, Any], *functions: Callable[..., Any], beside: str, but: Sequence[str] = ()
) -> None:
    """Refuse options that no function takes, by their flags; ``beside`` says with what.

    Options that were not given are None, False or empty. ``but`` names options that are not the
    library's own.
    """
    taken = {name for function in functions for name in signature(function).parameters} | set(but)
    for name, value in given.items():
        if name not in taken and value not in (None, False, "", [], ()):
            raise OptionError(f"--{name.replace('_', '-')} does not go with {beside}; leave it out")


# --- What commands take from a file of counts, where no rows are read.


def chosen_counts(
    found: Mapping[str, Any], names: Sequence[str] | None, flag: str, path: Path
) -> dict[str, Any]:
    """Return the counts that a flag names, or all there are."""
    missing = [name for name in names or () if name not in found]
    if missing or not found:
        what = missing[0] if missing else "…"
        raise ColumnError(
            f"{flag} {what}: {path.name} holds no such counts; there are {named(list(found))}. "
            "Count them with karat count"
        )
    return {name: found[name] for name in names or found}


def needed_label(label: str | None) -> str:
    """Return the column of ``--label``, which rows need and counts have behind them."""
    if label is None:
        raise OptionError("--label is missing; expected the column of true labels")
    return label


def class_columns(classes: Any) -> list[Any]:
    """Return the classes of counts as columns, from which flags such as --pos-label are read."""
    import polars as pl

    return [pl.Series(classes.tolist())]


def warn_of_no_pairs(models: Mapping[str, Any]) -> None:
    """Say why two models are not compared."""
    if len(models) > 1:
        warnings.warn(
            "models are not compared: that takes counts of two models together, which the file has "
            "not; pass the table that was counted",
            KaratWarning,
            stacklevel=2,
        )
