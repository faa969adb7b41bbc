"""A lazy frame is collected once where it stands alone, and refused everywhere else.

Functions and methods are found by looking: one with a parameter that takes a column or a frame
joins by itself. A lazy frame is passed to each such parameter in turn.
"""

import importlib
import inspect
import warnings
from importlib.util import find_spec
from typing import get_args

import duckdb
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import karat
from karat import (
    calibration,
    consensus,
    decisions,
    metrics,
    optimize,
    ranking,
    weak,
)
from karat._typing import Column
from karat.exceptions import LazyFrameError

# Without PyTorch there is no karat.torch to look at; tests/torch skips with a reason then.
NEEDS = {"torch": "torch", "studio": "fastapi"}  # left out where their extra is not installed
PACKAGES = [name for name in karat.__all__[1:] if find_spec(NEEDS.get(name, "karat"))]
TRUTH = np.array([0, 1, 0, 1] * 20)
PROBA = np.tile([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]], (20, 1))
VOTES = np.tile([[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 1]], (20, 1))
GROUPS = np.repeat([0, 1], 40)
RATES = metrics.FairMetric([1, 2], [[1, 1]], 0.5)
MODEL = weak.MajorityVote().fit(VOTES)

GOOD = {
    "X": PROBA, "y": TRUTH, "proba": PROBA, "y_true": TRUTH, "y_pred": TRUTH, "y_pred_a": TRUTH,
    "y_pred_b": TRUTH[::-1], "y_score": PROBA[:, 1], "y_prob": PROBA[:, 1], "weak_labels": VOTES,
    "votes": VOTES, "label_model": MODEL, "g": PROBA, "groups": GROUPS, "claim": 0.1, "fpr": 0.1,
    "predictions": {"one": TRUTH, "two": TRUTH[::-1]}, "metric": "accuracy", "radius": 1.0,
    "y_scores": {"one": PROBA[:, 1], "two": PROBA[:, 0]}, "costs": [[0, 1], [2, 0]],
    "weights": [1, 2], "X_val": PROBA, "y_val": TRUTH, "proba_val": PROBA,
    "estimator": LogisticRegression().fit(PROBA, TRUTH), "model": MODEL, "diagonal": PROBA[:, 0],
    "values": PROBA[:, 0], "labelled": TRUTH[:9], "predicted": PROBA[:9, 1], "others": PROBA[9:, 1],
    "judges": consensus.ErrorEstimator(draws=20, dependence="none", rng=0),
    "first": np.tile(["x", "y"], 40), "second": np.tile(["z", "x"], 40),
    "people": VOTES, "judge": TRUTH, "epsilon": 0.1, "verdicts": VOTES, "scores": PROBA,
    "at_least": 0.1, "path": "none.json", "statistic": np.mean, "counts": np.ones(80),
    "numerator": TRUTH[:9], "denominator": TRUTH[:9],
}  # fmt: skip
# Cuts, of which a function takes one.
CUTS = {
    "precision_at": {"share": 0.5},
    "recall_at": {"share": 0.5},
    "lift": {"share": 0.5},
    "net_benefit": {"threshold": 0.5},
}
# Parameters with one value per row whose annotation says anything goes.
ROWS = {"X", "X_val", "y", "label_model", "diagonal"}
# Where rows need no partner: the lazy frame is collected once.
ALONE = {
    "check_label_model": "weak_labels",
    "compare_models": "votes",
    "patterns": "weak_labels",
    "read_patterns": "weak_labels",
    "vote_diagnostics": "weak_labels",
    "DawidSkene.fit": "weak_labels",
    "DetectorLabelModel.fit": "weak_labels",
    "ErrorEstimator.fit": "votes",
    "MajorityVote.fit": "weak_labels",
    "TripletLabelModel.fit": "weak_labels",
    "BinarySpace.from_calibrated": "proba",
    "ConfusionSpace.from_calibrated": "proba",
    "DiagonalSpace.from_calibrated": "proba",
    "RateSpace.from_calibrated": "proba",
}
# Arguments that are taken and not used.
UNUSED = {
    ("ConsensusLabelModel.fit", "weak_labels"),
    ("ImportanceWeightedClassifier.fit", "groups_val"),
    ("read_table", "frame"),  # comes alone, and is collected
}


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # eighty rows are few
    GOOD["judges"].fit(VOTES)


def optimiser(kind):
    made = kind(LogisticRegression())
    return made.fit(PROBA, TRUTH, X_val=PROBA, y_val=TRUTH)


def estimator():
    return consensus.ErrorEstimator(draws=20, dependence="none", rng=0)


