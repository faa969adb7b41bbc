"""One chain, from a person to decisions, gives the same numbers whatever the classes are called.

Somebody is asked what errors cost; the metric is saved, decisions are optimised for it, bounded
without labels, scored, audited and gated, in Python and at the command line. Taking the class that
sorts last for the positive one reversed the chain in silence wherever the positive one sorts first.
"""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest

from karat.audit import Audit, best_of_many, gate
from karat.bounds import performance_bounds
from karat.cli._asking import SHOWN_CASES
from karat.elicit import BinarySpace, Elicitation, MetricOracle
from karat.evaluation import evaluate
from karat.metrics import cost_matrix, load_metric
from karat.optimize import FrankWolfeClassifier

PLAIN = (0, 1)
PAIRS = [  # the negative one first
    ("low", "high"), ("genuine", "fraud"), ("healthy", "cancer"), ("A", "B"), (0, 1),
    (False, True), ("No", "yes "),
]  # fmt: skip
SWAPPED = [pair[::-1] for pair in PAIRS]
NAMED = [(pair, kind == "swapped") for kind, pairs in
         (("as told", PAIRS), ("swapped", SWAPPED)) for pair in pairs]  # fmt: skip
N = 400


def ids(one):
    return f"{one[0][0]}-{one[0][1]}{'-swapped' if one[1] else ''}"


@cache
def drawn():
    """Return codes: the truth, probabilities, two models and three weak labelers."""
    rng = np.random.default_rng(8)
    y = (rng.random(N) < 0.3).astype(int)
    logit = 1.6 * rng.normal(size=N) + 2.2 * (y - 0.5)
    p = np.round(1 / (1 + np.exp(-logit)), 4)
    models = {"a": (p > 0.35).astype(int), "b": (p > 0.8).astype(int)}
    weak = {f"rule_{j}": np.where(rng.random(N) < 0.8, y, 1 - y) for j in range(3)}
    return y, p, models, weak


def table(pair):
    """Return the rows with the labels of a pair."""
    y, p, models, weak = drawn()
    names = list(pair)
    columns = {"y": y, **models, **weak}
    return pl.DataFrame({"p": p} | {k: [names[c] for c in v] for k, v in columns.items()})


def told(pair, swapped):
    """Return the positive class to pass: none where the labels tell it."""
    return pair[1] if swapped or pair == ("A", "B") else None


def asked(frame, positive):
    """Return a procedure whose simulated person finds a miss three times as bad."""
    space = BinarySpace.from_scores(frame["y"], frame["p"], pos_label=positive).smoothed()
    procedure = Elicitation(space, out_of=SHOWN_CASES, rng=0, max_queries=12)
    procedure.run(MetricOracle(cost_matrix([[0, 1], [3, 0]])))
    return procedure


def in_python(pair, swapped, folder):
    """Return every number of the chain, with decisions as codes."""
    frame, positive = table(pair), told(pair, swapped)
    saved = folder / "metric.json"
    saved.write_text(asked(frame, positive).result.metric.to_json())
    metric = load_metric(saved)
    assert metric.classes == pair
    y, a, p = frame["y"], frame["a"], frame["p"].to_numpy()
    weak = frame.select("rule_0", "rule_1", "rule_2")
    proba = np.column_stack([1 - p, p])
    clf = FrankWolfeClassifier(metric=metric).fit_from_proba(proba, y, classes=list(pair))
    decided = clf.predict_from_proba(proba)
    bounds = performance_bounds(a, weak, metric=metric, rng=0)
    estimate = metric.estimate(y, a, rng=0)
    tiers = best_of_many({"a": a, "b": frame["b"]}, y, metric=metric, rng=0)
    audit = Audit(a, metric=metric, scores=frame["p"], rng=0)
    audit.tell({i: y[i] for i in audit.ask(60)["item"]})
    audited = audit.result
    held = gate(y, a, 0.5, metric=metric)
    found = evaluate(frame, label="y", pred=["a", "b"], score="p", metric=str(saved))
    good = {f.key: f for f in found.findings}["how_good"].results
    scored = next(iter(good.values()))
    return {
        "score": metric.score(y, a),
        "decisions": [pair.index(d) for d in decided.tolist()],
        "bounds": [bounds.lower, bounds.upper],
        "estimate": [estimate.value, estimate.lower, estimate.upper],
        "tiers": [tiers.pairs[0].value, tiers.pairs[0].lower],
        "best": tiers.pairs[0].first,
        "audit": [audited.value, audited.lower, audited.upper],
        "gate": [held.value, held.lower, held.status],
        "evaluate": [scored.value, scored.lower],
        "verdicts": [v.badge for v in found.verdicts],
    }


