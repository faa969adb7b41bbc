"""The audit that is kept beside a file: its columns, the list to fill in, and how it goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from karat._code import script
from karat._files import replaced, unescape_cell
from karat._validate import refuse_option
from karat.audit import Audit
from karat.audit.saving import read_audit
from karat.calibration.inputs import pair_columns
from karat.cli._run import for_people, table_writer
from karat.cli._table import InputTable, classes_of, read_metric, read_pos_label, read_table
from karat.exceptions import AuditError, DataError, OptionError
from karat.metrics import as_metric, load_metric
from karat.sources.opening import read_texts, text_options


def not_shown(table: InputTable, chosen: Chosen, shown: list[str], label: str | None) -> str:
    """Say how to show whoever labels more than the names of the items."""
    hidden = {*chosen.hidden, chosen.id, "label", label}
    classes = set(map(str, table.frame[chosen.pred].unique()))
    # Numbers may be scores, and a column of nothing but classes may be the truth.
    more = (
        name
        for name in table.frame.columns
        if name not in hidden
        and not table.frame[name].dtype.is_numeric()
        and not set(map(str, table.frame[name].drop_nulls().unique())) <= classes
    )
    name = None if shown else next(more, None)
    return (
        "" if name is None else f" by name alone; --show {name} --todo … would add a column to see"
    )


def tell_known(found: Audit, table: InputTable, label: str, chosen: Chosen) -> str:
    """Tell labels that the file holds already."""
    column = table.column("--label", label)
    ids = ids_of(table, chosen)
    names = range(len(column)) if ids is None else ids.to_list()
    given = {
        name: value
        for name, value in zip(names, column.to_list(), strict=True)
        if value is not None
    }
    fresh = found.tell(given, design="random")
    return f"--label {label}: {fresh:,} new labels, taken for a random sample"


def fill_up(found: Audit, ask: int) -> None:
    """Ask for as many items as the list is short of."""
    short = min(ask - len(found.waiting), found.left)
    if short > 0:
        found.ask(short)


def resume_code(table: InputTable, found: Audit, chosen: Chosen, last: str) -> str:
    """Return the code that opens a kept audit and says what the last line asks for."""
    texts = ""
    if chosen.id is not None and table.text_ids(chosen.id) is not None:
        texts = f"frame = frame.with_columns({table.text_ids_code(chosen.id)})"
    given = [
        f"{name}=frame[{column!r}]"
        for name, column in (
            ("against", chosen.against),
            ("ids", chosen.id),
            ("groups", chosen.group),
        )
        if column is not None
    ]
    for name, columns in (
        ("proba", chosen.prob),
        ("scores", chosen.score),
        ("votes", chosen.judge),
    ):
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


# --- The list of items that people fill in.


def read_filled(path: Path, classes: Sequence[Any]) -> Any:
    """Read a list that was filled in; cells of delimited text are text, as they stand there.

    A label that differs from one of the classes by case or spaces alone is read as that.
    """
    table = read_table(path)
    missing = [name for name in ("item", "label") if name not in table.frame.columns]
    if missing:
        raise DataError(
            f"{path.name} has the columns {table.frame.columns} and no {missing[0]!r}; fill in the "
            "column 'label' of the list that --todo wrote"
        )
    if text_options(path) is not None:
        texts = read_texts(path, ["item", "label"])
        items = texts["item"].map_elements(unescape_cell, return_dtype=texts["item"].dtype)
        table = replace(table, frame=texts.with_columns(items))
    return table.matched(["label"], [str(c) for c in classes]).frame


def shown_columns(
    table: InputTable, chosen: Chosen, given: Sequence[str] | None, *, label: str | None
) -> list[str]:
    """Return the columns that whoever labels gets to see: those that were asked for."""
    hidden = {*chosen.hidden, label}
    names = table.matching("--show", given or (), taken=hidden)
    for name in names:
        if name in hidden:
            refuse_option(
                name,
                "--show",
                "a column that does not say what a system, or --label, "
                "says of the item: whoever labels should not lean on it",
            )
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
        writer(for_people(listed, writer), new)
    return len(listed)


def _check_read(audit: Audit, path: Path) -> None:
    """Refuse to overwrite labels that the audit has not been told."""
    try:
        old = read_filled(path, audit.classes)
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


# --- The columns of an audit, and the file that keeps it.


@dataclass(frozen=True)
class Chosen:
    """The columns of an audit, as they are kept with it."""

    pred: str
    against: str | None = None
    prob: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    id: str | None = None
    group: str | None = None

    @property
    def hidden(self) -> set[str]:
        """Columns that would tell whoever labels what the system says."""
        return {self.pred, self.against or self.pred, *self.prob, *self.score, *self.judge}


@dataclass(frozen=True)
class Given:
    """What the flags named; None or empty where a flag was left out."""

    pred: str | None = None
    against: str | None = None
    prob: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    id: str | None = None
    group: str | None = None
    metric: str | None = None
    pos_label: str | None = None
    classes: str | None = None
    confidence: float | None = None

    def resolved(self, table: InputTable) -> Given:
        """Return the flags with the columns that patterns and lists choose."""
        taken = (self.pred, self.against, self.id, self.group)
        several: dict[str, Any] = {
            name: tuple(table.matching(f"--{name}", getattr(self, name), taken=taken))
            for name in ("prob", "score", "judge")
        }
        return replace(self, **several)

    def columns(self, table: InputTable) -> Chosen:
        """Return the columns that the flags name, that of the predictions by its usual name."""
        pred = self.pred or table.names("--pred", None, ("pred", "y_pred"))[0]
        return Chosen(pred, self.against, self.prob, self.score, self.judge, self.id, self.group)


def ids_of(table: InputTable, chosen: Chosen) -> Any | None:
    """Return the ids of the items, as they stand in the file."""
    if chosen.id is None:
        return None
    texts = table.text_ids(chosen.id)
    return table.column("--id", chosen.id) if texts is None else texts


def saved_beside(file: Path, saved: Path | None) -> Path:
    """Return where the audit of a file is kept."""
    return file.with_name(f"{file.name}.audit.json") if saved is None else saved


def open_audit(
    table: InputTable, saved: Path, given: Given, *, start: bool = True, label: str | None = None
) -> tuple[Audit, Chosen, InputTable]:
    """Go on with the audit that is kept for a file, or, with ``start``, begin one.

    The table comes back with one spelling for each class; ``label`` is a column of true labels.
    Flags that are given with an audit that runs must say what it was started with. An audit in
    which nothing was asked for yet is begun anew.
    """
    given = given.resolved(table)
    if saved.is_file():
        body = read_audit(saved)
        if body["events"] or not start:
            return _resumed(table, saved, body, given, label)
    return _begun(table, given, label)


def _matched(
    table: InputTable, chosen: Chosen, label: str | None, known: Sequence[Any]
) -> InputTable:
    """Return the table with one spelling for each class; the predictions decide which."""
    table.column("--pred", chosen.pred)
    return table.matched([chosen.pred, chosen.against, *chosen.judge, label], known)


def _begun(table: InputTable, given: Given, label: str | None) -> tuple[Audit, Chosen, InputTable]:
    chosen = given.columns(table)
    metric = read_metric(given.metric or "accuracy")
    table = _matched(table, chosen, label, classes_of(metric))
    column = table.column("--pred", chosen.pred)
    audit = Audit(
        column,
        metric=metric.value,
        classes=_classes(column, given.classes),
        rng=0,
        pos_label=read_pos_label([column], given.pos_label),
        confidence=0.95 if given.confidence is None else given.confidence,
        **_data(table, chosen),
    )
    audit._notes = {"columns": asdict(chosen)}
    return audit, chosen, table


def _resumed(
    table: InputTable, saved: Path, body: dict[str, Any], given: Given, label: str | None
) -> tuple[Audit, Chosen, InputTable]:
    kept = body["notes"].get("columns")
    if kept is None:
        chosen = given.columns(table)  # saved from Python: the flags name the columns
    else:
        began: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()
        }
        chosen = Chosen(**began)
        for flag, old in began.items():
            value = getattr(given, flag)
            if value and value != old:
                _refuse(flag, value, old, saved)
    _check_options(body, given, saved)
    table = _matched(table, chosen, label, body["classes"])
    column = table.column("--pred", chosen.pred)
    try:
        audit = Audit.resume(saved, column, **_data(table, chosen))
    except AuditError as error:
        if kept is not None:
            raise
        raise AuditError(
            error,
            ". It was saved from Python, which keeps no names of columns: name those that it had "
            "with --pred, --against, --prob, --score, --judge, --id and --group",
        ) from None
    audit._notes = {**body["notes"], "columns": asdict(chosen)}
    return audit, chosen, table


def _check_options(body: dict[str, Any], given: Given, saved: Path) -> None:
    """Refuse a metric, a class or a confidence other than those of an audit that runs."""
    began = load_metric(json.dumps(body["metric"]), flagged=True)
    if given.metric is not None:
        wanted = as_metric(read_metric(given.metric).value)
        if wanted.to_dict() != body["metric"]:
            _refuse("metric", given.metric, began.title, saved)
    if given.confidence is not None and given.confidence != body["confidence"]:
        _refuse("confidence", given.confidence, body["confidence"], saved)
    known = [str(label) for label in body["classes"]]
    if given.pos_label is not None:
        if began.n_classes != 2:
            refuse_option(
                given.pos_label, "--pos-label", f"no such flag: {began.title} has no positive class"
            )
        if given.pos_label != known[1]:
            _refuse("pos-label", given.pos_label, known[1], saved)
    if given.classes is not None:
        words = [word.strip() for word in given.classes.split(",")]
        if sorted(words) != sorted(known):
            _refuse("classes", given.classes, ",".join(known), saved)


def _data(table: InputTable, chosen: Chosen) -> dict[str, Any]:
    """Return the arguments that hold data."""
    found: dict[str, Any] = {
        "against": table.optional("--against", chosen.against),
        "ids": ids_of(table, chosen),
        "groups": table.optional("--group", chosen.group),
    }
    for flag, name in (("prob", "proba"), ("score", "scores")):
        names: tuple[str, ...] = getattr(chosen, flag)
        if names:
            columns = table.columns(f"--{flag}", list(names))
            if flag == "prob" and len(names) > 1:
                classes = table.frame[chosen.pred].drop_nulls().unique().sort().to_list()
                pairing = (
                    pair_columns(["y"], names, classes) if len(classes) == len(names) else None
                )
                columns = columns if pairing is None else columns.rename(pairing.names)
            found[name] = columns[names[0]] if len(names) == 1 else columns
    if chosen.judge:
        found["votes"] = table.columns("--judge", list(chosen.judge))
    return found


def _classes(column: Any, text: str | None) -> list[Any] | None:
    """Return the classes that ``--classes`` lists, in the type of the predictions."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if column.dtype.is_integer():
        try:
            return [int(word) for word in words]
        except ValueError:
            refuse_option(text, "--classes", f"whole numbers as in the column {column.name!r}")
    return words


def _refuse(flag: str, given: Any, kept: Any, saved: Path) -> None:
    shown = ", ".join(given) if isinstance(given, tuple) else given
    began = (", ".join(kept) or None) if isinstance(kept, tuple) else kept
    was = "without it" if began is None else f"with {began!r}"
    raise OptionError(
        f"--{flag} is {shown!r} and the audit in {saved.name} was started {was}; leave the flag "
        "out to go on with it, or name another file with --saved to start a new one"
    )
