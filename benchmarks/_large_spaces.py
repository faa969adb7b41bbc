"""Spaces of many items beside a pass over all rows; seconds and memory in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _timing import race
from numpy.typing import NDArray

from karat.decisions.population import Chain, Frontier, Population, compressed, upper_hull
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, Elicitation, RateSpace
from karat.elicit._rate_space import JointRates
from karat.elicit.spaces import Space

__all__ = ["CASES", "Race", "first_question", "races"]

ITEMS, CLASSIFIERS, SCORES = 100_000, 1000, 300_000
CASES = ("RateSpace of two groups", "BinarySpace", "ConfusionSpace of three classes")
Array = NDArray[np.float64]


class Race(NamedTuple):
    """How many times faster than the peer, and the greatest difference of a confusion."""

    name: str
    ratio: float
    difference: float
    limit: float
    rest: str = ""


def law(n: int, k: int, seed: int = 0) -> tuple[NDArray[np.int64], Array]:
    """Draw labels and probabilities of a softmax law of three features."""
    rng = np.random.default_rng(seed)
    proba = rng.normal(size=(n, 3)) @ (2.0 * rng.normal(size=(3, k)))
    proba -= proba.max(axis=1, keepdims=True)
    np.exp(proba, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    drawn, y = rng.random(n), np.zeros(n, dtype=np.int64)
    for j in range(k - 1):
        drawn -= proba[:, j]
        y += drawn > 0
    return y, proba


def by_rows(proba: Array, mass: Array, gains: Array) -> Array:
    """Return the confusions of rules by a pass over all rows for each."""
    tables = np.empty((len(gains), *gains.shape[1:]))
    for table, rule in zip(tables, gains, strict=True):
        scores = proba @ rule
        decided = scores.shape[1] - 1 - np.argmax(scores[:, ::-1], axis=1)
        for j in range(len(rule)):
            table[:, j] = (decided == j).astype(float) @ mass
    return tables


def hull_by_python(points: Array) -> NDArray[np.int64]:
    """Return the upper hull by Andrew's monotone chain, in Python."""
    kept: list[int] = []
    rows = points.tolist()
    for at, (x, y) in enumerate(rows):
        while len(kept) >= 2:
            (x0, y0), (x1, y1) = rows[kept[-2]], rows[kept[-1]]
            if (x1 - x0) * (y - y0) < (y1 - y0) * (x - x0):
                break
            kept.pop()
        kept.append(at)
    return np.array(kept)


def races() -> Iterator[Race]:
    """Compare sorting, hulls and cells with what they replace."""
    yield from _sorts()
    yield from _hulls()
    yield _cells()


def _sorts() -> Iterator[Race]:
    y, proba = law(ITEMS, 2)
    mass = np.eye(2)[y] / ITEMS
    kinds: tuple[type[Space], ...] = (RateSpace, ConfusionSpace, DiagonalSpace)
    for kind in kinds:
        space = kind.from_proba(y, proba)
        gains = space.weights(np.random.default_rng(1).normal(size=(CLASSIFIERS, space.dim)))

        def sort(gains: Array = gains) -> Array:
            return Population(proba, mass).optimal(gains)  # the sort is part of it

        mine, rows = race(1, sort, lambda gains=gains: by_rows(proba, mass, gains))  # type: ignore[misc]
        apart = float(np.abs(sort() - by_rows(proba, mass, gains)).max())
        name = f"{kind.__name__} of two classes, {ITEMS:,} items, {CLASSIFIERS} classifiers"
        rest = f"{mine:.3f} s with the sort, {rows:.3f} s by rows"
        yield Race(name, rows / mine, apart, 1e-12, rest)


def _hulls() -> Iterator[Race]:
    y, proba = law(SCORES, 2)
    curve = Frontier.of(proba, np.eye(2)[y] / SCORES, 1, 0)
    points = curve.gains
    mine, python = race(3, lambda: upper_hull(points), lambda: hull_by_python(points))
    apart = np.abs(points[upper_hull(points)] - points[hull_by_python(points)]).max()
    rest = f"{mine:.4f} s, {python:.3f} s in Python"
    yield Race(f"upper hull of {SCORES:,} scores", python / mine, float(apart), 1e-12, rest)
    chain = Chain(Frontier.of(proba, proba / SCORES, 1, 0).gains)  # calibrated: all are vertices
    directions = np.abs(np.random.default_rng(2).normal(size=(50, 2)))

    def argmax() -> NDArray[np.int64]:
        return np.asarray((directions @ chain.points.T).argmax(axis=1))

    mine, all_of_them = race(3, lambda: chain.best(directions), argmax)
    found, best = chain.points[chain.best(directions)], chain.points[argmax()]
    lost = np.abs(np.einsum("bd,bd->b", directions, best - found)).max()
    rest = f"{mine:.5f} s, {all_of_them:.3f} s by all vertices; the difference is of values"
    name = f"best of {len(chain.points):,} vertices, {len(directions)} directions"
    yield Race(name, all_of_them / mine, float(lost), 1e-12, rest)


def _cells() -> Race:
    n, some = 10 * ITEMS, 30
    y, proba = law(n, 3)
    population = Population(proba, np.eye(3)[y] / n)
    start = time.perf_counter()
    small = compressed(population)
    joined = time.perf_counter() - start
    gains = np.random.default_rng(3).exponential(size=(some, 3, 3)) * (np.eye(3) - 1.0)
    mine, rows = race(
        1, lambda: small.optimal(gains), lambda: by_rows(proba, population.mass, gains)
    )
    apart = np.abs(small.optimal(gains) - by_rows(proba, population.mass, gains))
    bound = small.doubtful(gains).max(axis=1)
    held = bool((apart.max(axis=(1, 2)) <= bound).all())
    rest = (
        f"{len(small.proba):,} cells, joined in {joined:.2f} s; median bound "
        f"{np.median(bound):.4f}, {'held' if held else 'BROKEN'}"
    )
    return Race(f"cells of {n:,} items of three classes", rows / mine, apart.max(), 5e-4, rest)


# --- many rows, in a fresh process


def first_question(case: str, rows: int) -> dict[str, float]:
    """Return seconds of the processor and gigabytes at most until the first question."""
    command = [sys.executable, __file__, case, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _ask(case: str, rows: int) -> dict[str, float]:
    y, proba = law(rows, 3 if "three" in case else 2)
    groups = np.random.default_rng(1).integers(0, 2, rows)
    score = proba[:, 1].copy()
    own = _peak()
    start = time.process_time()
    procedure: Elicitation
    if case == CASES[0]:
        rates = RateSpace.from_proba(y, proba, groups=groups)
        space: Space | JointRates = JointRates(rates)
        print_of, procedure = rates.fingerprint, Elicitation(rates, rng=0)
    elif case == CASES[1]:
        space = BinarySpace.from_scores(y, score)
        print_of, procedure = space.fingerprint, Elicitation(space, rng=0)
    else:
        space = ConfusionSpace.from_proba(y, proba)
        print_of, procedure = space.fingerprint, Elicitation(space, rng=0)
    for n in (600, 400):
        space.coordinates(space.sample(n, rng=n))
    assert procedure.ask() is not None
    assert print_of
    return {"seconds": time.process_time() - start, "peak": _peak(), "data": own}


def _peak() -> float:
    """Return the most memory that this process held so far, in gigabytes."""
    status = Path("/proc/self/status")
    if status.is_file():  # what `resource` says on Linux includes the process that started this one
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024 / 1e9
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


if __name__ == "__main__":
    print(json.dumps(_ask(sys.argv[1], int(sys.argv[2]))))
