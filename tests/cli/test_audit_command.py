"""``karat audit``, ``karat gate`` and ``karat score`` as a new user calls them."""

import gzip
import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat._files import unescape_cell
from karat.audit import gate
from karat.metrics import as_metric

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


@pytest.fixture
def mails(tmp_path, monkeypatch):
    """A file of predictions without labels, and the truth that a person knows."""
    rng = np.random.default_rng(2)
    p = rng.beta(0.4, 2, 1500)
    truth = np.where(rng.random(1500) < p, "spam", "ham")
    called = np.where(p > 0.35, "spam", "ham")
    frame = pl.DataFrame(
        {
            "mail": [f"text {i}" for i in range(1500)],
            "model": called,
            "p_spam": p,
            "other": np.where(p > 0.6, "spam", "ham"),
            "site": np.where(np.arange(1500) % 2, "north", "south"),
        }
    )
    frame.write_csv(tmp_path / "mails.csv")
    some = [t if i < 300 else None for i, t in enumerate(truth)]
    frame.with_columns(truth=pl.Series(some)).write_csv(tmp_path / "labelled.csv")
    monkeypatch.chdir(tmp_path)
    return truth


def fill(truth, n, path="todo.csv"):
    todo = pl.read_csv(path)
    labels = [truth[item] if at < n else None for at, item in enumerate(todo["item"])]
    todo.with_columns(label=pl.Series(labels, dtype=pl.String)).write_csv(path)


def commands(karat, name):
    """The commands that the help of a command shows, as they stand there."""
    text = " ".join(karat(name, "--help").out.split())
    found = re.findall(rf"karat {name} .*?(?= (?:Fill|Each|The exit|Rows without))", text)
    assert found
    return [shlex.split(line)[1:] for line in found]


START = ("audit", "mails.csv", "--pred", "model", "--prob", "p_spam", "--metric", "f1",
         "--todo", "todo.csv")  # fmt: skip


