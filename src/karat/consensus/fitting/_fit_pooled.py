"""Fit all domains with one model in which they share error rates."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray
from karat.consensus.comparison import predict_pooled, split_counts
from karat.consensus.fitting._co_clustering import co_clustering
from karat.consensus.fitting._domain_fit import PooledFit
from karat.consensus.fitting._settings import Settings
from karat.consensus.model import Errors
from karat.consensus.model_result import CoClustering
from karat.consensus.sampling import PooledDomains, Structure, build_pooled, pooled_chains
from karat.votes.reading import Votes

__all__ = ["fit_pooled"]

_FOLDS = 5


def fit_pooled(
    data: Votes,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None],
) -> tuple[list[PooledFit], CoClustering]:
    """Sample the model of all domains; with other candidates, also predict votes held out."""
    pooled = _pool(data, settings.structure, settings.errors)
    draws, burn = _sweeps(pooled, settings.draws)
    found, restarted = pooled_chains(pooled, settings.chains, draws, burn, rng, step)
    splits: list[tuple[FloatArray, FloatArray]] = []
    predicted: list[FloatArray] = []
    if settings.dependence == "auto":
        splits = [split_counts(d.table.count, _FOLDS, rng) for d in data.domains]
        predicted = predict_pooled(
            data, settings.structure, settings.errors, [rest for _, rest in splits], rng
        )
    fits = [
        PooledFit(
            pooled.problems[d],
            found.by_domain[d],
            restarted,
            splits[d] if splits else None,
            predicted[d] if predicted else None,
        )
        for d in range(len(data.domains))
    ]
    return fits, co_clustering(data, pooled, found)


def _pool(data: Votes, structure: Structure, errors: Errors) -> PooledDomains:
    tables = [d.table for d in data.domains]
    voters = [d.voters for d in data.domains]
    return build_pooled(tables, voters, len(data.classifiers), structure, errors)


def _sweeps(pooled: PooledDomains, draws: int | None) -> tuple[int, int]:
    """Return draws and burn-in per chain: 1,000 each, fewer on many votes."""
    if draws is not None:
        return draws, draws
    parameters = pooled.present.size * pooled.prior.size
    cost = len(pooled.cell) * pooled.n_classes + 40 * parameters
    kept = int(np.clip(2e8 / cost, 200, 1000))
    return kept, kept
