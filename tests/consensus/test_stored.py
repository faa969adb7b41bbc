"""Fitted estimators that are stored and loaded."""

import copy
import pickle

import numpy as np
import pytest

from karat.consensus import ErrorEstimator, cheapest_panel
from karat.exceptions import OptionError


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (300, 1))
    return ErrorEstimator(rng=0).fit(np.where(rng.random((300, 4)) < 0.2, 1 - y, y))


def test_an_estimator_of_300_items_is_small(fitted):
    """The draws of its chains, 1.4 MB for each of two models, are not needed to answer."""
    assert fitted._fits[0].best.draws.value.shape == (4, 4000)
    assert len(pickle.dumps(fitted)) <= 100_000


@pytest.mark.parametrize("store", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
def test_it_answers_as_before(fitted, store):
    again = store(store(fitted))
    assert again.result_ == fitted.result_
    assert again.explanations() == fitted.explanations()
    assert again.robustness_curve() == fitted.robustness_curve()
    assert again.agreement() == fitted.agreement()
    assert cheapest_panel(again, draws=5) == cheapest_panel(fitted, draws=5)
    assert again.error_rates(finite=True).equals(fitted.error_rates(finite=True))
    votes = np.array([[0, 1, 1, 0], [1, 1, 1, 0]])
    assert np.array_equal(
        again.as_label_model().predict_proba(votes), fitted.as_label_model().predict_proba(votes)
    )
    assert again.label_next(5).equals(fitted.label_next(5))


def test_the_one_in_memory_keeps_its_draws(fitted):
    pickle.dumps(fitted)
    assert fitted._fits[0].best.draws.value.shape == (4, 4000)
    assert fitted._fits[0].kept is None


def test_draws_for_other_tools_are_fewer(fitted):
    pytest.importorskip("arviz", reason="arviz is not installed")
    some = pickle.loads(pickle.dumps(fitted)).to_inference_data()
    assert dict(some.posterior.sizes)["draw"] == 250
    mean = float(some.posterior["error_rate"].mean())
    assert mean == pytest.approx(float(fitted.result_.value.mean()), abs=0.02)


def test_limits_of_another_confidence_need_the_draws(fitted):
    stored = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(OptionError, match=r"expected 0\.95, that of the fit"):
        stored._fits[0].span_limits(0.9)
