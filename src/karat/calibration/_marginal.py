"""The marginal calibration error: whether the probabilities of each label are right alone."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import check_count, check_number
from karat.calibration.inputs import read_table
from karat.calibration.models import Fit, folds_of
from karat.calibration.result import MarginalCalibration, without_limits
from karat.exceptions import DataError, ProbabilityError
from karat.statistics import RocCounts
from karat.statistics.result import counts_in_place_of


@keeps_kind
def marginal_calibration_error(
    y_true: Frame | Column | RocCounts | Mapping[Any, RocCounts],
    y_prob: Frame | Column | None = None,
    *,
    p: float = 2,
    bins: int = 15,
) -> MarginalCalibration:
    r"""Measure how far each label's probability is from its frequency.

    It cannot see whether probabilities are right *together*. Where ``h_j`` means
    ``h_j + 0.15·sign(h_k − ½)`` for an independent ``h_k``, the sign averages out within every bin
    of ``h_j``: the marginal error is 0 and every single row is wrong by 0.15. For that there is
    `canonical_calibration_error`. Nor can it see errors that change sign within a bin.

    Where too many probabilities differ to be counted one by one, round them before they are
    counted: rounding to d digits moves the mean of every bin by at most
    :math:`\tfrac12 10^{-d}`, and so the error of a label by no more, as long as no row changes its
    bin.

    Parameters
    ----------
    y_true : frame (n, K), column (n,), RocCounts, or mapping of label to RocCounts
        0 or 1 for each label; or one column of classes. Or, without ``y_prob``, counts of positives
        and negatives at each probability of the positive class, without weights, from
        `karat.statistics.roc_counts` or the ``roc_counts()`` of a `karat.scan`. Counts of parts of
        the data can be added; all labels are of the same rows.
    y_prob : frame (n, K) or column (n,), optional
        Probabilities.
    p : float, default 2
        The power of the error.
    bins : int, default 15
        Bins of equally many rows for each label.

    Returns
    -------
    MarginalCalibration
        The binned error as ``value``, without limits, the squared error without what chance adds as
        ``debiased``, the error ``per_label``, and the bins.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.random((5000, 3))
    >>> r = marginal_calibration_error(rng.random((5000, 3)) < prob, prob)
    >>> abs(r.debiased) < 0.001
    True

    From counts of probabilities:

    >>> from karat.statistics import roc_counts
    >>> rounded = prob[:, 0].round(3)
    >>> counts = roc_counts(rng.random(5000) < rounded, rounded)
    >>> abs(marginal_calibration_error(counts).debiased) < 0.001
    True
    """
    power, number = check_number(p, "p", at_least=1.0), check_count(bins, "bins")
    counts = counts_in_place_of(y_true)
    if counts is None:
        table = read_table(y_true, y_prob)
        parts = [binned(table.y[:, j], table.h[:, j], number) for j in range(table.y.shape[1])]
        return _estimated(parts, power, table.names, len(table.y), table.notes)
    if y_prob is not None:
        raise DataError(
            Argument("y_true"),
            " holds counts, which have the probabilities",
            Remedy("leave out ", Argument("y_prob")),
        )
    one = isinstance(counts, RocCounts)
    found = {counts.classes[1]: counts} if isinstance(counts, RocCounts) else counts
    for name, part in found.items():
        _check_probabilities("y_true" if one else f"the counts of {name!r}", part)
    sizes = {str(name): int(part.totals.sum()) for name, part in found.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(f"the labels were counted on different rows, {sizes}; count the same rows")
    parts = [binned_counts(c.scores, c.positives, c.negatives, number) for c in found.values()]
    return _estimated(parts, power, tuple(map(str, found)), next(iter(sizes.values())), ())


def _estimated(
    parts: Sequence[tuple[FloatArray, FloatArray, FloatArray, float]],
    p: float,
    names: tuple[str, ...],
    n: int,
    notes: tuple[str, ...],
) -> MarginalCalibration:
    """Return the error of labels of which each has mean probability, frequency and share by bin."""
    each = np.array([w @ np.abs(o - m) ** p for m, o, w, _ in parts])
    return MarginalCalibration(
        estimate=without_limits(float(each.sum() ** (1 / p))),
        debiased=float(sum(part[3] for part in parts)),
        per_label=each ** (1 / p),
        p=p,
        names=names,
        predicted=tuple(part[0] for part in parts),
        observed=tuple(part[1] for part in parts),
        weight=tuple(part[2] for part in parts),
        n=n,
        notes=notes,
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


# --- The calibration of one label by itself, in bins of equally many rows.


def binned(
    y: FloatArray, h: FloatArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return mean probability, frequency and share of each bin, and the debiased squared error.

    The squared difference of a bin of m rows is too large by the variance of its frequency, which
    ``o(1 − o)/(m − 1)`` estimates (A. Kumar, P. Liang, T. Ma, Verified uncertainty calibration,
    NeurIPS 2019).
    """
    edges = np.unique(np.quantile(h, np.linspace(0, 1, bins + 1)))
    return _of_bins(h, y, np.ones(len(y)), edges)


