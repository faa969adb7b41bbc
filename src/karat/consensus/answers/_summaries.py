"""From the fits of all domains to the frozen results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.consensus.explanation_result import Explanations, RankingRobustness, VoterAgreement
from karat.consensus.fitting import DomainFit
from karat.consensus.model import labelled_errors
from karat.consensus.result import ErrorRates
from karat.votes.reading import Domain, Votes

__all__ = ["by_item", "ranking_robustness", "summarise", "voter_agreement"]

_CLOSE = 0.1  # explanations that move the error rates by less need no gold labels


def by_item(data: Votes, by_pattern: Sequence[FloatArray]) -> FloatArray:
    """Return one row per item from one row per pattern of each domain."""
    proba = np.empty((data.n_items, len(data.classes)))
    for domain, rows in zip(data.domains, by_pattern, strict=True):
        proba[domain.items] = rows[domain.pattern]
    return proba


def summarise(
    data: Votes,
    fits: Sequence[DomainFit],
    blind: Sequence[FloatArray | None],
    confidence: float,
) -> ErrorRates:
    """Put the domains together.

    ``blind`` holds the `blind_consensus` of each domain, None without gold labels.
    """
    parts: dict[str, list[Any]] = {}
    for d, (domain, fit, proba) in enumerate(zip(data.domains, fits, blind, strict=True)):
        entries = _entries(fit, proba, confidence)
        entries |= {"domain": np.full(len(domain.voters), d), "classifier": domain.voters}
        for name, array in entries.items():
            parts.setdefault(name, []).append(array)
    prevalence = np.stack([fit.prevalence(confidence) for fit in fits])
    return ErrorRates(
        domains=tuple(d.name for d in data.domains),
        classifiers=data.classifiers,
        classes=data.classes,
        prevalence=prevalence[:, 0],
        prevalence_lower=prevalence[:, 1],
        prevalence_upper=prevalence[:, 2],
        status=tuple(fit.status for fit in fits),
        identified=np.array([fit.identified for fit in fits]),
        slack=fits[0].slack,
        copies=tuple(
            _names_of_copies(data, domain, fit)
            for domain, fit in zip(data.domains, fits, strict=True)
        ),
        evidence=tuple("" if fit.gold_test is None else str(fit.gold_test) for fit in fits),
        reasons=tuple(fit.reasons for fit in fits),
        explanations=tuple(
            _explanations(data, domain, fit) for domain, fit in zip(data.domains, fits, strict=True)
        ),
        confidence=confidence,
        **{name: np.concatenate(arrays) for name, arrays in parts.items()},
    )


def _names_of_copies(data: Votes, domain: Domain, fit: DomainFit) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        tuple(data.classifiers[domain.voters[j]] for j in block) for block in fit.copies.blocks
    )


def ranking_robustness(
    data: Votes, domain: Domain, fit: DomainFit, confidence: float, gamma: FloatArray
) -> RankingRobustness:
    """Return what rates are worth if the panel is fooled on a share of the items."""
    mean = fit.mean()
    order = np.argsort(mean, kind="stable")
    low, high = (limit[order] for limit in fit.span_limits(confidence))
    lower, upper = (limit[order] for limit in fit.interval(confidence))  # those of the result
    first = max(upper[0], mean[order[0]])
    return RankingRobustness(
        domain=domain.name,
        classifiers=tuple(data.classifiers[domain.voters[j]] for j in order),
        status=fit.status,
        mean=mean[order],
        gamma=gamma,
        lower=np.clip(np.minimum(low, mean[order]) - gamma[:, None], 0, 1),
        upper=np.clip(np.maximum(high, mean[order]) + gamma[:, None], 0, 1),
        changes=np.diff(mean[order]) / 2,
        rivals=int((np.minimum(lower, mean[order])[1:] <= first).sum()),
        confidence=confidence,
    )


def _entries(fit: DomainFit, blind: FloatArray | None, confidence: float) -> dict[str, Any]:
    """Return the columns of one domain, a value per voter."""
    mean, on_items = fit.mean(), fit.mean(finite=True)
    lower, upper = fit.interval(confidence)
    low, high = fit.interval(confidence, finite=True)
    labelled = np.where(fit.table.gold >= 0, fit.table.count, 0)
    moved = np.full(len(mean), np.nan)
    if blind is not None:
        moved = on_items - labelled_errors(fit.table, blind)
    return {
        "votes": fit.table.votes_cast,
        "mean": mean,
        "lower": np.minimum(lower, mean),
        "upper": np.maximum(upper, mean),
        "finite_mean": on_items,
        "finite_lower": np.minimum(low, on_items),
        "finite_upper": np.maximum(high, on_items),
        "confusion": fit.confusions(),
        "gold_votes": fit.table.with_counts(labelled).votes_cast,
        "gold_moved": moved,
        "r_hat": fit.r_hat,
        "bulk_ess": fit.bulk,
        "tail_ess": fit.tail,
    }


def _explanations(data: Votes, domain: Domain, fit: DomainFit) -> Explanations:
    favourite = fit.label_proba().argmax(axis=1)
    contested = np.zeros(fit.table.n_patterns, dtype=bool)
    for other in fit.explanations:
        contested |= other.label_proba.argmax(axis=1) != favourite
    moved = np.array([0.0, *(e.moved for e in fit.explanations)])
    # A share of m labels is known to ±1.96·.5/√m, and moves the rates by that part of the gap.
    needed = int(np.ceil((1.96 * moved.max() / _CLOSE) ** 2)) if moved.max() > _CLOSE else 0
    count = fit.table.count
    return Explanations(
        domain=domain.name,
        classifiers=tuple(data.classifiers[j] for j in domain.voters),
        names=("the consensus", *(e.name for e in fit.explanations)),
        rates=np.stack([fit.mean(), *(e.rates for e in fit.explanations)]),
        moved=moved,
        contested=float(count[contested].sum() / max(count.sum(), 1e-300)),
        identified=fit.identified,
        reasons=fit.reasons,
        labels_needed=needed,
    )


def voter_agreement(data: Votes, domain: Domain, fit: DomainFit) -> VoterAgreement:
    """Return the posterior predictive check of one domain."""
    pairs = fit.agreement
    return VoterAgreement(
        domain=domain.name,
        names=tuple(data.classifiers[j] for j in domain.voters),
        first=pairs.first,
        second=pairs.second,
        n=pairs.n,
        observed=pairs.observed,
        expected=pairs.expected,
        z=pairs.z,
    )
