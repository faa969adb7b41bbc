"""Probabilities, reported: whether they can be trusted jointly, and what to decide by them.

`of_calibration` reports a canonical error beside its certificate, `of_marginal` the marginal error
that counts tell, `calibrate` maps probabilities
out of fold, and `of_decisions` reports the thresholds of a `FrankWolfeClassifier`. Each report is
an `Answer`, which the command line prints and writes as a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, FloatArray
from karat.calibration import (
    CalibrationCertificate,
    CanonicalCalibration,
    CopulaCalibrator,
    marginal_calibration_error,
)
from karat.calibration.result import CalibratorScore, MarginalCalibration
from karat.evaluation.questions import calibration_verdict
from karat.optimize import FrankWolfeClassifier
from karat.report.answer import Answer, Finding, finding, table

_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Calibrated probabilities, and what the map is worth on rows that it was not fitted to.

    Attributes
    ----------
    labelled : array
        Of rows with labels, each mapped by what was fitted to the other folds.
    others : array or None
        Of rows without labels, mapped by what was fitted to all labelled ones.
    score : CalibratorScore
        What the map gains.
    """

    labelled: FloatArray
    others: FloatArray | None
    score: CalibratorScore

    def rows(self, known: BoolArray) -> FloatArray:
        """Return the probabilities of all rows; ``known`` says which have labels."""
        found = np.empty((len(known), self.labelled.shape[1]))
        found[known] = self.labelled
        if self.others is not None:
            found[~known] = self.others
        return found

    @property
    def how(self) -> str:
        """How each row was mapped."""
        said = (
            f"Each row with labels was mapped by what was fitted to the other {_FOLDS - 1} of "
            f"{_FOLDS} folds, so its own labels have no part in its probabilities"
        )
        if self.others is None:
            return said
        n = len(self.others)
        return f"{said}; {n:,} rows without labels by what was fitted to all others"


def calibrate(y_true: Any, y_prob: Any, others: Any = None) -> Calibrated:
    """Map probabilities so that they can be trusted jointly, each row out of fold.

    Parameters
    ----------
    y_true, y_prob : frame
        Labels and probabilities, as in `karat.calibration.CopulaCalibrator`.
    others : frame, optional
        Probabilities of rows without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.evaluation.probabilities import calibrate
    >>> rng = np.random.default_rng(0)
    >>> h = rng.random((200, 2))
    >>> y = (rng.random((200, 2)) < h).astype(int)
    >>> calibrate(y, h).labelled.shape
    (200, 2)
    """
    calibrator = CopulaCalibrator(rng=0)
    labelled = calibrator.cross_fit_transform(y_true, y_prob, n_folds=_FOLDS)
    return Calibrated(
        labelled=labelled,
        others=None if others is None else calibrator.transform(others),
        score=calibrator.cross_score_,
    )


_NEEDS_ROWS = (
    "The canonical error, its certificate and a recalibration need the rows: counts of one "
    "probability do not tell which rows a map is fitted to and which it is measured on."
)


def of_marginal(
    results: Mapping[str, MarginalCalibration], name: str, codes: Mapping[str, str]
) -> Answer:
    """Report the marginal errors that counts tell, and what takes the rows.

    Parameters
    ----------
    results : mapping
        The marginal error of each column of probabilities.
    name : str
        What the counts are called.
    codes : mapping
        The lines that give each.
    """
    return Answer(
        data={"marginal": results, "note": _NEEDS_ROWS},
        text=[*(f"{prob}: {r.summary()}" for prob, r in results.items()), "", _NEEDS_ROWS],
        title=f"{name}: how far probabilities are from frequencies",
        introduction="Marginal calibration errors, from counts at every probability.",
        findings=lambda: [
            finding(
                f"Is {prob} calibrated?",
                f"{r.summary()}.",
                r,
                picture="Frequency against probability.",
                assumptions=("Rows are independent draws.", _NEEDS_ROWS),
                code=codes.get(prob, ""),
            )
            for prob, r in results.items()
        ],
    )


def of_calibration(
    columns: tuple[Any, Any],
    estimate: CanonicalCalibration,
    proof: CalibrationCertificate,
    name: str,
    *,
    sampled: str = "",
    said: str = "",
    mapped: Calibrated | None = None,
    written: str = "",
    code: str = "",
) -> Answer:
    """Report whether probabilities of several labels can be trusted jointly.

    Parameters
    ----------
    columns : tuple
        Labels and probabilities.
    estimate, proof : CanonicalCalibration, CalibrationCertificate
        What was estimated of them, and what is proven.
    name : str
        What the rows are called.
    sampled, said : str
        What the numbers assume where some rows have no label, and what the columns are.
    mapped, written : Calibrated, str
        The calibrated probabilities, and the file in which they stand.
    code : str
        The lines that give the same numbers.
    """
    verdict = calibration_verdict(estimate, sampled=sampled)
    data: dict[str, Any] = {"canonical": estimate, "certificate": proof, "verdicts": [verdict]}
    text = [f"[{verdict.badge}] {verdict.sentence}", ""]
    text += [f"labels: {said}", "", estimate.summary(), "", proof.summary()]
    text += [f"\nnote: {note}" for note in estimate.notes]
    if mapped is not None:
        data["calibrated"] = mapped.score
        text += ["", f"{written}: {mapped.score.summary()}. {mapped.how}"]

    def findings() -> list[Finding]:
        marginal = marginal_calibration_error(*columns)
        found = [
            _joint(estimate, proof, code),
            finding(
                "What is proven?",
                proof.summary(),
                proof,
                picture="The gain of a map of all probabilities on rows it did not see.",
            ),
            finding(
                "Are labels calibrated one at a time?",
                marginal.summary(),
                marginal,
                picture="Frequency against probability.",
            ),
        ]
        if len(estimate.names) > 1:
            found.append(
                finding(
                    "Which labels give it away?",
                    estimate.label_pairs.summary(),
                    estimate.label_pairs,
                    picture="Residuals of each label against probabilities of the others.",
                )
            )
        if mapped is not None:
            found.append(
                finding(
                    "What do calibrated probabilities gain?",
                    mapped.score.summary(),
                    mapped.score,
                    picture="Log-loss without and with the map.",
                    assumptions=(mapped.how,),
                )
            )
        return found

    return Answer(
        data=data,
        text=text,
        title=f"{name}: can the probabilities be trusted jointly",
        introduction="Canonical calibration: what a label's frequency is given the probabilities "
        "of all labels.",
        verdicts=(verdict,),
        findings=findings,
    )


