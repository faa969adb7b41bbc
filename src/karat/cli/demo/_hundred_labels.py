"""What a hundred labels tell of both models: every answer beside its truth on all biopsies."""

from typing import Any

import numpy as np

from karat.cli.demo._models import Models
from karat.cli.demo._part import Interval, Part, part_of
from karat.evaluation import evaluate
from karat.metrics import cost_matrix

__all__ = ["better_at_it", "hundred_labels"]

_LABELS = 100
_COST = 10


def hundred_labels(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Label a hundred biopsies drawn at random, and measure, compare and rank both models."""
    found, everything = (
        evaluate(models.table(n, seed), **_roles(models), rng=seed)
        for n in (_LABELS, len(models.y_true))
    )
    gap = _results(found, "comparison")["tiers"].pairs[0]
    truth = _accuracy(models, gap.first) - _accuracy(models, gap.second)
    difference = Interval(
        f"accuracy of {gap.first} minus {gap.second}", gap.value, gap.lower, gap.upper, truth
    )
    return (
        part_of(
            found, "how_good", question="How good are they, with a hundred labels?",
            told=f"{_LABELS} of the {len(models.y_true)} biopsies, drawn at random, are labelled.",
            intervals=_beside(found, everything, "how_good"),
        ),
        part_of(
            found, "comparison", question="Which is better?", told="By the same labels:",
            intervals=(difference,), concludes=False,
        ),
        part_of(
            found, "ranking", question="How good is the ranking where it matters?",
            told="A screening that can follow up few of the healthy looks at low false-positive "
            "rates alone.",
            intervals=_beside(found, everything, "ranking"), concludes=False,
        ),
    )  # fmt: skip


def better_at_it(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Decide for a cost of ten to one, by a hundred labels and without training again."""
    costs = cost_matrix([[0, 1], [_COST, 0]])
    name = list(models.scores)[-1]
    found = evaluate(
        models.table(_LABELS, seed), label="label", score=f"p_{name}", metric=costs,
        pos_label=models.positive, rng=seed,
    )  # fmt: skip
    results = _results(found, "better_rule")
    best, cut = results["the best rule"], results["regions"].thresholds[0]
    decided = models.classes[(models.scores[name] >= cut).astype(int)]
    truth = float(costs.score(models.y_true, decided))
    interval = Interval(
        f"minus the cost of {name} with the best cut", best.value, best.lower, best.upper, truth
    )
    return (
        part_of(
            found, "better_rule", question="Can a model be made better at it, as it is?",
            told=f"A missed cancer costs as much as {_COST} false alarms; the metric is minus the "
            "mean cost.",
            intervals=(interval,), concludes=False,
        ),
    )  # fmt: skip


def _beside(found: Any, everything: Any, key: str) -> tuple[Interval, ...]:
    """Return every interval of a question beside what all labels give."""
    truths = _results(everything, key)
    intervals = []
    for name, r in _results(found, key).items():
        if name in truths and name != "comparison":
            model, _, title = name.partition(": ")
            what = f"{title} of {model}"
            intervals.append(Interval(what, r.value, r.lower, r.upper, truths[name].value))
    return tuple(intervals)


def _results(found: Any, key: str) -> dict[str, Any]:
    results: dict[str, Any] = next(f for f in found.findings if f.key == key).results
    return results


def _accuracy(models: Models, name: str) -> float:
    return float(np.mean(models.predict(name) == models.y_true))


def _roles(models: Models) -> dict[str, Any]:
    return {
        "label": "label", "pred": list(models.scores), "pos_label": models.positive,
        "score": [f"p_{name}" for name in models.scores],
    }  # fmt: skip