def test_the_story_from_the_help_alone(mails, karat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    start, go_on = commands(karat, "audit")
    ran = karat(*start)
    assert ran.code == 0, ran.err
    assert "random labels, or about" in ran.out
    assert "todo.csv: 50 items to label" in ran.out
    todo = pl.read_csv("todo.csv")
    assert todo.columns == ["item", "label", "mail"], "what was asked for, and no system's word"
    fill(mails, 50)
    ran = karat(*go_on)
    assert ran.code == 0, ran.err
    assert "todo.csv: 50 new labels of 50 items" in ran.out
    assert "20 more labels would narrow the limits" in ran.out
    limits = re.search(r"between ([\d.]+) and ([\d.]+) at 95 %", ran.out)
    truth = np.mean(mails == pl.read_csv("mails.csv")["model"].to_numpy())
    assert "accuracy of these 1,500 items" in ran.out
    assert float(limits[1]) <= truth <= float(limits[2])
    assert len(pl.read_csv("todo.csv")) == 50
    assert "label" in pl.read_csv("todo.csv").columns


def test_a_half_filled_list_and_the_same_labels_again(mails, karat):
    karat(*START)
    fill(mails, 20)
    first = karat("audit", "mails.csv", "--labels", "todo.csv", "--json").data
    again = karat("audit", "mails.csv", "--labels", "todo.csv", "--json").data
    assert first["result"]["n_labels"] == 20
    assert again["result"] == first["result"]
    assert len(again["waiting"]) == 30


def test_labels_that_were_not_read_are_never_overwritten(mails, karat):
    karat(*START)
    fill(mails, 5)
    ran = karat("audit", "mails.csv", "--todo", "todo.csv")
    assert ran.code == 3
    assert "holds 5 labels that were not read yet" in ran.err
    assert pl.read_csv("todo.csv")["label"].drop_nulls().len() == 5
    pl.DataFrame({"a": [1]}).write_csv("mine.csv")
    assert "not a list of this audit" in karat("audit", "mails.csv", "--todo", "mine.csv").err


def test_mistakes_in_the_list(mails, karat):
    karat(*START)
    todo = pl.read_csv("todo.csv")
    words = ["ham"] * 7 + ["egg"] + [None] * 42
    todo.with_columns(label=pl.Series(words)).write_csv("todo.csv")
    ran = karat("audit", "mails.csv", "--labels", "todo.csv")
    assert (ran.code, ran.out) == (3, "")
    assert re.search(r"\(row 7\) is 'egg'; expected one of the classes \['ham', 'spam'\]", ran.err)
    todo.with_columns(item=pl.col("item") + 5000, label=pl.lit("ham")).write_csv("todo.csv")
    ran = karat("audit", "mails.csv", "--labels", "todo.csv")
    assert "50 of 50 items are not in the data (first" in ran.err
    assert karat("audit", "mails.csv", "--json").data["result"]["n_labels"] == 0


def test_an_audit_that_runs_keeps_its_flags_and_its_data(mails, karat):
    karat(*START)
    ran = karat("audit", "mails.csv", "--metric", "recall")
    assert ran.code == 2
    assert "--metric is 'recall' and the audit in mails.csv.audit.json was started with 'F1'" in (
        ran.err
    )
    other = karat("audit", "mails.csv", "--pred", "model", "--saved", "second.json")
    assert other.code == 0
    frame = pl.read_csv("mails.csv")
    frame.with_columns(p_spam=1 - pl.col("p_spam")).write_csv("mails.csv")
    ran = karat("audit", "mails.csv")
    assert ran.code == 3
    assert "an audit of other data: proba differs" in ran.err


def test_ids_groups_differences_and_a_page(mails, karat):
    ran = karat(
        "audit", "mails.csv", "--pred", "model", "--against", "other", "--id", "mail",
        "--group", "site", "--todo", "todo.csv", "--ask", "30",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    todo = pl.read_csv("todo.csv")
    assert todo["item"].str.starts_with("text ").all()
    words = [mails[int(item.split()[1])] for item in todo["item"]]
    todo.with_columns(label=pl.Series(words)).write_csv("todo.csv")
    ran = karat("audit", "mails.csv", "--labels", "todo.csv", "--output", "page.html")
    assert ran.code == 0, ran.err
    assert "the difference in accuracy" in ran.out
    assert "north:" in ran.out
    text = Path("page.html").read_text(encoding="utf-8")
    assert "How many labels does it take?" in text
    assert "How good is it in each group?" in text
    assert "Audit.resume(" in text


def test_labels_that_are_there_already(mails, karat):
    ran = karat("audit", "labelled.csv", "--pred", "model", "--label", "truth", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 300


def test_the_list_does_not_offer_to_show_the_labels(mails, karat):
    ran = karat("audit", "labelled.csv", "--pred", "model", "--label", "truth", "--todo", "t.csv")
    assert ran.code == 0, ran.err
    assert "--show truth" not in ran.out


@pytest.mark.parametrize("wanted", ["85", "-1"])
def test_what_a_gate_can_never_reach_names_the_flag(mails, karat, wanted):
    ran = karat("gate", "labelled.csv", "--label", "truth", "--pred", "model", "--at-least", wanted)
    assert ran.code == 2
    assert "--at-least is" in ran.err


@pytest.mark.parametrize(("wanted", "code"), [("0.2", 0), ("0.99", 4), ("itself", 5)])
def test_the_gate_and_its_codes(mails, karat, wanted, code):
    frame = pl.read_csv("labelled.csv").drop_nulls("truth")
    if wanted == "itself":  # the estimate lies between its limits
        wanted = f"{as_metric('f1').score(frame['truth'], frame['model']):.3f}"
    ran = karat("gate", "labelled.csv", "--label", "truth", "--pred", "model", "--metric", "f1",
                "--at-least", wanted, "--markdown", "gate.md", "--json")  # fmt: skip
    assert ran.code == code
    same = gate(frame["truth"], frame["model"], float(wanted), metric="f1")
    assert ran.data["gate"]["status"] == same.status
    assert ran.data["gate"]["exit_code"] == code
    assert same.status in Path("gate.md").read_text(encoding="utf-8").splitlines()[0]


def test_the_gate_of_its_help_and_of_an_audit(mails, karat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    (example,) = commands(karat, "gate")
    ran = karat(*example)
    assert ran.code in (0, 4, 5)
    assert ran.out.startswith(("PASS", "FAIL", "INCONCLUSIVE"))
    karat(*START)
    fill(mails, 50)
    karat("audit", "mails.csv", "--labels", "todo.csv")
    ran = karat("gate", "mails.csv", "--saved", "mails.csv.audit.json", "--at-least", "0.01")
    assert "n = 50" in ran.out
    assert ran.code == 0


def test_a_gate_without_labels(mails, karat):
    ran = karat("gate", "mails.csv", "--at-least", "0.5", "--pred", "model")
    assert ran.code == 2
    assert "--label is None; expected a column of true labels, or --saved" in ran.err
    ran = karat("gate", "labelled.csv", "--label", "truth", "--pred", "model", "--at-least", "80")
    assert ran.code == 2


def test_score_of_its_help_and_of_two_models(mails, karat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    (example,) = commands(karat, "score")
    ran = karat(*example)
    assert ran.code == 0, ran.err
    frame = pl.read_csv("labelled.csv").drop_nulls("truth")
    both = karat("score", "labelled.csv", "--label", "truth", "--pred", "model", "--pred", "other",
                 "--metric", "f1", "--group", "site", "--json", "-o", "page.html")  # fmt: skip
    assert both.code == 0, both.err
    found = both.data["results"]["model"]["f1"]
    same = as_metric("f1").estimate(frame["truth"], frame["model"], groups=frame["site"])
    assert (found["lower"], found["upper"]) == pytest.approx((same.lower, same.upper))
    assert set(found["groups"]) == {"north", "south"}
    assert len(both.data["comparisons"]["f1"]["pairs"]) == 1
    json.dumps(both.data)


def test_the_code_of_a_page_gives_the_same(mails, karat, executed_page):
    flags = ("--label", "truth", "--pred", "model", "--metric", "f1", "--json", "-o", "page.html")
    ran = karat("score", "labelled.csv", *flags, "--group", "site")
    assert executed_page("page.html").to_dict() == ran.data["results"]["model"]["f1"]
    ran = karat("gate", "labelled.csv", *flags, "--at-least", "0.5")
    assert executed_page("page.html").to_dict() | {"exit_code": ran.code} == ran.data["gate"]
    karat(*START)
    fill(mails, 40)
    ran = karat("audit", "mails.csv", "--labels", "todo.csv", "--json", "-o", "page.html")
    assert executed_page("page.html").to_dict() == ran.data["result"]


def test_score_heeds_weights(mails, karat, executed_page):
    """Rows that were drawn more often than others count for less; models are then not compared."""
    frame = pl.read_csv("labelled.csv").with_columns(
        seen=pl.when(pl.col("site") == "north").then(3.0).otherwise(0.5)
    )
    frame.write_csv("seen.csv")
    flags = ("score", "seen.csv", "--label", "truth", "--pred", "model", "--weight")
    ran = karat(*flags, "seen", "--json", "-o", "page.html")
    known = frame.drop_nulls("truth")
    same = as_metric("accuracy").estimate(
        known["truth"], known["model"], sample_weight=known["seen"], rng=0
    )
    found = ran.data["results"]["model"]["accuracy"]
    assert found == executed_page("page.html").to_dict()
    assert (found["value"], found["lower"]) == pytest.approx((same.value, same.lower))
    assert "once each counts by its seen." in Path("page.html").read_text("utf-8")
    both = karat(*flags, "seen", "--pred", "other", "--json")
    assert both.data["comparisons"] == {}
    assert both.data["warnings"] == ["models are not compared: differences do not heed --weight"]
    assert "--weight sen: there is no such column" in karat(*flags, "sen").err
    frame.with_columns(seen=-pl.col("seen")).write_csv("seen.csv")
    assert "--weight seen" in karat(*flags, "seen").err


@pytest.mark.filterwarnings("ignore:.*separated by semicolons")
def test_groups_with_leading_zeros_are_two(mails, karat, executed_page):
    """Of 01 and 1 one number is left; the code of the page reads them as the command does."""
    frame = pl.read_csv("labelled.csv")
    codes = pl.when(pl.col("site") == "north").then(pl.lit("01")).otherwise(pl.lit("1"))
    frame.with_columns(site=codes).write_csv("codes.csv")
    flags = ("codes.csv", "--label", "truth", "--pred", "model", "--group", "site", "--json")
    ran = karat("score", *flags, "-o", "page.html")
    found = ran.data["results"]["model"]["accuracy"]
    assert list(found["groups"]) == ["01", "1"]
    assert executed_page("page.html").to_dict() == found
    text = Path("codes.csv").read_text("utf-8")
    Path("semicolons.csv").write_text(text.replace(",", ";"), "utf-8")
    Path("codes.csv.gz").write_bytes(gzip.compress(text.encode()))
    for other in ("semicolons.csv", "codes.csv.gz"):
        again = karat("score", other, *flags[1:], "-o", "page.html")
        assert again.data["results"]["model"]["accuracy"] == found
        assert executed_page("page.html").to_dict() == found
    frame.with_columns(site=pl.col("site") == "north").write_csv("codes.csv")
    plain = karat("score", *flags).data["results"]["model"]["accuracy"]
    assert {g["n"] for g in plain["groups"].values()} == {g["n"] for g in found["groups"].values()}


def test_score_needs_labels(mails, karat):
    frame = pl.read_csv("labelled.csv").with_columns(truth=pl.lit(None, dtype=pl.String))
    frame.write_parquet("empty.parquet")
    ran = karat("score", "empty.parquet", "--label", "truth", "--pred", "model")
    assert ran.code == 3
    assert "--label truth is empty in every row" in ran.err


def test_a_list_of_items_holds_no_formulas(karat, tmp_path, monkeypatch):
    """Ids and texts that begin like a formula get an apostrophe, and come back without it."""
    monkeypatch.chdir(tmp_path)
    ids = ["=1+254", "@SUM(A1)", "'=2", "+49 30", "plain", *(f"n{i}" for i in range(25))]
    pred = [i % 2 for i in range(30)]
    table = pl.DataFrame({"id": ids, "pred": pred, "text": ["=cmd|x"] * 30})
    table.write_csv("rows.csv")
    flags = ("--pred", "pred", "--id", "id", "--ask", 30, "--todo", "todo.csv", "--show", "text")
    ran = karat("audit", "rows.csv", *flags)
    assert ran.code == 0, ran.err
    written = pl.read_csv("todo.csv", infer_schema=False)
    assert {"'=1+254", "'@SUM(A1)", "'+49 30", "''=2", "plain"} <= set(written["item"])
    assert set(written["text"]) == {"'=cmd|x"}
    known = dict(zip(ids, map(str, pred), strict=True))
    labels = [known[unescape_cell(item)] for item in written["item"]]
    written.with_columns(label=pl.Series(labels)).write_csv("todo.csv")
    ran = karat("audit", "rows.csv", "--labels", "todo.csv", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 30
