"""What commands take from a file of counts, where no rows are read."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from karat._validate import named
from karat.exceptions import ColumnError, KaratWarning


def chosen_counts(
    found: Mapping[str, Any], names: Sequence[str] | None, flag: str, path: Path
) -> dict[str, Any]:
    """Return the counts that a flag names, or all there are."""
    missing = [name for name in names or () if name not in found]
    if missing or not found:
        what = missing[0] if missing else "…"
        raise ColumnError(
            f"{flag} {what}: {path.name} holds no such counts; there are "
            f"{named(list(found))}. Count them with karat count"
        )
    return {name: found[name] for name in names or found}


def class_columns(classes: Any) -> list[Any]:
    """Return the classes of counts as columns, from which flags such as --pos-label are read."""
    import polars as pl

    return [pl.Series(classes.tolist())]


def warn_of_no_pairs(models: Mapping[str, Any]) -> None:
    """Say why two models are not compared."""
    if len(models) > 1:
        warnings.warn(
            "differences of two models need counts of both together, which the file has not; "
            "pass the rows, or such counts to difference_bounds",
            KaratWarning,
            stacklevel=2,
        )
