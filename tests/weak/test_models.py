"""What holds for every label model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from karat.exceptions import (
    DataError,
    EmptyDataError,
    LabelError,
    LengthMismatchError,
    ProbabilityError,
    ShapeError,
    WeightError,
)
from karat.weak import (
    DawidSkene,
    DetectorLabelModel,
    LabelModel,
    MajorityVote,
    OracleLabelModel,
    TripletLabelModel,
)

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")

MODELS = {
    "majority": MajorityVote,
    "dawid-skene": lambda: DawidSkene(restarts=1, tol=1e-10, max_iter=2000),
    "dawid-skene missing": lambda: DawidSkene(
        restarts=1, abstain="missing", tol=1e-10, max_iter=2000
    ),
    "detector": DetectorLabelModel,
    "triplet": TripletLabelModel,
    "oracle": OracleLabelModel,
    "oracle naive bayes": lambda: OracleLabelModel(base="naive-bayes"),
}
EVERY = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def fit(make, votes, truth, **options):
    model = make()
    given = (votes, truth) if isinstance(model, OracleLabelModel) else (votes,)
    return model.fit(*given, **options)


@pytest.fixture(scope="module")
def data(law, draw):
    rng = np.random.default_rng(3)
    confusions = law([0.8, 0.7, 0.75, 0.85], [0.9, 0.8, 1.0, 0.7], 3)
    return draw(rng, 400, [0.5, 0.3, 0.2], confusions)


@EVERY
def test_probabilities_of_patterns_and_of_rows(make, data):
    y, votes = data
    model = fit(make, votes, y)
    assert isinstance(model, LabelModel)
    proba = model.predict_proba(votes)
    assert proba.shape == (400, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba, model.predict_pattern_proba(votes))
    assert (proba.argmax(axis=1) == y).mean() > 0.75
    assert model.names_ == ("0", "1", "2", "3")
    assert type(model).__name__ in repr(model)


@EVERY
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_labels_in_frames(make, data, frame):
    y, votes = data
    words = np.array(["b", "c", "a", "-1"], dtype=object)  # the code of abstention, -1, is "-1"
    named = frame({f"lf_{j}": words[votes[:, j]].tolist() for j in range(4)})
    model = fit(make, named, words[y].astype(str))
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.names_ == ("lf_0", "lf_1", "lf_2", "lf_3")
    plain = fit(make, votes, y)
    np.testing.assert_allclose(
        model.predict_proba(named)[:, [1, 2, 0]], plain.predict_proba(votes), atol=1e-4
    )


@EVERY
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_and_names_of_classes_do_not_matter(make, data, seed):
    y, votes = data
    rng = np.random.default_rng(seed)
    proba = fit(make, votes, y).predict_proba(votes)
    order = rng.permutation(len(y))
    np.testing.assert_allclose(
        fit(make, votes[order], y[order]).predict_proba(votes), proba, atol=1e-6
    )
    names = rng.permutation(3)
    renamed = fit(make, np.where(votes < 0, -1, names[votes]), names[y])
    back = renamed.predict_proba(np.where(votes < 0, -1, names[votes]))[:, names]
    np.testing.assert_allclose(back, proba, atol=1e-3)


@EVERY
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_duplication_is_weighting(make, data, seed):
    y, votes = data
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    weighted = fit(make, votes, y, sample_weight=times)
    rows = np.repeat(np.arange(len(y)), times)
    doubled = fit(make, votes[rows], y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(
        weighted.predict_proba(votes), doubled.predict_proba(votes), atol=1e-6
    )


@EVERY
def test_classes_fix_the_order_and_add_unseen_ones(make, data):
    y, votes = data
    model = fit(make, votes, y, classes=[2, 0, 1, 7])
    assert model.classes_.tolist() == [2, 0, 1, 7]
    proba = model.predict_proba(votes)
    assert proba[:, 3].max() < 0.1
    assert np.array_equal(model.classes_[proba.argmax(axis=1)][y == 0].max(initial=0), 2)


@EVERY
def test_rows_in_which_all_abstain(make, data):
    y, votes = data
    prior = [0.2, 0.5, 0.3]
    model = fit(make, votes, y, class_prior=prior)
    np.testing.assert_allclose(model.class_prior_, prior)
    silent = model.predict_proba([[-1] * 4])[0]
    if not isinstance(model, DawidSkene | DetectorLabelModel) and "naive" not in repr(model):
        # For these models abstention says nothing.
        np.testing.assert_allclose(silent, prior, atol=1e-9)
    assert silent.min() > 0


@EVERY
def test_what_a_fitted_model_refuses(make, data):
    y, votes = data
    with pytest.raises(NotFittedError, match="not fitted; call fit"):
        make().predict_proba(votes)
    model = fit(make, votes, y)
    with pytest.raises(LabelError, match=r"column '2' row 1 holds 9.*was fitted with"):
        model.predict_proba([[0, 1, 2, 0], [0, 0, 9, 0]])
    with pytest.raises(ShapeError, match=r"has 3 labelers .* was fitted with 4"):
        model.predict_proba(votes[:, :3])
    with pytest.raises(LabelError, match="expected codes"):
        model.predict_pattern_proba(np.full((1, 4), 3))


VOTES = [[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]]
BAD = {
    "empty": ({"votes": np.zeros((0, 3))}, EmptyDataError, "no rows"),
    "one class": (
        {"votes": [[1, -1, 1]] * 4, "truth": [1] * 4},
        LabelError,
        "one class only.*classes=",
    ),
    "unknown vote": ({"classes": [0, 2]}, LabelError, "holds 1, .*not among the classes"),
    "all abstain": ({"votes": [[-1] * 3] * 4, "truth": [None] * 4}, LabelError, "every"),
    "prior too short": ({"class_prior": [1.0]}, ShapeError, r"1 values .* 2 classes \[0, 1\]"),
    "prior too large": ({"class_prior": [0.5, 0.6]}, ProbabilityError, "sums to 1.1"),
    "prior negative": ({"class_prior": [-0.5, 1.5]}, ProbabilityError, "above 0"),
    "prior with a zero": ({"class_prior": [1, 0]}, ProbabilityError, r"\[1\] could never be true"),
    "prior of words": ({"class_prior": ["a", "b"]}, ProbabilityError, "holds 'a'"),
    "weight negative": ({"sample_weight": [1, 1, -1, 1]}, WeightError, "row 2"),
    "weights too few": ({"sample_weight": [1, 1]}, LengthMismatchError, "2 rows"),
}


@EVERY
@pytest.mark.parametrize("case", BAD)
def test_bad_input(make, case):
    changes, error, message = BAD[case]
    options = {"votes": VOTES, "truth": [0, 1, 0, 1]} | changes
    if case == "all abstain" and make is not MajorityVote:
        options["classes"] = [0, 1]
    with pytest.raises(error, match=message):
        fit(make, options.pop("votes"), options.pop("truth"), **options)


@pytest.mark.parametrize("model", [DawidSkene(), TripletLabelModel()], ids=repr)
def test_two_labelers_are_too_few(model):
    message = r"votes of 2.* labelers; .*MajorityVote works.*OracleLabelModel"
    with pytest.raises(DataError, match=message):
        model.fit([[0, 1], [1, 1]])
    with pytest.raises(DataError, match=message):
        model.fit([[0, 1, -1], [1, 1, -1]])
    MajorityVote().fit([[0, 1], [1, 1]])
    OracleLabelModel().fit([[0, 1], [1, 1]], [0, 1])
