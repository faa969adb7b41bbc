"""The failed tests of a label model, worded as reasons."""

from statistics import NormalDist

import numpy as np

from karat._typing import BoolArray
from karat.votes.agreement import Agreement
from karat.weak.checks._copies import copied_pairs
from karat.weak.checks._evidence import Evidence
from karat.weak.checks._gold_test import GOLD_TESTS

__all__ = ["find_reasons", "gold_reasons"]

# Pairs and labelers that get a sentence of their own; the rest are counted in one more.
_NAMED = 2


def find_reasons(
    evidence: Evidence, *, error: float, threshold: float, agreement: bool, covotes: bool
) -> list[str]:
    """Return a sentence for each failed test of the votes, the most important first.

    All tests of the votes together raise a false alarm with probability ``error`` (Bonferroni).
    ``threshold`` is the least difference that counts. ``agreement`` and ``covotes`` say whether
    the two are tested: a model that was counted from true labels needs neither independent
    labelers nor labelers that are better than chance.
    """
    n_pairs = len(evidence.agreement.z)
    tests = len(evidence.lead_z) * agreement + n_pairs * (agreement + covotes)
    tests += 0 if evidence.prior_given is None else len(evidence.prior_z)
    limit = NormalDist().inv_cdf(1 - error / (2 * max(tests, 1)))
    reasons: list[str] = []
    if agreement:
        reasons += _of_agreement(evidence, limit, threshold)
        reasons += _of_labelers(evidence, limit, threshold)
    reasons += _of_prior(evidence, limit, threshold)
    if covotes:
        reasons += _of_covotes(evidence, limit, threshold)
    return reasons


def _percent(share: float) -> str:
    """Return a share as a percentage, with a decimal where rounding would hide what is left."""
    rounded = f"{100 * share:.0f}"
    return f"{100 * share:.1f} %" if rounded in {"0", "100"} and 0 < share < 1 else f"{rounded} %"


def gold_reasons(evidence: Evidence, *, error: float) -> list[str]:
    """Return a sentence if the true labels do not fit, which they do by chance with ``error``."""
    gold = evidence.gold
    if gold is None or gold.p_value >= error:
        return []
    head = f"the {evidence.gold_n} true labels do not fit it (p = {gold.p_value:.2g})"
    right, promised = _percent(gold.accuracy), _percent(gold.promised)
    tail = f"its most probable class is true on {right} of them where it promises {promised}"
    if GOLD_TESTS[gold.worst] == "class":
        tail = f"their classes are not as frequent as it says ({tail})"
    elif gold.accuracy < gold.promised:
        tail = f"it is over-confident ({tail})"
    return [f"{head}: {tail}"]


def _flagged(figures: Agreement, limit: float, threshold: float) -> BoolArray:
    far = np.abs(figures.observed - figures.expected) > threshold
    return np.asarray((np.abs(figures.z) > limit) & far)


def _name(evidence: Evidence, pair: int) -> str:
    return " and ".join(map(str, evidence.names_of(pair)))


def _of_agreement(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    figures = evidence.agreement
    flagged = np.flatnonzero(_flagged(figures, limit, threshold))
    if not len(flagged):
        return []
    worst = flagged[np.argsort(-np.abs(figures.z[flagged]), kind="stable")]
    reasons = [
        f"{_name(evidence, pair)} agree on {_percent(figures.observed[pair])} of items where the "
        f"model implies {_percent(figures.expected[pair])}: they are not independent given the "
        "truth, or the model is wrong about them"
        for pair in worst[:_NAMED]
    ]
    if len(worst) > _NAMED:
        reasons.append(f"so it is with {len(worst) - _NAMED} more pairs")
    return _of_copies(evidence) + reasons + _of_loners(evidence, threshold)


def _of_loners(evidence: Evidence, threshold: float) -> list[str]:
    """Name labelers that agree with the others less often than their vote frequencies imply.

    A majority vote counts such votes like any other. This is no test of its own: it explains an
    agreement test that has failed.
    """
    table, figures = evidence.table, evidence.agreement
    votes = np.einsum("jy,jyc->jc", table.mass, table.given)
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1e-300)
    both = np.flatnonzero(figures.n > 0)
    i, j = figures.first[both], figures.second[both]
    lead = figures.observed[both] - (votes[i] * votes[j]).sum(axis=1)
    m = len(votes)
    total = np.bincount(i, lead, m) + np.bincount(j, lead, m)
    mean = total / np.maximum(np.bincount(i, minlength=m) + np.bincount(j, minlength=m), 1)
    alone = [evidence.found.names[j] for j in np.flatnonzero(mean < -threshold)]
    if not alone:
        return []
    verb = "agrees" if len(alone) == 1 else "agree"
    return [f"{', '.join(alone)} {verb} with the others less often than chance would"]


def _of_copies(evidence: Evidence) -> list[str]:
    """Name labelers that are copies of one another.

    A fitted model takes a labeler and its copy for the truth, so the pairs that do not fit are the
    other ones. This is no test: it explains one that has failed.
    """
    reasons = []
    for pair, block in copied_pairs(evidence):
        often = _percent(evidence.agreement.observed[pair])
        names = ", ".join(str(evidence.found.names[j]) for j in sorted(block))
        who = "one is a near copy of the other" if len(block) == 2 else f"{names} are near copies"
        reasons.append(
            f"{_name(evidence, pair)} agree on {often} of the items on which both vote, more than "
            f"being right explains: {who}, and they have one vote together"
        )
    return reasons


def _of_covotes(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    figures = evidence.covote
    flagged = np.flatnonzero(_flagged(figures, limit, threshold))
    if not len(flagged):
        return []
    pair = int(flagged[np.abs(figures.z[flagged]).argmax()])
    more = f", and so it is with {len(flagged) - 1} more pairs" if len(flagged) > 1 else ""
    return [
        f"{_name(evidence, pair)} both vote on {_percent(figures.observed[pair])} of items where "
        f"the model implies {_percent(figures.expected[pair])}: whether they vote is not "
        f"independent given the truth{more}"
    ]


def _of_labelers(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    table = evidence.table
    lead = table.accuracy - table.chance
    bad = np.flatnonzero((evidence.lead_z < -limit) & (lead < -threshold))
    worst = bad[np.argsort(lead[bad], kind="stable")]
    reasons = [
        f"{evidence.found.names[j]} is right on {_percent(table.accuracy[j])} of its votes under "
        f"the model where votes that ignore the item would be on {_percent(table.chance[j])}: the "
        "labeler or the model is wrong, and only true labels can tell which"
        for j in worst[:_NAMED]
    ]
    if len(worst) > _NAMED:
        others = ", ".join(str(evidence.found.names[j]) for j in worst[_NAMED:][:8])
        more = ", …" if len(worst) > _NAMED + 8 else ""
        verb = "is" if len(worst) == _NAMED + 1 else "are"
        reasons.append(f"so {verb} {others}{more}")
    return reasons


def _of_prior(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    given, implied = evidence.prior_given, evidence.table.prior
    if given is None:
        return []
    off = (np.abs(evidence.prior_z) > limit) & (np.abs(implied - given) > threshold)
    if not off.any():
        return []
    c = int(np.where(off, np.abs(implied - given), 0.0).argmax())
    return [
        f"the model implies that {_percent(implied[c])} of items are {evidence.found.classes[c]} "
        f"where class_prior says {_percent(given[c])}"
    ]
