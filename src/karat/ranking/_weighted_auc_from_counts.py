"""Weighted areas from counts of positives and negatives."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._validate import check_flag, refuse_option
from karat.exceptions import DataError, LabelError
from karat.ranking.area_results import AreaOptions, area_result_of_counts, check_area_options
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import AnyWeight, TwoWayBand, Uniform
from karat.statistics import RocCounts

__all__ = ["weighted_auc_from_counts"]


@keeps_kind
def weighted_auc_from_counts(
    counts: RocCounts | Mapping[Any, RocCounts],
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    certificate: str = "auto",
    confidence: float = 0.95,
    normalize: str = "raw",
    cells: bool | None = None,
    rng: int | np.random.Generator | None = None,
) -> WeightedAUC:
    """Measure a weighted area from positives and negatives per distinct score.

    Counts of parts of a dataset can be added, so the rows need never be in one place.

    Parameters
    ----------
    counts : RocCounts, or mapping of them by group
        From `karat.statistics.roc_counts`, from the ``roc_counts()`` of a `karat.scan`, or a sum of
        several. With importances as weights, limits rest on Kish's effective numbers of rows, which
        no unit of the weights changes, and are approximate. By group, the area is that of all
        groups together, and the groups' own are in ``.groups``, with limits that hold together.
    weight, certificate, confidence, normalize, rng
        As in `weighted_auc`.
    cells : bool, optional
        Whether the scores were counted in cells, so that the order inside a cell is not known; by
        default what the counts say of themselves. The limits then hold for every order, and
        ``value_range`` holds the least and the greatest value that the rows may have.

    Examples
    --------
    >>> from karat.statistics import roc_counts
    >>> parts = [roc_counts([0, 1, 1], [0.1, 0.4, 0.8]), roc_counts([0, 1, 0], [0.4, 0.9, 0.2])]
    >>> weighted_auc_from_counts(sum(parts), confidence=0.5).value
    0.9444444444444444
    """
    options = check_area_options(weight, "interpolate", certificate, confidence, normalize, rng)
    if isinstance(counts, Mapping):
        return _by_group(counts, options, cells)
    return _area(counts, options, cells)


def _area(counts: RocCounts, options: AreaOptions, cells: bool | None) -> WeightedAUC:
    """Return the area of one table of counts, after its checks."""
    if not isinstance(counts, RocCounts):
        raise DataError(
            f"counts is a {type(counts).__name__}; expected karat.statistics.roc_counts"
        )
    if not counts.positives.sum() or not counts.negatives.sum():
        raise LabelError("counts hold one class only; an area under the ROC curve compares two")
    in_cells = counts.cells if cells is None else check_flag(cells, "cells")
    if counts.cells and not in_cells:
        refuse_option(cells, "cells", "True or None, as the counts were made in cells of scores")
    if in_cells:
        if options.certificate not in ("auto", "dkw"):
            refuse_option(options.certificate, "certificate", "'auto' or 'dkw' with cells=True")
        if isinstance(options.weight, TwoWayBand):
            refuse_option(options.weight, "weight", "a Weight or a TprBand with cells=True")
    fractions = any((np.asarray(c) % 1).any() for c in (counts.positives, counts.negatives))
    if fractions and counts.squares is None:
        raise DataError(
            "counts are sums of weights without the sums of their squares, which limits need; "
            "count with roc_counts(sample_weight=), which keeps them"
        )
    return area_result_of_counts(counts, options, cells=bool(in_cells))


def _by_group(
    counts: Mapping[Any, RocCounts], options: AreaOptions, cells: bool | None
) -> WeightedAUC:
    """Return the area of all groups together with those of the groups, as `weighted_auc` does."""
    if not counts:
        raise DataError("counts is an empty mapping; expected RocCounts by group")
    parts = {
        name: part
        for name, part in counts.items()
        if not isinstance(part, RocCounts) or (part.positives.sum() and part.negatives.sum())
    }
    skipped = {}
    for name in [name for name in counts if name not in parts]:
        own = counts[name]
        only = own.classes[int(own.positives.sum() > 0)].item()
        rows = int(own.positives.sum() + own.negatives.sum())
        skipped[name] = f"its {rows} rows are all of class {only!r}"
    shared = options.sharing(max(1, len(parts)))
    groups = {name: _area(part, shared, cells) for name, part in parts.items()}
    whole = _area(sum(counts.values()), options, cells)  # type: ignore[arg-type]
    return replace(whole, groups=groups, skipped=skipped)
