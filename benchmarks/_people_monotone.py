"""People with monotone metrics: the agreement that is claimed, and the one that is found.

``monotone_rows`` asks simulated people about monotone metrics, and compares the agreement that each
result predicts with that of its metric and the person's own on fresh random pairs. Run by itself,
this file prints the rows: python benchmarks/_people_monotone.py [people of each kind]
"""

import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.datasets import LogisticLaw
from karat.elicit import DiagonalSpace, Elicitation, MetricOracle
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import PowerMeanMetric, g_mean, weighted_accuracy
from karat.metrics.base import Metric

__all__ = ["SPACES", "MonotoneRow", "agreement", "monotone_rows", "print_rows"]

KINDS = ("power mean", "G-mean", "linear")
SLIPS = 0.1
PAIRS = 2000


def law() -> DiagonalSpace:
    """Return what is attained on a law of three classes that overlap widely."""
    return DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, n_points=1001)


def clusters() -> DiagonalSpace:
    """Return what is attained on three round clusters, of which 3 in 4 items are told apart."""
    rng = np.random.default_rng(0)
    centers = 2.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    x = centers[rng.integers(0, 3, 3000)] + rng.normal(size=(3000, 2))
    density = np.exp(-0.5 * ((x[:, None] - centers) ** 2).sum(axis=2))
    return DiagonalSpace.from_calibrated(density / density.sum(axis=1, keepdims=True))


SPACES = {"law": law, "clusters": clusters}


@dataclass(frozen=True)
class MonotoneRow:
    """Means over people with one kind of metric."""

    space: str
    people: str
    n_people: int
    questions: float  # median
    certified: float  # share of people
    claimed: float  # mean predicted agreement
    true: float  # mean agreement on fresh pairs of the kind that the prediction is for
    error: float  # standard error of the mean of claimed less true
    extreme: float  # mean agreement on pairs that are best for linear metrics only
    tangent: float  # mean agreement, on fresh pairs, of the linear metric tangent at the optimum

    @property
    def excess(self) -> float:
        """By how much more agreement is claimed than there is."""
        return self.claimed - self.true


def draw_metric(people: str, space: DiagonalSpace, rng: np.random.Generator) -> Metric:
    """Draw the metric that a person has in mind."""
    weights = rng.dirichlet(np.full(space.dim, 2.0))
    if people == "power mean":
        return PowerMeanMetric(weights, rng.uniform(-2.0, 1.0))
    if people == "G-mean":
        return g_mean
    return weighted_accuracy(weights)


def agreement(where: Any, found: Metric, truth: Metric, rng: np.random.Generator) -> float:
    """Return the share of fresh random pairs on which two metrics prefer alike."""
    left, right = where.sample(PAIRS, rng=rng), where.sample(PAIRS, rng=rng)
    right = right[rng.permutation(PAIRS)]
    differ = np.abs(left - right).max(axis=(1, 2)) > 1e-12
    prefers = [(metric(left) > metric(right))[differ] for metric in (found, truth)]
    return float(np.mean(prefers[0] == prefers[1]))


def monotone_rows(
    n_people: int = 40,
    *,
    kinds: Iterable[str] = KINDS,
    spaces: Iterable[str] = tuple(SPACES),
    slips: float = SLIPS,
    seed: int = 0,
    **options: Any,
) -> Iterator[MonotoneRow]:
    """Ask people of each kind, and yield what was claimed and what is true."""
    for name in spaces:
        space = SPACES[name]()
        for people in kinds:
            rng = np.random.default_rng([seed, KINDS.index(people)])
            rows = [_person(space, people, slips, rng, options) for _ in range(n_people)]
            asked, certified, claimed, true, extreme, tangent = np.array(rows).T
            yield MonotoneRow(
                space=name,
                people=people,
                n_people=n_people,
                questions=float(np.median(asked)),
                certified=float(certified.mean()),
                claimed=float(claimed.mean()),
                true=float(true.mean()),
                error=float((claimed - true).std() / np.sqrt(n_people)),
                extreme=float(extreme.mean()),
                tangent=float(tangent.mean()),
            )


def _person(
    space: DiagonalSpace,
    people: str,
    slips: float,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> tuple[float, ...]:
    """Ask one person; return what `MonotoneRow` is the mean of."""
    truth = draw_metric(people, space, rng)
    procedure = Elicitation(space, "monotone", rng=int(rng.integers(2**31)), **options)
    oracle = MetricOracle(truth, flip=slips, rng=rng)
    while (query := procedure.ask()) is not None:
        procedure.tell(oracle(query))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)
        warnings.simplefilter("ignore", NotIdentifiedWarning)
        result = procedure.result
    seed = rng.integers(2**31)
    true, extreme, tangent = (
        agreement(where, metric, truth, np.random.default_rng(seed))
        for where, metric in (
            (procedure.question_space, result.metric),
            (space, result.metric),
            (procedure.question_space, procedure.tangent()),
        )
    )
    asked, certified = float(result.n_queries), float(result.status == "certified")
    return asked, certified, result.agreement, true, extreme, tangent


def print_rows(rows: Iterable[MonotoneRow]) -> None:
    """Print a table of rows."""
    print(
        "space     people       n  questions  certified  claimed   true  claimed−true (s.e.)  "
        "extreme  tangent"
    )
    for row in rows:
        print(
            f"{row.space:8}  {row.people:10} {row.n_people:3d}  {row.questions:9.0f}"
            f"  {row.certified:9.2f}  {row.claimed:7.3f}  {row.true:5.3f}"
            f"  {row.excess:+12.3f} ({row.error:.3f})  {row.extreme:7.3f}  {row.tangent:7.3f}",
            flush=True,
        )


if __name__ == "__main__":
    print_rows(monotone_rows(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
