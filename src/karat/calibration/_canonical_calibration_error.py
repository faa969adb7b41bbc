"""The canonical calibration error of a multi-label model."""

import math
from typing import NamedTuple

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray, Frame
from karat._validate import check_choice, check_confidence, check_number, check_rng
from karat.calibration.estimates import (
    binned,
    debiased_terms,
    interaction_test,
    pair_scores,
    score_test,
    split_rng,
    strict_gain,
)
from karat.calibration.inputs import LabelTable, read_table
from karat.calibration.models import METHODS, Fit, NormalScores, debiased_fit_of, fit_of, folds_of
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
_MARGINAL = (
    "the model sees less than the marginal error, which the canonical error is never below; the "
    "upper limit was raised to it"
)
_LEAST = 30  # rows: three folds of ten


@keeps_kind
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
    probabilities: each label may be marginally calibrated while its frequency depends on the
    probabilities of others.

    What it cannot see depends on ``method``. The copulas see slopes along the probabilities and no
    interactions: where ``h_j`` means ``h_j + 0.15·sign(h_k − ½)·sign(h_l − ½)`` every row is wrong
    by 0.15 and they report about 0. A test looks for such products (``interaction_p_value``), and
    the summary then says that ``method="trees"`` would measure them. Trees in turn need more rows,
    and miss smooth slopes of few rows.

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
        ``p_value``, ``interaction_p_value``, ``per_label``, ``pairs``.

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


class Limits(NamedTuple):
    """What is measured with limits, and what they were corrected by."""

    debiased: float
    standard_error: float
    lower: float
    upper: float
    certificate: float
    per_label: FloatArray
    notes: tuple[str, ...]


def _estimated(
    table: LabelTable,
    p: float,
    method: str,
    confidence: float | None,
    rng: np.random.Generator,
) -> CanonicalCalibration:
    y, h = table.y, table.h
    split, fit = split_rng(rng), fit_of(method, rng)
    if method == "trees":
        expected, scores = _out_of_fold(y, h, fit, rng), NormalScores(h)
    else:
        model = fit(y, h)
        expected, scores = model.fitted, getattr(model, "scores", None) or NormalScores(h)
    off, v = np.abs(expected - h), scores.own
    marginal = np.array([binned(y[:, j], h[:, j], _BINS)[3] for j in range(y.shape[1])])
    limits = p_value = found = None
    if confidence is not None:
        proven = max(0.0, strict_gain(table, fit, 1 - confidence, split)[1])
        wide = debiased_fit_of(method, rng)
        limits = _limits(table, wide, float(marginal.sum()), proven, confidence, rng)
        p_value = score_test(y, h, rng)
        found = interaction_test(y, h, v)
    per_label: FloatArray = (off**2).mean(axis=0) if limits is None else limits.per_label
    return CanonicalCalibration(
        value=float((off**p).sum(axis=1).mean() ** (1 / p)),
        debiased=None if limits is None else limits.debiased,
        lower=None if limits is None else limits.lower,
        upper=None if limits is None else limits.upper,
        standard_error=None if limits is None else limits.standard_error,
        certificate=None if limits is None else limits.certificate,
        p_value=p_value,
        interaction_p_value=None if found is None else found.p_value,
        interaction=() if found is None else tuple(table.names[i] for i in found[:3]),
        per_label=per_label,
        marginal=marginal,
        pairs=pair_scores(y, h, v),
        p=p,
        method=method,
        confidence=confidence,
        names=table.names,
        n=len(y),
        notes=table.notes if limits is None else limits.notes,
    )


def _limits(
    table: LabelTable,
    fit: Fit,
    marginal: float,
    certificate: float,
    confidence: float,
    rng: np.random.Generator,
) -> Limits:
    """Return the debiased error and its limits; ``upper`` is not below what is known otherwise."""
    terms = debiased_terms(table.y, table.h, fit, rng).terms
    total = terms.sum(axis=1)
    debiased, error = float(total.mean()), float(total.std(ddof=1)) / math.sqrt(len(total))
    reach = normal_quantile((1 - confidence) / 2) * error
    upper, notes = debiased + reach, table.notes
    if upper < max(0.0, certificate):
        notes = (*notes, _MISFIT)
    if max(upper, certificate) < marginal:
        notes = (*notes, _MARGINAL)
    upper = max(upper, certificate, marginal)
    per_label = terms.mean(axis=0)
    return Limits(debiased, error, debiased - reach, upper, certificate, per_label, notes)


def _out_of_fold(y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator) -> FloatArray:
    """Return E[y | h] of each row by a model that did not see it: trees repeat their own rows."""
    fold, expected = folds_of(len(y), _FOLDS, rng), np.empty(y.shape)
    for k in range(_FOLDS):
        here = fold == k
        expected[here] = fit(y[~here], h[~here])(h[here])
    return expected
