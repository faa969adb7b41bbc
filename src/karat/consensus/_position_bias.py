"""How far judges follow the position of an answer, from pairs shown in two orders."""

from typing import Any, Literal

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_confidence, check_weights, collected_alone
from karat.consensus.pair_result import PositionBias
from karat.consensus.pairs import PairVerdicts, picks_first, read_pairs, tango_limits
from karat.exceptions import DataError, LengthMismatchError
from karat.limits.kernels import wilson_limits

__all__ = ["bias_of", "item_weights", "position_bias"]


def position_bias(
    verdicts: Frame,
    swapped: Frame | None = None,
    *,
    classes: Column | None = None,
    says: Literal["answer", "position"] = "answer",
    first_order: Any = None,
    sample_weight: Column | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    r"""Return how far each judge's verdict follows the position of an answer; no gold is needed.

    A pair (A, B) is shown with A first and with B first. A judge without bias gives the same
    verdict; one that always says what stands first says A, then B. Over pairs,

    .. math:: \beta_j = P(\text{says the first, twice}) - P(\text{says the second, twice})

    which is also the difference of its error rates when the better answer is shown second and
    first. Ties and repeats count in part.

    Parameters
    ----------
    verdicts : matrix or frame
        Wide: one row per pair, one column per judge, the verdicts with A shown first. Or long: a
        frame with ``item``, ``judge``, ``order`` and ``verdict``, or with ``verdict_order1`` and
        ``verdict_order2``; a judge's repeats of one pair in one order are averaged. A verdict is
        one of two labels, "tie", -1 (no verdict) or null (not asked).
    swapped : matrix or frame, optional
        Beside a wide table: the verdicts with B shown first.
    classes : column (2,), optional
        The label of A and that of B; by default those found, sorted.
    says : {"answer", "position"}, default "answer"
        Whether a verdict names the answer, whatever its place, or the place: the first label for
        what is shown first.
    first_order : value, optional
        The value of ``order`` in which A is shown first; by default the smaller.
    sample_weight : column, optional
        Weights of at least 0, one per row; a weight of 2 counts as two equal pairs.
    confidence : float, default 0.95
        Level of the limits.

    Returns
    -------
    PositionBias
        The bias and the share of verdicts that flip, with limits.

    Notes
    -----
    Limits invert the score test of Tango (1998), for each judge alone; they are for the kind of
    pairs seen. ``expected_on(n)`` has those of the bias that n further pairs will show.

    Examples
    --------
    >>> first = [["A", "A"], ["A", "B"], ["A", "A"], ["B", "B"]]
    >>> second = [["B", "A"], ["B", "B"], ["A", "A"], ["B", "B"]]
    >>> position_bias(first, second).bias.tolist()
    [0.5, 0.0]
    """
    level = check_confidence(confidence)
    verdicts = collected_alone(verdicts, "verdicts", swapped, sample_weight)
    read = read_pairs(verdicts, swapped, classes=classes, says=says, first_order=first_order)
    return bias_of(read, item_weights(read, sample_weight), level)


def item_weights(read: PairVerdicts, sample_weight: Column | None) -> FloatArray:
    """Return the weight of each pair; all rows of a pair have one."""
    found = np.ones(read.n_items)
    weight = check_weights(sample_weight)
    if weight is not None:
        if len(weight) != len(read.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(read.item_of_row):,} rows and sample_weight has "
                f"{len(weight):,}; pass one weight per row"
            )
        found[read.item_of_row] = weight
    return found


def bias_of(read: PairVerdicts, weight: FloatArray, confidence: float) -> PositionBias:
    """Return the bias of verdicts that are read."""
    delta = (1 - confidence) / 2
    follow = picks_first(read.score)
    both, some = ~np.isnan(follow), ~np.isnan(read.score).all(axis=0)
    n = weight @ both
    if not (n > 0).any():
        raise DataError(
            "no judge saw any pair in both orders, so its bias does not show; ask each pair twice, "
            "with the answers swapped"
        )
    value = np.nan_to_num(follow)
    plus, minus = weight @ np.maximum(value, 0), weight @ np.maximum(-value, 0)
    lower, upper = tango_limits(plus, minus, n, delta)
    flips_lower, flips_upper = wilson_limits(plus + minus, n, delta)
    size = np.where(n > 0, n, np.nan)
    return PositionBias(
        judges=tuple(read.judges.tolist()),
        n=n,
        one_order=weight @ (some & ~both),
        bias=(plus - minus) / size,
        lower=lower,
        upper=upper,
        flips=(plus + minus) / size,
        flips_lower=flips_lower,
        flips_upper=flips_upper,
        repeats=read.repeats,
        confidence=confidence,
    )
