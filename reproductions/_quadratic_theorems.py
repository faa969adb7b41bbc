"""What Hiranandani 2021 proves of quadratic metrics: Theorems 6.1 and 6.2, and Corollary D.1."""

import warnings
from math import ceil, log2, pi
from typing import Any

import numpy as np
from _deployed import Deployed
from _drawn_metrics import draw_quadratic, ideal_space
from _elicit_common import ask_all
from _elicit_noise import growth_promises
from _growth import exponent
from _least_questions import bits_of_a_sphere
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import Elicitation, MetricOracle, RateSpace
from karat.elicit._problems_general import QuadraticRates
from karat.exceptions import KaratWarning
from karat.metrics import QuadraticMetric

__all__ = ["run_quadratic_finite", "run_quadratic_least", "run_quadratic_noise"]

_LEVELS = (1e-5, 1e-4, 1e-3, 1e-2)  # of ε_Ω, in units of the radius of the search
_FINE = 1e-5
_SIZES = (100, 1000, 10_000, 100_000)
_LAW = LogisticLaw.binary(5.0)
_CELLS = _LAW.proba(-1 + 2 * (np.arange(2001) + 0.5) / 2001)


def run_quadratic_noise(*, quick: bool) -> list[Promise]:
    """Print errors against ε_Ω (Theorem 6.1); return what is promised."""
    space = ideal_space(2)
    runs, levels = (5, _LEVELS[1::2]) if quick else (20, _LEVELS)
    rows, grown = [], []
    for strategy in ("bisection",) if quick else ("corrected", "bisection"):
        errors = []
        for level in levels:
            each = [_noisy(space, strategy, 0.1 * space.radius * level, s) for s in range(runs)]
            errors.append(np.median(each, axis=0))
        for name, column in zip("aB", np.array(errors).T, strict=True):
            found = exponent(levels, column)
            rows.append([name, strategy, *(f"{value:.2g}" for value in column), number(found)])
            if strategy == "bisection":
                grown.append((f"Theorem 6.1, {strategy}, {name}", strategy, found))
    say(
        "Answers that are wrong, by chance, where two values differ by less than ε_Ω (in units of "
        "the radius ϱ of the ball around each place). Theorem 6.1 bounds errors by √(ϱ + ε_Ω/ϱ): "
        "the corrected search compares neighbours in a ball that bends with the metric, and the "
        "bend is an error of its own, on which that of ε_Ω sits. Opposite points have neither: the "
        "bend cancels, and errors are proportional to ε_Ω.\n"
    )
    title = f"Theorem 6.1: median error of {runs} metrics of two rates, tolerance {_FINE:g}"
    columns = ["error of", "strategy", *(f"ε_Ω = {v:g}ϱ" for v in levels), "exponent"]
    show_table(title, columns, rows)
    return growth_promises(grown)


def _noisy(space: RateSpace, strategy: str, noise: float, seed: int) -> list[float]:
    truth = draw_quadratic(np.random.default_rng(seed), 2)
    procedure = Elicitation(space, "quadratic", strategy=strategy, tol=_FINE)
    return _apart(ask_all(procedure, MetricOracle(truth, noise=noise, rng=seed)).metric, truth)


def _apart(metric: Any, truth: QuadraticMetric) -> list[float]:
    """Return the errors of a and B."""
    found = metric.normalized()
    return [
        float(np.linalg.norm(found.linear - truth.linear)),
        float(np.linalg.norm(found.quadratic - truth.quadratic)),
    ]


def run_quadratic_least(*, quick: bool) -> list[Promise]:
    """Print Theorem 6.2 beside the questions that are asked; return what is promised."""
    rows, over = [], []
    for k, strategy, people in _searches(quick=quick):
        space, q = ideal_space(k), k * k - k
        tried = [_asked(space, k, strategy, seed) for seed in range(people)]
        angle = float(np.median([error for error, _ in tried]))
        asked = float(np.mean([count for _, count in tried]))
        unknown = (q * q + 3 * q) // 2
        least = bits_of_a_sphere(unknown, angle)
        if strategy == "bisection":
            over.append(asked / least)
        cells = [str(k), str(q), str(unknown), strategy, number(angle, 4)]
        rows.append([*cells, f"{least:.0f}", f"{asked:.0f}", number(asked / least)])
    say(
        "Theorem 6.2: (a, B) of norm 1 is a point of a sphere, one answer is one bit, and 2^n caps "
        "have to hold half of the sphere for the median angle to be what it is. The metrics are "
        "uniform on that sphere, so that no constant is left open, as one is in the thesis. The "
        "active strategy is asked as many questions as the bisection.\n"
    )
    columns = ["k", "q", "weights", "strategy", "median angle", "least", "questions", "ratio"]
    title = "Theorem 6.2: least number of questions for the median angle reached"
    show_table(title, columns, rows)
    return [Promise("Theorem 6.2, bisection over the least", max(over), 2.5, at_most=True)]


