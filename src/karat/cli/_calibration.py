"""``karat calibration``: whether the probabilities in a file can be trusted jointly."""

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, lines_of_code
from karat._files import replaced
from karat._typing import BoolArray
from karat._validate import refuse_option
from karat.calibration import (
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.calibration.inputs import Pairing, pair_columns, paired_columns
from karat.cli import _flags as flags
from karat.cli._calls import call, check_taken, chosen_counts
from karat.cli._run import run, table_writer
from karat.cli._table import InputTable, has_label, read_pos_label, read_table, with_columns
from karat.evaluation.probabilities import calibrate, of_calibration, of_marginal
from karat.exceptions import ColumnError, DataError
from karat.report.answer import Answer
from karat.sources import Counts
from karat.sources.stored import is_counts

_START = "calibrated_"
_METHOD, _MODEL = "latent", "copula"


def calibration(
    file: flags.File,
    label: flags.Labels = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    method: Annotated[str, typer.Option(help="latent, probit, trees or dequantized.")] = _METHOD,
    model: Annotated[
        str, typer.Option(help="What the certificate fits: copula or trees.")
    ] = _MODEL,
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    calibrated: Annotated[
        Path | None,
        typer.Option(
            help="Write the table with a column of calibrated probabilities for each --prob here. "
            "Each row is mapped by what was fitted to other rows; rows without labels by what was "
            "fitted to all others.",
        ),
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Measure whether probabilities of several labels can be trusted jointly.

    Example:  karat calibration scenes.csv --label 'label_*' --prob 'prob_*'
    """
    write = None if calibrated is None else table_writer("--calibrated", calibrated)

    def counted() -> Answer:
        of_rows: dict[str, Any] = {"label": label, "pos_label": pos_label, "rows": rows}
        of_rows |= {"calibrated": calibrated, "method": method if method != _METHOD else None}
        of_rows |= {"model": model if model != _MODEL else None}
        check_taken(of_rows, beside="a file of counts")
        found = {}
        for name, one in chosen_counts(Counts.load(file).roc, prob, "--prob", file).items():
            read = f"counts = Counts.load({str(file)!r}).roc[{name!r}]"
            if prob or _is_probability(one):
                found[name] = call(marginal_calibration_error, Coded(one, "counts"), read=[read])
        if not found:
            raise DataError(
                f"{file.name} holds no counts of probabilities; expected scores between 0 and 1"
            )
        results = {name: one.result for name, one in found.items()}
        return of_marginal(results, file.name, {name: one.code for name, one in found.items()})

    def work() -> Answer:
        if is_counts(file):
            return counted()
        table = read_table(file, rows)
        labels = table.names("--label", label, ("label_", "y_true_"))
        probs = table.names("--prob", prob, ("prob", "y_prob"))
        table = table.matched(labels) if len(labels) == 1 else table
        if write is not None:
            _check_new_columns(table, probs)
            write.check(table.frame)
        keep = has_label(table, labels)
        known = InputTable(table.path, table.frame.filter(keep))
        pairing = _pairing(known, labels, probs, pos_label)
        if len(labels) > 1 and len(labels) == len(probs):  # columns of both in one order
            of = {name: column for column, name in pairing.names.items()}
            probs = [of[name] for name in labels]
        y, h = _columns(pairing, known, labels, probs)
        dropped = "" if keep.all() else f"frame = frame.drop_nulls({labels})"
        shared: dict[str, Any] = {"confidence": confidence, "rng": 0}
        read = [table.code, dropped]
        estimate = call(canonical_calibration_error, y, h, read=read, method=method, **shared)
        proof = call(calibration_certificate, y, h, read=read, model=model, **shared)
        mapped = None
        if write is not None:
            others = None
            if not keep.all():
                unknown = InputTable(table.path, table.frame.filter(~keep))
                others = _columns(pairing, unknown, labels, probs)[1].value
            mapped = calibrate(y.value, h.value, others)
            with replaced(write.path) as target:
                write(with_columns(table, [_START + n for n in probs], mapped.rows(keep)), target)
        return of_calibration(
            (y.value, h.value),
            estimate.result,
            proof.result,
            file.name,
            sampled=_sampled(keep),
            said=f"{', '.join(labels)}{_said(pairing)}",
            mapped=mapped,
            written="" if calibrated is None else calibrated.name,
            code=lines_of_code(*read, estimate.line, proof.line),
        )

    run(work, output=output, as_json=as_json, reads=[file], writes={"--calibrated": calibrated})


def _is_probability(counts: Any) -> bool:
    """Return whether the scores that were counted may be probabilities."""
    return not counts.cells and counts.scores[0] >= 0 and counts.scores[-1] <= 1


def _check_new_columns(table: InputTable, probs: list[str]) -> None:
    """Refuse a table that already has a column of a name to be added."""
    for name in probs:
        if _START + name in table.frame.columns:
            raise ColumnError(
                f"--calibrated adds the column {_START + name!r} and the table has one; rename it"
            )


def _columns(
    pairing: Pairing, table: InputTable, labels: list[str], probs: list[str]
) -> tuple[Coded, Coded]:
    """Return labels and probabilities in the forms that the library takes."""
    y = Coded(table.columns("--label", labels), f"frame[{labels}]" if len(labels) > 1 else "frame")
    h = Coded(table.columns("--prob", probs), f"frame[{probs}]")
    return paired_columns(y, h, pairing)


def _pairing(table: InputTable, labels: list[str], probs: list[str], pos_label: Any) -> Pairing:
    """Return which column of probabilities is of which class or label."""
    classes: list[Any] = []
    if len(labels) == 1:
        column = table.column("--label", labels[0])
        classes = column.drop_nulls().unique().sort().to_list()
        pos_label = read_pos_label([column], pos_label)
    elif pos_label is not None:
        refuse_option(pos_label, "--pos-label", "one --label and one --prob with it")
    return pair_columns(labels, probs, classes, pos_label)


def _sampled(keep: BoolArray) -> str:
    """Return what the numbers assume where some rows have no label."""
    n, every = int(keep.sum()), len(keep)
    return "" if n == every else f", if the {n:,} labelled rows of {every:,} were drawn at random"


def _said(pairing: Pairing) -> str:
    """Return what the probabilities are of, where names or flags decided it."""
    if pairing.positive is not None:
        return f"; probabilities of {pairing.positive!r}"
    return "".join(f"; {prob} is of {name}" for prob, name in pairing.names.items())
