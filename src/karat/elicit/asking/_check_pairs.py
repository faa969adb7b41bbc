"""Questions whose answer is known, or was given before: they show who answers without thought."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.asking._pool import Pool, class_errors
from karat.elicit.posterior import ParticlePosterior, named_first
from karat.elicit.transcript import Query

__all__ = ["CheckPairs", "more_errors"]

_VISIBLE = 0.02  # least error rate that a dominated side has more
_NEVER_RIGHT = 0.9  # of a class: it can hardly get worse
_CAREFUL = 12  # classifiers with the fewest errors, one of which a dominated pair is made of


@dataclass(slots=True)
class CheckPairs:
    """Dominated pairs, and earlier questions with their sides swapped, one after the other."""

    pool: Pool
    worst_rate: float
    rng: np.random.Generator
    asked: int = 0
    repeated: list[int] = field(default_factory=list)  # answers whose questions were asked again

    def pick(
        self,
        posterior: ParticlePosterior,
        queries: list[Query],
        rivals: Sequence[ParticlePosterior] = (),
    ) -> Query | None:
        """Return the next check, or None if there is none.

        ``queries`` are those that the posterior, and rivals of other families, know the answers of.
        With rivals all checks but the first are questions asked again: they tell a coin from a
        person and one family from another, a pair of which one side dominates only the former.
        """
        self.asked += 1
        left = [
            at
            for at, query in enumerate(queries)
            if query.kind == "question" and at not in self.repeated
        ]
        careful = self._careful()
        again = self.asked % 2 == 0 or (rivals and self.asked > 1)
        if left and (again or not len(careful)):
            return self._repeat([posterior, *rivals], queries, left)
        if not len(careful):
            return None
        better = self.pool.confusions[int(self.rng.choice(careful))]
        worse = more_errors(better, self.worst_rate)
        evidence = posterior.evidence
        ahead = evidence.n_first - evidence.n_second  # the right answer is the rarer one so far
        better_first = self.rng.random() < 0.5 if ahead == 0 else ahead < 0
        first, second = (better, worse) if better_first else (worse, better)
        return Query(first, second, kind="dominated")

    def _repeat(
        self, posteriors: list[ParticlePosterior], queries: list[Query], left: list[int]
    ) -> Query:
        """Return the earlier question of which the answer is most certain, sides swapped.

        One whose answer is the rarer side so far comes first: someone who always names one side
        is then found out. Where there are several families, what tells them apart counts too.
        """
        each = np.stack([p.shares @ named_first(p.margins[:, left], p.noise) for p in posteriors])
        evidence, chance = posteriors[0].evidence, each[0]
        rarer = np.sign(evidence.n_first - evidence.n_second) * np.sign(chance - 0.5) > 0
        score = np.abs(chance - 0.5) + rarer
        if len(posteriors) > 1:
            score = score + np.abs(each[0] - each[1])
        at = left[int(np.argmax(np.round(score, 9)))]
        self.repeated.append(at)
        return replace(queries[at].swapped, kind="repeat")

    def _careful(self) -> IntArray:
        """Return which classifiers of the pool are good enough to be made worse in every class."""
        tables = self.pool.confusions
        worst = class_errors(tables).reshape(len(tables), -1).max(axis=1)
        best = np.argsort(worst, kind="stable")[:_CAREFUL]
        return np.asarray(best[worst[best] < _NEVER_RIGHT])


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
