"""The list of items that people fill in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat._validate import refuse_option
from karat.audit import Audit
from karat.cli.auditing._columns import Chosen, ids_of
from karat.cli.frame import InputTable, read_table, replaced, table_writer
from karat.exceptions import DataError
from karat.sources.opening import read_texts, text_options

__all__ = ["read_filled", "shown_columns", "write_todo"]


def read_filled(path: Path) -> Any:
    """Read a list that was filled in; cells of delimited text are text, as they stand there."""
    table = read_table(path)
    missing = [name for name in ("item", "label") if name not in table.frame.columns]
    if missing:
        raise DataError(
            f"{path.name} has the columns {table.frame.columns} and no {missing[0]!r}; fill in the "
            "column 'label' of the list that --todo wrote"
        )
    if text_options(path) is None:
        return table.frame
    return read_texts(path, ["item", "label"])


def shown_columns(
    table: InputTable, chosen: Chosen, given: Sequence[str] | None, *, label: str | None
) -> list[str]:
    """Return the columns that whoever labels gets to see: those that were asked for."""
    hidden = {*chosen.hidden, label}
    names = table.matching("--show", given or (), taken=hidden)
    for name in names:
        if name in hidden:
            refuse_option(name, "--show", "a column that does not say what a system, or --label, "
                          "says of the item: whoever labels should not lean on it")  # fmt: skip
    return [name for name in names if name != chosen.id]


def write_todo(
    audit: Audit,
    table: InputTable,
    chosen: Chosen,
    path: Path,
    *,
    show: Sequence[str],
    read: Path | None,
) -> int:
    """Write the items that wait for a label, with the columns to show; return how many."""
    writer = table_writer("--todo", path)
    if path.is_file() and (read is None or not path.samefile(read)):
        _check_read(audit, path)
    import polars as pl

    ids = ids_of(table, chosen)
    rows = pl.int_range(table.frame.height, eager=True)
    named = (rows if ids is None else ids).alias("item")
    seen = {name: name if name not in ("item", "label") else f"{name} in the data" for name in show}
    shown = pl.DataFrame([named, *(table.frame[n].alias(to) for n, to in seen.items())])
    items = pl.DataFrame({"item": audit.waiting["item"].cast(named.dtype)})
    listed = items.join(shown, on="item", how="left", maintain_order="left")
    listed = listed.select("item", pl.lit("").alias("label"), *seen.values())
    writer.check(listed)
    with replaced(path) as new:
        writer(listed, new)
    return len(listed)


def _check_read(audit: Audit, path: Path) -> None:
    """Refuse to overwrite labels that the audit has not been told."""
    try:
        old = read_filled(path)
    except DataError:
        raise DataError(
            f"{path.name} is there already and is not a list of this audit; name another file with "
            "--todo"
        ) from None
    known = {str(item) for item in audit.labelled}
    filled = [
        item
        for item, label in zip(old["item"].to_list(), old["label"].to_list(), strict=True)
        if label is not None and str(label).strip() and str(item) not in known
    ]
    if filled:
        raise DataError(
            f"{path.name} holds {len(filled)} labels that were not read yet (first: item "
            f"{filled[0]}); pass --labels {path.name} too, or write another file"
        )
