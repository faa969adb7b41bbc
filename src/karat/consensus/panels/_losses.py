"""How much certainty is lost when only some judges are asked."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["Losses"]


class Losses:
    """Expected errors of the consensus of some judges, under the model fitted to all.

    Parameters
    ----------
    codes : array (patterns, voters)
        Votes: a class, -1 for an abstention, -2 for a vote that was not asked for.
    weight : array (patterns,)
        Items of each pattern.
    predict : callable
        P(class) of rows of codes, under the fitted model.
    gold : array (patterns,), optional
        Class of a pattern whose items were labelled, -1 otherwise.
    """

    def __init__(
        self,
        codes: IntArray,
        weight: FloatArray,
        predict: Callable[[IntArray], FloatArray],
        gold: IntArray | None = None,
    ) -> None:
        self.codes, self.weight, self.predict = codes, weight / weight.sum(), predict
        self.full = predict(codes)
        if gold is not None and (gold >= 0).any():
            known = gold >= 0
            self.full = self.full.copy()
            self.full[known] = np.eye(self.full.shape[1])[gold[known]]
        self._found: dict[tuple[int, ...], float] = {}

    @property
    def error_of_all(self) -> float:
        """Expected error of the consensus of all judges."""
        return float(self.weight @ (1 - self.full.max(axis=1)))

    def of(self, judges: tuple[int, ...]) -> float:
        """Return the errors beyond those of all judges if only these are asked."""
        key = tuple(sorted(judges))
        if key not in self._found:
            self._found[key] = float(self.per_pattern(key) @ self.weight)
        return self._found[key]

    def per_pattern(self, judges: tuple[int, ...]) -> FloatArray:
        """Return the expected loss of every pattern."""
        asked = np.full_like(self.codes, -2)
        asked[:, list(judges)] = self.codes[:, list(judges)]
        rows, inverse = np.unique(asked, axis=0, return_inverse=True)
        choice = self.predict(rows).argmax(axis=1)[inverse.reshape(-1)]
        return np.asarray(self.full.max(axis=1) - self.full[np.arange(len(choice)), choice])
