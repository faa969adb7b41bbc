"""``karat calibration``: whether the probabilities in a file can be trusted jointly."""

from functools import partial
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
    run,
    script,
    section,
)

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
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Measure whether probabilities of several labels can be trusted jointly."""

    def work() -> Answer:
        table = read_table(file, rows)
        labels = table.names("--label", label, ("label_", "y_true_"))
        probs = table.names("--prob", prob, ("prob", "y_prob"))
        y, h = _columns(table, labels, probs)
        estimated: dict[str, Any] = {"method": method, "confidence": confidence, "rng": 0}
        proven: dict[str, Any] = {"model": model, "confidence": confidence, "rng": 0}
        estimate = canonical_calibration_error(y.value, h.value, **estimated)
        proof = calibration_certificate(y.value, h.value, **proven)
        names = "calibration_certificate, canonical_calibration_error"
        code = script(
            ("import polars as pl", f"from karat.calibration import {names}"),
            table.code,
            call_code("canonical_calibration_error", y, h, **estimated),
            call_code("calibration_certificate", y, h, **proven),
        )
        return Answer(
            data={"canonical": estimate, "certificate": proof},
            text=[
                f"labels: {', '.join(labels)}", "", estimate.summary(), "", proof.summary(),
                *(f"\nnote: {note}" for note in estimate.notes),
            ],
            page=partial(_page, file.name, y.value, h.value, estimate, proof, code),
        )  # fmt: skip

    run(work, output=output, as_json=as_json, reads=[file])


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
            "And each label by itself?",
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
    return Page(
        f"{name}: can the probabilities be trusted jointly",
        "Canonical calibration: what a label's frequency is given the probabilities of all labels.",
        sections,
    )


def _joint(estimate: CanonicalCalibration, proof: CalibrationCertificate, code: str) -> Any:
    columns = ("label", "by itself", "given all, estimated", "given all, on held-out rows")
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
        picture="Squared calibration error of each label, given all and by itself.",
        grid=Grid(columns, rows, "Squared calibration error"),
        assumptions=(
            "Rows are independent, and the model was not trained on them.",
            "The estimate sees what a Gaussian copula sees; the certificate rests on no model.",
            *estimate.notes,
        ),
        code=code,
    )