def binned_counts(
    h: FloatArray, ones: AnyArray, zeros: AnyArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the same as `binned` from the rows of either class at ascending probabilities."""
    rows = np.asarray(ones + zeros, dtype=np.float64)
    upto = np.cumsum(rows)
    # The quantiles of the rows: between two of them where their place is no whole number.
    place = np.linspace(0, 1, bins + 1) * (upto[-1] - 1)
    below, above = (
        h[np.searchsorted(upto, at, side="right")] for at in (np.floor(place), np.ceil(place))
    )
    edges = np.unique(below + (above - below) * (place - np.floor(place)))
    return _of_bins(h, np.asarray(ones, dtype=np.float64), rows, edges)


def _of_bins(
    h: FloatArray, ones: FloatArray, rows: FloatArray, edges: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return mean probability, frequency, share and debiased error of bins between edges."""
    place = np.clip(np.searchsorted(edges, h, side="right") - 1, 0, max(len(edges) - 2, 0))
    size = np.bincount(place, rows)
    kept = size > 0
    size = size[kept]
    mean = np.bincount(place, h * rows)[kept] / size
    rate = np.bincount(place, ones)[kept] / size
    share = size / size.sum()
    chance = np.divide(rate * (1 - rate), size - 1, out=np.zeros_like(rate), where=size > 1)
    return mean, rate, share, float(share @ ((rate - mean) ** 2 - chance))


# --- The squared canonical error without the bias of a plug-in.


class DebiasedTerms(NamedTuple):
    """The terms of the debiased estimate and of the certificate, one row each, by label."""

    terms: FloatArray
    gains: FloatArray


def debiased_terms(
    y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator
) -> DebiasedTerms:
    r"""Return terms whose mean is the squared canonical error, with models of other folds.

    ``T_i = (y−h)·(G₁−h) + (y−h)·(G₂−h) − (G₁−h)·(G₂−h)``, where G₁ and G₂ are fitted to the two
    folds that row i is not in. They are independent, so their variance drops out and
    ``E T = CE₂² − ‖E[G] − g‖²``. ``gains`` are ``(y−h)² − (y−G)²`` with the mean G of both, whose
    expectation is at most CE₂² for any G.
    """
    fold = folds_of(len(y), 3, rng)
    models = [fit(y[fold == k], h[fold == k]) for k in range(3)]
    terms, gains = np.empty(y.shape), np.empty(y.shape)
    for k in range(3):
        here = fold == k
        residual = y[here] - h[here]
        off = [models[other](h[here]) - h[here] for other in range(3) if other != k]
        terms[here] = residual * (off[0] + off[1]) - off[0] * off[1]
        mean = (off[0] + off[1]) / 2
        gains[here] = mean * (2 * residual - mean)
    return DebiasedTerms(terms, gains)


# --- A test of calibration for labels that are rare, whose sums are far from normal.

_DRAWS = 1999
_PER_LABEL = 200  # more draws where there are many labels to be best of


def rare_p_values(
    y: FloatArray, h: FloatArray, features: FloatArray, rng: np.random.Generator
) -> FloatArray:
    r"""Return for each label the p-value of ``E[y | h] = h``, exact whatever the number of rows.

    The statistic is ``T = Σ_f S_f²/V_f`` with ``S_f = Σ_i (y_i − h_i) x_if`` and
    ``V_f = Σ_i h_i(1 − h_i) x_if²`` over features x. Rows are independent and a label is 1 with
    probability h_i under the null, whatever it has to do with other labels, so T can be drawn.
    """
    draws = int(np.clip(_PER_LABEL * y.shape[1], _DRAWS, 2 * _DRAWS))
    return np.array([_p_value(y[:, j], h[:, j], features, draws, rng) for j in range(y.shape[1])])


def _p_value(
    y: FloatArray, h: FloatArray, x: FloatArray, draws: int, rng: np.random.Generator
) -> float:
    variance = (h * (1 - h)) @ x**2
    used = variance > 0
    if not used.any():
        # Nothing is left to chance: any other label than the certain one refutes h.
        return 1.0 if np.array_equal(y, h) else 1.0 / (1 + draws)
    x, variance = x[:, used], variance[used]
    seen = float((((y - h) @ x) ** 2 / variance).sum())
    drawn = (_null_sums(h, x, draws, rng) ** 2 / variance).sum(axis=1)
    return float((1 + (drawn >= seen * (1 - 1e-9)).sum()) / (1 + draws))


def _null_sums(h: FloatArray, x: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw ``Σ_i (y_i − h_i) x_i`` under the null, at the cost of the unlikely labels alone.

    A row differs from its likelier label with the probability q = min(h, 1 − h). That is the
    probability of at least one event of a Poisson process of rate −log(1 − q), and the events of
    all rows together are few where a label is rare.
    """
    likely = h > 0.5
    rate = -np.log1p(-np.minimum(h, 1 - h))
    total = np.cumsum(rate)
    counts = rng.poisson(total[-1], draws)
    rows = np.searchsorted(total, rng.random(int(counts.sum())) * total[-1], side="right")
    rows = np.minimum(rows, len(h) - 1)
    event = np.unique(np.repeat(np.arange(draws), counts) * len(h) + rows)  # once a row and draw
    draw, row = np.divmod(event, len(h))
    moved = np.where(likely[row], -1.0, 1.0)[:, None] * x[row]
    sums = np.column_stack([np.bincount(draw, column, minlength=draws) for column in moved.T])
    return np.asarray((likely - h) @ x + sums)
