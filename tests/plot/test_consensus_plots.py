import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from karat.consensus import ErrorEstimator, compare_models


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    wrong = rng.random((300, 6)) < [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
    return np.where(wrong, 1 - y[:, None], y[:, None])


@pytest.fixture(scope="module")
def estimator(votes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ErrorEstimator(draws=50, rng=0).fit(votes, domains=np.arange(300) % 3)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def legend(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def test_forest_has_a_row_per_entry_and_the_truth_as_a_mark(estimator):
    r = estimator.result_
    ax = r.with_truth(np.full(len(r.value), 0.1)).plot()
    assert len(ax.get_yticks()) == 18
    assert "truth" in legend(ax)
    one = r.of_domain(1).plot()
    assert [t.get_text() for t in one.get_yticklabels()] == [
        str(j) for j in np.argsort(r.of_domain(1).value)
    ]


def test_what_votes_cannot_tell_is_grey_and_said(estimator):
    r = estimator.result_.of_domain(0)
    ax = replace(r, identified=np.array([False]), reasons=(("a reason",),)).plot()
    assert legend(ax) == ["votes cannot tell"]


def test_many_entries_are_drawn_by_domain(estimator):
    r = estimator.result_
    times = 6
    rows = np.tile(np.arange(len(r.value)), times)
    names = ("domain", "classifier")
    more = {name: getattr(r, name)[rows] for name in names}
    many = replace(r, estimate=r.estimate.take(rows), **more)
    ax = many.with_truth(np.zeros(18 * times)).plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "2"]


def test_other_pictures(estimator, votes):
    story = estimator.explanations(0)
    two = replace(
        story, names=("the consensus", "another"), rates=np.stack([story.rates[0]] * 2),
        moved=np.array([0.0, 0.2]),
    )  # fmt: skip
    assert legend(two.plot()) == ["the consensus", "another"]
    ax = estimator.agreement(0).plot()
    assert ax.get_xlabel() == "agreement that the model expects"
    comparison = compare_models(votes, dependence=["none"], rng=0).plot()
    assert len(comparison.get_yticks()) == 2
