"""A lower limit of the calibration error that rests on no model of the probabilities."""

from collections.abc import Callable

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Argument
from karat._typing import Column, FloatArray, Frame
from karat._validate import check_choice, check_confidence, check_rng
from karat.calibration.inputs import LabelTable, read_table
from karat.calibration.models import Fit, fit_of, fit_shrunk, folds_of
from karat.calibration.result import CalibrationCertificate, gain_guarantee
from karat.exceptions import DataError
from karat.limits.means import betting_lower, normal_quantile

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

    Returns
    -------
    CalibrationCertificate
        The gain as ``value`` with the lower limit ``lower`` of CE₂², whether that ``proves`` an
        error, and the gain ``per_label``.

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
        raise DataError(
            Argument("y_true"),
            f" has {len(table.y)} rows; a certificate needs at least 10",
        )
    fit = fit_of(_MODELS[model], generator)
    measure = strict_gain if split == "strict" else cross_fitted_gain
    gains, lower = measure(table, fit, 1 - level, generator)
    return CalibrationCertificate(
        estimate=Estimate.of(
            float(gains.sum(axis=1).mean()),
            max(0.0, lower),
            float(len(table.names)),
            level,
            gain_guarantee(strict=split == "strict"),
        ),
        strict=split == "strict",
        model=_WORDS[model],
        per_label=gains.mean(axis=0),
        names=table.names,
        n=len(gains),
        notes=table.notes,
    )


# --- What a map of the probabilities gains on rows that it was not fitted to.

LowerLimit = Callable[[FloatArray, float, float, float], float]


def split_rng(rng: np.random.Generator) -> np.random.Generator:
    """Return the generator of a certificate's split, drawn first.

    The error and the certificate of one seed then prove the same.
    """
    return np.random.default_rng(int(rng.integers(2**63)))


def strict_gain(
    table: LabelTable,
    fit: Fit,
    delta: float,
    rng: np.random.Generator,
    *,
    limit: LowerLimit = betting_lower,
) -> tuple[FloatArray, float]:
    """Return the gains on a half that the model did not see, and a lower limit for any law.

    ``limit`` bounds the mean of values from a known range from below; it is given the values, the
    ends of the range and ``delta``.
    """
    fold = folds_of(len(table.y), 2, rng)
    y, h = table.y, table.h
    model = fit_shrunk(y[fold == 0], h[fold == 0], fit, rng, radius=True)
    gains = _gains(y[fold == 1], h[fold == 1], model(h[fold == 1]))
    if model.share == 0:
        return gains, 0.0
    # |(y−h)² − (y−g)²| = |g−h|·|2y−h−g| is at most twice the move, and moves have a radius.
    reach = 2 * model.radius
    return gains, limit(gains.sum(axis=1), -reach, reach, delta)


def cross_fitted_gain(
    table: LabelTable, fit: Fit, delta: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    fold = folds_of(len(table.y), _FOLDS, rng)
    gains = np.empty(table.y.shape)
    for k in range(_FOLDS):
        here = fold == k
        model = fit_shrunk(table.y[~here], table.h[~here], fit, rng)
        gains[here] = _gains(table.y[here], table.h[here], model(table.h[here]))
    total = gains.sum(axis=1)
    error = float(total.std(ddof=1)) / np.sqrt(len(total))
    return gains, float(total.mean() - normal_quantile(delta) * error)


def _gains(y: FloatArray, h: FloatArray, g: FloatArray) -> FloatArray:
    return np.asarray((y - h) ** 2 - (y - g) ** 2)
