"""Every public callable refuses a bad option with the same error and the same sentence.

Callables are found by looking: every function, constructor and method behind a public name that
takes a word among several, a count, ``confidence=``, ``pos_label=`` or ``rng=``, and every
estimator that can be asked before it is fitted. A new one must be given an example call below: the
first test fails until it is.
"""

import importlib
import inspect
import io
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import duckdb
import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import karat
from karat import (
    audit,
    bounds,
    calibration,
    consensus,
    datasets,
    decisions,
    elicit,
    limits,
    metrics,
    optimize,
    ranking,
    statistics,
    votes,
    weak,
)
from karat._result import Result
from karat.exceptions import OptionError
from karat.sources import Counts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # a few rows are few

HAS_TORCH = find_spec("torch") is not None
HAS_STUDIO = find_spec("fastapi") is not None
PACKAGES = [
    name
    for name in karat.__all__[1:]
    if name not in {"cli", "exceptions"}
    and (name != "torch" or HAS_TORCH)
    and (name != "studio" or HAS_STUDIO)
]

# Parameters that look like an option of these kinds and are none.
NOT_OPTIONS = {
    "basis",  # may be the name of a column
    "answer",  # of a person: data, with an error of its own
    "i", "j",  # numbers of classes
    "name",  # any text
    "count",  # the name of a new column
    "seed",  # of a value that karat builds itself
    "title",
}  # fmt: skip
# Counts that may be 0, where -1 is tried.
MAY_BE_0 = {
    "torch.CopulaCalibrationLoss.memory",
    "torch.WeightedAUCLoss.memory",
}
# Classes that a fitted estimator makes: their constructors take its parts, not a user's options.
MADE_BY_KARAT = {"ConsensusLabelModel"}
# Options that take a list of words.
LISTED = {f"consensus.compare_models({name})" for name in ("structure", "errors", "dependence")}


# --- the options, found by looking


class Option(NamedTuple):
    """A parameter of a public callable, which may have several names."""

    paths: tuple[str, ...]
    name: str
    kind: str

    @property
    def path(self) -> str:
        """The name under which there is an example call."""
        return next((path for path in self.paths if path in CALLS), self.paths[0])

    def __str__(self) -> str:
        return f"{self.path}({self.name})"


def callables() -> dict[Any, tuple[Callable[..., Any], list[str]]]:
    """Return every public function, constructor and method, with all names that it has.

    A method that several classes inherit is one method, and needs one example.
    """
    found: dict[Any, tuple[Callable[..., Any], list[str]]] = {}
    for package in PACKAGES:
        module = importlib.import_module(f"karat.{package}")
        for name in sorted(module.__all__):
            for path, thing in _of(getattr(module, name), f"{package}.{name}"):
                key = thing.__init__ if inspect.isclass(thing) else thing
                found.setdefault(key, (thing, []))[1].append(path)
    return found


