"""Labels taken into an audit, or refused with the reason."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._validate import (
    check_choice,
    check_number,
    check_same_length,
    check_scores,
    refuse_option,
    shown,
)
from karat.audit.inputs import read_labels
from karat.audit.running._run import Event, Run
from karat.exceptions import AuditError, LabelError, ProbabilityError

__all__ = ["tell_labels"]

_DESIGNS = ("asked", "random", "probability")


def tell_labels(run: Run, labels: Any, design: str, probability: Any, replace: bool) -> int:
    """Take labels; the same label twice counts once. Return how many are new."""
    how = check_choice(design, "design", _DESIGNS)
    told = read_labels(labels, run.items, run.find)
    names = run.items.names
    for item, code in zip(told.at.tolist(), told.label.tolist(), strict=True):
        old = run.labels.get(item)
        if old is not None and old != code and not replace:
            raise LabelError(
                f"item {shown(names(np.array(item)).item())} was labelled "
                f"{shown(run.items.classes[old])} and is now labelled "
                f"{shown(run.items.classes[code])}; pass replace=True (--replace) if the new "
                "label is right"
            )
    chance = _probabilities(run, told.at.tolist(), how, probability)
    asked = {item for event in run.events for item in event.items}
    new = [item for item in told.at.tolist() if item not in asked]
    if how == "asked" and new:
        raise AuditError(
            f"{len(new)} of {len(told.at)} labels are of items that were not asked for (first "
            f"{shown(names(np.array(new[0])).item())}). Items that people picked would bias every "
            "estimate; if these were drawn at random from all items, pass design='random', or "
            "design='probability' with the probability of each"
        )
    kinds = {event.kind for event in run.events}
    if new and how == "probability" and kinds - {"probability"}:
        raise AuditError(
            "this audit has labels that were asked for or drawn at random; labels with "
            "probabilities of their own cannot be mixed with them. Start an audit of their own"
        )
    if new and how != "probability" and "probability" in kinds:
        raise AuditError(
            "this audit has labels with probabilities of their own, with which no others can be "
            "mixed; start another audit"
        )
    fresh = sum(item not in run.labels for item in told.at.tolist())
    if new and how != "asked":
        run.events.append(
            Event(how, new, probability=None if chance is None else [chance[i] for i in new])
        )
    run.labels.update(zip(told.at.tolist(), told.label.tolist(), strict=True))
    return fresh


def _by_item(run: Run, probability: Any) -> dict[int, float]:
    """Return probabilities by position, whether a mapping or a column for all items was passed."""
    if isinstance(probability, Mapping):
        at = run.find(list(probability.keys()))
        values = list(probability.values())
    else:
        values = check_scores(probability, "probability").tolist()
        check_same_length(y_pred=run.items.called, probability=values)
        at = list(range(len(values)))
    found: dict[int, float] = {}
    for item, value in zip(at, values, strict=True):
        if item >= 0:
            found[item] = check_number(value, "probability")
    return found


def _probabilities(run: Run, at: list[int], how: str, probability: Any) -> dict[int, float] | None:
    """Return the probability with which each labelled item was drawn."""
    if how != "probability":
        if probability is not None:
            refuse_option(how, "design", "'probability' where probability= is passed")
        return None
    if probability is None:
        raise AuditError(
            "design='probability' needs probability=, a mapping from item to the probability with "
            "which it was drawn; or pass design='random' if all were equally likely"
        )
    known = _by_item(run, probability)
    found = {}
    for item in at:
        name = run.items.names(np.array(item)).item()
        p = known.get(item)
        if p is None or not 0 < p <= 1:
            what = "missing" if p is None else f"{p:g}"
            raise ProbabilityError(
                f"the probability of item {shown(name)} is {what}; expected a number above 0 and "
                "at most 1. An item of probability 0 could not have been drawn"
            )
        found[item] = p
    return found
