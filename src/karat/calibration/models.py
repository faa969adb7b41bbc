"""Models of what the labels are, given the probabilities: curves, trees, ridge in wide bases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from karat._typing import FloatArray
from karat.calibration.latent import DequantizedCopula, LatentCopula, ProbitCopula


class ShrunkModel:
    """A model whose difference from h is shortened.

    ``h + share·(G(h) − h)``, with G clipped to [0, 1] and the sum of absolute differences of a row
    at most ``radius``: a bounded difference is what the limits of a certificate rest on.
    """

    def __init__(self, model: Model, share: float, radius: float = np.inf) -> None:
        self.model, self.share, self.radius = model, share, radius

    def __call__(self, h: FloatArray) -> FloatArray:
        move = self.share * (np.clip(self.model(h), 0.0, 1.0) - h)
        length = np.abs(move).sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.asarray(h + move * np.minimum(1.0, self.radius / length))


def fit_shrunk(
    y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator, *, radius: bool = False
) -> ShrunkModel:
    """Fit a model and shorten its difference from h by the share that held-out rows support.

    The share ``Σ(y−h)·(G−h) / Σ‖G−h‖²`` of cross-fitted differences is the least-squares one, kept
    between 0 and 1: a model that learned nothing leaves h as it is. With ``radius``, the difference
    of a row is at most the 95 % quantile of those of the fitted rows.
    """
    fold = folds_of(len(y), 4, rng)
    gained = length = 0.0
    for k in range(4):
        here = fold == k
        move = fit(y[~here], h[~here])(h[here]) - h[here]
        gained += float(((y[here] - h[here]) * move).sum())
        length += float((move**2).sum())
    share = float(np.clip(gained / length, 0.0, 1.0)) if length > 0 else 0.0
    model = fit(y, h)
    if not radius:
        return ShrunkModel(model, share)
    moves = np.abs(share * (np.clip(model.fitted, 0.0, 1.0) - h)).sum(axis=1)
    return ShrunkModel(model, share, max(float(np.quantile(moves, 0.95)), 1e-3))


def folds_of(n: int, k: int, rng: np.random.Generator) -> FloatArray:
    """Return a random fold for each row, as even as can be."""
    return np.asarray(rng.permutation(n) % k)


# --- The models of ``method=``, and how each is fitted.


class Model(Protocol):
    """A map of probabilities; ``fitted`` is its value at the rows it was fitted to."""

    @property
    def fitted(self) -> FloatArray: ...

    def __call__(self, h: FloatArray) -> FloatArray: ...


Fit = Callable[[FloatArray, FloatArray], Model]
WeightedFit = Callable[[FloatArray, FloatArray, FloatArray], Model]


def debiased_fit_of(method: str, rng: np.random.Generator) -> Fit:
    """Return how the models of a debiased estimate are fitted: their variance drops out of it."""
    return fit_wide if method == "latent" else fit_of(method, rng)


def fit_own_curves(y: FloatArray, h: FloatArray) -> Model:
    """Fit a curve along each label's own probability."""
    return AdditiveMap(y, h, others=False)


def fit_all_curves(y: FloatArray, h: FloatArray) -> Model:
    """Fit a sum of curves along all probabilities to each label."""
    return AdditiveMap(y, h, others=True)


def fit_wide(y: FloatArray, h: FloatArray) -> Model:
    """Fit the wide model where rows are several times its slopes, else the centred one.

    Neither is cut to [0, 1]: a cut moves calibrated probabilities near 0 up on average. One label
    has no others to be correlated with: its curve is fitted, and no copula.
    """
    if y.shape[1] == 1:
        return fit_own_curves(y, h)
    enough = len(y) >= _ROWS_A_SLOPE * WideCopula.slopes(y.shape[1])
    return WideCopula(y, h) if enough else CentredCopula(y, h, cut=False)


def fit_of(method: str, rng: np.random.Generator) -> Fit:
    """Return how a model of a method is fitted."""
    if method == "dequantized":
        return lambda y, h: DequantizedCopula(y, h, rng)  # the only one that draws
    fits: dict[str, Fit] = {"latent": CentredCopula, "probit": ProbitCopula, "trees": Trees}
    return fits[method]


_CENTRED_RIDGE = 0.02  # of the ridge regression, relative to the squares of each feature


