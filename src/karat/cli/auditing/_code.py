"""The code of a page about an audit."""

from karat.audit import Audit
from karat.cli.auditing._columns import Chosen, text_ids
from karat.cli.frame import InputTable, script
from karat.sources.opening import separator_of

__all__ = ["resume_code"]


def resume_code(table: InputTable, found: Audit, chosen: Chosen, last: str) -> str:
    """Return the code that opens a kept audit and says what the last line asks for."""
    ids = text_ids(table, chosen.id)
    mark = None if ids is None else separator_of(table.path)
    comma = "" if mark == "," else f", separator={mark!r}"
    read = f"pl.read_csv({str(table.path)!r}, columns=[{chosen.id!r}], infer_schema=False{comma})"
    texts = "" if ids is None else f"frame = frame.with_columns({read})"
    given = [f"{name}=frame[{column!r}]" for name, column in
             (("against", chosen.against), ("ids", chosen.id), ("groups", chosen.group))
             if column is not None]  # fmt: skip
    for name, columns in (
        ("proba", chosen.prob), ("scores", chosen.score), ("votes", chosen.judge),
    ):  # fmt: skip
        if columns:
            one = len(columns) == 1 and name != "votes"
            given.append(f"{name}=frame[{(columns[0] if one else list(columns))!r}]")
    call = ", ".join([repr(found.saved or "audit.json"), f"frame[{chosen.pred!r}]", *given])
    return script(
        ("import polars as pl", "from karat.audit import Audit"),
        table.code,
        texts,
        f"audit = Audit.resume({call})",
        last,
    )
