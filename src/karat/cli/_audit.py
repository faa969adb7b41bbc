"""``karat audit``: which items to label, and what is known once they are."""

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._validate import check_count, refuse_option
from karat.cli import _flags as flags
from karat.cli._kept_audit import (
    Given,
    fill_up,
    not_shown,
    open_audit,
    read_filled,
    resume_code,
    saved_beside,
    shown_columns,
    tell_known,
    write_todo,
)
from karat.cli._run import run
from karat.cli._table import read_table
from karat.evaluation.audits import of_audit
from karat.report.answer import Answer


def audit(
    file: flags.File,
    pred: Annotated[str | None, typer.Option("--pred", help="Column of predictions.")] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Column of another system's predictions: estimate the difference."),
    ] = None,
    prob: flags.Probabilities = None,
    score: flags.Scores = None,
    judge: Annotated[
        list[str] | None, typer.Option(help="Column of a judge's verdicts of the truth; repeat.")
    ] = None,
    ident: flags.Id = None,
    group: flags.Group = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Name of a metric, or a .json file that holds one."),
    ] = None,
    pos_label: flags.PosLabel = None,
    classes: Annotated[
        str | None,
        typer.Option(help="All classes, such as ham,spam, if some are never predicted."),
    ] = None,
    todo: Annotated[
        Path | None, typer.Option(help="Write the items to label next here, as .csv or .parquet.")
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(help="Column that whoever labels needs to see in the list; repeat."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Read this list after its column 'label' was filled in, all or in part."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let a label of --labels correct one given before.")
    ] = False,
    ask: Annotated[int, typer.Option(help="How many items the list is to hold.")] = 50,
    label: Annotated[
        str | None,
        typer.Option(help="Column of labels that are there already, of a random sample."),
    ] = None,
    precision: Annotated[
        float, typer.Option(help="Tell how many labels a precision of ± this takes.")
    ] = 0.05,
    saved: Annotated[
        Path | None, typer.Option(help="File that keeps the audit; by default FILE.audit.json.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", help="Probability that the limits hold."),
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Choose which items to label, and say what the labels tell so far.

    Example: karat audit mails.csv --pred model --prob p_spam --show mail --todo todo.csv

    Fill in the column 'label' of todo.csv, from the top, as far as you like. It holds the items'
    names (--id, else rows counted from 0) and the columns of --show, and not what a system says.

    Go on:  karat audit mails.csv --labels todo.csv --todo todo.csv

    Each call says what is known. Without --prob, --score or --judge all items look alike, and the
    labels are spread over the predictions. What was asked for and answered is kept beside FILE.
    """
    kept = saved_beside(file, saved)
    named = Given(
        pred,
        against,
        tuple(prob or ()),
        tuple(score or ()),
        tuple(judge or ()),
        ident,
        group,
        metric,
        pos_label,
        classes,
        confidence,
    )

    def work() -> Answer:
        _check_flags(todo=todo, show=show, labels=labels, replace=replace, ask=ask)
        found, chosen, table = open_audit(read_table(file), kept, named, label=label)
        shown = shown_columns(table, chosen, show or found._notes.get("show"), label=label)
        found._notes["show"] = shown
        if todo is not None or labels is not None or label is not None:
            found.save(kept)  # from here on, whatever is asked for or told is kept at once
        said = []
        if label is not None:
            said.append(tell_known(found, table, label, chosen))
        if labels is not None:
            filled = read_filled(labels, found.classes)
            fresh = found.tell(filled, replace=replace)
            said.append(f"{labels.name}: {fresh:,} new labels of {len(filled):,} items")
        if todo is not None:
            fill_up(found, ask)
            n = write_todo(found, table, chosen, todo, show=shown, read=labels)
            alone = not_shown(table, chosen, shown, label)
            said.append(f"{todo.name}: {n:,} items to label{alone}")
        return of_audit(
            found,
            chosen.pred,
            file.name,
            precision=precision,
            said=said,
            then=_next(file, todo or labels, len(found.waiting)),
            code=resume_code(table, found, chosen, "audit.result"),
        )

    run(
        work, output=output, as_json=as_json, reads=[file], writes={"--todo": todo, "--saved": kept}
    )


def _check_flags(
    *, todo: Path | None, show: Any, labels: Path | None, replace: bool, ask: int
) -> None:
    """Refuse flags that would do nothing."""
    check_count(ask, "--ask")
    if show and todo is None:
        refuse_option(", ".join(show), "--show", "--todo beside it, whose list shows the column")
    if replace and labels is None:
        refuse_option("given", "--replace", "--labels beside it, the list with the right labels")


def _next(file: Path, todo: Path | None, waiting: int) -> str:
    """Return what to type next; nothing where no item waits for a label."""
    if todo is None:
        return f"Next: karat audit {file.name} --todo todo.csv"
    if not waiting:
        return ""
    return (
        f"Next: fill in the column 'label' of {todo.name} from the top ({waiting:,} items wait), "
        f"then: karat audit {file.name} --labels {todo.name} --todo {todo.name}"
    )
