"""Who shares error rates with whom, from drawn partitions."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.consensus.model_result import CoClustering
from karat.consensus.sampling import PooledDomains, PooledDraws
from karat.votes.reading import Votes

__all__ = ["best_partition", "certainty", "co_clustering", "same_label_pairs", "shared_probability"]

_CANDIDATES = 400  # partitions that are compared with one another
_MOST_ITEMS = 1000  # beyond which a matrix of pairs is not kept
_PARTITIONS = 1000  # draws that the co-clustering is from


def shared_probability(members: IntArray) -> FloatArray:
    """Return the share of draws in which two items are together; ``members`` is draws × items."""
    n = members.shape[1]
    total = np.zeros((n, n))
    for row in members:
        total += row[:, None] == row
    return total / len(members)


def best_partition(members: IntArray) -> IntArray:
    """Return the drawn partition that disagrees least with all draws, on average over pairs.

    This is Binder's loss. The number of pairs that two partitions both put together follows from
    the sizes of their cells in common, so no matrix of pairs is needed. Clusters are numbered by
    size, the largest first.
    """
    rows = np.linspace(0, len(members) - 1, min(len(members), _CANDIDATES)).astype(int)
    drawn = np.array([np.unique(members[r], return_inverse=True)[1] for r in rows])
    sizes = drawn.max(axis=1) + 1
    numbered = drawn + (np.cumsum(sizes) - sizes)[:, None]  # every cluster of every draw
    loss = np.empty(len(drawn))
    for a, row in enumerate(drawn):
        # The pairs within the other draws add the same to every candidate.
        both = same_label_pairs((numbered * sizes[a] + row).ravel()) / len(drawn)
        loss[a] = same_label_pairs(row) - 2 * both
    best = drawn[int(np.argmin(loss))]
    order = np.argsort(-np.bincount(best), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[best])


def same_label_pairs(labels: IntArray) -> float:
    """Return the number of ordered pairs of items with the same label."""
    few = int(labels.max()) < 16 * len(labels)  # else counting all would be mostly zeros
    counts = np.bincount(labels) if few else np.unique(labels, return_counts=True)[1]
    return float(np.sum(counts.astype(float) ** 2))


def certainty(members: IntArray, labels: IntArray) -> FloatArray:
    """Return how often each item is together with the others of its cluster, 1 if it is alone."""
    found = np.ones(len(labels))
    for cluster in np.unique(labels):
        items = np.flatnonzero(labels == cluster)
        if len(items) > 1:
            some = members[:, items]
            together = (some[:, :, None] == some[:, None, :]).mean(axis=0)
            found[items] = (together.sum(axis=1) - 1) / (len(items) - 1)
    return found


def co_clustering(data: Votes, pooled: PooledDomains, found: PooledDraws) -> CoClustering:
    """Return who shares error rates with whom, from the draws of a model of all domains."""
    members = found.members.reshape(-1, found.members.shape[2])
    domains = [str(d.name) for d in data.domains]
    if pooled.structure == "coupled":
        names = domains
    else:
        here = pooled.present.ravel() > 0
        members = members[:, here]
        pairs = [f"{d}: {c}" for d in domains for c in data.classifiers]
        names = [n for n, seen in zip(pairs, here, strict=True) if seen]
    some = members[np.linspace(0, len(members) - 1, min(len(members), _PARTITIONS)).astype(int)]
    labels = best_partition(some)
    sizes = np.array([len(np.unique(row)) for row in some])
    matrix = shared_probability(some) if len(names) <= _MOST_ITEMS else np.empty((0, 0))
    strengths = found.strengths.reshape(-1, found.strengths.shape[2])
    return CoClustering(
        structure=pooled.structure,
        names=tuple(names),
        labels=labels,
        certainty=certainty(some, labels),
        probability=matrix,
        n_clusters=np.array([sizes.mean(), *np.quantile(sizes, [0.025, 0.975])]),
        concentration=np.column_stack(
            [strengths.mean(axis=0), *np.quantile(strengths, [0.025, 0.975], axis=0)]
        ),
    )
