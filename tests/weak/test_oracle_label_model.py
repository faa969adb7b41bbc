import numpy as np
import pandas as pd
import pytest

from karat.exceptions import LabelError, LengthMismatchError, OptionError, WeightError
from karat.weak import OracleLabelModel


@pytest.fixture(scope="module")
def data(law, draw):
    rng = np.random.default_rng(0)
    return draw(rng, 300, [0.6, 0.4], law([0.8, 0.7, 0.6], [0.9, 0.8, 0.7], 2))


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 5.0])
def test_the_formula(data, smoothing):
    y, votes = data
    weight = np.arange(300) % 3 + 0.5
    proba = OracleLabelModel(smoothing=smoothing).fit(votes, y, sample_weight=weight)
    cast = np.array([(weight[:, None] * (votes == c)).sum() for c in (0, 1)])
    labels = np.array([weight[y == c].sum() for c in (0, 1)])
    prior = (labels + 10 * (0.5 * cast / cast.sum() + 0.25)) / (weight.sum() + 10)
    for row, p in zip(votes, proba.predict_proba(votes), strict=True):
        here = (votes == row).all(axis=1)
        counts = np.array([weight[here & (y == c)].sum() for c in (0, 1)])
        np.testing.assert_allclose(
            p, (counts + smoothing * prior) / (counts.sum() + smoothing), rtol=1e-12
        )


def test_naive_bayes_base(data, bayes):
    y, votes = data
    model = OracleLabelModel(base="naive-bayes", smoothing=1e9).fit(votes, y)
    np.testing.assert_allclose(
        model.predict_proba(votes), bayes(votes, model.class_prior_, model.confusions_), atol=1e-6
    )
    model = OracleLabelModel(base="naive-bayes", smoothing=1e-9).fit(votes, y)
    shares = [[np.mean(votes[y == c, 0] == o) for o in (0, 1, -1)] for c in (0, 1)]
    np.testing.assert_allclose(model.confusions_[0], shares, atol=1e-9)


@pytest.mark.parametrize("missing", [None, -1])
def test_rows_without_truth_are_left_out(data, missing):
    y, votes = data
    some = y.astype(object)
    some[50:] = missing
    model = OracleLabelModel().fit(votes, some)
    prior = model.class_prior_
    alone = OracleLabelModel().fit(votes[:50], y[:50], class_prior=prior)
    np.testing.assert_allclose(model.predict_proba(votes), alone.predict_proba(votes))
    assert model.gold_n_ == 50
    floats = pd.Series(np.where(np.arange(300) < 50, y, np.nan))
    np.testing.assert_allclose(
        OracleLabelModel().fit(votes, floats).predict_proba(votes), alone.predict_proba(votes)
    )


def test_a_pattern_without_truth_gets_the_prior():
    model = OracleLabelModel().fit([[0, 0], [1, 1], [0, 0]], [0, 1, 0], class_prior=[0.3, 0.7])
    np.testing.assert_allclose(model.predict_proba([[0, 1], [-1, -1]]), [[0.3, 0.7]] * 2)
    bare = OracleLabelModel(smoothing=0).fit([[0, 0], [1, 1]], [0, 1])
    np.testing.assert_allclose(bare.predict_proba([[0, 0], [0, 1]]), [[1, 0], [0.5, 0.5]])


def test_classes_come_from_votes_and_truth():
    model = OracleLabelModel().fit([["a"], ["b"], ["a"]], ["a", "c", None])
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_bad_input(data):
    y, votes = data
    with pytest.raises(LabelError, match="missing in every row"):
        OracleLabelModel().fit(votes, [None] * 300)
    with pytest.raises(LengthMismatchError, match="300 rows and y_true has 299"):
        OracleLabelModel().fit(votes, y[:-1])
    with pytest.raises(LabelError, match="y_true row 7 holds 5"):
        OracleLabelModel().fit(votes, np.where(np.arange(300) == 7, 5, y), classes=[0, 1])
    with pytest.raises(OptionError, match="base is 'bayes'; expected 'prior' or 'naive-bayes'"):
        OracleLabelModel(base="bayes").fit(votes, y)
    with pytest.raises(OptionError, match="smoothing is -1"):
        OracleLabelModel(smoothing=-1).fit(votes, y)
    with pytest.raises(WeightError, match="that has a true label"):
        OracleLabelModel().fit([[0], [1]], [0, None], sample_weight=[0, 1])


@pytest.mark.slow
def test_it_learns_the_posterior(law, draw, bayes):
    rng = np.random.default_rng(1)
    prior, confusions = np.array([0.6, 0.4]), law([0.8, 0.7, 0.6], [0.9, 0.8, 0.7], 2)
    distance = {}
    for n in (500, 50_000):
        y, votes = draw(rng, n, prior, confusions)
        proba = OracleLabelModel().fit(votes, y).predict_proba(votes)
        distance[n] = (
            np.abs(proba - bayes(votes[:500], prior, confusions)).mean()
            if n == 500
            else (np.abs(proba[:500] - bayes(votes[:500], prior, confusions)).mean())
        )
    assert distance[50_000] < 0.01
    assert distance[50_000] < distance[500] / 4
