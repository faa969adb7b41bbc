"""The limits that a few true labels give: how often they hold, and how wide they are."""

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, say, show_table
from _weak_data import Task, load_task
from _weak_inside import BINARY, QUICK, SETS, SEVERAL, gold_of, predictions_of
from _weak_sparse import RIGHT, draw_law, draw_sample
from numpy.typing import NDArray

from karat.bounds._gold import metric_limits, read_sample
from karat.bounds.inputs import build_problem, read_gold, read_inputs, read_predictions
from karat.exceptions import KaratWarning
from karat.limits.result import PredictionPoweredLimits
from karat.metrics import as_metric

__all__ = ["run_gold"]

ITEMS = 2000
LABELS = (50, 300)
COVERAGE = 0.93
# The most that the width may be of that of the labels alone, two classes. Precision from 50 labels
# is wider, and shown as it is: with fewer than five wrong calls its labels count alone.
WIDTHS = {50: 0.8, 300: 0.7}
NOT_PROMISED = ("precision", 50)


class Kept(NamedTuple):
    """One pair of limits: whether the truth is inside, their width and that of labels alone."""

    inside: bool
    width: float
    alone: float


def run_gold(*, quick: bool) -> list[Promise]:
    """Print coverage and width in the law of sparse votes, and on real sets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        return _in_the_law(quick=quick) + _on_real_sets(quick=quick)


def _in_the_law(*, quick: bool) -> list[Promise]:
    laws = 12 if quick else 250
    rows, promises = [], []
    for k, n in product((2, 5), LABELS):
        found: dict[str, list[Kept]] = {}
        for seed in range(laws):
            for metric, kept in _one_law(k, n, seed):
                found.setdefault(metric, []).append(kept)
        for metric, runs in found.items():
            cover, width, alone = np.mean(np.array(runs, dtype=float), axis=0)
            rows.append([metric, str(k), str(n), f"{cover:.3f}", f"{width / alone:.2f}"])
            if not quick:
                where = f"{metric}, {k} classes, {n} labels"
                promises.append(Promise(f"coverage with labels, {where}", cover, COVERAGE))
                if k == 2 and (metric, n) != NOT_PROMISED:
                    ratio, most = width / alone, WIDTHS[n]
                    promises.append(Promise(f"width with labels, {where}", ratio, most, True))
    columns = ["metric", "|Y|", "labels", "covered", "width / labels alone"]
    show_table(f"With labels: 95 % limits in the sparse setting, {laws} laws", columns, rows)
    return promises


def _one_law(k: int, n: int, seed: int) -> Iterator[tuple[str, Kept]]:
    """Bound one sample of one law with n labels; the truth is that of the law."""
    rng = np.random.default_rng([k, n, seed])
    law = draw_law(k, rng)
    predicted, votes, _, y = draw_sample(law, ITEMS, rng)
    gold = np.full(ITEMS, -1)
    rows = rng.choice(ITEMS, n, replace=False)
    gold[rows] = y[rows]
    positive = float(law.prior[1])
    called = RIGHT * positive + (1 - RIGHT) * (1 - positive)
    truth = {"accuracy": RIGHT}
    if k == 2:
        truth |= {"precision": RIGHT * positive / called, "recall": RIGHT}
        truth["f1"] = 2 * RIGHT * positive / (called + positive)
    ready = _prepared(votes, [predicted], range(k))
    for name, found in _limits(ready, list(truth), gold, rng):
        yield name, _kept(found, truth[name])


class Prepared(NamedTuple):
    """Votes and predictions as `performance_bounds` prepares them."""

    inputs: Any
    calls: list[Any]
    shares: list[NDArray[Any]]  # P(prediction | pattern) of each


def _prepared(votes: NDArray[Any], predicted: list[NDArray[Any]], classes: Any) -> Prepared:
    inputs = read_inputs({"y_pred": predicted[0]}, votes, None, classes=classes)
    calls = [read_predictions(one, inputs) for one in predicted]
    rng, k = np.random.default_rng(0), len(inputs.classes)
    shares = [
        build_problem(inputs, one, n_outcomes=k, method="crossfit", rng=rng).pooled for one in calls
    ]
    return Prepared(inputs, calls, shares)


def _limits(
    ready: Prepared, metrics: list[str], labels: NDArray[Any], rng: np.random.Generator
) -> Iterator[tuple[str, PredictionPoweredLimits]]:
    """Yield the recommended limits, prediction by prediction and metric by metric.

    As `performance_bounds` makes them, but the label models without each fifth of the labels are
    fitted once for all.
    """
    inputs = ready.inputs
    gold = read_gold(labels, inputs.classes, inputs.n)
    sample = read_sample(inputs, None, gold, None, rng)
    assert sample is not None
    for (called, share), name in product(zip(ready.calls, ready.shares, strict=True), metrics):
        metric = as_metric(name)
        found = metric_limits(metric, inputs, called, sample, share, confidence=0.95, rng=rng)
        assert found is not None
        yield name, found


def _kept(found: PredictionPoweredLimits, truth: float) -> Kept:
    return Kept(found.lower <= truth <= found.upper, found.width, found.labels.width)


def _on_real_sets(*, quick: bool) -> list[Promise]:
    """Print by set how often the limits hold the test score, over many draws of labels."""
    names, draws = (QUICK, 4) if quick else (SETS, 40)
    rows: list[list[str]] = []
    shares: dict[int, list[float]] = {50: [], 100: []}
    for name in names:
        task = load_task(name, quick=quick)
        cells = [name]
        for n, share in shares.items():
            found: dict[str, list[Kept]] = {}
            for metric, kept in _of_set(task, n, draws):
                found.setdefault(metric, []).append(kept)
            means = {m: np.mean(np.array(runs, float), axis=0) for m, runs in found.items()}
            share.append(float(np.mean([cover for cover, _, _ in means.values()])))
            cells.append(f"{share[-1]:.3f}")
            cells.append(", ".join(f"{m} {cover:.2f}" for m, (cover, _, _) in means.items()))
            _, width, alone = means["accuracy"]
            cells.append(f"{width / alone:.2f}")
        rows.append(cells)
    columns = ["set"]
    for n in shares:
        columns += [f"covered, {n}", f"by metric, {n}", f"accuracy's width / alone, {n}"]
    show_table(f"With labels: 95 % limits on real sets, {draws} draws of labels", columns, rows)
    say(
        "The truth is the test score; the limits are those that performance_bounds(y_pred, votes, "
        "y_true=) recommends, of the same four classifiers as above.\n"
    )
    return [
        Promise(f"coverage on real sets, {n} labels", float(np.mean(share)), COVERAGE)
        for n, share in shares.items()
        if not quick
    ]


def _of_set(task: Task, n: int, draws: int) -> Iterator[tuple[str, Kept]]:
    """Yield every pair of limits beside the test score."""
    y, predicted = task.y[task.bound], predictions_of(task)
    names = BINARY if task.n_classes == 2 else SEVERAL
    truth = [
        as_metric(name).score(y, one, classes=task.classes) for one in predicted for name in names
    ]
    ready, rng = (
        _prepared(task.votes[task.bound], predicted, task.classes),
        np.random.default_rng(0),
    )
    for draw in range(draws):
        # Other draws than those of the table of all columns.
        labels = gold_of(task, n, 1000 + draw)[task.bound]
        found = _limits(ready, list(names), labels, rng)
        for (name, limits), value in zip(found, truth, strict=True):
            yield name, _kept(limits, value)
