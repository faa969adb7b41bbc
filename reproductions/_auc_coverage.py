"""How often limits of weighted areas hold the truth, over samples from laws with a known one."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from _show import Promise, number, say, show_table
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from karat.exceptions import SmallSampleWarning
from karat.ranking import (
    FprBand,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    Weight,
    roc_at,
    weighted_auc,
)

__all__ = ["run_coverage"]

_LEVEL = 0.95
_AT = 0.1
_BOX = FprBand(0, 0.3) & TprBand(0.5, 1)
_STEP = FprBand(0, 0.1)
_WEIGHTS: dict[str, Weight] = {
    "AUC": Uniform(),
    "FPR ≤ .1": _STEP,
    "two steps": PiecewiseLinear([0, 0.05, 0.05, 0.2], [1, 1, 0.5, 0]),
    "(1 − FPR)^9": Power(9),
}


@dataclass(frozen=True)
class Law:
    """Scores of both classes, and the curve of the population."""

    name: str
    n_positive: int
    n_negative: int
    draw: Callable[[np.random.Generator, int, bool], Any]
    roc: Callable[[float], float]
    corners: Sequence[float] = ()  # false-positive rates at which ties begin or end

    def sample(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return labels and scores."""
        ones, zeros = self.n_positive, self.n_negative
        y = np.arange(ones + zeros) < ones
        return y, np.concatenate([self.draw(rng, ones, True), self.draw(rng, zeros, False)])

    def area(self, weight: Weight) -> float:
        """Return the true area, by quadrature."""
        return self._integral(lambda u: self.roc(u) * float(weight(u)))

    def strict(self, weight: Weight) -> float:
        """Return the truth by eq. 1: the weight of a tie is that of its lowest rate."""
        if not self.corners:
            return self.area(weight)
        ends = pairwise([0.0, *self.corners, 1.0])
        return math.fsum((b - a) * self.roc(a) * float(weight(a)) for a, b in ends)

    def box(self) -> float:
        """Return the true area in the box."""
        low, high = _BOX.tpr.low, _BOX.tpr.high
        return self._integral(
            lambda u: (min(max(self.roc(u), low), high) - low) * (u <= _BOX.fpr.high)
        )

    def _integral(self, function: Callable[[float], float]) -> float:
        # Between neighbouring jumps of any weight and corners of the curve all is smooth.
        cuts = sorted({0.0, 0.001, 0.01, 0.05, _AT, 0.2, 0.3, 1.0, *self.corners})
        parts = (quad(function, a + 1e-15, b - 1e-15, epsabs=1e-12)[0] for a, b in pairwise(cuts))
        return math.fsum(parts)


def _normal(n_positive: int, n_negative: int) -> Law:
    return Law(
        f"normal, {n_positive} + {n_negative}", n_positive, n_negative,
        lambda rng, n, up: rng.normal(size=n) + 1.5 * up,
        lambda u: float(ndtr(1.5 + ndtri(u))),
    )  # fmt: skip


def _levels() -> Law:
    ones, zeros = [0.05, 0.1, 0.2, 0.3, 0.35], [0.35, 0.3, 0.2, 0.1, 0.05]
    fpr, tpr = (np.concatenate([[0.0], np.cumsum(p[::-1])]) for p in (zeros, ones))
    return Law(
        "five levels, 100 + 900", 100, 900,
        lambda rng, n, up: rng.choice(5, size=n, p=ones if up else zeros).astype(float),
        lambda u: float(np.interp(u, fpr, tpr)),
        corners=[float(u) for u in fpr[1:-1]],
    )  # fmt: skip