def at_the_command_line(pair, swapped, folder, karat):
    """Return every number of the chain, as the commands print them."""
    frame, positive = table(pair), told(pair, swapped)
    rows = folder / "rows.parquet"
    frame.write_parquet(rows)
    answers, saved = folder / "answers.json", folder / "metric.json"
    asked(frame, positive).transcript.save(answers)
    flags = () if positive is None else ("--pos-label", positive)
    ran = karat("elicit", rows, "--label", "y", "--score", "p", *flags, "--max-queries", 12,
                "--transcript", answers, "--save-metric", saved, typed=[])  # fmt: skip
    assert ran.code == 0, ran.err
    kept = json.loads(saved.read_text())
    assert tuple(kept["classes"]) == pair
    assert kept["elicited"]["status"] in ("certified", "undecided")
    assert kept["elicited"]["when"].startswith("20")

    def data(command, *options):
        ran = karat(command, rows, *options, "--metric", saved, "--json")
        assert ran.code in (0, 4, 5), ran.err
        return ran.data

    decided = folder / "decided.parquet"
    data("optimize", "--label", "y", "--score", "p", "--folds", 0, "--predictions", decided)
    bounds = data("bounds", "--pred", "a", "--weak", "rule_*")["results"]["a"]
    scored = data("score", "--label", "y", "--pred", "a", "--pred", "b")
    (estimate,) = scored["results"]["a"].values()
    (tiers,) = scored["comparisons"].values()
    data("audit", "--pred", "a", "--score", "p", "--todo", folder / "todo.csv", "--ask", 60)
    todo = pl.read_csv(folder / "todo.csv").with_columns(
        label=pl.col("item").map_elements(lambda i: str(frame["y"][i]), return_dtype=pl.String)
    )
    todo.write_csv(folder / "todo.csv")
    ran = karat("audit", rows, "--labels", folder / "todo.csv", "--json")
    assert ran.code == 0, ran.err
    audited = ran.data["result"]
    held = data("gate", "--label", "y", "--pred", "a", "--at-least", 0.5)["gate"]
    found = data("evaluate", "--label", "y", "--pred", "a", "--pred", "b", "--score", "p")
    good = next(iter(found["results"]["how_good"].values()))
    return {
        "decisions": [pair.index(d) for d in pl.read_parquet(decided)["decision"].to_list()],
        "bounds": [bounds["lower"], bounds["upper"]],
        "estimate": [estimate[k] for k in ("value", "lower", "upper")],
        "tiers": [tiers["pairs"][0]["value"], tiers["pairs"][0]["lower"]],
        "best": tiers["pairs"][0]["first"],
        "audit": [audited[k] for k in ("value", "lower", "upper")],
        "gate": [held["value"], held["lower"], held["status"]],
        "evaluate": [good["value"], good["lower"]],
        "verdicts": [v["badge"] for v in found["verdicts"]],
    }


def commanded_bounds(folder, karat):
    """Return the bounds of the command where the classes are 0 and 1, for the metric of a file."""
    metric = load_metric(folder / "metric.json").with_classes(PLAIN)
    (folder / "plain.json").write_text(metric.to_json())
    table(PLAIN).write_parquet(folder / "plain.parquet")
    ran = karat("bounds", folder / "plain.parquet", "--pred", "a", "--weak", "rule_*",
                "--metric", folder / "plain.json", "--json")  # fmt: skip
    found = ran.data["results"]["a"]
    return [found["lower"], found["upper"]]


def same(found, wanted):
    for name, value in wanted.items():
        if all(isinstance(v, float) for v in np.atleast_1d(value)):
            assert found[name] == pytest.approx(value, rel=1e-9), name
        else:
            assert found[name] == value, name


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return in_python(PLAIN, False, tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("named", NAMED, ids=ids)
def test_in_python(named, plain, tmp_path):
    same(in_python(*named, tmp_path), plain)


@pytest.mark.parametrize("named", NAMED, ids=ids)
def test_at_the_command_line(named, plain, tmp_path, karat):
    """The same numbers as in Python, but for bounds, whose command has another label model."""
    found = at_the_command_line(*named, tmp_path, karat)
    bounds = commanded_bounds(tmp_path, karat)
    same(found, {name: plain[name] for name in found} | {"bounds": bounds})


def test_the_numbers_are_those_of_the_costs(plain, tmp_path):
    """A miss is three times as bad: the model that finds more positives is the better one."""
    y, _, models, _ = drawn()
    cost = {
        k: np.mean(3 * ((y == 1) & (c == 0)) + ((y == 0) & (c == 1))) for k, c in models.items()
    }
    assert cost["a"] < cost["b"]
    assert plain["best"] == "a"
    metric = asked(table(("low", "high")), None).result.metric
    ratio = (metric.weights[1, 1] - metric.weights[1, 0]) / (
        metric.weights[0, 0] - metric.weights[0, 1]
    )
    assert ratio == pytest.approx(3, rel=0.3)
    assert "high" in metric.describe()
    assert "classes=['low', 'high']" in repr(metric)
