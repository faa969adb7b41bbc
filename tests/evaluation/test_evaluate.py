"""One call on a table: every number is the library's, and what is missing is said."""

import ast
import json
import shlex
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karat
from karat.audit import best_of_many
from karat.bounds import performance_bounds
from karat.calibration import canonical_calibration_error
from karat.consensus import ErrorEstimator
from karat.evaluation import Evaluation, evaluate
from karat.exceptions import (
    ColumnError,
    EmptyDataError,
    KaratError,
    KaratWarning,
    OptionError,
    SmallSampleWarning,
)
from karat.metrics import accuracy, as_metric, cost_matrix
from karat.ranking import weighted_auc


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 2, n)
    flip = lambda share: np.where(rng.random(n) < share, 1 - y, y)  # noqa: E731
    score = 1 / (1 + np.exp(-(2.0 * y - 1 + rng.normal(size=n))))
    names = np.array(["bad", "good"])
    frame = {
        "id": [f"row {i}" for i in range(n)],
        "y": names[y],
        "a": names[flip(0.1)],
        "b": names[flip(0.2)],
        "score": score,
        "sex": np.where(rng.random(n) < 0.5, "f", "m"),
    }
    frame |= {
        f"lf_{j}": np.where(rng.random(n) < 0.3, None, names[flip(0.25)]).tolist() for j in range(5)
    }
    frame |= {f"judge_{j}": names[flip(share)] for j, share in enumerate((0.1, 0.2, 0.3, 0.15))}
    return pl.DataFrame(frame)


def test_labels_give_the_estimate_of_the_library(table):
    e = evaluate(table, label="y", pred=["a", "b"], pos_label="good", group="sex")
    r = e.findings[0].results["a: accuracy"]
    own = accuracy.estimate(table["y"], table["a"], groups=table["sex"], pos_label="good", rng=0)
    assert (r.value, r.lower, r.upper) == (own.value, own.lower, own.upper)
    assert set(r.groups) == {"f", "m"}
    assert e.verdicts[0].badge == "guaranteed"  # every row is labelled, and the limits are exact
    assert f"{own.lower:.3f}" in e.verdicts[0].sentence


def test_some_labels_are_said_to_be_a_sample(table):
    some = table.with_columns(y=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("y")))
    e = evaluate(some, label="y", pred="a")
    own = accuracy.estimate(table["y"][:60], table["a"][:60], rng=0)
    assert e.findings[0].results["a: accuracy"].lower == own.lower
    assert "60" in e.verdicts[0].sentence
    assert "random" in e.verdicts[0].sentence
    assert any("karat audit" in step.command for step in e.next_steps)


def test_weak_labels_give_bounds_that_nothing_has_tested(table):
    e = evaluate(table, pred="a", weak="lf_*", metric="accuracy")
    own = performance_bounds(table["a"], table.select("^lf_.*$"), metric="accuracy", rng=0)
    assert e.findings[0].results["a"].lower_limit == own.lower_limit
    assert e.verdicts[0].badge == "unknown"


def test_the_answer_names_no_argument_that_evaluate_lacks(table):
    answer = evaluate(table, pred="a", weak="lf_*").findings[0].answer
    assert "pass --class-prior to karat bounds, or some true labels as a column" in answer
    assert "class_prior=" not in answer


def test_judges_are_rated_and_never_certain(table):
    e = evaluate(table, judge="judge_*", id="id")
    own = ErrorEstimator(rng=0).fit(table.select("^judge_.*$"))
    r = e.findings[0].results["error rates"]
    assert r.value == pytest.approx(own.result_.value)
    assert e.verdicts[0].badge in ("likely", "unknown")
    assert "--label-next 30" in e.next_steps[0].command


