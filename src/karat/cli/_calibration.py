"""``karat calibration``: whether the probabilities in a file can be trusted jointly."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from karat.calibration import (
    CalibrationCertificate,
    CanonicalCalibration,
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.cli.frame import (
    Answer,
    Coded,
    Grid,
    InputTable,
    Page,
    call_code,
    flags,
    read_table,
    replaced,
    run,
    script,
    section,
    table_writer,
)
from karat.cli.mapping import MappedTable, check_new_columns, labelled, mapped_table

__all__ = ["calibration"]


def calibration(
    file: flags.File,
    label: flags.Labels = None,
    prob: flags.Probabilities = None,
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
    """Measure whether probabilities of several labels can be trusted jointly."""
    write = None if calibrated is None else table_writer("--calibrated", calibrated)

    def work() -> Answer:
        table = read_table(file, rows)
        labels = table.names("--label", label, ("label_", "y_true_"))
        probs = table.names("--prob", prob, ("prob", "y_prob"))
        if write is not None:
            check_new_columns(table, probs)
            write.check(table.frame)
        known = table if write is None else labelled(table, labels)
        y, h = _columns(known, labels, probs)
        estimated: dict[str, Any] = {"method": method, "confidence": confidence, "rng": 0}
        proven: dict[str, Any] = {"model": model, "confidence": confidence, "rng": 0}
        estimate = canonical_calibration_error(y.value, h.value, **estimated)
        proof = calibration_certificate(y.value, h.value, **proven)
        data: dict[str, Any] = {"canonical": estimate, "certificate": proof}
        text = [
            f"labels: {', '.join(labels)}", "", estimate.summary(), "", proof.summary(),
            *(f"\nnote: {note}" for note in estimate.notes),
        ]  # fmt: skip
        code = _code(table, known, labels, (y, h), estimated, proven)
        mapped = None
        if write is not None:
            mapped = mapped_table(table, known, labels, probs, _columns)
            with replaced(write.path) as target:
                write(mapped.frame, target)
            data["calibrated"] = mapped.score
            text += ["", mapped.summary(write.path.name)]
        return Answer(
            data=data,
            text=text,
            page=partial(_page, file.name, y.value, h.value, estimate, proof, code, mapped),
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


def _columns(table: InputTable, labels: list[str], probs: list[str]) -> tuple[Coded, Coded]:
    """Return labels and probabilities in the forms that the library takes."""
    y = Coded(table.columns("--label", labels), f"frame[{labels}]")
    h = Coded(table.columns("--prob", probs), f"frame[{probs}]")
    if len(labels) == 1:  # a label, or one column of classes
        classes = Coded(y.value[labels[0]], f"frame[{labels[0]!r}]")
        return classes, Coded(h.value.to_numpy(), f"{h.code}.to_numpy()")
    if len(labels) == len(probs):  # the names differ between the two: they go by their order
        renamed = dict(zip(probs, labels, strict=True))
        return y, Coded(h.value.rename(renamed), f"{h.code}.rename({renamed})")
    return y, h


def _page(
    name: str,
    y: Any,
    h: Any,
    estimate: CanonicalCalibration,
    proof: CalibrationCertificate,
    code: str,
    mapped: MappedTable | None,
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
