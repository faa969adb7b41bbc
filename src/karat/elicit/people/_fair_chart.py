"""The chart of metrics that trade errors against gaps between groups."""

import numpy as np
from scipy.special import erfinv

from karat._typing import FloatArray
from karat.elicit.families import FairFamily, SquaredGaps, flattened
from karat.elicit.people._chart import LOG_WEIGHTS, Chart, Part, simplex

__all__ = ["FairChart"]

_LOG_WORTH = 2.0  # prior standard deviation of the shared log-worth of gaps
_ALMOST_ALL = 1.0 - 1e-12  # λ = 1 has no finite parameter
_SPARSE = 3.0  # cubes of normals spread over three times as many orders of magnitude


class FairChart(Chart):
    """Log-ratios of costs, log-ratios of what gaps cost, and the log of what gaps are worth.

    A violation that is quadratic has ``B = D^½ R D^½``: log-ratios of D, and numbers from which
    the correlations R are read.
    """

    family: FairFamily

    def __init__(self, family: FairFamily) -> None:
        q = family.space.q
        # All gaps of all pairs together have one scale, which the worth fixes.
        gaps = 0 if family.violation is not None else family.n_pairs * q - 1
        joint = family.n_pairs * q * (q - 1) // 2 if gaps and _has_correlations(family) else 0
        scale = _SPARSE if family.sparse else 1.0
        center = scale * LOG_WEIGHTS
        parts = (
            Part(
                "cost of errors", 0 if family.cost is not None else q - 1, "factor", center, scale
            ),
            Part("one gap against another", gaps, "factor", center, scale),
            Part("gaps that come together", joint, "distance", 1.0, seen=_correlation),
            Part("worth of gaps", 1, "factor", _LOG_WORTH),
        )
        super().__init__(family, parts)
        self._ends = np.cumsum([part.size for part in parts])

    def parameters(self, z: FloatArray) -> FloatArray:
        n, family = len(z), self.family
        cost, gaps, joint, worth = np.split(z, self._ends[:-1], axis=1)
        columns = []
        if cost.shape[1]:
            columns.append(flattened(simplex(cost), family.sparse))
        if gaps.shape[1]:
            found = self._violation(simplex(gaps), joint).reshape(n, -1)
            columns.append(flattened(found, family.sparse))
        parameters = np.hstack([*columns, np.ones((n, 1))])
        weights, violation, _ = family.read(parameters)
        odds = np.exp(np.clip(worth[:, 0], -300.0, 300.0)) * weights.sum(axis=1)
        odds /= self._gap(violation)
        share = np.minimum(odds / (1.0 + odds), _ALMOST_ALL)
        parameters[:, -1] = np.sqrt(2.0) * erfinv(share)
        return parameters

    def features(self, points: FloatArray) -> FloatArray:
        overall, gaps = self.family.space.parts_of(points)
        return np.hstack([overall, self.family.features(gaps).reshape(len(points), -1)])

    def feature_weights(self, parameters: FloatArray) -> FloatArray:
        cost, violation, share = self.family.read(parameters)
        gaps = share[:, None] * violation.reshape(len(share), -1)
        return -np.hstack([(1.0 - share)[:, None] * cost, gaps])

    def _violation(self, weights: FloatArray, joint: FloatArray) -> FloatArray:
        """Return parameters of the violation whose weights (n, pairs · q) have sum 1."""
        family = self.family
        if not isinstance(family, SquaredGaps):
            return weights
        roots = np.sqrt(weights)
        if family.diagonal:
            return roots
        n, q = len(weights), family.space.q
        rows = np.tile(np.eye(q), (n, family.n_pairs, 1, 1))
        below = np.tril_indices(q, -1)
        rows[..., below[0], below[1]] = joint.reshape(n, family.n_pairs, -1)
        rows /= np.linalg.norm(rows, axis=3, keepdims=True)  # now R = rows rowsᵀ
        return np.asarray(roots.reshape(n, family.n_pairs, q, 1) * rows)

    def _gap(self, violation: FloatArray) -> FloatArray:
        """Return what a gap in one rate after the other costs, for violations (n, pairs, f).

        With B that is not diagonal, gaps in all rates at once may cost nothing.
        """
        q = self.family.space.q
        if isinstance(self.family, SquaredGaps):
            alone = np.zeros_like(violation)
            alone[..., :: q + 1] = violation[..., :: q + 1]
            violation = alone
        return self.family.points_per_gap(violation)[0]


def _has_correlations(family: FairFamily) -> bool:
    return isinstance(family, SquaredGaps) and not family.diagonal


def _correlation(z: FloatArray) -> FloatArray:
    return np.asarray(z / np.sqrt(1.0 + z**2))