def test_next_steps_keep_items_scores_and_labels(table):
    some = table.with_columns(
        y=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("y")), twice=pl.lit("x")
    )
    e = evaluate(some, label="y", pred=["a", "judge_0"], score="score", id="id")
    more, pair = (step.command for step in e.next_steps if step.command.startswith("karat audit"))
    assert " --score score --id id --label y --todo todo.csv" in more
    assert " --id id --label y --saved pair.audit.json --todo pair.csv" in pair
    with pytest.warns(KaratWarning, match="names 1 items"):
        e = evaluate(some, label="y", pred="a", id="twice")
    assert "--id" not in e.next_steps[0].command
    e = evaluate(some, judge="judge_*", label="y", id="id")
    assert " --label y --label-next 30" in e.next_steps[0].command
    assert "From the votes, with the labels as a test" in e.findings[0].answer


def test_items_that_have_several_rows_are_named(table):
    with pytest.warns(KaratWarning, match="names 400 items in 800 rows; rows of one item"):
        evaluate(pl.concat([table, table]), label="y", pred="a", id="id")


def test_columns_that_answer_nothing_are_refused(table):
    with pytest.raises(ColumnError, match=r"label y, id id alone answers no question; name"):
        evaluate(table, label="y", id="id")


def test_scores_give_areas_that_are_guaranteed(table):
    e = evaluate(table, label="y", score="score", pos_label="good")
    r = e.findings[0].results["score: area under the ROC curve"]
    own = weighted_auc(table["y"], table["score"], pos_label="good")
    assert (r.lower, r.upper) == (own.lower, own.upper)
    assert e.verdicts[0].badge == "guaranteed"
    assert ("positive class", "'good'") in e.facts


def test_probabilities_of_several_labels():
    rng = np.random.default_rng(1)
    h = rng.random((300, 3))
    y = (rng.random((300, 3)) < h).astype(int)
    frame = pl.DataFrame(
        {f"y{j}": y[:, j] for j in range(3)} | {f"p{j}": h[:, j] for j in range(3)}
    )
    e = evaluate(frame, label="y*", prob="p*")
    r = e.findings[0].results["canonical"]
    own = canonical_calibration_error(y, h, rng=0)
    assert r.upper == own.upper
    assert e.verdicts[0].badge == "likely"


def test_the_rule_for_a_metric_is_found_only_where_it_was_named(table):
    without = evaluate(table, label="y", score="score", pos_label="good")
    assert "better_rule" not in [f.key for f in without.findings]
    e = evaluate(table, label="y", score="score", metric="f1", pos_label="good")
    found = {f.key: f for f in e.findings}["better_rule"]
    assert found.results["history"].value >= found.results["history"].baseline
    other = np.random.default_rng(0).permutation(len(table)) % 2 == 1
    rows = table.filter(other)
    plain = np.where(rows["score"].to_numpy() >= 0.5, "good", "bad")
    own = as_metric("f1").estimate(rows["y"], plain.tolist(), pos_label="good", rng=0)
    assert found.results["the most probable class"].lower == own.lower


@pytest.mark.parametrize("kind", ["pandas", "arrow", "lazy", "mapping"])
def test_any_frame_gives_the_same_numbers(table, kind):
    data = {
        "pandas": lambda: pd.DataFrame(table.to_dict(as_series=False)),
        "arrow": table.to_arrow,
        "lazy": table.lazy,
        "mapping": lambda: {name: table[name].to_numpy() for name in ("y", "a", "score")},
    }[kind]()
    assert kind != "arrow" or isinstance(data, pa.Table)
    ours = evaluate(table, label="y", pred="a", score="score")
    theirs = evaluate(data, label="y", pred="a", score="score")
    for name, r in ours.findings[0].results.items():
        assert theirs.findings[0].results[name].lower == r.lower


def test_what_the_columns_do_not_answer_is_said(table):
    e = evaluate(table, pred="a", score="score", judge=["judge_0", "judge_1", "judge_2"])
    said = {o.question: o.unlock for o in e.left_out}
    assert "50 labels" in said["How good is a?"]
    assert any("two classes" in unlock for unlock in said.values())
    assert "What was left out?" in [s.question for s in e.sections]
    two = evaluate(table, judge=["judge_0", "judge_1"], label="y", pred="a")
    assert any("at least three judges" in o.unlock for o in two.left_out)


