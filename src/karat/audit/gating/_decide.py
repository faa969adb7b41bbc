"""Limits compared with what is asked for."""

from collections.abc import Callable
from typing import Any

from karat._validate import check_number, refuse_option
from karat.audit.decision_result import GateResult
from karat.metrics import Metric

__all__ = ["check_at_least", "decide"]


def check_at_least(at_least: Any, span: tuple[float, float]) -> float:
    """Return what a metric has to reach, or refuse what it can never be."""
    wanted = check_number(at_least, "at_least")
    if not span[0] <= wanted <= span[1]:
        refuse_option(at_least, "at_least", f"a number between {span[0]:g} and {span[1]:g}")
    return wanted


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
    ahead: Callable[[float], int | None],
    difference: bool = False,
) -> GateResult:
    """Return the status, and about how many more labels would decide an open one.

    ``ahead`` foretells them, given the limit that has to pass ``at_least``.
    """
    status = "PASS" if lower >= at_least else "FAIL" if upper < at_least else "INCONCLUSIVE"
    more = None
    if status == "INCONCLUSIVE" and n_labels and estimate == estimate:
        more = ahead(lower if estimate > at_least else upper)
    return GateResult(
        status=status, metric=metric, difference=difference, at_least=at_least, estimate=estimate,
        lower=lower, upper=upper, confidence=confidence, n_labels=n_labels, more=more,
        pos_label=pos_label,
    )  # fmt: skip
