"""What holds for everything public, found by looking, not by a list."""

import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import pkgutil
import re
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import polars as pl
import pytest

import karat
from karat import (
    audit,
    bounds,
    calibration,
    consensus,
    decisions,
    elicit,
    limits,
    optimize,
    ranking,
    weak,
)
from karat._result import Result
from karat.datasets import LogisticLaw
from karat.evaluation.bounded import bound_models
from karat.evaluation.scores import score_models
from karat.exceptions import NotIdentifiedWarning
from karat.metrics import FairMetric, accuracy, cost_matrix
from karat.metrics.base import Metric
from karat.statistics import confusion, pattern_counts, patterns, rates, roc_counts
from karat.statistics.votes import count_votes

# Without PyTorch there is no karat.torch to look at; tests/torch skips with a reason then.
NEEDS = {"torch": "torch", "studio": "fastapi"}  # left out where their extra is not installed
PACKAGES = [name for name in karat.__all__[1:] if find_spec(NEEDS.get(name, "karat"))]
PUBLIC = [
    pytest.param(package, name, id=f"{package}.{name}")
    for package in PACKAGES
    for name in importlib.import_module(f"karat.{package}").__all__
]
FUNCTIONS = [
    case
    for case in PUBLIC
    if inspect.isfunction(getattr(getattr(karat, case.values[0]), case.values[1]))
]


def found(package, name):
    return getattr(importlib.import_module(f"karat.{package}"), name)


def test_every_public_package_is_listed():
    on_disk = {m.name for m in pkgutil.iter_modules(karat.__path__) if not m.name.startswith("_")}
    assert set(karat.__all__) == on_disk | {"__version__"}
    assert set(dir(karat)) >= set(karat.__all__)
    here = [name for name in dir(karat) if find_spec(NEEDS.get(name, "karat"))]
    assert all(hasattr(karat, name) for name in here)


def test_lists_are_sorted_and_true():
    for package in PACKAGES:
        module = importlib.import_module(f"karat.{package}")
        assert all(hasattr(module, name) for name in module.__all__)
        assert len(set(module.__all__)) == len(module.__all__)


def test_everything_is_exported_once():
    names = [case.values[1] for case in PUBLIC]
    assert len(set(names)) == len(names)


def test_doors_list_what_they_share():
    """A star in a package, or in a module that others may use, brings in what it means to share."""
    for info in pkgutil.walk_packages(karat.__path__, "karat."):
        package = info.name.split(".")[1]
        if (package in NEEDS and package not in PACKAGES) or "._" in info.name:
            continue
        module = importlib.import_module(info.name)
        assert all(hasattr(module, name) for name in getattr(module, "__all__", ())), info.name


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_documented(package, name):
    thing = found(package, name)
    if isinstance(thing, Metric):
        assert len(thing.describe()) > 30
        return
    doc = inspect.getdoc(thing)
    assert doc, f"{package}.{name} has no docstring"
    assert doc.splitlines()[0].endswith((".", ")")), "the first line is a sentence"
    if inspect.isclass(thing):
        members = {n: m for n, m in vars(thing).items() if n[0] != "_" and callable(m)}
        members |= {n: m for n, m in vars(thing).items() if n[0] != "_" and isinstance(m, property)}
        assert [n for n in members if not inspect.getdoc(getattr(thing, n))] == []


@pytest.mark.parametrize(("package", "name"), FUNCTIONS)
def test_functions_explain_their_parameters(package, name):
    function = found(package, name)
    doc = inspect.getdoc(function)
    for parameter in inspect.signature(function).parameters:
        if parameter in {"result", "ax", "arguments", "figure"}:  # drawing and rendering
            continue
        assert parameter in doc, f"{parameter} is not explained"


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_typed(package, name):
    thing = found(package, name)
    members = [thing] if inspect.isfunction(thing) else []
    if inspect.isclass(thing):
        members = [m for n, m in vars(thing).items() if inspect.isfunction(m) and n[0] != "_"]
    for member in members:
        signature = inspect.signature(member)
        assert signature.return_annotation is not inspect.Signature.empty
        for parameter in list(signature.parameters.values())[1 if inspect.isclass(thing) else 0 :]:
            assert parameter.annotation is not inspect.Parameter.empty, f"{member}: {parameter}"


