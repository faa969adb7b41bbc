"""``karat auc`` on files."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from karat.ranking import (
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    precision_at,
    recall_at,
    weighted_auc,
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    frame = pl.DataFrame(
        {
            "truth": np.where(y, "sick", "well"),
            "score_a": rng.normal(size=4000) + 2 * y,
            "score_b": np.round(rng.normal(size=4000) + y, 1),
            "site": rng.choice(["north", "south"], 4000),
            "seen": rng.integers(0, 4, 4000),
        }
    )
    path = tmp_path_factory.mktemp("auc") / "scores.parquet"
    frame.write_parquet(path)
    return path, frame, y


@pytest.fixture
def answer(karat):
    def run(*arguments):
        ran = karat("auc", *arguments, "--json")
        assert ran.code == 0, ran.err
        return ran.data["results"]

    return run


def test_each_column_of_scores_is_measured(table, answer):
    path, frame, y = table
    found = answer(path, "--label", "truth", "--pos-label", "sick")
    for name in ("score_a", "score_b"):
        area = found[name]
        assert area["value"] == pytest.approx(roc_auc_score(y, frame[name].to_numpy()), abs=1e-12)
        assert area["lower"] < area["value"] < area["upper"]


def test_bands_and_scales_are_passed_on(table, answer):
    path, frame, y = table
    options = ("--label", "truth", "--pos-label", "sick", "--score", "score_b")
    found = answer(path, *options, "--fpr", "0,0.1", "--normalize", "mcclish")["score_b"]
    wanted = roc_auc_score(y, frame["score_b"].to_numpy(), max_fpr=0.1)
    assert found["value"] == pytest.approx(wanted, abs=1e-12)
    both = answer(path, *options, "--fpr", "0:0.3", "--tpr", "0.5,1")["score_b"]
    assert both["weight"]["kind"] == "TwoWayBand"
    assert answer(path, *options, "--tpr", "0.5,1")["score_b"]["weight"]["kind"] == "TprBand"


def test_weights_are_those_of_the_library(table, answer, karat):
    path, frame, y = table
    a, seen = frame["score_a"].to_numpy(), frame["seen"].to_numpy()
    options = (path, "--label", "truth", "--pos-label", "sick", "--weight", "seen")
    found = answer(*options)["score_a"]
    assert found["value"] == pytest.approx(roc_auc_score(y, a, sample_weight=seen), abs=1e-12)
    assert found["approximate"]
    counted = answer(*options, "--weighting", "frequency")["score_a"]
    repeated = weighted_auc(np.repeat(y, seen), np.repeat(a, seen))
    ends = [counted[key] for key in ("value", "lower", "upper")]
    assert ends == pytest.approx([repeated.value, repeated.lower, repeated.upper], abs=1e-12)
    assert not counted["approximate"]
    cut = ("--measure", "average-precision", "--score", "score_a")
    precise = average_precision(y, a, sample_weight=seen).value
    assert answer(*options, *cut)["score_a"]["value"] == pytest.approx(precise, abs=1e-12)


def test_differences_are_weighted_too(table, karat):
    path, frame, _ = table
    ran = karat("auc", path, "--label", "truth", "--weight", "seen", "--json")
    scores = frame.select("score_a", "score_b")
    own = compare_rankings(frame["truth"], scores, sample_weight=frame["seen"]).differences[0]
    assert ran.data["differences"]["pairs"][0]["value"] == pytest.approx(own.value, abs=1e-12)
    assert (
        "(approximate, rows are weighted; by 'hinge', since"
        in karat("auc", path, "--label", "truth", "--weight", "seen").out
    )


def test_weights_that_cannot_be_heeded_are_refused(table, tmp_path, karat):
    path, frame, _ = table
    options = ("auc", path, "--label", "truth", "--score", "score_a")
    stopped = karat(*options, "--weight", "seen", "--stream")
    assert (stopped.code, "no --weight: karat count" in stopped.err) == (2, True)
    assert "expected --weight with it" in karat(*options, "--weighting", "frequency").err
    odd = karat(*options, "--weight", "seen", "--weighting", "freq")
    assert "--weighting is 'freq'; expected 'frequency' or 'importance'\n" in odd.err
    assert "--weight sen: there is no such column" in karat(*options, "--weight", "sen").err
    frame.with_columns(seen=pl.Series([-1.0] + [1.5] * 3999)).write_csv(tmp_path / "odd.csv")
    odd = ("auc", tmp_path / "odd.csv", "--label", "truth", "--score", "score_a")
    assert "--weight seen" in karat(*odd, "--weight", "seen").err
    counts = tmp_path / "counts.parquet"
    assert karat("count", path, "--label", "truth", "--score", "score_b", "-o", counts).code == 0
    assert "--weight does not go with a file of counts" in karat("auc", counts, "--weight", "x").err


def test_streaming_gives_the_same_within_what_it_says(table, answer):
    options = (table[0], "--label", "truth", "--pos-label", "sick", "--score", "score_a")
    streamed, read = answer(*options, "--stream")["score_a"], answer(*options)["score_a"]
    low, high = streamed["value_range"]
    assert low <= read["value"] <= high
    assert high - low < 1e-3
    assert streamed["lower"] <= read["lower"] < read["upper"] <= streamed["upper"]


def test_a_score_may_have_any_name(table, tmp_path, karat):
    """Columns that are called like the keys of the JSON lose nothing."""
    names = {"score_a": "differences", "score_b": "warnings"}
    table[1].rename(names).write_parquet(tmp_path / "t.parquet")
    scores = [part for name in names.values() for part in ("--score", name)]
    ran = karat("auc", tmp_path / "t.parquet", "--label", "truth", *scores, "--json")
    assert set(ran.data) == {"notes", "results", "differences", "warnings"}
    assert set(ran.data["results"]) == set(names.values())
    pair = ran.data["differences"]["pairs"][0]
    assert {pair["first"], pair["second"]} == set(names.values())
    assert ran.data["warnings"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--limits", "bootstrap"), "differences need --limits auto or delong"),
        (("--stream",), "differences need --limits auto or delong without --stream"),
    ],
)
def test_it_is_said_why_there_are_no_differences(table, karat, options, said):
    scores = ("--score", "score_a", "--score", "score_b")
    ran = karat("auc", table[0], "--label", "truth", *scores, *options, "--json")
    assert ran.err == f"warning: {said}\n"
    assert ran.data["warnings"] == [said]


def test_the_bootstrap_is_repeatable(table, answer):
    options = ("--label", "truth", "--score", "score_a", "--limits", "bootstrap")
    assert answer(table[0], *options) == answer(table[0], *options)


@pytest.mark.parametrize("labels", [["0", "1"], [0, 1], [0.0, 1.0], [False, True]])
def test_streaming_reads_the_positive_label_in_the_type_of_its_column(tmp_path, karat, labels):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    path = tmp_path / "t.parquet"
    columns = {"y": [labels[i] for i in y], "s": rng.normal(size=500) + y}
    pl.DataFrame(columns).write_parquet(path)
    options = ("--label", "y", "--score", "s", "--pos-label", str(labels[0]))
    found = {}
    for stream in ((), ("--stream",)):
        ran = karat("auc", path, *options, *stream, "--json")
        assert ran.code == 0, ran.err
        found[stream] = ran.data["results"]["s"]["value"]
        wrong = karat("auc", path, *options[:-1], "maybe", *stream)
        assert wrong.code == 2
        assert "--pos-label is 'maybe'; expected one of the labels" in wrong.err
    assert found[()] < 0.5
    assert found[("--stream",)] == pytest.approx(found[()], abs=1e-3)


def test_a_page_and_groups(table, tmp_path, karat):
    path, _, _ = table
    page = tmp_path / "page.html"
    ran = karat(
        "auc", path, "--label", "truth", "--group", "site", "--limits", "delong",
        "--output", page,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "north" in ran.out
    assert "paired p" in ran.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "compare_rankings(" in text


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--label", "truth", "--fpr", "0.2,0.1"), 2, "is empty"),
        (("--label", "truth", "--fpr", "ten"), 2, "expected two rates such as 0,0.1"),
        (
            ("--label", "truth", "--score", "score_a", "--score", "score_a"),
            2,
            "--score is 'score_a' twice; expected every column once",
        ),
        (("--label", "nothing"), 3, "there is no such column"),
        (("--label", "truth", "--stream"), 2, "expected --score with it"),
        (
            ("--label", "truth", "--limits", "magic"),
            2,
            "limits is 'magic'; expected 'auto'",
        ),
        (("--label", "site", "--score", "truth"), 3, "expected numbers"),
        (("--label", "truth", "--confidence", "95"), 2, "confidence is 95"),
        (("--label", "truth", "--pos-label", "ill"), 2, "expected one of the labels sick, well"),
    ],
)
def test_bad_usage_is_said(table, karat, options, code, said):
    ran = karat("auc", table[0], *options)
    assert ran.code == code
    assert said in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("options", "function", "cut"),
    [
        (("average-precision",), average_precision, {}),
        (("precision", "--k", "200"), precision_at, {"k": 200}),
        (("recall", "--share", "0.2"), recall_at, {"share": 0.2}),
        (("recall", "--threshold", "0.5"), recall_at, {"threshold": 0.5}),
        (("lift", "--share", "0.1"), lift, {"share": 0.1}),
        (("cost", "--at", "0.3"), cost_curve, {"at": 0.3}),
        (("cost",), cost_curve, {}),
    ],
)
def test_other_measures(table, answer, options, function, cut):
    path, frame, _ = table
    found = answer(path, "--label", "truth", "--pos-label", "sick", "--measure", *options)
    for name in ("score_a", "score_b"):
        wanted = function(frame["truth"], frame[name], pos_label="sick", **cut)
        assert found[name]["value"] == wanted.value
        assert (found[name]["lower"], found[name]["upper"]) == (wanted.lower, wanted.upper)
        assert found[name]["measure"] == wanted.measure


@pytest.mark.parametrize(
    "measure", [("average-precision",), ("recall", "--share", "0.2"), ("lift", "--k", "300")]
)
def test_measures_are_answered_from_counts(table, tmp_path, karat, answer, measure):
    """As areas are; the areas of cells alone can be streamed."""
    path, _, _ = table
    options = ("--pos-label", "sick", "--label", "truth", "--score", "score_b")
    counts = tmp_path / "counts.parquet"
    assert karat("count", path, *options, "-o", counts).code == 0
    wanted = answer(path, *options, "--measure", *measure)["score_b"]
    counted = answer(counts, "--measure", *measure)["score_b"]
    assert counted["value"] == pytest.approx(wanted["value"], abs=1e-9)


def test_net_benefit_and_its_page(tmp_path, karat):
    rng = np.random.default_rng(0)
    p = rng.random(600)
    columns = {
        "y": (rng.random(600) < p).astype(int), "prob_a": p, "prob_b": np.clip(p + 0.1, 0, 1),
        "site": rng.choice(["north", "south"], 600),
    }  # fmt: skip
    path, page = tmp_path / "t.parquet", tmp_path / "page.html"
    pl.DataFrame(columns).write_parquet(path)
    ran = karat(
        "auc", path, "--label", "y", "--measure", "net-benefit", "--threshold", "0.3", "--group",
        "site", "--output", page,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "over acting on all" in ran.out
    assert "north" in ran.out
    assert "prob_a less prob_b" in ran.out or "prob_b less prob_a" in ran.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "compare_rankings(" in text
    assert "net_benefit(" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--measure", "f1"), "--measure is 'f1'; expected 'area', 'average-precision'"),
        (("--measure", "precision"), "expected --k or --share or --threshold with it"),
        (("--measure", "lift", "--threshold", "1"), "--threshold does not go with --measure lift"),
        (("--k", "5"), "--k does not go with --measure area"),
        (("--measure", "cost", "--fpr", "0,0.1"), "--fpr does not go with --measure cost"),
        (
            ("--measure", "recall", "--share", "0.1", "--stream"),
            "--stream does not go with --measure recall",
        ),
        (("--measure", "precision", "--k", "9999"), "k is 9,999 and there are 4,000 rows"),
        (("--measure", "cost", "--at", "1"), "at is 1"),
    ],
)
def test_flags_that_do_not_go_together(table, karat, options, said):
    ran = karat("auc", table[0], "--label", "truth", *options)
    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""


def test_rows_without_a_label_are_left_out_and_it_says_so(tmp_path, karat):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    score = rng.normal(size=200) + y
    frame = pl.DataFrame({"y": y, "score": score})
    some = frame.with_columns(pl.when(pl.int_range(200) < 80).then(pl.col("y")).alias("y"))
    some.write_csv(tmp_path / "some.csv")
    frame.head(80).write_csv(tmp_path / "labelled.csv")
    for extra in ((), ("--measure", "average-precision")):
        ran = karat("auc", tmp_path / "some.csv", "--label", "y", *extra, "--json")
        assert ran.code == 0, ran.err
        assert "120 of 200 rows have no label in y" in ran.data["warnings"][0]
        own = karat("auc", tmp_path / "labelled.csv", "--label", "y", *extra, "--json")
        assert ran.data["results"] == own.data["results"]
    some.with_columns(y=pl.lit(None)).write_csv(tmp_path / "none.csv")
    ran = karat("auc", tmp_path / "none.csv", "--label", "y")
    assert (ran.code, "no row has a label" in ran.err) == (3, True)
