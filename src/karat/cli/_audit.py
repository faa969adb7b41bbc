"""``karat audit``: which items of a file to label, and what is known so far."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._validate import check_count, refuse_option
from karat.audit import Audit, AuditResult
from karat.cli.auditing import (
    Chosen,
    Given,
    ids_of,
    open_audit,
    read_filled,
    resume_code,
    saved_beside,
    shown_columns,
    write_todo,
)
from karat.cli.frame import Answer, Grid, InputTable, Page, flags, read_table, run, section

if TYPE_CHECKING:
    from karat.report import Section

__all__ = ["audit"]


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

    def work() -> Answer:
        table = read_table(file)
        given = Given(
            pred, against, tuple(prob or ()), tuple(score or ()), tuple(judge or ()), ident, group,
            metric, pos_label, classes, confidence,
        )  # fmt: skip
        _check_flags(todo=todo, show=show, labels=labels, replace=replace, ask=ask)
        found, chosen = open_audit(table, kept, given)
        shown = shown_columns(table, chosen, show or found._notes.get("show"), label=label)
        found._notes["show"] = shown
        if todo is not None or labels is not None or label is not None:
            found.save(kept)  # from here on, whatever is asked for or told is kept at once
        said = []
        if label is not None:
            said.append(_known(found, table, label, chosen))
        if labels is not None:
            filled = read_filled(labels)
            fresh = found.tell(filled, replace=replace)
            said.append(f"{labels.name}: {fresh:,} new labels of {len(filled):,} items")
        if todo is not None:
            _fill_up(found, ask)
            n = write_todo(found, table, chosen, todo, show=shown, read=labels)
            alone = _not_shown(table, chosen, shown, label)
            said.append(f"{todo.name}: {n:,} items to label{alone}")
        return _answer(table, found, chosen, said, precision, todo or labels)

    run(work, output=output, as_json=as_json, reads=[file],
        writes={"--todo": todo, "--saved": kept})  # fmt: skip


def _check_flags(
    *, todo: Path | None, show: Any, labels: Path | None, replace: bool, ask: int
) -> None:
    """Refuse flags that would do nothing."""
    check_count(ask, "--ask")
    if show and todo is None:
        refuse_option(", ".join(show), "--show", "--todo beside it, whose list shows the column")
    if replace and labels is None:
        refuse_option("given", "--replace", "--labels beside it, the list with the right labels")


def _not_shown(table: InputTable, chosen: Chosen, shown: list[str], label: str | None) -> str:
    """Say how to show whoever labels more than the names of the items."""
    hidden = {*chosen.hidden, chosen.id, "label", label}
    classes = set(map(str, table.frame[chosen.pred].unique()))
    # Numbers may be scores, and a column of nothing but classes may be the truth.
    more = (
        name for name in table.frame.columns
        if name not in hidden
        and not table.frame[name].dtype.is_numeric()
        and not set(map(str, table.frame[name].drop_nulls().unique())) <= classes
    )  # fmt: skip
    name = None if shown else next(more, None)
    return (
        "" if name is None else f" by name alone; --show {name} --todo … would add a column to see"
    )


def _known(found: Audit, table: InputTable, label: str, chosen: Chosen) -> str:
    """Tell labels that the file holds already."""
    column = table.column("--label", label)
    ids = ids_of(table, chosen)
    names = range(len(column)) if ids is None else ids.to_list()
    given = {name: value for name, value in zip(names, column.to_list(), strict=True)
             if value is not None}  # fmt: skip
    fresh = found.tell(given, design="random")
    return f"--label {label}: {fresh:,} new labels, taken for a random sample"


def _fill_up(found: Audit, ask: int) -> None:
    """Ask for as many items as the list is short of."""
    short = min(ask - len(found.waiting), found.left)
    if short > 0:
        found.ask(short)


def _answer(
    table: InputTable,
    found: Audit,
    chosen: Chosen,
    said: list[str],
    precision: float,
    todo: Path | None,
) -> Answer:
    file, result = table.path, found.result
    text: list[str | Grid] = [*said, ""]
    budget = found.budget(precision)
    if not result.n_labels:
        text.append(f"{budget.summary()}.")
    else:
        text.append(f"{result.summary()}.")
        text += [f"  {name}: {part.summary()}" for name, part in (result.groups or {}).items()]
    text += ["", _strata(result)]
    if todo is None:
        text.append(f"Next: karat audit {file.name} --todo todo.csv")
    elif len(found.waiting):
        text.append(
            f"Next: fill in the column 'label' of {todo.name} from the top "
            f"({len(found.waiting):,} items wait), then: karat audit {file.name} --labels "
            f"{todo.name} --todo {todo.name}"
        )
    data = {"result": result, "budget": budget, "waiting": found.waiting["item"].to_list()}
    return Answer(data=data, text=text, page=partial(_page, table, found, chosen, precision))


def _strata(result: AuditResult) -> Grid:
    rows = tuple(
        (s.why, f"{s.n_items:,}", f"{s.n_labels:,}", f"{100 * s.share:.0f} %")
        for s in result.strata
    )
    return Grid(("items", "all", "labelled", "share of the labels"), rows)


def _page(table: InputTable, found: Audit, chosen: Chosen, precision: float) -> Page:
    result = found.result
    budget = found.budget(precision)
    first = section(
        f"How good is {chosen.pred}?",
        result.summary(),
        result=result,
        picture=f"{result.title} against the number of labels, with limits at every look, and the "
        "share of items and labels in every stratum.",
        grid=_strata(result),
        assumptions=(
            "Items were drawn by the audit, and labels were filled in without passing over items "
            "because they are hard. The limits hold however wrong the probabilities are.",
            "Limits for this number of labels do not allow for stopping as soon as they please; "
            "those at every look do.",
        ),
        code=resume_code(table, found, chosen, "audit.result"),
    )
    parts = [first] if result.groups is None else [first, _groups(result)]
    budget_section = section(
        "How many labels does it take?", budget.summary(), result=budget,
        picture="Precision against the number of labels, random and chosen.",
        assumptions=("The numbers rest on the guesses of the truth that the audit was given.",),
    )  # fmt: skip
    return Page(
        f"{table.path.name}: what {result.n_labels:,} labels tell",
        "An audit asks for the items whose labels tell most of a metric.",
        [*parts, budget_section],
    )


def _groups(result: AuditResult) -> "Section":
    rows = tuple(
        (str(name), f"{part.n_labels:,}", f"{part.lower:.3f}",
         "no label yet" if not part.n_labels and part.estimate != part.estimate
         else f"{part.estimate:.3f}", f"{part.upper:.3f}")
        for name, part in (result.groups or {}).items()
    )  # fmt: skip
    few = len(result.unlabelled)
    said = f"{result.title} of each of {len(rows)} groups, with limits of its own"
    if few:
        said += f"; {few} of them have no label yet, so that nothing is known of them"
    return section(
        "How good is it in each group?", said,
        grid=Grid(("group", "labels", "lower", "estimate", "upper"), rows),
        assumptions=("Each group's limits hold for it alone, not for all groups together.",),
    )  # fmt: skip