INSTANCES = {
    "BayesClassifier": lambda: metrics.accuracy.bayes_classifier(classes=[0, 1]),
    "ConsensusLabelModel": lambda: estimator().fit(VOTES).as_label_model(),
    "CoordinateSearchClassifier": lambda: optimiser(optimize.CoordinateSearchClassifier),
    "CopulaCalibrator": lambda: calibration.CopulaCalibrator(rng=0).fit(TRUTH, PROBA[:, 1]),
    "CostSensitiveClassifier": lambda: optimiser(optimize.CostSensitiveClassifier),
    "DawidSkene": lambda: weak.DawidSkene(rng=0).fit(VOTES),
    "DetectorLabelModel": lambda: weak.DetectorLabelModel().fit(VOTES),
    "ErrorEstimator": estimator,
    "FairMetric": lambda: RATES,
    "FairQuadraticMetric": lambda: metrics.FairQuadraticMetric([1, 2], [np.eye(2)], 0.5),
    "FrankWolfeClassifier": lambda: optimiser(optimize.FrankWolfeClassifier),
    "GroupMetric": lambda: RATES,
    "ImportanceWeightedClassifier": lambda: optimiser(optimize.ImportanceWeightedClassifier),
    "LinearFractionalMetric": lambda: metrics.f_beta(2),
    "LinearMetric": lambda: metrics.accuracy,
    "MajorityVote": lambda: MODEL,
    "Metric": lambda: metrics.accuracy,
    "MetricBase": lambda: metrics.accuracy,
    "OracleLabelModel": lambda: weak.OracleLabelModel().fit(VOTES, TRUTH),
    "PlugInClassifier": lambda: optimiser(optimize.PlugInClassifier),
    "PolynomialMetric": lambda: metrics.PolynomialMetric([[1, 1], np.eye(2)]),
    "PowerMeanMetric": lambda: metrics.PowerMeanMetric([1, 2], -1),
    "QuadraticMetric": lambda: metrics.QuadraticMetric([1, 1], np.eye(2)),
    "RandomizedClassifier": lambda: decisions.RandomizedClassifier(
        mixture=decisions.Mixture(np.ones(1), np.eye(2)[None, None]),
        classes=np.arange(2),
        missing=0,
    ),
    "PairEstimator": lambda: consensus.PairEstimator(draws=20, dependence="none", rng=0),
    "ScoreEstimator": lambda: consensus.ScoreEstimator(draws=20, rng=0),
    "TripletLabelModel": lambda: weak.TripletLabelModel().fit(VOTES),
    "WeightedAUCClassifier": lambda: ranking.WeightedAUCClassifier().fit(PROBA, TRUTH),
}


# What a call needs although its signature has a default.
NEEDED = {
    "OracleLabelModel.fit": {"y_true": TRUTH},
    "estimate": {"y_pred": TRUTH},
    "performance_bounds": {"weak_labels": VOTES},
    "difference_bounds": {"y_pred_b": TRUTH, "weak_labels": VOTES},
    "roc_auc": {"y_score": PROBA[:, 1]},
    "weighted_auc": {"y_score": PROBA[:, 1]},
    "compare_rankings": {"y_scores": GOOD["y_scores"]},
    "marginal_calibration_error": {"y_prob": PROBA[:, 1]},
}


def takes_columns(function):
    found = inspect.signature(function).parameters
    wanted = get_args(Column)

    def kinds(parameter):
        said = parameter.annotation
        if isinstance(said, str):
            try:
                said = eval(said, inspect.unwrap(function).__globals__)
            except NameError:  # imported for the type checker alone
                return ()
        return get_args(said)

    return [
        name
        for name, parameter in found.items()
        if name in ROWS or (name != "classes" and all(kind in kinds(parameter) for kind in wanted))
    ]


