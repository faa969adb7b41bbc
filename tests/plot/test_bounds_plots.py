import matplotlib.pyplot as plt
import numpy as np
import pytest

from karat.bounds import (
    bounds_curve,
    difference_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.weak import MajorityVote, vote_diagnostics


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    votes = np.where(rng.random((600, 5)) < 0.8, y[:, None], 1 - y[:, None])
    y_pred = np.where(rng.random(600) < 0.9, y, 1 - y)
    return y, y_pred, votes, MajorityVote().fit(votes)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def legend(ax):
    return {text.get_text() for text in ax.figure.legends[0].get_texts()}


def test_interval_shows_limits_truth_and_groups(data):
    y, y_pred, votes, model = data
    b = performance_bounds(
        y_pred, votes, model, metric="f1", y_true=y, groups=np.where(y_pred, "$a$", "b"), rng=0
    )
    ax = b.plot()
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["all", r"\$a\$", "b"]
    assert legend(ax) >= {"bounds", "truth", "one-sided 95 % limits"}
    assert ax.get_xlabel() == "F1"
    plain = performance_bounds(y_pred, votes, model, metric="f1", rng=0).plot()
    assert "truth" not in legend(plain)


def test_difference_ranking_and_value(data):
    _y, y_pred, votes, model = data
    d = difference_bounds(y_pred, 1 - y_pred, votes, model, metric="accuracy", rng=0)
    assert "first minus second" in d.plot().get_xlabel()
    ranking = rank_models({"a": y_pred, "b": 1 - y_pred}, votes, model, metric="accuracy", rng=0)
    assert [t.get_text() for t in ranking.plot().get_yticklabels()] == ["a", "b"]
    value = weak_label_value(y_pred, votes, model, metric="accuracy", rng=0)
    assert len(value.plot().patches) == 5


def test_curves(data):
    y, y_pred, votes, model = data
    score = y_pred + np.random.default_rng(1).normal(size=600)
    curve = bounds_curve(score, votes, model, metric="accuracy", y_true=y, rng=0)
    lines = {line.get_label(): line for line in curve.plot().lines}
    assert np.array_equal(lines["truth"].get_ydata(), curve.value)
    assert np.array_equal(lines["lower bound"].get_xdata(), curve.thresholds)
    robust = robustness_curve(y_pred, votes, model, metric="accuracy", claim=0.4, rng=0)
    assert "claim" in {line.get_label() for line in robust.plot().lines}


def test_weak_labels(data):
    _, _, votes, _model = data
    copied = np.column_stack([votes, votes[:, :1]])
    check = performance_bounds(
        votes[:, 0], copied, MajorityVote().fit(copied), metric="accuracy", rng=0
    ).check
    ax = check.plot()
    assert ax.get_title() == "contradicted by votes"
    assert len(ax.texts) == 1
    assert len(vote_diagnostics(votes).plot().lines) == 3
