"""Laws with a known truth: a logistic law of several classes, and a law of several labels."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karat._result import Frozen, frozen_array
from karat._sentences import Argument, Expected
from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import check_choice, check_count, check_finite_matrix, check_number, check_rng
from karat.exceptions import DataError, MetricError, ShapeError
from karat.metrics.base import Metric

# Decision boundaries closer than this (on an interval of length 2) may be missed by `confusion`.
_GRID = 20_001
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class LogisticLaw(Frozen):
    """A law of one feature and a class whose confusions are known exactly.

    X is uniform on [−1, 1] and ``P(Y=i | x) ∝ 1 / (1 + exp(slopes[i]·x))``.
    ``LogisticLaw.binary(a)`` is the law of Hiranandani (2021), section 3.6.1, where
    ``P(Y=1 | x) = 1/(1+exp(a·x))``; with slopes (1, 3, 5) or (1, 3, 6, 10) it is that of section
    4.6.1, whose printed probabilities do not sum to 1 and are normalised here.

    Parameters
    ----------
    slopes : sequence of k numbers
        One slope per class.

    Examples
    --------
    >>> law = LogisticLaw.binary(5.0)
    >>> law.prior
    array([0.5, 0.5])
    >>> from karat.metrics import accuracy
    >>> law.bayes_confusion(accuracy).round(4)
    array([[0.4314, 0.0686],
           [0.0686, 0.4314]])
    """

    slopes: FloatArray

    def __init__(self, slopes: Sequence[float] | FloatArray) -> None:
        checked = check_finite_matrix(slopes, "slopes")
        if checked.ndim != 1 or len(checked) < 2:
            raise ShapeError(
                Argument("slopes"),
                f" has shape {checked.shape}; expected ",
                Expected("one slope per class"),
            )
        if np.abs(checked).max() > 1e4:
            raise DataError(
                Argument("slopes"),
                f" holds {np.abs(checked).max():g}; expected ",
                Expected("at most 10000"),
            )
        object.__setattr__(self, "slopes", frozen_array(checked))

    @classmethod
    def binary(cls, a: float = 5.0) -> "LogisticLaw":
        """Return the law of section 3.6.1; a larger ``a`` means less noise in the labels."""
        slope = check_number(a, "a")
        return cls([-slope, slope])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.slopes)

    @property
    def prior(self) -> FloatArray:
        """``P(Y=i)``."""
        return np.asarray(self._masses(np.array([-1.0, 1.0]))[0])

    def proba(self, x: Any) -> FloatArray:
        """Return ``P(Y=i | x)`` for each x: shape (n, k)."""
        points = check_finite_matrix(x, "x")
        log_share = -np.logaddexp(0.0, self.slopes * points[..., None])
        share = np.exp(log_share - log_share.max(axis=-1, keepdims=True))
        return np.asarray(share / share.sum(axis=-1, keepdims=True))

    def sample(
        self, n: int, *, rng: int | np.random.Generator | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Draw n items: x and y."""
        n, generator = check_count(n, "n"), check_rng(rng)
        x = generator.uniform(-1.0, 1.0, size=n)
        cumulative = self.proba(x).cumsum(axis=1)
        y = (generator.random((n, 1)) > cumulative).sum(axis=1)
        return x, y.clip(max=self.n_classes - 1)

    def confusion(self, decide: Callable[[FloatArray], AnyArray]) -> FloatArray:
        """Return the exact confusion of a classifier of x, by integration.

        Parameters
        ----------
        decide : callable
            Maps an array of x to class numbers. It must be constant between finitely many
            boundaries, which are found to full precision.
        """
        edges, decisions = self._pieces(decide)
        masses = self._masses(edges)
        table = np.zeros((self.n_classes, self.n_classes))
        np.add.at(table.T, decisions, masses)
        return table

    def bayes_confusion(self, metric: Metric) -> FloatArray:
        """Return the confusion of the best classifier for a linear metric."""
        fixed = metric.for_classes(self.n_classes)
        if not hasattr(fixed, "weights"):
            raise MetricError(f"{metric.title} is not linear; pass a LinearMetric")
        best = fixed.bayes_classifier()
        return self.confusion(lambda x: best.predict(self.proba(x)))

    def _pieces(self, decide: Callable[[FloatArray], AnyArray]) -> tuple[FloatArray, IntArray]:
        """Return the edges between which the decision is constant, and the decisions."""
        grid = np.linspace(-1.0, 1.0, _GRID)
        decisions = self._decided(decide, grid)
        change = np.flatnonzero(decisions[1:] != decisions[:-1])
        low, high = grid[change], grid[change + 1]
        for _ in range(60):  # bisection to the last bit
            middle = (low + high) / 2
            if not len(middle):
                break
            stays = self._decided(decide, middle) == decisions[change]
            low, high = np.where(stays, middle, low), np.where(stays, high, middle)
        edges = np.concatenate([[-1.0], high, [1.0]])
        return edges, np.append(decisions[change], decisions[-1])

    def _decided(self, decide: Callable[[FloatArray], AnyArray], x: FloatArray) -> IntArray:
        decisions = np.asarray(decide(x))
        if decisions.shape != x.shape:
            raise ShapeError(
                f"decide returned shape {decisions.shape} for {len(x)} points; expected one "
                "class number per point"
            )
        inside = np.isin(decisions, np.arange(self.n_classes))
        if not inside.all():
            raise DataError(
                f"decide returned {decisions[~inside][0]!r}; expected a class number from 0 to "
                f"{self.n_classes - 1}"
            )
        return decisions.astype(np.intp)

    def _masses(self, edges: FloatArray) -> FloatArray:
        """Return ``P(Y=i, X between two edges)`` for each pair of neighbours: (pieces, k)."""
        # The integrand is smooth at the scale 1/slope, so that is how finely the rule is repeated.
        parts = int(np.ceil(np.abs(self.slopes).max())) + 1
        cuts = np.linspace(edges[:-1], edges[1:], parts + 1, axis=1)
        half = np.diff(cuts, axis=1) / 2
        x = (cuts[:, :-1] + half)[..., None] + half[..., None] * _NODES
        return np.asarray(
            np.einsum("pqxk,x,pq->pk", self.proba(x), _NODE_WEIGHTS, half) / 2.0  # density 1/2
        )


