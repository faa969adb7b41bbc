"""Real datasets that are kept beside the project, never in it."""

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from karat._extras import require
from karat._sentences import Option, Remedy
from karat._validate import check_choice
from karat.exceptions import MissingDatasetError

_READERS = {".parquet": "read_parquet", ".csv": "read_csv"}


def load_shared(name: str, table: str | None = None, *, backend: str = "pandas") -> Any:
    """Read a table of a shared dataset.

    The folder is that of the environment variable ``KARAT_DATA`` (by default ``../shared/data``);
    it holds one folder per dataset with CSV or Parquet files.

    Parameters
    ----------
    name : str
        The dataset, such as ``"nell"``.
    table : str, optional
        The file, without its ending; needed where a dataset has more than one.
    backend : {"pandas", "polars"}
        What to read with, and so the kind of frame returned.

    Returns
    -------
    pandas or polars DataFrame
    """
    check_choice(backend, "backend", ("pandas", "polars"))
    path = _find(_folder(), name, table)
    purpose = f"reading {path.name} with backend={backend!r}"
    module = require(backend, purpose=purpose)
    return getattr(module, _READERS[path.suffix])(path)


def _folder() -> Path:
    folder = Path(os.environ.get("KARAT_DATA") or "../shared/data")
    if not folder.is_dir():
        raise MissingDatasetError(
            f"there is no folder {str(folder)!r}; set the environment variable KARAT_DATA to the "
            "folder that holds the shared datasets"
        )
    return folder


def _find(folder: Path, name: str, table: str | None) -> Path:
    datasets = sorted(path.name for path in folder.iterdir() if path.is_dir())
    if name not in datasets:
        close = get_close_matches(str(name), datasets, n=3)
        meant = (
            f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {datasets}"
        )
        raise MissingDatasetError(f"KARAT_DATA has no dataset {name!r}; {meant}")
    tables = {p.stem: p for p in sorted((folder / name).iterdir()) if p.suffix in _READERS}
    if table is None and len(tables) == 1:
        return next(iter(tables.values()))
    if table not in tables:
        said = "has several tables" if table is None else f"has no table {table!r}"
        raise MissingDatasetError(
            f"{name!r} {said}",
            Remedy("pass ", Option("table"), f" one of {sorted(tables)}"),
        )
    return tables[table]
