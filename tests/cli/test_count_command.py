"""``karat count``, and the commands that answer from its file."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat.sources import Counts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 2000
    y = rng.integers(0, 2, n)
    votes = np.where(rng.random((n, 3)) < [0.1, 0.2, 0.3], 1 - y[:, None], y[:, None])
    score = rng.normal(1.5 * y).round(2)
    table = pl.DataFrame(
        {
            "id": np.arange(n), "y": np.where(y, "spam", "ham"),
            "pred": np.where(score > 0.7, "spam", "ham"), "score": score,
            "score_b": (score + rng.normal(size=n)).round(2),
            **{f"lf_{j}": np.where(votes[:, j], "spam", "ham") for j in range(3)},
        }
    )  # fmt: skip
    table.write_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


@pytest.fixture
def counts(karat, rows):
    ran = karat("count", rows, "-o", rows.with_name("counts.parquet"), "--label", "y")
    assert ran.code == 0, ran.err
    assert "pred: pred; score: score, score_b; weak: lf_0, lf_1, lf_2" in ran.out
    return rows.with_name("counts.parquet")


def test_counts_hold_no_rows(counts):
    found = Counts.load(counts)
    assert found.patterns["pred"].n == 2000
    stored = pl.read_parquet(counts)
    assert len(stored.filter(pl.col("karat").is_in(["patterns", "votes", "confusion"]))) < 50
    assert found.confusions["pred"].classes.tolist() == ["ham", "spam"]


def test_scores_can_be_counted_in_cells(karat, rows, tmp_path):
    flags = ("--label", "y", "--score", "score", "--cells", 32)
    assert karat("count", rows, "-o", tmp_path / "c.parquet", *flags).code == 0
    counted = Counts.load(tmp_path / "c.parquet").roc["score"]
    assert counted.cells
    assert len(counted.scores) <= 32
    area = karat("auc", tmp_path / "c.parquet", "--json").data["results"]["score"]
    low, high = area["value_range"]
    whole = karat("auc", rows, "--label", "y", "--score", "score", "--json").data
    assert low <= whole["results"]["score"]["value"] <= high


def test_areas_from_counts_are_those_of_the_rows(karat, rows, counts):
    flags = ("--fpr", "0,0.2", "--json")
    counted = karat("auc", counts, *flags).data
    whole = karat("auc", rows, "--label", "y", *flags).data
    for name in ("score", "score_b"):
        for field in ("value", "lower", "upper"):
            assert counted["results"][name][field] == pytest.approx(
                whole["results"][name][field], abs=1e-12
            )
    # Counts of each score say nothing of rows that both have: their limits are the unpaired ones.
    assert counted["differences"]["pairs"][0]["lower"] == pytest.approx(
        whole["differences"]["pairs"][0]["guaranteed"]["lower"], abs=1e-12
    )


def test_bounds_from_counts_are_those_of_the_rows(karat, rows, counts):
    counted = karat("bounds", counts, "--class-prior", "ham=0.5,spam=0.5", "--json").data
    whole = karat("bounds", rows, "--class-prior", "ham=0.5,spam=0.5", "--json").data
    for field in ("lower", "upper", "lower_limit", "upper_limit", "n"):
        assert counted["results"]["pred"][field] == whole["results"]["pred"][field]


def test_judges_from_counts_are_those_of_the_rows(karat, rows, counts, tmp_path):
    few = karat("count", rows, "-o", tmp_path / "votes.parquet", "--judge", "lf_*")
    assert few.code == 0, few.err
    counted = karat("judges", tmp_path / "votes.parquet", "--dependence", "none", "--json").data
    whole = karat("judges", rows, "--judge", "lf_*", "--dependence", "none", "--json").data
    assert counted["result"]["value"] == whole["result"]["value"]
    assert counted["result"]["upper"] == whole["result"]["upper"]


def test_a_page_from_counts(karat, counts, tmp_path):
    ran = karat("auc", counts, "-o", tmp_path / "page.html")
    assert ran.code == 0, ran.err
    text = (tmp_path / "page.html").read_text()
    assert "Counts.load(" in text
    assert "compare_rankings(" in text


WRONG = {
    "needs rows": (["audit", "--pred", "pred"], 3, "this command needs rows"),
    "flag": (["bounds", "--label", "y"], 2, "--label does not go with a file of counts"),
    "label": (["auc", "--label", "y"], 2, "--label does not go with a file of counts"),
    "rows of areas": (["auc", "--rows", "5"], 2, "--rows does not go with a file of counts"),
    "rows of bounds": (["bounds", "--rows", "5"], 2, "--rows does not go with a file of counts"),
    "rows of judges": (["judges", "--rows", "5"], 2, "--rows does not go with a file of counts"),
    "null": (["bounds", "--null", "abstain"], 2, "--null does not go with a file of counts"),
    "panel": (["judges", "--panel"], 2, "--panel does not go with a file of counts"),
    "evaluate": (["evaluate", "--label", "y"], 2, "--label does not go with a file of counts"),
    "evaluate long": (["evaluate", "--long", "item=a"], 2, "--long does not go with a file of"),
    "counts of counts": (["count", "-o", "again.parquet", "--label", "y"], 3, "holds counts, and"),
    "unknown": (["auc", "--score", "s2"], 3, "holds no such counts; there are"),
}


@pytest.mark.parametrize(("call", "code", "said"), WRONG.values(), ids=WRONG)
def test_what_counts_cannot_answer(karat, counts, call, code, said):
    ran = karat(call[0], counts, *call[1:])
    assert (ran.code, said in ran.err) == (code, True), ran.err


def test_count_refuses_what_it_cannot_count(karat, rows, tmp_path):
    ran = karat("count", rows, "-o", tmp_path / "c.csv", "--label", "y")
    assert (ran.code, "counts are written as .parquet" in ran.err) == (3, True)
    ran = karat("count", rows, "-o", rows, "--label", "y")
    assert (ran.code, "another file than the input" in ran.err) == (2, True)
    ran = karat("count", rows, "-o", tmp_path / "c.parquet", "--label", "z")
    assert (ran.code, "--label z: there is no such column" in ran.err) == (3, True)
    assert not (tmp_path / "c.parquet").exists()


def test_a_sample_of_the_rows_is_said(karat, rows):
    ran = karat("auc", rows, "--label", "y", "--score", "score", "--rows", 500, "--json")
    assert ran.data["warnings"] == [
        "rows.parquet: a random sample of 500 of 2,000 rows was read (seed 0)"
    ]
    result = ran.data["results"]["score"]
    assert result["n_positive"] + result["n_negative"] == 500
    assert karat("auc", rows, "--label", "y", "--score", "score", "--rows", 500, "--json").data == (
        ran.data
    )
    ran = karat("auc", rows, "--label", "y", "--score", "score", "--rows", 0)
    assert (ran.code, "--rows is 0" in ran.err) == (2, True)


def test_what_does_not_fit_into_memory_is_said_before(karat, rows, monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: 8)
    ran = karat("auc", rows, "--label", "y", "--score", "score")
    assert ran.code == 3
    assert "2,000 rows of 2 columns" in ran.err  # only those that are used
    assert "take a sample with --rows, or count where the rows are" in ran.err


def test_folders_and_the_standard_input(karat, rows, monkeypatch):
    folder = rows.parent / "parts"
    folder.mkdir()
    table = pl.read_parquet(rows)
    table[:1000].write_csv(folder / "a.csv")
    table[1000:].write_csv(folder / "b.csv")
    flags = ("--label", "y", "--score", "score", "--json")
    assert (
        karat("auc", folder, *flags).data["results"] == karat("auc", rows, *flags).data["results"]
    )


@pytest.fixture
def logs():
    folder = Path(os.environ.get("KARAT_DATA", "")) / "eval_logs"
    if not os.environ.get("KARAT_DATA") or not folder.is_dir():
        pytest.skip("KARAT_DATA names no folder with eval_logs")
    return folder


@pytest.mark.parametrize(
    ("name", "voters", "gold"),
    [("inspect.eval", 5, 0), ("inspect_edited_slim.json", 5, 1), ("mlflow_traces.json", 2, 4)],
)
def test_judges_of_a_log(karat, logs, name, voters, gold):
    ran = karat("judges", logs / name, "--dependence", "none", "--json")
    assert ran.code == 0, ran.err
    assert len(ran.data["result"]["value"]) == voters
    assert ran.data["status"][0]["status"] == "not identified"  # six items show nothing
    assert sum(ran.data["result"]["gold_votes"]) >= gold
    # People choose what they correct: there are no rates from their labels.
    assert "from_labels" not in ran.data


def test_only_what_flags_name_is_counted(karat, rows, tmp_path):
    """Names say what columns are only where no flag does."""
    ran = karat("count", rows, "-o", tmp_path / "c.parquet", "--label", "y", "--score", "score")
    assert ran.code == 0, ran.err
    found = Counts.load(tmp_path / "c.parquet")
    assert (list(found.roc), found.patterns, found.confusions, found.votes) == (
        ["score"], {}, {}, None,
    )  # fmt: skip


def test_rows_without_a_label_are_counted_as_votes(karat, rows, tmp_path):
    table = pl.read_parquet(rows)
    known = pl.when(pl.col("id") < 300).then("y").alias("y")
    table.with_columns(known).write_parquet(tmp_path / "some.parquet")
    ran = karat("count", tmp_path / "some.parquet", "-o", tmp_path / "c.parquet", "--label", "y")
    assert ran.code == 0, ran.err
    assert "'y' is missing in 1,700 of 2,000 rows, which count as votes and predictions" in ran.err
    found = Counts.load(tmp_path / "c.parquet")
    assert found.roc["score"].totals.sum() == found.confusions["pred"].n == 300
    assert found.patterns["pred"].n == found.votes.n == 2000
    assert found.votes.counts[found.votes.label >= 0].sum() == 300
    rates = karat("auc", tmp_path / "c.parquet", "--score", "score", "--json").data["results"]
    table.head(300).write_parquet(tmp_path / "first.parquet")
    whole = karat("auc", tmp_path / "first.parquet", "--label", "y", "--score", "score", "--json")
    lower = whole.data["results"]["score"]["lower"]
    assert rates["score"]["lower"] == pytest.approx(lower, abs=1e-12)


def test_shards_of_one_class_add_up(karat, rows, tmp_path):
    table = pl.read_parquet(rows).sort("y")
    for name in ("ham", "spam"):
        part = table.filter(pl.col("y") == name)
        # A model and labelers that know one answer too, as in a sorted table.
        only = {c: pl.lit(name) for c in ("pred", "lf_0", "lf_1", "lf_2")}
        part.with_columns(**only).write_parquet(tmp_path / f"{name}.parquet")
    refused = karat("count", tmp_path / "ham.parquet", "-o", tmp_path / "x.parquet", "--label", "y")
    assert refused.code == 3
    parts = []
    for name in ("ham", "spam"):
        ran = karat("count", tmp_path / f"{name}.parquet", "-o", tmp_path / f"{name}_c.parquet",
                    "--label", "y", "--classes", "ham,spam")  # fmt: skip
        assert ran.code == 0, ran.err
        parts.append(Counts.load(tmp_path / f"{name}_c.parquet"))
    total = sum(parts)
    assert total.confusions["pred"].counts.tolist() == [
        [table["y"].to_list().count("ham"), 0], [0, table["y"].to_list().count("spam")],
    ]  # fmt: skip
    assert total.roc["score"].totals.sum() == 2000
    wrong = karat("count", rows, "-o", tmp_path / "x.parquet", "--label", "y", "--classes", "ham")
    assert (wrong.code, "--classes is 'ham'; expected two classes" in wrong.err) == (2, True)


def test_a_positive_class_needs_labels_and_scores(karat, rows, tmp_path):
    base = ("count", rows, "-o", tmp_path / "c.parquet", "--pos-label", "ham")
    ran = karat(*base)
    assert (ran.code, "--pos-label is 'ham'; expected --label with it" in ran.err) == (2, True)
    ran = karat(*base, "--label", "y", "--pred", "pred")
    assert (ran.code, "expected scores, which it is for" in ran.err) == (2, True)
    assert karat(*base, "--label", "y").code == 0
    assert Counts.load(tmp_path / "c.parquet").roc["score"].classes.tolist() == ["spam", "ham"]


def test_weights_keep_their_squares_in_a_file(karat, rows, tmp_path):
    table = pl.read_parquet(rows)
    for unit in (1, 1000):
        weighted = table.with_columns(w=(pl.col("id") % 3 + 1) * 0.5 * unit)
        weighted.write_parquet(tmp_path / "w.parquet")
        base = ("count", tmp_path / "w.parquet", "--label", "y", "--weight", "w")
        score = ("--score", "score", "-o", tmp_path / f"roc_{unit}.parquet")
        votes = ("--judge", "lf_*", "-o", tmp_path / f"votes_{unit}.parquet")
        assert karat(*base, *score).code == karat(*base, *votes).code == 0
    one, many = (karat("auc", tmp_path / f"roc_{u}.parquet", "--json").data["results"]["score"]
                 for u in (1, 1000))  # fmt: skip
    assert one["lower"] == pytest.approx(many["lower"], abs=1e-12)
    assert one["approximate"]
    assert one["n_positive"] < 1000
    fast = ("--dependence", "none", "--json")
    one, many = (karat("judges", tmp_path / f"votes_{u}.parquet", *fast).data["result"]
                 for u in (1, 1000))  # fmt: skip
    assert one["lower"][0] == pytest.approx(many["lower"][0], abs=1e-12)


def test_separators_and_decimal_commas_are_said_in_one_line(karat, tmp_path):
    lines = "".join(f"{i % 2};{(i % 2) + (i % 5) / 4}\n".replace(".", ",") for i in range(60))
    (tmp_path / "s.csv").write_text("y;score\n" + lines)
    ran = karat("auc", tmp_path / "s.csv", "--label", "y", "-o", tmp_path / "page.html")
    assert ran.code == 0, ran.err
    said = [line for line in ran.err.splitlines() if "semicolons" in line]
    assert said == ["warning: s.csv: its columns are separated by semicolons and its numbers have "
                    "decimal commas"]  # fmt: skip
    assert "karat.scan(" in (tmp_path / "page.html").read_text()


def test_scores_that_all_differ_are_said_to_be_the_rows(karat, rows, tmp_path):
    table = pl.read_parquet(rows).with_columns(score=pl.col("id") / 7)
    table.write_parquet(tmp_path / "apart.parquet")
    base = ("count", tmp_path / "apart.parquet", "-o", tmp_path / "c.parquet", "--label", "y",
            "--score", "score")  # fmt: skip
    said = "2,000 of 2,000 rows have a value of score of their own, so the counts show"
    assert said in karat(*base).err
    assert said not in karat(*base, "--cells", 50).err


def test_a_file_without_columns_to_count_is_told_which_there_are(karat, tmp_path):
    (tmp_path / "t.csv").write_text("alpha,beta\n1,2\n")
    ran = karat("count", tmp_path / "t.csv", "-o", tmp_path / "c.parquet")
    assert ran.code == 3
    assert "there are ['alpha', 'beta']" in ran.err
