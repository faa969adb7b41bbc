"""Whether the probabilities can be trusted."""

import math
from typing import Any, NamedTuple

from karat.calibration import calibration_certificate, canonical_calibration_error
from karat.calibration.inputs import pair_columns
from karat.evaluation.questions._finding import Evidence, Finding, LeftOut
from karat.evaluation.questions._words import code_of, script, several
from karat.report import Table, Verdict

__all__ = ["probabilities"]

_QUESTION = "Can the probabilities be trusted jointly?"
_LEAST = 30  # labelled rows: three folds of ten


def probabilities(e: Evidence) -> Finding | LeftOut | None:
    """Return how far probabilities are from frequencies given all of them, and what is proven."""
    if not e.roles.prob:
        return None
    if e.n_known < _LEAST:
        return LeftOut(
            question=_QUESTION,
            unlock=f"true labels (label) of at least {_LEAST} rows beside {several(e.roles.prob)}",
        )
    y, h, of, code = _columns(e)
    options: dict[str, Any] = {"confidence": e.confidence, "rng": e.rng}
    joint = canonical_calibration_error(y, h, **options)
    proof = calibration_certificate(y, h, **options)
    table = Table(
        columns=("label", "squared error given all probabilities", "squared error by itself"),
        rows=tuple(
            (str(name), f"{both:.5f}", f"{own:.5f}")
            for name, both, own in zip(joint.names, joint.per_label, joint.marginal, strict=True)
        ),
        caption="Squared calibration error by label, without bias",
    )
    return Finding(
        key="calibration",
        question=_QUESTION,
        answer=f"{joint.summary()}. {proof.summary()}",
        results={"canonical": joint, "certificate": proof},
        drawn=joint,
        picture="Squared calibration error of each label, given all and by itself.",
        table=table,
        assumptions=(
            "Rows are independent, and the model was not trained on them.",
            "The estimate sees what a Gaussian copula sees; the certificate rests on no model.",
            *([f"{of}."] if of else []),
            *joint.notes,
        ),
        code=_code(e, code),
        verdicts=(_verdict(joint),),
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
    h, h_code = rows.select(probs), f"known.select({probs!r})"
    classes = rows[labels[0]].unique().sort().to_list() if len(labels) == 1 else []
    pairing = pair_columns(labels, probs, classes, e.pos_label)
    renamed = {prob: name for prob, name in pairing.names.items() if prob != name}
    if renamed:
        h, h_code = h.rename(renamed), f"{h_code}.rename({renamed!r})"
    elif len(labels) == 1 and not pairing.names:
        h, h_code = h.to_numpy(), f"{h_code}.to_numpy()"
    of = "; ".join(f"{prob} is taken for {name}" for prob, name in pairing.names.items())
    if len(labels) > 1:
        return _Columns(rows.select(labels), h, of, (f"known.select({labels!r})", h_code))
    y, y_code = rows[labels[0]], f"known[{labels[0]!r}]"
    if pairing.positive is not None:
        of = f"Probabilities are of {pairing.positive!r}"
    if pairing.positive not in (None, classes[-1]):  # the library takes the larger label
        y, y_code = (
            (y == pairing.positive).cast(int),
            f"({y_code} == {pairing.positive!r}).cast(int)",
        )
    return _Columns(y, h, of, (y_code, h_code))


def _verdict(joint: Any) -> Verdict:
    proven = math.sqrt(joint.certificate or 0.0)
    high = math.sqrt(max(joint.upper or 0.0, 0.0))
    if proven > 0:
        return Verdict(
            sentence="The probabilities cannot be trusted as they are: their joint calibration "
            f"error (root mean square) is at least {proven:.3f}.",
            badge="certain",
            change="recalibration on labelled rows: karat calibration --calibrated out.csv",
        )
    return Verdict(
        sentence="No joint calibration error is proven; by the default model it is at most "
        f"{high:.3f} (root mean square).",
        badge="likely",
        change="more labelled rows",
    )


def _code(e: Evidence, columns: tuple[str, str]) -> str:
    call = code_of("canonical_calibration_error", *columns, confidence=e.confidence, rng=e.rng)
    known = f"known = frame.filter(pl.col({e.roles.label[0]!r}).is_not_null())"
    return script(e.read, "from karat.calibration import canonical_calibration_error", known, call)
