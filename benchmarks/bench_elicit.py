"""Metric elicitation: questions and errors beside the thesis' procedures, and seconds per question.

Usage: python benchmarks/bench_elicit.py [--metrics N]
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from multiprocessing import Pool
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinaryLinear,
    BinarySpace,
    ConfusionSpace,
    DiagonalLinear,
    DiagonalSpace,
    Linear,
    MetricOracle,
    Procedure,
    Space,
)

METRICS = 200  # random metrics for each line
PROCESSES = 2
REPEATS = (1, 3, 5, 9)  # of each question, for the majority votes of the thesis
TOLERANCES = (0.8, 0.4, 0.2, 0.1, 0.05, 0.02)
VOTERS = 40  # metrics that majority votes are tried on
QUESTIONS, RUNS = 40, 3  # of the clock
PAIRS = 2000  # fresh pairs on which an agreement is counted
SLOPES = {2: (-5.0, 5.0), 3: (1.0, 3.0, 5.0), 4: (1.0, 3.0, 6.0, 10.0)}
Array = NDArray[np.float64]


class Figure(NamedTuple):
    """A measured number and the limit that it has to keep."""

    what: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the limit is kept."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        side, state = "at least" if self.at_least else "at most", "kept" if self.kept else "MISSED"
        return f"{self.what} {self.value:.4g} ({side} {self.limit:.4g}: {state})"


class Line(NamedTuple):
    """One line: a name, how many times better than the thesis, and figures with their limits."""

    name: str
    figures: tuple[Figure, ...]
    ratio: float | None = None
    thesis: str = ""

    def show(self) -> int:
        """Print the line; return how many limits it misses."""
        lead = "" if self.ratio is None else f"ratio {self.ratio:.1f}; "
        rest = f"; thesis {self.thesis}" if self.thesis else ""
        print(f"{self.name}: {lead}{', '.join(map(str, self.figures))}{rest}", flush=True)
        return sum(not figure.kept for figure in self.figures)


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
        return ConfusionSpace.from_density(law.proba, n_points=2001)
    built: type[Space] = BinarySpace if kind == "binary" else DiagonalSpace
    return built.from_density(law.proba)


def random_weights(dim: int, index: int) -> Array:
    """Return weights that are uniform on the positive orthant of the sphere."""
    drawn = np.abs(np.random.default_rng([dim, index]).normal(size=dim))
    return np.asarray(drawn / np.linalg.norm(drawn))


def told_apart(space: Space, weights: Array) -> bool:
    """Whether the faces of the first class reach every ratio of a diagonal metric."""
    assert isinstance(space, DiagonalSpace)
    angles = np.arctan2(weights[1:], weights[0])
    reach = [space.face(0, j).reach for j in range(1, space.dim)]
    return all(low < a < high for a, (low, high) in zip(angles, reach, strict=True))


def answered(procedure: Procedure, oracle: Callable[[Any], str]) -> Array:
    """Return the weights after all answers, without the limits that a result also works out."""
    while (query := procedure.ask()) is not None:
        procedure.tell(oracle(query))
    found = procedure._estimate()
    return np.asarray(procedure._family(procedure._flipped).weights(found[None])[0])


def in_parallel(function: Callable[[int], Any], jobs: Iterable[int]) -> Array:
    """Map in some processes; each keeps to one thread."""
    with Pool(PROCESSES) as pool:
        return np.asarray(pool.map(function, jobs, chunksize=1))


def angle(a: Array, b: Array) -> float:
    """Return the angle of two vectors."""
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


# --- noise-free searches


def searched(
    procedure: type[Procedure], kind: str, k: int, options: dict[str, Any], index: int
) -> Array:
    """Return questions, greatest, Euclidean and angular error: of bisection, then of the thesis."""
    space, row = space_of(kind, k), []
    weights = random_weights(space.dim, index)
    for strategy in ("bisection", "thesis"):
        proc = procedure(space, strategy=strategy, **options)
        found = answered(proc, MetricOracle(space.linear_metric(weights)))
        scaled = weights / (weights.sum() if kind == "diagonal" else 1.0)
        difference = found - scaled
        row += [len(proc.answers), np.abs(difference).max(), np.linalg.norm(difference)]
        row.append(angle(found, weights))
    return np.array(row)


def bisections(metrics: int) -> list[Line]:
    """Compare the questions and errors of bisection with those of the thesis."""
    lines = []
    cases: list[tuple[str, Any, str, int, dict[str, Any], int, str, int, float]] = [
        ("BinaryLinear", BinaryLinear, "binary", 2, {"tol": 0.02, "orientation": "ask"},
         8, "angle", 3, 0.01),
        ("DiagonalLinear k=3", DiagonalLinear, "diagonal", 3, {}, 12, "error", 1, 0.01),
        ("DiagonalLinear k=4", DiagonalLinear, "diagonal", 4, {}, 18, "error", 1, 0.01),
        ("Linear q=6", Linear, "confusion", 3, {}, 40, "l2 error", 2, 0.006),
        ("Linear q=12", Linear, "confusion", 4, {}, 88, "l2 error", 2, 0.007),
    ]  # fmt: skip
    for name, procedure, kind, k, options, most, error, column, limit in cases:
        space, jobs = space_of(kind, k), range(metrics)
        if kind == "diagonal":
            pool = (i for i in range(10**6) if told_apart(space, random_weights(space.dim, i)))
            jobs = [next(pool) for _ in range(metrics)]
        elif kind == "confusion":
            _ = space.radius  # once, before the processes part
        rows = in_parallel(partial(searched, procedure, kind, k, options), jobs)
        ours, theirs = rows[:, :4].max(axis=0), rows[:, 4:].max(axis=0)
        figures = (
            Figure("questions", ours[0], most),
            Figure(f"largest {error}", ours[column], limit),
        )
        thesis = f"{theirs[0]:.0f} questions, largest {error} {theirs[column]:.4f}"
        lines.append(Line(f"{name}, noise-free", figures, theirs[0] / ours[0], thesis))
        lines[-1].show()
    return lines


# --- active, on the sphere


def angles_along(k: int, flip: float, n: int, index: int) -> Array:
    """Return the angle to the truth after each of n answers about points of the ball."""
    space = space_of("confusion", k)
    truth = random_weights(space.dim, index)
    oracle = MetricOracle(space.linear_metric(truth), flip=flip, rng=index)
    proc = Linear(space, pairs="sphere", agreement=1.0, max_queries=n, rng=index)
    along = []
    while (query := proc.ask()) is not None:
        proc.tell(oracle(query))
        assert proc._belief is not None
        along.append(angle(proc._belief.estimate, truth))
    return np.array(along)


class Majority:
    """Asks someone who slips the same question several times."""

    def __init__(self, oracle: MetricOracle, repeats: int) -> None:
        self.oracle, self.repeats = oracle, repeats

    def __call__(self, query: Any) -> str:
        """Return what most of the answers are."""
        first = sum(self.oracle(query) == "first" for _ in range(self.repeats))
        return "first" if 2 * first > self.repeats else "second"


def voted(k: int, tol: float, repeats: int, index: int) -> tuple[int, float]:
    """Return the questions of the thesis' search with majority votes, and its angle."""
    binary = k == 2
    space = space_of("binary" if binary else "confusion", k)
    procedure: type[Procedure] = BinaryLinear if binary else Linear
    truth = random_weights(space.dim, index)
    oracle = MetricOracle(space.linear_metric(truth), flip=0.1, rng=index)
    found = answered(procedure(space, strategy="thesis", tol=tol), Majority(oracle, repeats))
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
    """Return the bits of an answer to: which cap of this angle in the positive orthant?"""
    cap = 0.5 * betainc((q - 1) / 2, 0.5, np.sin(error) ** 2)
    return float(-np.log2(cap * 2**q))


