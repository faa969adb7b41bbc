"""What must not change a metric, for every metric that karat exports."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat.metrics
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import LinearFractionalMetric, LinearMetric, f_beta, macro, micro
from karat.metrics.base import Metric
from karat.statistics import confusion, pattern_counts, patterns, rates, roc_counts

NAMED = {
    name: value
    for name in karat.metrics.__all__
    if isinstance(value := getattr(karat.metrics, name), Metric)
}
BINARY = NAMED | {
    "f2": f_beta(2),
    "costs": karat.metrics.cost_matrix([[0, 1], [5, 0]]),
    "weighted": karat.metrics.weighted_accuracy([1, 3]),
    "linear": LinearMetric([[0.3, -1], [2, 5]]),
    "fractional": LinearFractionalMetric([[1, 0], [0, 2]], [[1, 2], [3, 4]], 0.1),
}
ANY_K = {name: m for name, m in NAMED.items() if m.n_classes is None} | {
    "macro f1": macro(f_beta(1)),
    "micro jaccard": micro(karat.metrics.jaccard),
}
pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.UndefinedMetricWarning")


@st.composite
def rows(draw, k=2):
    n = draw(st.integers(2, 25))
    label = st.integers(0, k - 1)
    y, p = (draw(st.lists(label, min_size=n, max_size=n)) for _ in range(2))
    times = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    return np.array(y), np.array(p), np.array(times)


def score(metric, y, p, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return metric.score(y, p, classes=np.arange(k), **options)


@pytest.mark.parametrize("name", BINARY)
@given(data=rows(), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_row_order(name, data, seed):
    y, p, w = data
    order = np.random.default_rng(seed).permutation(len(y))
    a = score(BINARY[name], y, p, 2, sample_weight=w)
    b = score(BINARY[name], y[order], p[order], 2, sample_weight=w[order])
    assert a == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize("name", BINARY)
@given(data=rows())
@settings(max_examples=30, deadline=None)
def test_duplication_is_weighting(name, data):
    y, p, times = data
    weighted = score(BINARY[name], y, p, 2, sample_weight=times)
    assert weighted == pytest.approx(
        score(BINARY[name], np.repeat(y, times), np.repeat(p, times), 2), abs=1e-12
    )
    scaled = score(BINARY[name], y, p, 2, sample_weight=times * 7.5)
    assert weighted == pytest.approx(scaled, abs=1e-12)


@pytest.mark.parametrize("name", BINARY)
@given(data=rows())
@settings(max_examples=20, deadline=None)
def test_names_of_the_labels_do_not_matter(name, data):
    y, p, w = data
    names = np.array(["apple", "pear"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        renamed = BINARY[name].score(names[y], names[p], sample_weight=w, classes=names)
    assert renamed == pytest.approx(score(BINARY[name], y, p, 2, sample_weight=w), abs=1e-12)


@pytest.mark.parametrize("name", ANY_K)
@given(data=rows(k=4), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_relabelling_by_any_permutation(name, data, seed):
    y, p, w = data
    new = np.random.default_rng(seed).permutation(4)
    a = score(ANY_K[name], y, p, 4, sample_weight=w)
    assert a == pytest.approx(score(ANY_K[name], new[y], new[p], 4, sample_weight=w), abs=1e-12)


@pytest.mark.parametrize("name", [n for n in BINARY if n not in ("linear", "fractional")])
@given(data=rows())
@settings(max_examples=20, deadline=None)
def test_no_prediction_beats_the_truth(name, data):
    y, p, _ = data
    assert score(BINARY[name], y, p, 2) <= score(BINARY[name], y, y, 2) + 1e-12


@given(data=rows(k=3), cut=st.integers(0, 25))
@settings(max_examples=60, deadline=None)
def test_two_parts_add_up_to_the_whole(data, cut):
    y, p, w = data
    cut = min(max(cut, 1), len(y) - 1)
    parts = [slice(0, cut), slice(cut, None)]
    votes = np.stack([y - 1, p - 1, (y + p) % 4 - 1], axis=1)
    options = {"classes": [0, 1, 2]}
    for count in (
        lambda i: confusion(y[i], p[i], groups=w[i], **options),
        lambda i: rates(y[i], p[i], groups=w[i], **options),
        lambda i: patterns(votes[i], **options),
        lambda i: pattern_counts(y[i], votes[i], groups=w[i], **options),
        lambda i: roc_counts(y[i] > 0, p[i], classes=[False, True]),
    ):
        assert count(parts[0]) + count(parts[1]) == count(slice(None))


@given(data=rows(k=3))
@settings(max_examples=30, deadline=None)
def test_counting_is_adding_up_rows(data):
    y, p, w = data
    expected = np.zeros((3, 3))
    for i, j, weight in zip(y, p, w, strict=True):
        expected[i, j] += weight
    assert np.array_equal(confusion(y, p, w, classes=[0, 1, 2]).counts, expected)
