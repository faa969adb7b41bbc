"""Copies: a voter and its near copies are one vote, and good voters are not taken for copies."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, number, say, show_table
from numpy.typing import NDArray

from karat.consensus import ErrorEstimator
from karat.exceptions import KaratWarning
from karat.votes.agreement import near_copies
from karat.votes.domains import read_votes

__all__ = ["run_copies"]

_SEEDS = 40
_PANELS = 20
_ITEMS = 500
_SHARES = (0.95, 0.99, 1.0)
# The voter that is copied, how often in all, and the others.
_COPIED = (
    (0.3, 3, (0.1, 0.1)),
    (0.375, 4, (0.2, 0.2, 0.25)),
    (0.1, 3, (0.15, 0.15, 0.15, 0.15)),
    (0.2, 2, (0.1, 0.15, 0.2, 0.25, 0.3)),
)
_NONE = ((0.05,) * 5, (0.01, 0.01, 0.2, 0.2, 0.2, 0.2), (0.03, 0.03, 0.03, 0.15, 0.15, 0.15))


class Panel(NamedTuple):
    """Votes of which the first ``copies`` are one voter's, and the true error rates."""

    votes: NDArray[Any]
    rates: NDArray[Any]
    copies: int


def run_copies(*, quick: bool) -> list[Promise]:
    """Print how often copies are found and good voters merged, and what the rates are then."""
    seeds = range(10 if quick else _SEEDS)
    rows, least, wrong = [], 1.0, 0.0
    for rate, times, others in _COPIED:
        for share in _SHARES:
            found = [_found(_panel(seed, rate, times, others, share)) for seed in seeds]
            hit, off = np.mean(found, axis=0)
            least, wrong = min(least, hit), max(wrong, off)
            who = f"{times} x {rate:g}"
            rows.append([who, str(others), f"{share:g}", number(hit), number(off)])
    for others in _NONE:
        merged = np.mean([_found(_panel(s, 0.2, 1, others, 1.0))[1] for s in seeds])
        wrong = max(wrong, float(merged))
        rows.append(["none", str((0.2, *others)), "", "", number(float(merged))])
    columns = ["copies of a voter", "others", "share copied", "found", "others merged"]
    show_table(f"Near copies, {len(seeds)} seeds, {_ITEMS} items", columns, rows)
    return [
        Promise("copies found, worst setting", least, 0.97),
        Promise("panels in which others are merged, worst setting", wrong, 0.0, True),
        *_covered(3 if quick else _PANELS),
    ]


def _panel(seed: int, rate: float, times: int, others: tuple[float, ...], share: float) -> Panel:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, _ITEMS)
    rates = np.array([rate, *others])
    own = np.where(rng.random((_ITEMS, len(rates))) < rates, 1 - y[:, None], y[:, None])
    copies = [own[:, 0]]
    for _ in range(times - 1):
        alone = np.where(rng.random(_ITEMS) < rate, 1 - y, y)
        copies.append(np.where(rng.random(_ITEMS) < share, own[:, 0], alone))
    votes = np.column_stack([*copies, own[:, 1:]])
    return Panel(votes, (votes != y[:, None]).mean(axis=0), times)


def _found(panel: Panel) -> tuple[float, float]:
    """Return whether the copies are in one block, and whether a block holds anybody else."""
    blocks = near_copies(read_votes(panel.votes).domains[0].table).blocks
    mine = set(range(panel.copies))
    hit = panel.copies == 1 or any(mine <= set(block) for block in blocks)
    others = any(not set(block) <= mine for block in blocks)
    return float(hit), float(others)


def _covered(panels: int) -> list[Promise]:
    """Fit panels with copies of a bad voter; say how many are consistent and not covered."""
    covered, rows = [], []
    for seed in range(panels):
        rate, times, others = _COPIED[seed % 2]
        panel = _panel(100 + seed, rate, times, others, _SHARES[seed % 3])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            estimator = ErrorEstimator(rng=seed).fit(panel.votes)
        result = estimator.result_
        inside = np.mean((result.lower <= panel.rates) & (panel.rates <= result.upper))
        if estimator.identified_["all"]:
            covered.append(float(inside))
        rows.append([str(seed), estimator.status_["all"], number(float(inside))])
    show_table("Panels with copies of a bad voter", ["panel", "status", "covered"], rows)
    say(f"{len(covered)} of {panels} panels are consistent.\n")
    low = sum(share < 0.8 for share in covered)
    return [
        Promise("panels with copies, consistent and covered under .8", low, panels / 10, True),
        Promise("panels with copies, mean coverage", float(np.mean(covered)), 0.93),
    ]
