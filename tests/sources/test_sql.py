"""Counting in a warehouse: a query in its dialect, and what its result is read as.

DuckDB runs its own dialect and PostgreSQL's; PostgreSQL runs its own where there is one, and Spark
its own in `test_spark`. What they count is what `karat.scan` counts of the same rows.
"""

import json
import re
import sys

import duckdb
import numpy as np
import polars as pl
import pytest

import karat
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    KaratError,
    LabelError,
    OptionError,
    ScoreError,
    WeightError,
)
from karat.sources import Counts
from karat.sources.sql import DIALECTS

ROLES = {
    "label": "y", "pred": ["model", "Model B"], "score": ["score", "rank"],
    "weak": ["lf 0", "Größe.`x`", 'a"b'], "group": "order", "id": "id",
}  # fmt: skip
WEIGHTED = {"label": "y", "pred": "model", "score": "score", "weight": "w"}


def rows(n=400):
    """Rows that are easily misread: 007 beside 7, empty texts, nulls, numbers with all digits."""
    rng = np.random.default_rng(0)

    def words(*values):
        return rng.choice(np.array(values, dtype=object), n).tolist()

    score = rng.normal(size=n)
    score[:3] = [-0.0, 0.0, 1e-300]
    return pl.DataFrame(
        {
            "id": rng.permutation(n) * 10**12 - 10**14,
            "name": [f"Stück {i}" for i in range(n)],
            "y": words("007", "7"),
            "model": words("007", "7"),
            "Model B": words("7", "007"),
            "score": score,
            "rank": rng.integers(-5, 5, n).astype(np.int32),
            "order": words("", "it's", 'a "b", c', "ä\\n"),
            "w": rng.integers(1, 9, n) / 4,
            "times": rng.integers(0, 4, n),
            "lf 0": words("007", "7", None),
            "Größe.`x`": words("007", "7", None),
            'a"b': words("007", "7", "-1"),
            "told": rng.integers(0, 2, n).astype(bool),
            "said": rng.integers(0, 2, n).astype(bool),
            "small": rng.normal(size=n).astype(np.float32),
            "half": rng.choice([1.0, 2.0], n),
            "other": rng.choice([1.0, 2.0], n),
        }
    )


@pytest.fixture
def database():
    with duckdb.connect() as connection:
        connection.register("scores", rows())
        yield connection


def counted(database, dialect, roles, **options):
    return database.sql(Counts.query("scores", dialect, **roles, **options)).pl()


def assert_equal(found, wanted):
    assert found.votes == wanted.votes
    for kind in ("patterns", "roc", "confusions"):
        mine, theirs = dict(getattr(found, kind)), dict(getattr(wanted, kind))
        assert mine == theirs
        for name, one in mine.items():
            assert one.classes.dtype.kind == theirs[name].classes.dtype.kind
    for name, one in found.patterns.items():
        assert np.array_equal(one.by_fold, wanted.patterns[name].by_fold)


def of_rows(roles, table=None, weighting=None, **options):
    data = karat.scan(rows() if table is None else table)
    return data.roles(**roles, weighting=weighting).counts(**options)


# --- The counts are those of the rows.

DIFFERENT = {
    "everything": ROLES,
    "folds of text": ROLES | {"id": "name"},
    "truth values": {"label": "told", "pred": "said", "score": "score", "group": "said"},
    "floats of four bytes": {"label": "told", "score": "small"},
    "labels that are kept as fractions": {"label": "half", "pred": "other"},
    "judges": {"judge": ["model", "Model B"], "label": "y"},
}


@pytest.mark.parametrize("roles", DIFFERENT.values(), ids=DIFFERENT)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_dialects_give_the_counts_of_the_rows(database, dialect, roles, tmp_path):
    path = tmp_path / "result.csv"
    counted(database, dialect, roles).write_csv(path)
    positive = {"pos_label": "7"} if roles.get("label") == "y" else {}
    assert_equal(Counts.from_query(path, **positive), of_rows(roles, **positive))


