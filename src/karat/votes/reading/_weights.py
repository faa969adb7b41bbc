"""What each item counts."""

import numpy as np

from karat._typing import Column, FloatArray, IntArray
from karat._validate import check_weighting, check_weights
from karat.exceptions import DataError
from karat.statistics.kernels import effective_counts
from karat.votes.reading._ballots import Ballots

__all__ = ["item_weights"]


def item_weights(
    sample_weight: Column | None, weighting: str | None, cast: Ballots, domain: IntArray
) -> FloatArray | None:
    """Return what each item counts; counts of patterns bring their own.

    Importances add up to Kish's effective number of items in each domain.
    """
    given = check_weights(sample_weight)
    important = check_weighting(weighting, given)
    weight = cast.per_item(given, "sample_weight")
    if weight is not None and cast.counts is not None:
        raise DataError("votes are counts of patterns; weigh the rows when counting them")
    if weight is None:
        return cast.counts
    return effective_counts(weight, weight**2, domain) if important else weight.astype(np.float64)
