"""PySpark on two local cores: the numbers of the rows, after a repartition at 300,000 rows."""

import contextlib
import shutil
import warnings

import narwhals as nw
import numpy as np
import pytest

import karat
from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.exceptions import DataError, LabelError, LazyFrameError
from karat.ranking import weighted_auc
from karat.sources import Counts
from karat.sources.engines import fold_of
from karat.statistics import confusion

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, and there is none", allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ROLES = {"label": "y", "pred": "pred", "score": "score", "weak": "lf_*", "group": "sex", "id": "id"}


@pytest.fixture(scope="module")
def spark():
    """One session for all tests: it takes seconds to start."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        # Java compiles so short a run for longer than it runs it.
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.driver.memory", "1g")
            .config("spark.driver.host", "localhost")
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    with contextlib.suppress(Exception):  # of a session whose Java is gone
        session.stop()


@pytest.fixture(scope="module")
def shuffled(spark, table, tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "table.parquet"
    table.write_parquet(path)
    return spark.read.parquet(str(path)).repartition(7, "id").cache()


@pytest.fixture(scope="module")
def counted(shuffled):
    return karat.scan(shuffled).roles(**ROLES).counts()


@pytest.fixture(scope="module")
def wanted(table):
    return karat.scan(table).roles(**ROLES).counts()


def test_counts_are_those_of_the_rows(counted, wanted, table):
    assert counted.votes == wanted.votes
    for kind in ("patterns", "roc", "confusions"):
        assert dict(getattr(counted, kind)) == dict(getattr(wanted, kind))
    found = counted.confusions["pred"]
    assert found == confusion(table["y"], table["pred"], groups=table["sex"])
    by_fold = counted.patterns["pred"].by_fold.sum(axis=(1, 2, 3))
    assert by_fold.tolist() == np.bincount(fold_of(table["id"].to_numpy())).tolist()


def test_folds_of_text_are_the_same_as_elsewhere(shuffled, table):
    data = karat.scan(shuffled).roles(pred="pred", weak="lf_*", id="name")
    folds = np.bincount(fold_of(table["name"].to_numpy().astype(str)))
    assert data.pattern_counts().by_fold.sum(axis=(1, 2)).tolist() == folds.tolist()


def test_answers_are_those_of_the_rows(counted, wanted, table):
    area = weighted_auc(counted.roc["score"])
    rows = weighted_auc(table["y"], table["score"])
    assert (area.value, area.lower, area.upper) == pytest.approx(
        (rows.value, rows.lower, rows.upper), abs=1e-12
    )
    here, there = (performance_bounds(c.patterns["pred"], metric="f1") for c in (counted, wanted))
    assert (here.lower_limit, here.upper_limit) == (there.lower_limit, there.upper_limit)
    assert counted.votes.label is not None
    fitted = ErrorEstimator(draws=50, dependence="none", rng=0).fit(counted.votes)
    assert set(fitted.status_) == {"f", "m"}


def test_columns_are_collected_together_and_never_apart(shuffled, table):
    columns = karat.scan(shuffled).roles(label="y", score="score", id="id").columns
    assert columns.sort("id").equals(table.select(columns.columns).sort("id"))
    with pytest.raises(LazyFrameError, match=r"lazy frame of pyspark.*karat\.scan"):
        weighted_auc(shuffled.select("y"), shuffled.select("score"))


def test_scores_in_cells(shuffled, table):
    counts, same = (
        karat.scan(rows).roles(label="y", score="score").roc_counts(cells=128)
        for rows in (shuffled, table)
    )
    assert counts == same


def test_tables_by_name(spark, shuffled):
    shuffled.createOrReplaceTempView("scores")
    data = karat.scan("scores", session=spark).roles(label="y", pred="pred")
    assert data.engine == "pyspark"
    assert data.confusion().n == 300_000
    with pytest.raises(DataError, match="no table 'nowhere'"):
        karat.scan("nowhere", session=spark)
    data = karat.scan("spark:scores").roles(label="y", pred="pred")
    assert data.confusion().n == 300_000
    with pytest.raises(DataError, match=r"no table 'db\.nowhere'"):
        karat.scan("spark:db.nowhere")


def test_nulls_in_labels(spark):
    frame = spark.createDataFrame([(1, 1), (None, 0), (0, 1)], "y int, pred int")
    with pytest.raises(LabelError, match="label column 'y' is missing in 1 of 3 rows"):
        karat.scan(frame).roles(label="y", pred="pred").confusion()


@pytest.mark.parametrize("item", ["id", "name"])
def test_the_query_in_its_dialect_gives_the_counts_of_the_rows(spark, shuffled, table, item):
    odd = {"lf_0": "a.b", "lf_1": "order", "sex": "Größe `x`"}
    roles = {**ROLES, "weak": ["a.b", "order", "lf_2"], "group": "Größe `x`", "id": item}
    renamed = shuffled
    for name, other in odd.items():
        renamed = renamed.withColumnRenamed(name, other)
    renamed.createOrReplaceTempView("odd")
    result = spark.sql(Counts.query("odd", "spark", **roles)).toPandas()
    found, wanted = Counts.from_query(result), karat.scan(table.rename(odd)).roles(**roles).counts()
    assert found.votes == wanted.votes
    for kind in ("patterns", "roc", "confusions"):
        assert dict(getattr(found, kind)) == dict(getattr(wanted, kind))
    assert (found.patterns["pred"].by_fold == wanted.patterns["pred"].by_fold).all()


def test_a_query_is_run_once_and_forgotten(spark):
    frame = spark.range(100_000).selectExpr("id", "cast(id % 2 as int) y", "rand() s", "rand() r")
    drawn = frame.where("r < .1").selectExpr("y", "y as pred", "s")
    data = karat.scan(drawn).roles(label="y", pred="pred", score="s")
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    found = data.counts()
    assert (
        found.confusions["pred"].n
        == found.roc["s"].positives.sum() + found.roc["s"].negatives.sum()
    )
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_an_evaluation_takes_distinct_rows_and_no_others(spark, table, monkeypatch):
    rounded = table.with_columns(score=table["score"].round(1))
    options = {"label": "y", "pred": "pred", "score": "score", "group": "sex"}
    expected = karat.evaluate(rounded, **options)
    frame = spark.createDataFrame(rounded.select("id", *options.values()).to_pandas())
    brought, run = [], nw.LazyFrame.collect

    def counted(self, *args, **kwargs):
        found = run(self, *args, **kwargs)
        brought.append(len(found))
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", counted)
    found = karat.evaluate(frame, **options)
    assert max(brought) < 2_000
    assert dict(found.facts)["rows"] == "300,000"
    assert [v.sentence for v in found.verdicts] == [v.sentence for v in expected.verdicts]
    own, other = expected.to_frame(), found.to_frame()
    for column in ("value", "lower", "upper"):
        assert np.allclose(own[column], other[column], rtol=0, atol=1e-12, equal_nan=True)


def test_a_session_that_is_gone(spark):
    """Near the end: it ends the session of all others."""
    frame = spark.createDataFrame([(1, 1), (0, 0)], "y int, pred int")
    data = karat.scan(frame).roles(label="y", pred="pred")
    spark.stop()
    with pytest.raises(DataError, match="Spark session of this frame is gone"):
        data.confusion()


def test_java_that_dies_in_the_middle_of_an_evaluation(table, monkeypatch):
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").getOrCreate()
    frame = session.createDataFrame(table.select("y", "pred", "score")[:1000].to_pandas())
    run, asked = nw.LazyFrame.collect, []

    def dies(self, *args, **kwargs):
        asked.append(self)
        if len(asked) == 2:
            process = SparkContext._gateway.proc
            process.kill()
            process.wait()
        return run(self, *args, **kwargs)

    monkeypatch.setattr(nw.LazyFrame, "collect", dies)
    try:
        with pytest.raises(DataError, match="Spark session of this frame is gone"):
            karat.evaluate(frame, label="y", pred="pred", score="score")
    finally:
        monkeypatch.undo()
        # Other modules start a Java of their own.
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None
