"""Weighted areas from counts of positives and negatives."""

import numpy as np

from karat._validate import check_flag, refuse_option
from karat.exceptions import DataError, LabelError
from karat.ranking.area_results import area_result_of_counts, check_area_options
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import AnyWeight, TwoWayBand, Uniform
from karat.statistics import RocCounts

__all__ = ["weighted_auc_from_counts"]


def weighted_auc_from_counts(
    counts: RocCounts,
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    certificate: str = "auto",
    confidence: float = 0.95,
    normalize: str = "raw",
    cells: bool = False,
    rng: int | np.random.Generator | None = None,
) -> WeightedAUC:
    """Measure a weighted area from positives and negatives per distinct score.

    Counts of parts of a dataset can be added, so the rows need never be in one place.

    Parameters
    ----------
    counts : RocCounts
        From `karat.statistics.roc_counts`, or a sum of several.
    weight, certificate, confidence, normalize, rng
        As in `weighted_auc`.
    cells : bool, default False
        Whether the scores were counted in cells (`karat.statistics.scan_roc_counts`), so that the
        order inside a cell is not known. The limits then hold for every order, and
        ``value_range`` holds the least and the greatest value that the rows may have.

    Examples
    --------
    >>> from karat.statistics import roc_counts
    >>> parts = [roc_counts([0, 1, 1], [0.1, 0.4, 0.8]), roc_counts([0, 1, 0], [0.4, 0.9, 0.2])]
    >>> weighted_auc_from_counts(sum(parts), confidence=0.5).value
    0.9444444444444444
    """
    if not isinstance(counts, RocCounts):
        raise DataError(
            f"counts is a {type(counts).__name__}; expected karat.statistics.roc_counts"
        )
    options = check_area_options(weight, "interpolate", certificate, confidence, normalize, rng)
    if not counts.positives.sum() or not counts.negatives.sum():
        raise LabelError("counts hold one class only; an area under the ROC curve compares two")
    if check_flag(cells, "cells"):
        if certificate not in ("auto", "dkw"):
            refuse_option(certificate, "certificate", "'auto' or 'dkw' with cells=True")
        if isinstance(weight, TwoWayBand):
            refuse_option(weight, "weight", "a Weight or a TprBand with cells=True")
    # Sums of importances do not say how many rows they stand for.
    approximate = any((np.asarray(c) % 1).any() for c in (counts.positives, counts.negatives))
    return area_result_of_counts(counts, options, approximate=approximate, cells=bool(cells))