def test_the_report_is_whole_and_plain(table, tmp_path):
    e = evaluate(table, label="y", pred=["a", "b"], score="score", judge="judge_*")
    assert isinstance(e, Evaluation)
    page = e.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert len(page) < 500_000
    assert "http://" not in page.replace("http://www.w3.org", "")
    for verdict in e.verdicts:
        assert verdict.sentence.split(",")[0] in page.replace("&#39;", "'")
    assert len(e.verdicts) <= 5
    json.dumps(e.to_dict())
    assert e.to_markdown().startswith("# ")
    assert "verdict" in e._repr_html_() or e.verdicts[0].sentence[:10] in e._repr_html_()


def test_one_question_that_fails_leaves_the_others(table):
    broken = table.with_columns(score=pl.lit(float("nan")))
    with pytest.warns(KaratWarning, match="a question was left out"):
        e = evaluate(broken, label="y", pred="a", score="score", pos_label="good")
    assert [f.key for f in e.findings] == ["how_good"]
    (fault,) = [o for o in e.left_out if o.faulty]
    assert "y_score row 0 is missing or NaN" in fault.unlock
    # The columns could say it: that is another thing than what nobody can know from them.
    assert "A fault in the data is in the way." in fault.verdict().sentence
    (section,) = [s for s in e.sections if s.question == "What was left out?"]
    assert section.answer.endswith("or a fault to be mended.")
    assert any("Mend this first: y_score row 0" in said for said in section.assumptions)


def test_what_needs_no_positive_class_is_answered_without_one(table):
    e = evaluate(table, label="y", pred="a", score="score")
    assert list(e.findings[0].results) == ["a: accuracy", "a: balanced accuracy"]
    (one,) = e.left_out
    assert one.question == "How good is the ranking where it matters?"
    assert "say which is positive, for example pos_label='bad'" in one.sentence
    assert dict(e.facts)["positive class"].startswith("not known: labels are 'bad' and 'good'")
    (one,) = evaluate(table, label="y", pred="a").left_out
    assert one.question == "Precision, recall and F1?"
    words = table.with_columns(pl.col("y", "a").replace({"bad": "healthy", "good": "cancer"}))
    told = evaluate(words, label="y", pred="a")
    assert dict(told.facts)["positive class"] == "'cancer', by its name"
    named = evaluate(table, label="y", pred="a", pos_label="good")
    for metric in ("precision", "recall", "F1"):
        got = told.findings[0].results[f"a: {metric}"], named.findings[0].results[f"a: {metric}"]
        assert (got[0].value, got[0].lower) == (got[1].value, got[1].lower)


def test_no_role_says_what_the_columns_may_be(table):
    with pytest.raises(ColumnError, match=r"evaluate\(data, label='y', score='score', weak="):
        evaluate(table)
    with pytest.raises(ColumnError, match="name some with label="):
        evaluate({"q": [1, 2]})


def test_bad_data_is_refused_in_words(table):
    with pytest.raises(KaratError, match="int"):
        evaluate(3, pred="a")
    with pytest.raises(EmptyDataError, match="no rows"):
        evaluate(table.head(0), pred="a")
    with pytest.raises(ColumnError, match="did you mean 'score'"):
        evaluate(table, score="scores")


def test_two_models_are_compared_on_the_same_rows(table):
    e = evaluate(table, label="y", pred=["b", "a"])
    tiers = {f.key: f for f in e.findings}["comparison"].results["tiers"]
    own = best_of_many(table.select("b", "a"), table["y"], metric="accuracy", rng=0)
    assert tiers.names == own.names
    assert tiers.pairs[0].lower == own.pairs[0].lower


def test_a_row_per_vote_needs_no_roles(table, tmp_path):
    judges = [f"judge_{j}" for j in range(4)]
    long = table.unpivot(judges, index="id", variable_name="judge", value_name="verdict")
    long = long.rename({"id": "item"})
    wide = evaluate(table, judge=judges, id="id").findings[0].results["error rates"]
    ours = evaluate(long).findings[0].results["error rates"]
    # The seeds of the chains depend on the form of the table.
    assert ours.value == pytest.approx(wide.value, abs=0.005)
    long.write_csv(tmp_path / "votes.csv")
    read = evaluate(tmp_path / "votes.csv")
    assert read.findings[0].results["error rates"].value == pytest.approx(ours.value)
    assert "votes.csv" in read.next_steps[0].command
    assert "karat.scan(" in read.findings[0].code


