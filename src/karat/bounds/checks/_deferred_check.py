"""The check of the label model, made when somebody asks for it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds.inputs import Inputs
from karat.statistics import Patterns
from karat.weak import LabelModelCheck
from karat.weak.checks import check_patterns

__all__ = ["DeferredCheck"]

# True labels that the check uses: it simulates as many, and more would only find misfits that are
# too small to matter.
_MOST_GOLD = 300
_READ = ("assumes_independence", "abstention_is_informative", "assumption_")


class DeferredCheck:
    """The check of a label model, made once, when it is first called.

    It holds patterns and not rows. The check takes several times as long as the closed forms of a
    bound, and most bounds of a loop over thresholds or models are read without it.
    """

    __slots__ = ("_arguments", "_made")

    def __init__(
        self,
        votes: Patterns,
        p: FloatArray,
        model: Any,
        class_prior: FloatArray | None,
        gold: IntArray | None,
        confidence: float = 0.95,
    ) -> None:
        rows = np.arange(0) if gold is None else _some(np.flatnonzero(gold >= 0))
        kept = replace(votes, ids=votes.ids[rows])
        traits = SimpleNamespace(**{a: getattr(model, a) for a in _READ if hasattr(model, a)})
        known = None if gold is None else gold[rows]
        self._arguments: Any = (kept, p, traits, class_prior, known, confidence)
        self._made: LabelModelCheck | None = None

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        label_model: Any,
        class_prior: FloatArray | None = None,
        gold: Any = None,
    ) -> "DeferredCheck":
        """Build the check from checked input; ``gold`` is what `read_gold` returned."""
        known = None if gold is None else gold[0]
        model = inputs.model if label_model is None else label_model
        return cls(inputs.votes, inputs.p, model, class_prior, known)

    @property
    def assumption(self) -> str | None:
        """What the label model says that it takes P(Y) to be, or None."""
        return getattr(self._arguments[2], "assumption_", None)

    def __call__(self) -> LabelModelCheck:
        """Return the check, making it the first time."""
        if self._made is None:
            votes, p, traits, prior, gold, level = self._arguments
            # The seed is fixed, so that a result has one check, however often it is made.
            self._made = check_patterns(
                votes, p, model=traits, class_prior=prior, gold=gold, confidence=level,
                rng=np.random.default_rng(0),
            )  # fmt: skip
        return self._made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeferredCheck) and self() == other()

    def __hash__(self) -> int:
        return hash(self())

    def __reduce__(self) -> Any:
        return _rebuilt, (self._arguments, self._made)


def _rebuilt(arguments: Any, made: LabelModelCheck | None) -> DeferredCheck:
    check = object.__new__(DeferredCheck)
    check._arguments, check._made = arguments, made
    return check


def _some(rows: IntArray) -> IntArray:
    """Return at most ``_MOST_GOLD`` rows, drawn with a fixed seed."""
    if len(rows) <= _MOST_GOLD:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, _MOST_GOLD, replace=False))
