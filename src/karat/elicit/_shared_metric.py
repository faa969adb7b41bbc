"""Several people: what they share, and how far they differ.

Person i weighs coordinate j by ``exp(z_ij)``, with ``z_i ~ N(μ, τ²)`` around what is shared. Each
has a lapse rate of their own, integrated out. Metropolis steps move the z of every person and
chain at once; μ and τ have simple conditionals.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._convergence import bulk_ess, split_r_hat
from karat._result import Result
from karat._typing import BoolArray, FloatArray
from karat._validate import check_rng
from karat.elicit._families import Linear, unit
from karat.elicit._particles import log_likelihood
from karat.elicit._query import SIGNS
from karat.elicit._space import Space
from karat.elicit.result import ElicitationResult, WeightInterval, weighted_limits
from karat.exceptions import ElicitationError, KaratWarning
from karat.metrics import LinearMetric

__all__ = ["SharedMetric", "shared_metric"]

_KINDS = ("BinaryLinear", "DiagonalLinear", "Linear")
_CHAINS, _WARM_UP, _DRAWS, _THIN = 16, 800, 600, 2
_CENTER_SPREAD = 1.5  # prior standard deviation of μ: weights over two orders of magnitude
_TIE_SPREAD = 1.0  # of log δ around a tenth of a typical difference
_NOT_MIXED = 1.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SharedMetric(Result):
    """What several people want, together and each.

    Attributes
    ----------
    metric : LinearMetric
        The metric in the middle of all people.
    intervals : tuple of WeightInterval
        Its weights, with limits.
    spread : WeightInterval
        The factor by which the weights of people typically differ from the shared ones; 1 if all
        want the same.
    next_person : tuple of WeightInterval
        The weights of a person who was not asked.
    people : tuple of tuples of WeightInterval
        The weights of each person, drawn toward what is shared by as much as their own answers
        leave open.
    names : tuple of str
        What each weight is, in words.
    people_names : tuple of str
        What each person is called.
    draws : array (n, weights)
        Draws of the shared weights.
    agreement : float
        Share of random pairs on which two people who were asked agree, in expectation.
    r_hat, effective_draws : float
        Whether the chains mixed: the greatest R-hat, and the least effective number of draws.
    """

    metric: LinearMetric
    intervals: tuple[WeightInterval, ...]
    spread: WeightInterval
    next_person: tuple[WeightInterval, ...]
    people: tuple[tuple[WeightInterval, ...], ...]
    names: tuple[str, ...]
    people_names: tuple[str, ...]
    draws: FloatArray
    agreement: float
    r_hat: float
    effective_draws: float

    def summary(self) -> str:
        """Return how far people agree, in one sentence."""
        s = self.spread
        return (
            f"{len(self.people)} people agree with each other on {100 * self.agreement:.0f} % of "
            "pairs; their weights typically differ from the shared ones by a factor of "
            f"{s.estimate:.2f} ({s.lower:.2f}–{s.upper:.2f})."
        )

    def _table(self) -> list[tuple[str, str]]:
        return [(w.name, f"{w.estimate:.3g} ({w.lower:.3g} to {w.upper:.3g})")
                for w in self.intervals]  # fmt: skip


def shared_metric(
    space: Space,
    results: Sequence[ElicitationResult],
    *,
    names: Sequence[Any] | None = None,
    rng: int | np.random.Generator | None = None,
) -> SharedMetric:
    """Return what several people want together, with how far they differ.

    Parameters
    ----------
    space : Space
        The space that all of them were asked about.
    results : sequence of ElicitationResult
        One per person, of ``BinaryLinear``, ``DiagonalLinear`` or ``Linear``.
    names : sequence, optional
        What to call the people; by default person 1, person 2 and so on.
    rng : int or generator, optional
        Randomness of the sampler.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinaryLinear, BinarySpace, MetricOracle
    >>> from karat.metrics import cost_matrix
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> people = [MetricOracle(cost_matrix([[0, 1], [c, 0]])) for c in (2, 3, 5)]
    >>> results = [BinaryLinear(space, rng=0).run(person) for person in people]
    >>> shared_metric(space, results, rng=0).spread.upper > 1
    True
    """
    people = _people(space, results)
    called = [f"person {i + 1}" for i in range(len(people))] if names is None else list(names)
    if len(called) != len(people):
        raise ElicitationError(
            f"names holds {len(called)} names and results {len(people)} people; name each once"
        )
    chains = _Chains(space, people, check_rng(rng))
    center, spread, each = chains.run()
    return _summarised(space, center, spread, each, tuple(map(str, called)), chains.rng)


def _people(
    space: Space, results: Sequence[ElicitationResult]
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Return both sides of every answered pair of each person, and what was said."""
    if len(results) < 2:
        raise ElicitationError(f"results holds {len(results)} people; expected at least 2")
    people = []
    for i, result in enumerate(results):
        if not isinstance(result, ElicitationResult) or result.procedure not in _KINDS:
            kind = getattr(result, "procedure", type(result).__name__)
            raise ElicitationError(
                f"person {i + 1} has a result of {kind}; expected one of {', '.join(_KINDS)}"
            )
        if result.transcript.space["fingerprint"] != space.fingerprint:
            raise ElicitationError(f"person {i + 1} was asked about another space")
        if any(weight.estimate < 0 for weight in result.intervals):
            raise ElicitationError(
                f"person {i + 1} prefers the other way round (errors are good); leave them out"
            )
        told = [n for n, answer in enumerate(result.questions.answers) if answer != "skip"]
        if not told:
            raise ElicitationError(f"person {i + 1} has answered nothing; leave them out")
        said = np.array([SIGNS[result.questions.answers[n]] for n in told])
        people.append((result.questions.first[told], result.questions.second[told], said))
    return people


