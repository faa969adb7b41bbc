"""Whether the probabilities can be trusted."""

import math
from typing import Any, NamedTuple

from karat._code import Coded
from karat._result import basis_of
from karat.calibration import calibration_certificate, canonical_calibration_error
from karat.calibration.inputs import pair_columns, paired_columns
from karat.evaluation.questions._finding import (
    Evidence,
    LeftOut,
    code_of,
    script,
    several,
)
from karat.report.answer import Finding, sentence
from karat.report.parts import Table, Verdict

_QUESTION = "Can the probabilities be trusted jointly?"
_LEAST = 30  # labelled rows: three folds of ten


def probabilities(given: Evidence) -> Finding | LeftOut:
    """Return how far probabilities are from frequencies given all of them, and what is proven."""
    e = given.by_row()
    if e.n_known < _LEAST:
        return LeftOut(
            question=_QUESTION,
            unlock=f"true labels (label) of at least {_LEAST} rows beside {several(e.roles.prob)}",
        )
    y, h, of, code = _columns(e)
    options: dict[str, Any] = {"confidence": e.confidence, "rng": e.rng}
    joint = canonical_calibration_error(y, h, **options)
    proof = calibration_certificate(y, h, **options)
    several_labels = len(joint.names) > 1
    again = f"karat calibration {e.file}{e.named('label')}{e.named('prob')} --calibrated out.csv"
    verdict = calibration_verdict(joint, sampled=e.sampled, recalibrate=f": {again}")
    return Finding(
        key="calibration",
        question=_QUESTION if several_labels else "Can the probabilities be trusted?",
        answer=f"{verdict.sentence} {_estimate(joint)} {sentence(_capital(proof.summary()))}",
        results={"canonical": joint, "certificate": proof},
        drawn=joint,
        picture="Squared calibration error of each label: given all probabilities, and marginal.",
        table=_table(joint),
        assumptions=(
            "Rows are independent, and the model was not trained on them.",
            *e.drawn,
            "The estimate sees what a Gaussian copula sees, its upper limit also curves along "
            "single probabilities; the certificate rests on no model.",
            *([f"{of}."] if of else []),
            *joint.notes,
        ),
        code=_code(e, code),
        verdicts=(verdict,),
    )


def _estimate(joint: Any) -> str:
    """Return the estimate in words, with what it rests on."""
    if joint.debiased <= 0:
        return f"The estimate is 0, at most {joint.upper:.3f} if the default model holds."
    return (
        f"The estimate is {math.sqrt(joint.debiased):.3f}, between {joint.lower:.3f} and "
        f"{joint.upper:.3f} if the default model holds."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(joint: Any) -> Table:
    """Return the error of each label, the largest first, in units of probability."""
    found = zip(joint.names, joint.per_label, joint.marginal, strict=True)
    return Table(
        columns=("label", "error given all probabilities", "marginal error"),
        rows=tuple(
            (str(name), f"{math.sqrt(max(both, 0)):.3f}", f"{math.sqrt(max(own, 0)):.3f}")
            for name, both, own in sorted(found, key=lambda row: -row[1])
        ),
        caption="How far a probability is from the frequency, root mean square, without bias",
    )


class _Columns(NamedTuple):
    """Labels and probabilities of the labelled rows, their code, and what they are of."""

    y: Any
    h: Any
    of: str
    code: tuple[str, str]


def _columns(e: Evidence) -> _Columns:
    rows = e.frame.filter(e.known)
    labels, probs = list(e.roles.label), list(e.roles.prob)
    classes = rows[labels[0]].unique().sort().to_list() if len(labels) == 1 else []
    pairing = pair_columns(labels, probs, classes, e.pos_label)
    y_code = f"known.select({labels!r})" if len(labels) > 1 else "known"
    y, h = paired_columns(
        Coded(rows.select(labels), y_code),
        Coded(rows.select(probs), f"known.select({probs!r})"),
        pairing,
    )
    of = "; ".join(f"{prob} is taken for {name}" for prob, name in pairing.names.items())
    if pairing.positive is not None:
        of = f"Probabilities are of {pairing.positive!r}"
    return _Columns(y.value, h.value, of, (y.code, h.code))


def calibration_verdict(joint: Any, *, sampled: str = "", recalibrate: str = "") -> Verdict:
    """Return whether probabilities can be trusted; ``sampled`` is what the labels assume."""
    proven = 0.0 if joint.guaranteed is None else joint.guaranteed.lower
    labels = len(joint.names)
    kind = "" if labels == 1 else "joint "
    summed = "" if labels == 1 else f", summed over {labels} labels"
    if proven > 0:
        return Verdict(
            sentence=f"The probabilities cannot be trusted as they are: their {kind}calibration "
            f"error (root mean square{summed}) is at least {proven:.3f}{sampled}.",
            badge=basis_of(joint, assumes=sampled),
            change=f"recalibration on labelled rows{recalibrate}",
        )
    if joint.guaranteed is None:
        return Verdict(
            sentence=f"No {kind}calibration error of the probabilities is proven, and this method "
            "gives no upper limit.",
            badge=basis_of(),
            change="the default method",
        )
    return Verdict(
        sentence=f"No {kind}calibration error of the probabilities is proven; it is at most "
        f"{joint.upper:.3f} (root mean square{summed}) if the default model "
        f"holds{sampled}.",
        badge=basis_of(joint, assumes=sampled),
        change="more labelled rows",
    )


def _code(e: Evidence, columns: tuple[str, str]) -> str:
    call = code_of("canonical_calibration_error", *columns, confidence=e.confidence, rng=e.rng)
    known = f"known = frame.filter(pl.col({e.roles.label[0]!r}).is_not_null())"
    return script(e.read, "from karat.calibration import canonical_calibration_error", known, call)
