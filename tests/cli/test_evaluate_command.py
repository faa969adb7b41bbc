"""``karat evaluate`` on files."""

import re

import numpy as np
import polars as pl
import pytest

from karat.evaluation import evaluate


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    n = 300
    y = rng.integers(0, 2, n)
    frame = pl.DataFrame(
        {
            "id": np.arange(n), "y_true": y, "pred_a": np.where(rng.random(n) < 0.1, 1 - y, y),
            "pred_b": np.where(rng.random(n) < 0.2, 1 - y, y),
            "score": 1 / (1 + np.exp(-rng.normal(size=n) - 2 * y + 1)),
            "a,b": np.where(rng.random(n) < 0.3, 1 - y, y),
        }
    )  # fmt: skip
    path = tmp_path_factory.mktemp("evaluate") / "table.csv"
    frame.write_csv(path)
    return path, frame


def test_numbers_are_those_of_the_library(table, karat):
    path, frame = table
    ran = karat(
        "evaluate", path, "--label", "y_true", "--pred", "pred_a,pred_b", "--score", "score",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    own = evaluate(frame, label="y_true", pred=["pred_a", "pred_b"], score="score").to_dict()
    assert ran.data["results"] == own["results"]
    assert ran.data["verdicts"] == own["verdicts"]


def test_two_scores_are_compared_row_by_row(karat, tmp_path):
    """3,000 labels tell the scores apart, though distribution-free limits do not."""
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    shared, own, other = rng.normal(size=(3, 3000))
    good, poor = (
        1 / (1 + np.exp(-0.8 * shared - 0.6 * noise - rise * y))
        for noise, rise in ((own, 1.45), (other, 1.2))
    )
    path = tmp_path / "two.csv"
    pl.DataFrame({"y": y.astype(int), "good": good, "poor": poor}).write_csv(path)
    ran = karat("evaluate", path, "--label", "y", "--score", "good", "--score", "poor")
    assert ran.code == 0, ran.err
    first = " ".join(ran.out.split("\n[")[0].split())
    assert first.startswith("[likely] good ranks better than poor: ")
    # DeLong's paired limits, by midranks.
    ones, zeros = (np.vstack([good, poor])[:, rows] for rows in (y, ~y))
    wins = (ones[:, :, None] > zeros[:, None, :]).astype(np.float32)
    by_one, by_zero = wins.mean(axis=2), wins.mean(axis=1)
    gap = float(by_one[0].mean() - by_one[1].mean())
    error = np.hypot(*((x[0] - x[1]).std(ddof=1) / np.sqrt(x.shape[1]) for x in (by_one, by_zero)))
    low, high = map(float, re.findall(r"between ([+-][.\d]+) and ([+-][.\d]+)", first)[0])
    assert 0 < low < gap < high
    assert (low, high) == pytest.approx((gap - 1.96 * error, gap + 1.96 * error), abs=0.002)


def test_the_page_and_the_markdown_open_with_the_verdicts(table, karat, tmp_path):
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    ran = karat(
        "evaluate", table[0], "--label", "y_true", "--pred", "pred_*", "-o", page, "--markdown",
        text,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.out.startswith("[guaranteed] Accuracy of pred_a is")
    html, markdown = page.read_text("utf-8"), text.read_text("utf-8")
    assert html.index('class="verdict') < html.index("How good is it?")
    assert markdown.index("likely") < markdown.index("## How good is it?")
    assert "table.csv" in html


def test_the_positive_class_without_labels_is_one_of_the_predictions(table, karat):
    weak = ("--pred", "pred_a", "--weak", "pred_b,score", "--metric", "f1", "--pos-label")
    path, frame = table
    rules = frame.with_columns(score=(pl.col("score") > 0.5).cast(int))
    rules.write_csv(path.with_name("rules.csv"))
    ran = karat("evaluate", path.with_name("rules.csv"), *weak, "1", "--json")
    assert ran.code == 0, ran.err
    own = evaluate(rules, pred="pred_a", weak=["pred_b", "score"], metric="f1", pos_label=1)
    assert ran.data["results"] == own.to_dict()["results"]
    refused = karat("evaluate", path.with_name("rules.csv"), *weak, "7")
    assert refused.code == 2
    assert "--pos-label" in refused.err
    assert "'7'" in refused.err


def test_words_of_a_missing_label_are_no_numbers_and_no_python(tmp_path, karat):
    file = tmp_path / "t.csv"
    for word, code in (("NaN", 3), ("NA", 0)):
        rows = "".join(f"{y},{p}\n" for y, p in [(word, "ham")] * 8 + [("ham", "spam")] * 4)
        file.write_text(f"y,m\n{rows}spam,spam\n")
        ran = karat("evaluate", file, "--label", "y", "--pred", "m")
        assert ran.code == code, ran.err
        assert "missing value" in ran.err
        assert "numbers" not in ran.err
        assert "classes=" not in ran.err


def test_a_guess_is_shown_and_used_only_where_somebody_agrees(table, karat):
    refused = karat("evaluate", table[0], typed=[])
    assert refused.code == 3
    assert "--label y_true --pred pred_a --pred pred_b --score score" in refused.err
    assert "--yes" in refused.err
    ran = karat("evaluate", table[0], "--yes")
    assert ran.code == 0, ran.err
    assert "By their names the columns are" in ran.err
    assert "pred_b" in ran.out


def test_a_column_with_a_comma_in_its_name_stays_whole(table, karat):
    ran = karat("evaluate", table[0], "--label", "y_true", "--pred", "a,b", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["roles"]["pred"] == ["a,b"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--pred", "pred_c"), "did you mean"),
        (("--label", "Y_TRUE", "--pred", "pred_a"), "did you mean 'y_true'?"),
        (("--pred", "zz*"), "no column matches"),
        (("--long", "item=id,voter=pred_a"), "--long is 'item=id,voter=pred_a'; expected item="),
        (("--label", "y_true", "--pred", "y_true"), "is named as label and as pred"),
        (("--pred", "pred_a", "--metric", "missing.json"), "a .json file that exists"),
        (("--pred", "pred_a", "--output", "/no/such/folder/page.html"), "folder that exists"),
        (("--pred", "pred_a", "--budget", "0"), "budget is 0"),
    ],
)
def test_mistakes_are_named(table, karat, flags, said):
    ran = karat("evaluate", table[0], *flags)
    assert ran.code in (2, 3)
    assert said in ran.err


def test_what_is_missing_is_said_and_what_to_do_next(table, karat):
    ran = karat("evaluate", table[0], "--pred", "pred_a")
    assert "Not answered: How good is pred_a?" in ran.out
