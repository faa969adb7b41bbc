"""Lazy tables of 300,000 rows, whose rows come in another order each time they are collected.

What is measured on them is the right number or is refused, and never another number. Small tables
do not show it: engines keep the order of rows that fit into one thread.
"""

import duckdb
import numpy as np
import polars as pl
import pytest

import karat
from karat.bounds import performance_bounds
from karat.calibration import canonical_calibration_error, marginal_calibration_error
from karat.consensus import ErrorEstimator
from karat.exceptions import LazyFrameError
from karat.metrics import f_beta, mcc
from karat.ranking import compare_rankings, roc_at, weighted_auc
from karat.statistics import confusion, pattern_counts, patterns, roc_counts
from karat.weak import MajorityVote, OracleLabelModel, vote_diagnostics

N = 300_000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    votes = np.where(rng.random((N, 3)) < 0.2, 1 - y[:, None], y[:, None])
    score = rng.normal(1.5 * y)
    return pl.DataFrame(
        {
            "id": np.arange(N),
            "y": y,
            "pred": (score > 0.75).astype(int),
            "score": score,
            "prob": 1 / (1 + np.exp(-score)),
            "weight": rng.random(N),
            **{name: votes[:, j] for j, name in enumerate("abc")},
        }
    )


VALUES = ["y", "pred", "score", "prob", "weight", "a", "b", "c"]


def polars_tables(rows):
    half = N // 2
    apart = pl.concat([rows.lazy().slice(half), rows.lazy().slice(0, half)])
    other = rows.lazy().select("id", "score", "prob", "weight")
    first = [pl.col(name).first() for name in VALUES]
    return {
        "group_by": rows.lazy().group_by("id").agg(first),
        "unique": pl.concat([rows.lazy(), rows.lazy()]).unique(),
        "join": apart.drop("score", "prob", "weight").join(other, on="id"),
    }


def duckdb_tables(rows, database):
    database.register("items", rows.to_arrow())
    first = ", ".join(f"first({name}) as {name}" for name in VALUES)
    return {
        "group_by": database.sql(f"select id, {first} from items group by id"),
        "unique": database.sql("select distinct * from (from items union all from items)"),
        "join": database.sql(
            "select l.id, l.y, l.pred, r.score, r.prob, r.weight, l.a, l.b, l.c "
            "from items l join (select * from items order by id desc) r using (id)"
        ),
    }


@pytest.fixture(scope="module")
def tables(rows):
    with duckdb.connect() as database:
        yield {"polars": polars_tables(rows), "duckdb": duckdb_tables(rows, database)}


# Each is called with a way to take columns: from one frame in memory, or from a lazy table.
PAIRED = {
    "weighted_auc": lambda take: weighted_auc(take("y"), take("score")).value,
    "compare_rankings": lambda take: (
        compare_rankings(take("y"), {"one": take("score"), "two": take("weight")}).to_dict()
    ),
    "roc_at": lambda take: roc_at(take("y"), take("score"), fpr=0.1).to_dict(),
    "roc_counts": lambda take: roc_counts(take("y"), take("score")).positives.tolist(),
    "confusion": lambda take: confusion(take("y"), take("pred")).counts.tolist(),
    "confusion with weights": lambda take: confusion(
        take("y"), take("pred"), take("weight")
    ).counts.tolist(),
    "mcc": lambda take: mcc.score(take("y"), take("pred")),
    "f_beta": lambda take: f_beta(2).score(take("y"), take("pred")),
    "pattern_counts": lambda take: pattern_counts(
        take("pred"), take("a", "b", "c")
    ).counts.tolist(),
    "performance_bounds": lambda take: performance_bounds(
        take("pred"), take("a", "b", "c"), MajorityVote().fit(np.eye(3, dtype=int)),
        metric="accuracy", rng=0,
    ).lower,
    "canonical_calibration_error": lambda take: canonical_calibration_error(
        take("y"), take("prob"), rng=0
    ).value,
    "marginal_calibration_error": lambda take: marginal_calibration_error(
        take("y"), take("prob")
    ).value,
    "OracleLabelModel.fit": lambda take: OracleLabelModel().fit(
        take("a", "b", "c"), take("y")
    ).confusions_.tolist(),
    "ErrorEstimator.fit with labels": lambda take: ErrorEstimator(draws=20, rng=0).fit(
        take("a", "b", "c"), y_true=take("y")
    ).result_.value.tolist(),
    "label_proba": lambda take: MajorityVote().fit(np.eye(3, dtype=int)).predict_proba(
        take("a", "b", "c")
    ).tolist(),
}  # fmt: skip