VOTES = [[0, 1, -1], [1, 1, 0], [0, 1, -1]]
PROBA = [[0.8, 0.2], [0.1, 0.9], [0.8, 0.2]]
PREDICTED = [0, 1, 1]
BOUND = (PREDICTED, VOTES, PROBA)
OPTIONS = {"metric": "accuracy", "classes": [0, 1], "rng": 0}
MANY = np.where(
    np.random.default_rng(0).random((200, 5)) < 0.2,
    1 - np.arange(200)[:, None] % 2,
    np.arange(200)[:, None] % 2,
)


def consensus_of():
    return consensus.ErrorEstimator(draws=20, rng=0).fit(MANY)


def shared_of():
    est = consensus.ErrorEstimator(structure="coupled", dependence="none", draws=20, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotIdentifiedWarning)  # so few draws do not mix
        return est.fit(MANY, domains=np.arange(200) % 3)


def paired():
    return consensus.PairEstimator(draws=20, rng=0).fit(MANY, MANY)


def scored():
    rng = np.random.default_rng(0)
    scores = rng.normal(3 * (np.arange(200) % 2)[:, None], 1.0, (200, 4))
    return consensus.ScoreEstimator(draws=200, rng=0).fit(scores)


def elicited(costs=4):
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(200, rng=0)
    space = elicit.BinarySpace.from_scores(y, law.proba(x)[:, 1])
    person = elicit.MetricOracle(cost_matrix([[0, 1], [costs, 0]]))
    return space, elicit.Elicitation(space, max_queries=4, worst_rate=1.0, rng=0).run(person)


def fairly():
    truth, groups = [0, 0, 1, 0, 1, 1] * 2, ["a"] * 6 + ["b"] * 6
    chance = np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.9, 0.2, 0.4, 0.3, 0.6, 0.5, 0.8])
    proba = np.stack([1 - chance, chance], axis=1)
    space = elicit.RateSpace.from_proba(truth, proba, groups=groups)
    procedure = elicit.Elicitation(space, max_queries=3, rng=0)
    procedure.run(elicit.MetricOracle(FairMetric([1, 2], [[1, 1]], 0.5)))
    return procedure


def people_of():
    space, result = elicited()
    return elicit.shared_metric(space, [result, elicited(1)[1]], warm_up=50, draws=50, rng=0)


def pairs_of():
    space, result = elicited()
    pairs = elicit.evaluation_pairs(space, 8, rng=0)
    person = elicit.MetricOracle(cost_matrix([[0, 1], [4, 0]]), scale=0.1, rng=0)
    return result.metric, pairs, [person(pair) for pair in pairs]


def timed():
    metric, pairs, answers = pairs_of()
    records = [
        {"query": query, "answer": answer, "seconds": 1.0 + i % 3}
        for i, (query, answer) in enumerate(zip(pairs, answers, strict=True))
    ]
    return elicit.indifference_test(records, metric=metric, n_permutations=99, rng=0)


def checked():
    good, bad = np.diag([0.5, 0.5]), np.full((2, 2), 0.25)
    record = {"query": elicit.Query(good, bad), "answer": "first", "kind": "dominated"}
    return elicit.score_checks([record])


RANKED = [0, 1] * 200
SCORES = (np.arange(400) % 7 + np.arange(400) % 2).astype(float)


def compared():
    return ranking.compare_rankings(RANKED, {"one": SCORES, "two": -SCORES}, limits="delong")


PROBS = np.random.default_rng(0).random((60, 3))
LABELS = np.random.default_rng(1).random((60, 3)) < PROBS


