"""``karat count --sql`` prints a query that counts, and ``karat count --from`` reads its result."""

import duckdb
import numpy as np
import polars as pl
import pytest

from karat.sources import Counts

FLAGS = ("--label", "y", "--pred", "a", "--score", "s", "--weak", "v", "--weak", "w")


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    table = pl.DataFrame({"y": y, "s": rng.normal(y).round(2)})
    table = table.with_columns(a=(pl.col("s") > 0.5).cast(int), v=y, w=1 - y)
    table.write_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def run(query, path):
    duckdb.sql(query).write_csv(str(path))
    return path


def test_there_and_back_is_what_counting_the_rows_gives(karat, rows, tmp_path):
    printed = karat("count", rows, "--sql", "duckdb", *FLAGS)
    assert printed.code == 0, printed.err
    result = run(printed.out, tmp_path / "result.csv")
    back = karat("count", "--from", result, "-o", tmp_path / "back.parquet")
    assert back.code == 0, back.err
    assert "500 rows counted by a query (label: y; pred: a; score: s; weak: v, w)" in back.out
    assert karat("count", rows, "-o", tmp_path / "here.parquet", *FLAGS).code == 0
    mine, theirs = (Counts.load(tmp_path / f"{name}.parquet") for name in ("back", "here"))
    assert mine.votes == theirs.votes
    for kind in ("patterns", "roc", "confusions"):
        assert dict(getattr(mine, kind)) == dict(getattr(theirs, kind))


def test_the_query_is_written_or_said_as_json(karat, rows, tmp_path):
    flags = ("count", "db.mails", "--sql", "snowflake", "--label", "Y", "--pred", "A")
    said = karat(*flags, "--json").data
    assert said["dialect"] == "snowflake"
    assert karat(*flags, "-o", tmp_path / "count.sql").code == 0
    assert (tmp_path / "count.sql").read_text() == said["query"] == karat(*flags).out


def test_the_class_names_of_a_result_are_read_as_those_of_rows(karat, rows, tmp_path):
    query = karat("count", rows, "--sql", "duckdb", *FLAGS).out
    result = run(query, tmp_path / "result.csv")
    flags = ("--pos-label", "0", "--cells", "8", "--classes", "1,0", "-o")
    assert karat("count", "--from", result, *flags, tmp_path / "c.parquet").code == 0
    found = Counts.load(tmp_path / "c.parquet")
    assert found.roc["s"].classes.tolist() == [1, 0]
    assert found.roc["s"].cells


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--from", "r.csv"), "--output is missing"),
        (("--from", "r.csv", "--label", "y", "-o", "c.parquet"), "no --label with it"),
        (("--from", "r.csv", "--sql", "spark", "-o", "c.parquet"), "no --sql with it"),
        (("t", "--from", "r.csv", "-o", "c.parquet"), "no FILE with it"),
        (("-o", "c.parquet"), "FILE is missing"),
        (("t", "--sql", "oracle", "--label", "y"), "--sql is 'oracle'; expected 'bigquery'"),
        (("t", "--sql", "spark"), "no column is named"),
        (("t", "--sql", "spark", "--pred", "lf *", "--label", "y"), "is a pattern"),
        (("rows.parquet", "--label", "y"), "--output is missing"),
    ],
)
def test_flags_that_do_not_go_together(karat, flags, words):
    ran = karat("count", *flags)
    assert ran.code != 0
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_a_table_is_named_with_its_engine(karat, rows, tmp_path):
    with duckdb.connect(tmp_path / "t.db") as connection:
        connection.execute(f"create table scores as from '{rows}'")
    table = f"duckdb:{tmp_path / 't.db'}#scores"
    for name, source in {"here": rows, "there": table}.items():
        ran = karat("count", source, *FLAGS, "-o", tmp_path / f"{name}.parquet")
        assert ran.code == 0, ran.err
    mine, theirs = (Counts.load(tmp_path / f"{name}.parquet") for name in ("here", "there"))
    assert mine.votes == theirs.votes
    assert dict(mine.roc) == dict(theirs.roc)
    flags = ("--label", "y", "--pred", "a", "--score", "s", "--json")
    pages = [karat("evaluate", source, *flags) for source in (rows, table)]
    assert [page.code for page in pages] == [0, 0], pages[1].err
    assert pages[0].data["verdicts"] == pages[1].data["verdicts"]
    wrong = karat("count", table + "s", *FLAGS, "-o", tmp_path / "c.parquet")
    assert wrong.code != 0
    assert "no table 'scoress' of t.db; there are ['scores']" in wrong.err
