"""A query is run once, and counts that are not of the same rows do not stand beside one another."""

import tempfile
from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest

import karat
from karat.exceptions import DataError
from karat.ranking import compare_rankings
from karat.sources import Counts
from karat.statistics import confusion, pattern_counts, roc_counts

ROLES = {"label": "y", "pred": "a", "score": "s", "weak": ["v", "w"]}


def rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = {name: np.where(rng.random(n) < 0.2, 1 - y, y) for name in ("a", "v", "w")}
    return pl.DataFrame({"y": y, "s": rng.normal(y).round(2), **columns})


def sizes(counts):
    area = counts.roc["s"]
    scored = area.positives.sum() + area.negatives.sum()
    return {scored, counts.confusions["a"].n, counts.votes.n, counts.patterns["a"].n}


# --- Once.


def test_a_query_of_duckdb_is_run_once_and_leaves_nothing():
    with duckdb.connect() as connection:
        connection.register("t", rows())
        before = connection.sql("show all tables").fetchall()
        data = karat.scan("select * from t where random() < .5", connection=connection)
        counts = data.roles(**ROLES).counts()
        assert len(sizes(counts)) == 1
        assert 800 < counts.votes.n < 1200
        assert connection.sql("show all tables").fetchall() == before


def test_nothing_is_left_where_counting_fails():
    with duckdb.connect() as connection:
        connection.register("t", rows().with_columns(a=None))
        before = connection.sql("show all tables").fetchall()
        with pytest.raises(DataError):
            karat.scan("select * from t", connection=connection).roles(**ROLES).counts()
        assert connection.sql("show all tables").fetchall() == before


def test_a_query_is_run_once_on_a_database_that_may_only_be_read(tmp_path):
    with duckdb.connect(tmp_path / "t.db") as connection:
        connection.register("t", rows())
        connection.execute("create table kept as select * from t")
    with duckdb.connect(tmp_path / "t.db", read_only=True) as connection:
        data = karat.scan("select * from kept where random() < .5", connection=connection)
        assert len(sizes(data.roles(**ROLES).counts())) == 1


