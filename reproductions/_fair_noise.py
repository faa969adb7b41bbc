"""Theorem 5.1 of Hiranandani 2021: fair metrics from an oracle that errs where values are near."""

from typing import Any

import numpy as np
from _drawn_metrics import draw_fair, ideal_space
from _elicit_common import ask_all
from _elicit_noise import growth_promises
from _growth import exponent
from _show import Promise, number, say, show_table

from karat.elicit import Elicitation, MetricOracle, RateSpace

__all__ = ["run_fair_noise"]

_LEVELS = (1e-5, 1e-4, 1e-3, 1e-2)  # of ε_Ω, in units of the radius ρ of the common ball
_FINE = 1e-6
_PARTS = ("a", "B", "λ")


def run_fair_noise(*, quick: bool) -> list[Promise]:
    """Print errors against ε_Ω; return what is promised."""
    space = ideal_space(2, 2)
    runs, levels = (5, _LEVELS[1::2]) if quick else (20, _LEVELS)
    rows, grown = [], []
    for strategy in ("bisection",) if quick else ("corrected", "bisection"):
        errors = []
        for level in levels:
            noise = level * space.common_radius
            each = [_errors(space, strategy, noise, seed) for seed in range(runs)]
            errors.append(np.median(each, axis=0))
        for name, column in zip(_PARTS, np.array(errors).T, strict=True):
            found = exponent(levels, column)
            rows.append([name, strategy, *(f"{value:.2g}" for value in column), number(found)])
            grown.append((f"Theorem 5.1, {strategy}, {name}", strategy, found))
    say(
        "Answers that are wrong, by chance, where two values differ by less than ε_Ω. Theorem 5.1 "
        "bounds the errors of a and B by √(ε_Ω/ρ), and that of λ by its root, since Algorithm 5.2 "
        "searches λ with a and B as they were found. karat's bisection asks about opposite points "
        "and takes λ from the slopes: all errors are proportional to ε_Ω.\n"
    )
    title = f"Theorem 5.1: median error of {runs} metrics, two classes and groups, ε = {_FINE:g}"
    columns = ["error of", "strategy", *(f"ε_Ω = {v:g}ρ" for v in levels), "exponent"]
    show_table(title, columns, rows)
    return growth_promises(grown)


def _errors(space: RateSpace, strategy: str, noise: float, seed: int) -> list[float]:
    """Return the errors of a, B and λ of one metric."""
    truth = draw_fair(np.random.default_rng(seed), 2, 2)
    procedure = Elicitation(space, strategy=strategy, tol=_FINE)
    metric: Any = ask_all(procedure, MetricOracle(truth, noise=noise, rng=seed)).metric
    found = metric.normalized()
    return [
        float(np.linalg.norm(found.cost - truth.cost)),
        float(np.linalg.norm(found.violation - truth.violation)),
        abs(found.tradeoff - truth.tradeoff),
    ]
