"""Metrics with absolute gaps between groups as linear programs."""

import numpy as np

from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._polyhedral import Program
from karat.metrics import FairMetric, MetricBase
from karat.metrics.rates import off_diagonal

__all__ = ["fair_program"]


def fair_program(metric: MetricBase, columns: Columns) -> Program:
    """Return ``−(1−λ)⟨cost, r⟩ − λ⟨violation, |gaps|⟩`` over confusions (groups, k, k) as rows.

    A helper z is the size of each gap, ``−z ≤ gap ≤ z``. P(G, Y) is the same for every classifier,
    so rates and gaps are linear in the confusions.
    """
    assert isinstance(metric, FairMetric)
    m, k = metric.n_groups, metric.n_classes
    truth = sum(points[0] for points in columns.points).reshape(m, k, k).sum(axis=2)
    rows, predicted = off_diagonal(k)
    q = len(rows)
    rates = np.zeros((m, q, m, k, k))  # rates[g, e]: the row whose product is that error rate
    overall = np.zeros((q, m, k, k))
    for e, (i, j) in enumerate(zip(rows, predicted, strict=True)):
        overall[e, :, i, j] = 1.0 / truth[:, i].sum()
        for g in range(m):
            rates[g, e, g, i, j] = 1.0 / truth[g, i]
    gaps = np.concatenate([rates[u] - rates[v] for u, v in metric._pairs()]).reshape(-1, m * k * k)
    sizes = -np.eye(len(gaps))
    return Program(
        linear=-(1 - metric.tradeoff) * metric.cost @ overall.reshape(q, -1),
        price=-metric.tradeoff * metric.violation.ravel(),
        above_x=np.vstack([gaps, -gaps]),
        above_z=np.vstack([sizes, sizes]),
        limit=np.zeros(2 * len(gaps)),
    )
