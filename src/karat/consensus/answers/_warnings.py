"""What a user should know of a fit before reading its numbers."""

import warnings

import numpy as np

from karat.consensus.model import labelled_errors
from karat.consensus.result import ErrorRates
from karat.exceptions import KaratWarning, NotIdentifiedWarning
from karat.votes.reading import Votes

__all__ = ["warn_of_inverted_gold", "warn_of_limits_of_the_fit"]

_MIXED = 1.1  # R-hat beyond which chains have not converged to one distribution


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
                stacklevel=3,
            )


def warn_of_limits_of_the_fit(result: ErrorRates, *, most_r_hat: float = _MIXED) -> None:
    """Warn of chains that have not mixed, and of error rates that votes do not identify.

    Chains have not mixed where an R-hat is above ``most_r_hat``.
    """
    domains = range(len(result.domains))
    worst_of = [float(np.max(result.r_hat[result.domain == d])) for d in domains]
    apart = [d for d in domains if result.identified[d] and worst_of[d] > most_r_hat]
    if apart:
        worst = max(apart, key=lambda d: worst_of[d])
        where = f" in {len(apart)} domains, worst in {result.domains[worst]!r}"
        warnings.warn(
            f"chains have not mixed{where if len(domains) > 1 else ''} (R-hat "
            f"{worst_of[worst]:.2f}): raise draws=, unless they sit on modes of their own, which "
            "the limits span",
            KaratWarning,
            stacklevel=3,
        )
    unknown = int((~result.identified).sum())
    if unknown:
        where = "" if len(domains) == 1 else f" in {unknown} of {len(domains)} domains"
        warnings.warn(
            f"votes alone do not identify the error rates{where}: no ranking there can be trusted. "
            "explanations() shows the competing explanations, and label_next() the items whose "
            "labels would decide between them",
            NotIdentifiedWarning,
            stacklevel=3,
        )
