"""Frank–Wolfe with elicited gradients (Hiranandani 2021, Algorithms 7.2 and 7.3)."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions import Mixture
from karat.decisions.rules import mixed
from karat.exceptions import ProbeError
from karat.optimize.feedback import Feedback, KnownMetric
from karat.optimize.probes import Position, WeightSystem
from karat.optimize.search._problem import Problem

__all__ = ["Search", "Step", "search"]

# Shares of the way to a new rule that a line search tries, after all of it.
_BACKTRACK = (0.5, 0.25, 0.1, 0.03)
# Where probes from the current classifier determine no weights, they start this far toward h₀.
_INSIDE = 0.1
_PATIENCE = 6  # steps without a better mixture, where there is something to beat


class Step(NamedTuple):
    """One iteration."""

    value: float
    gap: float
    share: float
    condition: float
    n_evaluations: int


class Search(NamedTuple):
    """What a search found."""

    mixture: Mixture
    steps: list[Step]
    shares: FloatArray  # of the mixture, on the validation rows
    value: float  # of the mixture, which need not be that of the last step
    kept: str = "mixture"  # or "rule", of a direct search, or "model": nothing better was found


def search(
    problem: Problem,
    feedback: Feedback,
    *,
    n_iter: int,
    step: str,
    seed: int,
    least: float = -np.inf,
    impatient: bool = False,
) -> Search:
    """Follow the metric from rule to rule.

    Each iteration elicits the weights of the metric's linear approximation at the current mixture
    and adds the plug-in rule of these weights with the share 2/(t+2). (Algorithm 7.3 prints
    2/(t+1), which is more than 1 at t = 0.) A rule that is better than every mixture so far by
    more than chance replaces it, and t starts again: else poor first rules would keep a share.

    The step "line-search" takes the share that is best on the validation sample instead, which
    ends sooner and follows the noise of that sample more closely.

    The last mixture is returned, unless it is below ``least``: then the best of all is, since steps
    need not go up where slopes mislead. (The best of all on few rows is often their noise.) With
    ``impatient`` the search ends after some steps that came to nothing better than ``least``.
    """
    sums, rows = not feedback.everywhere, feedback.needs_rows
    at = start = problem.start(rows=rows)
    here, system, seen = _probed(problem, at, start)
    system.require_solvable(problem.basis_names, problem.classes)
    steps: list[Step] = []
    mix, value, age = _GrowingMixture(), feedback.value(at), 0
    idle, to_beat = 0, least
    top, most = at, value  # what a rule must beat: not a step that just made things worse
    for _ in range(n_iter):
        if sums and steps:
            here, system, seen = _probed(problem, at, start)
        elif not sums:
            here = at
        there = value if here is at else feedback.value(here)
        slopes = feedback.slopes(here, there, problem.probes, seen)
        if not slopes.any():
            if steps:  # a plateau: what was found stays
                break
            raise ProbeError(feedback.flat(len(slopes)))
        weights = system.solve(slopes)
        new, codes = problem.rule(weights, sums=sums, rows=rows)
        gap = _gap(feedback, problem, at, new, weights)
        if step == "line-search":
            share, at, value = _best_share(feedback, at, new, value)
        else:
            share = 1.0 if age == 0 or feedback.improves(top, most, new) else 2.0 / (age + 2.0)
            age = 1 if share == 1.0 else age + 1
            at = at.toward(new, share)
            value = feedback.value(at)
            if share == 1.0 or value > most:
                top, most = at, value
        mix.add(weights, share, codes)
        mix.keep_if_best(value)
        idle = 0 if value > to_beat else idle + 1
        to_beat = max(to_beat, value)
        steps.append(Step(value, gap, share, system.condition, feedback.n_evaluations))
        if share == 0 or (impatient and idle >= _PATIENCE):
            break
    kept = mix.best() if mix.value < least else mix
    proba = problem.probes.validation.proba
    return Search(kept.mixture(seed), steps, kept.shares_of(proba), kept.value)


def _probed(
    problem: Problem, at: Position, start: Position
) -> tuple[Position, WeightSystem, FloatArray]:
    """Return where to probe, the system there and the moves of the validation confusion.

    At a classifier that predicts one class in every row all probes move the confusion in the same
    direction, and a search could never leave it; a little toward the start the moves differ.
    """
    for here in (at, at.toward(start, _INSIDE)):
        matched, seen = problem.probes.moves(here)
        system = problem.system(matched)
        if system.solvable:
            break
    return here, system, seen


class _GrowingMixture:
    """Rules and their shares while a search goes on."""

    def __init__(self) -> None:
        self._start, self._shares, self.value = 1.0, np.empty(0), np.nan
        self._rules: list[FloatArray] = []
        self._codes: list[IntArray] = []
        self._best: _GrowingMixture | None = None

    def keep_if_best(self, value: float) -> None:
        """Remember the mixture as it is now, if none before was better."""
        self.value = value
        if self._best is None or not value <= self._best.value:  # NaN: the last is kept
            kept = _GrowingMixture()
            kept._start, kept._shares, kept.value = self._start, self._shares, value
            kept._rules, kept._codes = list(self._rules), list(self._codes)
            self._best = kept

    def best(self) -> "_GrowingMixture":
        """Return the best mixture that was remembered."""
        assert self._best is not None
        return self._best

    def add(self, weights: FloatArray, share: float, codes: IntArray) -> None:
        if share == 1.0:  # the new rule replaces the mixture
            self._shares, self._rules, self._codes = np.empty(0), [], []
        if share > 0 or not self._rules:  # a mixture needs a rule, even one of share 0
            self._shares = np.append(self._shares * (1.0 - share), share)
            self._start *= 1.0 - share
            self._rules.append(weights)
            self._codes.append(codes.astype(np.int16))  # they are kept, so in little memory

    def mixture(self, seed: int) -> Mixture:
        return Mixture(self._shares, np.stack(self._rules), self._start, seed)

    def shares_of(self, proba: FloatArray) -> FloatArray:
        return mixed(proba, self._start, zip(self._shares, self._codes, strict=True))


def _gap(
    feedback: Feedback, problem: Problem, at: Position, new: Position, weights: FloatArray
) -> float:
    """Return by how much the linear approximation rises from the mixture to the new rule."""
    if isinstance(feedback, KnownMetric):
        rise = new.confusion - at.confusion
        return float(np.sum(feedback.gradient(at.confusion) * rise))
    here, there = problem.probes.plain(at), problem.probes.plain(new)
    if here is None or there is None:
        return float("nan")
    if weights.ndim == 2:
        here, there = (np.diagonal(x, axis1=1, axis2=2) for x in (here, there))
    return float(np.sum(weights * (there - here)))


def _best_share(
    feedback: Feedback, at: Position, new: Position, value: float
) -> tuple[float, Position, float]:
    """Return the share of the new rule that is best among a few, 0 if none improves."""
    best = (0.0, at, value)
    for share in (1.0, *_BACKTRACK):
        mixed = at.toward(new, share)
        found = feedback.value(mixed)
        if found > best[2] + 1e-12:
            best = (share, mixed, found)
        elif best[0] > 0:
            break
    return best