def calibrated():
    return calibration.canonical_calibration_error(LABELS, PROBS, rng=0)


def optimised():
    proba = np.column_stack([1 - PROBS[:, 0], PROBS[:, 0]])
    return optimize.FrankWolfeClassifier(n_iter=3).fit_from_proba(proba, LABELS[:, 0])


def estimated():
    return accuracy.estimate([0, 1, 1, 0], [0, 1, 0, 0], groups=["a", "b", "a", "b"], rng=0)


def audited():
    found = audit.Audit([0, 1] * 20, metric="f1", groups=["a"] * 20 + ["b"] * 20, rng=0)
    found.tell({i: i % 2 for i in found.ask(20)["item"]})
    return found


def joint_of():
    import polars as pl

    table = pl.DataFrame({"y": RANKED, "a": SCORES, "b": -SCORES})
    data = karat.scan(table).roles(label="y", score=["a", "b"])
    counts = [data.roc_counts(name) for name in "ab"]
    return data.joint_roc_counts(*counts, names=("a", "b"), cells=3)


def evaluated():
    return karat.evaluate({"y": [0, 1, 1, 0] * 9, "a": [0, 1, 0, 0] * 9}, label="y", pred="a")


def bounded():
    frame = pl.DataFrame({name: [0, 1, 1, 0] * 9 for name in ("a", "b", "c")})
    models = {"one": [0, 1, 1, 0] * 9, "two": [0, 1, 0, 0] * 9}
    fitted = weak.MajorityVote().fit(frame)
    return bound_models(models, frame, fitted, metric="accuracy", labelers=frame.columns, rng=0)


