"""The columns of an audit, and the file that keeps it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from karat._validate import refuse_option
from karat.audit import Audit
from karat.audit.saving import read_audit
from karat.cli.frame import InputTable, read_metric, read_pos_label
from karat.exceptions import OptionError

__all__ = ["Chosen", "open_audit", "saved_beside"]


@dataclass(frozen=True)
class Chosen:
    """What the flags named, as it is kept with the audit."""

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


def saved_beside(file: Path, saved: Path | None) -> Path:
    """Return where the audit of a file is kept."""
    return file.with_name(f"{file.name}.audit.json") if saved is None else saved


def _data(table: InputTable, chosen: Chosen) -> dict[str, Any]:
    """Return the arguments that hold data."""
    found: dict[str, Any] = {
        "against": table.optional("--against", chosen.against),
        "ids": table.optional("--id", chosen.id),
        "groups": table.optional("--group", chosen.group),
    }
    if chosen.prob:
        columns = table.columns("--prob", list(chosen.prob))
        found["proba"] = columns[chosen.prob[0]] if len(chosen.prob) == 1 else columns
    if chosen.score:
        columns = table.columns("--score", list(chosen.score))
        found["scores"] = columns[chosen.score[0]] if len(chosen.score) == 1 else columns
    if chosen.judge:
        found["votes"] = table.columns("--judge", list(chosen.judge))
    return found


def open_audit(
    table: InputTable,
    saved: Path,
    *,
    pred: str | None,
    options: dict[str, Any],
    metric: str | None,
    pos_label: str | None,
    classes: str | None,
    confidence: float | None,
) -> tuple[Audit, Chosen]:
    """Go on with the audit that is kept for a file, or start one.

    Flags that are given with an audit that runs must say what it was started with.
    """
    if saved.is_file() and (body := read_audit(saved))["events"]:
        notes = body["notes"]
        kept: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in notes["columns"].items()
        }
        chosen = Chosen(**kept)
        asked = {"pred": pred, **options}
        for flag, value in asked.items():
            if value and value != getattr(chosen, flag):
                _refuse(flag, value, getattr(chosen, flag), saved)
        if metric is not None and metric != notes["metric"]:
            _refuse("metric", metric, notes["metric"], saved)
        if confidence is not None and confidence != body["confidence"]:
            _refuse("confidence", confidence, body["confidence"], saved)
        column = table.column("--pred", chosen.pred)
        return Audit.resume(saved, column, **_data(table, chosen)), chosen
    name = pred or table.names("--pred", None, ("pred", "y_pred"))[0]
    chosen = Chosen(pred=name, **options)
    column = table.column("--pred", name)
    known = read_metric(metric or "accuracy")
    audit = Audit(
        column, metric=known.value, classes=_classes(column, classes),
        pos_label=read_pos_label([column], pos_label), rng=0,
        confidence=0.95 if confidence is None else confidence, **_data(table, chosen),
    )  # fmt: skip
    audit._notes = {"columns": asdict(chosen), "metric": metric or "accuracy"}
    return audit, chosen


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
    began = (", ".join(kept) or "none") if isinstance(kept, tuple) else kept
    raise OptionError(
        f"--{flag} is {shown!r} and the audit in {saved.name} was started with {began!r}; leave "
        "the flag out to go on with it, or name another file with --saved to start a new one"
    )
