"""``karat optimize``: choose decision thresholds that maximise a metric."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from karat._code import Coded, call_code, lines_of_code, values
from karat._files import replaced
from karat.cli import _flags as flags
from karat.cli._run import run, table_writer
from karat.cli._table import (
    InputTable,
    classes_of,
    positive_of,
    read_metric,
    read_pos_label,
    read_probabilities,
    read_table,
)
from karat.evaluation.probabilities import of_decisions
from karat.exceptions import DataError, OptionError
from karat.metrics import GroupMetric
from karat.optimize import ColumnBasis, FrankWolfeClassifier
from karat.optimize.basis import fit_basis
from karat.report.answer import Answer


def optimize(
    file: flags.File,
    label: Annotated[
        str,
        typer.Option("--label", help="Column of true labels, empty where a row is to be decided."),
    ],
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
        wanted = read_metric(metric)
        _check_options(wanted.value, metric, group, folds)
        table = read_table(file).with_codes(group)
        if write is not None:
            write.check(table.frame)
        table.column("--label", label)
        as_written = table.as_written if write is not None else None
        table = table.matched([label], classes_of(wanted))
        rows = _read(table, wanted, label, score, prob, pos_label, basis, group)
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
                write(_with_decisions(as_written, decided), path)
        return of_decisions(
            clf,
            decided,
            file.name,
            n_unlabelled=int((~rows.known).sum()),
            written="" if predictions is None else str(predictions),
            code=_code(table, rows, options, label),
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


class _Rows(NamedTuple):
    """What the classifier is found with and what it decides, with the code of each part."""

    known: Any  # whether a row has a label
    labels: Any
    positive: Any
    proba: Any
    fitted: dict[str, Any]  # options of fit_from_proba
    decided: dict[str, Any]  # options of predict_from_proba
    made: tuple[str, ...]  # lines that make proba and the basis


def _read(
    table: InputTable,
    metric: Coded,
    label: str,
    score: str | None,
    prob: list[str] | None,
    pos_label: str | None,
    basis: list[str] | None,
    group: str | None,
) -> _Rows:
    truth = table.column("--label", label)
    known = ~truth.is_null().to_numpy()
    if not known.any():
        raise DataError(f"--label {label}: every row is empty; some rows need a label")
    if truth.drop_nulls().n_unique() == 1:
        only = truth.drop_nulls()[0]
        raise DataError(
            f"--label {label}: every labelled row is {only!r}; label some rows of another class too"
        )
    classes = truth.drop_nulls().unique().sort().to_list()
    positive = positive_of(metric, classes, read_pos_label([truth], pos_label))
    proba, order = read_probabilities(table, truth, score, prob, positive)
    fitted: dict[str, Any] = {"classes": order}
    decided: dict[str, Any] = {}
    made = [f"proba = {proba.code}"]
    if basis:
        functions = _functions(table, basis)
        made.append(functions.code)
        fitted["basis"] = Coded(functions.value.filter(known), "basis.filter(known)")
        decided["basis"] = Coded(functions.value, "basis")
    groups = table.coded("--group", group)
    if groups is not None:
        absent = np.flatnonzero(groups.value.is_null().to_numpy() & known)
        if absent.size:
            raise DataError(
                f"--group {group} row {absent[0]} is missing ({absent.size} such labelled rows in "
                "all); give them a group of their own, or drop them"
            )
        fitted["groups_val"] = Coded(groups.value.filter(known), f"{groups.code}.filter(known)")
    return _Rows(known, truth.drop_nulls(), positive, proba.value, fitted, decided, tuple(made))


def _functions(table: InputTable, basis: list[str]) -> Coded:
    """Return a constant and an indicator of each value of some columns, as a frame."""
    import polars as pl

    table.columns("--basis", basis)
    unused = np.empty(0)  # neither a constant nor an indicator looks at labels
    fitted = fit_basis(["constant", *map(ColumnBasis, basis)], table.frame, unused)
    functions = ", ".join(["'constant'", *(f"ColumnBasis({name!r})" for name in basis)])
    code = (
        f"fitted = fit_basis([{functions}], frame, np.empty(0))\n"
        "basis = pl.DataFrame(fitted.values(frame), schema=list(fitted.names))"
    )
    return Coded(pl.DataFrame(fitted.values(table.frame), schema=list(fitted.names)), code)


def _with_decisions(frame: Any, decided: Any) -> Any:
    """Return the table with a column of decisions, under a name that is free."""
    import polars as pl

    name = "decision"
    while name in frame.columns:
        name += "_"
    return frame.with_columns(pl.Series(name, decided))


def _code(table: InputTable, rows: _Rows, options: dict[str, Any], label: str) -> str:
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
