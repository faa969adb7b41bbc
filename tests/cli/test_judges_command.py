import json

import numpy as np
import polars as pl
import pytest

from karat.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("votes")
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 2, n)
    names = np.array(["bad", "good"])
    columns = {"topic": np.where(np.arange(n) < 200, "north", "south")}
    for j, error in enumerate((0.05, 0.15, 0.25, 0.3)):
        columns[f"judge_{j}"] = names[np.where(rng.random(n) < error, 1 - y, y)]
    columns["known"] = np.where(rng.random(n) < 0.2, names[y], None)
    columns["score"] = np.clip(0.5 * y + 0.5 * rng.random(n), 0, 1)
    wide = pl.DataFrame(columns)
    wide.write_csv(folder / "wide.csv")
    long = wide.select(pl.int_range(pl.len()).alias("item"), "^judge_.*$").unpivot(
        index="item", variable_name="classifier", value_name="vote"
    )
    long.write_parquet(folder / "long.parquet")
    return folder


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(a) for a in arguments])
    return stopped.value.code or 0, capsys.readouterr()


def test_wide_and_long_files_give_the_same_answer(files, capsys):
    found = []
    for name in ("wide.csv", "long.parquet"):
        code, said = run(capsys, "judges", files / name, "--json")
        assert code == 0
        found.append(json.loads(said.out)["result"])
    assert found[0]["classifiers"] == found[1]["classifiers"]
    assert np.abs(np.subtract(found[0]["mean"], found[1]["mean"])).max() < 0.01


def test_the_table_says_whether_the_votes_settle_it(files, capsys):
    code, said = run(capsys, "judges", files / "wide.csv", "--group", "topic")
    assert code == 0
    text = said.out.replace("\n", " ")
    assert "lowest error rate" in text
    assert "north" in text
    assert "yes" in text


def test_gold_labels_and_a_report(files, capsys):
    page = files / "out" / "report.html"
    code, said = run(
        capsys, "judges", files / "wide.csv", "--label", "known", "--json", "--output", page
    )
    assert code == 0
    powered = json.loads(said.out)["powered"]
    assert min(powered["n_gold"]) > 40
    html = page.read_text()
    assert "What do the gold labels say?" in html
    assert "y_true=frame[&#39;known&#39;]" in html
    assert "<svg" in html


def test_probabilities_need_a_threshold(files, capsys):
    code, said = run(capsys, "judges", files / "wide.csv", "--judge", "score", "--judge", "judge_0")
    assert code == 3
    assert "threshold=" in said.err.replace("\n", " ")


def test_mistakes_are_one_sentence(files, capsys):
    code, said = run(capsys, "judges", files / "wide.csv", "--judge", "jugde_0")
    assert code == 3
    assert "did you mean 'judge_0'?" in said.err
    pl.DataFrame({"a": [1]}).write_csv(files / "none.csv")
    code, said = run(capsys, "judges", files / "none.csv")
    assert code == 3
    assert "name the columns of votes" in said.err


def test_domains_may_share(files, capsys):
    page = files / "out" / "shared.html"
    code, said = run(
        capsys, "judges", files / "wide.csv", "--group", "topic", "--structure", "coupled",
        "--dependence", "none", "--json", "--output", page,
    )  # fmt: skip
    assert code == 0
    found = json.loads(said.out)["clusters"]
    assert found["names"] == ["north", "south"]
    text = page.read_text(encoding="utf-8")
    assert "Who shares error rates with whom?" in text
    assert "structure=" in text


def test_sharing_needs_domains(files, capsys):
    code, said = run(capsys, "judges", files / "wide.csv", "--structure", "coupled")
    assert code == 3
    assert "--group" in said.err
