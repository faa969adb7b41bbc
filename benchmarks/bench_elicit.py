"""Metric elicitation: questions and errors beside the thesis' procedures, and seconds per question.

Usage: python benchmarks/bench_elicit.py [--metrics N] [--rows N]

With --rows 10000000 it also measures the first question of spaces of as many rows (a minute).
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import count, islice
from multiprocessing import Pool
from typing import Any

import numpy as np
from _figures import Figure, Line
from _large_spaces import CASES, first_question, races
from _timing import best_of
from numpy.typing import NDArray
from scipy.special import betainc
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, Elicitation, MetricOracle
from karat.elicit.spaces import Space

METRICS, PROCESSES = 200, 2  # random metrics for each line
REPEATS = (1, 3, 5, 9)  # of each question, for the majority votes of the thesis
TOLERANCES = (0.8, 0.4, 0.2, 0.1, 0.05, 0.02)
VOTERS = 40  # metrics that majority votes are tried on
QUESTIONS, RUNS = 40, 3  # of the clock
PAIRS = 2000  # fresh pairs on which an agreement is counted
SLOPES = {2: (-5.0, 5.0), 3: (1.0, 3.0, 5.0), 4: (1.0, 3.0, 6.0, 10.0)}
Array = NDArray[np.float64]


@cache
def space_of(kind: str, k: int) -> Space:
    """Return a space of the laws of the thesis, or of a softmax law of three features."""
    if kind == "softmax":
        rng = np.random.default_rng(0)
        power = rng.normal(size=(2000, 3)) @ (2.0 * rng.normal(size=(3, k)))
        proba = np.exp(power - power.max(axis=1, keepdims=True))
        return ConfusionSpace.from_calibrated(proba / proba.sum(axis=1, keepdims=True))
    law = LogisticLaw(SLOPES[k])
    if kind == "confusion":
        space = ConfusionSpace.from_density(law.proba, n_points=2001)
        _ = space.radius  # once, before processes part
        return space
    built: type[Space] = BinarySpace if kind == "binary" else DiagonalSpace
    return built.from_density(law.proba)


def random_weights(dim: int, index: int) -> Array:
    """Return weights that are uniform on the positive orthant of the sphere."""
    drawn = np.abs(np.random.default_rng([dim, index]).normal(size=dim))
    return np.asarray(drawn / np.linalg.norm(drawn))


def told_apart(space: Space, index: int) -> bool:
    """Whether the faces of the first class distinguish every ratio of a random diagonal metric."""
    if not isinstance(space, DiagonalSpace):
        return True
    weights = random_weights(space.dim, index)
    angles = np.arctan2(weights[1:], weights[0])
    reach = [space.face(0, j).reach for j in range(1, space.dim)]
    return all(low < angle < high for angle, (low, high) in zip(angles, reach, strict=True))


def answered(procedure: Elicitation, oracle: Callable[[Any], str]) -> Array:
    """Return the weights after all answers, without the limits that a result also works out."""
    while (query := procedure.ask()) is not None:
        procedure.tell(oracle(query))
    draws = procedure._posterior_draws()
    return np.asarray(draws.family.weights(draws.estimate[None])[0])


def in_parallel(function: Callable[[int], Any], jobs: Iterable[int]) -> Array:
    """Map in some processes of one thread each."""
    with Pool(PROCESSES, threadpool_limits, (1,)) as pool:
        return np.asarray(pool.map(function, jobs, chunksize=1))


def angle(a: Array, b: Array) -> float:
    """Return the angle of two vectors."""
    return float(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1.0, 1.0)))


# Space, classes, options, and what is reached: questions, and an error if one is named.
SEARCHES: tuple[tuple[str, int, dict[str, Any], int, float], ...] = (
    ("binary", 2, {"tol": 0.02, "orientation": "ask"}, 8, 0.01),
    ("diagonal", 3, {}, 12, np.inf),
    ("diagonal", 4, {}, 18, np.inf),
    ("confusion", 3, {}, 40, 0.006),
    ("confusion", 4, {}, 88, 0.007),
)
ERRORS = {"binary": "angle", "diagonal": "error of a weight", "confusion": "l2 error"}


def searched(search: int, index: int) -> list[float]:
    """Return questions and error of bisection, then of the thesis."""
    kind, k, options, *_ = SEARCHES[search]
    space, row = space_of(kind, k), []
    weights = random_weights(space.dim, index)
    for strategy in ("bisection", "published"):
        proc = Elicitation(space, strategy=strategy, **options)
        found = answered(proc, MetricOracle(space.linear_metric(weights)))
        errors = {
            "binary": angle(found, weights),
            "diagonal": np.abs(found - weights / weights.sum()).max(),
            "confusion": np.linalg.norm(found - weights),
        }
        row += [len(proc.answers), errors[kind]]
    return row


def bisections(metrics: int) -> Iterator[Line]:
    """Compare the questions and errors of bisection with those of the thesis."""
    for search, (kind, k, _options, most, limit) in enumerate(SEARCHES):
        space = space_of(kind, k)
        jobs = islice((i for i in count() if told_apart(space, i)), metrics)
        rows = in_parallel(partial(searched, search), jobs)
        questions, error, asked, missed = rows.max(axis=0)
        median = np.median(rows, axis=0)
        what = f"largest {ERRORS[kind]}"
        figures = [Figure("questions", questions, most)]
        rest = f"thesis {asked:.0f} questions, {what} {missed:.4f}, median {median[3]:.4f}"
        if np.isfinite(limit):
            figures.append(Figure(what, error, limit))
        else:
            rest = f"{what} {error:.4f}, median {median[1]:.4f}; {rest}"
        name = f"linear, {kind} space of {space.dim} weights, noise-free"
        yield Line(name, tuple(figures), rest, asked / questions)


def angles_along(k: int, flip: float, n: int, index: int) -> list[float]:
    """Return the angle to the truth after each of n answers about points of the ball."""
    space = space_of("confusion", k)
    truth = random_weights(space.dim, index)
    oracle = MetricOracle(space.linear_metric(truth), flip=flip, rng=index)
    proc = Elicitation(space, pairs="sphere", agreement=1.0, max_queries=n, rng=index)
    along = []
    while (query := proc.ask()) is not None:
        proc.tell(oracle(query))
        assert proc._search is not None
        along.append(angle(proc._search.estimate, truth))
    return along + along[-1:] * (n - len(along))  # it stops where nothing is in doubt


def voted(k: int, tol: float, repeats: int, index: int) -> tuple[int, float]:
    """Return the questions of the thesis' search with majority votes, and its angle."""
    space = space_of("binary" if k == 2 else "confusion", k)
    truth = random_weights(space.dim, index)
    oracle = MetricOracle(space.linear_metric(truth), flip=0.1, rng=index)

    def majority(query: Any) -> str:
        first = sum(oracle(query) == "first" for _ in range(repeats))
        return "first" if 2 * first > repeats else "second"

    found = answered(Elicitation(space, strategy="published", tol=tol), majority)
    return oracle.n_answers, angle(found, truth)


