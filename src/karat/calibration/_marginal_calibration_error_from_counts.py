"""The marginal error from counts of probabilities."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._validate import check_count, check_number
from karat.calibration.estimates import binned_counts
from karat.calibration.result import MarginalCalibration
from karat.exceptions import DataError, ProbabilityError
from karat.statistics import RocCounts

__all__ = ["marginal_calibration_error_from_counts"]


@keeps_kind
def marginal_calibration_error_from_counts(
    counts: RocCounts | Mapping[Any, RocCounts], *, p: float = 2, bins: int = 15
) -> MarginalCalibration:
    r"""Measure how far probabilities are from frequencies, from positives and negatives of each.

    The numbers are those of `marginal_calibration_error` on the rows; no row is needed, and counts
    of parts of the data can be added. Where too many probabilities differ to be counted one by
    one, round them before they are counted: rounding to d digits moves the mean of every bin by at
    most :math:`\tfrac12 10^{-d}`, and so the error of a label by no more, as long as no row changes
    its bin.

    Parameters
    ----------
    counts : RocCounts, or mapping of label to RocCounts
        From `karat.statistics.roc_counts` or the ``roc_counts()`` of a `karat.scan`, of
        probabilities of the positive class, without weights. All labels are of the same rows.
    p, bins
        As in `marginal_calibration_error`.

    Returns
    -------
    MarginalCalibration

    Examples
    --------
    >>> import numpy as np
    >>> from karat.statistics import roc_counts
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random(5000).round(3)
    >>> counts = roc_counts(rng.random(5000) < prob, prob)
    >>> abs(marginal_calibration_error_from_counts(counts).debiased) < 0.001
    True
    """
    power, number = check_number(p, "p", at_least=1.0), check_count(bins, "bins")
    one = isinstance(counts, RocCounts)
    found = {counts.classes[1]: counts} if isinstance(counts, RocCounts) else counts
    if not isinstance(found, Mapping) or not found:
        raise DataError(
            f"counts is {type(counts).__name__}; expected karat.statistics.roc_counts, or a "
            "mapping of label to them"
        )
    for name, part in found.items():
        _check_probabilities("counts" if one else f"the counts of {name!r}", part)
    sizes = {str(name): int(part.totals.sum()) for name, part in found.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(f"the labels were counted on different rows, {sizes}; count the same rows")
    parts = [binned_counts(c.scores, c.positives, c.negatives, number) for c in found.values()]
    each = np.array([w @ np.abs(o - m) ** power for m, o, w, _ in parts])
    return MarginalCalibration(
        value=float(each.sum() ** (1 / power)),
        debiased=float(sum(part[3] for part in parts)),
        per_label=each ** (1 / power),
        p=power,
        names=tuple(map(str, found)),
        predicted=tuple(part[0] for part in parts),
        observed=tuple(part[1] for part in parts),
        weight=tuple(part[2] for part in parts),
        n=next(iter(sizes.values())),
        notes=(),
    )


def _check_probabilities(what: str, counts: object) -> None:
    """Refuse what are no counts of rows at probabilities."""
    if not isinstance(counts, RocCounts):
        raise DataError(
            f"{what} is a {type(counts).__name__}; expected karat.statistics.roc_counts"
        )
    if counts.cells:
        raise DataError(
            f"{what} is in cells of scores, whose means are not known; expected exact counts. "
            "Round the probabilities before they are counted"
        )
    if counts.squares is not None:
        raise DataError(f"{what} holds sums of weights; expected counts of rows")
    if not counts.totals.sum():
        raise DataError(f"{what} holds no rows; count at least one")
    low, high = counts.scores[0], counts.scores[-1]
    if low < 0 or high > 1:
        raise ProbabilityError(
            f"{what} has scores from {low:g} to {high:g}; expected probabilities between 0 and 1"
        )
