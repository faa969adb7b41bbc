"""``karat calibration``: whether the probabilities in a file can be trusted jointly."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, script
from karat._files import replaced
from karat._validate import refuse_option
from karat.calibration import (
    CalibrationCertificate,
    CanonicalCalibration,
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.calibration.inputs import Pairing, pair_columns, paired_columns
from karat.cli import _flags as flags
from karat.cli._optimize import MappedTable, check_new_columns, labelled, mapped_table
from karat.cli._run import Answer, Grid, Page, run, section, table_writer
from karat.cli._table import InputTable, read_pos_label, read_table
from karat.evaluation.questions import calibration_verdict
from karat.report.parts import Verdict


def calibration(
    file: flags.File,
    label: flags.Labels = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    method: Annotated[str, typer.Option(help="latent, probit, trees or dequantized.")] = "latent",
    model: Annotated[
        str, typer.Option(help="What the certificate fits: copula or trees.")
    ] = "copula",
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

    def work() -> Answer:
        table = read_table(file, rows)
        labels = table.names("--label", label, ("label_", "y_true_"))
        probs = table.names("--prob", prob, ("prob", "y_prob"))
        table = table.matched(labels) if len(labels) == 1 else table
        if write is not None:
            check_new_columns(table, probs)
            write.check(table.frame)
        known = labelled(table, labels)
        pairing = _pairing(known, labels, probs, pos_label)
        if len(labels) > 1 and len(labels) == len(probs):  # columns of both in one order
            of = {name: column for column, name in pairing.names.items()}
            probs = [of[name] for name in labels]
        columns = partial(_columns, pairing)
        y, h = columns(known, labels, probs)
        estimated: dict[str, Any] = {"method": method, "confidence": confidence, "rng": 0}
        proven: dict[str, Any] = {"model": model, "confidence": confidence, "rng": 0}
        estimate = canonical_calibration_error(y.value, h.value, **estimated)
        proof = calibration_certificate(y.value, h.value, **proven)
        data: dict[str, Any] = {"canonical": estimate, "certificate": proof}
        verdict = calibration_verdict(estimate, sampled=_sampled(known, table))
        data["verdicts"] = [verdict]
        text = [
            f"[{verdict.badge}] {verdict.sentence}",
            "",
            f"labels: {', '.join(labels)}{_said(pairing)}",
            "",
            estimate.summary(),
            "",
            proof.summary(),
            *(f"\nnote: {note}" for note in estimate.notes),
        ]
        code = _code(table, known, labels, (y, h), estimated, proven)
        mapped = None
        if write is not None:
            mapped = mapped_table(table, known, labels, probs, columns)
            with replaced(write.path) as target:
                write(mapped.frame, target)
            data["calibrated"] = mapped.score
            text += ["", mapped.summary(write.path.name)]
        return Answer(
            data=data,
            text=text,
            page=partial(
                _page, file.name, y.value, h.value, estimate, proof, code, mapped, verdict
            ),
        )

    run(work, output=output, as_json=as_json, reads=[file], writes={"--calibrated": calibrated})


def _code(
    table: InputTable,
    known: InputTable,
    labels: list[str],
    columns: tuple[Coded, Coded],
    estimated: dict[str, Any],
    proven: dict[str, Any],
) -> str:
    """Return the script that gives the same numbers."""
    names = "calibration_certificate, canonical_calibration_error"
    dropped = (
        () if len(known.frame) == len(table.frame) else (f"frame = frame.drop_nulls({labels})",)
    )
    return script(
        ("import polars as pl", f"from karat.calibration import {names}"),
        table.code,
        *dropped,
        call_code("canonical_calibration_error", *columns, **estimated),
        call_code("calibration_certificate", *columns, **proven),
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


def _sampled(known: InputTable, table: InputTable) -> str:
    """Return what the numbers assume where some rows have no label."""
    n, every = len(known.frame), len(table.frame)
    return "" if n == every else f", if the {n:,} labelled rows of {every:,} were drawn at random"


def _said(pairing: Pairing) -> str:
    """Return what the probabilities are of, where names or flags decided it."""
    if pairing.positive is not None:
        return f"; probabilities of {pairing.positive!r}"
    return "".join(f"; {prob} is of {name}" for prob, name in pairing.names.items())


def _page(
    name: str,
    y: Any,
    h: Any,
    estimate: CanonicalCalibration,
    proof: CalibrationCertificate,
    code: str,
    mapped: MappedTable | None,
    verdict: Verdict,
) -> Page:
    marginal = marginal_calibration_error(y, h)
    sections = [
        _joint(estimate, proof, code),
        section(
            "What is proven?",
            proof.summary(),
            result=proof,
            picture="The gain of a map of all probabilities on rows it did not see.",
        ),
        section(
            "Are labels calibrated one at a time?",
            marginal.summary(),
            result=marginal,
            picture="Frequency against probability.",
        ),
    ]
    if len(estimate.names) > 1:
        pairs = estimate.label_pairs
        sections.append(
            section(
                "Which labels give it away?",
                pairs.summary(),
                result=pairs,
                picture="Residuals of each label against probabilities of the others.",
            )
        )
    if mapped is not None:
        sections.append(mapped.section())
    return Page(
        f"{name}: can the probabilities be trusted jointly",
        "Canonical calibration: what a label's frequency is given the probabilities of all labels.",
        sections,
        (verdict,),
    )


def _joint(estimate: CanonicalCalibration, proof: CalibrationCertificate, code: str) -> Any:
    columns = ("label", "marginal", "canonical, estimated", "gain of a map on held-out rows")
    numbers = zip(
        estimate.names, estimate.marginal, estimate.per_label, proof.per_label, strict=True
    )
    rows = tuple(
        (name, f"{own:.5f}", f"{joint:.5f}", f"{gain:.5f}") for name, own, joint, gain in numbers
    )
    return section(
        "Can the probabilities be trusted jointly?",
        estimate.summary(),
        result=estimate,
        picture="Squared canonical and marginal error of each label.",
        grid=Grid(columns, rows, "Squared error"),
        assumptions=(
            "Rows are independent, and the model was not trained on them.",
            "The estimate sees what a Gaussian copula sees; where labels follow another law, it "
            "and its upper limit are too small. The certificate rests on no model.",
            "The canonical error is never below the marginal error; estimates of one label may be, "
            "by chance.",
            *estimate.notes,
        ),
        code=code,
    )
