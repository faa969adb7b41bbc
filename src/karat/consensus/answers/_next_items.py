"""Which items to label next."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.consensus.answers._frames import to_frame
from karat.consensus.fitting import DomainFit
from karat.votes.reading import Votes

__all__ = ["next_items"]

# Weight of the uncertainty of a label beside the disagreement of explanations: it orders the items
# on which the explanations agree.
_ENTROPY = 0.1


def next_items(
    data: Votes,
    fits: Sequence[DomainFit],
    n: int,
    *,
    domain: int | None,
    at_random: bool,
    seed: int,
    backend: Any,
) -> Any:
    """Return a table of ``n`` items without a gold label, the most doubtful first or at random.

    ``domain`` is the position of the domain to take them from; None for all domains.
    """
    domains, items, doubts = [], [], []
    for d, (here, fit) in enumerate(zip(data.domains, fits, strict=True)):
        if domain is None or domain == d:
            unlabelled = data.gold[here.items] < 0
            domains.append(np.full(int(unlabelled.sum()), d))
            items.append(here.items[unlabelled])
            doubts.append(_doubt(fit)[here.pattern[unlabelled]])
    item, doubt = np.concatenate(items), np.concatenate(doubts)
    noise = np.random.default_rng(seed).random(len(item))  # the same at every call; breaks ties
    best = (np.argsort(noise) if at_random else np.lexsort((noise, -doubt)))[:n]
    return to_frame(
        {
            "domain": data.domain_names.take(np.concatenate(domains)[best]),
            "item": item[best] if data.item_names is None else data.item_names.take(item[best]),
            "doubt": doubt[best],
        },
        backend,
    )


def _doubt(fit: DomainFit) -> FloatArray:
    """Return, per pattern, how far the explanations differ, and a tenth of its entropy."""
    consensus = fit.label_proba()
    apart = np.zeros(len(consensus))
    for other in fit.explanations:
        apart = np.maximum(apart, 0.5 * np.abs(other.label_proba - consensus).sum(axis=1))
    entropy = -(consensus * np.log(np.maximum(consensus, 1e-300))).sum(axis=1)
    return np.asarray(apart + _ENTROPY * entropy / np.log(consensus.shape[1]))
