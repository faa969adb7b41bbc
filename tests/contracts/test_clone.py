"""Every estimator can be cloned: constructors keep what they are given and do nothing else.

Estimators are found by looking: a public class with ``fit`` joins by itself.
"""

import importlib
import inspect
import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

import karat
from karat.metrics import f_beta
from karat.ranking import FprBand

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 200)
VOTES = np.where(RNG.random((200, 4)) < 0.2, 1 - TRUTH[:, None], TRUTH[:, None])
X = RNG.normal(size=(200, 2)) + TRUTH[:, None]
PROB = 1 / (1 + np.exp(-X))
ROWS = {"X": X, "y": TRUTH, "X_val": X, "y_val": TRUTH}


LINEAR = LogisticRegression()


def read_votes(model):
    return model.predict_proba(VOTES)


def read_rows(model):
    return model.predict(X)


# Options under which randomness is fixed; what ``fit`` is given; what is read off then.
USES = {
    "ConsensusLabelModel": ({}, None, read_votes),
    "CoordinateSearchClassifier": ({"estimator": LINEAR, "metric": f_beta(2)}, ROWS, read_rows),
    "CopulaCalibrator": (
        {"rng": 0},
        {"y_true": TRUTH, "y_prob": PROB[:, 0]},
        lambda model: model.transform(PROB[:, 0]),
    ),
    "CostSensitiveClassifier": ({"estimator": LINEAR}, ROWS, read_rows),
    "DawidSkene": ({"rng": 0}, {"weak_labels": VOTES}, read_votes),
    "DetectorLabelModel": ({}, {"weak_labels": VOTES}, read_votes),
    "ErrorEstimator": (
        {"rng": 0, "draws": 20, "dependence": "none"},
        {"votes": VOTES},
        lambda model: model.label_proba_,
    ),
    "FrankWolfeClassifier": ({"estimator": LINEAR, "metric": f_beta(2)}, ROWS, read_rows),
    "ImportanceWeightedClassifier": ({"estimator": LINEAR}, ROWS, read_rows),
    "MajorityVote": ({}, {"weak_labels": VOTES}, read_votes),
    "OracleLabelModel": ({"smoothing": 2}, {"weak_labels": VOTES, "y_true": TRUTH}, read_votes),
    "PairEstimator": (
        {"rng": 0, "draws": 20, "dependence": "none"},
        {"verdicts": VOTES, "swapped": VOTES},
        lambda model: model.label_proba_,
    ),
    "ScoreEstimator": (
        {"rng": 0, "draws": 20},
        {"scores": np.random.default_rng(0).normal(4 * VOTES)},
        lambda model: model.label_proba_,
    ),
    "PlugInClassifier": ({"estimator": LINEAR}, ROWS, read_rows),
    "TripletLabelModel": ({}, {"weak_labels": VOTES}, read_votes),
    "WeightedAUCClassifier": (
        {"weight": FprBand(0, 0.2)},
        {"X": X, "y": TRUTH},
        lambda model: model.decision_function(X),
    ),
}
# Without PyTorch there is no karat.torch to look at; tests/torch skips with a reason then.
NEEDS = {"torch": "torch", "studio": "fastapi"}  # left out where their extra is not installed
PACKAGES = [name for name in karat.__all__[1:] if find_spec(NEEDS.get(name, "karat"))]
ESTIMATORS = [
    pytest.param(thing, id=name)
    for package in PACKAGES
    for name in importlib.import_module(f"karat.{package}").__all__
    if inspect.isclass(thing := getattr(getattr(karat, package), name)) and hasattr(thing, "fit")
]


def made(kind):
    """Return an estimator that is not fitted."""
    assert kind.__name__ in USES, f"say here how {kind.__name__} is used"
    if kind.__name__ == "ConsensusLabelModel":  # it comes from a fit, and has none of its own
        return fitted(karat.consensus.ErrorEstimator(**USES["ErrorEstimator"][0])).as_label_model()
    return kind(**USES[kind.__name__][0])


def fitted(estimator):
    given = USES[type(estimator).__name__][1]
    return estimator if given is None else estimator.fit(**given)


def answer(estimator):
    return USES[type(estimator).__name__][2](estimator)


def test_estimators_are_found():
    assert {"DawidSkene", "ErrorEstimator", "CopulaCalibrator"} <= {e.id for e in ESTIMATORS}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_constructors_keep_what_they_are_given(kind):
    """Any object is kept as it is: nothing is converted, checked or computed before ``fit``."""
    given = {name: object() for name in inspect.signature(kind).parameters}
    estimator = kind(**given)
    assert vars(estimator) == given
    assert estimator.get_params(deep=False) == given
    other = {name: object() for name in given}
    assert estimator.set_params(**other) is estimator
    assert estimator.get_params(deep=False) == other
    with pytest.raises(ValueError, match="no_such_parameter"):
        estimator.set_params(no_such_parameter=1)


@pytest.mark.filterwarnings("ignore::UserWarning")  # two hundred rows are few
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_clones_agree(kind):
    original = made(kind)
    first = clone(original)
    assert first is not original
    assert type(first) is kind
    assert repr(first) == repr(original)
    second = clone(fitted(first))
    if USES[kind.__name__][1] is not None:
        assert not [name for name in vars(second) if name.endswith("_")]
        with pytest.raises(NotFittedError):
            check_is_fitted(second)
    check_is_fitted(fitted(second))
    np.testing.assert_array_equal(answer(second), answer(first))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_fitted_estimators_can_be_pickled(kind):
    estimator = fitted(made(kind))
    again = pickle.loads(pickle.dumps(estimator))
    check_is_fitted(again)
    assert repr(again) == repr(estimator)
    np.testing.assert_array_equal(answer(again), answer(estimator))
