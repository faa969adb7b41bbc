"""``karat bounds`` on files."""

import numpy as np
import polars as pl
import pytest

from karat.bounds import performance_bounds
from karat.metrics import cost_matrix
from karat.weak import DetectorLabelModel


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    n = 1500
    y = rng.integers(0, 2, n)
    names = np.array(["ham", "spam"])
    columns = {"truth": names[y], "pred_a": names[np.where(rng.random(n) < 0.9, y, 1 - y)]}
    columns["other"] = names[np.where(rng.random(n) < 0.7, y, 1 - y)]
    for j in range(5):
        vote = names[np.where(rng.random(n) < 0.8, y, 1 - y)].astype(object)
        columns[f"lf_{j}"] = np.where(rng.random(n) < 0.2, None, vote)
    columns["site"] = rng.choice(["north", "south"], n)
    frame = pl.DataFrame(columns)
    frame.write_parquet(tmp_path / "items.parquet")
    frame.write_csv(tmp_path / "items.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["items.parquet", "items.csv"])
def test_guessed_columns(table, karat, name):
    ran = karat("bounds", table / name)
    assert ran.code == 0
    assert "predictions: pred_a; weak labels: lf_0, lf_1, lf_2, lf_3, lf_4" in ran.out
    assert "Accuracy is between" in ran.out


def test_columns_by_patterns(table, karat):
    plain = karat("bounds", table / "items.csv", "--json").data["results"]["pred_a"]
    ran = karat("bounds", table / "items.csv", "--pred", "pred_?", "--weak", "lf_*", "--json")
    assert ran.data["results"] == {"pred_a": plain}
    some = karat("bounds", table / "items.csv", "--weak", "lf_4", "--weak", "lf_[0-2]")
    assert "weak labels: lf_4, lf_0, lf_1, lf_2" in some.out


def test_a_pattern_takes_no_column_of_another_flag(table, karat):
    options = ("--label", "truth", "--pred", "pred_a", "--pred", "other", "--group", "site")
    ran = karat("bounds", table / "items.csv", *options, "--weak", "*")
    assert "weak labels: lf_0, lf_1, lf_2, lf_3, lf_4\n" in ran.out
    ran = karat("bounds", table / "items.csv", "--weak", "rule_*")
    assert ran.code == 3
    assert "--weak rule_*: no column matches" in ran.err


def test_json_is_nothing_but_json_and_covers(table, karat):
    ran = karat(
        "bounds", table / "items.parquet", "--pred", "pred_a", "--pred", "other",
        "--metric", "f1", "--group", "site", "--label", "truth", "--json",
    )  # fmt: skip
    assert ran.code == 0
    assert set(ran.data) == {"notes", "results", "differences", "warnings"}
    found = ran.data["results"]
    assert set(found) == {"pred_a", "other"}
    (lead,) = ran.data["differences"]
    assert (lead["first"], lead["second"]) == ("pred_a", "other")
    assert lead["lower_limit"] <= lead["truth"] <= lead["upper_limit"]
    for b in (found["pred_a"], found["other"]):
        assert b["lower_limit"] <= b["truth"] <= b["upper_limit"]
        assert set(b["groups"]) == {"north", "south"}


def test_labels_are_compared_with_the_bounds_in_the_text(table, karat):
    # The labelers of this table are independent given the truth, as Dawid and Skene assume.
    options = (
        table / "items.csv", "--label", "truth", "--group", "site", "--label-model", "dawid-skene"
    )  # fmt: skip
    truth = karat("bounds", *options, "--json").data["results"]["pred_a"]
    out = karat("bounds", *options).out
    assert f"accuracy with the true labels: {truth['truth']:.4f}" in out
    north = truth["groups"]["north"]["truth"]
    assert f"north: accuracy with the true labels: {north:.4f}" in out
    check = truth["check"]
    assert check["status"] == "undecided"
    assert f"{check['gold_n']} true labels fit the label model" in " ".join(out.split())


def test_flags_reach_the_library(table, karat):
    frame = pl.read_csv(table / "items.csv")
    votes = frame.select("^lf_.*$")
    wanted = performance_bounds(
        frame["pred_a"], votes, DetectorLabelModel().fit(votes), metric="f1", pos_label="ham",
        confidence=0.8, rng=0,
    )  # fmt: skip
    ran = karat(
        "bounds", table / "items.csv", "--metric", "f1", "--pos-label", "ham", "--confidence", 0.8,
        "--json",
    )  # fmt: skip
    assert ran.data["results"]["pred_a"]["lower_limit"] == pytest.approx(wanted.lower_limit)
    assert ran.data["results"]["pred_a"]["upper"] == pytest.approx(wanted.upper)


def test_an_empty_cell_was_not_asked_unless_it_abstains(table, karat):
    """As in Python: null is not asked; files of labeling functions say ``--null abstain``."""
    frame = pl.read_csv(table / "items.csv")
    frame.with_columns(pl.col("^lf_.*$").fill_null("-1")).write_csv(table / "written.csv")
    found = {}
    for name in ("items.csv", "written.csv"):
        found[name] = karat("bounds", table / name, "--json").data["results"]["pred_a"]["lower"]
    for null in ("abstain", "not-asked"):
        page = table / "page.html"
        ran = karat("bounds", table / "items.csv", "--null", null, "--json", "--output", page)
        found[null] = ran.data["results"]["pred_a"]["lower"]
        shown = "null='abstain'" in page.read_text().replace("&#39;", "'")
        assert shown == (null == "abstain")
    assert found["items.csv"] == found["not-asked"]
    assert found["written.csv"] == found["abstain"] != found["not-asked"]
    votes = frame.select("^lf_.*$")
    wanted = performance_bounds(
        frame["pred_a"], votes, DetectorLabelModel().fit(votes), metric="accuracy", rng=0
    )
    assert found["items.csv"] == pytest.approx(wanted.lower)
    ran = karat("bounds", table / "items.csv", "--null", "gone")
    assert (ran.code, ran.out) == (2, "")
    assert "--null is 'gone'; expected 'not-asked' or 'abstain'" in ran.err


def test_report_metric_file_and_other_models(table, karat):
    metric, page = table / "costs.json", table / "report.html"
    metric.write_text(cost_matrix([[0, 1], [6, 0]]).to_json())
    for model in ("majority", "triplet"):
        ran = karat(
            "bounds", table / "items.csv", "--metric", metric, "--label-model", model,
            "--robustness", "0.02", "--output", page,
        )  # fmt: skip
        assert ran.code == 0
        assert "How good is pred_a?" in page.read_text()
        assert "<svg" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.csv"], 3, "there is no file"),
        (["items.txt"], 3, "expected one of"),
        (["items.csv", "--pred", "pred_b"], 3, "did you mean 'pred_a'?"),
        (["items.csv", "--weak", "nothing"], 3, "there is no such column; there are"),
        (["items.csv", "--metric", "best"], 2, "metric is 'best'"),
        (["items.csv", "--metric", "best.json"], 2, "a .json file that exists"),
        (["items.csv", "--label-model", "gpt"], 2, "'majority' or 'triplet'"),
        (["items.csv", "--class-prior", "0.5"], 2, "a probability for each of the labels"),
        (["items.csv", "--class-prior", "1=0.5,2=0.5"], 2, "--class-prior is '1=0.5,2=0.5'"),
        (["items.csv", "--class-prior", "ham=1,spam=0"], 3, "could never be true"),
        (["items.csv", "--weak", "lf_0"], 3, "needs two or more"),
        (["items.csv", "--robustness", "2"], 2, "robustness is 2"),
        (["items.csv", "--confidence", "1"], 2, "confidence is 1"),
    ],
)
def test_what_is_wrong_is_said(table, karat, arguments, code, message):
    ran = karat("bounds", table / arguments[0], *arguments[1:])
    assert ran.code == code
    assert message in ran.err
    assert ran.out == ""


