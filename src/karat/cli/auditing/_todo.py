"""The list of items that people fill in."""

from pathlib import Path
from typing import Any

from karat.audit import Audit
from karat.cli.auditing._columns import Chosen
from karat.cli.frame import InputTable, read_table, replaced, table_writer
from karat.exceptions import DataError

__all__ = ["read_filled", "write_todo"]


def read_filled(path: Path) -> Any:
    """Read a list that was filled in; a column without any label is empty text."""
    frame = read_table(path).frame
    missing = [name for name in ("item", "label") if name not in frame.columns]
    if missing:
        raise DataError(
            f"{path.name} has the columns {frame.columns} and no {missing[0]!r}; fill in the "
            "column 'label' of the list that --todo wrote"
        )
    return frame


def write_todo(
    audit: Audit, table: InputTable, chosen: Chosen, path: Path, *, read: Path | None
) -> int:
    """Write the items that wait for a label; return how many.

    What a system says of an item is left out: whoever labels should not lean on it.
    """
    writer = table_writer("--todo", path)
    if path.is_file() and (read is None or not path.samefile(read)):
        _check_read(audit, path)
    import polars as pl

    waiting = audit.waiting
    frame = table.frame.with_row_index("__row")
    key = frame["__row"].cast(pl.Int64) if chosen.id is None else frame[chosen.id]
    seen = [c for c in table.frame.columns if c not in chosen.hidden and c not in ("item", "label")]
    seen = [c for c in seen if c != chosen.id]
    shown = frame.with_columns(key.alias("item")).select(["item", *seen])
    items = pl.DataFrame({"item": waiting["item"].cast(key.dtype)})
    listed = items.join(shown, on="item", how="left", maintain_order="left")
    listed = listed.with_columns(pl.lit("").alias("label")).select(["item", "label", *seen])
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
