"""Questions whose answer is known, or was given before: they show who answers without thought."""

from dataclasses import dataclass, field, replace

import numpy as np

from karat._typing import FloatArray
from karat.elicit.asking._pool import Pool, class_errors
from karat.elicit.posterior import ParticlePosterior, named_first
from karat.elicit.transcript import Query

__all__ = ["CheckPairs", "more_errors"]

_VISIBLE = 0.02  # least error rate that a dominated side has more
_CAREFUL = 12  # classifiers with the fewest errors, one of which a dominated pair is made of


@dataclass(slots=True)
class CheckPairs:
    """Dominated pairs, and earlier questions with their sides swapped, one after the other."""

    pool: Pool
    worst_rate: float
    rng: np.random.Generator
    asked: int = 0
    repeated: list[int] = field(default_factory=list)  # answers whose questions were asked again

    def pick(self, posterior: ParticlePosterior, queries: list[Query]) -> Query:
        """Return the next check; ``queries`` are those that the posterior knows the answers of."""
        self.asked += 1
        left = [
            at
            for at, query in enumerate(queries)
            if query.kind == "question" and at not in self.repeated
        ]
        if self.asked % 2 == 0 and left:
            return self._repeat(posterior, queries, left)
        better, worse = self._dominated()
        evidence = posterior.evidence
        ahead = evidence.n_first - evidence.n_second  # the right answer is the rarer one so far
        better_first = self.rng.random() < 0.5 if ahead == 0 else ahead < 0
        first, second = (better, worse) if better_first else (worse, better)
        return Query(first, second, kind="dominated")

    def _repeat(self, posterior: ParticlePosterior, queries: list[Query], left: list[int]) -> Query:
        """Return the earlier question of which the answer is most certain, sides swapped.

        One whose answer is the rarer side so far comes first: someone who always names one side
        is then found out.
        """
        chance = posterior.shares @ named_first(posterior.margins[:, left], posterior.noise)
        evidence = posterior.evidence
        rarer = np.sign(evidence.n_first - evidence.n_second) * np.sign(chance - 0.5) > 0
        at = left[int(np.argmax(np.round(np.abs(chance - 0.5) + rarer, 9)))]
        self.repeated.append(at)
        return replace(queries[at].swapped, kind="repeat")

    def _dominated(self) -> tuple[FloatArray, FloatArray]:
        """Return a classifier and the same one with more errors of every kind in every group."""
        tables = self.pool.confusions
        worst = class_errors(tables).reshape(len(tables), -1).max(axis=1)
        careful = np.argsort(worst, kind="stable")[:_CAREFUL]
        table = tables[int(self.rng.choice(careful))]
        return table, more_errors(table, self.worst_rate)


def more_errors(confusion: FloatArray, worst_rate: float) -> FloatArray:
    """Return a confusion with every error rate raised by the same v, in every group.

    Gaps between groups stay as they are, so that whoever minds errors or gaps prefers the first.
    Changing some predictions at random attains it: with R the rates of a group, predictions are to
    be changed by ``I + v(11ᵀ − kR⁻¹)``. No class gets worse than ``worst_rate``, unless the
    difference would then be hard to see, nor worse than guessing.
    """
    k = confusion.shape[-1]
    worst, guessing = float(class_errors(confusion).max()), 1.0 - 1.0 / k
    room = min(worst_rate, guessing) - worst
    room = room if room > _VISIBLE else max(0.5 * (guessing - worst), _VISIBLE)
    total = confusion.sum(axis=-1, keepdims=True)
    return np.asarray(confusion + min(room, 1.0 - worst) / (k - 1) * total * (1.0 - k * np.eye(k)))