def _searches(*, quick: bool) -> list[tuple[int, str, int]]:
    if quick:
        return [(2, "bisection", 10)]
    tried = [(k, s, 10 if k > 2 else 20) for k in (2, 3) for s in ("corrected", "bisection")]
    return [*tried, (4, "bisection", 10), (2, "active", 10)]


def _asked(space: RateSpace, k: int, strategy: str, seed: int) -> tuple[float, int]:
    """Return the angle between a random metric and what is found of it, and the questions."""
    truth, tol = draw_quadratic(np.random.default_rng(seed), k), QuadraticRates.default_tol
    metric: Any
    if strategy == "active":
        most = (k * k - k + 2) * (1 + (k * k - k - 1) * ceil(log2(pi / tol)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            procedure = Elicitation(space, "quadratic", agreement=1.0, max_queries=most, rng=seed)
            result = procedure.run(MetricOracle(truth))
        metric, asked = result.metric, result.n_queries
    else:
        found = ask_all(Elicitation(space, "quadratic", strategy=strategy, tol=tol), truth)
        metric, asked = found.metric, found.n_queries
    chord = float(np.linalg.norm(_apart(metric, truth)))
    return 2.0 * float(np.arcsin(min(1.0, chord / 2))), asked


def run_quadratic_finite(*, quick: bool) -> list[Promise]:
    """Print errors against the size of a sample (Corollary D.1); return what is promised."""
    sizes = _SIZES[:2] if quick else _SIZES
    runs, tol = (1, 0.01) if quick else (20, _FINE)
    table = [np.median([_sampled(n, seed, tol) for seed in range(runs)], axis=0) for n in sizes]
    columns = np.array(table).T
    names = ("‖a−â‖", "‖B−B̂‖", "|φ(r̂) − φ(r)|")
    grown = [exponent(sizes, column) for column in columns]
    rows = [
        [name, *(f"{value:.2g}" for value in column), number(found)]
        for name, column, found in zip(names, columns, grown, strict=True)
    ]
    say(
        "Corollary D.1: the questions are chosen by the rates of n rows, and the oracle meets both "
        "classifiers in the population. The corollary wants n ∝ 1/ε_Ω²; the last line is that "
        "ε_Ω, the greatest difference between a value shown and the true one. Theorem 6.1 would "
        "bound the errors by its root, n^-¼; those of opposite points go with ε_Ω itself.\n"
    )
    title = f"Corollary D.1: medians over samples of the law, bisection, tolerance {tol:g}"
    show_table(title, ["of", *(f"n = {n:,}" for n in sizes), "exponent"], rows)
    # one sample of each size says little of an exponent
    promised = (
        [(names[2], grown[2], -0.1)] if quick else zip(names, grown, [-0.35] * 3, strict=True)
    )
    return [
        Promise(f"Corollary D.1, exponent of {name} in n", found, wanted, at_most=True)
        for name, found, wanted in promised
    ]


def _sampled(n: int, seed: int, tol: float) -> list[float]:
    """Return the errors of a and B, and the greatest of values, for a sample of n rows."""
    x, y = _LAW.sample(n, rng=np.random.default_rng([n, seed]))
    space = RateSpace.from_proba(y, _LAW.proba(x))
    truth = draw_quadratic(np.random.default_rng(seed), 2)
    oracle = Deployed(truth, space, np.asarray(_CELLS))
    found = ask_all(Elicitation(space, "quadratic", strategy="bisection", tol=tol), oracle)
    return [*_apart(found.metric, truth), oracle.apart]
