"""Coverage in the sparse setting: few labels per pattern, where the plug-in bounds fail."""

import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, say, show_table
from numpy.typing import NDArray

from karat.bounds import performance_bounds
from karat.exceptions import KaratWarning

__all__ = ["RIGHT", "draw_law", "draw_sample", "run_sparse"]

LABELERS = 8
RIGHT = 0.8
COVERAGE, WIDTH = 0.93, 1.3


@dataclass(frozen=True)
class Law:
    """A joint law of truth, votes and prediction.

    ``table[j, y, o]`` is the probability that labeler j abstains (o = 0) or votes for the first or
    second of its two classes, ``pair[j]``, when the truth is y.
    """

    prior: NDArray[Any]
    pair: NDArray[Any]
    table: NDArray[Any]

    def posterior(self, outcomes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return P(Z = z) and P(Y | Z = z) of rows of outcomes."""
        joint = np.tile(self.prior, (len(outcomes), 1))
        for j in range(LABELERS):
            joint *= self.table[j][:, outcomes[:, j]].T
        total = joint.sum(axis=1)
        return total, joint / total[:, None]


class Sharp(NamedTuple):
    """True value and sharp bounds of a metric under a law."""

    truth: float
    lower: float
    upper: float


class Run(NamedTuple):
    """What one sample gave with one method."""

    lower_holds: bool
    upper_holds: bool
    lower_end: bool
    upper_end: bool
    width: float


def draw_law(k: int, rng: np.random.Generator) -> Law:
    """Draw class prior, coverages and accuracies."""
    prior = rng.dirichlet(np.full(k, 5.0))
    coverage, accuracy = rng.uniform(0.5, 0.9, LABELERS), rng.uniform(0.65, 0.9, LABELERS)
    first = np.zeros(LABELERS, dtype=int) if k == 2 else np.arange(LABELERS) % k
    pair = np.stack([first, (first + 1) % k], axis=1)
    table = np.empty((LABELERS, k, 3))
    for j, (c, a) in enumerate(zip(coverage, accuracy, strict=True)):
        table[j] = [1 - c / 3, c / 6, c / 6]
        table[j, pair[j, 0]] = [1 - c, c * a, c * (1 - a)]
        table[j, pair[j, 1]] = [1 - c, c * (1 - a), c * a]
    return Law(prior, pair, table)


def draw_sample(law: Law, n: int, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
    """Draw predictions and votes; return them with the exact P(Y | Z), and the truth."""
    k = len(law.prior)
    y = rng.choice(k, size=n, p=law.prior)
    steps = law.table.cumsum(axis=2)[:, y, :2]
    outcomes = (rng.random((LABELERS, n, 1)) > steps).sum(axis=2).T
    named = np.hstack([np.full((LABELERS, 1), -1), law.pair])
    votes = named[np.arange(LABELERS), outcomes]
    other = (y + rng.integers(1, k, size=n)) % k
    predicted = np.where(rng.random(n) < RIGHT, y, other)
    return predicted, votes, law.posterior(outcomes)[1], y


def sharp_bounds(law: Law, metric: str) -> Sharp:
    """Return the truth and the sharp bounds, from all 3^8 patterns."""
    weight, p = law.posterior(np.array(list(product(range(3), repeat=LABELERS))))
    k = len(law.prior)
    q = RIGHT * p + (1 - RIGHT) / (k - 1) * (1 - p)  # Ŷ depends on Z through Y only
    if metric == "accuracy":
        low = np.maximum((q + p).max(axis=1) - 1, 0)
        return Sharp(RIGHT, float(weight @ low), float(weight @ np.minimum(q, p).sum(axis=1)))
    both = weight @ np.column_stack(
        [RIGHT * p[:, 1], np.maximum(q[:, 1] + p[:, 1] - 1, 0), np.minimum(q[:, 1], p[:, 1])]
    )
    return Sharp(*map(float, 2 * both / (weight @ q[:, 1] + weight @ p[:, 1])))


def one_seed(n: int, k: int, seed: int) -> dict[tuple[str, str], Run]:
    """Bound one sample of one law, by metric and method."""
    rng = np.random.default_rng([n, k, seed])
    law = draw_law(k, rng)
    predicted, votes, p, _ = draw_sample(law, n, rng)
    runs = {}
    for metric in ("accuracy", "f1") if k == 2 else ("accuracy",):
        sharp = sharp_bounds(law, metric)
        for method in ("crossfit", "plugin"):
            b = performance_bounds(
                predicted, votes, p, metric=metric, method=method, classes=range(k), rng=rng
            )
            low, high = b.lower_limit, b.upper_limit
            runs[metric, method] = Run(
                low <= sharp.truth, high >= sharp.truth, low <= sharp.lower, high >= sharp.upper,
                b.width / (sharp.upper - sharp.lower),
            )  # fmt: skip
    return runs


def run_sparse(*, quick: bool) -> list[Promise]:
    """Print coverage and width; both are promised for the cross-fitted bounds."""
    seeds = 16 if quick else 200
    rows: list[list[str]] = []
    promises: list[Promise] = []
    for n, k in product((2000,) if quick else (2000, 20_000), (2, 5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)  # the plug-in warns of sparse patterns
            runs = [one_seed(n, k, seed) for seed in range(seeds)]
        for metric, method in runs[0]:
            means = np.array([run[metric, method] for run in runs], dtype=float).mean(axis=0)
            rows.append([f"{n:,}", str(k), metric, method, *(f"{v:.3f}" for v in means)])
            if method == "crossfit":
                promises += _promises(f"n = {n:,}, |Y| = {k}, {metric}", n, metric, means)
    columns = [
        "n", "|Y|", "metric", "method", "lower ≤ truth", "upper ≥ truth", "lower ≤ sharp end",
        "upper ≥ sharp end", "width / sharp",
    ]  # fmt: skip
    show_table(f"The sparse setting, {seeds} laws: share of one-sided 95 % limits", columns, rows)
    say(
        "Truth: the metric under the law. Sharp end: the population-sharp bound, which lies "
        "between limit and truth; the limits aim at 95 % of these.\n"
    )
    return promises


def _promises(where: str, n: int, metric: str, means: NDArray[Any]) -> list[Promise]:
    kept = [
        Promise(f"coverage of the {side} limit, {where}", float(value), COVERAGE)
        for side, value in zip(("lower", "upper"), means[:2], strict=True)
    ]
    if n == 20_000 and metric == "accuracy":
        kept.append(Promise(f"width over sharp width, {where}", float(means[4]), WIDTH, True))
    return kept
