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
from karat.cli.frame import Answer, Grid, InputTable, Page, flags, read_table, run, section

__all__ = ["calibration"]

_CODE = """\
from karat.calibration import calibration_certificate, canonical_calibration_error

canonical_calibration_error({columns}, method={method!r}{confidence}, rng=0)
calibration_certificate({columns}, model={model!r}{confidence}, rng=0)
"""


def calibration(
    file: flags.File,
    label: flags.Labels = None,
    prob: flags.Probabilities = None,
    method: Annotated[str, typer.Option(help="latent, probit, trees or dequantized.")] = "latent",
    model: Annotated[
        str, typer.Option(help="What the certificate fits: copula or trees.")
    ] = "copula",
    confidence: flags.Confidence = 0.95,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Measure whether probabilities of several labels can be trusted jointly."""

    def work() -> Answer:
        table = read_table(file)
        labels = table.names("--label", label, ("label_", "y_true_"))
        probs = table.names("--prob", prob, ("prob", "y_prob"))
        y, h = _columns(table, labels, probs)
        estimate = canonical_calibration_error(y, h, method=method, confidence=confidence, rng=0)
        proof = calibration_certificate(y, h, model=model, confidence=confidence, rng=0)
        code = _CODE.format(
            columns=f"frame[{labels}], frame[{probs}]",
            method=method,
            model=model,
            confidence=f", confidence={confidence}" if confidence != 0.95 else "",
        )
        return Answer(
            data={"canonical": estimate, "certificate": proof},
            text=[
                f"labels: {', '.join(labels)}", "", estimate.summary(), "", proof.summary(),
                *(f"\nnote: {note}" for note in estimate.notes),
            ],
            page=partial(_page, file.name, y, h, estimate, proof, code),
        )  # fmt: skip

    run(work, output=output, as_json=as_json, reads=[file])


def _columns(table: InputTable, labels: list[str], probs: list[str]) -> tuple[Any, Any]:
    """Return labels and probabilities in the forms that the library takes."""
    y: Any = table.columns("--label", labels)
    h: Any = table.columns("--prob", probs)
    if len(labels) == 1:  # a label, or one column of classes
        return y[labels[0]], h.to_numpy()
    if len(labels) == len(probs):  # the names differ between the two: they go by their order
        return y, h.rename(dict(zip(probs, labels, strict=True)))
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
