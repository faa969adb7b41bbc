"""Can probabilities of several labels be trusted jointly? Handwritten digits, four labels."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.calibration import (
    CalibrationCertificate,
    CanonicalCalibration,
    calibration_certificate,
    canonical_calibration_error,
)
from karat.cli.demo._models import Models
from karat.cli.demo._part import Part
from karat.report import Section, Table, Verdict, result_svg

__all__ = ["trusted_jointly"]

_LABELS = {
    "even": (0, 2, 4, 6, 8),
    "5 or more": (5, 6, 7, 8, 9),
    "has a loop": (0, 6, 8, 9),
    "prime": (2, 3, 5, 7),
}
_CODE = """\
from karat.calibration import calibration_certificate, canonical_calibration_error

canonical_calibration_error(labels, probabilities, rng=0)
calibration_certificate(labels, probabilities, model="trees", rng=0)
"""


def trusted_jointly(_: Models, seed: int = 0) -> tuple[Part, ...]:
    """Predict four properties of digits apart, and ask whether they hold together."""
    y, prob = _digits()
    joint = canonical_calibration_error(y, prob, rng=seed)
    proof = calibration_certificate(y, prob, model="trees", rng=seed)
    section = Section(
        question="Can the probabilities of several labels be trusted jointly?",
        answer=_answer(joint, proof),
        figure=result_svg(proof),
        figure_text="What a map of all four probabilities gains on digits it did not see.",
        table=_table(joint, proof),
        assumptions=(
            "One logistic regression for each of four properties of 1,797 handwritten digits "
            "(shipped with scikit-learn), none fitted to the digit it predicts.",
            "The proof needs no model: no map of the probabilities that was fitted on other digits "
            "can beat them by more than their canonical calibration error. The limit holds for any "
            "law at 95 %. No truth was hidden here: nobody knows it.",
        ),
        code=_CODE,
    )
    verdict = Verdict(
        sentence="Probabilities of four properties of digits cannot be trusted jointly: their "
        f"canonical error is at least {np.sqrt(proof.lower):.2f}.",
        badge="certain",
        change="recalibration on labelled rows: karat calibration --calibrated",
    )
    return (Part(section=section, verdict=verdict),)


def _digits() -> tuple[IntArray, FloatArray]:
    """Return the labels of each digit, and cross-validated probabilities."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    pixels, digit = load_digits(return_X_y=True)
    y = np.column_stack([np.isin(digit, which) for which in _LABELS.values()]).astype(int)
    model = make_pipeline(PCA(8, random_state=0), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    columns = [
        cross_val_predict(model, pixels, label, cv=folds, method="predict_proba")[:, 1]
        for label in y.T
    ]
    return y, np.column_stack(columns)


def _answer(joint: CanonicalCalibration, proof: CalibrationCertificate) -> str:
    alone = float(np.sqrt(max(joint.marginal.sum(), 0.0)))
    together = float(np.sqrt(proof.lower))
    return (
        f"Label by label, yes: the marginal error of four properties of handwritten digits is "
        f"{alone:.2f}. Jointly, no: a digit's four probabilities together say much more than each "
        f"of them claims, and their canonical error is at least {together:.2f} for certain."
    )


def _table(joint: CanonicalCalibration, proof: CalibrationCertificate) -> Table:
    rows = tuple(
        (name, f"{own:.4f}", f"{gain:.4f}")
        for name, own, gain in zip(_LABELS, joint.marginal, proof.per_label, strict=True)
    )
    total = (
        "all",
        f"{joint.marginal.sum():.4f}",
        f"{proof.value:.4f} (at least {proof.lower:.4f})",
    )
    columns = ("label", "marginal", "gain of a map on unseen digits")
    return Table(columns=columns, rows=(*rows, total), caption="Squared error")
