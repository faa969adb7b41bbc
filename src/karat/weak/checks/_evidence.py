"""The figures by which a label model is tested."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.statistics import Patterns
from karat.votes.agreement import Agreement, LabelerTable, agreement_of_posterior, labelers
from karat.weak.checks._gold_test import GoldRows, GoldTest, gold_test

__all__ = ["Evidence", "gather"]


class Evidence(NamedTuple):
    """The patterns, and the figures that test P(Y | Z) against them and against true labels.

    ``agreement`` is how often two labelers agree where both vote, ``covote`` how often both vote;
    ``lead_z`` is by how many standard errors each labeler is better than chance under the model.
    """

    found: Patterns
    table: LabelerTable
    lead_z: FloatArray
    agreement: Agreement
    covote: Agreement
    prior_given: FloatArray | None
    prior_z: FloatArray
    gold: GoldTest | None
    gold_n: int

    @property
    def worst_pair(self) -> tuple[Any, Any] | None:
        """The pair whose agreement is furthest from what is implied."""
        if not len(self.agreement.z):
            return None
        worst = int(np.abs(self.agreement.z).argmax())
        return self.names_of(worst)

    def names_of(self, pair: int) -> tuple[Any, Any]:
        """Return the labelers of a pair."""
        names, figures = self.found.names, self.agreement
        return names[figures.first[pair]], names[figures.second[pair]]

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
    gold: GoldRows | None,
    rng: np.random.Generator,
) -> Evidence:
    """Compute all figures for P(Y | z) = ``proba``, and test the true labels."""
    share = found.counts / found.n
    table = labelers(found.patterns, share, proba, found.n)
    gap = np.zeros_like(table.prior) if prior is None else table.prior - prior
    error = np.sqrt(share @ (proba - table.prior) ** 2 / found.n)
    agreement, covote = agreement_of_posterior(found.patterns, share, proba, table, found.n)
    gold_n = 0 if gold is None else len(gold.labels)
    test = None if gold is None or not gold_n else gold_test(gold, rng)
    return Evidence(
        found=found,
        table=table,
        lead_z=_ratio(table.accuracy - table.chance, table.lead_error),
        agreement=agreement,
        covote=covote,
        prior_given=prior,
        prior_z=_ratio(gap, error),
        gold=test,
        gold_n=gold_n,
    )


def _ratio(gap: FloatArray, error: FloatArray) -> FloatArray:
    """Return gap / error, finite also where the error is zero."""
    return np.where(np.abs(gap) < 1e-12, 0.0, gap / np.maximum(error, 1e-12))
