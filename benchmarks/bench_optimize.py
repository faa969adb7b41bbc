"""Post-shifting for a metric: large tables, evaluations, and the published way of probing.

The naive peer writes out the n×k class shares of every probe and counts their confusion, as
Algorithms 7.1 to 7.3 of Hiranandani (2021) read; karat moves sums instead of rows. All with one
thread.
"""

from typing import Any

import numpy as np
from _timing import best_of, race
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.metrics import g_mean
from karat.optimize import CoordinateSearchClassifier, FrankWolfeClassifier

SECONDS = 10.0
EPSILON = 1e-3


def limit(value: float, bound: float, *, at_most: bool = False) -> str:
    """Return a bound and whether it is kept."""
    kept = value <= bound if at_most else value >= bound
    return f"limit {bound:g}: {'kept' if kept else 'MISSED'}"


def rows_of(n: int, k: int) -> tuple[Any, Any]:
    """Return calibrated probabilities of classes that differ in frequency, and labels."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n, k)) * 1.5 - np.linspace(0.0, 2.0, k)
    proba = np.exp(scores)
    proba /= proba.sum(axis=1, keepdims=True)
    labels = (rng.random((n, 1)) > np.cumsum(proba, axis=1)[:, :-1]).sum(axis=1)
    return proba, labels


def large() -> None:
    """Print the time of 20 iterations on 10^6 rows of 10 classes, over what it may be."""
    proba, y = rows_of(1_000_000, 10)
    for name, options in (
        ("G-mean, known", {}),
        ("G-mean, probed", {"gradient": "probed"}),
        ("macro F1, known, all entries", {"metric": "macro_f1"}),
    ):
        clf = FrankWolfeClassifier(n_iter=20, **options)
        seconds = best_of(2, lambda clf=clf: clf.fit_from_proba(proba, y))  # type: ignore[misc]
        print(
            f"10^6 × 10 probabilities, 20 iterations, {name}: ratio {seconds / SECONDS:.2f} to "
            f"{SECONDS:g} s ({limit(seconds, SECONDS, at_most=True)}; {seconds:.1f} s, from "
            f"{clf.history_.baseline:.3f} to {clf.history_.value:.3f})"
        )
    once = best_of(1, lambda: clf.predict_from_proba(proba))
    print(f"10^6 × 10 probabilities, predict: ratio {once / SECONDS:.2f} to {SECONDS:g} s")


def evaluations(k: int) -> None:
    """Print how often the metric is evaluated, over that of a search along a grid."""
    proba, y = rows_of(20_000, k)
    fw = {
        step: FrankWolfeClassifier(gradient="probed", step=step).fit_from_proba(proba, y).history_
        for step in ("harmonic", "line-search")
    }
    grid = CoordinateSearchClassifier().fit_from_proba(proba, y)
    sizes = sorted({round(2 * 1.1**i) for i in range(90)})
    for step, history in fw.items():
        asked = int(history.n_evaluations[-1])
        tries = (
            CoordinateSearchClassifier(spacing=1.0 / n).fit_from_proba(proba, y) for n in sizes
        )
        same = next((t for t in tries if t.value_ >= history.value - 1e-12), None)
        least = "none is" if same is None else f"ratio {same.n_evaluations_ / asked:.1f}"
        fewer = grid.n_evaluations_ / asked
        print(
            f"evaluations of the G-mean, {k} classes, {step}: ratio {fewer:.0f} to the published "
            f"grid ({limit(fewer, 5)}; {asked} for "
            f"{history.value:.4f}, {grid.n_evaluations_:,} for {grid.value_:.4f}); to the coarsest "
            f"grid that is as good: {least}"
        )


def corners(n: int = 4000) -> None:
    """Print how often a function with corners is called, over a grid of two thresholds."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    p = 1.0 / (1.0 + np.exp(-1.5 * rng.normal(size=n) + np.where(group == 1, 1.5, -0.5)))
    y = (rng.random(n) < p).astype(int)

    def even(y_true: Any, shares: Any, groups: Any) -> float:
        rates = [shares[(groups == g) & (y_true == c), c].mean() for g in (0, 1) for c in (0, 1)]
        right = shares[np.arange(len(y_true)), y_true].mean()
        return float(right - max(abs(rates[0] - rates[2]), abs(rates[1] - rates[3])))

    cuts = np.linspace(0.02, 0.98, 33)
    grid = max(
        even(y, np.eye(2)[(p > np.where(group == 0, a, b)).astype(int)], group)
        for a in cuts
        for b in cuts
    )
    clf = FrankWolfeClassifier(metric=even)
    found = clf.fit_from_proba(
        np.column_stack([1 - p, p]), y, basis=np.eye(2)[group], groups_val=group
    ).history_
    asked = int(found.n_evaluations[-1])
    print(
        f"evaluations of accuracy − largest gap: ratio {len(cuts) ** 2 / asked:.0f} to a grid of "
        f"two thresholds ({limit(asked, 150, at_most=True)}; {asked} for {found.value:.4f}, "
        f"{len(cuts) ** 2:,} for {grid:.4f}; the model has {found.baseline:.4f})"
    )


def naive(proba: Any, y: Any, n_iter: int) -> float:
    """Return the G-mean after Frank–Wolfe with probes that are written out row by row."""
    n, k = proba.shape
    truth, every = np.eye(k)[y], np.eye(k)
    shares = proba.copy()
    for t in range(n_iter):
        value = g_mean(truth.T @ shares / n)
        moves, slopes = np.empty((k, k)), np.empty(k)
        for j in range(k):
            probe = (1.0 - EPSILON) * shares + EPSILON * every[j]
            slopes[j] = (g_mean(truth.T @ probe / n) - value) / EPSILON
            moves[j] = (proba * (probe - shares)).sum(axis=0) / (n * EPSILON)
        weights = np.linalg.solve(moves, slopes)
        rule = every[np.argmax(weights * proba, axis=1)]
        step = 2.0 / (t + 2.0)
        shares = (1.0 - step) * shares + step * rule
    return float(g_mean(truth.T @ shares / n))


def against_naive(n: int, k: int, n_iter: int = 20) -> None:
    """Print the ratio to the naive peer."""
    proba, y = rows_of(n, k)
    clf = FrankWolfeClassifier(gradient="probed", n_iter=n_iter)

    def mine() -> object:
        return clf.fit_from_proba(proba, y)

    mine()
    ours, theirs, again = race(1, mine, lambda: naive(proba, y, n_iter), mine)
    ours = min(ours, again)
    print(
        f"{n:,} × {k} probabilities, {n_iter} iterations, probed: ratio {theirs / ours:.1f} to "
        f"writing out each probe (karat {ours:.2f} s, naive {theirs:.2f} s; G-mean "
        f"{clf.history_.value:.4f} and {naive(proba, y, n_iter):.4f})"
    )


def main() -> None:
    """Print one line per comparison."""
    large()
    for k in (2, 4, 10):
        evaluations(k)
    corners()
    for k in (3, 10, 20):
        against_naive(100_000, k)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
