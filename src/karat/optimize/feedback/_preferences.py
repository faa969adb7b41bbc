"""A metric that is known only by which of two classifiers is better.

Hiranandani (2021), section 7.7.6, leaves two problems open; the theory page says how they are
solved here.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_number, refuse_option
from karat.elicit import Query
from karat.elicit.search import Brackets, Steps, angle_sweep, direction
from karat.elicit.transcript import check_answer
from karat.optimize.probes import Position, Probes

__all__ = ["Preferences"]


class Preferences:
    """A metric known by preferences: a person, an A/B test or a regulator compares two confusions.

    Near the current classifier the metric is linear, and its slopes along the probes are found as
    the weights of a linear metric are in `karat.elicit`: first their signs, then their ratios, by
    halving angles.

    Parameters
    ----------
    oracle : callable
        Is given a `karat.elicit.Query` and answers "first", "second", "tie" or "skip".
    tol : float, default 0.05
        Width, in radians, at which an angle between slopes counts as found.

    Examples
    --------
    >>> from karat.elicit import MetricOracle
    >>> from karat.optimize import Preferences
    >>> Preferences(MetricOracle("g_mean"), tol=0.1)
    Preferences(MetricOracle, tol=0.1)
    """

    title = "preferences"

    def __init__(self, oracle: Callable[[Query], Any], *, tol: float = 0.05) -> None:
        if not callable(oracle):
            refuse_option(
                oracle,
                "oracle",
                "a function that is given a karat.elicit.Query and answers 'first', 'second', "
                "'tie' or 'skip'",
            )
        self.oracle = oracle
        self.tol = check_number(tol, "tol", at_least=1e-6, at_most=1.0)

    def __repr__(self) -> str:
        name = getattr(self.oracle, "__name__", type(self.oracle).__name__)
        return f"Preferences({name}, tol={self.tol:g})"

    def feedback(self, epsilon: float) -> "_PreferenceFeedback":
        """Return the feedback of these preferences for probes of size ``epsilon``."""
        return _PreferenceFeedback(self, epsilon)


class _PreferenceFeedback:
    """Slopes from preferences; ``n_evaluations`` counts questions."""

    everywhere, needs_rows = False, False

    def __init__(self, preferences: Preferences, epsilon: float) -> None:
        self._preferences, self._epsilon = preferences, epsilon
        self.n_evaluations = 0

    def value(self, at: Position) -> float:
        return float("nan")

    def improves(self, at: Position, value: float, new: Position) -> bool:
        return self._sign(Query(new.confusion, at.confusion)) > 0

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        # Slopes per unit of change, so that a probe of many rows does not dominate the angles.
        sizes = np.abs(moves).sum(axis=(1, 2))
        kept = np.flatnonzero(sizes > 1e-12)
        units = moves[kept] / sizes[kept, None, None]
        length = self._epsilon * sizes[kept].min()

        def pair(ahead: FloatArray) -> Query:
            """Ask about moves along the positive part and along the negative part."""
            norm = np.abs(ahead).sum()
            plus, minus = np.maximum(ahead, 0.0) / norm, np.maximum(-ahead, 0.0) / norm
            return Query(
                at.confusion + length * np.tensordot(plus, units, 1),
                at.confusion + length * np.tensordot(minus, units, 1),
            )

        signs = np.array([self._sign(pair(axis)) for axis in np.eye(len(kept))])
        nonzero = np.flatnonzero(signs)
        found = np.zeros(len(moves))
        ratios = np.ones(1)
        if len(nonzero) > 1:
            brackets = Brackets.of(0.0, np.pi / 2, len(nonzero) - 1)

            def signed(ahead: FloatArray) -> Query:
                full = np.zeros(len(kept))
                full[nonzero] = ahead * signs[nonzero]
                return pair(full)

            self._run(angle_sweep(brackets, self._preferences.tol, signed))
            ratios = direction(brackets.middle)
        found[kept[nonzero]] = signs[nonzero] * ratios * sizes[kept[nonzero]]
        return found

    def flat(self, n_probes: int) -> str:
        return (
            f"all {n_probes} probes were called a tie with the current classifier, so there is "
            "no slope to follow; pass a larger epsilon"
        )

    def _sign(self, query: Query) -> float:
        return {"first": 1.0, "second": -1.0}.get(self._ask(query), 0.0)

    def _ask(self, query: Query) -> str:
        self.n_evaluations += 1
        return check_answer(self._preferences.oracle(query))

    def _run(self, steps: Steps) -> None:
        try:
            query = next(steps)
            while True:
                query = steps.send(self._ask(query))
        except StopIteration:
            return