def test_a_file_without_such_columns(table, karat):
    pl.DataFrame({"x": [1]}).write_csv(table / "x.csv")
    assert "--pred: name at least one column" in karat("bounds", table / "x.csv").err


def test_two_models_are_compared(table, karat, tmp_path):
    frame = pl.read_parquet(table / "items.parquet")
    known = pl.when(pl.int_range(1500) < 60).then(pl.col("truth")).otherwise(None)
    frame.with_columns(gold=known).write_parquet(table / "some.parquet")
    page = tmp_path / "page.html"
    both = ("--pred", "pred_a", "--pred", "other")
    without = karat("bounds", table / "items.parquet", *both, "--output", page)
    assert "pred_a or other?" in without.out
    assert "They disagree on" in " ".join(without.out.split()) or "Decided" in without.out
    said = page.read_text()
    assert "Which model is better?" in said
    assert "Is pred_a better than other?" in said
    assert said.count("<svg") >= 4
    ran = karat("bounds", table / "some.parquet", *both, "--label", "gold", "--json")
    b = ran.data["results"]["pred_a"]
    assert b["gold"]["n"] == 60
    assert (b["lower_limit"], b["upper_limit"]) == (b["gold"]["lower"], b["gold"]["upper"])
    (d,) = ran.data["differences"]
    assert d["gold"]["n"] == 60
    assert d["what_decides"]
    text = " ".join(karat("bounds", table / "some.parquet", *both, "--label", "gold").out.split())
    assert "from 60 true labels" in text


def test_without_labels_the_text_opens_with_what_is_not_known(table, karat):
    out = " ".join(karat("bounds", table / "items.csv").out.split())
    assert "pred_a: Not validated: no true label has tested the label model" in out