# --- Multi-label laws whose canonical calibration error is known.

_KINDS = ("calibrated", "latent", "temperature", "shift", "interaction")
_SHIFT = 0.15
_OWN, _OTHER, _INTERCEPT = 0.7, 0.3, -0.1  # of the latent law
_COOLING = 0.6
_MEAN, _LATENT_NODES = -0.5, 801


class LabelSample(NamedTuple):
    """Labels y, probabilities h, and the conditional mean ``E[y | h]`` of the labels."""

    y_true: FloatArray
    y_prob: FloatArray
    conditional_mean: FloatArray


class MultilabelLaw:
    """A law of labels and probabilities with a known canonical error.

    Parameters
    ----------
    kind : {"calibrated", "latent", "temperature", "shift", "interaction"}
        What ``E[y_j | h]`` is. ``calibrated``: ``h_j`` itself. In the next two, ``h = Φ(Z)`` with
        correlated Gaussians Z: ``latent`` has ``Φ(0.7·Z_j + 0.3·Z_k − 0.1)`` with k the label after
        j, and ``temperature``, which is over-confident, ``Φ(0.6·Z_j)``. In ``shift`` the
        probabilities are independent and it is ``h_j + 0.15·sign(h_k − ½)``: each label is
        calibrated by itself and all together are not. In ``interaction`` it is
        ``h_j + 0.15·sign(h_k − ½)·sign(h_l − ½)``, which no single other label reveals.
    n_labels : int, default 5
        Number of labels; at least 3 for ``interaction`` and 2 for ``shift`` and ``latent``.
    correlation : float, default 0.4
        Correlation of Z.

    Examples
    --------
    >>> law = MultilabelLaw("shift", n_labels=4)
    >>> round(law.canonical_error(), 4)
    0.3
    >>> law.sample(100, rng=0).y_prob.shape
    (100, 4)
    """

    def __init__(self, kind: str, *, n_labels: int = 5, correlation: float = 0.4) -> None:
        self.kind = check_choice(kind, "kind", _KINDS)
        least = {"interaction": 3, "shift": 2, "latent": 2}.get(kind, 1)
        self.n_labels = check_count(n_labels, "n_labels", at_least=least)
        self.correlation = check_number(correlation, "correlation", at_least=0.0, at_most=0.99)

    def __repr__(self) -> str:
        return (
            f"MultilabelLaw({self.kind!r}, n_labels={self.n_labels}, "
            f"correlation={self.correlation:g})"
        )

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> LabelSample:
        """Draw rows; labels are independent of each other given the probabilities.

        Parameters
        ----------
        n : int
            Rows.
        rng : int or generator, optional
            Randomness.
        """
        from scipy.special import ndtr

        n, generator, k = check_count(n, "n"), check_rng(rng), self.n_labels
        if self.kind in ("shift", "interaction"):
            h = generator.uniform(_SHIFT, 1 - _SHIFT, size=(n, k))
            sign = np.sign(h - 0.5)
            turn = np.roll(sign, -1, axis=1)
            if self.kind == "interaction":
                turn = turn * np.roll(sign, -2, axis=1)
            g = h + _SHIFT * turn
        else:
            shared = generator.standard_normal((n, 1)) * math.sqrt(self.correlation)
            own = generator.standard_normal((n, k)) * math.sqrt(1 - self.correlation)
            z = _MEAN + shared + own
            h, g = ndtr(z), self._conditional_mean(z)
        return LabelSample((generator.random(h.shape) < g).astype(float), h, g)

    def _conditional_mean(self, z: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        if self.kind == "temperature":
            return np.asarray(ndtr(_COOLING * z))
        if self.kind == "latent":
            return np.asarray(ndtr(_OWN * z + _OTHER * np.roll(z, -1, axis=1) + _INTERCEPT))
        return np.asarray(ndtr(z))

    def canonical_error(self, p: float = 2) -> float:
        """Return ``CE_p``, exactly or by quadrature.

        Parameters
        ----------
        p : float, default 2
            The power.
        """
        from scipy.special import ndtr

        power = check_number(p, "p", at_least=1.0)
        if self.kind == "calibrated":
            return 0.0
        if self.kind in ("shift", "interaction"):
            return float(_SHIFT * self.n_labels ** (1 / power))
        nodes = np.linspace(
            -8.0, 8.0, _LATENT_NODES
        )  # the power 1 has kinks, which polynomials miss
        weights = np.exp(-(nodes**2) / 2)
        weights = weights / weights.sum()
        a, b = np.meshgrid(nodes, nodes, indexing="ij")
        other = self.correlation * a + math.sqrt(1 - self.correlation**2) * b
        z = np.stack([_MEAN + a, _MEAN + other], axis=-1)
        off = (
            np.abs(self._conditional_mean(z.reshape(-1, 2))[:, 0] - ndtr(z.reshape(-1, 2)[:, 0]))
            ** power
        )
        return float((self.n_labels * (np.outer(weights, weights).ravel() @ off)) ** (1 / power))
