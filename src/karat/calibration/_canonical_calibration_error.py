"""The canonical calibration error of a multi-label model."""

import math

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_choice, check_confidence, check_number, check_rng
from karat.calibration.estimates import binned, debiased_terms, pair_scores, score_test, strict_gain
from karat.calibration.inputs import LabelTable, read_table
from karat.calibration.models import METHODS, Fit, fit_of, folds_of
from karat.calibration.result import CanonicalCalibration
from karat.exceptions import DataError
from karat.limits.kernels import normal_quantile

__all__ = ["canonical_calibration_error"]

_BINS = 15  # of equally many rows, as is usual for reliability diagrams
_FOLDS = 3
_MISFIT = (
    "the limits are below what is certain, so the model does not describe these labels; "
    "calibration_certificate(model='trees') does not rest on it"
)
_LEAST = 30  # rows: three folds of ten


def canonical_calibration_error(
    y_true: Frame | Column,
    y_prob: Frame | Column,
    *,
    p: float = 2,
    method: str = "latent",
    confidence: float | None = 0.95,
    rng: int | np.random.Generator | None = None,
) -> CanonicalCalibration:
    r"""Measure how far the probabilities of several labels are from E[y | h], given all of them.

    .. math:: CE_p = \left(E\,\|E[y \mid h] - h\|_p^p\right)^{1/p}

    (Panda & Garain 2023, eq. 1). The conditional expectation is given the whole vector h of
    probabilities: each label may be calibrated by itself while its frequency depends on the
    probabilities of others.

    Parameters
    ----------
    y_true : frame (n, K) or column (n,)
        0 or 1 for each label; or one column of classes.
    y_prob : frame (n, K) or column (n,)
        Probabilities.
    p : float, default 2
        The power.
    method : {"latent", "probit", "trees", "dequantized"}
        The model of E[y | h]. ``latent`` takes each label as a Gaussian variable that exceeds a
        threshold and is correlated with the normal scores of h, in closed form, less the move that
        it makes where labels are as probable as h says, plus a linear correction; ``probit`` fits
        the same form by maximum likelihood. ``trees`` are boosted trees, which find what a Gaussian
        copula cannot (interactions, steps) and take far longer. ``dequantized`` is the estimator of
        Panda & Garain (2023), which is inconsistent, for comparison.
    confidence : float or None, default 0.95
        Level of the limits and of the certificate; None measures ``value`` alone, which is fast.
    rng : int or generator, optional
        How rows are split, and the draws of the test.

    Returns
    -------
    CanonicalCalibration
        ``value`` (CE_p), ``debiased`` (CE₂²) with ``lower`` and ``upper``, ``certificate``,
        ``p_value``, ``per_label``, ``pairs``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((3000, 3))
    >>> r = canonical_calibration_error(rng.random((3000, 3)) < prob, prob, rng=0)
    >>> r.lower <= 0 <= r.upper, r.p_value > 0.01, r.certificate
    (True, True, 0.0)
    """
    model = check_choice(method, "method", METHODS)
    power = check_number(p, "p", at_least=1.0)
    if confidence is not None:
        check_confidence(confidence)
    table, generator = read_table(y_true, y_prob), check_rng(rng)
    if len(table.y) < _LEAST:
        raise DataError(
            f"y_true has {len(table.y)} rows; the canonical error needs at least {_LEAST}"
        )
    return _estimated(table, power, model, confidence, generator)


def _estimated(
    table: LabelTable,
    p: float,
    method: str,
    confidence: float | None,
    rng: np.random.Generator,
) -> CanonicalCalibration:
    y, h = table.y, table.h
    fit = fit_of(method, rng)
    expected = _out_of_fold(y, h, fit, rng) if method == "trees" else fit(y, h).fitted
    off = np.abs(expected - h)
    value = float((off**p).sum(axis=1).mean() ** (1 / p))
    debiased = lower = upper = error = certificate = p_value = None
    misfit = False
    per_label: FloatArray = (off**2).mean(axis=0)
    if confidence is not None:
        terms = debiased_terms(y, h, fit, rng).terms
        total = terms.sum(axis=1)
        debiased, error = float(total.mean()), float(total.std(ddof=1)) / math.sqrt(len(total))
        reach = normal_quantile((1 - confidence) / 2) * error
        lower, upper = debiased - reach, debiased + reach
        certificate = max(0.0, strict_gain(table, fit, 1 - confidence, rng)[1])
        misfit = upper < max(0.0, certificate)  # before the rows themselves correct it
        upper = max(upper, certificate)
        p_value = score_test(y, h, rng)
        per_label = terms.mean(axis=0)
    columns = range(y.shape[1])
    return CanonicalCalibration(
        value=value,
        debiased=debiased,
        lower=lower,
        upper=upper,
        standard_error=error,
        certificate=certificate,
        p_value=p_value,
        per_label=per_label,
        marginal=np.array([binned(y[:, j], h[:, j], _BINS)[3] for j in columns]),
        pairs=pair_scores(y, h),
        p=p,
        method=method,
        confidence=confidence,
        names=table.names,
        n=len(y),
        notes=(*table.notes, _MISFIT) if misfit else table.notes,
    )


def _out_of_fold(y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator) -> FloatArray:
    """Return E[y | h] of each row by a model that did not see it: trees repeat their own rows."""
    fold, expected = folds_of(len(y), _FOLDS, rng), np.empty(y.shape)
    for k in range(_FOLDS):
        here = fold == k
        expected[here] = fit(y[~here], h[~here])(h[here])
    return expected