class _Chains:
    """Metropolis within Gibbs, for all people and chains at once."""

    def __init__(
        self,
        space: Space,
        people: list[tuple[FloatArray, FloatArray, FloatArray]],
        rng: np.random.Generator,
    ) -> None:
        self.rng = rng
        most = max(len(said) for *_, said in people)
        self.pairs = np.zeros((len(people), most, space.dim))  # first less second, as a gain
        self.said = np.full((len(people), most), np.nan)
        for i, (first, second, said) in enumerate(people):
            self.pairs[i, : len(said)] = space.sign * (first - second)
            self.said[i, : len(said)] = said
        self.ties = np.nansum(self.said == 0, axis=1) > 0
        typical = np.median(np.abs(self.pairs[~np.isnan(self.said)]).max(axis=1))
        self.tie_center = np.log(0.1 * typical + 1e-12)
        shape = (_CHAINS, len(people), space.dim)
        self.z = rng.normal(scale=0.3, size=shape)
        self.tie = np.full(shape[:2], self.tie_center)
        self.center = np.zeros((_CHAINS, space.dim))
        self.spread = np.full(_CHAINS, 0.5)
        self.step = np.full(shape[:2], 0.5)
        self.current = self._likelihoods(self.z, self.tie)

    def _likelihoods(self, z: FloatArray, tie: FloatArray) -> FloatArray:
        """Return the log-likelihood of each chain's version of each person."""
        margins = np.einsum("cpq,ptq->cpt", unit(np.exp(z)), self.pairs)
        blind = np.where(self.ties, np.exp(tie), 0.0)
        flat = margins.reshape(-1, margins.shape[2])
        said = np.broadcast_to(self.said, margins.shape).reshape(flat.shape)
        return log_likelihood(flat, blind.ravel(), said).reshape(tie.shape)

    def run(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return draws of μ (chains, draws, dim), τ (chains, draws) and z (.., people, dim)."""
        kept: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for sweep in range(_WARM_UP + _DRAWS * _THIN):
            self._move_people(adapt=sweep < _WARM_UP)
            self._move_center()
            self._move_spread()
            self._stretch()
            self._shift()
            if sweep >= _WARM_UP and (sweep - _WARM_UP) % _THIN == 0:
                kept.append((self.center.copy(), self.spread.copy(), self.z.copy()))
        center, spread, each = zip(*kept, strict=True)
        return np.stack(center, 1), np.stack(spread, 1), np.stack(each, 1)

    def _move_people(self, *, adapt: bool) -> None:
        scale = self.step * self.rng.choice([0.3, 1.0, 4.0], size=self.step.shape)
        z = self.z + scale[..., None] * self.rng.normal(size=self.z.shape)
        tie = self.tie + 0.5 * self.rng.normal(size=self.tie.shape)
        taken = self._take(z, tie, self._prior(z, tie) - self._prior(self.z, self.tie))
        if adapt:
            self.step *= np.exp(0.05 * (taken - 0.25))
        # A fresh draw around μ may land in another of several stretches that fit the answers.
        center, spread = self.center[:, None], self.spread[:, None, None]
        fresh = center + spread * self.rng.normal(size=self.z.shape)
        self._take(fresh, self.tie, np.zeros(self.tie.shape))

    def _take(self, z: FloatArray, tie: FloatArray, change: FloatArray) -> BoolArray:
        """Take each person's move, or leave it; ``change`` is that of prior and proposal."""
        proposed = self._likelihoods(z, tie)
        gain = proposed - self.current + change
        taken = np.asarray(np.log(self.rng.random(gain.shape)) < gain)
        self.z[taken], self.tie[taken] = z[taken], tie[taken]
        self.current[taken] = proposed[taken]
        return taken

    def _prior(self, z: FloatArray, tie: FloatArray) -> FloatArray:
        away = np.sum((z - self.center[:, None]) ** 2, axis=2) / self.spread[:, None] ** 2
        return np.asarray(-0.5 * away - 0.5 * ((tie - self.tie_center) / _TIE_SPREAD) ** 2)

    def _move_center(self) -> None:
        n = self.z.shape[1]
        precision = n / self.spread**2 + _CENTER_SPREAD**-2
        mean = self.z.sum(axis=1) / self.spread[:, None] ** 2 / precision[:, None]
        noise = self.rng.normal(size=mean.shape)
        self.center = mean + noise / np.sqrt(precision)[:, None]

    def _move_spread(self) -> None:
        """Move log τ by Metropolis steps; its prior is half-normal."""
        count = self.z.shape[1] * self.z.shape[2]
        away = np.sum((self.z - self.center[:, None]) ** 2, axis=(1, 2))

        def target(spread: FloatArray) -> FloatArray:
            return np.asarray(
                -(count - 1) * np.log(spread) - 0.5 * away / spread**2 - 0.5 * spread**2
            )

        for _ in range(3):
            proposed = self.spread * np.exp(0.3 * self.rng.normal(size=len(self.spread)))
            taken = np.log(self.rng.random(len(proposed))) < target(proposed) - target(self.spread)
            self.spread = np.where(taken, proposed, self.spread)

    def _stretch(self) -> None:
        """Move τ and everyone's distance from μ together: they hold each other up otherwise."""
        factor = np.exp(0.5 * self.rng.normal(size=len(self.spread)))
        z = self.center[:, None] + (self.z - self.center[:, None]) * factor[:, None, None]
        spread = self.spread * factor
        # With (z − μ)/τ held, only the likelihood, τ's prior and log τ as coordinate count.
        self._jointly(z, spread, -0.5 * (spread**2 - self.spread**2) + np.log(factor))

    def _shift(self) -> None:
        """Move μ and everyone with it."""
        step = 0.3 * self.rng.normal(size=self.center.shape)
        center = self.center + step
        change = -0.5 * np.sum(center**2 - self.center**2, axis=1) / _CENTER_SPREAD**2
        taken = self._jointly(self.z + step[:, None], self.spread, change)
        self.center[taken] = center[taken]

    def _jointly(self, z: FloatArray, spread: FloatArray, change: FloatArray) -> BoolArray:
        """Take a move of all people of a chain, or leave it; ``change`` is that of the prior."""
        proposed = self._likelihoods(z, self.tie)
        gain = (proposed - self.current).sum(axis=1) + change
        taken = np.log(self.rng.random(len(gain))) < gain
        self.z[taken], self.current[taken] = z[taken], proposed[taken]
        self.spread = np.where(taken, spread, self.spread)
        return np.asarray(taken)


def _summarised(
    space: Space,
    center: FloatArray,
    spread: FloatArray,
    each: FloatArray,
    called: tuple[str, ...],
    rng: np.random.Generator,
) -> SharedMetric:
    ratios = center - center.mean(axis=2, keepdims=True)
    watched = np.concatenate([ratios, np.log(spread)[..., None]], axis=2)
    r_hat, effective = float(split_r_hat(watched).max()), float(bulk_ess(watched).min())
    if r_hat > _NOT_MIXED:
        warnings.warn(
            f"chains have not mixed (R-hat {r_hat:.2f}): the limits are rough; ask each person "
            "more questions",
            KaratWarning,
            stacklevel=3,
        )
    norm = 1 if space.kind == "diagonal" else 2
    flat = center.reshape(-1, space.dim)
    tau = spread.ravel()
    unseen = flat + tau[:, None] * rng.normal(size=flat.shape)
    weights = Linear(space, norm=norm).weights
    shared = weights(np.exp(flat))
    middle = weights(unit(shared.mean(axis=0)))
    low, high = _limits(np.exp(tau))
    return SharedMetric(
        metric=space.linear_metric(middle),
        intervals=_intervals(space.names, middle, shared),
        spread=WeightInterval(
            name="factor between people", estimate=float(np.exp(np.median(tau))),
            lower=low, upper=high,
        ),
        next_person=_intervals(space.names, middle, weights(np.exp(unseen))),
        people=tuple(
            _intervals(space.names, None, weights(np.exp(each[:, :, i].reshape(-1, space.dim))))
            for i in range(each.shape[2])
        ),
        names=space.names,
        people_names=called,
        draws=shared[:: max(1, len(shared) // 400)],
        agreement=_agreement(space, each, rng),
        r_hat=r_hat,
        effective_draws=effective,
    )  # fmt: skip


def _limits(values: FloatArray) -> tuple[float, float]:
    return weighted_limits(values, np.full(len(values), 1.0 / len(values)))


def _intervals(
    names: tuple[str, ...], middle: FloatArray | None, draws: FloatArray
) -> tuple[WeightInterval, ...]:
    estimate = draws.mean(axis=0) if middle is None else middle
    rows = []
    for name, value, column in zip(names, estimate, draws.T, strict=True):
        low, high = _limits(column)
        rows.append(WeightInterval(name=name, estimate=float(value), lower=low, upper=high))
    return tuple(rows)


def _agreement(space: Space, each: FloatArray, rng: np.random.Generator) -> float:
    """Return how often two different people of one draw prefer the same side of a pair."""
    points = space.coordinates(space.sample(200, rng=rng))
    left, right = rng.integers(0, len(points), (2, 300))
    flat = each.reshape(-1, *each.shape[2:])
    same = []
    for people in flat[:: max(1, len(flat) // 200)]:
        values = Linear(space).values(np.exp(people), points)
        prefers = values[:, left] > values[:, right]
        share = prefers.mean(axis=0)
        n = len(people)
        same.append(np.mean((n * (share**2 + (1 - share) ** 2) - 1) / (n - 1)))
    return float(np.mean(same))