def fewest_votes(k: int, metrics: int) -> int | None:
    """Return the fewest questions with which the thesis reaches a median angle of 0.1."""
    cost = {(t, r): voted(k, t, r, 0)[0] for t in TOLERANCES for r in REPEATS}
    for tol, repeats in sorted(cost, key=cost.__getitem__):
        rows = in_parallel(partial(voted, k, tol, repeats), range(min(VOTERS, metrics)))
        if np.median(rows[:, 1]) <= 0.1:
            return cost[tol, repeats]
    return None


def information(q: int, error: float) -> float:
    """Return the bits that tell a cap of this angle from the rest of the positive orthant."""
    cap = 0.5 * betainc((q - 1) / 2, 0.5, np.sin(error) ** 2)
    return float(-np.log2(cap * 2**q))


def on_the_sphere(metrics: int) -> Iterator[Line]:
    """Compare the questions until a median angle with those of majority votes."""
    for k, most in ((2, 5), (3, 35), (4, 85)):
        q = space_of("confusion", k).dim
        medians = np.median(in_parallel(partial(angles_along, k, 0.1, most), range(metrics)), 0)
        needed = np.append(np.flatnonzero(medians <= 0.1), np.inf)[0] + 1
        votes = fewest_votes(k, metrics) if k < 4 else 1056  # too long to measure here
        rest = f"thesis with majority votes {votes}{' (not measured here)' if k == 4 else ''}"
        figure = Figure("questions to a median angle of 0.1:", needed, most)
        yield Line(f"active q={q}, 10 % flips", (figure,), rest, votes and votes / needed)
        bits = information(q, 0.03)
        n = int(1.3 * bits)
        medians = np.median(in_parallel(partial(angles_along, k, 0.0, n), range(metrics)), 0)
        needed = np.append(np.flatnonzero(medians <= 0.03), np.inf)[0] + 1
        rest = f"0.03 after {needed:.0f}; {bits:.1f} bits"
        figure = Figure("median angle", medians[-1], 0.03)
        yield Line(f"active q={q}, noise-free, {n} answers", (figure,), rest)