EXAMPLES = {
    "Evaluation": evaluated,
    "ModelBounds": bounded,
    "ModelScores": lambda: score_models(
        [0, 1, 1, 0] * 9,
        {"one": [0, 1, 1, 0] * 9, "two": [0, 1, 0, 1] * 9},
        {"accuracy": "accuracy"},
        rng=0,
    ),
    "AuditResult": lambda: audited().result,
    "GateResult": lambda: audit.gate([0, 1, 1] * 9, [0, 1, 0] * 9, 0.5, metric="f1"),
    "JudgedRate": lambda: audit.judged_rate(MANY, [i % 2 if i < 40 else -1 for i in range(200)]),
    "LabelBudget": lambda: audited().budget(0.1),
    "ModelTiers": lambda: audit.best_of_many(
        {"one": [0, 1, 1, 0], "two": [0, 1, 0, 1]}, [0, 1, 1, 0], metric="accuracy", rng=0
    ),
    "AnytimeLimits": lambda: limits.anytime_mean([0.0, 1.0, 1.0, 0.0, 1.0]),
    "MetricEstimate": estimated,
    "MetricGap": lambda: estimated().gaps[0],
    "Limits": lambda: limits.wilson(7, 10),
    "PredictionPoweredLimits": lambda: limits.prediction_powered_mean(
        [0, 1, 1, 0, 1], [0.2, 0.9, 0.6, 0.4, 0.7], [0.5]
    ),
    "OptimizationHistory": lambda: optimised().history_,
    "Optimum": lambda: decisions.maximise(
        FairMetric([1, 2], [[1, 1]], 0.5), fairly().space.attainable
    ),
    "ClassWeights": lambda: optimised().weights_,
    "DecisionRegions": lambda: optimised().decision_regions(),
    "CanonicalCalibration": calibrated,
    "LabelPairs": lambda: calibrated().label_pairs,
    "MarginalCalibration": lambda: calibration.marginal_calibration_error(LABELS, PROBS, bins=4),
    "CalibrationCertificate": lambda: calibration.calibration_certificate(LABELS, PROBS, rng=0),
    "CalibratorScore": lambda: (
        calibration.CopulaCalibrator(rng=0)
        .fit(LABELS, PROBS)
        .score(LABELS, PROBS, groups=np.arange(len(LABELS)) % 2)
    ),
    "WeightedAUC": lambda: ranking.weighted_auc(RANKED, SCORES, weight=ranking.FprBand(0, 0.5)),
    "RankingComparison": compared,
    "RankingDifference": lambda: compared().differences[0],
    "RankingMeasure": lambda: ranking.precision_at(RANKED, SCORES, k=50),
    "RocPoint": lambda: ranking.roc_at(RANKED, SCORES, fpr=0.2),
    "UniformMargin": lambda: ranking.uniform_margin(
        200, 200, family=ranking.FiniteFamily(10), weight=ranking.Uniform()
    ),
    "ElicitationResult": lambda: elicited()[1],
    "AgreementOnPairs": lambda: elicit.agreement_on(*pairs_of(), baseline="accuracy"),
    "CheckScores": checked,
    "IndifferenceTest": timed,
    "AgreementHistory": lambda: elicited()[1].progress,
    "AskedQuestions": lambda: elicited()[1].questions,
    "SharedMetric": people_of,
    "TradeOff": lambda: fairly().result.trade_off,
    "WeightTable": lambda: fairly().result.table,
    "FairnessFrontier": lambda: fairly().frontier(5),
    "PerformanceBounds": lambda: bounds.performance_bounds(
        *BOUND, groups=["a", "b", "a"], y_true=[0, 1, 0], **OPTIONS
    ),
    "DifferenceBounds": lambda: bounds.difference_bounds([0, 0, 1], *BOUND, **OPTIONS),
    "ExpectationBounds": lambda: bounds.expectation_bounds(
        PROBA, VOTES, PROBA, classes=[0, 1], method="crossfit", rng=0
    ),
    "BoundsCurve": lambda: bounds.bounds_curve([0.1, 0.7, 0.3], VOTES, PROBA, **OPTIONS),
    "ModelRanking": lambda: bounds.rank_models(
        {"a": PREDICTED, "b": [0, 1, 0]}, VOTES, PROBA, **OPTIONS
    ),
    "WeakLabelValue": lambda: bounds.weak_label_value(*BOUND, **OPTIONS),
    "RobustnessCurve": lambda: bounds.robustness_curve(*BOUND, claim=0.1, **OPTIONS),
    "AnnotatorTest": lambda: consensus.annotator_test(MANY[:, 0], MANY[:, 1:], epsilon=0.1),
    "JudgePanel": lambda: consensus.cheapest_panel(consensus_of(), draws=5),
    "PairErrors": lambda: paired().result_,
    "PositionBias": lambda: paired().position_bias_,
    "ScoreErrors": lambda: scored().result_,
    "SystemRanking": lambda: consensus.rank_systems(
        consensus_of(),
        *np.tile([["x", "y", "z"], ["y", "z", "x"]], 67)[:, :200],
        rng=0,
    ),
    "CoClustering": lambda: shared_of().co_clustering_,
    "ErrorRates": lambda: consensus_of().result_,
    "Explanations": lambda: consensus_of().explanations(),
    "VoterAgreement": lambda: consensus_of().agreement(),
    "RankingRobustness": lambda: consensus_of().robustness_curve(),
    "ModelComparison": lambda: consensus.compare_models(MANY, dependence=["none"], rng=0),
    "LabelModelCheck": lambda: weak.check_label_model(VOTES, PROBA, classes=[0, 1]),
    "VoteDiagnostics": lambda: weak.vote_diagnostics(VOTES),
    "Confusion": lambda: confusion([0, 1, 1], [0, 1, 0], groups=["a", "b", "a"]),
    "Rates": lambda: rates([0, 1, 1], [0, 1, 0]),
    "Patterns": lambda: patterns(VOTES),
    "PatternCounts": lambda: pattern_counts([0, 1, 1], VOTES),
    "JointRocCounts": lambda: joint_of(),
    "VoteCounts": lambda: count_votes(
        VOTES, [2, 1, 1], domains=["a", "b", "a"], y_true=[0, 1, None]
    ),
    "RocCounts": lambda: roc_counts([0, 1, 1], [0.1, 0.7, 0.3]),
}


