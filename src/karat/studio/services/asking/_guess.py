"""What a person guesses of the costs without being asked about pairs: the baseline (G7)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.metrics import FairMetric, MetricBase, cost_matrix
from karat.studio.schemas import FormField
from karat.studio.services.asking._asked import Asked
from karat.studio.services.asking._words import words_of

__all__ = ["guess_fields", "guess_metric"]

_LEAST, _MOST = 1e-6, 1e6


def guess_fields(asked: Asked) -> tuple[FormField, ...]:
    """Return the questions: a ratio of two classes, or what an error of each of more costs."""
    words, k = words_of(asked), asked.space.n_classes
    number: dict[str, Any] = {"kind": "number", "minimum": _LEAST, "maximum": _MOST}
    fields = []
    if k == 2:
        text = (
            f"How many {words.items} that {words.truth[0]} but are predicted as "
            f"“{words.predicted[1]}” are as bad as one that {words.are(1)} but is predicted as "
            f"“{words.predicted[0]}”? Write 10 if one of the latter is ten times as bad, 0.1 if it "
            "is a tenth as bad."
        )
        fields.append(FormField(name="ratio", text=text, **number))
    else:
        for i in range(k):
            text = (
                f"How bad is one error about {words.items} that {words.truth[i]}? Any unit will do."
            )
            fields.append(FormField(name=f"cost_{i}", text=text, **number))
    if asked.fair:
        text = (
            "How many points of error rate is one point of difference between the error rates of "
            "two groups worth? Write 1 if both are equally bad, 0.1 if a difference is a tenth as "
            "bad."
        )
        fields.append(FormField(name="gap", text=text, **number))
    return tuple(fields)


def guess_metric(asked: Asked, guess: Mapping[str, float | None]) -> MetricBase | None:
    """Return the metric that a guess amounts to; None where the person made none."""
    k = asked.space.n_classes
    names = ["ratio"] if k == 2 else [f"cost_{i}" for i in range(k)]
    given = [guess.get(name) for name in names]
    if any(value is None for value in given):
        return None
    known = [float(value) for value in given if value is not None]
    costs = np.array([1.0, *known]) if k == 2 else np.array(known)
    table = costs[:, None] * (1.0 - np.eye(k))
    gap = guess.get("gap")
    if not asked.fair:
        return cost_matrix(table)
    if gap is None:
        return None
    # Costs of cases become costs of rates: a point of a class's rate is so many of its cases.
    rates = (table * np.asarray(asked.space.prior)[:, None])[~np.eye(k, dtype=bool)]
    rates = rates / rates.sum()
    m = len(asked.groups or ())
    pairs = np.tile(rates, (m * (m - 1) // 2, 1))
    return FairMetric(rates, pairs, float(gap) / (1.0 + float(gap)))
