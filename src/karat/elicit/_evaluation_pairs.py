"""Pairs to see whether an elicited metric is what the person wants."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_count, check_number, check_rng
from karat.elicit.answers import drawn_in, neither_dominates, safest_classifier, worst_rates
from karat.elicit.spaces import JointRates, QuestionSpace, RateSpace, Space
from karat.elicit.transcript import Query
from karat.exceptions import ElicitationError

__all__ = ["evaluation_pairs"]

# Pairs that are tried before giving up, and where each of them must be rounded.
_MOST_DRAWN, _MOST_SHOWN = 20_000, 1_000
_POOL = 1_000  # classifiers that a batch of pairs is mixed of, at most


def evaluation_pairs(
    space: Space,
    n: int = 15,
    *,
    out_of: int | None = None,
    worst_rate: float = 1.0,
    rng: int | np.random.Generator | None = None,
) -> tuple[Query, ...]:
    """Draw random pairs of attainable classifiers of which neither is better whatever one wants.

    Each side is a random mixture of two classifiers that are best for random trade-offs: attained,
    but not where the elicitation asked. Pairs of which one side has no more of any error (in any
    group, for a space with groups) are left out: every metric that counts errors agrees on them,
    so that they make any metric look good. Answered by a person, the rest says how well an elicited
    metric predicts that person (Hiranandani 2021, section 8.2.3 and equation 8.2); see
    `agreement_on`.

    Parameters
    ----------
    space : Space
        What classifiers attain.
    n : int, default 15
        How many pairs.
    out_of : int, optional
        Number of cases that the pairs will be shown for. Neither side then dominates in the whole
        numbers of ``query.counts(out_of)`` either, and no two sides look alike.
    worst_rate : float, default 1
        Greatest share of any class (in any group) that a side may get wrong; 0.5 leaves out
        classifiers that nobody would consider. Where hardly any pair is that good, as is common
        with three classes, sides are mixed with the classifier that is least wrong on its worst
        class, by a random share of those that suffice.
    rng : int or generator, optional
        Randomness of the draws.

    Returns
    -------
    tuple of Query

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> pairs = evaluation_pairs(space, 3, rng=0)
    >>> [(pair.first - pair.second).round(2).tolist() for pair in pairs][0]
    [[-0.01, 0.01], [-0.05, 0.05]]
    """
    wanted = check_count(n, "n")
    cases = None if out_of is None else check_count(out_of, "out_of")
    worst = check_number(worst_rate, "worst_rate", at_least=0.0, at_most=1.0)
    if not isinstance(space, Space):
        raise ElicitationError(
            f"space is {type(space).__name__}; expected a Space, such as BinarySpace.from_scores"
        )
    asked: QuestionSpace = space
    if isinstance(space, RateSpace) and space.parts:
        asked = JointRates(space)
    found: list[Query] = []
    drawn = 0
    most = max(_MOST_DRAWN if cases is None else _MOST_SHOWN, 4 * wanted)
    for batch in _fit_batches(asked, 4 * wanted, most, worst, check_rng(rng)):
        drawn += len(batch[0])
        found += islice(_kept(asked, space.sign, batch, cases, worst), wanted - len(found))
        if len(found) == wanted:
            return tuple(found)
    raise ElicitationError(
        f"{len(found)} of {drawn:,} random pairs of this space pose a question and {wanted} are "
        "wanted: in the others one side is at least as good in every kind of error"
        + (f", or looks the same out of {cases:,}" if cases else "")
        + ". Pass a model that has to trade errors off"
        + (", or a greater out_of" if cases else "")
        + (", or a greater worst_rate" if worst < 1.0 else "")
    )


def _check_attained(safest: FloatArray, worst: float) -> None:
    """Refuse a rate that no classifier keeps, or one only."""
    least = float(worst_rates(safest[None])[0])
    if least >= worst - 1e-9:
        raise ElicitationError(
            f"worst_rate is {worst:g} and every classifier of this space that was found is wrong "
            f"on {least:.3f} of some class or more; pass worst_rate="
            f"{min(1.0, np.ceil(20 * least + 0.5) / 20):g} or more"
        )


def _fit_batches(
    asked: QuestionSpace, size: int, most: int, worst: float, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield pairs as they come, and where those do not suffice, pairs that are made to fit.

    Hardly any classifier that is best for something is good at all of three classes.
    """
    yield from _batches(asked, size, most, rng)
    if worst < 1.0:
        safest = safest_classifier(asked.sample(_POOL, rng=rng))
        _check_attained(safest, worst)
        for first, second in _batches(asked, size, most, rng):
            yield drawn_in(first, safest, worst, rng), drawn_in(second, safest, worst, rng)


def _batches(
    asked: QuestionSpace, size: int, most: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield more and more pairs of mixtures of two classifiers that are best for something."""
    drawn = 0
    while drawn < most:
        size = min(size, most - drawn)
        best = asked.sample(min(4 * size, _POOL), rng=rng)
        one, other = rng.integers(0, len(best), (2, 2 * size))
        # In each group by itself: a classifier that sees the group may mix in one of them only.
        share = rng.random((2 * size, *best.shape[1:-2], 1, 1))
        mixed = share * best[one] + (1.0 - share) * best[other]
        yield mixed[:size], mixed[size:]
        drawn, size = drawn + size, 2 * size


def _kept(
    asked: QuestionSpace,
    sign: int,
    batch: tuple[FloatArray, FloatArray],
    cases: int | None,
    worst: float,
) -> Iterator[Query]:
    """Yield the pairs that pose a question, as they are and as they will be shown."""
    first, second = batch
    good = neither_dominates(*(sign * asked.coordinates(side) for side in batch))
    good &= np.maximum(worst_rates(first), worst_rates(second)) <= worst + 1e-12
    for i in np.flatnonzero(good):
        pair = Query(first[i], second[i])
        if cases is not None:
            shown = np.array(pair.counts(cases), dtype=np.float64)
            one, other = sign * asked.coordinates(shown)
            if not neither_dominates(one[None], other[None])[0]:
                continue
        yield pair
