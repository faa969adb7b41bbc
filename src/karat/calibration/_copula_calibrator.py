"""Post-hoc calibration of several labels at once."""

from typing import Any, Self

import numpy as np

from karat._parameters import Parameters
from karat._typing import FloatArray, Frame
from karat._validate import check_choice, check_fitted, check_rng
from karat.calibration.inputs import in_order, read_probabilities, read_table
from karat.calibration.models import ShrunkModel, fit_of, fit_shrunk
from karat.exceptions import DataError, ShapeError

__all__ = ["CopulaCalibrator"]


class CopulaCalibrator(Parameters):
    """Post-hoc calibration: maps probabilities h of several labels to estimates of E[y | h].

    The map is fitted by a copula. Its difference from h is multiplied by a share between 0 and 1
    that held-out rows support, so that a map fitted to few rows does little harm.

    Parameters
    ----------
    method : {"latent", "probit"}
        How the map is fitted.
    rng : int or generator, optional
        How rows are held out.

    Attributes
    ----------
    share_ : float
        The share of the map's difference from h that was kept, between 0 and 1.
    names_ : tuple of str
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((4000, 2))
    >>> truth = np.clip(prob + 0.2 * np.sign(prob[:, ::-1] - 0.5), 0, 1)
    >>> y = rng.random((4000, 2)) < truth
    >>> better = CopulaCalibrator(rng=0).fit(y[:2000], prob[:2000]).transform(prob[2000:])
    >>> bool(((better - truth[2000:]) ** 2).mean() < ((prob[2000:] - truth[2000:]) ** 2).mean() / 2)
    True
    """

    def __init__(self, method: str = "latent", *, rng: Any = None) -> None:
        self.method = method
        self.rng = rng

    def fit(self, y_true: Frame, y_prob: Frame) -> Self:
        """Fit the map.

        Parameters
        ----------
        y_true : frame (n, K)
            0 or 1 for each label.
        y_prob : frame (n, K)
            Probabilities, of rows that the model was not trained on.
        """
        method = check_choice(self.method, "method", ("latent", "probit"))
        table, rng = read_table(y_true, y_prob), check_rng(self.rng)
        if len(table.y) < 10:
            raise DataError(f"y_true has {len(table.y)} rows; a map needs at least 10")
        self.model_: ShrunkModel = fit_shrunk(table.y, table.h, fit_of(method, rng), rng)
        self.share_ = self.model_.share
        self.names_, self._columns = table.names, table.columns
        return self

    def transform(self, y_prob: Frame) -> FloatArray:
        """Return calibrated probabilities.

        Parameters
        ----------
        y_prob : frame (n, K)
            Probabilities of the same labels; the columns of a frame may have another order.
        """
        check_fitted(self, "model_", "fit(y_true, y_prob)")
        h, columns = read_probabilities(y_prob)
        if h.shape[1] != len(self.names_):
            raise ShapeError(
                f"y_prob has {h.shape[1]} columns and the map was fitted to {len(self.names_)}"
            )
        if columns is not None and self._columns is not None:
            h, _ = in_order(h, columns, self._columns)
        return np.clip(self.model_(h), 0.0, 1.0)
