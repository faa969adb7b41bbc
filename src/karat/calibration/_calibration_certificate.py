"""A proof of miscalibration that no model assumption can undo."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_choice, check_confidence, check_rng
from karat.calibration.estimates import cross_fitted_gain, split_rng, strict_gain
from karat.calibration.inputs import read_table
from karat.calibration.models import fit_of
from karat.calibration.result import CalibrationCertificate
from karat.exceptions import DataError

__all__ = ["calibration_certificate"]

_MODELS = {"copula": "latent", "trees": "trees"}
_WORDS = {"copula": "a copula", "trees": "boosted trees"}
_FOLDS = 5


@keeps_kind
def calibration_certificate(
    y_true: Frame | Column,
    y_prob: Frame | Column,
    *,
    model: str = "copula",
    split: str = "strict",
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> CalibrationCertificate:
    r"""Bound the canonical calibration error from below, whatever the law.

    For any map G of the probabilities that was fitted on other rows,

    .. math:: E\left[\|y-h\|^2 - \|y-G(h)\|^2\right] \le CE_2^2,

    since no function of h predicts y better than ``E[y | h]``. A gain on held-out rows is therefore
    miscalibration, and its lower limit a proof.

    It cannot see what its map cannot: with ``model="copula"`` an interaction, such as ``h_j`` that
    means ``h_j + 0.15·sign(h_k − ½)·sign(h_l − ½)``, proves nothing however many rows there are;
    ``model="trees"`` proves it. And it never proves calibration: no proof is no evidence.

    Parameters
    ----------
    y_true : frame (n, K) or column (n,)
        0 or 1 for each label; or one column of classes.
    y_prob : frame (n, K) or column (n,)
        Probabilities.
    model : {"copula", "trees"}
        What G is. Boosted trees see interactions between labels that a Gaussian copula cannot.
    split : {"strict", "cross-fitted"}
        ``strict`` fits G on one half of the rows and evaluates it on the other, with a limit that
        holds for any number of rows; ``cross-fitted`` evaluates G on every row, with five models
        each fitted to the other folds, and its limit is approximate.
    confidence : float, default 0.95
        Probability that the limit holds.
    rng : int or generator, optional
        How rows are split.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((4000, 2))
    >>> truth = np.clip(prob + 0.2 * np.sign(prob[:, ::-1] - 0.5), 0, 1)   # the other label matters
    >>> calibration_certificate(rng.random((4000, 2)) < truth, prob, rng=0).proves
    True
    """
    check_choice(model, "model", tuple(_MODELS))
    check_choice(split, "split", ("strict", "cross-fitted"))
    level = check_confidence(confidence)
    table, generator = read_table(y_true, y_prob), split_rng(check_rng(rng))
    if len(table.y) < 10:
        raise DataError(f"y_true has {len(table.y)} rows; a certificate needs at least 10")
    fit = fit_of(_MODELS[model], generator)
    measure = strict_gain if split == "strict" else cross_fitted_gain
    gains, lower = measure(table, fit, 1 - level, generator)
    return CalibrationCertificate(
        value=float(gains.sum(axis=1).mean()),
        lower=max(0.0, lower),
        confidence=level,
        strict=split == "strict",
        model=_WORDS[model],
        per_label=gains.mean(axis=0),
        names=table.names,
        n=len(gains),
        notes=table.notes,
    )