def callables():
    for package in PACKAGES:
        module = importlib.import_module(f"karat.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and package not in {"plot", "report", "cli"}:
                yield name, thing
            if not inspect.isclass(thing) or inspect.isabstract(thing):
                continue
            if getattr(thing, "_is_protocol", False) or issubclass(thing, optimize.Basis):
                continue  # a basis reads the rows that a classifier hands on
            for member in dir(thing):
                static = inspect.getattr_static(thing, member)
                function = getattr(static, "__func__", static)
                if not inspect.isfunction(function) or function.__module__[:5] != "karat":
                    continue
                if member[0] != "_" or member == "__call__":
                    yield f"{name}.{member}", function


FOUND = [
    (label, parameter) for label, function in callables() for parameter in takes_columns(function)
]


def lazy(kind, values):
    """Return a lazy frame of the values, which need not suit the parameter to be refused."""
    rows = np.asarray(values) if isinstance(values, np.ndarray | list) else TRUTH
    table = pl.DataFrame(rows.reshape(len(rows), -1))
    return table.lazy() if kind == "polars" else duckdb.from_arrow(table.to_arrow())


PACKAGE_OF = {
    name: package
    for package in PACKAGES
    for name in importlib.import_module(f"karat.{package}").__all__
}


def bound(label):
    """Return a function, or a method bound to its class or to an instance."""
    owner, _, member = label.partition(".")
    thing = getattr(getattr(karat, PACKAGE_OF[owner]), owner)
    if not member:
        return thing
    if isinstance(inspect.getattr_static(thing, member), classmethod):
        return getattr(thing, member)
    assert owner in INSTANCES, f"give {owner} an instance here"
    return getattr(INSTANCES[owner](), member)


def arguments(function, parameter):
    """Return good values of all that must be given, and of what goes with the parameter."""
    found = inspect.signature(function).parameters
    needed = {
        name
        for name, p in found.items()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    needed |= {"y_pred", "y_score", "y_scores", "y_prob"} & set(found)  # only counts need none
    if isinstance(getattr(function, "__self__", None), metrics.GroupMetric):
        needed.add("groups")
    if parameter.endswith("_val"):
        needed |= {name for name in ("X_val", "proba_val", "y_val") if name in found}
    cut = CUTS.get(getattr(function, "__name__", ""), {})
    return {name: GOOD[name] for name in needed - set(cut)} | cut


def test_functions_and_methods_are_found():
    found = set(FOUND)
    assert len(found) > 400
    assert found >= {
        ("confusion", "y_true"), ("weighted_auc", "sample_weight"),
        ("performance_bounds", "groups"), ("ErrorEstimator.fit", "domains"),
        ("LinearMetric.score", "y_pred"),
        ("FrankWolfeClassifier.fit", "X_val"), ("CopulaCalibrator.transform", "y_prob"),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")  # eighty rows are few
@pytest.mark.parametrize("kind", ["polars", "duckdb"])
@pytest.mark.parametrize(
    ("label", "parameter"), [pytest.param(*found, id="-".join(found)) for found in FOUND]
)
def test_lazy_columns_are_refused(label, parameter, kind):
    if (label, parameter) in UNUSED or ALONE.get(label) == parameter:
        return
    function = bound(label)
    member = label.partition(".")[2]
    given = arguments(function, parameter) | NEEDED.get(label, NEEDED.get(member, {}))
    column = lazy(kind, given.get(parameter, TRUTH))
    with pytest.raises(LazyFrameError, match=r"run the query once, frame = .*\(\), and pass"):
        function(**(given | {parameter: column}))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["polars", "duckdb"])
@pytest.mark.parametrize(("label", "parameter"), ALONE.items())
def test_a_lazy_frame_alone_is_collected_once(label, parameter, kind):
    function = bound(label)
    given = {"rng": 0} if "rng" in inspect.signature(function).parameters else {}
    given |= arguments(function, parameter)
    lazily = function(**(given | {parameter: lazy(kind, given[parameter])}))
    table = pl.DataFrame(given[parameter])
    eagerly = bound(label)(**(given | {parameter: table}))
    assert answer(lazily) == answer(eagerly)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("label", "parameter"), ALONE.items())
def test_a_lazy_frame_beside_another_column_is_refused(label, parameter):
    function = bound(label)
    others = {"sample_weight": np.ones(80), "y_true": TRUTH, "domains": GROUPS}
    if label == "check_label_model":
        others["label_model"] = MODEL.predict_proba(VOTES)
    accepted = inspect.signature(function).parameters
    given = arguments(function, parameter)
    given[parameter] = lazy("polars", given[parameter])
    for name in [name for name in others if name in accepted]:
        with pytest.raises(LazyFrameError, match=f"{parameter} is a lazy frame"):
            function(**(given | {name: others[name]}))


def answer(result):
    """Return what tells two answers apart."""
    if isinstance(result, consensus.ErrorEstimator):
        return result.result_.value.tolist()
    if isinstance(result, weak.LabelModel):
        return result.predict_proba(VOTES).tolist()
    if hasattr(result, "to_dict"):
        return result.to_dict() | {"in_order": None}  # the one thing that a lazy frame changes
    return np.asarray(result.prior).tolist()  # a space


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_items_of_a_lazy_frame_are_not_named_by_their_row():
    votes = np.vstack([VOTES] * 3)
    wide = estimator().fit(lazy("polars", votes))
    with pytest.raises(LazyFrameError, match="label_next names rows by their number"):
        wide.label_next(2)
    long = pl.DataFrame(
        {
            "item": np.repeat([f"i{i}" for i in range(len(votes))], 3),
            "classifier": np.tile(list("abc"), len(votes)),
            "vote": votes.ravel(),
        }
    )
    asked = estimator().fit(long.lazy()).label_next(3)
    assert asked["item"].to_list() == estimator().fit(long).label_next(3)["item"].to_list()


def test_a_scorer_refuses_lazy_rows():
    scorer = metrics.accuracy.as_scorer()
    with pytest.raises(LazyFrameError, match="X is a lazy frame of polars"):
        scorer(GOOD["estimator"], lazy("polars", PROBA), TRUTH)


def test_lazy_predictions_by_name_are_refused():
    from karat.bounds import rank_models

    columns = {"one": lazy("duckdb", TRUTH), "two": TRUTH}
    with pytest.raises(LazyFrameError, match="lazy frame of duckdb"):
        rank_models(columns, VOTES, MODEL, metric="accuracy")
    with pytest.raises(LazyFrameError, match="lazy frame of duckdb"):
        ranking.compare_rankings(TRUTH, columns)