def test_a_lazy_frame_of_polars_is_run_once(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runs = []

    def drawn(frame):
        runs.append(len(frame))
        return frame.sample(fraction=0.5, seed=len(runs))

    table = rows()
    lazy = table.lazy().map_batches(drawn, schema=table.schema)
    assert len(sizes(karat.scan(lazy).roles(**ROLES).counts())) == 1
    assert sum(runs) == len(table)
    assert list(tmp_path.iterdir()) == []


def test_tables_and_files_are_not_copied(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a copy was made")

    rows().write_parquet(tmp_path / "rows.parquet")
    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", refuse)
    lazy = pl.scan_parquet(tmp_path / "rows.parquet")
    changed = lazy.with_columns(s=pl.col("s") * 2).filter(pl.col("a") >= 0)
    parts = pl.concat([changed, changed.clear()])
    for source in (rows(), tmp_path / "rows.parquet", lazy, changed, parts):
        assert len(sizes(karat.scan(source).roles(**ROLES).counts())) == 1


@pytest.mark.parametrize("step", ["sort", "sample", "python"])
def test_what_may_change_is_copied(step, monkeypatch):
    def noted(*args, **kwargs):
        raise DataError("a copy is made")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", noted)
    lazy = {
        "sort": lambda t: t.sort("s").head(100),
        "sample": lambda t: t.select(pl.all().sample(100)),
        "python": lambda t: t.with_columns(pl.col("s").map_batches(lambda s: s)),
    }[step](rows().lazy())
    with pytest.raises(DataError, match="a copy is made"):
        karat.scan(lazy).roles(**ROLES).counts()


def test_distinct_rows_of_a_query_are_of_one_run(monkeypatch):
    monkeypatch.setattr("karat.sources.cells.FEW", 10)
    runs = []

    def drawn(frame):
        runs.append(1)
        return frame[: len(frame) // len(runs)]

    table = pl.concat([rows()] * 3)
    lazy = table.lazy().map_batches(drawn, schema=table.schema)
    found = karat.scan(lazy).distinct_rows(["y", "a", "s"])
    assert len(runs) == 1
    assert found["number of rows"].sum() == len(table)


# --- Counts of other rows are refused.


def test_counts_of_two_runs_are_refused():
    first, second = (karat.scan(rows(seed=i)).roles(**ROLES).counts() for i in (0, 1))
    mixed = {
        "roc": (first, second),
        "confusions": (first, second),
        "votes": (first, second),
    }
    for kind, (mine, theirs) in mixed.items():
        with pytest.raises(DataError, match=r"are of 2,000 rows .*count both of the same rows"):
            replace(mine, **{kind: getattr(theirs, kind)})


def test_what_differs_is_said():
    y, a, s = (rows()[name] for name in ("y", "a", "s"))
    some = confusion(y[:1500], a[:1500])
    with pytest.raises(DataError, match=r"scores of s are of 2,000 rows .*confusion of a of 1,500"):
        Counts(roc={"s": roc_counts(y, s)}, confusions={"a": some})
    other = confusion(1 - y, a)
    with pytest.raises(DataError, match="a query that gives other rows each time"):
        Counts(roc={"s": roc_counts(y, s)}, confusions={"a": other})
    few = pattern_counts(a[:500], rows()[:500].select("v", "w"))
    with pytest.raises(DataError, match=r"1,500 rows that have a true label.*of 500 rows in all"):
        Counts(patterns={"a": few}, confusions={"a": some})


def test_classes_of_several_types_are_the_same_classes():
    frame = rows().to_pandas()
    frame.loc[::7, "v"] = np.nan  # the votes are fractions now
    frame.loc[::5, "y"] = np.nan
    with pytest.warns(UserWarning, match="label column 'y' is missing in 400 of 2,000 rows"):
        counts = karat.scan(frame).roles(**ROLES).counts()
    assert counts.votes.n == 2000
    assert counts.confusions["a"].n == 1600


def test_parts_of_one_table_are_added():
    table = rows()
    parts = [karat.scan(part).roles(**ROLES).counts() for part in (table[:700], table[700:])]
    whole = karat.scan(table).roles(**ROLES).counts()
    assert sum(parts).confusions["a"] == whole.confusions["a"]
    assert sizes(sum(parts)) == {2000.0}


def test_groups_are_compared():
    table = rows().with_columns(g=pl.Series(["f", "m"] * 1000))
    first = karat.scan(table).roles(**ROLES, group="g").counts()
    odd = table.with_columns(g=pl.Series(["f"] * 1001 + ["m"] * 999))
    second = karat.scan(odd).roles(**ROLES, group="g").counts()
    with pytest.raises(DataError, match=r"f: 1,000.*f: 1,001"):
        replace(first, votes=second.votes)


def test_a_paired_comparison_wants_counts_of_the_same_rows():
    table = rows().with_columns(s2=pl.col("s") + pl.col("a"))
    data = karat.scan(table).roles(label="y", score=["s", "s2"])
    counts = {name: data.roc_counts(name) for name in ("s", "s2")}
    other = karat.scan(table[:1900]).roles(label="y", score=["s", "s2"])
    few = [other.roc_counts(name) for name in ("s", "s2")]
    joint = other.joint_roc_counts(*few, names=("s", "s2"))
    with pytest.raises(DataError, match="are not of the rows that the counts of s are of"):
        compare_rankings(counts, joint=[joint], limits="delong")
    with pytest.raises(DataError, match="same rows"):
        compare_rankings({"s": counts["s"], "s2": few[1]})


# --- Files of counts.


@pytest.fixture
def saved(tmp_path):
    karat.scan(rows()).roles(**ROLES).counts().save(tmp_path / "counts.parquet")
    return tmp_path / "counts.parquet"


def test_a_file_that_lost_or_gained_a_row_is_refused(saved):
    stored = pl.read_parquet(saved)
    for i in range(1, len(stored), 7):
        pl.concat([stored[:i], stored[i + 1 :]]).write_parquet(saved)
        with pytest.raises(DataError, match=r"rows of its .* were written: it was cut short"):
            Counts.load(saved)
    pl.concat([stored, stored[-1:]]).write_parquet(saved)
    with pytest.raises(DataError, match="cut short or changed"):
        Counts.load(saved)


def test_two_files_in_one_are_refused(saved):
    stored = pl.read_parquet(saved)
    pl.concat([stored, stored]).write_parquet(saved)
    with pytest.raises(DataError, match="holds 2 files of counts"):
        Counts.load(saved)


def test_a_file_whose_counts_are_of_two_queries_is_refused(saved):
    stored = pl.read_parquet(saved)
    more = pl.when(pl.col("karat") == "roc").then(pl.col("count") * 2).otherwise("count")
    stored.with_columns(count=more).write_parquet(saved)
    with pytest.raises(DataError, match="count both of the same rows"):
        Counts.load(saved)


def test_half_a_file_is_not_taken_for_rows(saved):
    saved.write_bytes(saved.read_bytes()[:300])
    for read in (Counts.load, karat.scan):
        with pytest.raises(DataError, match=r"counts\.parquet was cut short"):
            read(saved)
