"""The test of a label model, on patterns and class probabilities that are already read."""

from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.statistics import Patterns
from karat.weak.checks._evidence import Evidence, gather
from karat.weak.checks._reasons import find_reasons
from karat.weak.result import LabelModelCheck

__all__ = ["check_patterns"]

# Smaller differences, in agreement, co-voting, accuracy or class prior, hardly move a bound.
_THRESHOLD = 0.02


def check_patterns(
    found: Patterns,
    proba: FloatArray,
    *,
    model: Any,
    class_prior: FloatArray | None,
    gold: IntArray | None,
    confidence: float,
    independence: bool | None = None,
    rng: np.random.Generator,
) -> LabelModelCheck:
    """Test P(Y | z) = ``proba`` of each pattern against votes, class prior and true labels.

    ``gold`` holds true labels as codes of the classes, -1 where unknown. ``model`` says what it
    assumes of the votes in ``assumes_independence`` and ``abstention_is_informative``.
    """
    if independence is None:
        independence = bool(getattr(model, "assumes_independence", True))
    informative = bool(getattr(model, "abstention_is_informative", True))
    evidence = gather(found, proba, class_prior, gold, rng)
    reasons = find_reasons(
        evidence,
        error=1 - confidence,
        threshold=_THRESHOLD,
        agreement=independence,
        covotes=independence and informative,
    )
    return _result(evidence, reasons, confidence, independence)


def _result(
    evidence: Evidence, reasons: list[str], confidence: float, independence: bool
) -> LabelModelCheck:
    found, table, gold = evidence.found, evidence.table, evidence.gold
    agree, covote = evidence.agreement, evidence.covote
    return LabelModelCheck(
        passed=not reasons,
        reasons=tuple(reasons),
        n=found.n,
        names=found.names,
        classes=found.classes,
        confidence=confidence,
        threshold=_THRESHOLD,
        independence=independence,
        pairs=np.stack([agree.first, agree.second], axis=1),
        pair_n=agree.n,
        agreement_observed=agree.observed,
        agreement_expected=agree.expected,
        agreement_z=agree.z,
        covote_observed=covote.observed,
        covote_expected=covote.expected,
        covote_z=covote.z,
        worst_pair=evidence.worst_pair,
        accuracy=table.accuracy,
        chance=table.chance,
        accuracy_z=evidence.lead_z,
        prior=table.prior,
        prior_gap=evidence.prior_gap,
        gold_n=evidence.gold_n,
        gold_accuracy=None if gold is None else gold.accuracy,
        gold_promised=None if gold is None else gold.promised,
        gold_p_value=None if gold is None else gold.p_value,
    )