def _joint(estimate: CanonicalCalibration, proof: CalibrationCertificate, code: str) -> Finding:
    columns = ("label", "marginal", "canonical, estimated", "gain of a map on held-out rows")
    numbers = zip(
        estimate.names, estimate.marginal, estimate.per_label, proof.per_label, strict=True
    )
    rows = [
        (name, f"{own:.5f}", f"{joint:.5f}", f"{gain:.5f}") for name, own, joint, gain in numbers
    ]
    return finding(
        "Can the probabilities be trusted jointly?",
        estimate.summary(),
        estimate,
        picture="Squared canonical and marginal error of each label.",
        table=table(columns, rows, "Squared error"),
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


# --- Decisions.


def of_decisions(
    clf: FrankWolfeClassifier,
    decided: AnyArray,
    name: str,
    *,
    n_unlabelled: int = 0,
    written: str = "",
    code: str = "",
) -> Answer:
    """Report the decisions of a classifier that was fitted to probabilities.

    Parameters
    ----------
    clf : FrankWolfeClassifier
        The classifier.
    decided : array
        Its decisions.
    name : str
        What the rows are called.
    n_unlabelled : int, default 0
        How many of them have no label.
    written, code : str
        The file in which the decisions stand, and the lines that make them.
    """
    history, two = clf.history_, len(clf.classes_) == 2
    regions = clf.decision_regions() if two else None
    classes, counts = np.unique(decided, return_counts=True)
    chosen = {str(c): int(n) for c, n in zip(classes, counts, strict=True)}
    data = {"history": history, "weights": clf.weights_, "decisions": chosen}
    if regions is not None:
        data["thresholds"] = dict(zip(regions.kinds, regions.thresholds, strict=True))
    unlabelled = f" ({n_unlabelled:,} of them without a label)" if n_unlabelled else ""
    listed = ", ".join(f"{n:,} {c}" for c, n in chosen.items())

    def findings() -> list[Finding]:
        found = [_how_great(clf, code)]
        if len(history.groups):
            found.append(_by_group(clf))
        found.append(
            finding(
                "What is each class worth?",
                clf.weights_.summary(),
                clf.weights_,
                picture="Weights of the classes.",
            )
        )
        if regions is not None:
            shows = "Share of the second class by its probability."
            found.append(finding("Where is the line?", regions.summary(), regions, picture=shows))
        return found

    return Answer(
        data=data,
        text=[
            history.summary(),
            clf.weights_.summary() if regions is None else regions.summary(),
            f"decisions on {len(decided):,} rows{unlabelled}: {listed}",
            *([f"written to {written}"] if written else []),
        ],
        title=f"{name}: decisions for {history.metric}",
        introduction="The model is as it was; only what is done with its probabilities changes. "
        f"{len(decided):,} rows were decided.",
        findings=findings,
    )


def _how_great(clf: FrankWolfeClassifier, code: str) -> Finding:
    history = clf.history_
    columns: tuple[str, ...] = ("decisions", "on the labelled rows")
    rows: tuple[tuple[str, ...], ...] = (
        ("the most probable class", f"{history.baseline:.4f}"),
        ("these decisions", f"{history.value:.4f}"),
    )
    if not np.isnan(history.held_out.value):
        columns += ("cross-validated",)
        unused = (history.held_out_baseline, history.held_out.value)
        rows = tuple((*row, f"{v:.4f}") for row, v in zip(rows, unused, strict=True))
    return finding(
        f"How great can {history.metric} be with these probabilities?",
        history.summary(),
        history,
        picture="The metric after each iteration.",
        table=table(columns, rows),
        assumptions=(
            "Labelled rows are independent draws of the rows to decide, and the model was not "
            "trained on them.",
            "Limits are by the delta method; they take the decisions of each fold as given.",
        ),
        code=code,
    )


def _by_group(clf: FrankWolfeClassifier) -> Finding:
    """Return how often each class is predicted rightly in each group."""
    history, classes = clf.history_, clf.weights_.classes.tolist()
    columns = ["group"]
    for c in classes:
        columns += [f"{c}, before", f"{c}, now"]
    pairs = np.stack([history.baseline_rates, history.rates], axis=2).reshape(-1, 2 * len(classes))
    rows = [
        (str(group), *(f"{rate:.3f}" for rate in own))
        for group, own in zip(history.groups.tolist(), pairs, strict=True)
    ]
    moved = np.abs(history.rates - history.baseline_rates)
    g, c = np.unravel_index(np.nanargmax(moved), moved.shape)
    was, now = history.baseline_rates[g, c], history.rates[g, c]
    return finding(
        "What changes for whom?",
        f"Rows of {classes[c]} in the group {history.groups[g]} change most: the most probable "
        f"class was right for {was:.1%} of them, and these decisions are for {now:.1%}.",
        table=table(columns, rows),
    )
