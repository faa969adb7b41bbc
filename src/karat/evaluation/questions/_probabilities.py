"""Whether the probabilities can be trusted."""

import math
from typing import Any

from karat.calibration import calibration_certificate, canonical_calibration_error
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
    y, h = _columns(e)
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
            *joint.notes,
        ),
        code=_code(e),
        verdicts=(_verdict(joint),),
    )


def _columns(e: Evidence) -> tuple[Any, Any]:
    """Return labels and probabilities of the labelled rows in the forms that the library takes."""
    rows = e.frame.filter(e.known)
    h = rows.select(e.roles.prob)
    if len(e.roles.label) == 1:
        return rows[e.roles.label[0]], h.to_numpy()
    # Labels and probabilities go by their order: their names differ.
    if len(e.roles.label) == len(e.roles.prob):
        h = h.rename(dict(zip(e.roles.prob, e.roles.label, strict=True)))
    return rows.select(e.roles.label), h


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


def _code(e: Evidence) -> str:
    y = f"known[{e.roles.label[0]!r}]" if len(e.roles.label) == 1 else "y"
    h = f"known.select({list(e.roles.prob)!r}).to_numpy()"
    lines = [f"known = frame.filter(pl.col({e.roles.label[0]!r}).is_not_null())"]
    if len(e.roles.label) > 1:
        lines.append(f"y = known.select({list(e.roles.label)!r}).to_numpy()")
    call = code_of("canonical_calibration_error", y, h, confidence=e.confidence, rng=e.rng)
    return script(e.read, "from karat.calibration import canonical_calibration_error", *lines, call)
