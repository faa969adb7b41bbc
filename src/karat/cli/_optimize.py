"""``karat optimize``: choose decision thresholds that maximise a metric."""

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, lines_of_code, values
from karat._files import replaced
from karat.cli import _flags as flags
from karat.cli._calls import needed_label
from karat.cli._run import run, table_writer
from karat.cli._table import (
    DecidedRows,
    InputTable,
    classes_of,
    decided_rows,
    read_metric,
    read_table,
    with_decisions,
)
from karat.evaluation.probabilities import of_decisions
from karat.exceptions import DataError, OptionError
from karat.metrics import GroupMetric
from karat.optimize import FrankWolfeClassifier
from karat.report.answer import Answer
from karat.sources.stored import is_counts


def optimize(
    file: flags.File,
    label: Annotated[
        str | None,
        typer.Option("--label", help="Column of true labels, empty where a row is to be decided."),
    ] = None,
    score: flags.Score = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    metric: flags.Metric = "g_mean",
    basis: Annotated[
        list[str] | None,
        typer.Option(help="Column along whose values decisions may differ; repeat."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds to measure on unused rows; 0 for none.")] = 5,
    randomize: Annotated[bool, typer.Option("--randomize", help="Draw from the mixture.")] = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write the table with a column of decisions here.")
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Choose decision thresholds that maximise a metric.

    Example:  karat optimize mails.csv --label truth --score p_spam --metric f1
    """
    write = None if predictions is None else table_writer("--predictions", predictions)

    def work() -> Answer:
        if is_counts(file):
            raise DataError(
                f"{file.name} holds counts, which do not keep apart the rows that a rule is found "
                "with and those that it is measured on; pass the table that was counted: karat "
                "optimize TABLE --label COLUMN --score COLUMN"
            )
        wanted = read_metric(metric)
        known = needed_label(label)
        _check_options(wanted.value, metric, group, folds)
        table = read_table(file).with_codes(group)
        if write is not None:
            write.check(table.frame)
        table.column("--label", known)
        as_written = table.as_written if write is not None else None
        table = table.matched([known], classes_of(wanted))
        rows = decided_rows(table, wanted, known, score, prob, pos_label, basis, group)
        options = {
            "metric": wanted,
            "n_folds": folds or None,
            "deterministic": not randomize,
            "pos_label": rows.positive,
        }
        clf = FrankWolfeClassifier(**values(options))
        clf.fit_from_proba(rows.proba[rows.known], rows.labels, **values(rows.fitted))
        decided = clf.predict_from_proba(rows.proba, **values(rows.decided))
        if predictions is not None and write is not None:
            with replaced(predictions) as path:
                write(with_decisions(as_written, decided), path)
        return of_decisions(
            clf,
            decided,
            file.name,
            n_unlabelled=int((~rows.known).sum()),
            written="" if predictions is None else str(predictions),
            code=_code(table, rows, options, known),
        )

    run(
        work,
        output=output,
        as_json=as_json,
        reads=[file, Path(metric)],
        writes={"--predictions": predictions},
    )


def _check_options(wanted: Any, metric: str, group: str | None, folds: int) -> None:
    """Refuse options that do not go together, in the words of the command."""
    compares = isinstance(wanted, GroupMetric)
    if group is not None and not compares:
        raise OptionError(f"--group is {group!r}; expected with a metric that compares groups")
    if group is None and compares:
        raise OptionError(
            f"--metric is {metric!r}, which compares {wanted.n_groups} groups; expected --group "
            "with it, the column of groups"
        )
    if folds < 0 or folds == 1:
        raise OptionError(f"--folds is {folds}; expected 0 for none, or at least 2")


def _code(table: InputTable, rows: DecidedRows, options: dict[str, Any], label: str) -> str:
    """Return the lines that give the same answer."""
    some, labels = Coded(None, "proba[known]"), Coded(None, f"frame[{label!r}].drop_nulls()")
    return lines_of_code(
        table.code,
        f"known = frame[{label!r}].is_not_null().to_numpy()",
        *rows.made,
        f"clf = {call_code('FrankWolfeClassifier', **options)}",
        call_code("clf.fit_from_proba", some, labels, **rows.fitted),
        call_code("clf.predict_from_proba", Coded(None, "proba"), **rows.decided),
        imports=["from karat.optimize.basis import fit_basis"] if rows.decided else [],
    )
