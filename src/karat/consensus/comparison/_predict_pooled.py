"""Votes held out, as a model predicts them in which all domains share error rates."""

from collections.abc import Sequence

import numpy as np

from karat._typing import FloatArray
from karat.consensus.model import Errors
from karat.consensus.sampling import Structure, build_pooled, pooled_start, run_pooled
from karat.votes.em import log_likelihood
from karat.votes.reading import Votes

__all__ = ["predict_pooled"]

_SHORT = 96  # sweeps of a fit to folds, after as many that are dropped


def predict_pooled(
    data: Votes,
    structure: Structure,
    errors: Errors,
    rests: Sequence[FloatArray],
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Return, per domain, folds × patterns: log P(votes) from the items that are not held out.

    ``rests`` is, per domain, folds × patterns: the items to fit to. The likelihood is
    averaged over the states of two short chains, one from each kind of start.
    """
    folds = len(rests[0])
    blind = [d.table.without_gold() for d in data.domains]
    values = [np.empty(rest.shape) for rest in rests]
    voters = [d.voters for d in data.domains]
    for fold in range(folds):
        tables = [t.with_counts(rest[fold]) for t, rest in zip(blind, rests, strict=True)]
        pooled = build_pooled(tables, voters, len(data.classifiers), structure, errors)
        starts = [pooled_start(pooled, rng, one_cluster=bool(c)) for c in range(2)]
        found = run_pooled(pooled, starts, rng.spawn(2), burn=_SHORT, draws=_SHORT)
        for d, draws in enumerate(found.by_domain):
            logs = np.array([log_likelihood(pooled.problems[d], s)[0] for s in draws.states])
            top = logs.max(axis=0)
            values[d][fold] = top + np.log(np.exp(logs - top).mean(axis=0))
    return values
