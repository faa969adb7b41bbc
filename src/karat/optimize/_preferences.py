"""A metric that is known only by which of two classifiers is better (seed 001, section 7.7.6)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_number
from karat.elicit import Query
from karat.elicit.search import Brackets, Steps, angle_sweep, direction
from karat.elicit.transcript import check_answer
from karat.exceptions import ProbeError
from karat.optimize._probes import Position, Probes

__all__ = ["Preferences"]


class Preferences:
    """Someone who says which of two confusions is better: a person, an A/B test, a regulator.

    Near the current classifier the metric is linear, and its slopes along the probes are found as a
    linear metric is in `karat.elicit`: first their signs, then their ratios, by halving angles.

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
            raise ProbeError(
                f"oracle is {oracle!r}; expected a function that is given a karat.elicit.Query and "
                "answers 'first', 'second', 'tie' or 'skip'"
            )
        self.oracle = oracle
        self.tol = check_number(tol, "tol", at_least=1e-6, at_most=1.0)

    def __repr__(self) -> str:
        name = getattr(self.oracle, "__name__", type(self.oracle).__name__)
        return f"Preferences({name}, tol={self.tol:g})"

    def feedback(self, epsilon: float) -> "_Asked":
        """Return what a search asks."""
        return _Asked(self, epsilon)


class _Asked:
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
        # Slopes per unit of change, so that no probe drowns the others.
        sizes = np.abs(moves).sum(axis=(1, 2))
        kept = np.flatnonzero(sizes > 1e-12)
        units = moves[kept] / sizes[kept, None, None]
        reach = self._epsilon * sizes[kept].min()

        def pair(ahead: FloatArray) -> Query:
            """Ask about moves along the positive part and along the negative part."""
            norm = np.abs(ahead).sum()
            plus, minus = np.maximum(ahead, 0.0) / norm, np.maximum(-ahead, 0.0) / norm
            return Query(
                at.confusion + reach * np.tensordot(plus, units, 1),
                at.confusion + reach * np.tensordot(minus, units, 1),
            )

        signs = np.array([self._sign(pair(axis)) for axis in np.eye(len(kept))])
        told = np.flatnonzero(signs)
        found = np.zeros(len(moves))
        ratios = np.ones(1)
        if len(told) > 1:
            brackets = Brackets.of(0.0, np.pi / 2, len(told) - 1)

            def signed(ahead: FloatArray) -> Query:
                full = np.zeros(len(kept))
                full[told] = ahead * signs[told]
                return pair(full)

            self._run(angle_sweep(brackets, self._preferences.tol, signed))
            ratios = direction(brackets.middle)
        found[kept[told]] = signs[told] * ratios * sizes[kept[told]]
        return found

    def flat(self, n_probes: int) -> str:
        return (
            f"all {n_probes} probes were called a tie with the current classifier, so there is "
            "nothing to follow; pass a larger epsilon"
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
