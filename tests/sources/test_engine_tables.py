"""Tables that are named with their engine: ``duckdb:file.db#table`` and ``spark:catalog.table``."""

import gc
import subprocess
import sys

import duckdb
import numpy as np
import polars as pl
import pytest

import karat
from karat.exceptions import DataError, MissingExtraError

ROLES = {"label": "y", "pred": "a", "score": "s"}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    table = pl.DataFrame({"y": y, "s": rng.normal(1.5 * y).round(1)})
    return table.with_columns(a=(pl.col("s") > 0.7).cast(int))


@pytest.fixture
def database(rows, tmp_path):
    path = tmp_path / "mails.db"
    with duckdb.connect(path) as connection:
        connection.register("given", rows)
        connection.execute("create table scores as select * from given")
        connection.execute('create schema "2026"')
        connection.execute('create table "2026"."my ""scores""" as select * from given limit 300')
        connection.execute("create view drawn as select * from scores where random() < .5")
    return path


def same(found, wanted):
    return dict(found.roc) == dict(wanted.roc) and dict(found.confusions) == dict(wanted.confusions)


def test_a_table_of_a_duckdb_file(database, rows):
    data = karat.scan(f"duckdb:{database}#scores").roles(**ROLES)
    gc.collect()  # nothing but the source holds the connection
    assert data.engine == "duckdb"
    assert same(data.counts(), karat.scan(rows).roles(**ROLES).counts())
    other = karat.scan(f'duckdb:{database}#2026.my "scores"').roles(**ROLES)
    assert other.confusion().n == 300
    assert karat.scan(f"duckdb:{database}#main.scores").roles(**ROLES).confusion().n == 800


def test_a_view_is_run_once(database):
    counts = karat.scan(f"duckdb:{database}#drawn").roles(**ROLES).counts()
    area = counts.roc["s"]
    assert counts.confusions["a"].n == area.positives.sum() + area.negatives.sum()


def test_the_file_is_only_read(database):
    data = karat.scan(f"duckdb:{database}#scores").roles(**ROLES)
    before = database.read_bytes()
    data.counts()
    assert database.read_bytes() == before
    code = f"import duckdb; duckdb.connect({str(database)!r}, read_only=True).sql('from scores')"
    subprocess.run([sys.executable, "-c", code], check=True)  # while the file is open here


def test_what_is_no_table(database, tmp_path):
    with pytest.raises(DataError, match=r"there is no file 'none.db'; .* duckdb:file.db#table"):
        karat.scan("duckdb:none.db#t")
    with pytest.raises(DataError, match=r"no table 'score' of mails.db; there are .*'scores'"):
        karat.scan(f"duckdb:{database}#score")
    with pytest.raises(DataError, match=r"no table named after a '#' of mails.db"):
        karat.scan(f"duckdb:{database}")
    (tmp_path / "text.db").write_text("no database" * 1000)
    with pytest.raises(DataError, match=r"text.db cannot be opened with DuckDB"):
        karat.scan(f"duckdb:{tmp_path / 'text.db'}#t")
    with pytest.raises(DataError, match="spark: names no table"):
        karat.scan("spark:")


@pytest.mark.parametrize("engine", ["duckdb", "pyspark"])
def test_an_engine_that_is_not_installed(engine, database, monkeypatch):
    monkeypatch.setitem(sys.modules, engine, None)
    source = f"duckdb:{database}#scores" if engine == "duckdb" else "spark:db.scores"
    with pytest.raises(MissingExtraError, match=rf"needs the package '{engine}'"):
        karat.scan(source)
