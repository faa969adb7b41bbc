"""Ibis, Dask and Spark Connect: the counts and the answers of the rows, and queries run once."""

import shutil

import pytest

import karat
from karat.exceptions import DataError

ROLES = {"label": "y", "pred": "pred", "score": "score", "weak": "lf_*", "group": "sex", "id": "id"}
ASKED = {"label": "y", "pred": "pred", "score": "score", "group": "sex"}
pytestmark = pytest.mark.filterwarnings("ignore")


def assert_same(counts, wanted):
    assert counts.votes == wanted.votes
    for kind in ("patterns", "roc", "confusions"):
        assert dict(getattr(counts, kind)) == dict(getattr(wanted, kind))
    assert (counts.patterns["pred"].by_fold == wanted.patterns["pred"].by_fold).all()


def assert_one_run(frame):
    counts = karat.scan(frame).roles(label="y", pred="pred", score="score").counts()
    area = counts.roc["score"]
    assert counts.confusions["pred"].n == area.positives.sum() + area.negatives.sum()


@pytest.fixture(scope="module")
def rounded(table):
    return table.with_columns(score=table["score"].round(1))


@pytest.fixture(scope="module")
def wanted(rounded):
    return karat.scan(rounded).roles(**ROLES).counts()


def test_ibis(rounded, wanted, tmp_path):
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    rounded.write_parquet(tmp_path / "rows.parquet")
    frame = ibis.duckdb.connect().read_parquet(tmp_path / "rows.parquet")
    assert_same(karat.scan(frame).roles(**ROLES).counts(), wanted)
    found, same = (karat.evaluate(rows, **ASKED) for rows in (frame, rounded))
    assert [v.sentence for v in found.verdicts] == [v.sentence for v in same.verdicts]
    assert_one_run(frame.filter(ibis.random() < 0.5))


def test_dask(rounded, wanted):
    dask = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    frame = dask.from_pandas(rounded.to_pandas(), npartitions=3)
    assert_same(karat.scan(frame).roles(**ROLES).counts(), wanted)
    found, same = (karat.evaluate(rows, **ASKED) for rows in (frame, rounded))
    assert [v.sentence for v in found.verdicts] == [v.sentence for v in same.verdicts]


@pytest.mark.slow
def test_spark_connect(rounded, tmp_path, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none")
    from pyspark.sql import SparkSession

    # What a session of the same process left behind.
    for name in ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        monkeypatch.delenv(name, raising=False)
    rounded.write_parquet(tmp_path / "rows.parquet")
    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        frame = session.read.parquet(str(tmp_path / "rows.parquet"))
        for item in ("id", "name"):
            roles = ROLES | {"id": item}
            same = karat.scan(rounded).roles(**roles).counts()
            assert_same(karat.scan(frame).roles(**roles).counts(), same)
        assert_one_run(frame.selectExpr("*", "rand() as r").where("r < .5"))
        frame.createOrReplaceTempView("rows")
        assert karat.scan("spark:rows").engine == "pyspark[connect]"
        data = karat.scan(frame).roles(label="y", pred="pred")
    finally:
        session.stop()
    for ask in (data.counts, lambda: karat.evaluate(frame, label="y", pred="pred")):
        with pytest.raises(DataError, match="Spark session of this frame is gone"):
            ask()
