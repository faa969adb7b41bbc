"""A file of counts answers every command that its counts allow, with the numbers of the rows."""

import numpy as np
import polars as pl
import pytest

from karat.calibration import marginal_calibration_error
from karat.elicit import BinarySpace
from karat.sources import Counts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ENDS = ("value", "lower", "upper")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with rows and with their counts: all of them, and those of one model."""
    folder = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(0)
    n = 2000
    y = rng.integers(0, 2, n)
    p = (1 / (1 + np.exp(-rng.normal(2 * y - 1)))).round(2)
    margin = rng.normal(y).round(2)
    votes = np.where(rng.random((n, 3)) < [0.1, 0.2, 0.3], 1 - y[:, None], y[:, None])
    words = np.array(["ham", "spam"])
    table = pl.DataFrame(
        {
            "y": words[y],
            "pred": words[(p > 0.55).astype(int)],
            "pred_b": words[(margin > 0.7).astype(int)],
            "p": p,
            "margin": margin,
            "group": words[rng.integers(0, 2, n)],
            **{f"lf_{j}": words[votes[:, j]] for j in range(3)},
        }
    )
    table.write_parquet(folder / "rows.parquet")
    return folder


@pytest.fixture
def count(karat, folder):
    """Return a function that counts the rows by some flags, once."""

    def made(name, *flags):
        path = folder / f"{name}.parquet"
        if not path.exists():
            ran = karat("count", folder / "rows.parquet", "-o", path, "--label", "y", *flags)
            assert ran.code == 0, ran.err
        return path

    return made


@pytest.fixture
def models(count):
    return count(
        "models", *["--pred", "pred", "--pred", "pred_b", "--score", "p", "--score", "margin"]
    )


@pytest.fixture
def one(count):
    return count("one", "--pred", "pred", "--score", "p")


def same(counted, whole):
    for end in ENDS:
        assert counted[end] == pytest.approx(whole[end], abs=1e-12), end


def test_scores_from_counts_are_those_of_the_rows(karat, folder, models):
    flags = ("--metric", "accuracy,f1,mcc", "--pos-label", "spam", "--json")
    counted = karat("score", models, *flags)
    whole = karat("score", folder / "rows.parquet", "--label", "y", "--pred", "pred,pred_b", *flags)
    for name in ("pred", "pred_b"):
        for metric in ("accuracy", "f1", "mcc"):
            same(counted.data["results"][name][metric], whole.data["results"][name][metric])
    assert counted.data["comparisons"] == {}
    assert "models are not compared: that takes counts of two models together" in counted.err


def test_scores_by_group_from_counts(karat, folder, count):
    grouped = count("grouped", "--pred", "pred", "--group", "group")
    counted = karat("score", grouped, "--json").data["results"]["pred"]["accuracy"]
    flags = ("--label", "y", "--pred", "pred", "--group", "group", "--json")
    whole = karat("score", folder / "rows.parquet", *flags).data["results"]["pred"]["accuracy"]
    same(counted, whole)
    for name in ("ham", "spam"):
        same(counted["groups"][name], whole["groups"][name])


def test_counts_of_one_model_are_chosen_by_name(karat, models):
    ran = karat("score", models, "--pred", "pred_b", "--json")
    assert (list(ran.data["results"]), ran.err) == (["pred_b"], "")


def test_a_page_of_scores_runs(karat, one, tmp_path, executed_page):
    ran = karat("score", one, "--metric", "f1", "--json", "-o", tmp_path / "p.html")
    again = executed_page(tmp_path / "p.html")
    assert again.value == ran.data["results"]["pred"]["f1"]["value"]


@pytest.mark.parametrize(("least", "code"), [("0.6", 0), ("0.9", 4), ("0.82", 5)])
def test_a_gate_from_counts(karat, one, least, code, tmp_path, executed_page):
    ran = karat("gate", one, "--at-least", least, "--json", "-o", tmp_path / "p.html")
    found = ran.data["gate"]
    assert (ran.code, found["exit_code"], found["every_look"]) == (code, code, False)
    assert executed_page(tmp_path / "p.html").lower == found["lower"]


def test_a_gate_from_counts_has_the_limits_of_a_score(karat, one):
    gated = karat("gate", one, "--at-least", "0.6", "--metric", "mcc", "--json").data["gate"]
    scored = karat("score", one, "--metric", "mcc", "--json").data["results"]["pred"]["mcc"]
    same(gated, scored)
    assert gated["basis"] == scored["basis"]


def test_an_open_gate_foretells_its_labels(karat, one):
    found = karat("gate", one, "--at-least", "0.82", "--json").data["gate"]
    far, gap = abs(found["value"] - found["upper"]), abs(found["value"] - 0.82)
    if found["value"] > 0.82:
        far = found["value"] - found["lower"]
    assert found["more"] == pytest.approx(2000 * ((far / gap) ** 2 - 1), abs=1)


def test_a_gate_from_counts_counts_as_the_rows(karat, folder, one):
    rows = folder / "rows.parquet"
    counted = karat("gate", one, "--at-least", "0.6")
    whole = karat("gate", rows, "--label", "y", "--pred", "pred", "--at-least", "0.6")
    assert counted.out.partition(", between")[0] == whole.out.partition(", between")[0]
    assert ("at one look" in counted.out, "however often" in whole.out) == (True, True)


def test_marginal_calibration_from_counts(karat, folder, models, tmp_path, executed_page):
    ran = karat("calibration", models, "--json", "-o", tmp_path / "p.html")
    assert list(ran.data["marginal"]) == ["p"], "margins are no probabilities"
    rows = pl.read_parquet(folder / "rows.parquet")
    whole = marginal_calibration_error((rows["y"] == "spam").cast(int), rows["p"])
    assert ran.data["marginal"]["p"]["debiased"] == pytest.approx(whole.debiased, abs=1e-12)
    assert executed_page(tmp_path / "p.html").debiased == ran.data["marginal"]["p"]["debiased"]
    assert "need the rows" in karat("calibration", models).out


def test_questions_from_counts_are_those_of_the_rows(karat, folder, one):
    asked = []
    for call in ([one], [folder / "rows.parquet", "--label", "y"]):
        ran = karat(
            "elicit", *call, "--score", "p", "--no-smooth", "--max-queries", "1", typed=["1", "q"]
        )
        assert ran.code == 0, ran.err
        asked.append(ran.out.split("is shown")[0].split("of 1,000 cases")[1][:600])
    assert asked[0] == asked[1]
    rows = pl.read_parquet(folder / "rows.parquet")
    whole = BinarySpace.from_scores(rows["y"], rows["p"])
    counted = BinarySpace.from_counts(Counts.load(one).roc["p"])
    assert counted.classes.tolist() == whole.classes.tolist()


def test_an_evaluation_from_counts_is_that_of_the_rows(karat, folder, models, tmp_path):
    flags = ("--metric", "f1", "--json")
    page = tmp_path / "p.html"
    counted = karat("evaluate", models, *flags, "-o", page, "--markdown", tmp_path / "p.md")
    asked = ("--label", "y", "--pred", "pred,pred_b", "--score", "p,margin")
    whole = karat("evaluate", folder / "rows.parquet", *asked, *flags)
    for question in ("how_good", "ranking"):
        for name, found in counted.data["results"][question].items():
            same(found, whole.data["results"][question][name])
    assert set(counted.data["results"]) == {"how_good", "ranking"}
    left = " ".join(one["unlock"] for one in counted.data["left_out"])
    assert "counts hold no rows of two models together" in left
    assert "Counts.load(" in page.read_text()
    assert "F1" in (tmp_path / "p.md").read_text()


def test_an_evaluation_of_one_column(karat, models):
    ran = karat("evaluate", models, "--pred", "pred_b", "--pos-label", "ham", "--json")
    assert ran.data["roles"]["pred"] == ["pred_b"]
    assert dict(ran.data["facts"])["positive class"] == "'ham'"
    assert list(ran.data["results"]) == ["how_good"]


WRONG = {
    "evaluate": (["evaluate", "--pred", "no"], 3, "'no', which was not counted; there are"),
    "evaluate flags": (["evaluate", "--group", "g"], 2, "--group does not go with a file of"),
    "evaluate score": (["evaluate", "--pos-label", "ham"], 2, "which the scores p were counted"),
    "label of scores": (["score", "--label", "y"], 2, "--label does not go with a file of counts"),
    "group": (["score", "--group", "group"], 2, "--group does not go with a file of counts"),
    "cluster": (["score", "--cluster", "g"], 2, "--cluster does not go with a file of counts"),
    "unknown model": (["score", "--pred", "no"], 3, "--pred no: models.parquet holds no such"),
    "two models": (["gate", "--at-least", "0.5"], 2, "expected one of pred, pred_b"),
    "no such class": (["score", "--pos-label", "eggs"], 2, "one of the labels ham, spam"),
    "method": (["calibration", "--method", "trees"], 2, "--method does not go with a file of"),
    "margins": (["calibration", "--prob", "margin"], 3, "expected probabilities between 0 and 1"),
    "two scores": (["elicit"], 2, "--score is None; expected one of p, margin"),
    "space": (["elicit", "--family", "quadratic", "--score", "p"], 2, "which needs the rows"),
    "optimize": (["optimize"], 3, "do not keep apart the rows that a rule is found with"),
    "audit": (["audit", "--pred", "pred"], 3, "karat evaluate, score, gate, auc, calibration"),
}


@pytest.mark.parametrize(("call", "code", "said"), WRONG.values(), ids=WRONG)
def test_what_files_of_counts_refuse(karat, models, call, code, said):
    ran = karat(call[0], models, *call[1:])
    assert (ran.code, said in ran.err) == (code, True), ran.err


@pytest.mark.parametrize("command", ["score", "elicit", "optimize"])
def test_rows_need_a_label(karat, folder, command):
    ran = karat(command, folder / "rows.parquet")
    assert (ran.code, "--label is missing; expected the column of true" in ran.err) == (2, True)
