"""Multi-label laws whose canonical calibration error is known."""

import math
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_choice, check_count, check_number, check_rng

__all__ = ["LabelSample", "MultilabelLaw"]

_KINDS = ("calibrated", "latent", "temperature", "shift", "interaction")
_SHIFT = 0.15
_OWN, _OTHER, _INTERCEPT = 0.7, 0.3, -0.1  # of the latent law
_COOLING = 0.6
_MEAN, _NODES = -0.5, 801


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
        nodes = np.linspace(-8.0, 8.0, _NODES)  # the power 1 has kinks, which polynomials miss
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
