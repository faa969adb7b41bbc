"""Limits compared with what is asked for."""

import math
from typing import Any

from karat.audit.decision_result import GateResult
from karat.metrics import Metric

__all__ = ["decide"]

_MOST = 1_000_000  # more labels than that are not foretold


def decide(
    metric: Metric,
    at_least: float,
    *,
    estimate: float,
    lower: float,
    upper: float,
    confidence: float,
    n_labels: int,
    pos_label: Any,
) -> GateResult:
    """Return the status, and about how many more labels would decide an open one.

    Limits narrow as one over the root of the number of labels, and a tenth is added for the looks.
    """
    status = "PASS" if lower >= at_least else "FAIL" if upper < at_least else "INCONCLUSIVE"
    more = None
    gap = estimate - at_least
    if status == "INCONCLUSIVE" and not math.isnan(gap) and gap != 0 and n_labels:
        reach = estimate - lower if gap > 0 else upper - estimate
        wanted = 1.1 * n_labels * (reach / abs(gap)) ** 2
        if wanted <= _MOST:
            more = max(1, math.ceil(wanted - n_labels))
    return GateResult(
        status=status, metric=metric, at_least=at_least, estimate=estimate, lower=lower,
        upper=upper, confidence=confidence, n_labels=n_labels, more=more, pos_label=pos_label,
    )  # fmt: skip
