"""``karat gate``: hold a metric to what it has to reach."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, script, values
from karat._files import replaced
from karat._validate import check_alike, encode_labels, refuse_option
from karat.audit import GateResult
from karat.audit import gate as decide_gate
from karat.cli import _flags as flags
from karat.cli._audit import Given, open_audit, resume_code
from karat.cli._run import Answer, Page, run, section
from karat.cli._table import classes_of, import_of, read_metric, read_pos_label, read_table
from karat.evaluation.questions import below_one_class
from karat.exceptions import EmptyDataError, LabelError
from karat.metrics import as_metric


def gate(
    file: flags.File,
    at_least: Annotated[float, typer.Option("--at-least", help="What the metric has to reach.")],
    label: flags.KnownLabel = None,
    pred: Annotated[str | None, typer.Option("--pred", help="Column of predictions.")] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Name of a metric, or a .json file that holds one."),
    ] = None,
    pos_label: flags.PosLabel = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Put sorted rows in a random order; one look only.")
    ] = False,
    saved: Annotated[
        Path | None, typer.Option(help="Decide by the labels of this audit of FILE instead.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", help="Probability that the limits hold."),
    ] = None,
    markdown: flags.Markdown = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Pass, fail or wait: hold a metric to what it has to reach, whenever you look.

    Example:  karat gate labelled.csv --label truth --pred model --metric f1 --at-least 0.8

    The exit code is 0 for PASS, 4 for FAIL and 5 for INCONCLUSIVE (2 wrong usage, 3 wrong data). A
    pipeline may look after every new label: rows without a label are left out, and the others count
    in the order of the file, new ones at the end.
    """
    found: list[GateResult] = []

    def work() -> Answer:
        if saved is not None:
            if label is not None or shuffle:
                flag = "--shuffle" if label is None else "--label"
                refuse_option(
                    label or "given",
                    flag,
                    "no such flag beside --saved: an audit has labels, and an order, of its own",
                )
            given = Given(pred, metric=metric, pos_label=pos_label, confidence=confidence)
            result, code = _audited(file, saved, at_least, given)
            first = ""
        else:
            result, code, first = _sampled(
                file,
                label,
                pred,
                metric or "accuracy",
                pos_label,
                at_least,
                shuffle,
                0.95 if confidence is None else confidence,
            )
        found.append(result)
        if markdown is not None:
            with replaced(markdown) as new:
                new.write_text(result.to_markdown(), encoding="utf-8")
        data: dict[str, Any] = {"gate": {**result.to_dict(), "exit_code": result.exit_code}}
        if first:
            data["below_one_class"] = first
        page = partial(_page, file, result, code, _SAMPLE if saved is None else _AUDIT)
        return Answer(data=data, text=[*([first] if first else []), result.summary()], page=page)

    others = [Path(path) for path in (metric, saved) if path is not None]
    run(
        work, output=output, as_json=as_json, reads=[file, *others], writes={"--markdown": markdown}
    )
    raise typer.Exit(found[0].exit_code)


def _sampled(
    file: Path,
    label: str | None,
    pred: str | None,
    metric: str,
    pos_label: str | None,
    at_least: float,
    shuffle: bool,
    confidence: float,
) -> tuple[GateResult, str, str]:
    if label is None:
        refuse_option(None, "--label", "a column of true labels, or --saved with an audit of FILE")
    chosen = read_metric(metric)
    table = read_table(file)
    table.column("--label", label)
    name = pred or table.names("--pred", None, ("pred", "y_pred"))[0]
    table = table.matched([label, name], classes_of(chosen))
    column = table.column("--label", label)
    table.check_filled("--pred", [name], label)
    known = table.frame.filter(column.is_not_null())
    if not len(known):
        raise EmptyDataError(f"--label {label} is empty in every row; label some rows first")
    truth = Coded(known[label], f"known[{label!r}]")
    called = Coded(table.column("--pred", name).filter(column.is_not_null()), f"known[{name!r}]")
    if column.dtype.is_numeric() != called.value.dtype.is_numeric():
        first = [f"{c.drop_nulls()[0]!r}" for c in (column, called.value)]
        raise LabelError(
            f"--label {label} holds {first[0]} and --pred {name} holds {first[1]}, a number and a "
            "text; give both the same labels"
        )
    classes = sorted(
        {*column.drop_nulls().unique(), *table.frame[name].drop_nulls().unique()},
        key=lambda v: (str(type(v)), v),
    )
    codes, found = encode_labels({"y_true": truth.value, "y_pred": called.value}, classes)
    check_alike({f"--label {label}": codes[0], f"--pred {name}": codes[1]}, found)
    positive = read_pos_label([column, table.frame[name]], pos_label)
    order = as_metric(chosen.value)._order_of(found, pos_label=positive, name=f"--label {label}")
    options: dict[str, Any] = {
        "metric": chosen,
        "classes": order.tolist(),
        "confidence": confidence,
        "shuffle": shuffle or None,
        "rng": 0 if shuffle else None,
    }
    used = {name: value for name, value in options.items() if value is not None}
    result = decide_gate(truth.value, called.value, at_least, **values(used))
    below = below_one_class(truth.value, {name: called.value})
    code = script(
        ("import polars as pl", "from karat.audit import gate", import_of(chosen)),
        table.code,
        f"known = frame.drop_nulls({label!r})",
        call_code("gate", truth, called, at_least, **used),
    )
    return result, code, "" if below is None else below.sentence


def _audited(file: Path, saved: Path, at_least: float, given: Given) -> tuple[GateResult, str]:
    if not saved.is_file():
        refuse_option(str(saved), "--saved", "a file that karat audit wrote")
    audit, chosen, table = open_audit(read_table(file), saved, given, start=False)
    return audit.gate(at_least), resume_code(table, audit, chosen, f"audit.gate({at_least!r})")


_SAMPLE = "Labelled rows are a random sample, in the order in which they were labelled."
_AUDIT = (
    "Items were drawn by the audit, and labels were filled in without passing over items because "
    "they are hard."
)


def _page(file: Path, result: GateResult, code: str, rests: str) -> Page:
    one = section(
        f"Is {result.title} at least {result.at_least:g}?",
        result.summary(),
        result=result,
        picture="The estimate with its limits, beside what has to be reached.",
        assumptions=(
            f"{rests} The limits hold after every label together, so a pipeline may look "
            "at any time.",
        ),
        code=code,
    )
    return Page(f"{file.name}: {result.status}", "A gate decides by limits at every look.", [one])
