"""All figures that may speak against a label model."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.statistics import Patterns
from karat.weak._agreement import Comparison, LabelerTable, compare_pair, labelers
from karat.weak._gold import GoldTest, gold_test

__all__ = ["Evidence", "Figures", "Pairs", "gather"]


class Figures(NamedTuple):
    """Comparisons, one per pair of labelers."""

    observed: FloatArray
    expected: FloatArray
    z: FloatArray
    base: FloatArray


class Pairs(NamedTuple):
    """Pairs of labelers (p, 2), how often they agree where both vote, and how often both vote."""

    who: IntArray
    agreement: Figures
    covote: Figures


class Evidence(NamedTuple):
    """The patterns, and what they and the true labels say of P(Y | Z)."""

    found: Patterns
    table: LabelerTable
    lead_z: FloatArray
    pairs: Pairs
    prior_given: FloatArray | None
    prior_z: FloatArray
    gold: GoldTest | None
    gold_n: int

    @property
    def worst_pair(self) -> tuple[str, str] | None:
        """The pair whose agreement is furthest from what is implied."""
        if not len(self.pairs.who):
            return None
        i, j = self.pairs.who[np.abs(self.pairs.agreement.z).argmax()]
        return self.found.names[i], self.found.names[j]

    @property
    def prior_gap(self) -> float | None:
        """Greatest difference between the implied and the given prior."""
        if self.prior_given is None:
            return None
        return float(np.abs(self.table.prior - self.prior_given).max())


def gather(
    found: Patterns,
    proba: FloatArray,
    prior: FloatArray | None,
    gold: IntArray | None,
    rng: np.random.Generator,
) -> Evidence:
    """Compute all figures for P(Y | z) = ``proba``, true labels as codes, -1 where unknown."""
    share = found.counts / found.n
    table = labelers(found.patterns, share, proba, found.n)
    gap = np.zeros_like(table.prior) if prior is None else table.prior - prior
    error = np.sqrt(share @ (proba - table.prior) ** 2 / found.n)
    test, gold_n = None, 0
    if gold is not None:
        known = gold >= 0
        gold_n, k = int(known.sum()), len(found.classes)
        cells = found.ids[known] * k + gold[known]
        counts = np.bincount(cells, minlength=len(found.patterns) * k).reshape(-1, k)
        there = counts.any(axis=1)
        test = gold_test(counts[there], proba[there], rng)
    return Evidence(
        found=found,
        table=table,
        lead_z=_ratio(table.accuracy - table.chance, table.lead_error),
        pairs=_compare_pairs(found.patterns, share, proba, table, found.n),
        prior_given=prior,
        prior_z=_ratio(gap, error),
        gold=test,
        gold_n=gold_n,
    )


def _ratio(gap: FloatArray, error: FloatArray) -> FloatArray:
    """Return gap / error, finite also where the error is zero."""
    return np.where(np.abs(gap) < 1e-12, 0.0, gap / np.maximum(error, 1e-12))


def _compare_pairs(
    codes: IntArray, share: FloatArray, proba: FloatArray, table: LabelerTable, n: float
) -> Pairs:
    who = list(combinations(range(codes.shape[1]), 2))
    compared = [compare_pair(pair, codes, share, proba, table, n) for pair in who]
    return Pairs(
        np.array(who, dtype=np.int64).reshape(-1, 2),
        _figures([agreement for agreement, _ in compared]),
        _figures([covote for _, covote in compared]),
    )


def _figures(comparisons: list[Comparison]) -> Figures:
    rows = [(c.observed, c.expected, c.z, c.base) for c in comparisons]
    return Figures(*np.array(rows, dtype=np.float64).reshape(-1, 4).T)
