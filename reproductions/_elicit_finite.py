"""Finite samples of a known law: Hiranandani 2021, Proposition A.1 and Lemma 3.3.

Also the error of an elicited metric against the size of the sample. Who answers may look at the
numbers that are shown, which are a sample's, or meet the two classifiers in the population.
"""

from collections.abc import Callable

import numpy as np
from _deployed import Deployed
from _elicit_common import Array, ask_all, largest
from _elicit_smoothing import law_confusions
from _growth import exponent
from _show import Promise, number, say, show_table
from scipy.special import expit

from karat.datasets import LogisticLaw
from karat.decisions.population import Population
from karat.elicit import BinarySpace, Elicitation
from karat.metrics import LinearMetric

__all__ = ["run_finite"]

_LAW, _SLOPE = LogisticLaw.binary(5.0), 5.0
_SIZES = (100, 1000, 10_000, 100_000)
_TURNS = np.linspace(0.3, np.pi / 2 - 0.3, 50)
_FINE = 1e-4
_CELLS = -1 + 2 * (np.arange(4001) + 0.5) / 4001
# Of the error's exponent in n: the rate that theory gives, and what is promised.
_RATES = {
    "published, shown": ("−1/3", -0.25),
    "published, a model's thresholds": ("−1/2", -0.4),
    "published, smoothed, shown": ("−1", -0.6),
    "bisection, shown": ("none: ε", None),
    "bisection, deployed": ("−1/2", -0.4),
}


def run_finite(*, quick: bool) -> list[Promise]:
    """Print what samples do to confusions, to classifiers and to metrics."""
    return _run_hoeffding() + _run_models(quick=quick) + _run_errors(quick=quick)


def _run_hoeffding() -> list[Promise]:
    """Print how often a sample's true positives are off by more than Hoeffding's ε."""
    truth = law_confusions(_SLOPE, 0.0, np.array([0.3, 0.5, 0.7]))
    rng, rows, shares = np.random.default_rng(0), [], []
    for n in _SIZES:
        limit = np.sqrt(np.log(2 / 0.05) / (2 * n))
        counted = rng.binomial(n, truth, size=(20_000, 3, 2)) / n
        shares.append(float((np.abs(counted - truth) >= limit).mean(axis=0).max()))
        rows.append([f"{n:,}", number(float(limit), 4), "0.05", number(shares[-1], 4)])
    show_table(
        "Proposition A.1: how often TP or TN of a sample is off by ε or more",
        ["n", "ε", "bound 2·exp(−2nε²)", "greatest share of 20,000 samples"], rows,
    )  # fmt: skip
    return [Promise("Proposition A.1, greatest share beyond ε", max(shares), 0.05, at_most=True)]


def _run_models(*, quick: bool) -> list[Promise]:
    """Print Lemma 3.3: confusions of a fitted model's thresholds beside those of the law's."""
    sizes = _SIZES[:3:2] if quick else _SIZES
    rows, tables, worst = [], [], 0.0
    cuts = np.sin(_TURNS) / (np.sin(_TURNS) + np.cos(_TURNS))
    true, exact = expit(-_SLOPE * _CELLS), law_confusions(_SLOPE, 0.0, cuts)
    for n in sizes:
        found = []
        for seed in range(5 if quick else 40):
            slope, shift = _fitted(n, seed)
            # A threshold of the model is that of the law at the same x.
            x = (np.log1p(-cuts) - np.log(cuts) - shift) / slope
            there = law_confusions(_SLOPE, 0.0, expit(-_SLOPE * np.clip(x, -1.0, 1.0)))
            off = float(np.abs(expit(-(slope * _CELLS + shift)) - true).max())
            near = max(_mass(cuts, cuts + off).max(), _mass(cuts - off, cuts).max())
            found.append([off, largest(there, exact), near])
        tables.append(np.mean(found, axis=0))
        worst = max(worst, *(moved / near for _, moved, near in found))
        rows.append([f"{n:,}", *(number(float(value), 4) for value in tables[-1])])
    grown = [exponent(sizes, column) for column in np.array(tables).T]
    rows.append(["exponent", *(number(value) for value in grown)])
    show_table(
        "Lemma 3.3: the thresholds of a logistic regression of n rows, and its proof's bound",
        ["n", "‖η̂ − η‖∞", "‖C(ĥ) − C(h)‖∞", "P(η within ‖η̂ − η‖∞ of a threshold)"], rows,
    )  # fmt: skip
    return [
        Promise("Lemma 3.3, greatest ‖C(ĥ) − C(h)‖ over its bound", worst, 1.0, at_most=True),
        Promise("Lemma 3.3, exponent of ‖C(ĥ) − C(h)‖ in n", grown[1], -0.4, at_most=True),
    ]


