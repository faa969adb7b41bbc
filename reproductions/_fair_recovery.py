"""Figure 5.3 of Hiranandani 2021: how close elicited fair metrics are to the oracle's."""

from itertools import product
from math import ceil, comb, log2, pi
from typing import Any

import numpy as np
from _drawn_metrics import Array, draw_fair, ideal_space
from _elicit_common import ask_all
from _show import Promise, number, say, show_table

from karat.elicit import Elicitation, RateSpace
from karat.metrics import FairMetric

__all__ = ["run_recovery", "thesis_count"]

_TOL = 1e-3
_SIZES = (2, 3, 4, 5)
_COLUMNS = ("‖a−â‖ mean", "‖B−B̂‖ mean", "median", "|λ−λ̂| mean", "median", "above .1")
_PRINTED = ((2, 2), (2, 3), (3, 2))  # where the algorithm as printed is run too


def run_recovery(*, quick: bool) -> list[Promise]:
    """Print Figure 5.3 as a table; return what is promised."""
    say(
        "Recovering fair metrics. The questions are those of the bisection, and beside them those "
        "of Algorithm 5.1 as section 5.5.1 counts them: 16(q−1)·⌈log2(π/2ε)⌉ for each of 1 + 2M "
        "slopes, M pairs of groups, and 4·⌈log2(1/ε)⌉ for λ. Where λ is near 0 answers tell little "
        "of B, which the means of B show; “above .1” counts metrics whose λ is far off.\n"
    )
    sizes = [(2, 2), (2, 3), (3, 2)] if quick else list(product(_SIZES, _SIZES))
    rows, errors, shares = [], [], []
    for k, m in sizes:
        n = 10 if quick else 100
        found, asked = _errors(k, m, n, strategy="bisection")
        errors.append(found)
        count = thesis_count(k, m)
        shares.append(asked / count)
        rows.append([str(k), str(m), str(n), *_cells(found), f"{asked:.0f}", str(count)])
    columns = ["k", "m", "metrics", *_COLUMNS, "questions", "Algorithm 5.1"]
    show_table(f"Figure 5.3: errors of (a, B, λ), tolerance {_TOL:g}", columns, rows)
    promises = [
        Promise("Figure 5.3, greatest mean error of a", _worst(errors, 0), 0.005, at_most=True),
        Promise("Figure 5.3, greatest median error of B", _worst(errors, 1), 0.01, at_most=True),
        Promise("Figure 5.3, greatest median error of λ", _worst(errors, 2), 0.005, at_most=True),
        Promise("Figure 5.3, greatest mean error of λ", _worst_mean(errors), 0.01, at_most=True),
        Promise("Figure 5.3, questions beside Algorithm 5.1's", max(shares), 0.1, at_most=True),
    ]
    return promises + _as_printed(quick=quick)


def thesis_count(k: int, m: int, tol: float = _TOL) -> int:
    """Return the questions of Algorithm 5.1 as section 5.5.1 counts them."""
    q = k * k - k
    slope = 16 * (q - 1) * ceil(log2(pi / 2 / tol))
    return (1 + 2 * comb(m, 2)) * slope + 4 * ceil(log2(1 / tol))


def _as_printed(*, quick: bool) -> list[Promise]:
    """Run Algorithm 5.1 as printed on a few metrics; return what is promised."""
    n = 1 if quick else 10
    rows, shares = [], []
    for k, m in _PRINTED[:1] if quick else _PRINTED:
        found, asked = _errors(k, m, n, strategy="corrected")
        shares.append(asked / thesis_count(k, m))
        rows.append(
            [str(k), str(m), str(n), *_cells(found), f"{asked:.0f}", str(thesis_count(k, m))]
        )
    columns = ["k", "m", "metrics", *_COLUMNS, "questions", "section 5.5.1"]
    show_table("Algorithm 5.1 as printed, on the first metrics", columns, rows)
    return [
        # Besides those counted, one question for the sign of each weight.
        Promise("Algorithm 5.1, questions by section 5.5.1", max(shares), 1.02, at_most=True)
    ]


def _errors(k: int, m: int, n: int, *, strategy: str) -> tuple[Array, float]:
    """Return the errors (n, 3) of a, B and λ, and the mean number of questions."""
    rng, space = np.random.default_rng(0), ideal_space(k, m)
    results = [_error(space, draw_fair(rng, k, m), strategy) for _ in range(n)]
    return np.array([error for error, _ in results]), float(
        np.mean([asked for _, asked in results])
    )


def _error(space: RateSpace, truth: FairMetric, strategy: str) -> tuple[list[float], int]:
    result = ask_all(Elicitation(space, strategy=strategy, tol=_TOL), truth)
    metric: Any = result.metric
    found = metric.normalized()
    return [
        float(np.linalg.norm(found.cost - truth.cost)),
        float(np.linalg.norm(found.violation - truth.violation)),
        abs(found.tradeoff - truth.tradeoff),
    ], result.n_queries


def _worst(errors: list[Array], part: int) -> float:
    """Return the greatest error of a part over all k and m: a mean for a, or else a median."""
    middle = np.median if part else np.mean
    return float(max(middle(error[:, part]) for error in errors))


def _worst_mean(errors: list[Array]) -> float:
    """Return the greatest mean error of λ over all k and m."""
    return float(max(error[:, 2].mean() for error in errors))


def _cells(errors: Array) -> list[str]:
    mean, median = errors.mean(axis=0), np.median(errors, axis=0)
    shown = (mean[0], mean[1], median[1], mean[2], median[2])
    return [*(number(float(value), 4) for value in shown), str(int((errors[:, 2] > 0.1).sum()))]
