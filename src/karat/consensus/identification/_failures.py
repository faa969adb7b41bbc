"""Whether votes alone identify the error rates, and if not, why."""

from collections.abc import Sequence

import numpy as np
from scipy.special import bdtrc, ndtri

from karat._typing import BoolArray
from karat.consensus.identification._explanations import Explanation
from karat.votes.agreement import Agreement, NearCopies, unseen_copies
from karat.votes.tables import VoteTable

__all__ = ["MIXED", "identification_failures", "pairs_off"]

MIXED = 1.1  # R-hat beyond which chains have not converged to one distribution

_SPAN = 0.1  # explanations that move the rates by more than this on average compete
_WIDE = 0.5  # limits this wide on average say nothing
_OUTSIDE = 0.05  # share of pairs outside their 99 % interval at which the dependence check fails
_NO_COPIES = NearCopies((), (), ())
_APART = 0.01  # and by how much a pair has to be off for that


def identification_failures(
    table: VoteTable,
    explanations: Sequence[Explanation],
    modes: Sequence[float],
    pairs: Agreement,
    width: float,
    r_hat: float = 1.0,
    copies: NearCopies | None = None,
) -> tuple[str, ...]:
    """Return the reasons why votes alone do not identify the error rates; none if they do.

    ``modes`` holds the distances between chains that fit as well as each other, ``width`` is the
    mean width of the limits of the rates, ``r_hat`` the largest of the best model.
    """
    reasons = _of_few(table, copies)
    if not reasons and len(pairs.observed) and (pairs.observed > 1 - 1e-9).all():
        # Right together and wrong together look the same, and no model can tell them apart.
        reasons.append("no two voters ever disagree, so the votes show no error: right or copies")
    if not reasons and unseen_copies(table, copies or _NO_COPIES):
        reasons.append(
            "some voters say nearly the same, and there are too few items to look for copies: it "
            "takes 40 in common"
        )
    reasons += [
        f"the votes fit as well if {other.name}, which moves the error rates by {other.moved:.2f} "
        "on average"
        for other in explanations
        if other.competes and other.moved > _SPAN
    ]
    if modes:
        reasons.append(
            f"chains from other starts fit as well and differ by up to {max(modes):.2f} in an "
            "error rate"
        )
    if not modes and r_hat > MIXED:
        reasons.append(
            f"the chains have not mixed, even in a longer run (R-hat {r_hat:.2f}), so that their "
            "average depends on chance; raise draws="
        )
    if width > _WIDE:
        reasons.append(f"the limits are {width:.2f} wide on average, which says next to nothing")
    if _dependent(pairs):
        reasons.append(
            f"{100 * pairs_off(pairs):.0f} % of the pairs of voters agree more or less often than "
            "the best model expects of 1 %"
        )
    return tuple(reasons)


def _of_few(table: VoteTable, copies: NearCopies | None) -> list[str]:
    """Say so where fewer than three voters are left once near copies count as one."""
    distinct = table.n_voters if copies is None else copies.distinct(table.n_voters)
    if distinct >= 3:
        return []
    if copies is not None and copies.blocks:
        found = [k for k, known in zip(copies.kappa, copies.known, strict=True) if not known]
        if distinct == 1 and found:
            return [
                f"all voters say nearly the same (median agreement κ = {found[0]:.2f}): they are "
                "right or copies of one another, and votes cannot tell which"
            ]
        who = "voters of a family that was named" if all(copies.known) else "near copies"
        return [
            f"{who} count once, which leaves {distinct} distinct "
            f"voter{'s' * (distinct > 1)}, and it takes three to tell who is wrong"
        ]
    if distinct == 2:
        return ["two voters cannot tell which of them is wrong"]
    return ["one voter alone shows no error"]


def pairs_off(pairs: Agreement) -> float:
    """Return the share of pairs outside the 99 % interval of their agreement, and by .01."""
    return float(_outside(pairs).mean()) if len(pairs.z) else float("nan")


def _outside(pairs: Agreement) -> BoolArray:
    off = np.abs(pairs.z) > -ndtri(0.005)
    return np.asarray(off & (np.abs(pairs.observed - pairs.expected) > _APART))


def _dependent(pairs: Agreement) -> bool:
    """Return whether more pairs are outside their intervals than chance explains."""
    outside = _outside(pairs)
    if not outside.any():
        return False
    chance = bdtrc(float(outside.sum()) - 1, len(outside), 0.01)
    return bool(outside.mean() > _OUTSIDE and chance < 0.001)
