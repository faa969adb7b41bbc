"""Commands read large files as distinct rows with their numbers, and say what the rows say."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

N = 4000


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(2)
    y = rng.random(N) < 0.4
    score = np.round(1 / (1 + np.exp(-(1.5 * y - 1 + rng.normal(size=N)))), 2)
    names = np.array(["no", "yes"])
    table = pl.DataFrame(
        {
            "y": pl.Series(names[y.astype(int)]),
            "pred_a": names[(score > 0.5).astype(int)],
            "pred_b": names[((score > 0.6) ^ (rng.random(N) < 0.1)).astype(int)],
            "score": score,
            "part": rng.choice(["01", "1"], N),
            **{f"judge_{j}": (y ^ (rng.random(N) < 0.1 + 0.05 * j)).astype(int) for j in range(4)},
        }
    ).with_columns(y=pl.when(pl.int_range(N) % 5 > 0).then("y"))
    path = tmp_path_factory.mktemp("large") / "rows.parquet"
    table.write_parquet(path)
    table.write_csv(path.with_suffix(".csv"))
    return path


ASKED = {
    "score": ["score", "--label", "y", "--pred", "pred_*", "--metric", "accuracy,f1,mcc"],
    "score by group": ["score", "--label", "y", "--pred", "pred_a", "--group", "part"],
    "auc": ["auc", "--label", "y", "--score", "score"],
    "auc by group": ["auc", "--label", "y", "--score", "score", "--group", "part"],
    "precision": ["auc", "--label", "y", "--score", "score", "--measure", "average-precision"],
    "judges": ["judges", "--judge", "judge_*"],
    "judges by group": ["judges", "--judge", "judge_*", "--group", "part"],
    "evaluate": ["evaluate", "--label", "y", "--pred", "pred_*", "--score", "score"],
}


def numbers(value):
    """Return values and limits of an answer, in order."""
    if isinstance(value, list):
        return [n for part in value for n in numbers(part)]
    if not isinstance(value, dict):
        return []
    found = [value[key] for key in ("value", "lower", "upper", "n") if key in value]
    own = [n for one in found for n in (one if isinstance(one, list) else [one])]
    rest = [n for part in value.values() for n in numbers(part)]
    return [float(n) for n in own if isinstance(n, int | float)] + rest


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.filterwarnings("ignore")
def test_the_answers_are_those_of_the_rows(file, karat, monkeypatch, asked, ending):
    command, *flags = ASKED[asked]
    said = []
    for few in (10**9, 10):
        monkeypatch.setattr("karat.sources._scan.FEW", few)
        done = karat(command, file.with_suffix(f".{ending}"), *flags, "--json")
        assert done.code == 0, done
        said.append(numbers(json.loads(done.out)))
    assert len(said[0]) == len(said[1]) > 2
    assert np.allclose(*said, rtol=0, atol=1e-12, equal_nan=True)


def test_the_code_of_a_page_counts_as_the_command_did(file, karat, monkeypatch, tmp_path):
    monkeypatch.setattr("karat.sources._scan.FEW", 10)
    page = tmp_path / "page.html"
    karat("score", file, "--label", "y", "--pred", "pred_a", "--output", page)
    text = page.read_text(encoding="utf-8")
    assert "distinct_rows(" in text
    assert "weighting=&#39;frequency&#39;" in text or "weighting='frequency'" in text


def test_an_empty_prediction_is_counted(file, karat, monkeypatch, tmp_path):
    monkeypatch.setattr("karat.sources._scan.FEW", 10)
    rows = pl.read_parquet(file).with_columns(
        pred_a=pl.when(pl.int_range(N) >= 7).then("pred_a"), y=pl.lit("yes")
    )
    path = tmp_path / "rows.parquet"
    rows.write_parquet(path)
    done = karat("score", path, "--label", "y", "--pred", "pred_a")
    assert done.code == 3
    assert "--pred pred_a: a data row is empty (7 such rows in all)" in done.err


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(10):
        y = rng.random(500_000) < 0.3
        score = np.round(y + rng.normal(size=500_000), 2)
        pl.DataFrame({"y": y, "pred": score > 0.5, "s": score}).write_parquet(
            tmp_path / f"part-{i}.parquet"
        )
    code = (
        "import resource, sys; from karat.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as done: assert not done.code, done.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    used = {}
    for part in ("part-0.parquet", "*.parquet"):
        command = ["score", f"{tmp_path}/{part}", "--label", "y", "--pred", "pred"]
        done = subprocess.run(
            [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
        )
        used[part] = int(done.stdout.split()[-1])
    assert used["*.parquet"] < used["part-0.parquet"] + 100  # megabytes; the rows take 80 more