def _of(thing: Any, path: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    if inspect.isfunction(thing):
        yield path, thing
        return
    kind = thing if inspect.isclass(thing) else type(thing)
    if issubclass(kind, BaseException) or not kind.__module__.startswith("karat"):
        return
    if kind is limits.Estimate:  # a number that karat found: it takes no options
        return
    made = issubclass(kind, Result) or kind.__name__ in MADE_BY_KARAT
    if inspect.isclass(thing) and not made:
        yield path, thing
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        function = getattr(member, "__func__", member)
        ours = getattr(function, "__module__", None) or ""
        if name[0] == "_" or not inspect.isfunction(function) or not ours.startswith("karat"):
            continue
        if not getattr(function, "__isabstractmethod__", False):
            yield f"{path}.{name}", function


def options() -> Iterator[Option]:
    for thing, paths in callables().values():
        documented = _documented_words(thing)
        for parameter in inspect.signature(thing).parameters.values():
            kind = _kind(parameter, documented)
            if kind is not None and parameter.name not in NOT_OPTIONS:
                yield Option(tuple(paths), parameter.name, kind)


def _documented_words(thing: Any) -> set[str]:
    """Return the parameters whose type in the docstring quotes words: ``{"both", "lower"}``."""
    lines = re.findall(r"^ *([\w, ]+) : .*[\"']\w", inspect.getdoc(thing) or "", re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


def _kind(parameter: inspect.Parameter, documented: set[str]) -> str | None:
    if parameter.name in ("confidence", "pos_label", "rng"):
        return parameter.name
    if parameter.name in documented or (isinstance(parameter.default, str) and parameter.default):
        return "word"
    annotation = parameter.annotation
    shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return "count" if re.fullmatch(r"int( \| None)?", shown) else None


OPTIONS = list(options())


# --- small valid input

RNG = np.random.default_rng(0)
TRUTH = np.arange(60) % 2
VOTES = np.where(RNG.random((60, 4)) < 0.2, 1 - TRUTH[:, None], TRUTH[:, None])
X = RNG.normal(size=(60, 2)) + TRUTH[:, None]
CHANCE = 1 / (1 + np.exp(-X[:, 0]))
PROBA = np.column_stack([1 - CHANCE, CHANCE])
LABELS = RNG.random((60, 2)) < 0.5
PROB = RNG.random((60, 2))
GROUPS = np.arange(60) // 30
MODEL = weak.MajorityVote().fit(VOTES)
BOUND = (VOTES[:, 0], VOTES, MODEL)
LINEAR = LogisticRegression()
SCORED = RNG.normal(4.0 * TRUTH[:, None], 1.0, (len(TRUTH), 4))
SCORES = {"one": CHANCE, "two": X[:, 1]}
HALF = {"share": 0.5}
UNIT = [0.2, 0.9, 0.6, 0.4, 0.7]
SPACE = elicit.BinarySpace.from_scores(TRUTH, CHANCE)
CONFUSIONS = elicit.ConfusionSpace.from_proba(TRUTH, PROBA)
ERRORS = elicit.RateSpace.from_proba(TRUTH, PROBA)
RATES = elicit.RateSpace.from_proba(TRUTH, PROBA, groups=GROUPS)
QUERY = elicit.Query(*SPACE.sample(2, rng=0))
PERSON = elicit.MetricOracle(metrics.cost_matrix([[0, 1], [4, 0]]))
FAIR = metrics.FairMetric([1, 2], [[1, 1]], 0.5)


@cache
def estimated() -> consensus.ErrorEstimator:
    return consensus.ErrorEstimator(draws=20, dependence="none", rng=0).fit(VOTES)


@cache
def elicited() -> elicit.ElicitationResult:
    return elicit.Elicitation(SPACE, max_queries=4, rng=0).run(PERSON)


def asked(**options: Any) -> elicit.Elicitation:
    if "order" in options:
        return elicit.Elicitation(ERRORS, "polynomial", **options)
    return elicit.Elicitation(SPACE, **({"max_queries": 2, "rng": 0} | options))


def answered() -> elicit.Elicitation:
    procedure = asked()
    procedure.ask()
    procedure.tell("first")
    return procedure


def with_basis(basis: Any) -> Any:
    classifier = optimize.FrankWolfeClassifier(LINEAR, n_iter=2, basis=basis)
    return classifier.fit(X, TRUTH, X_val=X, y_val=TRUTH)


def fair_frontier(n: int = 5) -> Any:
    procedure = elicit.Elicitation(RATES, max_queries=3, rng=0)
    procedure.run(elicit.MetricOracle(FAIR))
    return procedure.frontier(n)


def tuned(kind: Any, **options: Any) -> Any:
    known = {"estimator": LINEAR}
    if kind is optimize.FrankWolfeClassifier:
        known["n_iter"] = 2
    return kind(**(known | options)).fit(X, TRUTH, X_val=X, y_val=TRUTH)


def smallest(n_classes: int = 2) -> Callable[[Any], Any]:
    """Ask a metric for so many classes."""
    return lambda metric: metric.for_classes(n_classes)


def studio_settings() -> dict[str, Callable[..., Any]]:
    return (
        {"studio.Settings": importlib.import_module("karat.studio").Settings} if HAS_STUDIO else {}
    )


def torch_losses() -> dict[str, Callable[..., Any]]:
    return {
        f"torch.{name}": getattr(importlib.import_module("karat.torch"), name)
        for name in ("CopulaCalibrationLoss", "WeightedAUCLoss")
        if HAS_TORCH
    }


def queried():
    """What a warehouse answers to the query that counts."""
    with duckdb.connect() as connection:
        connection.register("t", pl.DataFrame({"y": TRUTH, "s": CHANCE}))
        return connection.sql(Counts.query("t", "duckdb", label="y", score="s")).pl()


def scanned():
    """A table with every role that counts need."""
    table = pl.DataFrame(VOTES, schema=[f"lf_{j}" for j in range(VOTES.shape[1])])
    return karat.scan(
        table.with_columns(
            y=pl.Series(TRUTH), p=pl.Series(VOTES[:, 0]), s=pl.Series(CHANCE)
        ).with_row_index("id")
    ).roles(label="y", pred="p", score="s", weak="lf_*", id="id")


# A call with valid input for every public callable that takes one of these options; what it is
# given replaces the options of that call. Constructors that keep their arguments are fitted.
CALLS: dict[str, Callable[..., Any]] = torch_losses() | studio_settings() | {
    "audit.Audit": lambda **o: audit.Audit(VOTES[:, 0], **({"metric": "f1"} | o)),
    "audit.Audit.ask": lambda n=3: audit.Audit(VOTES[:, 0], metric="f1", rng=0).ask(n),
    "audit.Audit.tell": lambda **o: audit.Audit(VOTES[:, 0], metric="f1").tell({}, **o),
    "audit.assert_at_least": lambda **o: audit.assert_at_least(
        VOTES[:, 0], VOTES[:, 0], 0.0, **({"metric": "f1", "shuffle": True} | o)
    ),
    "audit.best_of_many": lambda **o: audit.best_of_many(
        {"a": VOTES[:, 0], "b": VOTES[:, 1]}, TRUTH, **({"metric": "f1"} | o)
    ),
    "audit.gate": lambda **o: audit.gate(
        TRUTH, VOTES[:, 0], 0.5, **({"metric": "f1", "shuffle": True} | o)
    ),
    "audit.judged_rate": lambda **o: audit.judged_rate(VOTES, TRUTH, **o),
    "evaluation.evaluate": lambda **o: karat.evaluate(
        {"y": TRUTH, "a": VOTES[:, 0]}, label="y", pred="a", **o
    ),
    "bounds.bounds_curve": lambda **o: bounds.bounds_curve(
        CHANCE, VOTES, MODEL, metric="accuracy", **o
    ),
    "bounds.difference_bounds": lambda **o: bounds.difference_bounds(
        VOTES[:, 1], *BOUND, metric="accuracy", **o
    ),
    "bounds.expectation_bounds": lambda **o: bounds.expectation_bounds(PROBA, VOTES, MODEL, **o),
    "bounds.performance_bounds": lambda **o: bounds.performance_bounds(
        *BOUND, metric="accuracy", **o
    ),
    "bounds.rank_models": lambda **o: bounds.rank_models(
        {"a": VOTES[:, 0], "b": VOTES[:, 1]}, VOTES, MODEL, metric="accuracy", **o
    ),
    "bounds.robustness_curve": lambda **o: bounds.robustness_curve(*BOUND, metric="accuracy", **o),
    "bounds.weak_label_value": lambda **o: bounds.weak_label_value(*BOUND, metric="accuracy", **o),
    "calibration.CopulaCalibrator": lambda **o: calibration.CopulaCalibrator(**o).fit(LABELS, PROB),
    "calibration.CopulaCalibrator.cross_fit_transform": lambda **o: calibration.CopulaCalibrator(
        rng=0
    ).cross_fit_transform(LABELS, PROB, **o),
    "calibration.calibration_certificate": lambda **o: calibration.calibration_certificate(
        LABELS, PROB, **o
    ),
    "calibration.canonical_calibration_error": lambda **o: calibration.canonical_calibration_error(
        LABELS, PROB, **o
    ),
    "calibration.marginal_calibration_error": lambda **o: calibration.marginal_calibration_error(
        LABELS, PROB, **o
    ),
    "consensus.ConsensusLabelModel.draws": lambda n=2: estimated().as_label_model().draws(n),
    "consensus.ConsensusLabelModel.predict_proba": lambda **o: (
        estimated().as_label_model().predict_proba(VOTES, **o)
    ),
    "consensus.ErrorEstimator": lambda **o: consensus.ErrorEstimator(
        **({"draws": 20, "dependence": "none", "rng": 0} | o)
    ).fit(VOTES),
    "consensus.ErrorEstimator.fit": lambda **o: consensus.ErrorEstimator(
        draws=20, dependence="none", rng=0
    ).fit(VOTES, **o),
    "consensus.ErrorEstimator.label_next": lambda **o: estimated().label_next(**o),
    "consensus.PairEstimator": lambda **o: consensus.PairEstimator(
        **({"draws": 20, "dependence": "none", "rng": 0} | o)
    ).fit(VOTES, VOTES),
    "consensus.PairEstimator.fit": lambda **o: consensus.PairEstimator(
        draws=20, dependence="none", rng=0
    ).fit(VOTES, VOTES, **o),
    "consensus.PairEstimator.label_next": lambda **o: (
        consensus.PairEstimator(draws=20, dependence="none", rng=0)
        .fit(VOTES, VOTES)
        .label_next(**o)
    ),
    "consensus.ScoreEstimator": lambda **o: consensus.ScoreEstimator(
        **({"draws": 20, "rng": 0} | o)
    ).fit(SCORED),
    "consensus.ScoreEstimator.fit": lambda **o: consensus.ScoreEstimator(draws=20, rng=0).fit(
        SCORED, **o
    ),
    "consensus.annotator_test": lambda **o: consensus.annotator_test(
        VOTES[:, 0], VOTES[:, 1:], **({"epsilon": 0.1, "fewest": 2} | o)
    ),
    "consensus.cheapest_panel": lambda **o: consensus.cheapest_panel(
        estimated(), **({"draws": 2} | o)
    ),
    "consensus.position_bias": lambda **o: consensus.position_bias(VOTES, VOTES, **o),
    "consensus.rank_systems": lambda **o: consensus.rank_systems(
        estimated(), *np.resize(["x", "y", "z"], (2, len(VOTES) + 1))[:, :-1], **o
    ),
    "consensus.compare_models": lambda **o: consensus.compare_models(
        VOTES, **({"dependence": ["none"], "rng": 0} | o)
    ),
    "datasets.LogisticLaw.sample": lambda n=3, **o: datasets.LogisticLaw.binary().sample(n, **o),
    "datasets.MultilabelLaw": lambda kind="latent", **o: datasets.MultilabelLaw(kind, **o),
    "datasets.MultilabelLaw.sample": lambda n=3, **o: (
        datasets.MultilabelLaw("latent").sample(n, **o)
    ),
    "datasets.load_shared": lambda **o: datasets.load_shared("nell", **o),
    "decisions.Attainable": lambda **o: decisions.Attainable(
        decisions.Attainable.from_calibrated(PROBA).blocks, **o
    ),
    "decisions.RandomizedClassifier.predict": lambda **o: (
        SPACE.classifier(SPACE.center).predict(PROBA, **o)
    ),
    "decisions.maximise": lambda **o: decisions.maximise(
        metrics.accuracy, decisions.Attainable.from_calibrated(PROBA), **o
    ),
    "elicit.Elicitation": asked,
    "elicit.Elicitation.forecast": lambda **o: answered().forecast(
        **({"extra": 1, "n_people": 1} | o)
    ),
    "elicit.Elicitation.undo": lambda n=1: answered().undo(n),
    "elicit.BinarySpace.from_density": lambda **o: elicit.BinarySpace.from_density(
        lambda x: (1 + x) / 2, **o
    ),
    "elicit.BinarySpace.from_scores": lambda **o: elicit.BinarySpace.from_scores(
        TRUTH, CHANCE, **o
    ),
    "elicit.BinarySpace.sample": lambda n=3, **o: SPACE.sample(n, **o),
    "elicit.ConfusionSpace.sample": lambda n=3, **o: CONFUSIONS.sample(n, **o),
    "elicit.Elicitation.frontier": fair_frontier,
    "elicit.MetricOracle": lambda **o: elicit.MetricOracle(metrics.f_beta(1), **o)(QUERY),
    "elicit.Query": lambda **o: elicit.Query(QUERY.first, QUERY.second, **o),
    "elicit.Query.counts": lambda **o: QUERY.counts(**o),
    "elicit.RateSpace.group_sample": lambda n=3, **o: RATES.group_sample(n, **o),
    "elicit.TerminalOracle": lambda **o: elicit.TerminalOracle(
        **o, stream_in=io.StringIO("1\n"), stream_out=io.StringIO()
    )(QUERY),
    "elicit.RandomOracle": lambda kind="coin", **o: elicit.RandomOracle(kind, **o)(QUERY),
    "elicit.agreement_on": lambda **o: elicit.agreement_on("accuracy", [QUERY], ["first"], **o),
    "elicit.evaluation_pairs": lambda n=3, **o: elicit.evaluation_pairs(SPACE, n, **o),
    "elicit.indifference_test": lambda **o: elicit.indifference_test(elicited(), **o),
    "elicit.score_checks": lambda **o: elicit.score_checks([], **o),
    "elicit.shared_metric": lambda **o: elicit.shared_metric(
        SPACE, [elicited(), elicited()], **o
    ),
    "limits.anytime_mean": lambda **o: limits.anytime_mean(UNIT, **o),
    "limits.anytime_ratio": lambda **o: limits.anytime_ratio([0, 1, 1], [1, 1, 1], **o),
    "limits.bernstein_mean": lambda **o: limits.bernstein_mean(UNIT, **o),
    "limits.betting_mean": lambda **o: limits.betting_mean(UNIT, **o),
    "limits.binomial_kl": lambda **o: limits.binomial_kl(7, 10, **o),
    "limits.bootstrap": lambda **o: limits.bootstrap(lambda w: w[0], [40, 10], **o),
    "limits.clopper_pearson": lambda **o: limits.clopper_pearson(7, 10, **o),
    "limits.normal_mean": lambda **o: limits.normal_mean(UNIT, **o),
    "limits.prediction_powered_mean": lambda **o: limits.prediction_powered_mean(
        [0, 1, 1, 0, 1], UNIT, [0.5], **o
    ),
    "limits.prediction_powered_ratio": lambda **o: limits.prediction_powered_ratio(
        [0, 1, 1, 0, 1], [1, 1, 1, 1, 1], UNIT, [0.5], **o
    ),
    "limits.pseudo_count": lambda **o: limits.pseudo_count(lambda w: w[:, 0], [40, 10], **o),
    "limits.wilson": lambda **o: limits.wilson(7, 10, **o),
    "metrics.LinearFractionalMetric.estimate": lambda **o: metrics.f_beta(1).estimate(
        TRUTH, VOTES[:, 0], **o
    ),
    "metrics.FairMetric.for_classes": lambda **o: smallest(**o)(FAIR),
    "metrics.FairMetric.score": lambda **o: FAIR.score(TRUTH, VOTES[:, 0], groups=GROUPS, **o),
    "metrics.LinearFractionalMetric.as_scorer": lambda **o: metrics.f_beta(1).as_scorer(**o)(
        LogisticRegression().fit(X, TRUTH), X, TRUTH
    ),
    "metrics.LinearFractionalMetric.score": lambda **o: metrics.f_beta(1).score(
        TRUTH, VOTES[:, 0], **o
    ),
    "metrics.LinearFractionalMetric.for_classes": lambda **o: smallest(**o)(metrics.f_beta(1)),
    "metrics.PolynomialMetric": lambda **o: metrics.PolynomialMetric([[-1, -2]], **o),
    "metrics.accuracy.for_classes": lambda **o: smallest(**o)(metrics.accuracy),
    "optimize.Clusters": lambda **o: with_basis(optimize.Clusters(**o)),
    "optimize.CoordinateSearchClassifier": lambda **o: tuned(
        optimize.CoordinateSearchClassifier, **o
    ),
    "optimize.CostSensitiveClassifier": lambda **o: tuned(optimize.CostSensitiveClassifier, **o),
    "optimize.FrankWolfeClassifier": lambda **o: tuned(optimize.FrankWolfeClassifier, **o),
    "optimize.PlugInClassifier": lambda **o: tuned(optimize.PlugInClassifier, **o),
    "optimize.RadialBasis": lambda **o: with_basis(optimize.RadialBasis(**({"centers": 2} | o))),
    "ranking.FiniteFamily": lambda size=10: ranking.FiniteFamily(size),
    "ranking.LinearScores": lambda dim=3: ranking.LinearScores(dim),
    "ranking.WeightedAUCClassifier": lambda **o: ranking.WeightedAUCClassifier(
        ranking.FprBand(0, 0.5), **o
    ).fit(X, TRUTH),
    "ranking.average_precision": lambda **o: ranking.average_precision(TRUTH, CHANCE, **o),
    "ranking.compare_rankings": lambda **o: ranking.compare_rankings(
        TRUTH, SCORES, **({"measure": "precision_at"} | ({} if "k" in o else HALF) | o)
    ),
    "ranking.cost_curve": lambda **o: ranking.cost_curve(TRUTH, CHANCE, **o),
    "ranking.lift": lambda **o: ranking.lift(TRUTH, CHANCE, **({} if "k" in o else HALF), **o),
    "ranking.net_benefit": lambda **o: ranking.net_benefit(TRUTH, CHANCE, threshold=0.5, **o),
    "ranking.precision_at": lambda **o: ranking.precision_at(
        TRUTH, CHANCE, **({} if "k" in o else HALF), **o
    ),
    "ranking.recall_at": lambda **o: ranking.recall_at(
        TRUTH, CHANCE, **({} if "k" in o else HALF), **o
    ),
    "ranking.roc_at": lambda **o: ranking.roc_at(TRUTH, CHANCE, fpr=0.1, **o),
    "ranking.roc_auc": lambda **o: ranking.roc_auc(TRUTH, CHANCE, **o),
    "ranking.uniform_margin": lambda **o: ranking.uniform_margin(
        200, 200, family=ranking.FiniteFamily(10), weight=ranking.Uniform(), **o
    ),
    "ranking.weighted_auc": lambda **o: ranking.weighted_auc(TRUTH, CHANCE, **o),
    "sources.scan": lambda **o: karat.scan(pl.DataFrame({"y": TRUTH}), **o),
    "sources.Counts.from_query": lambda **o: Counts.from_query(queried(), **o),
    "sources.Counts.query": lambda **o: Counts.query(
        "t", o.pop("dialect", "duckdb"), label="y", pred="a", **o
    ),
    "sources.Source.counts": lambda **o: scanned().counts(**o),
    "sources.Source.pattern_counts": lambda **o: scanned().pattern_counts(**o),
    "sources.Source.roles": lambda **o: scanned().roles(**o),
    "sources.Source.roc_counts": lambda **o: scanned().roc_counts(**o),
    "sources.Source.vote_counts": lambda **o: scanned().vote_counts(**o),
    "sources.Source.joint_roc_counts": lambda **o: scanned().roles(
        score=["s", "lf_0"]
    ).joint_roc_counts(
        *(scanned().roles(score=["s", "lf_0"]).roc_counts(name) for name in ("s", "lf_0")),
        names=("s", "lf_0"), **o,
    ),
    "statistics.pattern_counts": lambda **o: statistics.pattern_counts(VOTES[:, 0], VOTES, **o),
    "statistics.patterns": lambda **o: statistics.patterns(VOTES, **o),
    "statistics.roc_counts": lambda **o: statistics.roc_counts(TRUTH, CHANCE, **o),
    "votes.read_patterns": lambda **o: votes.read_patterns(VOTES, **o),
    "weak.DawidSkene": lambda **o: weak.DawidSkene(**o).fit(VOTES),
    "weak.OracleLabelModel": lambda **o: weak.OracleLabelModel(**o).fit(VOTES, TRUTH),
    "weak.OracleLabelModel.fit": lambda **o: weak.OracleLabelModel().fit(VOTES, TRUTH, **o),
    "weak.check_label_model": lambda **o: weak.check_label_model(VOTES, MODEL, **o),
} | {
    f"weak.{kind.__name__}.fit": lambda kind=kind, **o: kind().fit(VOTES, **o)
    for kind in (
        weak.DawidSkene, weak.DetectorLabelModel, weak.MajorityVote, weak.TripletLabelModel
    )
} | {
    f"weak.{kind.__name__}.predict_proba": lambda kind=kind, **o: (
        kind().fit(VOTES, TRUTH).predict_proba(VOTES, **o)
        if kind is weak.OracleLabelModel
        else kind().fit(VOTES).predict_proba(VOTES, **o)
    )
    for kind in (
        weak.DawidSkene, weak.DetectorLabelModel, weak.MajorityVote, weak.OracleLabelModel,
        weak.TripletLabelModel,
    )
}  # fmt: skip


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(option, id=str(option)) for option in OPTIONS if option.kind == kind]


def refused(option: Option, value: Any) -> str:
    """Return the sentence of the one error for options."""
    assert option.path in CALLS, f"give {option.path} an example call in CALLS"
    with pytest.raises(OptionError) as caught:
        CALLS[option.path](**{option.name: value})
    assert type(caught.value) is OptionError
    return str(caught.value)


def test_every_option_has_an_example():
    new = {str(option) for option in OPTIONS if option.path not in CALLS}
    assert new == set(), "give each of these callables an example call in CALLS"
    known = {path for option in OPTIONS for path in option.paths}
    assert set(CALLS) - known == set(), "these callables no longer take such an option"


def test_the_options_are_found():
    found = {str(option): option.kind for option in OPTIONS}
    assert found["limits.wilson(side)"] == "word"
    assert found["limits.wilson(confidence)"] == "confidence"
    assert found["limits.bootstrap(n_resamples)"] == "count"
    assert found["calibration.CopulaCalibrator(rng)"] == "rng"


@pytest.mark.parametrize("option", of_kind("word"))
def test_an_unknown_word(option):
    value = ["no such word"] if str(option) in LISTED else "no such word"
    said = refused(option, value)
    assert re.match(rf"{option.name} is \W*no such word\W*; expected .*\w", said), said


@pytest.mark.parametrize("option", of_kind("count"))
def test_a_count_that_is_too_small(option):
    value = -1 if f"{option.path}.{option.name}" in MAY_BE_0 else 0
    said = refused(option, value)
    pattern = rf"{option.name} is {value}; expected a whole number of at least \d+( .*)?"
    assert re.fullmatch(pattern, said), said


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("option", of_kind("confidence"))
def test_a_confidence_of_nothing_or_everything(option, value):
    wanted = f"confidence is {value}; expected a number between 0 and 1, such as 0.95"
    assert refused(option, value) == wanted


@pytest.mark.parametrize("option", of_kind("confidence"))
def test_a_low_confidence_is_one(option):
    CALLS[option.path](confidence=0.4)


@pytest.mark.parametrize("value", ["abc", -1, True, 1.5])
@pytest.mark.parametrize("option", of_kind("rng"))
def test_what_is_no_source_of_randomness(option, value):
    wanted = f"rng is {value!r}; expected a whole number of at least 0, a numpy Generator or None"
    assert refused(option, value) == wanted


@pytest.mark.parametrize("option", of_kind("pos_label"))
def test_a_positive_class_that_is_none(option):
    assert refused(option, "x") == "pos_label is 'x'; expected 0 or 1"


# --- estimators that are not fitted

# What each method that needs a fit is given; by name, because estimators share their names.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "agreement": (),
    "robustness_curve": (),
    "as_label_model": (),
    "decision_function": (X,),
    "decision_regions": (),
    "error_rates": (),
    "explanations": (),
    "label_next": (),
    "from_labels": (),
    "predict": (X,),
    "predict_from_proba": (PROBA,),
    "predict_pattern_proba": (VOTES,),
    "predict_proba": (X,),
    "predict_proba_from_proba": (PROBA,),
    "score": (X, TRUTH),
    "to_inference_data": (),
    "transform": (PROB,),
}
NEED_NO_FIT = {
    "fit",
    "fit_from_proba",
    "cross_fit_transform",
    "get_params",
    "set_params",
    "get_metadata_routing",
}


