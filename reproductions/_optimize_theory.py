"""What Theorems 7.1, 7.2, E.3 and E.4 of Hiranandani (2021) promise at the sizes of Table 7.4."""

from collections.abc import Callable
from functools import cache

import numpy as np
from _optimize_adult import Array
from _show import Promise, say, show_table

from karat.metrics import g_mean
from karat.optimize import FrankWolfeClassifier

__all__ = ["run_theory"]

_TRAIN, _VAL, _ITERATIONS, _DELTA = 32_561, 163, 20, 0.05
_PRIOR = np.array([0.67, 0.33])
_BALANCED = 0.5 / _PRIOR  # the coefficients of the mean of both rates
_LEAST_RATE = 0.5  # of each class, where Lipschitz constant and smoothness are taken
_WANTED, _DRAWS = 0.05, 2000
_INTRODUCTION = """\
Theorems 7.1, 7.2, E.3 and E.4 with numbers. The bounds are of order O(·); here every hidden
constant is 1, the model is right (E‖η − η̂‖ = 0), Assumption 7.1 holds exactly (ν = 0: D = μ, the
constant basis, L = 1, k = 2), and the sizes are those of Table 7.4: {train:,} training rows, {val}
validation rows, {iterations} iterations, δ = .05. Weights are those of the mean of both rates,
classes of shares .67 and .33. The G-mean has no Lipschitz constant where a rate is 0; Q = {q:.2f}
and λ = {smooth:.2f} are taken where both rates are at least .5. "seen" is the 95 % quantile of what
the bound is about: the error of the weights over {draws:,} draws, the loss of the classifier over
{fits}. The last column lets training rows and iterations grow with the validation rows.
"""

Bound = Callable[[float], float]


def run_theory(*, quick: bool) -> list[Promise]:
    """Print bounds beside what is seen; return what is promised."""
    draws, fits = _DRAWS, 40 if quick else 400
    q, smooth = _constants()
    text = _INTRODUCTION.format(
        train=_TRAIN, val=_VAL, iterations=_ITERATIONS, q=q, smooth=smooth, draws=draws,
        fits=fits,
    )  # fmt: skip
    say(text)
    error = _error_seen(_VAL, draws)
    loss = _loss_seen(fits)
    rows: list[tuple[str, Bound, float]] = [
        ("7.1, error of weights", _theorem_7_1, error),
        *((f"E.3, the same, ε = {e:g}", _theorem_e_3(e), error) for e in (1.0, 0.1, 0.001)),
        ("7.2 and E.4, loss in G-mean", _theorem_7_2(q, smooth), loss),
    ]
    lines = []
    for name, bound, seen in rows:
        at, needed = bound(_VAL), _rows_for(bound)
        lines.append([name, f"{at:,.3g}", f"{seen:.3f}", f"{at / seen:,.2g}", f"{needed:.1g}"])
    columns = ["Theorem", f"bound at {_VAL} rows", "seen", "bound / seen", "rows for a bound ≤ .05"]
    show_table("Bounds, constants set to 1", columns, lines)
    say(
        "No loss is above 1, so at these sizes the bounds exclude nothing; what is seen is small. "
        "They tell how errors fall (with the root of the rows) and what they grow with: the bound "
        "of E.3 with 1/ε², although the error that is seen is the same for every ε. Theorem 7.2 "
        "rests on κ, taken here as it is seen.\n"
    )
    held = min(bound(_VAL) / seen for _, bound, seen in rows)
    return [
        Promise("Theorems 7.1, 7.2, E.3, E.4: least bound over what is seen", held, 1.0),
        Promise("loss in G-mean, 95 % quantile", loss, 0.1, at_most=True),
    ]


def _theorem_7_1(n_val: float) -> float:
    """Eq. 7.19 with probes that always predict one class: γ is the rarer share, ω = 0, c = ½."""
    gamma, c, size, log = float(_PRIOR.min()), 0.5, 2, np.log
    first = np.sqrt(log(2 * size / _DELTA) / _train(n_val))
    return float(2 / gamma**2 * (first + np.sqrt(log(2 / _DELTA) / (c**2 * n_val))))


