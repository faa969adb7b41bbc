"""How to choose the items to label: powered limits from few labels, at random and from strata."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, number, say, show_table
from _votes_judges import short
from _votes_powered import Subset, subsets_of
from numpy.typing import NDArray

from karat.consensus import ErrorEstimator
from karat.consensus._answers import draw_strata
from karat.consensus._from_labels import cross_predictions, rates_with_votes
from karat.limits.proportions import wilson_limits
from karat.votes.domains import read_votes

__all__ = ["run_designs"]

_NUMBERS = (10, 20, 30)
_DRAWS = 100
_LARGE = 80  # items of a subset, of which 30 labels are not a third


class Design(NamedTuple):
    """Means over draws and judges: coverage, width over Wilson's of the labels, and deviation."""

    cover: float
    width: float
    off: float


def run_designs(estimator: ErrorEstimator, *, quick: bool) -> list[Promise]:
    """Print powered limits of few labels, subset by subset; return what is promised."""
    if quick:
        return []
    subsets = [s for s in subsets_of(estimator) if len(s.gold) >= _LARGE]
    draws = _DRAWS
    rows, random, strata = [], [], []
    for subset in subsets:
        for n in _NUMBERS:
            rng = np.random.default_rng(n)
            first, second = (_design(subset, n, draws, rng, strata=s) for s in (False, True))
            random.append(first)
            strata.append(second)
            rows.append(
                [short(subset.name), str(n), *map(number, (first.cover, first.width, first.off)),
                 number(second.cover), number(second.off / first.off)]
            )  # fmt: skip
    columns = ["subset", "labels", "covers", "over Wilson", "deviation"]
    columns += ["strata cover", "deviation over random"]
    show_table(f"Few labels, at random and from strata, {draws} draws", columns, rows)
    say(
        "Powered 95 % limits from few labels. 'over Wilson' is their width over that of Wilson's "
        "limits from the labels alone; the last columns are for labels from strata of equal size "
        "by doubt, weighted by their probabilities.\n"
    )
    return _promises(random, strata)


def _promises(random: Sequence[Design], strata: Sequence[Design]) -> list[Promise]:
    off = [np.mean([d.off for d in part]) for part in (strata, random)]
    return [
        Promise("few random labels, worst coverage", min(d.cover for d in random), 0.93),
        Promise("few random labels, widest over Wilson", max(d.width for d in random), 1.05, True),
        Promise("few labels of strata, worst coverage", min(d.cover for d in strata), 0.93),
        Promise("strata, deviation over that of random labels", float(off[0] / off[1]), 1.05, True),
    ]


def _design(
    subset: Subset, n: int, draws: int, rng: np.random.Generator, *, strata: bool
) -> Design:
    truth, size = subset.errors, len(subset.gold)
    doubt = -(subset.blind * np.log(np.maximum(subset.blind, 1e-300))).sum(axis=1)
    found = []
    for _ in range(draws):
        probability: NDArray[Any] | None = None
        if strata:
            chosen, chance = draw_strata(doubt, n, rng)
            probability = np.full(size, np.nan)
            probability[chosen] = chance
        else:
            chosen = rng.choice(size, n, replace=False)
        gold = np.full(size, np.nan)
        gold[chosen] = subset.gold[chosen]
        domain = read_votes(subset.votes, y_true=gold).domains[0]
        blind = np.empty((domain.table.n_patterns, subset.blind.shape[1]))
        blind[domain.pattern] = subset.blind
        answers = rates_with_votes(
            domain, cross_predictions(domain, blind), confidence=0.95, finite=False,
            probability=probability,
        )  # fmt: skip
        for a, true in zip(answers, truth, strict=True):
            if not np.isfinite(a.value):
                continue
            low, high = wilson_limits(a.labels_value * a.n_gold, a.n_gold, 0.025)
            alone = float(high - low)
            inside = a.lower <= true <= a.upper
            found.append((inside, a.upper - a.lower, alone, abs(a.value - true)))
    cover, width, alone, off = np.mean(np.array(found, dtype=np.float64), axis=0)
    return Design(float(cover), float(width / alone), float(off))
