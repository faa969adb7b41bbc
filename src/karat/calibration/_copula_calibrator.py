"""Recalibrate the probabilities of several labels jointly, and score the result."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from karat._parameters import Parameters
from karat._result import keeps_kind
from karat._sentences import Argument
from karat._typing import Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_count,
    check_fitted,
    check_rng,
    check_same_length,
    check_weights,
    encode_groups,
)
from karat.calibration.inputs import LabelTable, in_order_of, read_new, read_table
from karat.calibration.maps import PARTS, MixtureMap, Rows, fit_mixture
from karat.calibration.models import COPULAS, WeightedFit, folds_of
from karat.calibration.result import CalibratorScore
from karat.exceptions import DataError

_LEAST = 10  # rows


class CopulaCalibrator(Parameters):
    r"""Post-hoc calibration: maps probabilities h of several labels to estimates of E[y | h].

    The map is a convex mixture of five: one factor of all logits (temperature), a logistic
    regression of each label on its own logit (Platt, ``C=10``) and on all logits (stack,
    ``C=0.1``), and a copula of all probabilities on top of the first and of the second. Their
    weights maximise the likelihood of labels that the maps were not fitted to, by EM with one
    observation more for each map:

    .. math:: \sum_i \log \sum_m w_m\, P_m(y_i \mid h_i) + \sum_m \log w_m .

    No map is best for every model and every number of rows. On six multi-label datasets and three
    models of each, the mixture's log-loss was at most Platt's and at most the stack's in nearly
    every run (`reproductions/multilabel_calibration.py`); the copulas had a tenth of the weight,
    more only where rows were many.

    It cannot follow what none of the five can: a label that is more frequent where exactly one of
    two others is probable (an interaction without a slope) stays as it is.

    Parameters
    ----------
    method : {"latent", "probit"}
        How the copulas are fitted.
    rng : int or generator, optional
        How rows are held out.

    Attributes
    ----------
    weights_ : array (5,)
        The weights of the maps, which sum to 1.
    parts_ : tuple of str
        What the maps are.
    names_ : tuple of str
        The labels.
    cross_score_ : CalibratorScore
        What the map is worth on rows that it was not fitted to, after `cross_fit_transform`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((4000, 2))
    >>> truth = np.clip(prob + 0.2 * np.sign(prob[:, ::-1] - 0.5), 0, 1)
    >>> y = rng.random((4000, 2)) < truth
    >>> calibrator = CopulaCalibrator(rng=0).fit(y[:2000], prob[:2000])
    >>> better = calibrator.transform(prob[2000:])
    >>> bool(((better - truth[2000:]) ** 2).mean() < ((prob[2000:] - truth[2000:]) ** 2).mean() / 2)
    True
    >>> score = calibrator.score(y[2000:], prob[2000:])
    >>> score.after < score.before
    True
    """

    def __init__(self, method: str = "latent", *, rng: Any = None) -> None:
        self.method = method
        self.rng = rng

    def fit(
        self,
        y_true: Frame | Column,
        y_prob: Frame | Column,
        *,
        sample_weight: Column | None = None,
    ) -> Self:
        """Fit the map.

        Parameters
        ----------
        y_true : frame (n, K) or column (n,)
            0 or 1 for each label; or one column of classes.
        y_prob : frame (n, K) or column (n,)
            Probabilities, of rows that the model was not trained on.
        sample_weight : column (n,), optional
            How many rows each row stands for.
        """
        copula, table, rng = self._copula(), read_table(y_true, y_prob), check_rng(self.rng)
        rows = Rows(table.y, table.h, _row_weights(table, sample_weight), table.exclusive)
        rows = rows.taken(rows.weight > 0)
        _require_rows(len(rows.y))
        self.model_: MixtureMap = fit_mixture(rows, copula, rng)
        self.weights_, self.parts_ = self.model_.weights, PARTS
        self.names_, self._columns = table.names, table.columns
        self._exclusive = table.exclusive
        return self

    def transform(self, y_prob: Frame | Column) -> FloatArray:
        """Return calibrated probabilities; those of classes sum to 1 in every row.

        Parameters
        ----------
        y_prob : frame (n, K) or column (n,)
            Probabilities of the same labels; the columns of a frame may have another order.
        """
        check_fitted(self, "model_", "fit(y_true, y_prob)")
        h = read_new(y_prob, len(self.names_), self._columns, exclusive=self._exclusive)
        return np.clip(self.model_(h), 0.0, 1.0)

    @keeps_kind
    def score(
        self,
        y_true: Frame | Column,
        y_prob: Frame | Column,
        *,
        groups: Column | None = None,
        sample_weight: Column | None = None,
    ) -> CalibratorScore:
        """Return the log-loss of rows before and after the map, also by group.

        Parameters
        ----------
        y_true : frame (n, K) or column (n,)
            0 or 1 for each label; or one column of classes.
        y_prob : frame (n, K) or column (n,)
            Probabilities as the model gave them, of rows that the map was not fitted to.
        groups : column (n,), optional
            The group of each row; the result names them as they are passed.
        sample_weight : column (n,), optional
            How many rows each row stands for.

        Returns
        -------
        CalibratorScore
            The log-loss ``before`` and ``after`` the map, of all rows and of each group.
        """
        check_fitted(self, "model_", "fit(y_true, y_prob)")
        table = in_order_of(read_table(y_true, y_prob), self.names_)
        return self._scored(table, self.transform(table.h), groups, sample_weight)

    def cross_fit_transform(
        self,
        y_true: Frame | Column,
        y_prob: Frame | Column,
        *,
        n_folds: int = 5,
        groups: Column | None = None,
        sample_weight: Column | None = None,
    ) -> FloatArray:
        """Return calibrated probabilities of the very rows whose labels are known.

        Each row is mapped by what was fitted to the other folds, so its label has no part in its
        probability. The map itself is then fitted to all rows, for `transform` of new ones, and
        ``cross_score_`` holds the log-loss of the rows before and after.

        Parameters
        ----------
        y_true : frame (n, K) or column (n,)
            0 or 1 for each label; or one column of classes.
        y_prob : frame (n, K) or column (n,)
            Probabilities, of rows that the model was not trained on.
        n_folds : int, default 5
            Parts of the rows; at least 2.
        groups : column (n,), optional
            The group of each row, for ``cross_score_``.
        sample_weight : column (n,), optional
            How many rows each row stands for.
        """
        folds, copula, rng = check_count(n_folds, "n_folds", at_least=2), self._copula(), self.rng
        table, generator = read_table(y_true, y_prob), check_rng(rng)
        weight = _row_weights(table, sample_weight)
        rows = Rows(table.y, table.h, weight, table.exclusive)
        fold, found = folds_of(len(weight), folds, generator), np.empty(table.h.shape)
        for k in range(folds):
            others = rows.taken((fold != k) & (weight > 0))
            _require_rows(len(others.y))
            found[fold == k] = fit_mixture(others, copula, generator)(table.h[fold == k])
        self.fit(y_true, y_prob, sample_weight=sample_weight)
        found = np.clip(found, 0.0, 1.0)
        self.cross_score_: CalibratorScore = self._scored(table, found, groups, sample_weight)
        return found

    def _copula(self) -> WeightedFit:
        return COPULAS[check_choice(self.method, "method", tuple(COPULAS))]

    def _scored(
        self,
        table: LabelTable,
        calibrated: FloatArray,
        groups: Column | None,
        sample_weight: Column | None,
    ) -> CalibratorScore:
        codes, names = encode_groups(groups)
        weight = _row_weights(table, sample_weight)
        check_same_length(y_true=table.y, groups=codes)
        losses = [_losses(table, p) for p in (table.h, calibrated)]
        size = np.empty(0) if codes is None else np.bincount(codes, weight)
        parts = [
            np.empty(0) if codes is None else np.bincount(codes, weight * loss) / size
            for loss in losses
        ]
        before, after = (float(weight @ loss / weight.sum()) for loss in losses)
        return CalibratorScore(
            before=before,
            after=after,
            per="row" if table.exclusive else "label",
            groups=() if names is None else tuple(names.tolist()),
            group_before=parts[0],
            group_after=parts[1],
            group_n=np.empty(0, int) if codes is None else np.bincount(codes),
            parts=self.parts_,
            weights=self.weights_,
            n=len(weight),
        )


def _require_rows(n: int) -> None:
    if n < _LEAST:
        raise DataError(
            Argument("y_true"),
            f" has {n} rows to fit a map to; it needs at least {_LEAST}",
        )


def _row_weights(table: LabelTable, sample_weight: Column | None) -> FloatArray:
    weight = check_weights(sample_weight)
    check_same_length(y_true=table.y, sample_weight=weight)
    return np.ones(len(table.y)) if weight is None else weight


def _losses(table: LabelTable, p: FloatArray) -> FloatArray:
    """Return the log-loss of each row, for each label or for the class; 13.8 at most."""
    p = np.clip(p, 1e-6, 1 - 1e-6)
    if table.exclusive:
        return np.asarray(-np.log((table.y * p).sum(axis=1)))
    return np.asarray(-np.log(np.where(table.y == 1, p, 1 - p)).mean(axis=1))
