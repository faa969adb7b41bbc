"""Any number of classes: what being right about each class is worth."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family, LinearFamily
from karat.elicit.procedure import Procedure
from karat.elicit.search import Brackets, Steps, face_searches, halving
from karat.elicit.spaces import DiagonalSpace
from karat.elicit.transcript import Query

__all__ = ["DiagonalLinear"]

_MUCH_HEAVIER = 2.0  # ratio of weights from which the heavier class becomes the reference
_BEYOND = 0.02  # of m: a face that ends so little short of what is still possible may be used


class DiagonalLinear(Procedure):
    """Elicits what being right about each class is worth.

    The metric is ``Σ a_i · P(Y=i, Ŷ=i)`` with ``Σ a_i = 1`` (Hiranandani 2021, section 4.3.1). A
    pair of classes is compared by classifiers that predict only these two. ``bisection`` asks about
    chords of that face, always where a weight is least known, and measures every class against one
    that its first answers show to be heavy. ``published`` is Algorithm 4.1: against the first
    class, four questions a halving. ``tol`` is the width of ``m = a_ref/(a_ref + a_i)`` and the
    effect of it on any weight, 0.01 by default.

    Parameters are those of every procedure; see `Procedure`.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import DiagonalSpace, MetricOracle
    >>> from karat.metrics import weighted_accuracy
    >>> space = DiagonalSpace.from_density(LogisticLaw([1, 3, 5]).proba)
    >>> proc = DiagonalLinear(space, strategy="bisection")
    >>> result = proc.run(MetricOracle(weighted_accuracy([0.21, 0.59, 0.2])))
    >>> result.metric.weights.diagonal().round(1)
    array([0.2, 0.6, 0.2])
    """

    has_ratios = True
    spaces = (DiagonalSpace,)
    least_classes = 3
    space: DiagonalSpace

    def _family(self, flipped: bool) -> Family:
        return LinearFamily(self.space, norm=1, flipped=flipped)

    def _others(self, reference: int) -> list[int]:
        return [c for c in range(self.space.dim) if c != reference]

    def _first_brackets(self) -> Brackets:
        n = self.space.dim - 1
        brackets = Brackets.of(0.0, 1.0, n, (0.0, 1.0))
        if self.strategy != "published":
            for at, other in enumerate(self._others(0)):
                brackets.low[at], brackets.high[at] = self._distinguishable(0, other)
        return brackets

    def _distinguishable(self, i: int, j: int) -> tuple[float, float]:
        """Return the least and greatest ``m = a_i/(a_i + a_j)`` that the face distinguishes."""
        low, high = self.space.face(i, j).reach
        return float(1.0 / (1.0 + np.tan(high))), float(1.0 / (1.0 + np.tan(low)))

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        m = np.clip(angles, 1e-9, 1.0 - 1e-9)
        weights = np.ones((len(m), self.space.dim))
        weights[:, self._others(brackets.reference)] = (1.0 - m) / m
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _published(self) -> Steps:
        yield from face_searches(self.space, self._brackets, self.tol)

    def _bisection(self) -> Steps:
        brackets = self._brackets
        # As many questions as halving every bracket to tol takes, each where it tells most.
        halvings = np.ceil(np.log2(np.maximum((brackets.high - brackets.low) / self.tol, 1.0)))
        for at in range(len(brackets.low)):
            yield from self._halve(at)
        self._refer_to_the_heaviest()
        stuck: set[int] = set()
        for _ in range(int(halvings.sum()) - len(brackets.low)):
            effect = np.array([self._effect(at) for at in range(len(brackets.low))])
            effect[list(stuck)] = 0.0
            at = int(np.argmax(effect))
            if effect[at] <= self.tol:
                return
            before = brackets.width(at)
            yield from self._halve(at)
            if brackets.width(at) == before:  # skipped: no question about this pair helps
                stuck.add(at)

    def _halve(self, at: int) -> Steps:
        """Halve one bracket by one question (and others in its place if it is skipped)."""
        reference = self._brackets.reference
        other = self._others(reference)[at]
        face = self.space.face(reference, other)

        def ask(m: float) -> Query | None:
            chord = face.chord(np.array([m, 1.0 - m]))
            if chord is None:
                return None
            pair = (chord.toward_i, chord.toward_j)  # i is the reference, with weight m
            first, second = (self.space.face_confusion(reference, other, p) for p in pair)
            return Query(first, second)

        yield from halving(self._brackets, at, self._brackets.width(at) * 0.9, ask)

    def _effect(self, at: int) -> float:
        """Return how much any weight can still change with one bracket."""
        ends = np.repeat(self._brackets.middle[None], 2, axis=0)
        ends[:, at] = self._brackets.low[at], self._brackets.high[at]
        weights = self._parameters(ends, self._brackets)
        return float(np.abs(np.diff(weights, axis=0)).max())

    def _refer_to_the_heaviest(self) -> None:
        """Measure against the class that looks heaviest: against a light one, errors blow up.

        Only where the faces of the heavy class distinguish all ratios that are still possible: a
        ratio that the face of one pair distinguishes may lie beyond those of another's.
        """
        brackets, old = self._brackets, self._brackets.reference
        ratio = (1.0 - brackets.middle) / brackets.middle
        new = self._others(old)[int(np.argmax(ratio))]
        if ratio.max() <= _MUCH_HEAVIER:
            return
        least = (1.0 - brackets.high) / brackets.high
        most = (1.0 - brackets.low) / brackets.low
        ratios = dict(zip(self._others(old), zip(least, most, strict=True), strict=True))
        answered = dict(zip(self._others(old), brackets.answered, strict=True))
        ratios[old], answered[old] = (1.0, 1.0), np.ones(2)
        implied, known = [], []
        for other in self._others(new):
            low = 1.0 / (1.0 + ratios[other][1] / ratios[new][0])
            high = 1.0 / (1.0 + ratios[other][0] / ratios[new][1])
            limits = self._distinguishable(new, other)
            if not (limits[0] - _BEYOND <= low and high <= limits[1] + _BEYOND):
                return
            implied.append((max(low, limits[0]), min(high, limits[1])))
            known.append(
                answered[other] * answered[new][::-1] * (limits[0] <= low, high <= limits[1])
            )
        brackets.low[:], brackets.high[:] = np.transpose(implied)
        brackets.answered[:] = known
        brackets.reference = new

    def _unidentified(self) -> str | None:
        if self.strategy == "active":
            return None
        reference = self._brackets.reference
        flat = [
            f"{self.space.classes[reference]} and {self.space.classes[other]}"
            for at, other in enumerate(self._others(reference))
            if self._at_the_end(at, self._distinguishable(reference, other))
        ]
        if not flat:
            return None
        return (
            f"the weights of {'; of '.join(flat)} cannot be told apart beyond the ratios that "
            "these data distinguish: one class of the pair is then always predicted, whatever the "
            "weights. Only a limit of their ratio is known"
        )

    def _at_the_end(self, at: int, limits: tuple[float, float]) -> bool:
        # A bracket that still holds the end of what can be told apart may extend beyond it.
        low, high = self._brackets.low[at], self._brackets.high[at]
        return bool(low <= limits[0] > 1e-3 or high >= limits[1] < 1 - 1e-3)