def agreed(kind: str, k: int, flip: float, n: int, index: int) -> float:
    """Return the agreement with the truth on fresh random pairs after n answers."""
    space = space_of(kind, k)
    truth = random_weights(space.dim, index)
    oracle = MetricOracle(space.linear_metric(truth), flip=flip, rng=index)
    found = answered(Elicitation(space, agreement=1.0, max_queries=n, rng=index), oracle)
    points = space.coordinates(space.sample(2 * PAIRS, rng=10**6 + index))
    apart = points[:PAIRS] - points[PAIRS:]
    wanted, told = apart @ truth, apart @ found
    return float(np.mean((wanted * told > 0)[np.abs(wanted) > 1e-12]))


def with_people(metrics: int) -> Iterator[Line]:
    """Count the agreement after as many answers as a person gives."""
    cases = [("confusion", 3, 0.1, 20, 0.95), ("softmax", 3, 0.1, 20, 0.92)]
    for flip, least in ((0.0, 0.95), (0.1, 0.95), (0.2, 0.90)):
        cases.append(("binary", 2, flip, 25, least))
        cases.append(("confusion", 3, flip, 25, least))
    for kind, k, flip, n, least in cases:
        rows = in_parallel(partial(agreed, kind, k, flip, n), range(metrics))
        law = "softmax law of three features" if kind == "softmax" else f"law {SLOPES[k]}"
        figure = Figure("median agreement", float(np.median(rows)), least, at_least=True)
        rest = f"{np.quantile(rows, 0.1):.3f} at the lowest tenth"
        yield Line(f"people, {law}, {n} answers, {flip:.0%} flips", (figure,), rest)


def clock(_metrics: int) -> Iterator[Line]:
    """Time the next question at q=12; each is the least of some runs that ask the same."""
    space = space_of("confusion", 4)
    metric = space.linear_metric(random_weights(space.dim, 0))
    for pairs in ("sphere", "attainable"):
        taken: list[list[float]] = []
        for _ in range(RUNS):
            oracle, times = MetricOracle(metric, flip=0.1, rng=0), []
            proc = Elicitation(space, pairs=pairs, agreement=1.0, max_queries=QUESTIONS + 1, rng=0)
            while (query := proc.ask()) is not None:
                times.append(best_of(1, partial(proc.tell, oracle(query))))
            taken.append(times[:-1])  # nothing is asked after the last
        least = 1000 * np.min(taken, axis=0)
        figures = [Figure("median ms", np.median(least), 200), Figure("worst ms", least.max(), 200)]
        yield Line(f"next question, q={space.dim}, {pairs} pairs", tuple(figures))


def large_spaces(_metrics: int) -> Iterator[Line]:
    """Compare spaces of many items with a pass over all rows."""
    for run in races():
        figure = Figure("difference", run.difference, run.limit)
        yield Line(run.name, (figure,), run.rest, run.ratio)


def many_rows(rows: int, _metrics: int) -> Iterator[Line]:
    """Measure the first question of spaces of very many rows."""
    for case in CASES if rows else ():
        found = first_question(case, rows)
        figures = Figure("seconds", found["seconds"], 15), Figure("GB", found["peak"], 3)
        yield Line(f"first question, {case}, {rows:,} rows", figures, f"data {found['data']:.2f}")


def main() -> int:
    """Print one line per comparison; return 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description="Metric elicitation beside the thesis.")
    parser.add_argument("--metrics", type=int, default=METRICS, help="random metrics per line")
    parser.add_argument("--rows", type=int, default=0, help="rows of very large spaces")
    options = parser.parse_args()
    metrics: int = options.metrics
    figures: list[Figure] = []
    rows = partial(many_rows, options.rows)
    for part in (large_spaces, rows, clock, bisections, on_the_sphere, with_people):
        for line in part(metrics):
            print(line, flush=True)
            figures += line.figures
    missed = sum(not figure.kept for figure in figures)
    print(f"{len(figures) - missed} of {len(figures)} limits kept, {metrics} metrics for each line")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
