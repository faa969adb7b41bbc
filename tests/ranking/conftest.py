"""Independent oracles for areas under the ROC curve, and laws whose areas are known."""

from itertools import pairwise as pairs_of

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, rankdata
from sklearn.metrics import roc_curve


def eq_1(y, score, weight, sample_weight=None):
    """Eq. 1 of Maurer & Pontil (2020), over all pairs: ties earn nothing."""
    y, score = np.asarray(y, bool), np.asarray(score, float)
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    ones, zeros = score[y], score[~y]
    p1, p0 = w[y] / w[y].sum(), w[~y] / w[~y].sum()
    order = ((zeros[None, :] <= zeros[:, None]) * w[~y]).sum(axis=1) / w[~y].sum()
    return float(p1 @ ((ones[:, None] > zeros[None, :]) @ (p0 * weight.density(order))))


@pytest.fixture(scope="session")
def pairwise():
    return eq_1


def _segment(function, low, high):
    """Integrate over a short interval; a root at 0 is smoothed away."""
    nodes, shares = np.polynomial.legendre.leggauss(60)
    t = (nodes + 1) / 2
    u = low + (high - low) * t**6
    return float(((high - low) * 6 * t**5 * shares / 2) @ function(u))


def by_quadrature(y, score, function, breaks=(), sample_weight=None):
    """``∫ roc(u) W(u) du`` of the curve that scikit-learn draws, for W a function of u."""
    fpr, tpr, _ = roc_curve(y, score, sample_weight=sample_weight, drop_intermediate=False)
    total = 0.0
    for (a, b), (s, t) in zip(pairs_of(fpr), pairs_of(tpr), strict=True):
        if b <= a:
            continue
        ends = [a, *sorted(x for x in breaks if a < x < b), b]
        for low, high in pairs_of(ends):
            # From the right: a power of 1 − u has its root at u = 1.
            total += _segment(
                lambda v, a=a, b=b, s=s, t=t: (
                    function(1 - v, v) * (s + (t - s) * (1 - v - a) / (b - a))
                ),
                1 - high,
                1 - low,
            )
    return total


@pytest.fixture(scope="session")
def quadrature():
    return by_quadrature


def midrank_delong(y, *scores):
    """DeLong's areas and their covariance by midranks (Sun and Xu 2014)."""
    y = np.asarray(y, bool)
    n1, n0 = y.sum(), (~y).sum()
    ones = np.array([rankdata(np.asarray(s)[y]) for s in scores])
    zeros = np.array([rankdata(np.asarray(s)[~y]) for s in scores])
    both = np.array(
        [rankdata(np.concatenate([np.asarray(s)[y], np.asarray(s)[~y]])) for s in scores]
    )
    areas = both[:, :n1].sum(axis=1) / n1 / n0 - (n1 + 1) / 2 / n0
    v10 = (both[:, :n1] - ones) / n0
    v01 = 1 - (both[:, n1:] - zeros) / n1
    return areas, np.atleast_2d(np.cov(v10)) / n1 + np.atleast_2d(np.cov(v01)) / n0


@pytest.fixture(scope="session")
def delong():
    return midrank_delong


class NormalLaw:
    """Scores N(0, 1) of negatives and N(shift, 1) of positives."""

    def __init__(self, shift):
        self.shift = shift

    def draw(self, rng, n1, n0):
        return np.concatenate([rng.normal(self.shift, 1, n1), rng.normal(size=n0)])

    def roc(self, u):
        return norm.sf(norm.isf(u) - self.shift)

    def area(self, weight, breaks=(), low=0.0, high=1.0):
        """``∫ roc(u) W(u) du`` by adaptive quadrature."""
        ends = [low, *breaks, high]
        parts = (
            quad(lambda u: float(self.roc(u) * weight(u)), a, b, epsabs=1e-11, limit=400)[0]
            for a, b in pairs_of(ends)
        )
        return sum(parts)

    def box(self, a, b, c, d):
        return quad(lambda u: float(np.clip(self.roc(u), c, d) - c), a, b, epsabs=1e-10, limit=400)[
            0
        ]

    def tpr_band(self, low, high):
        return quad(lambda t: float(norm.cdf(norm.isf(t) + self.shift)), low, high)[0]


class AtomicLaw:
    """Scores on a few points, with known shares of each class."""

    def __init__(self, positive, negative):
        self.positive = np.asarray(positive, float) / np.sum(positive)
        self.negative = np.asarray(negative, float) / np.sum(negative)

    def draw(self, rng, n1, n0):
        k = len(self.positive)
        return np.concatenate(
            [rng.choice(k, n1, p=self.positive), rng.choice(k, n0, p=self.negative)]
        ).astype(float)

    def corners(self):
        fpr = np.concatenate([[0.0], np.cumsum(self.negative[::-1])])
        tpr = np.concatenate([[0.0], np.cumsum(self.positive[::-1])])
        return fpr, tpr

    def area(self, weight, breaks=()):
        """The area under the curve that joins the corners of the law, by quadrature."""
        fpr, tpr = self.corners()
        ends = np.unique(np.concatenate([fpr, list(breaks)]).clip(0, 1))
        nodes, shares = np.polynomial.legendre.leggauss(40)
        total = 0.0
        for a, b in pairs_of(ends):
            u = a + (b - a) * (nodes + 1) / 2
            total += float((b - a) / 2 * shares @ (np.interp(u, fpr, tpr) * weight(u)))
        return total

    def strict(self, weight):
        """Eq. 1 of the law."""
        above = 1 - np.cumsum(self.positive)
        # Rounded, so that a step of W on an atom is seen there.
        order = np.cumsum(self.negative).round(12)
        return float(self.negative @ (weight.density(order) * above))

    def box(self, a, b, c, d):
        fpr, tpr = self.corners()
        u = np.linspace(a, b, 400_001)
        height = np.clip(np.interp(u, fpr, tpr), c, d) - c
        return float(np.trapezoid(height, u))

    def tpr_band(self, low, high):
        fpr, tpr = self.corners()
        t = np.linspace(low, high, 400_001)
        return float(np.trapezoid(1 - np.interp(t, tpr, fpr), t))


@pytest.fixture(scope="session")
def normal_law():
    return NormalLaw


@pytest.fixture(scope="session")
def atomic_law():
    return AtomicLaw


def drawn_rows(seed, n=200, decimals=None, share=0.3):
    """Draw labels and scores, rounded where ties are wanted."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    y[:2] = [True, False]
    score = rng.normal(size=n) + 1.2 * y
    return y, score if decimals is None else score.round(decimals)


@pytest.fixture(scope="session")
def rows():
    return drawn_rows
