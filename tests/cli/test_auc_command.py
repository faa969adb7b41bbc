"""``karat auc`` on files."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from karat.cli import main
from karat.cli._app import app

runner = CliRunner()


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
        }
    )
    path = tmp_path_factory.mktemp("auc") / "scores.parquet"
    frame.write_parquet(path)
    return path, frame, y


def answer(*arguments):
    result = runner.invoke(app, ["auc", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_each_column_of_scores_is_measured(table):
    path, frame, y = table
    found = answer(path, "--label", "truth", "--pos-label", "sick")
    for name in ("score_a", "score_b"):
        area = found[name]
        assert area["value"] == pytest.approx(roc_auc_score(y, frame[name].to_numpy()), abs=1e-12)
        assert area["lower"] < area["value"] < area["upper"]
    assert found["differences"]["pairs"][0]["first"] == "score_a"


def test_bands_and_scales_are_passed_on(table):
    path, frame, y = table
    options = ("--label", "truth", "--pos-label", "sick", "--score", "score_b")
    found = answer(path, *options, "--fpr", "0,0.1", "--normalize", "mcclish")["score_b"]
    wanted = roc_auc_score(y, frame["score_b"].to_numpy(), max_fpr=0.1)
    assert found["value"] == pytest.approx(wanted, abs=1e-12)
    both = answer(path, *options, "--fpr", "0:0.3", "--tpr", "0.5,1")["score_b"]
    assert both["weight"]["kind"] == "TwoWayBand"
    assert answer(path, *options, "--tpr", "0.5,1")["score_b"]["weight"]["kind"] == "TprBand"


def test_streaming_gives_the_same_within_what_it_says(table):
    options = (table[0], "--label", "truth", "--pos-label", "sick", "--score", "score_a")
    streamed, read = answer(*options, "--stream")["score_a"], answer(*options)["score_a"]
    low, high = streamed["value_range"]
    assert low <= read["value"] <= high
    assert high - low < 1e-3
    assert streamed["lower"] <= read["lower"] < read["upper"] <= streamed["upper"]


def test_a_page_and_groups(table, tmp_path):
    path, _, _ = table
    page = tmp_path / "new" / "page.html"
    result = runner.invoke(
        app,
        ["auc", str(path), "--label", "truth", "--group", "site", "--certificate", "delong",
         "--output", str(page)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "north" in result.output
    assert "paired p" in result.output
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "compare_auc(frame[&#39;truth&#39;]" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label", "truth", "--fpr", "0.2,0.1"), "is empty"),
        (("--label", "truth", "--fpr", "ten"), "expected two rates such as 0,0.1"),
        (
            (
                "--label",
                "nothing",
            ),
            "there is no such column",
        ),
        (("--label", "truth", "--stream"), "--stream needs --score"),
        (("--label", "truth", "--certificate", "magic"), "expected one of"),
        (("--label", "site", "--score", "truth"), "expected numbers"),
        (("--label", "truth", "--confidence", "95"), "between 0 and 1"),
    ],
)
def test_bad_usage_is_said(table, capsys, options, said):
    with pytest.raises(SystemExit) as stopped:
        main(["auc", str(table[0]), *options])
    assert stopped.value.code == 3
    assert said in capsys.readouterr().err