def subclasses(kind):
    """Yield every class below one, once all modules of the packages are there."""
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def results():
    """Return every result that a public function can return, whether its package lists it or not.

    A base of results has subclasses, or leaves its sentence to them.
    """
    for info in pkgutil.walk_packages(karat.__path__, "karat."):
        if info.name.split(".")[1] in PACKAGES and not info.name.endswith("__main__"):
            importlib.import_module(info.name)
    # A class with slots is made twice, and the first making is kept by its base alone.
    kinds = {
        kind
        for kind in subclasses(Result)
        if kind.__module__.startswith("karat.")
        and vars(sys.modules[kind.__module__]).get(kind.__name__) is kind
    }
    bases = {base for kind in kinds for base in kind.__mro__[1:]}
    return sorted(kinds - bases, key=lambda kind: kind.__name__)


RESULTS = [pytest.param(kind, id=kind.__name__) for kind in results()]


def is_a_page_that_needs_nothing(html):
    """A notebook shows the picture and the numbers, with no network, on light and dark pages."""
    assert "<svg" in html
    assert "<table" in html
    for outside in ("<script", "<link", "<img", 'href="http', "src='http", "@import", "url(http"):
        assert outside not in html
    assert not re.search(r"(fill|stroke): ?(black|#000000|#222222)", html), "unseen on a dark page"


def is_a_tidy_table(frame, result):
    """Columns are called as attributes are, one for each or one for the many of which it is."""
    assert type(frame).__module__.startswith("polars")
    assert frame.height
    assert frame.width > 1
    assert not any(str(dtype) in {"Null", "Object", "List"} for dtype in frame.dtypes)
    if "lower" in frame.columns and "upper" in frame.columns:
        assert ((frame["lower"] <= frame["upper"]) | frame["lower"].is_nan()).all()
    for name in {"value", "lower", "upper", "n"} & set(frame.columns):
        own = getattr(result, name, None)
        if isinstance(own, float | int) and frame.height == 1:
            assert frame[name][0] == own or own != own


def test_every_result_is_named_once():
    names = [case.values[0].__name__ for case in RESULTS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", RESULTS)
def test_results_keep_their_promises(kind):
    import matplotlib.pyplot as plt

    name = kind.__name__
    assert name in EXAMPLES, f"give {name} an example here"
    result = EXAMPLES[name]()
    assert type(result) is kind
    assert type(result).__dataclass_params__.frozen
    assert not hasattr(result, "__dict__"), "slotted"
    assert all(field.kw_only for field in dataclasses.fields(result))
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, f"{field.name} can be written to"
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again == result
        arrays = [getattr(again, f.name) for f in dataclasses.fields(again)]
        assert not any(a.flags.writeable for a in arrays if isinstance(a, np.ndarray))
    json.dumps(result.to_dict(), allow_nan=False)
    same = EXAMPLES[name]()
    assert result == same
    assert hash(result) == hash(same)
    assert result.summary() in repr(result)
    bundle = result._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    is_a_page_that_needs_nothing(bundle["text/html"])
    is_a_tidy_table(result.to_frame(), result)
    before = json.dumps(result.to_dict())
    _, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert result.plot() is not ax
    assert json.dumps(result.to_dict()) == before
    plt.close("all")


def test_values_are_frozen():
    for case in PUBLIC:
        thing = found(*case.values)
        if inspect.isclass(thing) and dataclasses.is_dataclass(thing):
            assert thing.__dataclass_params__.frozen


def test_the_exception_tree_is_drawn_in_full():
    from karat import exceptions

    for name in exceptions.__all__:
        assert name in exceptions.__doc__
