"""Labelers and models keep the names that they were passed with."""

import numpy as np
import pandas as pd
import pytest

from karat.bounds import weak_label_value
from karat.consensus import ErrorEstimator
from karat.ranking import compare_rankings
from karat.weak import MajorityVote, check_label_model, vote_diagnostics

NAMES = (10, 20, 30)


@pytest.fixture
def votes(rng):
    truth = rng.integers(0, 2, 200)
    flips = rng.random((200, 3)) < 0.2
    return pd.DataFrame(np.where(flips, 1 - truth[:, None], truth[:, None]), columns=list(NAMES))


def test_labelers(votes):
    model = MajorityVote().fit(votes)
    assert model.names_ == NAMES
    assert vote_diagnostics(votes).names == NAMES
    assert "20" in vote_diagnostics(votes)._repr_html_()
    assert set(check_label_model(votes, model).worst_pair) < set(NAMES)
    value = weak_label_value(votes[10], votes, model, metric="accuracy", rng=0)
    assert set(value.names) == set(NAMES)
    assert all(type(name) is int for name in value.names)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_consensus(votes):
    estimator = ErrorEstimator(draws=20, dependence="none", rng=0).fit(votes)
    assert estimator.as_label_model().names_ == NAMES


def test_columns_in_another_order_or_called_by_text_are_the_same_labelers(votes):
    model = MajorityVote().fit(votes)
    renamed = votes[[30, 10, 20]].rename(columns=str)
    assert np.array_equal(model.predict_proba(renamed), model.predict_proba(votes))


def test_models(votes):
    scores = votes + np.linspace(0, 0.5, 200)[:, None]
    assert tuple(compare_rankings(votes[10] == 1, scores).models) == NAMES
