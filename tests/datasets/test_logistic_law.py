from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from karat.datasets import LogisticLaw
from karat.exceptions import DataError, MetricError, OptionError, ShapeError
from karat.metrics import LinearMetric, accuracy, f_beta, weighted_accuracy
from karat.statistics import confusion


@pytest.mark.parametrize("a", [0.5, 5.0, 50.0])
@pytest.mark.parametrize("m", [(1.0, 1.0), (0.9, 0.3), (0.05, 1.0), (1.0, 0.0)])
def test_binary_law_has_the_closed_form_of_the_thesis(a, m):
    """Eq. A.2 and A.3 of Hiranandani (2021), with ∫ 1/(1+e^{ax}) dx = x − ln(1+e^{ax})/a."""
    m11, m00 = m
    cut = 1.0 if m00 == 0 else np.clip(np.log(m11 / m00) / a, -1, 1)

    def integral(low, high):
        return (high - low) - (np.logaddexp(0, a * high) - np.logaddexp(0, a * low)) / a

    tp = integral(-1, cut) / 2
    tn = (1 - cut) / 2 - integral(cut, 1) / 2
    table = LogisticLaw.binary(a).bayes_confusion(LinearMetric([[m00, 0], [0, m11]]))
    np.testing.assert_allclose(table, [[tn, 0.5 - tn], [0.5 - tp, tp]], atol=1e-13)


@pytest.mark.parametrize("slopes", [(1, 3, 5), (1, 3, 6, 10)])
def test_multiclass_law_equals_quadrature(slopes):
    law = LogisticLaw(slopes)
    weights = np.linspace(0.5, 1.5, len(slopes))

    def eta(i, x):
        shares = [1 / (1 + np.exp(p * x)) for p in slopes]
        return shares[i] / sum(shares)

    table = law.bayes_confusion(weighted_accuracy(weights))
    assert table.sum() == pytest.approx(1, abs=1e-14)
    edges = [-1.0, *_boundaries(eta, weights), 1.0]
    expected = np.zeros_like(table)
    for low, high in pairwise(edges):
        middle = law.proba([(low + high) / 2])[0]
        j = int(np.argmax(weights * middle))
        for i in range(len(slopes)):
            expected[i, j] += quad(lambda x, i=i: eta(i, x) / 2, low, high, epsabs=1e-13)[0]
    np.testing.assert_allclose(table, expected, atol=1e-12)


def _boundaries(eta, weights):
    """Where the argmax of weights·η changes, by root finding between neighbours on a grid."""
    grid = np.linspace(-1, 1, 4001)
    gains = np.array([[w * eta(i, x) for i, w in enumerate(weights)] for x in grid])
    winner = gains.argmax(axis=1)
    return [
        brentq(
            lambda x, a=winner[n], b=winner[n + 1]: weights[a] * eta(a, x) - weights[b] * eta(b, x),
            grid[n], grid[n + 1], xtol=1e-15,
        )
        for n in np.flatnonzero(np.diff(winner))
    ]  # fmt: skip


def test_prior_and_probabilities():
    assert LogisticLaw.binary(3).prior == pytest.approx([0.5, 0.5])
    law = LogisticLaw([1, 3, 5])
    proba = law.proba(np.linspace(-1, 1, 11))
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(LogisticLaw.binary(5).proba([0.3])[0, 1], 1 / (1 + np.exp(1.5)))
    assert np.isfinite(LogisticLaw([-2000, 2000]).proba([-1, 0, 1])).all()


def test_samples_follow_the_law():
    law = LogisticLaw([1, 3, 6, 10])
    x, y = law.sample(400_000, rng=3)
    assert np.abs(x).max() <= 1
    best = weighted_accuracy([1, 1, 1, 1]).bayes_classifier()
    table = confusion(y, best.predict(law.proba(x)), classes=range(4)).probabilities
    np.testing.assert_allclose(table, law.bayes_confusion(accuracy), atol=4e-3)
    assert law.sample(5, rng=1)[0].tolist() == law.sample(5, rng=1)[0].tolist()


def test_the_bayes_confusion_is_the_best_of_all_thresholds():
    law = LogisticLaw.binary(5)
    metric = LinearMetric([[0.3, 0], [0, 0.7]])
    best = metric(law.bayes_confusion(metric))
    for cut in np.linspace(-1, 1, 41):
        table = law.confusion(lambda x, cut=cut: (x <= cut).astype(int))
        assert metric(table) <= best + 1e-14


def test_bad_input():
    with pytest.raises(ShapeError, match="one slope per class"):
        LogisticLaw([1])
    law = LogisticLaw.binary()
    with pytest.raises(MetricError, match="is not linear"):
        law.bayes_confusion(f_beta(1))
    with pytest.raises(ShapeError, match="one class number per point"):
        law.confusion(lambda x: 1)
    with pytest.raises(DataError, match="class number from 0 to 1"):
        law.confusion(lambda x: np.full(len(x), 2))
    for n in (0, 2.5):
        with pytest.raises(OptionError, match=f"n is {n}"):
            law.sample(n)
    with pytest.raises(OptionError, match="rng is 'a'"):
        law.sample(3, rng="a")
    with pytest.raises(OptionError, match="a is 'a'"):
        LogisticLaw.binary("a")
    with pytest.raises(DataError, match="at most 10000"):
        LogisticLaw([1, 1e7])
    with pytest.raises(ShapeError, match="matrix of numbers"):
        law.proba("a")
