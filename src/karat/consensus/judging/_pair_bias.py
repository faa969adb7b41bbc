"""The position bias of verdicts that are read, with limits."""

import numpy as np

from karat._typing import Column, FloatArray
from karat._validate import check_weighting, check_weights
from karat.consensus.pair_result import PositionBias
from karat.consensus.pairs import PairVerdicts, picks_first, tango_limits
from karat.exceptions import DataError, LengthMismatchError
from karat.limits.kernels import wilson_limits
from karat.statistics.kernels import effective_counts

__all__ = ["bias_of", "item_weights"]


def item_weights(
    read: PairVerdicts, sample_weight: Column | None, weighting: str | None = None
) -> FloatArray:
    """Return what each pair counts; all rows of a pair have one weight.

    Importances add up to Kish's effective number of pairs.
    """
    found = np.ones(read.n_items)
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    if weight is not None:
        if len(weight) != len(read.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(read.item_of_row):,} rows and sample_weight has "
                f"{len(weight):,}; pass one weight per row"
            )
        found[read.item_of_row] = weight
    return effective_counts(found, found**2) if important else found


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
