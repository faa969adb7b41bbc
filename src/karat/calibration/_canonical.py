"""The canonical calibration error: whether the probabilities of all labels are right jointly."""

import copy
import math
from typing import NamedTuple

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Argument
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import check_choice, check_confidence, check_number, check_rng
from karat.calibration._certificate import split_rng, strict_gain
from karat.calibration._marginal import binned, debiased_terms, rare_p_values
from karat.calibration.inputs import LabelTable, read_table
from karat.calibration.latent import NormalScores
from karat.calibration.models import (
    METHODS,
    Fit,
    debiased_fit_of,
    fit_all_curves,
    fit_of,
    fit_own_curves,
    folds_of,
)
from karat.calibration.result import CanonicalCalibration, without_limits
from karat.exceptions import DataError
from karat.limits.means import normal_quantile

_BINS = 15  # of equally many rows, as is usual for reliability diagrams
_FOLDS = 3
_MISFIT = (
    "the limits are below what is guaranteed, so the model does not describe these labels; "
    "calibration_certificate(model='trees') does not rest on it"
)
_CURVES = (
    "curves along single probabilities show a larger error than the model does; the upper limit "
    "is theirs"
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
    and miss smooth slopes of few rows. ``upper`` also covers what curves along single
    probabilities show, and with one label ``latent`` is such a curve.

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
        Level of the limits, by the model and guaranteed; None measures ``value`` alone, which is
        fast.
    rng : int or generator, optional
        How rows are split, and the draws of the test.

    Returns
    -------
    CanonicalCalibration
        CE_p as ``value``, with limits ``lower`` and ``upper`` that rest on the model and a lower
        limit that does not in ``guaranteed``; ``debiased`` (CE₂²), ``p_value``,
        ``interaction_p_value``, ``per_label``, ``pairs``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((3000, 3))
    >>> r = canonical_calibration_error(rng.random((3000, 3)) < prob, prob, rng=0)
    >>> r.lower, r.upper < 0.06, r.p_value > 0.01, r.guaranteed.lower
    (0.0, True, True, 0.0)
    """
    model = check_choice(method, "method", METHODS)
    power = check_number(p, "p", at_least=1.0)
    if confidence is not None:
        check_confidence(confidence)
    table, generator = read_table(y_true, y_prob), check_rng(rng)
    if len(table.y) < _LEAST:
        raise DataError(
            Argument("y_true"),
            f" has {len(table.y)} rows; the canonical error needs at least {_LEAST}",
        )
    return _estimated(table, power, model, confidence, generator)


class Limits(NamedTuple):
    """The squared error CE₂² with its limits, and what they were corrected by."""

    debiased: float
    standard_error: float
    lower: float
    upper: float
    certificate: float  # a lower limit for any law
    confidence: float
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
    value = float((off**p).sum(axis=1).mean() ** (1 / p))
    estimate, guaranteed = _headline(value, p, y.shape[1], limits)
    per_label: FloatArray = (off**2).mean(axis=0) if limits is None else limits.per_label
    return CanonicalCalibration(
        estimate=estimate,
        guaranteed=guaranteed,
        debiased=None if limits is None else limits.debiased,
        standard_error=None if limits is None else limits.standard_error,
        p_value=p_value,
        interaction_p_value=None if found is None else found.p_value,
        interaction=() if found is None else tuple(table.names[i] for i in found[:3]),
        per_label=per_label,
        marginal=marginal,
        pairs=pair_scores(y, h, v),
        p=p,
        method=method,
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
    """Return the debiased error and its limits; ``upper`` is not below what is known otherwise.

    No model shows more than there is on average, so the greatest of the upper limits of several
    models holds if one of them follows the labels: the method's own, a curve along each label's
    own probability (its marginal error), and a sum of curves along all of them.
    """
    again = copy.deepcopy(rng)  # the same parts of the rows for every model
    terms = debiased_terms(table.y, table.h, fit, rng).terms
    debiased, error = _mean_and_error(terms)
    reach = normal_quantile((1 - confidence) / 2) * error
    upper, notes = debiased + reach, table.notes
    if upper < max(0.0, certificate):
        notes = (*notes, _MISFIT)
    shown = marginal
    highest = max(upper, certificate)
    for curves in (fit_own_curves, fit_all_curves)[: 1 + (table.y.shape[1] > 1)]:
        found = debiased_terms(table.y, table.h, curves, copy.deepcopy(again)).terms
        value, spread = _mean_and_error(found)
        shown = max(shown, value)
        highest = max(highest, value + normal_quantile((1 - confidence) / 2) * spread)
    if max(upper, certificate) < shown:
        notes = (*notes, _CURVES)
    per_label = terms.mean(axis=0)
    lower, upper = debiased - reach, max(highest, marginal)
    return Limits(debiased, error, lower, upper, certificate, confidence, per_label, notes)


def _headline(
    value: float, p: float, labels: int, limits: Limits | None
) -> tuple[Estimate[float], Estimate[float] | None]:
    """Return CE_p with the limits that follow from those of CE₂², by the model and guaranteed."""
    if limits is None:
        return without_limits(value), None
    lower, upper = limits_of_power(limits.lower, limits.upper, p, labels)
    proven = limits_of_power(limits.certificate, 0.0, p, labels)[0]
    level, most = limits.confidence, labels ** (1 / p)
    return (
        Estimate.of(value, lower, upper, level, "model"),
        Estimate.of(value, proven, most, level, "finite-sample"),
    )


def limits_of_power(lower: float, upper: float, p: float, labels: int) -> tuple[float, float]:
    r"""Return limits of CE_p from those of CE₂²; their square roots for p = 2.

    No label is further off than 1, so :math:`\sum_j|d_j|^p` falls with p and CE_p^p compares with
    CE₂² itself; and by the inequality of power means :math:`CE_p K^{-1/p}` grows with p, K being
    the number of labels. One of the two bounds CE_p from below, the other from above.
    """
    low, high = max(lower, 0.0), max(upper, 0.0)
    scale = labels ** (1 / p - 1 / 2)
    if p <= 2:
        return low ** (1 / p), scale * math.sqrt(high)
    return scale * math.sqrt(low), high ** (1 / p)


def _mean_and_error(terms: FloatArray) -> tuple[float, float]:
    """Return the mean of the terms of all labels together, and its standard error."""
    total = terms.sum(axis=1)
    return float(total.mean()), float(total.std(ddof=1)) / math.sqrt(len(total))


def _out_of_fold(y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator) -> FloatArray:
    """Return E[y | h] of each row by a model that did not see it: trees repeat their own rows."""
    fold, expected = folds_of(len(y), _FOLDS, rng), np.empty(y.shape)
    for k in range(_FOLDS):
        here = fold == k
        expected[here] = fit(y[~here], h[~here])(h[here])
    return expected


# --- A test for interactions: a label that goes with a product of two labels' probabilities.

_BLOCK = 4096  # rows whose products are in memory at a time
_CANDIDATES = 8  # of the largest sums, whose p-values are worked out
_MOST = 2_000_000  # sums; beyond that nothing is looked at
_STEPS = 50


class Interaction(NamedTuple):
    """The product of two probabilities that a label's residuals go with most.

    Attributes
    ----------
    label, first, second : int
        The label, and the two whose probabilities are multiplied.
    sign : int
        1 if the label is more frequent than its probability says where both are high or both low,
        −1 if it is where one is high and the other low.
    p_value : float
        Of the hypothesis that probabilities are canonically calibrated.
    """

    label: int
    first: int
    second: int
    sign: int
    p_value: float


def interaction_test(y: FloatArray, h: FloatArray, v: FloatArray) -> Interaction | None:
    """Test whether residuals of any label go with a product of two labels' ranks.

    ``S = Σ_i (y_ij − h_ij) f_i`` with ``f = u_k u_l`` and ranks u scaled to (−1, 1), which the
    normal scores v give. Where the label is Bernoulli(h_ij) in every row the law of S is known
    whatever labels have to do with each other, so its tail is bounded (Chernoff), and the least of
    these bounds is multiplied by the number of sums (Bonferroni): the level holds for any number of
    rows and any rarity. None for one label, or for more than about 150.
    """
    from scipy.special import ndtr

    k = y.shape[1]
    first, second = np.triu_indices(k, 1)
    tests = k * len(first)
    if not 0 < tests <= _MOST:
        return None
    u = 2 * ndtr(v) - 1
    size, spread = np.zeros((k, len(first))), np.zeros((k, len(first)))
    for start in range(0, len(y), _BLOCK):
        rows = slice(start, start + _BLOCK)
        product = u[rows][:, first] * u[rows][:, second]
        size += (y[rows] - h[rows]).T @ product
        spread += (h[rows] * (1 - h[rows])).T @ product**2
    scaled = np.divide(np.abs(size), np.sqrt(spread), out=np.zeros_like(size), where=spread > 1e-12)
    found = []
    for place in np.argsort(-scaled, axis=None)[:_CANDIDATES]:
        j, pair = divmod(int(place), len(first))
        a, b, sign = int(first[pair]), int(second[pair]), 1 if size[j, pair] >= 0 else -1
        tail = chernoff_p_value(y[:, j], h[:, j], sign * u[:, a] * u[:, b])
        found.append(Interaction(j, a, b, sign, min(1.0, 2 * tests * tail)))
    return min(found, key=lambda each: each.p_value)


def chernoff_p_value(y: FloatArray, h: FloatArray, f: FloatArray) -> float:
    """Return a bound on the chance of ``Σ (y − h) f`` or more, for independent Bernoulli(h).

    ``min_t exp(Σ log(1 − h + h e^{tf}) − t Σ y f)`` over t ≥ 0, by Newton's method; any t gives a
    bound.
    """
    from scipy.special import expit, log_expit

    certain = (h <= 0) | (h >= 1)
    if np.any(y[certain] != h[certain]):
        return 0.0  # what was impossible has happened
    y, h, f = y[~certain], h[~certain], f[~certain]
    at, seen = np.log(h) - np.log1p(-h), float(y @ f)

    def log_bound(t: float) -> float:
        # log(1 − h + h e^{tf}) = log(1 − h) − log(1 − σ(logit h + tf))
        return float((np.log1p(-h) - log_expit(-(at + t * f))).sum() - t * seen)

    t, best = 0.0, 0.0
    for _ in range(_STEPS):
        p = expit(at + t * f)
        slope, curve = float(p @ f) - seen, float((f**2) @ (p * (1 - p)))
        if curve <= 1e-12 or abs(slope) <= 1e-9 or (t == 0 and slope > 0):
            break
        step = float(np.clip(-slope / curve, -t, 1.0 + t))
        while (then := log_bound(t + step)) > best and abs(step) > 1e-9:
            step /= 2
        if then > best:
            break
        t, best = t + step, then
    return float(np.exp(best))


# --- A test of canonical calibration: whether residuals go with any label's score.

_SIGNS, _LEAST_SIGNS = 1999, 199
_DRAWS = 20  # thousands
_COMMON = 30  # labels that are expected to be 1, and 0, from which on signs have the right law


class DrawSizes(NamedTuple):
    """Sizes at which the test changes how it draws, so that time and memory stay bounded.

    Attributes
    ----------
    few : int
        Rows up to which signs are drawn; more rows have the law of a sum of χ² variables.
    many : int
        Products of a residual and a score above which signs are drawn whatever the rows: their
        moments would be a matrix too large to decompose.
    block : int
        Rows, and columns of products, that are in memory at a time.
    work : float
        Products of a sign and a residual for all draws together; beyond it there are fewer draws.
    """

    few: int = 4000
    many: int = 1000
    block: int = 4096
    work: float = 2e10


_SIZE = DrawSizes()


def score_test(
    y: FloatArray, h: FloatArray, rng: np.random.Generator, *, size: DrawSizes = _SIZE
) -> float:
    """Return the p-value of ``E[y | h] = h`` against a dependence on normal scores of h.

    With ``u_i = (y_i − h_i) ⊗ (1, v_i)``, each label's residual scaled, the statistic is
    ``Σ_{i≠j} u_i·u_j``. Under the null each u_i has mean zero given h, so giving rows random signs
    draws from the null (a wild bootstrap of a degenerate U-statistic); labels may depend on each
    other in any way. For many rows the same law is a weighted sum of χ² variables.

    Labels of which few are expected to be 1, or 0, are tested one by one (`rare_p_values`): signs
    do not know how skewed their sums are. The parts share the error (Bonferroni).
    """
    expected = np.minimum(h.sum(axis=0), (1 - h).sum(axis=0))
    rare = expected < _COMMON
    residual, features = score_parts(y, h)
    p_values = []
    if rare.any():
        each = rare_p_values(y[:, rare], h[:, rare], features, rng)
        p_values.append(float(rare.sum() * each.min()))
    if not rare.all():
        p_values.append(_signed_p_value(residual[:, ~rare], features, rng, size))
    return min(1.0, len(p_values) * min(p_values))


def _signed_p_value(
    residual: FloatArray, features: FloatArray, rng: np.random.Generator, size: DrawSizes
) -> float:
    if not residual.any():
        return 1.0
    # Σ_i ‖u_i‖² is the same whatever the signs.
    squares = float(((residual**2).sum(axis=1) * (features**2).sum(axis=1)).sum())
    seen = float(((residual.T @ features) ** 2).sum()) - squares
    if len(residual) <= size.few or residual.shape[1] * features.shape[1] > size.many:
        drawn = signed_statistics(residual, features, rng, size=size) - squares
    else:
        drawn = chi_square_statistics(residual, features, rng, size=size)
    return float((1 + (drawn >= seen - 1e-9 * squares).sum()) / (1 + len(drawn)))


def signed_statistics(
    residual: FloatArray,
    features: FloatArray,
    rng: np.random.Generator,
    *,
    size: DrawSizes = _SIZE,
) -> FloatArray:
    """Draw ``‖Σ_i ±u_i‖²``; many rows and labels get fewer draws."""
    n, products = len(residual), residual.shape[1] * features.shape[1]
    draws = int(np.clip(size.work / (n * min(products, n)), _LEAST_SIGNS, _SIGNS))
    signs = rng.integers(0, 2, size=(draws, n), dtype=np.int8) * 2 - 1
    if n <= size.few and products > n:  # the Gram matrix of rows is the smaller one
        gram = (residual @ residual.T) * (features @ features.T)
        found: FloatArray = ((signs.astype(float) @ gram) * signs).sum(axis=1)
        return found
    found = np.zeros(draws)
    wide = max(1, size.block // features.shape[1])
    for first in range(0, residual.shape[1], wide):
        part = residual[:, first : first + wide]
        found += (_signed_sums(signs, part, features, size.block) ** 2).sum(axis=1)
    return found


def _signed_sums(
    signs: AnyArray, residual: FloatArray, features: FloatArray, block: int
) -> FloatArray:
    total = np.zeros((len(signs), residual.shape[1] * features.shape[1]))
    for start in range(0, len(residual), block):
        rows = slice(start, start + block)
        total += signs[:, rows].astype(float) @ _products(residual[rows], features[rows])
    return total


def _moments(residual: FloatArray, features: FloatArray, block: int) -> FloatArray:
    products = residual.shape[1] * features.shape[1]
    total = np.zeros((products, products))
    for start in range(0, len(residual), block):
        rows = slice(start, start + block)
        u = _products(residual[rows], features[rows])
        total += u.T @ u
    return total


def _products(residual: FloatArray, features: FloatArray) -> FloatArray:
    return np.asarray((residual[:, :, None] * features[:, None, :]).reshape(len(residual), -1))


def chi_square_statistics(
    residual: FloatArray,
    features: FloatArray,
    rng: np.random.Generator,
    *,
    size: DrawSizes = _SIZE,
) -> FloatArray:
    """Draw ``Σ λ (χ² − 1)`` with the eigenvalues λ of ``Σ_i u_i u_iᵀ``."""
    weights = np.linalg.eigvalsh(_moments(residual, features, size.block))
    # Eigenvalues that are rounding would add draws and no variance.
    weights = weights[weights > 1e-9 * weights.max()]
    parts = [(rng.standard_normal((1000, len(weights))) ** 2 - 1) @ weights for _ in range(_DRAWS)]
    return np.concatenate(parts)


def score_parts(y: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scaled residuals (n, K), and (1, v) with the normal scores v of h: (n, 1 + K)."""
    residual = y - h
    size = np.sqrt((residual**2).mean(axis=0))
    size[size == 0] = 1.0
    v = NormalScores(h).own
    return residual / size, np.column_stack([np.ones(len(v)), v])


def pair_scores(y: FloatArray, h: FloatArray, v: FloatArray) -> FloatArray:
    """Return, for labels j and k, how far residuals of j go with the score v of k, in z-values."""
    residual = y - h
    size = np.sqrt((residual**2).T @ v**2)
    return np.asarray(np.divide(residual.T @ v, size, out=np.zeros(size.shape), where=size > 0))