# --- The latent model, centred: it leaves calibrated probabilities where they are.

_CENTRED_BLOCK = 1024  # rows


class CentredCopula:
    r"""The latent model's move away from labels as probable as h says, with a linear correction.

    The latent model L cannot represent every calibrated law: for classes of which one is right, or
    for a few distinct probabilities, it moves away from h even if labels are drawn from h. Its
    moments are linear in the labels, so fitting it to h in place of y gives that move without a
    draw, and

    .. math:: G_0 = h + L_{y,h} - L_{h,h}

    is h where the labels are calibrated. What is left of y is regressed, label by label, on
    ``(1, v, v_j·v)`` with the normal scores v of h, by ridge.
    """

    def __init__(
        self,
        y: FloatArray,
        h: FloatArray,
        weight: FloatArray | None = None,
        *,
        ridge: float = _CENTRED_RIDGE,
        cut: bool = True,
    ) -> None:
        self.cut = cut
        self.seen = LatentCopula(y, h, weight)
        self.scores = self.seen.scores
        self.expected = LatentCopula(h, h, weight, scores=self.scores)
        v = self.scores.own
        self.own = moved(h, v, self.seen, self.expected)
        self.weight = _ridge_weights(v, y - self.own, weight, ridge)

    def __call__(self, h: FloatArray) -> FloatArray:
        """Return the probabilities of the labels, given those of the model."""
        v = self.scores(h)
        return self._corrected(moved(h, v, self.seen, self.expected), v)

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._corrected(self.own, self.scores.own)

    def _corrected(self, start: FloatArray, v: FloatArray) -> FloatArray:
        own, bent = np.split(self.weight, [1 + v.shape[1]], axis=1)
        off = v @ bent.T
        off *= v
        off += v @ own[:, 1:].T
        off += own[:, 0]
        off += start
        return np.clip(off, 0.0, 1.0, out=off) if self.cut else off


def moved(h: FloatArray, v: FloatArray, seen: LatentCopula, expected: LatentCopula) -> FloatArray:
    """Return ``h + L_y − L_h`` at rows with normal scores v."""
    found = seen.at_scores(v)
    found -= expected.at_scores(v)
    found += h
    return found


def _ridge_weights(
    v: FloatArray, rest: FloatArray, weight: FloatArray | None, ridge: float
) -> FloatArray:
    """Return for each label j the weights of ``(1, v, v_j·v)``.

    Products of two, three and four scores are all that the regressions need; those of v_a and v_b
    serve every label, so they are formed once, in blocks that fit in a processor's memory.
    """
    n, k = v.shape
    first, second = np.triu_indices(k)
    place = np.empty((k, k), dtype=int)
    place[first, second] = place[second, first] = np.arange(len(first))
    moments, plain = np.zeros((len(first), 1 + 2 * k)), np.zeros((1 + k, k))
    ahead, sums, total = np.zeros((k, k)), np.zeros(k), 0.0
    for start in range(0, n, _CENTRED_BLOCK):
        rows = slice(start, start + _CENTRED_BLOCK)
        at, off = v[rows], rest[rows]
        one = np.ones(len(at)) if weight is None else weight[rows]
        counted = at * one[:, None]
        products = counted[:, first] * at[:, second]
        moments += products.T @ np.column_stack([np.ones(len(at)), at, at**2])
        plain[0] += one @ off
        plain[1:] += counted.T @ off
        ahead += (at * off).T @ counted
        sums += counted.sum(axis=0)
        total += float(one.sum())
    square = moments[:, 0][place]  # of v_a v_b
    common = np.block([[np.array([[total]]), sums[None, :]], [sums[:, None], square]])
    found = np.empty((k, 1 + 2 * k))
    for j in range(k):
        across = np.vstack([square[j], moments[:, 1 + j][place]])
        gram = np.block([[common, across], [across.T, moments[:, 1 + k + j][place]]])
        penalty = ridge * np.diag(gram) + 1e-12
        found[j] = np.linalg.solve(gram + np.diag(penalty), np.append(plain[:, j], ahead[j]))
    return found


COPULAS: dict[str, WeightedFit] = {"latent": CentredCopula, "probit": ProbitCopula}
_ROWS_A_SLOPE = 5
METHODS = ("latent", "probit", "trees", "dequantized")


