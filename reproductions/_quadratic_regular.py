"""Figures 6.5 and 6.6 of Hiranandani 2021: quadratic metrics whose slopes are nowhere near 0.

The corrected search (Algorithm 6.1) is run for many metrics at once, without the machinery of a
procedure; on the metrics of Figure 6.3 it finds what `Elicitation(space, "quadratic")` finds.
"""

from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np
from _drawn_metrics import Array, draw_quadratic, ideal_space
from _elicit_common import ask_all
from _show import Promise, number, say, show_table

from karat.elicit import Elicitation
from karat.elicit.search import curvature_of_ratios, direction, null_vectors, off_slope
from karat.metrics import QuadraticMetric

__all__ = ["run_regular"]

_TOL, _CYCLES = 0.01, 4  # as in section 6.5.1
_BALL = 0.2  # the sphere that the thesis assumes
_CLEAR = 0.01  # what the first entry of a slope has to exceed
_SIZES = (2, 3, 4, 5)
_FRACTIONS = (2, 3)  # numbers of classes for which Figure 6.6 is taken


class _Metrics(NamedTuple):
    """Quadratic metrics ⟨a, r⟩ + ½ rᵀBr around the rates of guessing."""

    linear: Array  # (n, q)
    bend: Array  # (n, q, q)

    def gradients(self, places: Array) -> Array:
        """Return the gradients (n, places, q)."""
        return np.asarray(self.linear[:, None] + places @ self.bend)


def run_regular(*, quick: bool) -> list[Promise]:
    """Print Figures 6.5 and 6.6 as tables; return what is promised."""
    rows, apart = [], _as_karat(quick=quick)
    for k in _SIZES[:2] if quick else _SIZES:
        errors = {}
        for regular in (True, False):
            metrics = _drawn(k, 20 if quick else 100, regular=regular)
            errors[regular] = _errors(metrics, k)
        bound = ((k * k - k), (k * k - k) ** 1.5)
        cells = [str(k), str(k * k - k)]
        for part in range(2):
            means = [float(errors[regular][:, part].mean()) for regular in (True, False)]
            medians = [float(np.median(errors[regular][:, part])) for regular in (True, False)]
            cells += [*(number(value, 3) for value in (*means, *medians))]
            cells.append(number(medians[0] / bound[part], 4))
        worse = means[1] / means[0]
        whole = [float(np.median(errors[regular][:, 2])) for regular in (True, False)]
        rows.append([*cells, *(number(value, 3) for value in whole)])
    say(
        "Algorithm 6.1 divides by the first entries of slopes; Assumption 6.4 wants them away from "
        f"0. 'Regular' metrics have first entries above {_CLEAR} at all places, the others are as "
        "they are drawn; the thesis draws the errors and prints no figures. The bound of Theorem "
        "6.1 grows as q for a and as q√q for B. The null vector of the same slopes divides by "
        f"nothing and needs no such assumption. Sphere of {_BALL}, tolerance {_TOL}.\n"
    )
    columns = ["k", "q"]
    for part, scale in (("a", "q"), ("B", "q√q")):
        columns += [f"{part}: mean, regular", "random", "median, regular", "random", f"/ {scale}"]
    columns += ["B, null vector: median, regular", "random"]
    show_table("Figure 6.5: errors of Algorithm 6.1", columns, rows)
    kept = _fractions(quick=quick)
    return [
        Promise("Algorithm 6.1 for many metrics, from karat's", apart, 1e-6, at_most=True),
        # with few entries hardly any slope is near 0
        Promise("Figure 6.5, mean error of B, random / regular", worse, 1.0 if quick else 1.2),
        Promise("Figure 6.5, the same of the null vector", whole[1] / whole[0], 1.3, at_most=True),
        *kept,
    ]


def _fractions(*, quick: bool) -> list[Promise]:
    """Print the ratio of estimated to true fractions of the entries of slopes (Figure 6.6)."""
    runs = 100 if quick else 1000
    shares = (0.01, 0.05, 0.5, 0.95, 0.99)
    rows, off = [], {}
    for k in _FRACTIONS[:1] if quick else _FRACTIONS:
        for regular in (True, False):
            metrics = _drawn(k, runs, regular=regular)
            true, found = metrics.gradients(_places(k)), _slopes(metrics, k)
            ratio = (found[..., 1:] / found[..., :1]) / (true[..., 1:] / true[..., :1])
            far = off[k, regular] = float(np.mean(np.abs(ratio - 1.0) > 0.1))
            name = "regular" if regular else "random"
            cells = [number(float(value), 3) for value in np.quantile(ratio, shares)]
            rows.append([str(k), name, *cells, f"{100 * far:.1f} %"])
    columns = ["k", "metrics", *(f"{share:g}" for share in shares), "off by more than 10 %"]
    show_table(f"Figure 6.6: quantiles of estimated / true fractions, {runs} runs", columns, rows)
    less = min(off[k, False] - off[k, True] for k, regular in off if regular)
    return [Promise("Figure 6.6, share of fractions far off, random less regular", less, 0.0)]


def _drawn(k: int, n: int, *, regular: bool) -> _Metrics:
    """Draw metrics of Definition 6.3; regular ones until their slopes are clear everywhere."""
    rng, kept = np.random.default_rng(0), []
    while len(kept) < n:
        metric = draw_quadratic(rng, k)
        one = _Metrics(metric.linear[None], metric.quadratic[None])
        if not regular or float(np.abs(one.gradients(_places(k))[..., 0]).min()) > _CLEAR:
            kept.append(metric)
    return _Metrics(
        np.stack([metric.linear for metric in kept]), np.stack([m.quadratic for m in kept])
    )


