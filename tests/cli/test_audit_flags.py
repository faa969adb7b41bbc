"""Flags that contradict a kept audit, ids as text, corrected labels, and what the list shows."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat.audit import Audit

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


@pytest.fixture
def items(tmp_path, monkeypatch):
    """Items with text ids of leading zeros in a Parquet file, and their truth."""
    rng = np.random.default_rng(4)
    truth = np.where(rng.random(120) < 0.4, "spam", "ham")
    called = np.where(rng.random(120) < 0.85, truth, "ham")
    names = [f"{i:04d}" for i in range(120)]
    frame = pl.DataFrame({
        "key": names, "text": [f"mail {i}" for i in range(120)], "prediction": called,
        "rival": np.where(rng.random(120) < 0.7, truth, "spam"), "gold": truth,
    })  # fmt: skip
    frame.write_parquet(tmp_path / "items.parquet")
    frame.write_csv(tmp_path / "items.csv")
    frame.write_csv(tmp_path / "semicolons.csv", separator=";")
    (tmp_path / "named.csv").write_text(f"sep=;\n{(tmp_path / 'semicolons.csv').read_text()}")
    monkeypatch.chdir(tmp_path)
    return dict(zip(names, truth.tolist(), strict=True))


START = ("audit", "items.parquet", "--id", "key", "--metric", "recall", "--todo", "todo.csv",
         "--ask", "20", "--saved", "a.json")  # fmt: skip
GO_ON = ("audit", "items.parquet", "--saved", "a.json")


def fill(truth, n=20, **words):
    todo = pl.read_csv("todo.csv", infer_schema=False)
    given = [
        words.get(item, truth[item]) if at < n else None for at, item in enumerate(todo["item"])
    ]
    todo.with_columns(label=pl.Series(given, dtype=pl.String)).write_csv("todo.csv")
    return todo["item"].to_list()


def test_no_column_of_classes_is_offered_to_whoever_labels(items, karat):
    frame = pl.read_parquet("items.parquet")
    kept = frame.select("key", "prediction", y=pl.col("gold"))
    kept.write_parquet("items.parquet")
    ran = karat(*START)
    assert ran.code == 0, ran.err
    assert "--show" not in ran.out


@pytest.mark.filterwarnings("ignore:.*separated by semicolons")
@pytest.mark.parametrize("file", ["items.parquet", "items.csv", "semicolons.csv", "named.csv"])
def test_ids_with_leading_zeros_are_text_and_stay_so(items, karat, file, executed_page):
    ran = karat(*(word.replace("items.parquet", file) for word in START))
    assert ran.code == 0, ran.err
    assert "by name alone; --show text" in ran.out
    asked = fill(items)
    assert all(len(item) == 4 for item in asked)
    kept = (file, "--saved", "a.json", "--json", "-o", "p.html")
    ran = karat("audit", *kept, "--labels", "todo.csv")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 20
    assert executed_page("p.html").to_dict() == ran.data["result"]
    ran = karat("gate", *kept, "--at-least", "0.9")
    assert executed_page("p.html").to_dict() | {"exit_code": ran.code} == ran.data["gate"]


@pytest.mark.filterwarnings("ignore:.*separated by semicolons")
@pytest.mark.parametrize(("file", "key"), [
    ("rows.csv", "{:04d}"), ("rows.csv", "{:d}"), ("rows.csv", "1.{:02d}0"), ("rows.csv", "{:d}e1"),
    ("rows.tsv", "{:04d}"), ("rows.csv.gz", "{:04d}"),
])  # fmt: skip
def test_ids_and_lists_as_spreadsheets_write_them(items, karat, file, key, executed_page):
    """With semicolons, zipped or in a TSV: ids stay as they stand, and a list comes back so too."""
    truth = {key.format(i): label for i, label in enumerate(items.values())}
    said = pl.read_csv("items.csv", columns=["prediction"])["prediction"]
    mark = "\t" if file == "rows.tsv" else ";"
    frame = pl.DataFrame({"key": list(truth), "prediction": said})
    text = frame.write_csv(separator=mark).encode()
    Path(file).write_bytes(gzip.compress(text) if file.endswith("gz") else text)
    ran = karat("audit", file, "--id", "key", "--todo", "todo.csv", "--saved", "a.json",
                "--ask", "20")  # fmt: skip
    assert ran.code == 0, ran.err
    assert set(fill(truth)) <= set(truth)
    pl.read_csv("todo.csv", infer_schema=False).write_csv("todo.csv", separator=";")
    ran = karat("audit", file, "--saved", "a.json", "--labels", "todo.csv", "--json", "-o",
                "p.html")  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 20
    assert executed_page("p.html").to_dict() == ran.data["result"]


@pytest.mark.parametrize("judges", ["judge_*", "judge_a,judge_b"])
def test_patterns_and_lists_choose_judges(items, karat, judges):
    frame = pl.read_parquet("items.parquet")
    frame = frame.with_columns(judge_a=pl.col("rival"), judge_b=pl.col("gold"))
    frame.write_parquet("items.parquet")
    ran = karat(*START, "--judge", judges)
    assert ran.code == 0, ran.err
    fill(items)
    ran = karat(*GO_ON, "--judge", judges, "--labels", "todo.csv")
    assert ran.code == 0, ran.err


def test_a_list_that_a_spreadsheet_saved_with_semicolons(items, karat):
    karat(*START)
    fill(items)
    pl.read_csv("todo.csv", infer_schema=False).write_csv("todo.csv", separator=";")
    ran = karat(*GO_ON, "--labels", "todo.csv", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 20


def test_the_list_shows_what_was_asked_for_and_no_systems_word(items, karat):
    karat(*START)
    assert pl.read_csv("todo.csv").columns == ["item", "label"]
    karat(*GO_ON, "--todo", "more.csv", "--show", "text")
    assert pl.read_csv("more.csv").columns == ["item", "label", "text"]
    karat(*GO_ON, "--todo", "again.csv")
    assert "text" in pl.read_csv("again.csv").columns, "it is kept with the audit"
    ran = karat(*GO_ON, "--todo", "more.csv", "--show", "prediction")
    assert ran.code == 2
    assert "--show is 'prediction'; expected a column that does not say what a system" in ran.err
    hidden = ("--label", "gold", "--show", "gold", "--todo", "gold.csv", "--saved", "g.json")
    assert karat("audit", "items.parquet", *hidden).code == 2
    assert karat(*GO_ON, "--show", "text").code == 2, "without --todo it would do nothing"
    karat("audit", "items.parquet", "--against", "rival", "--todo", "both.csv", "--show", "*",
          "--saved", "b.json")  # fmt: skip
    assert "rival" not in pl.read_csv("both.csv").columns


def test_a_corrected_label_needs_to_be_said(items, karat):
    karat(*START)
    (first, *_) = fill(items)
    karat(*GO_ON, "--labels", "todo.csv")
    wrong = "ham" if items[first] == "spam" else "spam"
    fill(items, **{first: wrong})
    ran = karat(*GO_ON, "--labels", "todo.csv")
    assert ran.code == 3
    assert "pass replace=True (--replace)" in ran.err
    ran = karat(*GO_ON, "--labels", "todo.csv", "--replace", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 20
    assert karat(*GO_ON, "--replace").code == 2


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--metric", "f1"), "--metric is 'f1' and the audit in a.json was started with 'recall'"),
        (("--confidence", "0.9"), "--confidence is 0.9 and"),
        (("--pos-label", "ham"), "--pos-label is 'ham' and the audit in a.json was started with"),
        (("--pred", "rival"), "--pred is 'rival' and the audit in a.json was started with"),
    ],
)
def test_flags_that_contradict_a_kept_audit(items, karat, flags, said):
    karat(*START)
    for command in (GO_ON, ("gate", "items.parquet", "--saved", "a.json", "--at-least", "0.5")):
        ran = karat(*command, *flags)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
        same = {"--metric": "recall", "--confidence": "0.95", "--pos-label": "spam",
                "--pred": "prediction"}  # fmt: skip
        assert karat(*command, flags[0], same[flags[0]]).code in (0, 5)


def test_more_flags_that_contradict_a_kept_audit(items, karat):
    karat(*START)
    ran = karat(*GO_ON, "--classes", "ham,spam,eggs")
    assert "--classes is 'ham,spam,eggs' and" in ran.err
    assert karat(*GO_ON, "--classes", "spam,ham").code == 0
    ran = karat(*GO_ON, "--against", "rival")
    assert "--against is 'rival' and the audit in a.json was started without it" in ran.err
    gate = ("gate", "items.parquet", "--saved", "a.json", "--at-least")
    ran = karat(*gate, "0.5", "--label", "gold")
    assert (ran.code, "--label is 'gold'; expected no such flag beside --saved" in ran.err) == (
        2,
        True,
    )
    ran = karat(*gate, "80")
    assert ran.code == 2
    assert "--at-least is 80.0; expected a number between 0 and 1" in ran.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--ask", "-5"), "--ask is -5; expected a whole number of at least 1"),
        (("--confidence", "2"), "confidence is 2.0; expected a number between 0 and 1"),
        (("--precision", "0"), "precision is 0.0; expected a number above 0"),
    ],
)
def test_numbers_out_of_range(items, karat, flags, said):
    ran = karat("audit", "items.parquet", *flags)
    assert ran.code == 2
    assert said in ran.err


def test_a_gate_before_any_label_and_of_a_difference(items, karat):
    karat("audit", "items.parquet", "--against", "rival", "--id", "key", "--todo", "todo.csv",
          "--ask", "20", "--saved", "d.json")  # fmt: skip
    gate = ("gate", "items.parquet", "--saved", "d.json", "--at-least", "0.02")
    ran = karat(*gate)
    assert (ran.code, "nothing is labelled yet" in ran.out) == (5, True)
    fill(items)
    karat("audit", "items.parquet", "--labels", "todo.csv", "--saved", "d.json")
    ran = karat(*gate, "--markdown", "gate.md", "-o", "page.html")
    assert "the difference in accuracy is" in ran.out
    assert karat(*gate[:-1], "-0.9").code == 0


def test_an_audit_that_python_saved(items, karat):
    frame = pl.read_parquet("items.parquet")
    audit = Audit(frame["prediction"], metric="f1", ids=frame["key"], rng=0)
    audit.save("py.json")
    audit.tell({key: items[key] for key in audit.ask(15)["item"]})
    ran = karat("audit", "items.parquet", "--saved", "py.json", "--id", "key", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["n_labels"] == 15
    ran = karat("audit", "items.parquet", "--saved", "py.json")
    assert ran.code == 3
    assert "saved from Python" in ran.err
    assert "--id" in ran.err
    ran = karat("gate", "items.parquet", "--saved", "py.json", "--at-least", "0.1")
    assert ran.code == 3


def test_labels_that_look_like_a_slip(items, karat):
    frame = pl.read_csv("items.csv")
    score = ("score", "slip.csv", "--label", "gold", "--pred", "prediction")
    gate = ("gate", "slip.csv", "--label", "gold", "--pred", "prediction", "--at-least", "0.3")
    gold = ["spam", *frame["gold"].to_list()[1:]]
    frame.with_columns(gold=pl.Series(gold)).write_csv("clean.csv")
    clean = {of: karat(of[0], "clean.csv", *of[2:]).out for of in (score, gate)}
    for word in ("spam ", "Spam", "NaN"):
        gold = [word, *frame["gold"].to_list()[1:]]
        frame.with_columns(gold=pl.Series(gold)).write_csv("slip.csv", quote_style="always")
        for command in (score, gate):
            ran = karat(*command)
            if word == "NaN":
                assert ran.code == 3
                assert "the text of a missing value" in ran.err
            else:
                first, rest = ran.out.split("\n", 1)
                assert first == f"2 spellings of 'spam' were read as one: 'spam', {word!r}."
                assert rest == clean[command]
