"""Every named metric against scikit-learn's, where it has one."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as skm
from scipy.stats import hmean

from karat.exceptions import UndefinedMetricWarning
from karat.metrics import (
    PowerMeanMetric,
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    f1,
    f_beta,
    g_mean,
    jaccard,
    macro,
    mcc,
    micro,
    precision,
    recall,
    specificity,
)

BINARY = {
    "accuracy": (accuracy, skm.accuracy_score),
    "balanced_accuracy": (balanced_accuracy, skm.balanced_accuracy_score),
    "mcc": (mcc, skm.matthews_corrcoef),
    "precision": (precision, skm.precision_score),
    "recall": (recall, skm.recall_score),
    "jaccard": (jaccard, skm.jaccard_score),
    "cohen_kappa": (cohen_kappa, skm.cohen_kappa_score),
    "specificity": (specificity, lambda *a, **k: skm.recall_score(*a, pos_label=0, **k)),
    "f1": (f1, skm.f1_score),
    "f2": (f_beta(2), lambda *a, **k: skm.fbeta_score(*a, beta=2, **k)),
    "f0.5": (f_beta(0.5), lambda *a, **k: skm.fbeta_score(*a, beta=0.5, **k)),
    "g_mean": (
        g_mean,
        lambda *a, **k: np.sqrt(skm.recall_score(*a, **k) * skm.recall_score(*a, **k, pos_label=0)),
    ),
}
ANY_K = {name: BINARY[name] for name in ("accuracy", "balanced_accuracy", "mcc", "cohen_kappa")} | {
    f"{average.__name__} {name}": (
        average(BINARY[name][0]),
        lambda *a, f=BINARY[name][1], how=average.__name__, **k: f(*a, average=how, **k),
    )
    for average in (macro, micro)
    for name in ("precision", "recall", "jaccard", "f1", "f2")
}
BINARY["harmonic mean"] = (
    PowerMeanMetric([1, 1], -1),
    lambda *a, **k: hmean(skm.recall_score(*a, average=None, **k)),
)
ANY_K["g_mean"] = (
    g_mean,
    lambda *a, **k: np.prod(r := skm.recall_score(*a, average=None, **k)) ** (1 / len(r)),
)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("weighted", [False, True])
def test_binary(rng, name, weighted):
    ours, theirs = BINARY[name]
    for n in (10, 50, 1000):
        y = rng.permutation([0, 1] * (n // 2))
        p = np.where(rng.random(n) < 0.7, y, rng.integers(0, 2, n))
        w = rng.random(n) if weighted else None
        assert ours.score(y, p, sample_weight=w) == pytest.approx(
            theirs(y, p, sample_weight=w), abs=1e-12
        )


@pytest.mark.parametrize("name", ANY_K)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", [[0, 1], [3, 1, 2], list("abcdefgh")])
def test_multiclass(rng, name, weighted, labels):
    ours, theirs = ANY_K[name]
    y = rng.permutation(labels * 50)
    p = np.where(rng.random(len(y)) < 0.6, y, rng.choice(labels, len(y)))
    w = rng.random(len(y)) if weighted else None
    if len(labels) == 2 and name == "g_mean":
        theirs = BINARY[name][1]
    expected = theirs(y, p, sample_weight=w)
    assert ours.score(y, p, sample_weight=w) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "name", ["precision", "recall", "f1", "jaccard", "mcc", "balanced_accuracy"]
)
@pytest.mark.parametrize(("y", "p"), [([0, 0, 1], [0, 0, 0]), ([0, 0, 0], [0, 1, 0])])
def test_undefined_values_follow_scikit_learn_and_warn(name, y, p):
    ours, theirs = BINARY[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = theirs(y, p)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert ours.score(y, p) == pytest.approx(expected, abs=1e-12)
    undefined = {
        ("precision", 0), ("mcc", 0), ("recall", 1), ("mcc", 1), ("balanced_accuracy", 1),
    }  # fmt: skip
    assert bool(caught) == ((name, int(y == [0, 0, 0])) in undefined)
    assert all(w.category is UndefinedMetricWarning for w in caught)


def test_specificity_of_no_negatives_is_undefined():
    with pytest.warns(UndefinedMetricWarning):
        assert specificity.score([1, 1, 1], [0, 1, 1], classes=[0, 1]) == 0
    assert specificity.score([0, 0, 1, 1], [0, 1, 1, 1]) == 0.5


def test_kappa_where_chance_explains_everything():
    """Of one class alone scikit-learn has NaN; here it is 0, as the correlation is."""
    with pytest.warns(UndefinedMetricWarning):
        assert cohen_kappa.score([1, 1], [1, 1], classes=[0, 1]) == 0
    assert cohen_kappa.score([0, 0, 1], [0, 0, 0]) == skm.cohen_kappa_score([0, 0, 1], [0, 0, 0])
    assert cohen_kappa([[0.0, 0.5], [0.5, 0.0]]) == -1


def test_kappa_loses_no_digits_of_a_rare_class():
    """Exact in rational numbers: one found and one missed of a class of 2 in 10⁹."""
    from fractions import Fraction

    table = [[10**9 - 3, 1], [1, 1]]
    s = sum(map(sum, table))
    by_chance = sum(Fraction(sum(table[i]) * sum(row[i] for row in table), s * s) for i in range(2))
    exact = (Fraction(table[0][0] + table[1][1], s) - by_chance) / (1 - by_chance)
    found = cohen_kappa(np.array(table) / s)
    assert found == pytest.approx(float(exact), rel=1e-12)


def test_macro_counts_an_absent_class_as_scikit_learn_does():
    y, p, labels = [0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 2]
    with pytest.warns(UndefinedMetricWarning):
        ours = macro(f_beta(1)).score(y, p, classes=labels)
    theirs = skm.f1_score(y, p, average="macro", labels=labels, zero_division=0)
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_positive_label():
    y, p = ["spam", "ham", "spam", "ham", "ham"], ["spam", "spam", "ham", "ham", "ham"]
    for label in ("spam", "ham"):
        assert precision.score(y, p, pos_label=label) == pytest.approx(
            skm.precision_score(y, p, pos_label=label)
        )
    assert precision.score(y, p) == skm.precision_score(y, p, pos_label="spam")
