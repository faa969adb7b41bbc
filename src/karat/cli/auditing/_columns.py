"""The columns of an audit, and the file that keeps it."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from karat._validate import refuse_option
from karat.audit import Audit
from karat.audit.saving import read_audit
from karat.cli.frame import InputTable, read_metric, read_pos_label
from karat.exceptions import AuditError, OptionError
from karat.metrics import as_metric, load_metric

__all__ = ["Chosen", "Given", "ids_of", "open_audit", "saved_beside"]


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

    def resolved(self, table: InputTable) -> "Given":
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
    table: InputTable, saved: Path, given: Given, *, start: bool = True
) -> tuple[Audit, Chosen]:
    """Go on with the audit that is kept for a file, or, with ``start``, begin one.

    Flags that are given with an audit that runs must say what it was started with. An audit in
    which nothing was asked for yet is begun anew.
    """
    given = given.resolved(table)
    if saved.is_file():
        body = read_audit(saved)
        if body["events"] or not start:
            return _resumed(table, saved, body, given)
    return _begun(table, given)


def _begun(table: InputTable, given: Given) -> tuple[Audit, Chosen]:
    chosen = given.columns(table)
    column = table.column("--pred", chosen.pred)
    audit = Audit(
        column, metric=read_metric(given.metric or "accuracy").value,
        classes=_classes(column, given.classes), rng=0,
        pos_label=read_pos_label([column], given.pos_label),
        confidence=0.95 if given.confidence is None else given.confidence, **_data(table, chosen),
    )  # fmt: skip
    audit._notes = {"columns": asdict(chosen)}
    return audit, chosen


def _resumed(
    table: InputTable, saved: Path, body: dict[str, Any], given: Given
) -> tuple[Audit, Chosen]:
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
    column = table.column("--pred", chosen.pred)
    try:
        audit = Audit.resume(saved, column, **_data(table, chosen))
    except AuditError as error:
        if kept is not None or "other data" not in str(error):
            raise
        raise AuditError(
            f"{error}. It was saved from Python, which keeps no names of columns: name those that "
            "it had with --pred, --against, --prob, --score, --judge, --id and --group"
        ) from None
    audit._notes = {**body["notes"], "columns": asdict(chosen)}
    return audit, chosen


def _check_options(body: dict[str, Any], given: Given, saved: Path) -> None:
    """Refuse a metric, a class or a confidence other than those of an audit that runs."""
    began = load_metric(json.dumps(body["metric"]))
    if given.metric is not None:
        wanted = as_metric(read_metric(given.metric).value)
        if wanted.to_dict() != body["metric"]:
            _refuse("metric", given.metric, began.title, saved)
    if given.confidence is not None and given.confidence != body["confidence"]:
        _refuse("confidence", given.confidence, body["confidence"], saved)
    known = [str(label) for label in body["classes"]]
    if given.pos_label is not None:
        if began.n_classes != 2:
            refuse_option(given.pos_label, "--pos-label", f"no such flag: {began.title} has no "
                          "positive class")  # fmt: skip
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
