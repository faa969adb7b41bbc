"""Large tables are answered from their distinct rows: the numbers are those of the rows."""

import warnings

import duckdb
import numpy as np
import polars as pl
import pytest

import karat
from karat.evaluation import evaluate
from karat.exceptions import KaratWarning, LabelsMatchedWarning
from karat.sources.cells import cells_of

N = 3000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.random(N) < 0.4
    score = np.round(1 / (1 + np.exp(-(1.5 * y - 1 + rng.normal(size=N)))), 2)
    names = np.array(["no", "yes"])
    flip = lambda share: names[np.where(rng.random(N) < share, ~y, y).astype(int)]  # noqa: E731
    columns = {
        "id": np.arange(N),
        "y": names[y.astype(int)],
        "a": flip(0.1),
        "b": flip(0.2),
        "s": score,
        "t": np.round(np.clip(score + 0.1 * rng.normal(size=N), 0, 1), 2),
        "g": rng.choice(["north", "south", "west"], N),
    }
    return pl.DataFrame(columns | {f"judge_{j}": flip(0.1 + 0.05 * j) for j in range(5)})


@pytest.fixture
def few(monkeypatch):
    """Set the number of rows up to which a table is read row by row."""

    def to(rows):
        monkeypatch.setattr("karat.sources._scan.FEW", rows)

    return to


ASKED = {
    "models, scores and groups": {"pred": ["a", "b"], "score": ["s", "t"], "group": "g"},
    "a ratio": {"pred": ["a", "b"], "metric": "f1"},
    "a metric by its slope": {"pred": "a", "metric": "mcc", "group": "g"},
    "judges": {"judge": "judge_*"},
    "judges by group, with labels in some rows": {"judge": "judge_*", "group": "g"},
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("some", [False, True])
def test_the_numbers_are_those_of_the_rows(table, few, asked, some):
    if some:
        table = table.with_columns(y=pl.when(pl.col("id") % 3 == 0).then("y"))
    options = {"label": "y"} | ASKED[asked]
    found = []
    for rows in (N, 10):
        few(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(evaluate(table, **options))
    whole, distinct = found
    own, other = whole.to_frame(), distinct.to_frame()
    for column in ("value", "lower", "upper", "n"):
        same = np.isclose(own[column], other[column], rtol=0, atol=1e-12, equal_nan=True)
        assert same.all(), own.filter(~same)
    assert [v.sentence for v in whole.verdicts] == [v.sentence for v in distinct.verdicts]
    assert dict(distinct.facts)["rows"] == f"{N:,}"


def test_every_engine_gives_the_same(table, few, tmp_path):
    few(10)
    path = tmp_path / "rows.parquet"
    table.write_parquet(path)
    relation = duckdb.sql(f"select * from '{path}'")
    sources = [path, table, table.lazy(), table.to_pandas(), table.to_arrow(), relation]
    sources += [f"select * from '{path}'"]
    found = [evaluate(s, label="y", pred=["a", "b"], score="s", group="g") for s in sources]
    for one in found[1:]:
        assert one.findings[0].results["a: accuracy"] == found[0].findings[0].results["a: accuracy"]
        assert [v.sentence for v in one.verdicts] == [v.sentence for v in found[0].verdicts]


def test_ibis_and_dask_give_the_same(table, few, tmp_path):
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    dask = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    few(10)
    path = tmp_path / "rows.parquet"
    table.write_parquet(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their own deprecations
        frames = [ibis.duckdb.connect().read_parquet(path), dask.read_parquet(path)]
        found = [
            evaluate(f, label="y", pred=["a", "b"], score="s", group="g") for f in (table, *frames)
        ]
    for one in found[1:]:
        assert [v.sentence for v in one.verdicts] == [v.sentence for v in found[0].verdicts]


@pytest.mark.parametrize("names", [["y", "a", "s", "g"], ["s"], ["y", "a"], ["g", "s", "t"]])
def test_cells_are_counted_once_and_for_all(table, names, monkeypatch):
    wanted = table.group_by(names).len().sort(names)
    frames = [table.lazy(), duckdb.sql("select * from table_", connection=_connected(table))]
    for rows in (10, N + 1):  # by a table of hashes, and by the engine
        monkeypatch.setattr("karat.sources.cells.FEW", rows)
        for frame in frames:
            cells = cells_of(karat.scan(frame).frame, names)
            assert cells.rows.equals(wanted.select(names))
            assert cells.counts.tolist() == wanted["len"].to_list()
            assert (cells.n, cells.is_sample) == (N, False)


def _connected(table):
    connection = duckdb.connect()
    connection.register("table_", table.to_arrow())
    return connection


def test_odd_scores_are_kept_apart(monkeypatch):
    monkeypatch.setattr("karat.sources.cells.FEW", 3)
    score = [0.0, -0.0, float("nan"), None, float("inf"), 0.5, 0.5]
    rows = pl.DataFrame({"y": [True, True, False, None, True, False, False], "s": score})
    cells = cells_of(karat.scan(rows).frame, ["y", "s"])
    seen = {(y, s): n for (y, s), n in zip(cells.rows.rows(), cells.counts.tolist(), strict=True)}
    assert seen == {
        (True, 0.0): 2,
        (False, None): 1,  # neither NaN nor null is a score
        (None, None): 1,
        (True, float("inf")): 1,
        (False, 0.5): 2,
    }


def test_too_many_distinct_rows_are_sampled_and_it_is_said(few, monkeypatch):
    few(10)
    monkeypatch.setattr("karat.evaluation._evaluate.cells_of", _small_cells)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, N)
    table = pl.DataFrame({"y": y, "s": y + rng.normal(size=N)})
    assert dict(evaluate(table, label="y", score="s").facts).get("looked at") is None
    for source in (duckdb.sql("select * from table_", connection=_connected(table)),):
        e = evaluate(source, label="y", score="s")
        assert dict(e.facts)["rows"] == f"{N:,}"
        assert dict(e.facts)["looked at"] == "a random sample of 400 rows"
        area = e.findings[0].results["s: area under the ROC curve"]
        assert area.n_positive + area.n_negative == 400


def _small_cells(lazy, names, *, seed):
    return cells_of(lazy, names, most=1000, sampled=400, seed=seed)


def test_items_with_several_rows_are_noticed(table, few):
    few(10)
    twice = table.with_columns(id=pl.col("id") // 2)
    with pytest.warns(KaratWarning, match="rows of one item are not independent"):
        evaluate(twice, label="y", pred="a", id="id")
    evaluate(table, label="y", pred="a", id="id")


def test_the_most_frequent_spelling_is_kept(few):
    few(3)
    rows = pl.DataFrame({"y": ["Yes"] * 6 + ["no"] * 5 + ["yes"], "a": ["Yes"] * 7 + ["no"] * 5})
    with pytest.warns(LabelsMatchedWarning, match="2 spellings of 'Yes' were read as one"):
        evaluate(rows, label="y", pred="a")
