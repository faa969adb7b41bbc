"""Bounds: against a linear program per pattern, and at scale."""

import resource
import time
import warnings

import numpy as np
from _timing import best_of
from scipy.optimize import linprog

from karat.bounds import bounds_curve, performance_bounds
from karat.bounds.frechet import match_bounds
from karat.statistics import pattern_counts


def draw(n: int, labelers: int, k: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw votes, predictions and the exact posterior of each row."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n).astype(np.int8)
    votes = np.empty((n, labelers), dtype=np.int8)
    log_p = np.zeros((n, k), dtype=np.float32)
    for j in range(labelers):
        fate = rng.random(n)
        other = (y + 1 + rng.integers(0, k - 1, n)).astype(np.int8) % k
        votes[:, j] = np.where(fate < 0.3, -1, np.where(fate < 0.83, y, other))
        for c in range(k):
            log_p[:, c] += np.log(
                np.where(votes[:, j] < 0, 0.3, np.where(votes[:, j] == c, 0.53, 0.17 / (k - 1)))
            ).astype(np.float32)
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    y_pred = np.where(rng.random(n) < 0.8, y, (y + 1) % k).astype(np.int8)
    return y_pred, votes, p


def program(joint: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Solve the transport problem of each pattern with scipy's linear programming."""
    k = joint.shape[1]
    ends = np.zeros(2)
    equal = np.zeros((2 * k, k * k))
    for i in range(k):
        equal[i, i * k : (i + 1) * k] = 1
        equal[k + i, i::k] = 1
    for row, truth in zip(joint, p, strict=True):
        level = np.concatenate([row.sum() * truth, row])
        for end, sign in enumerate((1, -1)):
            ends[end] += sign * linprog(sign * np.eye(k).ravel(), A_eq=equal, b_eq=level).fun
    return float(ends[0]), float(ends[1])


def _by_classes() -> None:
    """Print what more classes cost, and balanced accuracy over accuracy."""
    taken = {}
    for k in (2, 10, 20):
        y_pred, votes, p = draw(5_000, 8, k)
        for metric in ("accuracy", "balanced_accuracy"):
            run = lambda m=metric, k=k, a=(y_pred, votes, p): performance_bounds(  # noqa: E731
                *a, metric=m, classes=list(range(k)), rng=0
            )
            run()
            start = time.process_time()
            run()
            taken[metric, k] = time.process_time() - start
    for k in (10, 20):
        ratio = taken["balanced_accuracy", k] / taken["accuracy", k]
        print(f"balanced accuracy over accuracy, {k} classes: ratio {ratio:.2f}")
    ratio = taken["accuracy", 20] / taken["accuracy", 2]
    print(f"accuracy, 20 classes over 2, n=5000: ratio {ratio:.1f} ({taken['accuracy', 20]:.2f} s)")


def main() -> None:
    """Print one line per measurement."""
    warnings.simplefilter("ignore")
    y_pred, votes, p = draw(2_000, 8)
    run = lambda **o: performance_bounds(  # noqa: E731
        y_pred, votes, p, metric="accuracy", classes=[0, 1], rng=0, **o
    )
    run()
    print(f"crossfit, n=2000, 8 labelers: {1000 * best_of(5, run):.1f} ms")
    plug = best_of(20, lambda: run(method="plugin"))
    print(f"plugin, n=2000, 8 labelers: {1000 * plug:.2f} ms")
    table = pattern_counts(y_pred, votes, classes=[0, 1])
    own = np.zeros((len(table.patterns), 2))
    ids = {tuple(row): z for z, row in enumerate(table.patterns.tolist())}
    for row, q in zip(votes.tolist(), p, strict=True):
        own[ids[tuple(row)]] = q
    mine = best_of(50, lambda: match_bounds(table.joint, own))
    start = time.perf_counter()
    theirs = program(table.joint, own)
    taken = time.perf_counter() - start
    assert np.allclose(match_bounds(table.joint, own), theirs, atol=1e-7)
    print(f"closed form, n=2000: ratio {taken / mine:.0f} (karat {1000 * mine:.3f} ms, linear "
          f"programs {taken:.2f} s)")  # fmt: skip
    big_pred, big_votes, big_p = draw(100_000, 8)
    score = big_pred + np.random.default_rng(1).normal(size=100_000)
    cuts = np.quantile(score, np.linspace(0.001, 0.999, 1000))
    curve = best_of(
        2,
        lambda: bounds_curve(
            score, big_votes, big_p, metric="f1", thresholds=cuts, classes=[0, 1], rng=0
        ),
    )
    print(f"bounds_curve, n=10^5, 1000 thresholds: {curve:.2f} s")
    _by_classes()
    y_pred, votes, p = draw(10_000_000, 10)
    start = time.perf_counter()
    performance_bounds(y_pred, votes, p, metric="accuracy", classes=[0, 1], rng=0)
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"crossfit, 10^7 x 10: {taken:.2f} s, peak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
