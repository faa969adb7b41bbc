"""What a search is given, and the rules that it is made of."""

from dataclasses import dataclass

from karat._typing import FloatArray, IntArray
from karat.decisions.rules import decide
from karat.optimize.probes import Position, Probes, WeightSystem

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What a search is given: the probes on their samples, and how weights are solved for."""

    probes: Probes
    off_diagonal: bool
    ridge: float
    basis_names: tuple[str, ...]
    classes: tuple[object, ...]

    def start(self, *, rows: bool) -> Position:
        """Return the classifier that predicts a class with the model's probability of it.

        It predicts every class somewhere and no two probes alike, so slopes exist and the system
        has a solution; the first step leaves it behind.
        """
        on = self.probes.validation.proba, self.probes.matching.proba
        return self.probes.position(*on, sums=True, rows=rows)

    def rule(self, weights: FloatArray, *, sums: bool, rows: bool) -> tuple[Position, IntArray]:
        """Return a plug-in rule as a position, and its decisions on the validation rows."""
        validation, matching = self.probes.validation, self.probes.matching
        seen = decide(validation.proba, weights, validation.basis)
        same = matching.proba is validation.proba and matching.basis is validation.basis
        matched = seen if same or not sums else decide(matching.proba, weights, matching.basis)
        return self.probes.position(seen, matched, sums=sums, rows=rows), seen

    def system(self, moves: FloatArray) -> WeightSystem:
        """Return the linear system that turns slopes along the probes into weights."""
        return WeightSystem(moves, off_diagonal=self.off_diagonal, ridge=self.ridge)