def first_below(medians: Array, limit: float) -> float:
    """Return after how many answers the median is within a limit for the first time."""
    return float(np.argmax(medians <= limit)) + 1 if (medians <= limit).any() else np.inf


def on_the_sphere(metrics: int) -> list[Line]:
    """Compare the questions until a median angle with those of majority votes."""
    lines = []
    for k, most in ((2, 5), (3, 35), (4, 85)):
        q = space_of("confusion", k).dim
        _ = space_of("confusion", k).radius
        medians = np.median(in_parallel(partial(angles_along, k, 0.1, most), range(metrics)), 0)
        needed = first_below(medians, 0.1)
        votes = fewest_votes(k, metrics) if k < 4 else 1056  # too slow to measure: the design's
        lines.append(
            Line(
                f"active q={q}, 10 % flips", (Figure("questions to 0.1", needed, most),),
                None if votes is None else votes / needed,
                f"with majority votes {votes or 'never'}{'' if k < 4 else ' (not measured here)'}",
            )
        )  # fmt: skip
        lines[-1].show()
        bits = information(q, 0.03)
        most = int(1.3 * bits)
        medians = np.median(in_parallel(partial(angles_along, k, 0.0, most), range(metrics)), 0)
        name = f"active q={q}, noise-free, {most} answers for {bits:.1f} bits"
        reached = f"0.03 after {first_below(medians, 0.03):.0f}"
        lines.append(Line(f"{name}, {reached}", (Figure("median angle", medians[-1], 0.03),)))
        lines[-1].show()
    return lines