def test_it_stands_at_the_top():
    assert karat.evaluate is evaluate


def test_gaps_of_two_models_share_the_error_between_them(table):
    e = evaluate(table, label="y", pred=["a", "b"], group="sex", metric="accuracy", rng=0)
    found = {f.key: f for f in e.findings}["groups"]
    for name in ("a", "b"):
        result = found.results[f"{name}: accuracy"]
        own = accuracy.estimate(
            table["y"], table[name], groups=table["sex"], confidence=0.975, rng=0
        )
        assert (result.lower, result.upper) == (own.lower, own.upper)
        assert result.gaps[0].lower == own.gaps[0].lower


def test_gaps_between_groups_are_those_of_the_library(table):
    rng = np.random.default_rng(2)
    worse = table.with_columns(
        a=pl.when((pl.col("sex") == "f") & pl.Series(rng.random(len(table)) < 0.4))
        .then(pl.when(pl.col("y") == "bad").then(pl.lit("good")).otherwise(pl.lit("bad")))
        .otherwise("a")
    )  # fmt: skip
    e = evaluate(worse, label="y", pred="a", group="sex", metric="accuracy", pos_label="good")
    found = {f.key: f for f in e.findings}["groups"]
    own = accuracy.estimate(worse["y"], worse["a"], groups=worse["sex"], pos_label="good", rng=0)
    gap = own.gaps[0]
    assert found.results["a: accuracy"].gaps[0].lower == gap.lower
    assert gap.upper < 0  # women fare worse
    assert f"between {-gap.upper:.3f} and {-gap.lower:.3f}" in found.verdicts[0].sentence
    assert "for m" in found.verdicts[0].sentence
    none = evaluate(table, label="y", pred="a", group="sex", metric="accuracy")
    verdict = {f.key: f for f in none.findings}["groups"].verdicts[0]
    assert verdict.badge == "unknown"
    assert "No gap between groups is shown" in verdict.sentence


def test_judges_with_labels_are_rated_by_them(table):
    e = evaluate(table, judge="judge_*", label="y")
    own = ErrorEstimator(rng=0).fit(table.select("^judge_.*$"), y_true=table["y"]).from_labels_
    best = own.sort("value").row(0, named=True)
    found = {f.key: f for f in e.findings}["judges"]
    said = f"{100 * best['value']:.1f} % (between {100 * best['lower']:.1f}"
    assert found.verdicts[0].sentence.startswith(best["classifier"])
    assert said in found.verdicts[0].sentence
    assert found.table.rows[0][0] == best["classifier"]


def test_commands_to_copy_are_safe_in_a_shell(table, tmp_path):
    odd = table.rename({"a": "my model", "y": "label; rm"}).with_columns(
        pl.when(pl.int_range(pl.len()) < 60).then(pl.col("label; rm")).alias("label; rm")
    )
    odd.write_parquet(tmp_path / "a file.parquet")
    e = evaluate(
        tmp_path / "a file.parquet", label="label; rm", pred="my model", pos_label="good",
        metric="f1",
    )  # fmt: skip
    for command in (e.next_steps[0].command, e.command):
        words = shlex.split(command)
        assert words[0] == "karat"
        assert {"label; rm", "my model", str(tmp_path / "a file.parquet")} <= set(words)
        assert ">" not in command
    assert "Make this page again" in e.to_markdown()


def test_a_metric_in_a_file_keeps_its_name_in_code_and_commands(table, tmp_path):
    path = tmp_path / "costs.json"
    path.write_text(cost_matrix([[0, 1], [5, 0]], ["bad", "good"]).to_json())
    some = table.with_columns(y=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("y")))
    e = evaluate(some, label="y", pred="a", metric=str(path))
    assert f"--metric {path}" in e.next_steps[0].command
    assert f"load_metric('{path}')" in e.findings[0].code.replace('"', "'")
    assert "import load_metric" in e.findings[0].code