# --- Maps of probabilities that are sums of curves, for estimates from which their variance drops
# out.
#
# A copula follows slopes. Curves follow what has none: waves, steps and U-shapes.

_RIDGE = 1e-3  # relative to the squares of each feature
_ABSOLUTE = 0.3  # of a row: a hat function that hardly any row is under gets no weight
_ROWS_A_KNOT = 8
_OWN, _OTHER = 15, 4  # quantiles at most, of a label's own probability and of another one
_ALL_OTHERS = 60  # quantiles of all probabilities together, at most
_BLOCK = 8192  # rows whose features are in memory at a time


class AdditiveMap:
    r"""``h_j + Σ_k f_jk(h_k)`` with straight lines between knots, or ``h_j + f_j(h_j)`` alone.

    Knots are quantiles of the rows and even steps. Each label's residual is regressed on the hat
    functions of its own probability and, with ``others``, on those of the other probabilities, and
    of its own again where that is the largest of the row: over-confidence is often that of the top
    label. There are fewer knots where rows are few. Nothing is cut to [0, 1].
    """

    def __init__(self, y: FloatArray, h: FloatArray, *, others: bool) -> None:
        n, k = h.shape
        self.rows, self.others = h, others and k > 1
        room = n // _ROWS_A_KNOT
        own = int(np.clip(room // 2 if self.others else room, 3, _OWN))
        other = min((room - own) // k, _ALL_OTHERS // k, _OTHER) if self.others else 0
        self.own = [_knots(h[:, j], own) for j in range(k)]
        self.other = [_knots(h[:, j], other) for j in range(k)]
        self.weight = self._regressed(h, y - h)

    def __call__(self, h: FloatArray) -> FloatArray:
        out = np.array(h, dtype=float)
        for rows in _blocks(len(h)):
            for j, (x, weight) in enumerate(zip(self._features(h[rows]), self.weight, strict=True)):
                out[rows, j] += x @ weight
        return out

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the map was fitted to."""
        return self(self.rows)

    def _features(self, h: FloatArray) -> Iterator[FloatArray]:
        """Yield the features of each label; the hats of the others are computed once for all."""
        other = [_hats(h[:, i], knots) for i, knots in enumerate(self.other)] * self.others
        most = h.max(axis=1)
        for j, knots in enumerate(self.own):
            parts = [_hats(h[:, j], knots)]
            if self.others:
                top = h[:, j] >= most
                parts += [hats for i, hats in enumerate(other) if i != j]
                parts.append(other[j] * top[:, None])
            yield np.hstack(parts)

    def _regressed(self, h: FloatArray, rest: FloatArray) -> list[FloatArray]:
        """Return the weights of the features of each label."""
        k = h.shape[1]
        grams: list[FloatArray | float] = [0.0] * k
        targets: list[FloatArray | float] = [0.0] * k
        for rows in _blocks(len(h)):
            for j, x in enumerate(self._features(h[rows])):
                grams[j], targets[j] = grams[j] + x.T @ x, targets[j] + x.T @ rest[rows, j]
        found = []
        for gram, target in zip(grams, targets, strict=True):
            penalty = _RIDGE * np.diag(gram) + _ABSOLUTE
            found.append(np.asarray(np.linalg.solve(gram + np.diag(penalty), target)))
        return found


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))


def _knots(x: FloatArray, count: int) -> FloatArray:
    """Return quantiles, and half as many even steps: few rows can have most of the error."""
    if count < 2:
        return np.zeros(0)
    even = np.linspace(x.min(), x.max(), count // 2)
    return np.unique(np.concatenate([np.quantile(x, np.linspace(0, 1, count)), even]))


def _hats(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Return functions that are 1 at one knot, 0 at the others and straight in between."""
    m = len(knots)
    if m < 2:
        return np.ones((len(x), m))
    at = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, m - 2)
    part = np.clip((x - knots[at]) / (knots[at + 1] - knots[at]), 0.0, 1.0)
    hats, row = np.zeros((len(x), m)), np.arange(len(x))
    hats[row, at], hats[row, at + 1] = 1 - part, part
    return hats


_MANY = 50_000  # rows


class Trees:
    """Gradient-boosted trees, one per label: they see interactions that a copula cannot."""

    def __init__(self, y: FloatArray, h: FloatArray) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        self.models: list[Any] = []
        for j in range(y.shape[1]):
            share = y[:, j].mean()
            if share in (0.0, 1.0):
                self.models.append(float(share))
                continue
            model = HistGradientBoostingClassifier(
                max_iter=60,
                learning_rate=0.08,
                max_leaf_nodes=8,
                min_samples_leaf=20,
                l2_regularization=1.0,
                early_stopping=False,
                random_state=0,
            )
            # Trees of few rows lose more time to waiting threads than these save.
            with threadpool_limits(1 if len(h) < _MANY else None, user_api="openmp"):
                self.models.append(model.fit(h, y[:, j]))
        self.rows = h

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self(self.rows)

    def __call__(self, h: FloatArray) -> FloatArray:
        """Return the probabilities of the labels, given those of the model."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1 if len(h) < _MANY else None, user_api="openmp"):
            columns = [
                np.full(len(h), m) if isinstance(m, float) else m.predict_proba(h)[:, 1]
                for m in self.models
            ]
        return np.column_stack(columns)


# --- The centred model with more slopes, for estimates from which its variance drops out.

_WIDE_RIDGE = 0.002  # relative to the squares of each feature
_STEEP = 6.0  # logits beyond are taken as this
_WIDE_BLOCK = 2048  # rows whose features are in memory at a time


class WideCopula:
    r"""The latent model's move, corrected by a regression that can also follow logistic maps.

    What is left of y after ``h + L_{y,h} − L_{h,h}`` is regressed, label by label, on
    ``(1, v, v_j·v, q_j, q_j·x)`` with the normal scores v, the logits x and
    ``q_j = h_j(1 − h_j)``: a logistic regression on all logits moves h_j by ``q_j·(a + bᵀx)`` to
    first order. Nothing is cut to [0, 1], for that would move calibrated probabilities near 0 up on
    average. It is too rough to predict with, and right for `debiased_terms`, where only what is
    wrong *on average* counts.
    """

    def __init__(self, y: FloatArray, h: FloatArray, *, ridge: float = _WIDE_RIDGE) -> None:
        self.seen = LatentCopula(y, h)
        self.scores, self.rows = self.seen.scores, h
        self.expected = LatentCopula(h, h, scores=self.scores)
        v = self.scores.own
        rest = y - moved(h, v, self.seen, self.expected)
        self.weight = np.array([_slopes(h, v, rest[:, j], j, ridge) for j in range(y.shape[1])])

    @staticmethod
    def slopes(n_labels: int) -> int:
        """Return how many weights each label has."""
        return 2 + 3 * n_labels

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._corrected(h, self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._corrected(self.rows, self.scores.own)

    def _corrected(self, h: FloatArray, v: FloatArray) -> FloatArray:
        k = h.shape[1]
        one, own, bent, level, steep = np.split(self.weight, np.cumsum([1, k, k, 1]), axis=1)
        off = one[:, 0] + v @ own.T + v * (v @ bent.T)
        off += h * (1 - h) * (level[:, 0] + _logits(h) @ steep.T)
        return np.asarray(off + moved(h, v, self.seen, self.expected))


def _slopes(h: FloatArray, v: FloatArray, rest: FloatArray, j: int, ridge: float) -> FloatArray:
    size = WideCopula.slopes(h.shape[1])
    gram, target = np.zeros((size, size)), np.zeros(size)
    for start in range(0, len(h), _WIDE_BLOCK):
        rows = slice(start, start + _WIDE_BLOCK)
        at = h[rows, j]
        spread = (at * (1 - at))[:, None]
        x = np.hstack(
            [
                np.ones((len(at), 1)),
                v[rows],
                v[rows, j : j + 1] * v[rows],
                spread,
                spread * _logits(h[rows]),
            ]
        )
        gram += x.T @ x
        target += x.T @ rest[rows]
    penalty = ridge * np.diag(gram) + 1e-12
    return np.asarray(np.linalg.solve(gram + np.diag(penalty), target))


def _logits(h: FloatArray) -> FloatArray:
    from scipy.special import logit

    edge = 1 / (1 + np.exp(_STEEP))
    return np.asarray(logit(np.clip(h, edge, 1 - edge)))
