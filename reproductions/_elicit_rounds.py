"""How few questions will do: Hiranandani 2021, section 8.2.2 and Lemma 3.2.

Section 8.2.2 asks three questions a round where Algorithm 3.1 asks four, Lemma 3.2 says how many
any search needs.
"""

import warnings
from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from _elicit_common import Array, Found, ask_all, largest, search_all
from _elicit_data import binary_set, model_half
from _elicit_printed import SUBJECTS
from _elicit_smoothing import fit_boundary
from _least_questions import bits_of_a_sphere, bits_of_an_arc
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, ConfusionSpace, Elicitation, MetricOracle, Query
from karat.elicit._problems import LinearBinary
from karat.elicit.posterior import Brackets
from karat.elicit.search import Steps, unimodal
from karat.exceptions import KaratWarning
from karat.metrics import LinearMetric

__all__ = ["run_least", "run_rounds"]

_TOL = 0.05  # of the study of chapter 8
_PAIRS, _BALL = 15, 0.1  # questions that test a metric, and the ball that they are from
_TOLERANCES = (0.1, 0.05, 0.02, 0.005)
_MOST = 24  # answers of the active strategy


def _searched(space: BinarySpace, a_round: int, tol: float, truth: LinearMetric) -> Found:
    """Run Algorithm 3.1 with four questions a round, with at most three, or with at most two.

    A round of none is a question about the two ends of a chord.
    """
    if not a_round:
        return ask_all(Elicitation(space, strategy="bisection", tol=tol), truth)
    problem = LinearBinary(space=space, strategy="published", tol=tol)
    brackets = problem.first_brackets()

    def query(s: float, t: float) -> Query:
        return Query(space.at_angle(s), space.at_angle(t))

    if a_round == 3:
        steps = _three_a_round(brackets, tol, query)
    else:
        steps = unimodal(brackets, 0, tol, query, n_questions=a_round)
    return search_all(problem, steps, brackets, truth)


def _three_a_round(brackets: Brackets, tol: float, query: Callable[[float, float], Query]) -> Steps:
    """Halve as section 8.2.2 does: c against a, then c against d, then e against d."""
    while brackets.width(0) > tol:
        a, c, d, e, _ = np.linspace(brackets.low[0], brackets.high[0], 5)
        if (yield query(c, a)) == "second" or (yield query(c, d)) == "first":
            brackets.cut_high(0, d)
        elif (yield query(e, d)) == "first":
            brackets.raise_low(0, d)
        else:
            brackets.raise_low(0, c)
            brackets.cut_high(0, e)


_SEARCHES = {"four a round": 4, "three": 3, "two": 2, "chords": 0}


def run_rounds(*, data: bool) -> list[Promise]:
    """Print how the metrics of Table 8.4 are found again; return what is promised."""
    name = "original" if data else "diagnostic"
    space = fit_boundary(model_half(binary_set(name), 1.0, 0)).least_squares
    rows, apart, asked, right = [], [], [], []
    for subject, (weight, explained) in enumerate(SUBJECTS, start=1):
        truth = LinearMetric([[weight, 0.0], [0.0, 1.0 - weight]])
        line = [f"S{subject}", number(weight, 3)]
        found: dict[str, Found] = {}
        for title, a_round in _SEARCHES.items():
            found[title] = _searched(space, a_round, _TOL, truth)
            line += [number(_share(found[title]), 3), str(found[title].n_queries)]
        apart.append(largest(found["four a round"].weights, found["three"].weights))
        asked.append(found["three"].n_queries / found["four a round"].n_queries)
        right.append(_explained(found["three"], truth, subject))
        rows.append([*line, f"{explained}", f"{100 * right[-1]:.0f}"])
    say(
        "The metrics that ten people led to in chapter 8 (the weight of true negatives), put in "
        "their place: an oracle with that metric answers on the smoothed boundary of Figure 8.1. "
        "Three questions a round find the brackets of four; c against a is not needed either, "
        "since whoever prefers a to c prefers c to d. M is the percentage of fifteen further "
        "pairs, from a ball of radius 0.1 around guessing, that the metric answers rightly: the "
        "thesis' is that of people, who slip; it cannot be had without them.\n"
    )
    columns = [c for title in _SEARCHES for c in (title, "questions")]
    title = f"Section 8.2.2: weight of true negatives and questions, tolerance {_TOL}"
    show_table(title, ["subject", "true", *columns, "thesis M", "M"], rows)
    return [
        Promise("Section 8.2.2, three questions from four, weights", max(apart), 1e-9, True),
        Promise("Section 8.2.2, three questions over four, greatest", max(asked), 0.75, True),
        Promise(
            "Section 8.2.2, mean M of an oracle that does not slip", float(np.mean(right)), 0.9
        ),
    ]


def _share(found: Found) -> float:
    """Return the weight of true negatives where both sum to 1."""
    return float(found.weights[1] / found.weights.sum())


def _explained(found: Found, truth: LinearMetric, seed: int) -> float:
    """Return the share of random pairs that a metric answers as the true one does (8.2)."""
    rng = np.random.default_rng(seed)
    ways = rng.normal(size=(2, _PAIRS, 2))
    ways *= rng.uniform(size=(2, _PAIRS, 1)) ** 0.5 / np.linalg.norm(ways, axis=2, keepdims=True)
    true = np.array([truth.weights[1, 1], truth.weights[0, 0]])
    gaps = _BALL * (ways[0] - ways[1])  # of true positives and true negatives
    return float(np.mean(np.sign(gaps @ found.weights) == np.sign(gaps @ true)))


