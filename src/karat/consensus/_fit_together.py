"""Fit all domains with one model, and predict votes held out with it."""

from collections.abc import Callable, Sequence

import numpy as np

from karat._typing import FloatArray
from karat.consensus._co_clustering import best_partition, certainty, shared_probability
from karat.consensus._domain_fit import FitTogether, Settings
from karat.consensus._held_out import split_counts
from karat.consensus._model import Errors
from karat.consensus._together import (
    Shared,
    SharedDraws,
    Structure,
    build_shared,
    run_shared,
    shared_chains,
    start_of,
)
from karat.consensus.result import CoClustering
from karat.votes.em import log_likelihood
from karat.votes.reading import Votes

__all__ = ["fit_together", "predict_together"]

_FOLDS = 5
_MOST_ITEMS = 1000  # beyond which a matrix of pairs is not kept
_SHORT = 96  # sweeps of a fit to folds, after as many
_PARTITIONS = 1000  # draws that the co-clustering is from


def fit_together(
    data: Votes,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None],
) -> tuple[list[FitTogether], CoClustering]:
    """Sample the model of all domains; with other candidates, also predict votes held out."""
    shared = _shared(data, settings.structure, settings.errors)
    draws, burn = _sweeps(shared, settings.draws)
    found, restarted = shared_chains(shared, settings.chains, draws, burn, rng, step)
    splits: list[tuple[FloatArray, FloatArray]] = []
    predicted: list[FloatArray] = []
    if settings.dependence == "auto":
        splits = [split_counts(d.table.count, _FOLDS, rng) for d in data.domains]
        predicted = predict_together(
            data, settings.structure, settings.errors, [rest for _, rest in splits], rng
        )
    fits = [
        FitTogether(
            shared.problems[d],
            found.by_domain[d],
            restarted,
            splits[d] if splits else None,
            predicted[d] if predicted else None,
        )
        for d in range(len(data.domains))
    ]
    return fits, _clusters(data, shared, found)


def _shared(data: Votes, structure: Structure, errors: Errors) -> Shared:
    tables = [d.table for d in data.domains]
    voters = [d.voters for d in data.domains]
    return build_shared(tables, voters, len(data.classifiers), structure, errors)


def _sweeps(shared: Shared, draws: int | None) -> tuple[int, int]:
    """Return draws and burn-in per chain: 1,000 each, fewer on many votes."""
    if draws is not None:
        return draws, draws
    parameters = shared.present.size * shared.prior.size
    cost = len(shared.cell) * shared.n_classes + 40 * parameters
    kept = int(np.clip(2e8 / cost, 200, 1000))
    return kept, kept


def predict_together(
    data: Votes,
    structure: Structure,
    errors: Errors,
    rests: Sequence[FloatArray],
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Return, per domain, folds × patterns: log P(votes) from the items that are not held out.

    ``rests`` is, per domain, folds × patterns: the items to fit to. Averaged over a short chain.
    """
    folds = len(rests[0])
    blind = [d.table.without_gold() for d in data.domains]
    values = [np.empty(rest.shape) for rest in rests]
    voters = [d.voters for d in data.domains]
    for fold in range(folds):
        tables = [t.with_counts(rest[fold]) for t, rest in zip(blind, rests, strict=True)]
        shared = build_shared(tables, voters, len(data.classifiers), structure, errors)
        starts = [start_of(shared, rng, together=bool(c)) for c in range(2)]
        found = run_shared(shared, starts, rng.spawn(2), burn=_SHORT, draws=_SHORT)
        for d, draws in enumerate(found.by_domain):
            logs = np.array([log_likelihood(shared.problems[d], s)[0] for s in draws.states])
            top = logs.max(axis=0)
            values[d][fold] = top + np.log(np.exp(logs - top).mean(axis=0))
    return values


def _clusters(data: Votes, shared: Shared, found: SharedDraws) -> CoClustering:
    members = found.members.reshape(-1, found.members.shape[2])
    domains = [d.name for d in data.domains]
    if shared.structure == "coupled":
        names = domains
    else:
        here = shared.present.ravel() > 0
        members = members[:, here]
        pairs = [f"{d}: {c}" for d in domains for c in data.classifiers]
        names = [n for n, seen in zip(pairs, here, strict=True) if seen]
    some = members[np.linspace(0, len(members) - 1, min(len(members), _PARTITIONS)).astype(int)]
    labels = best_partition(some)
    sizes = np.array([len(np.unique(row)) for row in some])
    matrix = shared_probability(some) if len(names) <= _MOST_ITEMS else np.empty((0, 0))
    strengths = found.strengths.reshape(-1, found.strengths.shape[2])
    return CoClustering(
        structure=shared.structure,
        names=tuple(names),
        labels=labels,
        certainty=certainty(some, labels),
        probability=matrix,
        n_clusters=np.array([sizes.mean(), *np.quantile(sizes, [0.025, 0.975])]),
        concentration=np.column_stack(
            [strengths.mean(axis=0), *np.quantile(strengths, [0.025, 0.975], axis=0)]
        ),
    )
