"""What a user should know of a fit before reading its numbers."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._validate import named
from karat.consensus.model import labelled_errors
from karat.consensus.result import ErrorRates
from karat.exceptions import KaratWarning, NotIdentifiedWarning
from karat.votes.reading import Votes

__all__ = ["warn_of_inverted_gold", "warn_of_limits_of_the_fit"]


def warn_of_inverted_gold(data: Votes) -> None:
    """Say so if every voter is wrong on most of its gold labels."""
    for domain in data.domains:
        table = domain.table
        labelled = table.gold >= 0
        if table.count[labelled].sum() < 5:
            continue
        known = table.with_counts(np.where(labelled, table.count, 0.0))
        truth = np.eye(table.n_classes)[np.maximum(table.gold, 0)]
        errors = labelled_errors(known, truth)
        asked = known.votes_cast >= 5
        if asked.any() and (errors[asked] > 0.5).all():
            where = "" if data.single else f" of domain {domain.name!r}"
            warnings.warn(
                f"every voter is wrong on more than half of its gold labels{where}; are the labels "
                "of y_true coded like those of votes?",
                KaratWarning,
                stacklevel=caller_level(),
            )


def warn_of_limits_of_the_fit(
    result: ErrorRates,
    same: Mapping[Any, Sequence[Any]] | None = None,
    *,
    holder: str = "",
) -> None:
    """Warn of copies that count once, of labels that contradict, and of what votes cannot tell.

    ``same`` are the families that the user named, who needs not hear of them; ``holder`` is where
    the estimator stands whose methods are advised, such as ``"estimator_."``.
    """
    _warn_of_copies(result, [{str(name) for name in family} for family in (same or {}).values()])
    domains = len(result.domains)
    lost = [d for d, status in enumerate(result.status) if status == "contradicted"]
    if lost:
        where = "" if domains == 1 else f" in {named([result.domains[d] for d in lost])}"
        warnings.warn(
            f"gold labels contradict the consensus{where}: it is {result.evidence[lost[0]]}. No "
            f"ranking from votes there can be trusted; {holder}powered_ is the table that counts",
            NotIdentifiedWarning,
            stacklevel=caller_level(),
        )
    unknown = sum(status == "not identified" for status in result.status)
    if unknown:
        where = "" if domains == 1 else f" in {unknown} of {domains} domains"
        warnings.warn(
            f"votes do not identify the error rates{where}: no ranking there can be trusted, and "
            "the limits are those of every explanation of the votes together. "
            f"{holder}explanations() shows them, and {holder}label_next() draws items to label",
            NotIdentifiedWarning,
            stacklevel=caller_level(),
        )


def _warn_of_copies(result: ErrorRates, families: list[set[str]]) -> None:
    """Name the voters that count once, in the domain with most of them."""
    # Where fewer than three voters are left, the reasons say it.
    voters = np.bincount(result.domain, minlength=len(result.domains))
    found = [
        [group for group in groups if not any(set(map(str, group)) <= one for one in families)]
        for groups in result.copies
    ]
    with_copies = [
        d
        for d, groups in enumerate(result.copies)
        if found[d] and voters[d] - sum(len(group) - 1 for group in groups) >= 3
    ]
    if not with_copies:
        return
    most = max(with_copies, key=lambda d: sum(map(len, found[d])))
    groups = [" = ".join(map(str, group)) for group in found[most]]
    more = f" and {len(groups) - 5} more groups" if len(groups) > 5 else ""
    where = "" if len(result.domains) == 1 else f" in {result.domains[most]!r}"
    others = len(with_copies) - 1
    also = f", and others in {others} more domain{'s' * (others > 1)}" if others else ""
    warnings.warn(
        f"near copies count as one voter{where}: {'; '.join(groups[:5])}{more}{also}",
        KaratWarning,
        stacklevel=caller_level(),
    )
