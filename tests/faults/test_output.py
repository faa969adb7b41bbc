"""Outputs that are full, closed or interrupted: one line, an exit code, and no half file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from karat.exceptions import ColumnError, DataError
from karat.sources import Counts, scan
from karat.sources.engines import check_names, engine_errors, is_spark
from karat.sources.opening import is_query

COMMAND = [sys.executable, "-m", "karat"]
ROWS = pl.DataFrame({"y": [0, 1, 1, 0] * 10, "a": [0, 1, 0, 0] * 10})


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    ROWS.write_csv(path)
    return path


def score(rows, *flags):
    return [*COMMAND, "score", str(rows), "--label", "y", "--pred", "a", *flags]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_full_disk_behind_the_standard_output(flags, rows):
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(score(rows, *flags), stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 3
    assert ran.stderr == "error: the answer cannot be written: No space left on device\n"


def test_a_closed_standard_output_gets_nothing_and_pages_are_whole(rows, tmp_path):
    page = tmp_path / "page.html"
    shell = f'"$@" --output {page} <&- >&-'
    ran = subprocess.run(["sh", "-c", shell, "sh", *score(rows)], stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")


def test_counts_on_a_full_disk(tmp_path, monkeypatch):
    counts = scan(ROWS).roles(label="y", pred="a").counts()

    def full(self, target, **_):
        Path(target).write_bytes(b"half")
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(DataError, match=r"c\.parquet' cannot be written: .*No space left"):
        counts.save(tmp_path / "c.parquet")
    assert list(tmp_path.iterdir()) == []
    assert hasattr(Counts, "save")


BUSY = """
import sys
import numpy as np
from karat._files import replaced, stop_on_interrupt
stop_on_interrupt(130)
square = np.random.default_rng(0).normal(size=(3500, 3500))
with replaced(sys.argv[1]) as path:
    path.write_text("half")
    print("ready", flush=True)
    np.linalg.svd(square)  # a minute in which Python sees no signal
"""


def test_an_interrupt_ends_a_long_compiled_step(tmp_path):
    target = tmp_path / "page.html"
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, str(target)], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == 1
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - begun < 5  # a second, and as much again on a machine that is busy
    assert (process.returncode, said) == (130, "interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("text", "wanted"), [
    ("select 1 as y", True), ("-- scores\nselect 1", True),
    ("/* a\n b */ with x as (select 1)", True), ("(select 1)", True),
    ("from 'x.parquet'", True), ("--only a comment", False),
    ("selected.csv", False), ("from.csv", False),
    ("-- a\n" * 3000 + "select " + "1, " * 9000, True),
])  # fmt: skip
def test_queries_may_begin_with_comments(text, wanted):
    assert is_query(text) is wanted


def test_a_query_with_a_comment_is_run():
    pytest.importorskip("duckdb")
    assert scan("-- two rows\nselect * from (values (0), (1)) t(y)").columns["y"].to_list() == [
        0,
        1,
    ]


def test_spark_connect_is_spark():
    assert is_spark("pyspark")
    assert is_spark("pyspark_connect")
    assert not is_spark("polars")


def test_names_that_spark_reads_as_fields_are_refused_with_the_cure():
    check_names("polars", ["a.b", "`"])
    check_names("pyspark", ["a b", 'a"b'])
    for engine in ("pyspark", "pyspark_connect"):
        with pytest.raises(
            ColumnError, match=r"withColumnRenamed\('model\.score', 'model_score'\)"
        ):
            check_names(engine, ["y", "model.score"])


@pytest.mark.parametrize("engine", ["pyspark", "pyspark_connect"])
def test_a_session_that_is_gone_is_said(engine):
    for error in (
        AssertionError(),
        RuntimeError("[SESSION_CLOSED] x"),
        OSError("Connection refused"),
    ):
        with pytest.raises(DataError, match="Spark session of this frame is gone"):  # noqa: SIM117
            with engine_errors(engine):
                raise error
