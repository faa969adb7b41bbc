"""The code of a page about an audit."""

from karat.audit import Audit
from karat.cli.auditing._columns import Chosen
from karat.cli.frame import InputTable, script

__all__ = ["resume_code"]


def resume_code(table: InputTable, found: Audit, chosen: Chosen, last: str) -> str:
    """Return the code that opens a kept audit and says what the last line asks for."""
    texts = ""
    if chosen.id is not None and table.text_ids(chosen.id) is not None:
        texts = f"frame = frame.with_columns({table.text_ids_code(chosen.id)})"
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
