"""The test of a label model, on patterns and class probabilities that are already read."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.statistics import Patterns
from karat.weak.checks._evidence import Evidence, gather
from karat.weak.checks._gold_test import GoldRows
from karat.weak.checks._reasons import find_reasons, gold_reasons
from karat.weak.result import LabelModelCheck

__all__ = ["check_patterns"]

# Smaller differences, in agreement, co-voting, accuracy or class prior, hardly move a bound.
_THRESHOLD = 0.02
_FEWEST = 20  # true labels below which a test that finds nothing has hardly looked


def check_patterns(
    found: Patterns,
    proba: FloatArray,
    *,
    model: Any,
    class_prior: FloatArray | None,
    gold: GoldRows | None,
    confidence: float,
    independence: bool | None = None,
    rng: np.random.Generator,
) -> LabelModelCheck:
    """Test P(Y | z) = ``proba`` of each pattern against votes, class prior and true labels.

    ``model`` says what it assumes of the votes in ``assumes_independence`` and
    ``abstention_is_informative``; one that does not say so, and an array, assume nothing.
    """
    if independence is None:
        independence = bool(getattr(model, "assumes_independence", False))
    informative = bool(getattr(model, "abstention_is_informative", True))
    evidence = gather(found, proba, class_prior, gold, rng)
    of_gold = gold_reasons(evidence, error=1 - confidence)
    reasons = find_reasons(
        evidence,
        error=1 - confidence,
        threshold=_THRESHOLD,
        agreement=independence,
        covotes=independence and informative,
    )
    return _result(evidence, of_gold, reasons, confidence, independence)


def _status(of_gold: list[str], of_votes: list[str], gold_n: int) -> tuple[str, str]:
    """Return the status and by what; true labels say more than votes."""
    if of_gold:
        return "contradicted", "gold"
    if of_votes:
        return "contradicted", "votes"
    return ("consistent with gold", "gold") if gold_n >= _FEWEST else ("not validated", "votes")


def _result(
    evidence: Evidence,
    of_gold: list[str],
    of_votes: list[str],
    confidence: float,
    independence: bool,
) -> LabelModelCheck:
    found, table, gold = evidence.found, evidence.table, evidence.gold
    agree, covote = evidence.agreement, evidence.covote
    status, by = _status(of_gold, of_votes, evidence.gold_n)
    return LabelModelCheck(
        status=status,
        by=by,
        reasons=(*of_gold, *of_votes),
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
        gold_noticeable=None if gold is None else gold.noticeable,
    )
