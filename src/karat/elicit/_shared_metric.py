"""Several people: what they share, and how far they differ."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._convergence import bulk_ess, split_r_hat
from karat._typing import FloatArray
from karat._validate import check_count, check_rng, refuse_option
from karat.elicit.families import LinearFamily, unit
from karat.elicit.posterior import PeopleChains
from karat.elicit.result import ElicitationResult, SharedMetric
from karat.elicit.spaces import Space
from karat.elicit.transcript import SIGNS
from karat.elicit.weights import interval_of, intervals_of
from karat.exceptions import ElicitationError, KaratWarning

__all__ = ["shared_metric"]

_KINDS = ("BinaryLinear", "DiagonalLinear", "Linear")
_NOT_MIXED = 1.1  # R-hat above which the chains still disagree
_KEPT = 400  # draws that the result keeps


def shared_metric(
    space: Space,
    results: Sequence[ElicitationResult],
    *,
    names: Sequence[Any] | None = None,
    warm_up: int = 800,
    draws: int = 600,
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
        What to call the people; by default "person 1", "person 2" and so on.
    warm_up : int, default 800
        Sweeps of the sampler before draws are kept, in which its steps adapt.
    draws : int, default 600
        Draws that are kept of each of the 16 chains, every second sweep.
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
        refuse_option(called, "names", f"one name for each of {len(people)} people")
    chains = PeopleChains(space, people, check_rng(rng))
    center, spread, each = chains.run(
        warm_up=check_count(warm_up, "warm_up"),
        draws=check_count(draws, "draws", at_least=4),
    )
    return _summarised(space, center, spread, each, tuple(called), chains.rng)


def _people(
    space: Space, results: Sequence[ElicitationResult]
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Return both sides of every answered pair of each person, and the signs of the answers."""
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
        given = [n for n, answer in enumerate(result.questions.answers) if answer != "skip"]
        if not given:
            raise ElicitationError(f"person {i + 1} has answered nothing; leave them out")
        signs = np.array([SIGNS[result.questions.answers[n]] for n in given])
        people.append((result.questions.first[given], result.questions.second[given], signs))
    return people


def _summarised(
    space: Space,
    center: FloatArray,
    spread: FloatArray,
    each: FloatArray,
    called: tuple[Any, ...],
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
    norm, n_people = 1 if space.kind == "diagonal" else 2, each.shape[2]
    flat = center.reshape(-1, space.dim)
    tau = spread.ravel()
    unseen = flat + tau[:, None] * rng.normal(size=flat.shape)
    weights = LinearFamily(space, norm=norm).weights
    shared = weights(np.exp(flat))
    middle = weights(unit(shared.mean(axis=0)))
    return SharedMetric(
        metric=space.linear_metric(middle),
        intervals=intervals_of(space.names, middle, shared),
        spread=interval_of("factor between people", float(np.exp(np.median(tau))), np.exp(tau)),
        next_person=intervals_of(space.names, middle, weights(np.exp(unseen))),
        people=tuple(
            intervals_of(space.names, person.mean(axis=0), person)
            for person in weights(np.exp(np.moveaxis(each, 2, 0).reshape(n_people, -1, space.dim)))
        ),
        names=space.names,
        people_names=called,
        draws=shared[:: max(1, len(shared) // _KEPT)],
        agreement=_agreement(space, each, rng),
        r_hat=r_hat,
        effective_draws=effective,
    )


def _agreement(space: Space, each: FloatArray, rng: np.random.Generator) -> float:
    """Return how often two different people of one draw prefer the same side of a pair."""
    points = space.coordinates(space.sample(200, rng=rng))
    left, right = rng.integers(0, len(points), (2, 300))
    flat = each.reshape(-1, *each.shape[2:])
    same = []
    for people in flat[:: max(1, len(flat) // 200)]:
        values = LinearFamily(space).values(np.exp(people), points)
        prefers = values[:, left] > values[:, right]
        share = prefers.mean(axis=0)
        n = len(people)
        same.append(np.mean((n * (share**2 + (1 - share) ** 2) - 1) / (n - 1)))
    return float(np.mean(same))