def run_coverage(*, quick: bool) -> list[Promise]:
    """Print coverage law by law; return what is promised."""
    runs, resampled = (100, 20) if quick else (2000, 2000)
    say(
        f"Coverage of {100 * _LEVEL:g} % limits. 'five levels' has steps of the weights inside its "
        "ties. 'together' is the share of runs in which the limits of all weights, of eq. 1, of a "
        f"two-way area and of the curve at {_AT:g} hold at once. DeLong's limits are asymptotic: "
        "with 20 positives they are too narrow.\n"
    )
    promises: list[Promise] = []
    rows: list[list[str]] = []
    for law in (_normal(100, 900), _levels(), _normal(20, 180)):
        found, together = _covered(law, runs)
        for (name, kind), (share, width) in found.items():
            rows.append([law.name, name, kind, number(share, 3), number(width, 4)])
        rows.append([law.name, "together", "dkw", number(together, 3), ""])
        promises += _promises(law, found, together, runs)
    for law in (_normal(100, 900), _levels()):
        share, width = _bootstrapped(law, resampled)
        rows.append([law.name, "FPR ≤ .1", "bootstrap", number(share, 3), number(width, 4)])
        promises.append(
            _asymptotic(f"{law.name}: coverage of bootstrap, FPR ≤ .1", share, resampled)
        )
    columns = ["law", "area", "limits", "coverage", "mean half-width"]
    title = f"Coverage, {runs:,} samples (bootstrap: {resampled:,})"
    show_table(title, columns, rows)
    return promises


def _promises(law: Law, found: dict, together: float, runs: int) -> list[Promise]:
    least = min(share for (_, kind), (share, _) in found.items() if kind == "dkw")
    made = [
        Promise(f"{law.name}: least coverage of dkw", least, _LEVEL),
        Promise(f"{law.name}: coverage of dkw, all areas together", together, _LEVEL),
    ]
    if law.n_positive >= 100:
        worst = min(share for (_, kind), (share, _) in found.items() if kind == "delong")
        made.append(_asymptotic(f"{law.name}: least coverage of delong", worst, runs))
    return made


def _asymptotic(what: str, share: float, runs: int) -> Promise:
    """Promise what normal limits reach at 100 positives, less three errors of the simulation."""
    noise = 3 * math.sqrt(_LEVEL * (1 - _LEVEL) / runs)
    return Promise(what, share, round(0.93 - noise, 3))


def _covered(law: Law, runs: int) -> tuple[dict, float]:
    """Return coverage and half-width of each area and method, and that of all together."""
    rng = np.random.default_rng(law.n_negative + len(law.corners))
    truth = {name: law.area(weight) for name, weight in _WEIGHTS.items()}
    others = (law.strict(_STEP), law.box(), law.roc(_AT))
    hits: dict[tuple[str, str], list[bool]] = {}
    widths: dict[tuple[str, str], list[float]] = {}
    together = []
    for _ in range(runs):
        y, score = law.sample(rng)
        held = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallSampleWarning)
            for name, kind, true, r in _limits(y, score, truth, others):
                inside = bool(r.lower <= true <= r.upper)
                hits.setdefault((name, kind), []).append(inside)
                widths.setdefault((name, kind), []).append((r.upper - r.lower) / 2)
                held.append(inside or kind != "dkw")
        together.append(all(held))
    found = {key: (float(np.mean(hits[key])), float(np.mean(widths[key]))) for key in hits}
    return found, float(np.mean(together))


def _limits(y: Any, score: Any, truth: dict[str, float], others: Sequence[float]) -> Any:
    """Yield area, method, truth and result."""
    strict, box, point = others
    for name, weight in _WEIGHTS.items():
        for kind in ("dkw", "delong"):
            yield name, kind, truth[name], weighted_auc(y, score, weight=weight, limits=kind)
    yield (
        "FPR ≤ .1, eq. 1",
        "dkw",
        strict,
        weighted_auc(y, score, weight=_STEP, ties="strict", limits="dkw"),
    )
    yield "two-way", "dkw", box, weighted_auc(y, score, weight=_BOX, limits="dkw")
    yield f"curve at {_AT:g}", "dkw", point, roc_at(y, score, fpr=_AT)


def _bootstrapped(law: Law, runs: int) -> tuple[float, float]:
    rng = np.random.default_rng(1)
    true = law.area(_STEP)
    hits, widths = [], []
    for _ in range(runs):
        y, score = law.sample(rng)
        r = weighted_auc(y, score, weight=_STEP, limits="bootstrap", rng=rng)
        hits.append(r.lower <= true <= r.upper)
        widths.append((r.upper - r.lower) / 2)
    return float(np.mean(hits)), float(np.mean(widths))
