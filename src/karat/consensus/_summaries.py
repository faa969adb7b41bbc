"""From fits of domains to the answers that users see."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.consensus._domain_fit import DomainFit
from karat.consensus._explanations import class_proba, labelled_errors
from karat.consensus._frames import to_frame
from karat.consensus._model import build_problem
from karat.consensus._powered import cross_predictions, powered_rates
from karat.consensus.result import CoClustering, ErrorRates, Explanations, VoterAgreement
from karat.votes.em import fit_point, starting_state
from karat.votes.reading import Domain, Votes

__all__ = [
    "blind_consensus",
    "by_item",
    "clusters_table",
    "diagnostics_table",
    "doubt_of",
    "error_table",
    "powered_table",
    "prevalence_table",
    "summarise",
    "voter_agreement",
]

_CLOSE = 0.1  # accounts within this of each other are settled
_POWERED = (
    "estimate", "lower", "upper", "bernstein_lower", "bernstein_upper", "labels_estimate",
    "labels_lower", "labels_upper", "weight", "n_gold",
)  # fmt: skip


def blind_consensus(fit: DomainFit) -> FloatArray:
    """Return P(class) of every pattern from a consensus that has not seen the gold labels."""
    table = fit.table.without_gold()
    # Who copies whom was found with the labels at hand, so it takes no part.
    problem = build_problem(replace(fit.best.problem.model, parent=None), table)
    _, _, proba = fit_point(problem, starting_state(problem, table.vote_shares()))
    return class_proba(problem, proba)


def by_item(data: Votes, by_pattern: Sequence[FloatArray]) -> FloatArray:
    """Return one row per item from one row per pattern of each domain."""
    proba = np.empty((data.n_items, len(data.classes)))
    for domain, rows in zip(data.domains, by_pattern, strict=True):
        proba[domain.items] = rows[domain.pattern]
    return proba


def doubt_of(fit: DomainFit) -> FloatArray:
    """Return, per pattern, how far the accounts differ, and a tenth of its entropy."""
    consensus = fit.label_proba()
    apart = np.zeros(len(consensus))
    for other in fit.explanations:
        apart = np.maximum(apart, 0.5 * np.abs(other.label_proba - consensus).sum(axis=1))
    entropy = -(consensus * np.log(np.maximum(consensus, 1e-300))).sum(axis=1)
    return np.asarray(apart + 0.1 * entropy / np.log(consensus.shape[1]))


def summarise(
    data: Votes,
    fits: Sequence[DomainFit],
    blind: Sequence[FloatArray | None],
    confidence: float,
) -> ErrorRates:
    """Put the domains together."""
    parts: dict[str, list[Any]] = {}
    for d, (domain, fit, unseen) in enumerate(zip(data.domains, fits, blind, strict=True)):
        entries = _entries(fit, unseen, confidence)
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
        identified=np.array([fit.identified for fit in fits]),
        reasons=tuple(fit.reasons for fit in fits),
        explanations=tuple(
            _explanations(data, domain, fit) for domain, fit in zip(data.domains, fits, strict=True)
        ),
        confidence=confidence,
        **{name: np.concatenate(arrays) for name, arrays in parts.items()},
    )


def _entries(fit: DomainFit, unseen: FloatArray | None, confidence: float) -> dict[str, Any]:
    """Return the columns of one domain, a value per voter."""
    mean, on_items = fit.mean(), fit.mean(finite=True)
    lower, upper = fit.interval(confidence)
    low, high = fit.interval(confidence, finite=True)
    labelled = np.where(fit.table.gold >= 0, fit.table.count, 0)
    moved = np.full(len(mean), np.nan)
    if unseen is not None:
        moved = on_items - labelled_errors(fit.table, unseen)
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


def error_table(data: Votes, result: ErrorRates, finite: bool, backend: Any) -> Any:
    """Return one row per domain and voter, named as they were passed."""
    which = "finite_" if finite else ""
    columns: dict[str, Any] = {
        "domain": [data.domains[d].label for d in result.domain],
        "classifier": [data.voters[j] for j in result.classifier],
        "mean": np.array(getattr(result, f"{which}mean")),
        "lower": np.array(getattr(result, f"{which}lower")),
        "upper": np.array(getattr(result, f"{which}upper")),
        "votes": np.array(result.votes),
        "identified": np.array(result.identified[result.domain]),
    }
    k = len(result.classes)
    spoken = np.maximum(result.confusion[:, :, :k].sum(axis=2), 1e-300)
    recall = result.confusion[:, np.arange(k), np.arange(k)] / spoken
    names = ("specificity", "sensitivity")  # of the smaller label and of the larger
    for c in range(k):
        larger = int(k == 2 and result.classes[c] > result.classes[1 - c])
        columns[names[larger] if k == 2 else f"recall_{result.classes[c]}"] = np.array(recall[:, c])
    return to_frame(columns, backend)


def prevalence_table(data: Votes, result: ErrorRates, backend: Any) -> Any:
    """Return one row per domain and class."""
    domains, k = result.prevalence.shape
    return to_frame(
        {
            "domain": [domain.label for domain in data.domains for _ in range(k)],
            "class": np.tile(result.classes, domains),
            "mean": result.prevalence.ravel().copy(),
            "lower": result.prevalence_lower.ravel().copy(),
            "upper": result.prevalence_upper.ravel().copy(),
        },
        backend,
    )


def clusters_table(data: Votes, found: CoClustering | None, backend: Any) -> Any:
    """Return one row per domain, or per voter of each domain: its cluster."""
    if found is None:
        return None
    columns: dict[str, Any] = {"domain": [d.label for d in data.domains]}
    if found.structure == "hierarchical":
        pairs = [(d.label, data.voters[j]) for d in data.domains for j in _who_voted(d)]
        columns = {"domain": [d for d, _ in pairs], "classifier": [c for _, c in pairs]}
    columns |= {"cluster": found.labels.copy(), "certainty": found.certainty.copy()}
    return to_frame(columns, backend)


def _who_voted(domain: Domain) -> list[int]:
    """Return the voters of a domain that cast a vote or abstained, in their order."""
    return sorted(int(j) for j in domain.voters[np.unique(domain.table.voter)])


def diagnostics_table(data: Votes, fits: Sequence[DomainFit], backend: Any) -> Any:
    """Return one row per domain: how the chains went and what the checks say."""
    rows = [
        {
            "domain": domain.label,
            "identified": fit.identified,
            "models": ", ".join(f"{f.name} {f.weight:.2f}" for f in fit.fitted),
            "draws": int(np.prod(fit.best.draws.value.shape)),
            "r_hat": float(np.max(fit.r_hat)),
            "bulk_ess": float(np.min(fit.bulk)),
            "tail_ess": float(np.min(fit.tail)),
            "restarted": fit.restarted,
            "moved": max((e.moved for e in fit.explanations), default=0.0),
            "pairs": len(fit.agreement.z),
            "pairs_off": fit.pairs_off,
            "reasons": "; ".join(fit.reasons),
        }
        for domain, fit in zip(data.domains, fits, strict=True)
    ]
    return to_frame({name: [row[name] for row in rows] for name in rows[0]}, backend)


def powered_table(
    data: Votes,
    blind: Sequence[FloatArray | None],
    confidence: float,
    finite: bool,
    backend: Any,
) -> Any:
    """Return one row per voter of every domain that has gold labels."""
    columns: dict[str, Any] = {"domain": [], "classifier": [], **{f: [] for f in _POWERED}}
    for domain, unseen in zip(data.domains, blind, strict=True):
        if unseen is None:
            continue
        predictions = cross_predictions(domain, unseen)
        answers = powered_rates(domain, predictions, confidence=confidence, finite=finite)
        for voter, answer in zip(domain.voters, answers, strict=True):
            columns["domain"].append(domain.label)
            columns["classifier"].append(data.voters[voter])
            for field in _POWERED:
                columns[field].append(getattr(answer, field))
    return to_frame(columns, backend)
