"""The tables that an estimator shows, with names as they were passed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.consensus.answers._frames import to_frame
from karat.consensus.answers._powered import cross_predictions, powered_rates
from karat.consensus.fitting import DomainFit
from karat.consensus.model_result import CoClustering
from karat.consensus.result import ErrorRates
from karat.votes.reading import Domain, Votes

__all__ = [
    "clusters_table",
    "diagnostics_table",
    "error_table",
    "powered_table",
    "prevalence_table",
]

_POWERED = (
    "estimate", "lower", "upper", "bernstein_lower", "bernstein_upper", "labels_estimate",
    "labels_lower", "labels_upper", "weight", "n_gold",
)  # fmt: skip


def error_table(data: Votes, result: ErrorRates, finite: bool, backend: Any) -> Any:
    """Return one row per domain and voter, named as they were passed."""
    which = "finite_" if finite else ""
    mean = getattr(result, f"{which}mean")
    rows = np.lexsort((mean, result.domain))
    domain = result.domain[rows]
    columns: dict[str, Any] = {
        "domain": data.domain_names.take(domain),
        "classifier": data.classifier_names.take(result.classifier[rows]),
        "mean": mean[rows],
        "lower": getattr(result, f"{which}lower")[rows],
        "upper": getattr(result, f"{which}upper")[rows],
        "votes": result.votes[rows],
        "status": [result.status[d] for d in domain],
        "identified": result.identified[domain],
    }
    k = len(result.classes)
    cast = np.maximum(result.confusion[:, :, :k].sum(axis=2), 1e-300)  # abstentions apart
    recall = (result.confusion[:, np.arange(k), np.arange(k)] / cast)[rows]
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
            "domain": data.domain_names.take(np.repeat(np.arange(domains), k)),
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
    columns: dict[str, Any] = {"domain": data.domain_names.take(np.arange(len(data.domains)))}
    if found.structure == "hierarchical":
        pairs = [(d, j) for d, domain in enumerate(data.domains) for j in _who_voted(domain)]
        columns = {
            "domain": data.domain_names.take([d for d, _ in pairs]),
            "classifier": data.classifier_names.take([j for _, j in pairs]),
        }
    columns |= {"cluster": found.labels.copy(), "certainty": found.certainty.copy()}
    return to_frame(columns, backend)


def _who_voted(domain: Domain) -> list[int]:
    """Return the voters of a domain that cast a vote or abstained, in their order."""
    return sorted(int(j) for j in domain.voters[np.unique(domain.table.voter)])


def diagnostics_table(data: Votes, fits: Sequence[DomainFit], backend: Any) -> Any:
    """Return one row per domain: how the chains went and what the checks say."""
    rows = [
        {
            "status": fit.status,
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
            "pairs_apart": _apart(fit),
            "copies": "; ".join(
                " = ".join(str(data.classifiers[domain.voters[j]]) for j in block)
                for block in fit.copies.blocks
            ),
            "gold": "" if fit.gold_test is None else str(fit.gold_test),
            "reasons": "; ".join(fit.reasons),
        }
        for domain, fit in zip(data.domains, fits, strict=True)
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    names = data.domain_names.take(np.arange(len(fits)))
    return to_frame({"domain": names, **columns}, backend)


def _apart(fit: DomainFit) -> float:
    """Return how far pairs are from the agreement that the best model expects, on average."""
    pairs = fit.agreement
    return float(np.abs(pairs.observed - pairs.expected).mean()) if len(pairs.z) else float("nan")


def powered_table(
    data: Votes,
    blind: Sequence[FloatArray | None],
    confidence: float,
    finite: bool,
    backend: Any,
) -> Any:
    """Return one row per voter of every domain that has gold labels."""
    rows: dict[str, list[Any]] = {name: [] for name in ("domain", "classifier", *_POWERED)}
    for d, (domain, proba) in enumerate(zip(data.domains, blind, strict=True)):
        if proba is None:
            continue
        predictions = cross_predictions(domain, proba)
        chance = data.label_probability
        answers = powered_rates(
            domain, predictions, confidence=confidence, finite=finite,
            probability=None if chance is None else chance[domain.items],
        )  # fmt: skip
        order = np.argsort([answer.estimate for answer in answers], kind="stable")
        rows["domain"] += [d] * len(answers)
        rows["classifier"] += domain.voters[order].tolist()
        for field in _POWERED:
            rows[field] += [getattr(answers[i], field) for i in order]
    names = {
        "domain": data.domain_names.take(rows["domain"]),
        "classifier": data.classifier_names.take(rows["classifier"]),
    }
    return to_frame(rows | names, backend)