def run_least(*, quick: bool) -> list[Promise]:
    """Print Lemma 3.2 beside the questions that searches use; return what is promised."""
    space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    low, high = space.frontier.reach
    turns = np.random.default_rng(0).uniform(low, high, 3 if quick else 20)
    paths = [] if quick else [_active_path(space, turn, seed) for seed, turn in enumerate(turns)]
    rows, over = [], []
    for tol in _TOLERANCES:
        least = bits_of_an_arc(high - low, tol / 2)
        asked = []
        for a_round in _SEARCHES.values():
            counts = [_searched(space, a_round, tol, _metric(turn)).n_queries for turn in turns]
            asked.append(float(np.mean(counts)))
        over.append(asked[-1] - ceil(least))
        settled = float(np.median([_settled(path, tol / 2) for path in paths] or [np.inf]))
        cells = [f"{tol:g}", f"{least:.2f}", *(f"{value:.1f}" for value in asked)]
        rows.append([*cells, "–" if np.isinf(settled) else f"{settled:.0f}"])
    say(
        "Lemma 3.2: one answer is one bit, and an angle of the law's reach within ε/2 takes "
        "log2(reach/ε) of them. The last column is the median number of answers after which the "
        f"estimate of karat's active strategy stays within ε/2 ({len(paths)} people who do not "
        "slip); it is built for those who do.\n"
    )
    columns = ["ε", "log2(reach/ε)", *_SEARCHES, "active"]
    show_table("Lemma 3.2: the least number of questions, and those asked", columns, rows)
    return [
        Promise("Lemma 3.2, chords beyond the least whole number", max(over), 1.0, at_most=True),
        *([] if quick else _least_of_spheres()),
    ]


def _metric(turn: float) -> LinearMetric:
    return LinearMetric([[np.sin(turn), 0.0], [0.0, np.cos(turn)]])


def _active_path(space: BinarySpace, turn: float, seed: int) -> list[float]:
    """Return the error of the active strategy's angle after each answer."""
    procedure = Elicitation(space, agreement=1.0, max_queries=_MOST, rng=seed)
    oracle = MetricOracle(_metric(turn))
    path: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        while (query := procedure.ask()) is not None:
            procedure.tell(oracle(query))
            gains = _gains(procedure.result.metric)
            path.append(abs(float(np.arctan2(gains[0, 0], gains[1, 1])) - turn))
    return path + path[-1:] * (_MOST - len(path))


def _settled(path: list[float], within: float) -> float:
    """Return the number of answers after which an error stays within a limit."""
    outside = np.flatnonzero(np.array(path) > within)
    last = int(outside[-1]) + 1 if len(outside) else 0
    return np.inf if last == len(path) else last + 1.0


def _least_of_spheres() -> list[Promise]:
    """Print the bound of Theorem 6.2 for linear metrics of all errors."""
    rows, over = [], []
    for slopes in ((1.0, 3.0, 5.0), (1.0, 3.0, 6.0, 10.0)):
        space = ConfusionSpace.from_density(LogisticLaw(slopes).proba, n_points=2001)
        for strategy, people in (("published", 30), ("bisection", 30), ("active", 10)):
            tried = [_angle_off(space, strategy, seed) for seed in range(people)]
            angle = float(np.median([error for error, _ in tried]))
            asked = float(np.mean([count for _, count in tried]))
            least = bits_of_a_sphere(space.dim, angle, orthant=True)
            if strategy == "bisection":
                over.append(asked / least)
            cells = [str(len(slopes)), str(space.dim), strategy, number(angle, 4)]
            rows.append([*cells, f"{least:.1f}", f"{asked:.0f}", number(asked / least)])
    show_table(
        "Theorem 6.2 for linear metrics: least number of questions for the median angle reached",
        ["k", "q", "strategy", "median angle", "least", "questions", "ratio"], rows,
    )  # fmt: skip
    return [Promise("Theorem 6.2, linear metrics, bisection over the least", max(over), 1.5, True)]


def _angle_off(space: ConfusionSpace, strategy: str, seed: int) -> tuple[float, int]:
    """Return the angle between a random metric and what is found of it, and the questions."""
    weights = np.abs(np.random.default_rng(seed).normal(size=space.dim))
    weights /= np.linalg.norm(weights)
    metric = space.linear_metric(weights)
    if strategy == "active":  # as many questions as the bisection asks, about the same ball
        most = (space.dim - 1) * ceil(np.log2(np.pi / 2 / 0.01))
        procedure = Elicitation(space, agreement=1.0, max_queries=most, pairs="sphere", rng=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            result = procedure.run(MetricOracle(metric))
        found, asked = -space.coordinates(np.asarray(_gains(result.metric))), result.n_queries
    else:
        answers = ask_all(Elicitation(space, strategy=strategy), metric)
        found, asked = answers.weights, answers.n_queries
    cosine = float(found @ weights / np.linalg.norm(found))
    return float(np.arccos(min(1.0, cosine))), asked


def _gains(metric: Any) -> Array:
    return np.asarray(metric.weights)