def test_the_one_class_that_a_metric_wants_is_no_advice(table):
    e = evaluate(table, label="y", score="score", metric="recall", pos_label="good")
    verdict = {f.key: f for f in e.findings}["better_rule"].verdicts[0]
    assert verdict.badge == "unknown"
    assert "say good always" in verdict.sentence


def test_what_was_not_answered_is_a_verdict_too(table):
    (verdict,) = evaluate(table, pred="a").verdicts
    assert verdict.badge == "unknown"
    assert "50 labels" in verdict.change


def test_columns_of_a_row_per_vote_can_be_named(table):
    judges = [f"judge_{j}" for j in range(4)]
    long = table.unpivot(judges, index="id", variable_name="who", value_name="said")
    long = long.with_columns(prompt=pl.lit("v1"))
    named = {"item": "id", "voter": "who+prompt", "vote": "said"}
    r = evaluate(long, long=named).findings[0].results["error rates"]
    assert set(r.classifiers) == {f"{name}+v1" for name in judges}
    with pytest.raises(OptionError, match=r"long is .*item, voter and vote"):
        evaluate(long, long={"item": "id"})
    with pytest.raises(ColumnError, match="voter is 'whom'"):
        evaluate(long, long={**named, "voter": "whom"})


@pytest.mark.parametrize("name", [
    "deepeval_results.json", "inspect.eval", "labelstudio_handmade.json", "mlflow_traces.json",
    "promptfoo.json",
])  # fmt: skip
def test_every_log_gives_a_report_that_concludes(shared_data, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        e = evaluate(shared_data / "eval_logs" / name)
        rows = karat.scan(shared_data / "eval_logs" / name).columns
    assert e.verdicts
    assert len(e.to_html()) < 500_000
    passes = {f.key: f for f in e.findings}.get("pass_rates")
    if passes is None:
        assert {v.badge for v in e.verdicts} == {"unknown"}
        return
    cast = rows.filter(pl.col("vote").is_not_null())
    share = cast.group_by("model", "domain", "judge").agg(pl.col("vote").mean())["vote"]
    assert sorted(r.value for r in passes.results.values()) == pytest.approx(share.sort().to_list())


def _last_line(code, **names):
    """Run code and return the value of its last expression."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "code", "exec"), names)
    return eval(compile(last, "code", "eval"), names)


def test_the_code_of_every_section_runs_and_gives_its_numbers(table, tmp_path):
    path = tmp_path / "table.parquet"
    binary = table.with_columns((pl.col("y") == "good").cast(int).alias("won"), p=pl.col("score"))
    binary.write_parquet(path)
    e = evaluate(
        path, label="y", pred=["a", "b"], score=["score"], group="sex", metric="f1",
        pos_label="good",
    )  # fmt: skip
    values = {f.key: _last_line(f.code) for f in e.findings}
    results = {f.key: f.results for f in e.findings}
    assert values["how_good"].lower == results["how_good"]["a: F1"].lower
    assert values["comparison"].pairs[0].lower == results["comparison"]["tiers"].pairs[0].lower
    assert values["groups"][0].lower == results["groups"]["a: F1"].gaps[0].lower
    assert values["ranking"].lower == list(results["ranking"].values())[1].lower
    assert values["better_rule"].thresholds == results["better_rule"]["regions"].thresholds
    weak = evaluate(path, pred="a", weak="lf_*")
    assert _last_line(weak.findings[0].code).lower == weak.findings[0].results["a"].lower
    some = table.with_columns(y=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("y")))
    some.write_parquet(tmp_path / "some.parquet")
    both = evaluate(
        tmp_path / "some.parquet", pred=["a", "b"], weak="lf_*", label="y", group="sex",
        metric="f1", pos_label="bad",
    )  # fmt: skip
    good, better = both.findings[:2]
    assert _last_line(good.code).lower_limit == good.results["a"].lower_limit
    assert _last_line(better.code).lower_limit == better.results["a − b"].lower_limit
    prob = evaluate(path, label="won", prob="p")
    assert _last_line(prob.findings[0].code).upper == prob.findings[0].results["canonical"].upper
    long = table.unpivot(["judge_0", "judge_1", "judge_2"], index="id", variable_name="who",
                         value_name="said")  # fmt: skip
    long.write_parquet(tmp_path / "long.parquet")
    votes = evaluate(
        tmp_path / "long.parquet", long={"item": "id", "voter": "who", "vote": "said"}
    ).findings[0]
    frame, status = _last_line(votes.code)
    assert sorted(frame["value"]) == pytest.approx(sorted(votes.results["error rates"].value))
    assert list(status) == ["all"]


def test_the_code_of_a_log_gives_its_numbers(shared_data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        e = evaluate(shared_data / "eval_logs" / "inspect_edited_slim.json")
        passes, judged = e.findings
        first = next(iter(passes.results.values()))
        assert _last_line(passes.code).value == first.value
        frame = _last_line(judged.code)[0]
    assert sorted(frame["value"]) == pytest.approx(sorted(judged.results["error rates"].value))


def test_the_table_holds_what_is_said_and_estimates_alone():
    """All rows before their groups, no rule or course of a search, every value in its limits."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    p = np.clip(0.4 * y + 0.6 * rng.random(200), 0, 1)
    data = {"y": y, "p": p, "m": (p > 0.5) * 1, "g": np.array(["u", "v"])[rng.integers(0, 2, 200)]}
    found = evaluate(data, label="y", pred="m", score="p", metric="f1", group="g")
    table = found.to_frame()
    good = table.filter(table["question"] == "how_good")
    assert good["of"].to_list() == ["", "u", "v"]
    assert found.findings[0].results["m: F1"].value == good["value"][0]
    assert not {"history", "regions"} & set(table["result"])
    assert not table["lower"].is_nan().any()
    trusted = evaluate({"y": y, "prob": p}, label="y", prob="prob")
    joint = trusted.findings[0].results["canonical"]
    row = trusted.to_frame().row(0, named=True)
    assert row["of"] == ""
    assert row["lower"] <= row["value"] <= row["upper"] == joint.upper


def test_nan_is_no_label(tmp_path):
    """A file may say NaN where another has an empty cell."""
    rows = [f"{'NaN' if i >= 90 else i % 2},{(i // 3) % 2}" for i in range(200)]
    (tmp_path / "nan.csv").write_text("\n".join(["y,m", *rows]))
    (tmp_path / "gap.csv").write_text("\n".join(["y,m", *rows]).replace("NaN", ""))
    said, other = (evaluate(tmp_path / f, label="y", pred="m") for f in ("nan.csv", "gap.csv"))
    assert "if the 90 labelled rows of 200 were drawn at random" in said.summary()
    assert said.summary() == other.summary()
    names = {}
    exec(said.findings[0].section().code, names)
    assert names["known"].height == 90


def test_a_backward_ranking_of_some_rows_says_what_it_assumes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    some = [int(label) if i < 150 else None for i, label in enumerate(y)]
    found = evaluate({"y": some, "p": -y + rng.random(200)}, label="y", score="p")
    said = found.verdicts[0].sentence
    assert "it ranks backwards" in said
    assert "if the 150 labelled rows of 200 were drawn at random" in said


def test_a_warning_of_limits_names_its_score_and_its_area():
    """Two scores have two areas each: a warning of one says which, and points at the caller."""
    y = np.arange(20) % 2
    frame = {"y": y, "near": 20 * y + np.arange(20), "far": np.arange(20) % 7}
    with pytest.warns(SmallSampleWarning) as caught:
        found = evaluate(frame, label="y", score=["near", "far"])
    areas = [(k, r) for k, r in found.findings[0].results.items() if k != "comparison"]
    useless = [k.replace(": ", ", ") for k, r in areas if r.upper - r.lower > 1 - 1e-9]
    assert useless == ["near, mean TPR where FPR ≤ 0.1"]
    said = [str(w.message).partition(": the limits exclude nothing")[0] for w in caught]
    assert said == useless
    assert {w.filename for w in caught} == {__file__}
