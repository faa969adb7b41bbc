"""``karat calibration``: whether the probabilities in a file can be trusted jointly."""

import json
from pathlib import Path
from typing import Any

from karat.calibration import (
    CalibrationCertificate,
    CanonicalCalibration,
    MarginalCalibration,
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.cli._files import named_columns, pick_column, pick_columns, read_table
from karat.exceptions import ColumnError
from karat.report import Section, Table, render_report, result_svg

__all__ = ["run_calibration"]

_CODE = """\
from karat.calibration import calibration_certificate, canonical_calibration_error

canonical_calibration_error(frame[{labels}], frame[{probs}], method={method!r}, rng=0)
calibration_certificate(frame[{labels}], frame[{probs}], model={model!r}, rng=0)
"""


def run_calibration(
    file: Path,
    *,
    label: list[str],
    prob: list[str],
    method: str,
    model: str,
    confidence: float,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure columns of probabilities against columns of labels, and print, save or dump it."""
    frame = read_table(file)
    labels = named_columns(frame, label, ("label_", "y_true_"))
    probs = named_columns(frame, prob, ("prob", "y_prob"))
    if not labels or not probs:
        missing = "--label" if not labels else "--prob"
        raise ColumnError(f"{missing}: name at least one column; there are {frame.columns}")
    y: Any = pick_columns(frame, labels, "--label")
    h: Any = pick_columns(frame, probs, "--prob")
    if len(labels) == 1:  # a label, or one column of classes
        y, h = pick_column(frame, labels[0], "--label"), h.to_numpy()
    elif len(labels) == len(probs):  # names differ between the two: they go by their order
        h = h.rename(dict(zip(probs, labels, strict=True)))
    r = canonical_calibration_error(y, h, method=method, confidence=confidence, rng=0)
    proof = calibration_certificate(y, h, model=model, confidence=confidence, rng=0)
    if as_json:
        print(json.dumps({"canonical": r.to_dict(), "certificate": proof.to_dict()}))  # noqa: T201
    else:
        _print(r, proof, labels)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        code = _CODE.format(labels=labels, probs=probs, method=method, model=model)
        marginal = marginal_calibration_error(y, h)
        output.write_text(_page(file, r, proof, marginal, code), encoding="utf-8")


def _print(r: CanonicalCalibration, proof: CalibrationCertificate, labels: list[str]) -> None:
    from rich.console import Console

    console = Console()
    console.print(f"labels: {', '.join(labels)}", markup=False)
    console.print(f"\n{r.summary()}", markup=False)
    console.print(f"\n{proof.summary()}", markup=False)
    for note in r.notes:
        console.print(f"\nnote: {note}", markup=False)


def _page(
    file: Path,
    r: CanonicalCalibration,
    proof: CalibrationCertificate,
    marginal: MarginalCalibration,
    code: str,
) -> str:
    rows = tuple(
        (name, f"{own:.5f}", f"{joint:.5f}", f"{gain:.5f}")
        for name, own, joint, gain in zip(
            r.names, r.marginal, r.per_label, proof.per_label, strict=True
        )
    )
    columns = ("label", "by itself", "given all, estimated", "given all, on held-out rows")
    sections = [
        Section(
            question="Can the probabilities be trusted jointly?",
            answer=f"{r.summary()}.",
            figure=result_svg(r),
            figure_text="Squared calibration error of each label, given all and by itself.",
            table=Table(columns=columns, rows=rows, caption="Squared calibration error"),
            assumptions=(
                "Rows are independent, and the model was not trained on them.",
                "The estimate sees what a Gaussian copula sees; the certificate rests on no model.",
                *r.notes,
            ),
            code=code,
        ),
        Section(
            question="What is proven?",
            answer=f"{proof.summary()}.",
            figure=result_svg(proof),
            figure_text="The gain of a map of all probabilities on rows it did not see.",
        ),
        Section(
            question="And each label by itself?",
            answer=f"{marginal.summary()}.",
            figure=result_svg(marginal),
            figure_text="Frequency against probability.",
        ),
    ]
    if len(r.names) > 1:
        pairs = r.label_pairs
        sections.append(
            Section(
                question="Which labels give it away?",
                answer=f"{pairs.summary()}.",
                figure=result_svg(pairs),
                figure_text="Residuals of each label against probabilities of the others.",
            )
        )
    return render_report(
        f"{file.name}: can the probabilities be trusted jointly",
        "Canonical calibration: what a label's frequency is given the probabilities of all labels.",
        sections,
    )
