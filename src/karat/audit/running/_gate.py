"""An audit held to what its metric has to reach."""

from typing import Any

from karat.audit.answers import more_until
from karat.audit.decision_result import GateResult
from karat.audit.gating import check_at_least, decide
from karat.audit.result import AuditResult
from karat.audit.running._replay import evidence_of, predicted_outcomes
from karat.audit.running._run import Run
from karat.exceptions import MetricError

__all__ = ["gate_of"]


def gate_of(run: Run, result: AuditResult, at_least: Any) -> GateResult:
    """Compare the limits at every look with what is asked for."""
    wanted = check_at_least(at_least, run.calls.span)
    if result.anytime_lower != result.anytime_lower:
        raise MetricError(
            f"{result.title} has no limits at every look, which a gate needs; audit another metric"
        )

    def ahead(limit: float) -> int | None:
        if run.predicted is None:
            run.predicted = predicted_outcomes(run)
        return more_until(
            evidence_of(run, run.predicted), wanted, estimate=result.estimate, limit=limit,
            delta=1 - run.confidence,
        )  # fmt: skip

    return decide(
        run.metric, wanted, estimate=result.estimate, lower=result.anytime_lower,
        upper=result.anytime_upper, confidence=run.confidence, n_labels=result.n_labels,
        pos_label=result.pos_label, difference=result.difference, ahead=ahead,
    )  # fmt: skip
