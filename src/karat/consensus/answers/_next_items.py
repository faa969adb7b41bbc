"""Which items to label next, and with what probability each was drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.consensus.answers._frames import to_frame
from karat.consensus.fitting import DomainFit
from karat.votes.reading import Votes

__all__ = ["draw_strata", "in_proportion", "next_items"]

# Weight of the uncertainty of a label beside the disagreement of explanations: it orders the items
# on which the explanations agree.
_ENTROPY = 0.1


def next_items(
    data: Votes,
    fits: Sequence[DomainFit],
    n: int,
    *,
    domain: int | None,
    how: str,
    seed: int,
    backend: Any,
) -> Any:
    """Return a table of ``n`` items without a gold label: strata, a random sample or contested.

    ``domain`` is the position of the domain to take them from; None for all domains.
    """
    rng = np.random.default_rng(seed)  # the same at every call
    some = [d for d in range(len(fits)) if domain is None or domain == d]
    free = {d: data.domains[d].items[data.gold[data.domains[d].items] < 0] for d in some}
    doubt = {
        d: _doubt(fits[d])[data.domains[d].pattern[data.gold[data.domains[d].items] < 0]]
        for d in some
    }
    if how == "contested":
        place, chance = _contested(list(doubt.values()), n, rng)
    else:
        place, chance = _sampled(list(doubt.values()), n, rng, at_random=how == "random")
    at = np.concatenate([np.full(len(free[d]), d) for d in some])[place]
    item = np.concatenate(list(free.values()))[place]
    return to_frame(
        {
            "domain": data.domain_names.take(at),
            "item": item if data.item_names is None else data.item_names.take(item),
            "probability": chance,
            "doubt": np.concatenate(list(doubt.values()))[place],
        },
        backend,
    )


def _contested(
    doubts: Sequence[FloatArray], n: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the positions of the most doubtful items, which nobody drew."""
    doubt = np.concatenate(doubts)
    best = np.lexsort((rng.random(len(doubt)), -doubt))[:n]  # random numbers break ties
    return best, np.full(len(best), np.nan)


def _sampled(
    doubts: Sequence[FloatArray], n: int, rng: np.random.Generator, *, at_random: bool
) -> tuple[IntArray, FloatArray]:
    """Return the positions of items drawn in proportion from all domains, with their chances."""
    sizes = np.array([len(doubt) for doubt in doubts])
    places, chances, before = [], [], 0
    for doubt, size in zip(doubts, in_proportion(sizes, n), strict=True):
        if at_random:
            drawn: IntArray = rng.permutation(len(doubt))[:size].astype(np.int64)
            chance = np.full(size, size / max(len(doubt), 1))
        else:
            drawn, chance = draw_strata(doubt, int(size), rng)
        places.append(drawn + before)
        chances.append(chance)
        before += len(doubt)
    return np.concatenate(places), np.concatenate(chances)


def draw_strata(doubt: FloatArray, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Return one item of each of ``n`` strata of equal size, sorted by doubt, and their chances."""
    order = np.lexsort((rng.random(len(doubt)), -doubt))
    # Which strata are larger by one is random, so that all items have nearly the same chance.
    edges = np.floor(np.arange(n + 1) * (len(doubt) / max(n, 1)) + 1e-9).astype(np.int64)
    size = rng.permutation(np.diff(edges))
    start = np.cumsum(size) - size
    drawn = order[start + np.floor(rng.random(n) * size).astype(np.int64)]
    return drawn, 1.0 / size


def in_proportion(sizes: IntArray, n: int) -> IntArray:
    """Return how many of ``n`` each part gets: in proportion, by the largest remainders."""
    total = int(sizes.sum())
    n = min(n, total)
    share = n * sizes / max(total, 1)
    whole = np.floor(share + 1e-9).astype(np.int64)
    left = np.argsort(-(share - whole), kind="stable")[: n - int(whole.sum())]
    whole[left] += 1
    return whole


def _doubt(fit: DomainFit) -> FloatArray:
    """Return, per pattern, how far the explanations differ, and a tenth of its entropy."""
    consensus = fit.label_proba()
    apart = np.zeros(len(consensus))
    for other in fit.explanations:
        apart = np.maximum(apart, 0.5 * np.abs(other.label_proba - consensus).sum(axis=1))
    entropy = -(consensus * np.log(np.maximum(consensus, 1e-300))).sum(axis=1)
    return np.asarray(apart + _ENTROPY * entropy / np.log(consensus.shape[1]))
