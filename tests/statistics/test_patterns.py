from collections import Counter

import numpy as np
import pandas as pd
import pytest

from karat.exceptions import DataError, LabelError, LengthMismatchError
from karat.statistics import pattern_counts, patterns
from karat.statistics.patterns import distinct_rows, effective_counts


def brute_force(votes):
    return sorted(Counter(map(tuple, np.asarray(votes).tolist())).items())


def test_weights_of_each_part_add_up_to_its_own_kish_number(rng):
    part, cell = rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    weight = rng.gamma(1.0, size=60) * np.array([1.0, 10.0, 0.1])[part]
    index = 4 * part + cell
    counts, squares = (np.bincount(index, w, 12) for w in (weight, weight**2))
    found = effective_counts(counts, squares, np.repeat(np.arange(3), 4))
    for p in range(3):
        own, here = weight[part == p], found[4 * p : 4 * p + 4]
        assert here.sum() == pytest.approx(own.sum() ** 2 / (own @ own))
        np.testing.assert_allclose(here / here.sum(), counts[4 * p : 4 * p + 4] / own.sum())
    whole = effective_counts(counts, squares)
    assert whole.sum() == pytest.approx(weight.sum() ** 2 / (weight @ weight))


@pytest.mark.parametrize("k", [1, 2, 5, 300])
@pytest.mark.parametrize("m", [1, 3, 20, 70])
def test_equals_brute_force(rng, k, m):
    votes = rng.integers(-1, k, size=(400, m))
    p = patterns(votes, classes=np.arange(max(k, 2)))
    assert [(tuple(row), int(c)) for row, c in zip(p.patterns.tolist(), p.counts, strict=True)] == (
        brute_force(votes)
    )
    assert np.array_equal(p.patterns[p.ids], votes)


def test_the_table_and_the_sort_agree(rng):
    votes = rng.integers(-1, 2, size=(1000, 8))
    by_table = distinct_rows(votes, 3)
    by_sort = distinct_rows(votes, 3, table=1)
    for a, b in zip(by_table, by_sort, strict=True):
        assert np.array_equal(a, b)


def test_weights_and_labels():
    p = patterns(pd.DataFrame({"u": ["x", None], "v": ["y", "y"]}), sample_weight=[0.5, 2])
    assert p.counts.tolist() == [2.0, 0.5]
    assert p.labels().tolist() == [[None, "y"], ["x", "y"]]
    assert p.names == ("u", "v")
    assert p.summary().startswith("2.5 rows of 2 labelers fall into 2 patterns")


def test_merging(rng):
    votes = rng.integers(-1, 4, size=(300, 5))
    whole = patterns(votes)
    assert patterns(votes[:100]) + patterns(votes[100:]) == whole
    a = patterns([["x", None]])
    b = patterns([["w", "y"], ["x", None]])
    assert a + b == patterns([["x", None], ["w", "y"], ["x", None]])


def test_other_labelers_cannot_be_merged():
    with pytest.raises(DataError, match="same labelers"):
        patterns(pd.DataFrame({"a": [0, 1]})) + patterns(pd.DataFrame({"b": [0, 1]}))


def test_pattern_counts_equal_brute_force(rng):
    votes = rng.integers(-1, 3, size=(500, 3))
    y = rng.integers(0, 3, 500)
    g = rng.choice(["f", "m"], 500)
    w = rng.random(500)
    table = pattern_counts(y, votes, g, sample_weight=w)
    assert table.counts.shape == (2, len(table.patterns), 3)
    for i, group in enumerate(table.groups):
        for z, row in enumerate(table.patterns):
            for k in range(3):
                here = (g == group) & (votes == row).all(axis=1) & (y == k)
                assert table.counts[i, z, k] == pytest.approx(w[here].sum())
    assert table.joint.sum() == pytest.approx(1)


def test_soft_predictions(rng):
    votes = rng.integers(-1, 2, size=(200, 2))
    proba = rng.dirichlet(np.ones(2), 200)
    soft = pattern_counts(proba, votes, groups=np.arange(200) % 2)
    hard = pattern_counts(proba.argmax(axis=1), votes, groups=np.arange(200) % 2)
    np.testing.assert_allclose(soft.counts.sum(axis=-1), hard.counts.sum(axis=-1))


def test_pattern_counts_merge(rng):
    votes = rng.choice(["a", "b", "c"], size=(300, 3))
    y, g = rng.choice(["b", "c", "d"], 300), rng.integers(0, 3, 300)
    parts = [pattern_counts(y[i], votes[i], g[i]) for i in (slice(0, 40), slice(40, None))]
    assert parts[0] + parts[1] == pattern_counts(y, votes, g)


def test_predictions_need_two_classes():
    with pytest.raises(LabelError, match="one class only"):
        pattern_counts([1, 1], [[1, -1], [-1, 1]])
    with pytest.raises(LengthMismatchError, match="weak_labels has 3 rows and y_pred has 2"):
        pattern_counts([0, 1], [[1, -1], [-1, 1], [0, 0]])