# --- active, about attainable pairs


def agreed(
    procedure: type[Procedure], kind: str, k: int, flip: float, n: int, index: int
) -> float:
    """Return the agreement with the truth on fresh random pairs after n answers."""
    space = space_of(kind, k)
    truth = random_weights(space.dim, index)
    oracle = MetricOracle(space.linear_metric(truth), flip=flip, rng=index)
    proc = procedure(space, agreement=1.0, max_queries=n, rng=index)
    while (query := proc.ask()) is not None:
        proc.tell(oracle(query))
    assert proc._belief is not None
    points = space.coordinates(space.sample(2 * PAIRS, rng=10**6 + index))
    apart = points[:PAIRS] - points[PAIRS:]
    wanted, found = apart @ truth, apart @ proc._belief.estimate
    return float(np.mean((wanted * found > 0)[np.abs(wanted) > 1e-12]))


def with_people(metrics: int) -> list[Line]:
    """Count the agreement after as many answers as a person gives."""
    cases: list[tuple[str, Any, str, int, float, int, float]] = [
        ("law (1, 3, 5)", Linear, "confusion", 3, 0.1, 20, 0.95),
        ("softmax law of three features", Linear, "softmax", 3, 0.1, 20, 0.92),
    ]
    for flip, least in ((0.0, 0.95), (0.1, 0.95), (0.2, 0.90)):
        cases.append(("binary law", BinaryLinear, "binary", 2, flip, 25, least))
        cases.append(("law (1, 3, 5)", Linear, "confusion", 3, flip, 25, least))
    lines = []
    for law, procedure, kind, k, flip, n, least in cases:
        rows = in_parallel(partial(agreed, procedure, kind, k, flip, n), range(metrics))
        name = f"people, k={k}, {law}, {n} answers, {flip:.0%} flips, tenth {np.quantile(rows, 0.1):.3f}"
        figure = Figure("median agreement", float(np.median(rows)), least, at_least=True)
        lines.append(Line(name, (figure,)))
        lines[-1].show()
    return lines


def clock(metrics: int) -> list[Line]:
    """Time the next question at q=12; each is the least of some runs that ask the same."""
    space, lines = space_of("confusion", 4), []
    truth = random_weights(space.dim, 0)
    for pairs in ("sphere", "attainable"):
        taken = np.full((RUNS, QUESTIONS), np.inf)
        for run in range(RUNS):
            oracle = MetricOracle(space.linear_metric(truth), flip=0.1, rng=0)
            proc = Linear(space, pairs=pairs, agreement=1.0, max_queries=QUESTIONS + 1, rng=0)
            for at in range(QUESTIONS):
                query = proc.ask()
                assert query is not None
                answer = oracle(query)
                start = time.perf_counter()
                proc.tell(answer)
                taken[run, at] = time.perf_counter() - start
        least = 1000 * taken.min(axis=0)
        figures = (
            Figure("median ms", float(np.median(least)), 200), Figure("worst ms", least.max(), 200)
        )  # fmt: skip
        lines.append(Line(f"next question, q=12, {pairs} pairs", figures))
        lines[-1].show()
    return lines


def main() -> int:
    """Print one line per comparison; return 1 if a limit is missed."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description="Metric elicitation beside the thesis.")
    parser.add_argument("--metrics", type=int, default=METRICS, help="random metrics per line")
    metrics: int = parser.parse_args().metrics
    parts = (clock, bisections, on_the_sphere, with_people)
    lines = [line for part in parts for line in part(metrics)]
    missed = sum(not figure.kept for line in lines for figure in line.figures)
    total = sum(len(line.figures) for line in lines)
    print(f"{total - missed} of {total} limits kept with {metrics} metrics for each line")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