@pytest.mark.parametrize("weighting", ["importance", "frequency"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_weights_are_added_up(database, dialect, weighting):
    roles = WEIGHTED | ({"weight": "times"} if weighting == "frequency" else {})
    found = Counts.from_query(counted(database, dialect, roles, weighting=weighting), pos_label="7")
    assert_equal(found, of_rows(roles, weighting=weighting, pos_label="7"))


def test_missing_labels_and_cells_are_those_of_the_rows(database):
    table = rows().with_columns(y=pl.when(pl.col("rank") > 2).then(None).otherwise("y"))
    database.register("scores", table)
    roles = {"label": "y", "pred": "model", "score": "score", "judge": ["model", "Model B"]}
    result = counted(database, "duckdb", roles)
    with pytest.warns(UserWarning, match=r"label column 'y' is missing in \d+ of 400 rows"):
        found = Counts.from_query(result, pos_label="7", cells=16)
    with pytest.warns(UserWarning, match="is missing"):
        wanted = of_rows(roles, table, pos_label="7", cells=16)
    assert_equal(found, wanted)
    assert found.roc["score"].cells


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_postgresql_counts_as_the_rows_do(postgres):
    psycopg = pytest.importorskip("psycopg")
    table = rows()
    kinds = {"Int64": "bigint", "Int32": "integer", "Float64": "double precision",
             "Float32": "real", "Boolean": "boolean", "String": "text"}  # fmt: skip
    with psycopg.connect(postgres) as connection, connection.cursor() as cursor:
        columns = [
            '"{}" {}'.format(name.replace('"', '""'), kinds[str(kind)])
            for name, kind in table.schema.items()
        ]
        cursor.execute(f"create temporary table scores ({', '.join(columns)})")
        marks = ", ".join(["%s"] * table.width)
        cursor.executemany(f"insert into scores values ({marks})", table.rows())
        for roles in [*DIFFERENT.values(), WEIGHTED]:
            query = Counts.query("scores", "postgres", **roles)
            with cursor.copy(f"copy ({query}) to stdout with csv header") as copy:
                text = b"".join(bytes(part) for part in copy)
            result = pl.read_csv(text, infer_schema=False)
            positive = {"pos_label": "7"} if roles.get("label") == "y" else {}
            assert_equal(Counts.from_query(result, **positive), of_rows(roles, **positive))


# --- The query.


def test_names_are_quoted_where_they_would_not_be_understood():
    roles = {"label": "Label", "pred": "order", "group": "a b"}
    said = {d: Counts.query("Shop.mails", d, **roles) for d in DIALECTS}
    for dialect in ("postgres", "duckdb"):
        assert 'cast("Label" as' in said[dialect]
        assert 'from "Shop".mails' in said[dialect]
    assert "cast(`order` as string)" in said["spark"]
    assert "cast(`a b` as string)" in said["bigquery"]
    upper = Counts.query("DB.SCORES", "snowflake", label="Y", pred="GROUP")
    assert "cast(Y as varchar)" in upper
    assert 'cast("GROUP" as varchar)' in upper
    assert "from DB.SCORES" in upper


def test_a_query_and_a_file_can_stand_in_the_place_of_the_table(database, tmp_path):
    inner = "select y, model from scores where rank > 0;"
    query = Counts.query(inner, "duckdb", label="y", pred="model")
    found = Counts.from_query(database.sql(query).pl()).confusions["model"]
    assert found.n == (rows()["rank"] > 0).sum()
    path = tmp_path / "it's.parquet"
    rows().write_parquet(path)
    query = Counts.query(str(path), "duckdb", label="y", pred="model")
    assert Counts.from_query(duckdb.sql(query).pl()).confusions["model"].n == 400


def test_a_query_needs_no_connector(monkeypatch):
    for name in ("duckdb", "pyspark", "psycopg", "narwhals"):
        monkeypatch.setitem(sys.modules, name, None)
    for dialect in DIALECTS:
        assert Counts.query("t", dialect, label="y", score="s").startswith("with karat_rows")


@pytest.mark.parametrize(
    ("table", "dialect", "roles", "error", "words"),
    [
        ("t", "oracle", {"label": "y", "pred": "a"}, OptionError, "dialect is 'oracle'"),
        ("t", "spark", {"label": "y", "pred": "lf *"}, ColumnError, "is a pattern"),
        ("t", "spark", {"label": "y"}, ColumnError, "nothing can be counted"),
        ("t", "spark", {"label": "y", "pred": "karat_of"}, ColumnError, "rename it"),
        ("t", "spark", {"label": "y", "pred": "y"}, ColumnError, "named as label and as pred"),
        ("t", "spark", {"lable": "y"}, OptionError, "a role is 'lable'"),
        ("a..b", "spark", {"label": "y", "pred": "a"}, OptionError, "table is 'a..b'"),
        (" ", "spark", {"label": "y", "pred": "a"}, OptionError, "table is ' '"),
        ("t", "spark", {"pred": "a", "weak": "b", "weight": "w"}, ColumnError, "by pattern"),
    ],
)
def test_what_cannot_be_queried_is_refused(table, dialect, roles, error, words):
    with pytest.raises(error, match=re.escape(words)):
        Counts.query(table, dialect, **roles)


# --- The result: what programs make of it, and what is not all of it.

SMALL = {"label": "told", "pred": "said", "score": "rank"}


@pytest.fixture
def result(database):
    return counted(database, "duckdb", SMALL)


def as_file(frame, path):
    writers = {".csv": "write_csv", ".parquet": "write_parquet", ".jsonl": "write_ndjson"}
    getattr(frame, writers[path.suffix])(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_order_and_case_do_not_matter(result, ending, tmp_path):
    moved = result.sample(fraction=1, shuffle=True, seed=0).select(reversed(result.columns))
    path = as_file(moved.rename(str.upper), tmp_path / f"result.{ending}")
    assert_equal(Counts.from_query(path), of_rows(SMALL))


@pytest.mark.parametrize("words", [("TRUE", "FALSE"), ("1", "0"), ("t", "f"), ("True", "False")])
def test_truth_values_are_read_in_every_spelling(result, words, tmp_path):
    named = dict(zip(("true", "false"), words, strict=True))
    kept = pl.col("told", "said").replace(named)
    path = as_file(result.with_columns(kept), tmp_path / "result.csv")
    assert_equal(Counts.from_query(path), of_rows(SMALL))


def test_whole_numbers_that_a_program_made_fractions_of(result):
    made = pl.when(pl.col("karat_kind") == "roc").then(pl.col("rank") + ".0").otherwise("rank")
    assert_equal(Counts.from_query(result.with_columns(rank=made)), of_rows(SMALL))


def test_a_missing_or_renamed_column_is_named(result):
    for name in result.columns:
        with pytest.raises(ColumnError, match=rf"has no column '{name}'.*export the result again"):
            Counts.from_query(result.rename({name: f"{name}_2"}))


def test_a_result_cut_short_is_refused(result):
    for i in range(len(result)):
        cut = pl.concat([result[:i], result[i + 1 :]])
        with pytest.raises(DataError, match=r"cut short|no header row"):
            Counts.from_query(cut)
    with pytest.raises(DataError, match="holds the results of 2 runs"):
        Counts.from_query(pl.concat([result, result]))


def test_a_changed_result_is_refused(result):
    header = result["karat_kind"] == "header"
    other = result["karat_of"].str.replace('"version": 1', '"version": 9')
    with pytest.raises(DataError, match=r"version 9 .*update karat"):
        Counts.from_query(result.with_columns(karat_of=other))
    with pytest.raises(DataError, match="header row that cannot be read"):
        Counts.from_query(result.with_columns(karat_of=pl.lit("{")))
    words = pl.Series(np.where(header, result["rank"], "many"))
    with pytest.raises(DataError, match=r"has '(many)?' in the column 'rank'"):
        Counts.from_query(result.with_columns(rank=words))
    with pytest.raises(DataError, match="has 'x' in the column 'karat_count'"):
        Counts.from_query(result.with_columns(karat_count=pl.lit("x")))


def test_bad_rows_are_refused_as_elsewhere(database):
    table = rows().with_columns(
        rank=pl.when(pl.col("rank") == 4).then(None).otherwise("rank"), w=pl.col("w") - 1
    )
    database.register("scores", table)
    with pytest.raises(ScoreError, match="'rank' is missing or not finite"):
        Counts.from_query(counted(database, "duckdb", SMALL))
    with pytest.raises(WeightError, match="negative"):
        Counts.from_query(counted(database, "duckdb", WEIGHTED))
    with pytest.raises(ScoreError, match="holds String"):
        Counts.from_query(counted(database, "duckdb", SMALL | {"score": "name"}))
    missing = {"label": "told", "pred": "lf 0"}
    with pytest.raises(LabelError, match="prediction column 'lf 0' is missing"):
        Counts.from_query(counted(database, "duckdb", missing))
    database.register("scores", table.with_columns(id=pl.lit(None, dtype=pl.Int64)))
    with pytest.raises(DataError, match="the id column has nulls"):
        Counts.from_query(counted(database, "duckdb", ROLES))
    database.register("scores", table.clear())
    with pytest.raises(EmptyDataError, match="no rows"):
        Counts.from_query(counted(database, "duckdb", SMALL))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "empty.csv").touch()
    with pytest.raises(EmptyDataError, match=r"empty.csv is empty"):
        Counts.from_query(tmp_path / "empty.csv")
    path = as_file(rows(), tmp_path / "rows.csv")
    with pytest.raises(ColumnError, match="has no column 'karat_kind'"):
        Counts.from_query(path)
    with pytest.raises(KaratError, match="no file"):
        Counts.from_query(tmp_path / "none.csv")


def test_the_header_says_what_was_counted(result):
    header = json.loads(result.filter(pl.col("karat_kind") == "header")["karat_of"][0])
    assert header["roles"] == {"label": ["told"], "pred": ["said"], "score": ["rank"]}
