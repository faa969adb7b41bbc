import numpy as np
import polars as pl
import pytest

from karat.metrics import cost_matrix


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
def test_guessed_columns(table, capsys, name):
    code, said = run(capsys, "bounds", table / name)
    assert code == 0
    assert "predictions: pred_a; weak labels: lf_0, lf_1, lf_2, lf_3, lf_4" in said.out
    assert "Accuracy is between" in said.out.replace("\n", " ")


def test_json_is_nothing_but_json_and_covers(table, capsys):
    code, said = run(
        capsys, "bounds", table / "items.parquet", "--pred", "pred_a", "--pred", "other",
        "--metric", "f1", "--group", "site", "--label", "truth", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(said.out)
    assert set(found) == {"pred_a", "other"}
    for b in found.values():
        assert b["lower_limit"] <= b["truth"] <= b["upper_limit"]
        assert set(b["groups"]) == {"north", "south"}


def test_an_empty_cell_abstains_unless_said_otherwise(table, capsys):
    found = {}
    written = pl.read_csv(table / "items.csv").with_columns(pl.col("^lf_.*$").fill_null("-1"))
    written.write_csv(table / "written.csv")
    for null in ("abstain", "not-asked"):
        page = table / "page.html"
        _, said = run(
            capsys, "bounds", table / "items.csv", "--null", null, "--json", "--output", page
        )
        found[null] = json.loads(said.out)["pred_a"]["lower"]
        assert f"null='{null.replace('-', ' ')}'" in page.read_text().replace("&#39;", "'")
    for name in ("written.csv", "items.csv"):
        _, said = run(capsys, "bounds", table / name, "--json")
        assert json.loads(said.out)["pred_a"]["lower"] == found["abstain"]
    assert found["abstain"] != found["not-asked"]
    code, said = run(capsys, "bounds", table / "items.csv", "--null", "gone")
    assert code != 0
    assert "null is 'gone'" in said.err


def test_report_metric_file_and_other_models(table, capsys):
    metric = table / "costs.json"
    metric.write_text(cost_matrix([[0, 1], [6, 0]]).to_json())
    for model in ("majority", "triplet"):
        code, _ = run(
            capsys, "bounds", table / "items.csv", "--metric", metric, "--label-model", model,
            "--robustness", "0.02", "--output", table / "sub" / "report.html",
        )  # fmt: skip
        assert code == 0
        page = (table / "sub" / "report.html").read_text()
        assert "How good is pred_a?" in page
        assert "<svg" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "there is no file"),
        (["items.txt"], "expected one of"),
        (["items.csv", "--pred", "pred_b"], "did you mean 'pred_a'?"),
        (["items.csv", "--weak", "nothing"], "there is no such column; there are"),
        (["items.csv", "--metric", "best"], "metric is 'best'"),
        (["items.csv", "--label-model", "gpt"], "expected one of"),
        (["items.csv", "--weak", "lf_0", "--weak", "lf_1"], "needs three or more"),
        (["items.csv", "--robustness", "2"], "robustness is 2"),
    ],
)
def test_bad_data_exits_3(table, capsys, arguments, message):
    code, said = run(capsys, "bounds", table / arguments[0], *arguments[1:])
    assert code == 3
    assert message in said.err
    assert said.out == ""


def test_a_file_without_such_columns(table, capsys):
    pl.DataFrame({"x": [1]}).write_csv(table / "x.csv")
    assert "--pred: name at least one column" in run(capsys, "bounds", table / "x.csv")[1].err
    (table / "empty.csv").write_text("a,b\n")
    assert "no rows" in run(capsys, "bounds", table / "empty.csv")[1].err
    (table / "broken.parquet").write_text("not parquet")
    assert "cannot be read" in run(capsys, "bounds", table / "broken.parquet")[1].err
