"""The marginal error: one label at a time, binned and debiased."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_count, check_number
from karat.calibration.estimates import binned
from karat.calibration.inputs import LabelTable, read_table
from karat.calibration.result import MarginalCalibration

__all__ = ["marginal_calibration_error"]


@keeps_kind
def marginal_calibration_error(
    y_true: Frame | Column, y_prob: Frame | Column, *, p: float = 2, bins: int = 15
) -> MarginalCalibration:
    """Measure how far each label's probability is from its frequency.

    It cannot see whether probabilities are right *together*. Where ``h_j`` means
    ``h_j + 0.15·sign(h_k − ½)`` for an independent ``h_k``, the sign averages out within every bin
    of ``h_j``: the marginal error is 0 and every single row is wrong by 0.15. For that there is
    `canonical_calibration_error`. Nor can it see errors that change sign within a bin.

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
    count = check_count(bins, "bins")
    return _estimated(read_table(y_true, y_prob), power, count)


def _estimated(table: LabelTable, p: float, bins: int) -> MarginalCalibration:
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