def _mass(low: Array, high: Array) -> Array:
    """Return the probability that the law's η lies between two values."""
    ends = np.clip(np.stack([low, high]), 1e-12, 1 - 1e-12)
    x = np.clip((np.log1p(-ends) - np.log(ends)) / _SLOPE, -1.0, 1.0)
    return np.asarray((x[0] - x[1]) / 2)


def _fitted(n: int, seed: int) -> tuple[float, float]:
    """Fit a logistic regression to n rows of the law; return a and b of 1/(1 + e^(ax+b))."""
    from sklearn.linear_model import LogisticRegression

    x, y = _LAW.sample(n, rng=np.random.default_rng([n, seed]))
    model = LogisticRegression(C=1e4).fit(np.asarray(x)[:, None], y)
    return -float(model.coef_[0, 0]), -float(model.intercept_[0])


def _run_errors(*, quick: bool) -> list[Promise]:
    """Print the error of elicited metrics against the size of the sample."""
    sizes = _SIZES[:3:2] if quick else _SIZES
    rows, promises = [], []
    for name, (rate, wanted) in _RATES.items():
        errors = []
        for n in sizes:
            runs = range(3 if quick else 40 if n < 1e5 else 20)
            errors.append(float(np.mean([_READINGS[name](n, seed) for seed in runs])))
        grown = exponent(sizes, errors)
        cells = [f"{error:.2g}" for error in errors]
        rows.append([name, *cells, "–" if wanted is None else number(grown), rate])
        if wanted is not None:
            # the mean of a few runs is too noisy to be held to more
            most = wanted / 2 if quick else wanted
            what = f"Finite samples, {name}, exponent in n"
            promises.append(Promise(what, grown, most, at_most=True))
        else:
            promises.append(Promise(f"Finite samples, {name}", max(errors), _FINE, at_most=True))
    say(
        "Errors of elicited weights against n, one law. 'Shown': the oracle judges the sample's "
        "numbers. Algorithm 3.1 then finds the best of noisy thresholds, whose rate is the cube "
        "root of n, between the fourth root of the theorems (ε_Ω ∝ n^-½ and its root) and the "
        "square root; pairs of the bisection are judged as they are shown, so a sample costs "
        "nothing. 'A model's thresholds': they are those of a logistic regression of n rows, "
        "judged in the population (Lemma 3.3). 'Deployed': the pair is chosen by a sample, and "
        "both classifiers are judged in the population, as in an A/B test.\n"
    )
    columns = ["reading", *(f"n = {n:,}" for n in sizes), "exponent", "theory"]
    show_table(f"Finite samples: mean error of m, tolerance {_FINE:g}", columns, rows)
    return promises


def _truth(seed: int) -> tuple[LinearMetric, Array]:
    turn = float(np.random.default_rng(seed).uniform(_TURNS[0], _TURNS[-1]))
    weights = np.array([np.cos(turn), np.sin(turn)])
    return LinearMetric(np.diag(weights[::-1])), weights


def _sampled(n: int, seed: int) -> BinarySpace:
    x, y = _LAW.sample(n, rng=np.random.default_rng([n, seed]))
    return BinarySpace.from_proba(y, _LAW.proba(x))


def _modelled(n: int, seed: int) -> BinarySpace:
    """Return the law's population, with the thresholds of a model of n rows."""
    slope, shift = _fitted(n, seed)
    guess = expit(-(slope * _CELLS + shift))
    mass = _LAW.proba(_CELLS) / len(_CELLS)
    return BinarySpace(Population(np.column_stack([1 - guess, guess]), mass), np.arange(2))


def _error(space: BinarySpace, strategy: str, seed: int, *, deployed: bool = False) -> float:
    metric, weights = _truth(seed)
    oracle = Deployed(metric, space, _LAW.proba(_CELLS)) if deployed else metric
    found = ask_all(Elicitation(space, strategy=strategy, tol=_FINE), oracle)
    return largest(found.weights, weights)


_READINGS: dict[str, Callable[[int, int], float]] = {
    "published, shown": lambda n, seed: _error(_sampled(n, seed), "published", seed),
    "published, a model's thresholds": lambda n, seed: _error(
        _modelled(n, seed), "published", seed
    ),
    "published, smoothed, shown": lambda n, seed: _error(
        _sampled(n, seed).smoothed(), "published", seed
    ),
    "bisection, shown": lambda n, seed: _error(_sampled(n, seed), "bisection", seed),
    "bisection, deployed": lambda n, seed: _error(
        _sampled(n, seed), "bisection", seed, deployed=True
    ),
}
