"""``karat gate``: hold a metric to what it has to reach."""

from pathlib import Path
from typing import Annotated

import typer

from karat._code import Coded
from karat._files import replaced
from karat._validate import refuse_option
from karat.audit import gate as decide_gate
from karat.audit.result import GateResult
from karat.cli import _flags as flags
from karat.cli._calls import call, check_taken, chosen_counts, class_columns
from karat.cli._kept_audit import Given, open_audit, resume_code
from karat.cli._run import run
from karat.cli._table import PREDICTIONS, known_rows, read_metric, read_pos_label, read_table
from karat.evaluation.audits import of_gate
from karat.evaluation.questions import below_one_class
from karat.exceptions import OptionError
from karat.report.answer import Answer
from karat.sources import Counts
from karat.sources.stored import is_counts


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

    def of_counts() -> Answer:
        check_taken({"label": label, "saved": saved}, beside="a file of counts")
        counted = Counts.load(file).confusions
        models = chosen_counts(counted, pred and [pred], "--pred", file)
        if len(models) > 1:
            raise OptionError(f"--pred is None; expected one of {', '.join(models)}")
        ((name, one),) = models.items()
        gated = call(
            decide_gate,
            Coded(one, "counts"),
            None,
            at_least,
            read=[f"counts = Counts.load({str(file)!r}).confusions[{name!r}]"],
            metric=read_metric(metric or "accuracy"),
            pos_label=read_pos_label(class_columns(one.classes), pos_label),
            confidence=0.95 if confidence is None else confidence,
            rng=0,
        )
        found.append(gated.result)
        below = below_one_class(None, {name: one})
        return of_gate(gated.result, file.name, below=below, code=gated.code)

    def of_rows() -> Answer:
        if label is None:
            expected = "a column of true labels, or --saved with an audit of FILE"
            refuse_option(None, "--label", expected)
        chosen = read_metric(metric or "accuracy")
        table = read_table(file, None, [label, pred], () if pred else PREDICTIONS)
        rows = known_rows(table, label, None if pred is None else [pred], chosen)
        truth = rows.column("--label", label)
        name, said = next(iter(rows.models.items()))
        gated = call(
            decide_gate,
            truth,
            said,
            at_least,
            read=rows.lines,
            metric=chosen,
            classes=rows.classes(chosen, name, pos_label),
            confidence=0.95 if confidence is None else confidence,
            shuffle=shuffle or None,
            rng=0 if shuffle else None,
        )
        found.append(gated.result)
        below = below_one_class(truth.value, {name: said.value})
        return of_gate(gated.result, file.name, below=below, code=gated.code)

    def of_audit(saved: Path) -> Answer:
        if label is not None or shuffle:
            flag = "--shuffle" if label is None else "--label"
            expected = "no such flag beside --saved: an audit has labels, and an order, of its own"
            refuse_option(label or "given", flag, expected)
        if not saved.is_file():
            refuse_option(str(saved), "--saved", "a file that karat audit wrote")
        given = Given(pred, metric=metric, pos_label=pos_label, confidence=confidence)
        audit, chosen, table = open_audit(read_table(file), saved, given, start=False)
        found.append(audit.gate(at_least))
        code = resume_code(table, audit, chosen, f"audit.gate({at_least!r})")
        return of_gate(found[0], file.name, audited=True, code=code)

    def work() -> Answer:
        labelled = of_counts if is_counts(file) else of_rows
        answer = labelled() if saved is None or is_counts(file) else of_audit(saved)
        if markdown is not None:
            with replaced(markdown) as new:
                new.write_text(found[0].to_markdown(), encoding="utf-8")
        return answer

    others = [Path(path) for path in (metric, saved) if path is not None]
    run(
        work, output=output, as_json=as_json, reads=[file, *others], writes={"--markdown": markdown}
    )
    raise typer.Exit(found[0].exit_code)
