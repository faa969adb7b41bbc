"""Metrics in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.exceptions import MetricError

__all__ = ["class_name", "class_names", "describe_gains", "error_names", "linear_form"]


def class_names(classes: Sequence[Any] | None, k: int) -> list[str]:
    """Return the names of k classes; by default they are numbered from 0."""
    known = range(k) if classes is None else classes
    if len(known) != k:
        raise MetricError(f"classes names {len(known)} classes and the metric is for {k}")
    return [class_name(c) for c in known]


def class_name(label: Any) -> str:
    """Return a label as it stands in a sentence: a number alone would be taken for a count."""
    return str(label) if isinstance(label, str) else f"class {label}"


def describe_gains(title: str, weights: FloatArray, names: Sequence[str]) -> str:
    """Describe a linear metric by what its errors cost relative to a right prediction."""
    cost = np.diag(weights)[:, None] - weights
    errors = [
        (cost[i, j], names[i], names[j])
        for i in range(len(names))
        for j in range(len(names))
        if i != j and cost[i, j] != 0
    ]
    head = f"{title[:1].upper()}{title[1:]}, linear on {len(names)} classes"
    if not errors:
        return f"{head}: no prediction changes its value."
    errors.sort(key=lambda error: -error[0])
    most = 6  # errors that a sentence can list
    listed = "; ".join(
        f"predicting {predicted} when the truth is {truth} "
        f"{'costs' if amount > 0 else 'gains'} {abs(amount):.4g}"
        for amount, truth, predicted in errors[:most]
    )
    more = f"; and {len(errors) - most} smaller ones" if len(errors) > most else ""
    text = f"{head}. Against a right prediction, {listed}{more}."
    return text + (_threshold(cost, names) if len(names) == 2 else "")


def _threshold(cost: FloatArray, names: Sequence[str]) -> str:
    """Return Proposition 3.1 in words: when to predict the positive class."""
    false_alarm, miss = cost[0, 1], cost[1, 0]
    if false_alarm < 0 or miss < 0:
        return ""
    ratio = ""
    if false_alarm > 0:
        missed = names[1].removeprefix("the ")  # "the class" of an average over classes
        ratio = f" A missed {missed} weighs {miss / false_alarm:.4g} false alarms."
    return f"{ratio} Best predicted {names[1]} from a probability of " + (
        f"{false_alarm / (false_alarm + miss):.4g} on."
    )


def linear_form(weights: FloatArray, names: Sequence[str], constant: float = 0.0) -> str:
    """Write ``Σ weights·C + constant`` with P(truth, prediction) for the entries."""
    terms = [
        f"{'' if w == 1 else f'{w:.4g}·'}P(truth {names[i]}, predicted {names[j]})"
        for (i, j), w in np.ndenumerate(weights)
        if w != 0
    ]
    if constant or not terms:
        terms.append(f"{constant:.4g}")
    return " + ".join(terms).replace("+ -", "− ")


def error_names(names: list[str]) -> list[str]:
    """Return what each kind of error is, in words, as the spaces of `karat.elicit` call it."""
    return [
        f"{a} taken for {b}" for i, a in enumerate(names) for j, b in enumerate(names) if i != j
    ]
