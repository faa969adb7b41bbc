"""The check of the label model in each group, where a metric compares groups.

A label model that is right for all items together can be wrong within groups whose base rates
differ, and then a metric that compares them is wrong too.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import AnyArray
from karat.bounds.checks._deferred_check import DeferredCheck
from karat.bounds.inputs import Inputs
from karat.weak import LabelModelCheck

__all__ = ["CheckByGroup"]

_ERROR = 0.05  # probability that a right label model fails, by all checks together


class CheckByGroup(DeferredCheck):
    """Checks of all items and of each group, made when somebody asks; the first failure counts."""

    __slots__ = ("_names", "_parts")

    def __init__(self, inputs: Inputs, model: Any, gold: Any, names: AnyArray) -> None:
        known = None if gold is None else gold[0]
        model = inputs.model if model is None else model
        level = 1 - _ERROR / (1 + len(names))
        super().__init__(inputs.votes, inputs.p, model, None, known, level)
        self._names = [str(name) for name in names.tolist()]
        self._parts = []
        for g in range(len(names)):
            own = np.asarray(inputs.group) == g
            place = np.cumsum(own) - 1
            votes = replace(
                inputs.votes, patterns=inputs.votes.patterns[own],
                counts=inputs.votes.counts[own], ids=place[inputs.votes.ids],
            )  # fmt: skip
            some = None if known is None else np.where(own[inputs.votes.ids], known, -1)
            some = None if some is None or (some < 0).all() else some
            self._parts.append(DeferredCheck(votes, inputs.p[own], model, None, some, level))

    def __call__(self) -> LabelModelCheck:
        """Return the first check that fails, or that of all items."""
        whole = super().__call__()
        if not whole.passed:
            return whole
        for name, part in zip(self._names, self._parts, strict=True):
            if not (check := part()).passed:
                reasons = tuple(f"in group {name}, {reason}" for reason in check.reasons)
                return replace(check, reasons=reasons)
        return whole

    def __reduce__(self) -> Any:
        return _rebuilt, (self._arguments, self._made, self._names, self._parts)


def _rebuilt(arguments: Any, made: Any, names: list[str], parts: list[DeferredCheck]) -> Any:
    check = object.__new__(CheckByGroup)
    check._arguments, check._made, check._names, check._parts = arguments, made, names, parts
    return check