def _theorem_e_3(epsilon: float) -> Bound:
    """Eq. E.53 for the fixed probes around a classifier that tosses a coin."""
    probes = epsilon * np.eye(2) + (1 - epsilon) / 2
    singular = np.linalg.svd(probes * _PRIOR, compute_uv=False)

    def bound(n_val: float) -> float:
        log = np.log(2 / _DELTA)
        inner = 2 * np.sqrt(log / _train(n_val)) + singular[0] * np.sqrt(2 * log / n_val)
        return float(inner / singular[-1] ** 2)

    return bound


def _theorem_7_2(q: float, smooth: float) -> Bound:
    """Eq. 7.20 (E.67 is the same with κ at χ = 2λε², which is 0 here) with κ as it is seen."""

    def bound(n_val: float) -> float:
        kappa = _error_seen(_VAL, _DRAWS) * np.sqrt(_VAL / n_val)
        log = 2 * np.log(n_val) * np.log(2) + np.log(2 / _DELTA)
        third = smooth * 2 * np.sqrt(log / n_val)
        return float(4 * q * np.sqrt(2) * kappa + third + smooth / (_ITERATIONS * n_val / _VAL))

    return bound


def _train(n_val: float) -> float:
    """Return as many training rows for each validation row as in Table 7.4."""
    return _TRAIN / _VAL * n_val


def _rows_for(bound: Bound) -> float:
    """Return the number of validation rows, to 4 %, from which on a bound is small enough."""
    grid = np.geomspace(100, 1e18, 1000)
    return float(grid[np.argmax([bound(n) <= _WANTED for n in grid])])


def _constants() -> tuple[float, float]:
    """Return the Lipschitz constant and the smoothness of the G-mean where rates are at least ½."""
    rates = np.linspace(_LEAST_RATE, 1.0, 101)
    one, two = np.meshgrid(rates, rates)
    slope = np.hypot(0.5 * np.sqrt(two / one) / _PRIOR[0], 0.5 * np.sqrt(one / two) / _PRIOR[1])
    curve = np.max(
        [
            0.25 * np.sqrt(two) * one**-1.5 / _PRIOR[0] ** 2,
            0.25 * np.sqrt(one) * two**-1.5 / _PRIOR[1] ** 2,
            0.25 / np.sqrt(one * two) / (_PRIOR[0] * _PRIOR[1]),
        ]
    )
    return float(slope.max()), float(curve)


@cache
def _error_seen(n_val: int, draws: int) -> float:
    """Return the 95 % quantile of the error of the weights of Algorithm 7.1.

    The probes do not look at rows, so the weights are β_j times the ratio of the shares of class j
    among validation and training rows, whatever ε is.
    """
    rng = np.random.default_rng(0)
    train = rng.binomial(_TRAIN, _PRIOR[1], draws) / _TRAIN
    val = rng.binomial(n_val, _PRIOR[1], draws) / n_val
    ratio = np.stack([(1 - val) / (1 - train), val / train], axis=1)
    return float(np.quantile(np.linalg.norm(_BALANCED * (ratio - 1), axis=1), 0.95))


def _loss_seen(fits: int) -> float:
    """Return the 95 % quantile of what FW-EG loses in G-mean on a law that is known."""
    rng = np.random.default_rng(1)
    eta = np.sort(rng.beta(0.66, 1.34, 20_000))
    population = np.column_stack([1 - eta, eta])
    below = np.concatenate([[0.0], np.cumsum(population[:, 0])]) / population[:, 0].sum()
    above = 1 - np.concatenate([[0.0], np.cumsum(eta)]) / eta.sum()
    best = float(np.sqrt(np.maximum(below * above, 0.0)).max())
    losses = []
    for _ in range(fits):
        p = rng.beta(0.66, 1.34, _VAL)
        y = (rng.random(_VAL) < p).astype(int)
        clf = FrankWolfeClassifier(metric="g_mean", gradient="probed", n_iter=_ITERATIONS)
        shares: Array = clf.fit_from_proba(np.column_stack([1 - p, p]), y).predict_proba_from_proba(
            population
        )
        losses.append(best - float(g_mean(population.T @ shares / len(eta))))
    return float(np.quantile(losses, 0.95))