def _places(k: int, ball: float = _BALL) -> Array:
    """Return the rates of guessing, a step along every axis, and one back along the first."""
    q = k * k - k
    return 1.0 / k + 0.9 * ball * np.vstack([np.zeros(q), np.eye(q), -np.eye(q)[:1]])


def _slopes(metrics: _Metrics, k: int, ball: float = _BALL) -> Array:
    """Return the slopes (n, places, q) as Algorithm 4.2 finds them, in balls of a tenth."""
    steep = metrics.gradients(_places(k, ball))
    signs = np.where(steep < 0, -1.0, 1.0)
    radius, (n, sites, q) = 0.1 * ball, steep.shape
    angles = np.full((n, sites, q - 1), np.pi / 4)
    for j in np.tile(np.arange(q - 1), _CYCLES):
        low, high = np.zeros((n, sites)), np.full((n, sites), np.pi / 2)
        for _ in range(ceil(log2(np.pi / 2 / _TOL))):
            at = low[..., None] + (high - low)[..., None] * np.linspace(0.0, 1.0, 5)
            tried = np.repeat(angles[:, :, None], 5, axis=2)
            tried[..., j] = at
            ways = signs[:, :, None] * direction(tried)
            bent = np.matmul(ways.reshape(n, -1, q), metrics.bend).reshape(ways.shape)
            value = (ways * (steep[:, :, None] + radius / 2 * bent)).sum(axis=-1)
            rises = np.diff(value, axis=-1) > 0
            for i in range(3):  # down then up cannot be; taken as up, left to right
                rises[..., i] |= rises[..., i + 1]
            falls = np.where(rises.all(axis=-1), 4, np.argmin(rises, axis=-1))
            first = np.array([0, 0, 1, 2, 2])[falls]
            low = np.take_along_axis(at, first[..., None], axis=-1)[..., 0]
            high = np.take_along_axis(at, first[..., None] + 2, axis=-1)[..., 0]
        angles[..., j] = (low + high) / 2
    return np.asarray(signs * direction(angles))


def _by_ratios(slopes: Array, k: int, ball: float) -> _Metrics:
    """Return the metrics that equation 6.18 (without its slips) makes of slopes."""
    bend = curvature_of_ratios(list(slopes.swapaxes(0, 1)), 0.9 * ball)
    linear = slopes[:, 0] - bend.sum(axis=2) / k
    return _of_norm_one(linear, bend)


def _by_null_vector(slopes: Array, k: int) -> _Metrics:
    """Return the metrics whose gradients are along all slopes at once."""
    q = slopes.shape[-1]
    rows, columns = np.triu_indices(q)
    designs = np.zeros((q + 2, q, q + len(rows)))
    designs[:, range(q), range(q)] = 1.0
    for at, (i, j) in enumerate(zip(rows, columns, strict=True), start=q):
        # √2, so that the norm of the vector is that of a and B
        scale = 1.0 if i == j else 2**-0.5
        designs[:, i, at] = scale * _places(k)[:, j]
        designs[:, j, at] = scale * _places(k)[:, i]
    equations = [off_slope(slopes[:, s], design) for s, design in enumerate(designs)]
    weights = null_vectors(np.concatenate(equations, axis=1))
    along = sum(
        (slopes[:, s] * (weights @ design.T)).sum(axis=1) for s, design in enumerate(designs)
    )
    weights = np.where(along < 0, -1.0, 1.0)[:, None] * weights
    bend = np.zeros((len(weights), q, q))
    bend[:, rows, columns] = weights[:, q:] * np.where(rows == columns, 1.0, 2**-0.5)
    bend[:, columns, rows] = bend[:, rows, columns]
    return _of_norm_one(weights[:, :q], bend)


def _of_norm_one(linear: Array, bend: Array) -> _Metrics:
    size = np.sqrt((linear**2).sum(axis=1) + (bend**2).sum(axis=(1, 2)))
    return _Metrics(linear / size[:, None], bend / size[:, None, None])


def _errors(metrics: _Metrics, k: int) -> Array:
    """Return the errors (n, 3): of a and of B by ratios, and of B by the null vector."""
    slopes = _slopes(metrics, k)
    found, other = _by_ratios(slopes, k, _BALL), _by_null_vector(slopes, k)
    return np.column_stack(
        [
            np.linalg.norm(found.linear - metrics.linear, axis=1),
            np.linalg.norm(found.bend - metrics.bend, axis=(1, 2)),
            np.linalg.norm(other.bend - metrics.bend, axis=(1, 2)),
        ]
    )


def _as_karat(*, quick: bool) -> float:
    """Return the largest difference from what karat's procedure finds, on a few metrics."""
    worst = 0.0
    for k in (2,) if quick else (2, 3):
        space, metrics = ideal_space(k), _drawn(k, 2, regular=False)
        ours = _by_ratios(_slopes(metrics, k, space.radius), k, space.radius)
        for n in range(2):
            truth = QuadraticMetric(metrics.linear[n], metrics.bend[n])
            procedure = Elicitation(space, "quadratic", strategy="corrected", tol=_TOL)
            found: Any = ask_all(procedure, truth).metric
            unit = found.normalized()
            worst = max(worst, float(np.abs(unit.linear - ours.linear[n]).max()))
            worst = max(worst, float(np.abs(unit.quadratic - ours.bend[n]).max()))
    return worst
