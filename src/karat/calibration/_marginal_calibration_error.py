"""Each label by itself: binned and debiased."""

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_number
from karat.calibration._read import LabelTable, read_table
from karat.calibration.result import MarginalCalibration
from karat.exceptions import DataError

__all__ = ["binned", "marginal_calibration_error"]


def marginal_calibration_error(
    y_true: Frame | Column, y_prob: Frame | Column, *, p: float = 2, bins: int = 15
) -> MarginalCalibration:
    """Measure how far each label's probability is from its frequency.

    It does not see whether probabilities are right *together*: a model can be calibrated in each
    label and wrong wherever another label's probability is high. For that there is
    `canonical_calibration_error`.

    Parameters
    ----------
    y_true : frame (n, K) or column (n,)
        0 or 1 for each label; or one column of classes.
    y_prob : frame (n, K) or column (n,)
        Probabilities.
    p : float, default 2
        The power of the error.
    bins : int, default 15
        Bins of equally many rows for each label.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((5000, 3))
    >>> r = marginal_calibration_error(rng.random((5000, 3)) < prob, prob)
    >>> abs(r.debiased) < 0.001
    True
    """
    power = check_number(p, "p", at_least=1.0)
    count = int(check_number(bins, "bins", at_least=1))
    if count != bins:
        raise DataError(f"bins is {bins!r}; expected a whole number")
    return _measured(read_table(y_true, y_prob), power, count)


def _measured(table: LabelTable, p: float, bins: int) -> MarginalCalibration:
    parts = [binned(table.y[:, j], table.h[:, j], bins) for j in range(table.y.shape[1])]
    each = np.array([(w @ np.abs(o - m) ** p) for m, o, w, _ in parts])
    return MarginalCalibration(
        value=float(each.sum() ** (1 / p)),
        debiased=float(sum(part[3] for part in parts)),
        per_label=each ** (1 / p),
        p=p,
        names=table.names,
        predicted=tuple(part[0] for part in parts),
        observed=tuple(part[1] for part in parts),
        weight=tuple(part[2] for part in parts),
        n=len(table.y),
        notes=table.notes,
    )


def binned(
    y: FloatArray, h: FloatArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return mean probability, frequency and share of each bin, and the debiased squared error.

    The squared difference of a bin of m rows is too large by the variance of its frequency, which
    ``o(1 − o)/(m − 1)`` estimates (A. Kumar, P. Liang, T. Ma, Verified uncertainty calibration,
    NeurIPS 2019).
    """
    edges = np.unique(np.quantile(h, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, h, side="right") - 1, 0, max(len(edges) - 2, 0))
    size = np.bincount(place).astype(float)
    kept = size > 0
    size = size[kept]
    mean = np.bincount(place, h)[kept] / size
    rate = np.bincount(place, y)[kept] / size
    share = size / len(y)
    chance = np.divide(rate * (1 - rate), size - 1, out=np.zeros_like(rate), where=size > 1)
    return mean, rate, share, float(share @ ((rate - mean) ** 2 - chance))
