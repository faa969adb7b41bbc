"""Weighted areas from counts of positives and negatives."""

import numpy as np

from karat.exceptions import DataError, LabelError
from karat.ranking._measure import measured, mirrored
from karat.ranking._options import AnyWeight, check_options
from karat.ranking._placements import place_counts
from karat.ranking._tpr_band import TprBand
from karat.ranking._two_way_band import TwoWayBand
from karat.ranking._uniform import Uniform
from karat.ranking.result import WeightedAUC
from karat.statistics import RocCounts

__all__ = ["weighted_auc_from_counts"]


def weighted_auc_from_counts(
    counts: RocCounts,
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    certificate: str = "dkw",
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
    options = check_options(weight, "interpolate", certificate, confidence, normalize, rng)
    ones, zeros = (np.asarray(c, dtype=float) for c in (counts.positives, counts.negatives))
    if not ones.sum() or not zeros.sum():
        raise LabelError("counts hold one class only; an area under the ROC curve compares two")
    if cells and (certificate != "dkw" or isinstance(weight, TwoWayBand)):
        raise DataError("cells=True needs certificate='dkw' and a weight or band that is not a box")
    # Sums of importances do not say how many rows they stand for.
    approximate = bool((ones % 1).any() or (zeros % 1).any())
    if isinstance(weight, TprBand):
        placed = place_counts(zeros[::-1], ones[::-1])
        return mirrored(placed, options, counts.classes, approximate=approximate, cells=cells)
    placed = place_counts(ones, zeros)
    return measured(placed, options, counts.classes, approximate=approximate, cells=cells)