def unfitted() -> Iterator[Any]:
    for package in PACKAGES:
        module = importlib.import_module(f"karat.{package}")
        for name in sorted(module.__all__):
            kind = getattr(module, name)
            if not inspect.isclass(kind) or not hasattr(kind, "fit") or name in MADE_BY_KARAT:
                continue
            for method in sorted(dir(kind)):
                public = method[0] != "_" and not method.endswith("_request")
                if (
                    public
                    and method not in NEED_NO_FIT
                    and inspect.isfunction(getattr(kind, method))
                ):
                    yield pytest.param(kind, method, id=f"{package}.{name}.{method}")


@pytest.mark.parametrize(("kind", "method"), list(unfitted()))
def test_an_estimator_that_is_not_fitted(kind, method):
    assert method in ARGUMENTS, f"say in ARGUMENTS what {method} is given"
    needed = {"estimator": LINEAR} if "estimator" in inspect.signature(kind).parameters else {}
    rows = (VOTES,) if kind.__module__.startswith("karat.weak") else ARGUMENTS[method]
    with pytest.raises(NotFittedError) as caught:
        getattr(kind(**needed), method)(*rows)
    pattern = rf"this {kind.__name__} is not fitted; call fit\w*(\(.*\))? first"
    assert re.fullmatch(pattern, str(caught.value)), str(caught.value)
