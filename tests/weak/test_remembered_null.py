"""A label model remembers what a null was in ``fit``; bounds and checks then read the same."""

import numpy as np
import polars as pl
import pytest

from karat.bounds import expectation_bounds, performance_bounds, rank_models
from karat.consensus import ErrorEstimator
from karat.exceptions import OptionError
from karat.statistics import patterns
from karat.weak import (
    DawidSkene,
    MajorityVote,
    OracleLabelModel,
    TripletLabelModel,
    check_label_model,
    from_snorkel,
)

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")

MODELS = {
    "majority": MajorityVote,
    "dawid-skene": lambda: DawidSkene(rng=0),
    "triplet": TripletLabelModel,
    "oracle": OracleLabelModel,
}
EVERY = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def fit(make, votes, y, **options):
    model = make()
    return (
        model.fit(votes, y, **options) if make is OracleLabelModel else model.fit(votes, **options)
    )


@pytest.fixture(scope="module")
def data():
    """Rules that fire on one class: an abstention says much, a vote not asked for nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    fires = rng.random((800, 4)) < np.where(y[:, None] == np.array([0, 1, 0, 1]), 0.7, 0.1)
    votes = np.where(fires, np.array([0.0, 1.0, 0.0, 1.0]), np.nan)
    return y, votes, np.where(rng.random(800) < 0.9, y, 1 - y)


@EVERY
@pytest.mark.parametrize("null", ["abstain", "not asked"])
def test_predict_proba_reads_nulls_as_fit_did(make, null, data):
    y, votes, _ = data
    model = fit(make, votes, y, null=null)
    assert model.null_ == null
    said = model.predict_proba(votes, null=null)
    assert np.array_equal(model.predict_proba(votes), said)
    assert np.array_equal(model.predict_proba(pl.DataFrame(votes).fill_nan(None)), said)


def test_what_is_passed_to_predict_proba_comes_first(data):
    _, votes, _ = data
    as_abstention = DawidSkene(rng=0).fit(votes, null="abstain")
    filled = np.where(np.isnan(votes), -1, votes)
    assert np.array_equal(as_abstention.predict_proba(votes), as_abstention.predict_proba(filled))
    other = as_abstention.predict_proba(votes, null="not asked")
    assert np.abs(other - as_abstention.predict_proba(votes)).max() > 0.05
    with pytest.raises(OptionError, match="null is 'maybe'; expected 'not asked'"):
        as_abstention.predict_proba(votes, null="maybe")


def test_counted_patterns_keep_what_they_were_counted_with(data):
    """A null that was counted as not asked stays so, whatever the model was fitted with."""
    _, votes, _ = data
    model = DawidSkene(rng=0).fit(votes, null="abstain")
    counted = model.predict_proba(patterns(votes))
    assert np.array_equal(counted, model.predict_proba(votes, null="not asked"))


def test_bounds_and_checks_read_nulls_as_the_label_model_did(data):
    _, votes, y_pred = data
    model = DawidSkene(rng=0).fit(votes, null="abstain")
    options = {"metric": "accuracy", "rng": 0}
    default = performance_bounds(y_pred, votes, model, **options)
    said = performance_bounds(y_pred, votes, model, null="abstain", **options)
    other = performance_bounds(y_pred, votes, model, null="not asked", **options)
    assert default.to_dict() == said.to_dict()
    assert abs(other.lower - default.lower) > 0.01
    assert check_label_model(votes, model) == check_label_model(votes, model, null="abstain")
    g = (y_pred[:, None] == [0, 1]).astype(float)
    assert expectation_bounds(g, votes, model) == expectation_bounds(
        g, votes, model, null="abstain"
    )
    models = {"a": y_pred, "b": 1 - y_pred}
    ranks = [rank_models(models, votes, model, **options, **n) for n in ({}, {"null": "abstain"})]
    assert ranks[0].to_dict() == ranks[1].to_dict()


def test_an_array_or_a_foreign_model_reads_nulls_as_not_asked(data):
    _, votes, y_pred = data

    class Half:
        cardinality = 2

        def predict_proba(self, labels):
            return np.full((len(labels), 2), 0.5)

    options = {"metric": "accuracy", "rng": 0, "classes": [0, 1]}
    for model in (np.full((800, 2), 0.5), from_snorkel(Half())):
        default = performance_bounds(y_pred, votes, model, **options)
        said = performance_bounds(y_pred, votes, model, null="not asked", **options)
        assert default.to_dict() == said.to_dict()


def test_the_consensus_of_votes_remembers_too(data):
    """An abstention is an outcome of its own there, so the two readings give other numbers."""
    y, votes = data[0], data[1]
    for null in ("not asked", "abstain"):
        estimator = ErrorEstimator(draws=50, chains=2, dependence="none", rng=0)
        model = estimator.fit(votes, null=null).as_label_model()
        assert model.null_ == null
        np.testing.assert_allclose(
            model.predict_proba(votes), model.predict_proba(votes, null=null)
        )
        y_pred = np.asarray(y)
        remembered = performance_bounds(y_pred, votes, model, metric="accuracy", rng=0)
        said = performance_bounds(y_pred, votes, model, metric="accuracy", null=null, rng=0)
        assert (remembered.lower, remembered.upper) == (said.lower, said.upper)
    other = model.predict_proba(votes, null="not asked")
    assert np.abs(other - model.predict_proba(votes)).max() > 0.05
    assert {draw.null_ for draw in model.draws(2)} == {"abstain"}
