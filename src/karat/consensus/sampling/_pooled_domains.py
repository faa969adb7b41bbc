"""The tables of all domains as one problem, for models in which domains share error rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.consensus.model import Errors, Model, Problem, build_problem
from karat.votes.tables import VoteTable

__all__ = ["PooledDomains", "Structure", "build_pooled", "log_prior", "rows_of"]

Structure = str  # "coupled" or "hierarchical"
# Prior weight of each class in a domain's shares. A uniform prior charges log(n + 1) nats to every
# domain of n items without a rare class, while domains that share pay but once for voters who miss
# that class: with many small domains the posterior then moves to such voters.
_SHARES = 0.5


@dataclass(frozen=True, slots=True)
class PooledDomains:
    """The tables of all domains as the arrays that the compiled sweeps read."""

    structure: Structure
    problems: tuple[Problem, ...]  # of each domain by itself
    voters: tuple[IntArray, ...]  # which of all voters a domain has
    domain: IntArray  # patterns of domain d are domain[d]:domain[d+1]
    start: IntArray
    cell: IntArray
    counted: BoolArray | None  # votes that are evidence of the label; None: all
    count: FloatArray
    gold: IntArray
    present: IntArray  # domains × voters: 1 where the voter voted
    prior: FloatArray  # rows × cells
    weight_prior: FloatArray
    n_classes: int
    n_outcomes: int
    concentration: tuple[float, float] | None  # fixed (α, γ), or None if they are drawn

    @property
    def n_domains(self) -> int:
        """Number of domains."""
        return len(self.problems)

    @property
    def n_voters(self) -> int:
        """Number of voters in all domains together."""
        return int(self.present.shape[1])

    @property
    def symmetric(self) -> bool:
        """Whether a voter errs on all classes at one rate."""
        return self.problems[0].model.errors == "symmetric"


def build_pooled(
    tables: Sequence[VoteTable],
    voters: Sequence[IntArray],
    n_voters: int,
    structure: Structure,
    errors: Errors,
    concentration: tuple[float, float] | None = None,
) -> PooledDomains:
    """Put the tables of all domains into one.

    ``voters`` says which of all ``n_voters`` voters the columns of each table are; a
    ``concentration`` (α, γ) is kept fixed, by default both are drawn.
    """
    problems = tuple(build_problem(Model(structure, errors), table) for table in tables)
    outcomes, classes = tables[0].n_outcomes, tables[0].n_classes
    present = np.zeros((len(tables), n_voters), dtype=np.int64)
    starts: list[Any] = [np.zeros(1, dtype=np.int64)]
    cells, offset = [], 0
    for d, (table, here) in enumerate(zip(tables, voters, strict=True)):
        present[d, np.asarray(here)[np.unique(table.voter)]] = 1
        starts.append(table.start[1:] + offset)
        cells.append(np.asarray(here)[table.voter] * outcomes + table.outcome)
        offset += int(table.start[-1])
    patterns = np.cumsum([0, *(t.n_patterns for t in tables)])
    return PooledDomains(
        structure=structure,
        problems=problems,
        voters=tuple(np.asarray(v, dtype=np.int64) for v in voters),
        domain=patterns.astype(np.int64),
        start=np.concatenate(starts).astype(np.int64),
        cell=np.concatenate(cells).astype(np.int64),
        counted=_counted(tables),
        count=np.concatenate([t.count for t in tables]),
        gold=np.concatenate([t.gold for t in tables]).astype(np.int64),
        present=present,
        prior=_row_prior(problems[0]),
        weight_prior=np.full(classes, _SHARES),
        n_classes=classes,
        n_outcomes=outcomes,
        concentration=concentration,
    )


def _counted(tables: Sequence[VoteTable]) -> BoolArray | None:
    """Return which of all votes are evidence of the label, None if all are."""
    if all(t.counted is None for t in tables):
        return None
    parts = [np.ones(len(t.voter), dtype=bool) if t.counted is None else t.counted for t in tables]
    return np.concatenate(parts)


def _row_prior(problem: Problem) -> FloatArray:
    """Return the prior of a voter's rows: (wrong, right), (abstains, votes), or one per class."""
    if problem.model.errors == "class-conditional":
        return problem.prior.copy()
    rows = [problem.prior[0]]
    if problem.table.n_outcomes > problem.table.n_classes:
        rows.append(np.ones(2))
    return np.array(rows)


def log_prior(pooled: PooledDomains, rows: FloatArray) -> float:
    """Return the log-density of rows (..., rows, cells) under their prior, up to a constant."""
    return float(np.sum((pooled.prior - 1.0) * np.log(np.clip(rows, 1e-12, None))))


def rows_of(pooled: PooledDomains, theta: FloatArray) -> FloatArray:
    """Return a domain's rows, voters × rows × cells, from θ[voter, outcome, class]."""
    if not pooled.symmetric:
        return np.swapaxes(theta, 1, 2)
    k = pooled.n_classes
    abstains = theta[:, k, 0] if pooled.n_outcomes > k else np.zeros(len(theta))
    wrong = 1.0 - theta[:, 0, 0] / np.maximum(1.0 - abstains, 1e-12)
    rows = np.empty((len(theta), *pooled.prior.shape))
    rows[:, 0] = np.column_stack([wrong, 1.0 - wrong])
    if len(pooled.prior) > 1:
        rows[:, 1] = np.column_stack([abstains, 1.0 - abstains])
    return rows