@pytest.mark.parametrize("function", PAIRED)
@pytest.mark.parametrize("operation", ["group_by", "unique", "join"])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_columns_collected_apart_are_refused(tables, engine, operation, function):
    table = tables[engine][operation]

    def take(*names):
        return table.select(*names)

    with pytest.raises(LazyFrameError, match=f"is a lazy frame of {engine}, and rows of a lazy"):
        PAIRED[function](take)


@pytest.mark.filterwarnings("ignore::UserWarning")  # two thousand rows are few
@pytest.mark.parametrize("function", PAIRED)
def test_columns_of_one_frame_are_measured(rows, function):
    frame = rows.head(2000)
    one = PAIRED[function](lambda *names: frame[names[0]] if len(names) == 1 else frame[names])
    two = PAIRED[function](lambda *names: frame.select(*names))
    assert one == two


def test_a_lazy_column_beside_an_array_is_refused(rows, tables):
    table = tables["duckdb"]["unique"]
    with pytest.raises(LazyFrameError, match="y_score is a lazy frame of duckdb"):
        weighted_auc(rows["y"].to_numpy(), table.select("score"))


@pytest.mark.parametrize("operation", ["group_by", "unique", "join"])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_one_lazy_table_gives_the_right_number(rows, tables, engine, operation):
    table = tables[engine][operation]
    votes, known = table.select("a", "b", "c"), rows.select("a", "b", "c")
    right = patterns(known)
    found = patterns(votes)
    assert (found.counts == right.counts).all()
    assert (found.patterns == right.patterns).all()
    assert vote_diagnostics(votes) == vote_diagnostics(known)
    counts = karat.scan(table).roles(label="y", score="score").roc_counts(cells=1 << 12)
    area = weighted_auc(counts)
    truth = weighted_auc(rows["y"], rows["score"]).value
    assert area.lower <= truth <= area.upper
    assert counts.positives.sum() + counts.negatives.sum() == N


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_votes_alone_give_the_same_error_rates(rows, tables, engine):
    options = {"draws": 20, "dependence": "none", "rng": 0}
    found = ErrorEstimator(**options).fit(tables[engine]["group_by"].select("a", "b", "c"))
    right = ErrorEstimator(**options).fit(rows.select("a", "b", "c"))
    np.testing.assert_allclose(found.result_.value, right.result_.value, rtol=1e-12)


@pytest.mark.parametrize("operation", ["group_by", "unique", "join"])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_one_collection_gives_the_right_number(rows, tables, engine, operation):
    """What the refusal tells users to do."""
    table = tables[engine][operation]
    frame = table.collect() if engine == "polars" else table.pl()
    truth = weighted_auc(rows["y"], rows["score"]).value
    assert weighted_auc(frame["y"], frame["score"]).value == pytest.approx(truth, abs=1e-12)
    right = confusion(rows["y"], rows["pred"], rows["weight"]).counts
    found = confusion(frame["y"], frame["pred"], frame["weight"]).counts
    np.testing.assert_allclose(found, right, rtol=1e-9)


@pytest.mark.parametrize("library", ["dask", "ibis", "pyspark"])
def test_a_column_that_numpy_would_run_is_refused(library):
    """Columns of these libraries are no lazy frames, and NumPy runs the query of each apart."""
    kind = type("Column", (), {"__array__": lambda self, *_, **__: np.arange(4) % 2})
    kind.__module__ = f"{library}.some.place"
    with pytest.raises(LazyFrameError, match=f"y_true is a lazy frame of {library}"):
        confusion(kind(), [0, 1, 0, 1])
    with pytest.raises(LazyFrameError, match=f"weak_labels is a lazy frame of {library}"):
        patterns(kind())


def test_the_same_lazy_frame_twice_is_two_collections(tables):
    table = tables["polars"]["group_by"].select("y")
    with pytest.raises(LazyFrameError, match="y_true is a lazy frame"):
        confusion(table, table)
