"""The same numbers from every engine, at 300,000 rows in no fixed order."""

import duckdb
import numpy as np
import polars as pl
import pytest

import karat
from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.ranking import (
    compare_rankings,
    weighted_auc,
)
from karat.sources.engines import fold_of
from karat.statistics import confusion, pattern_counts, roc_counts

ROLES = {
    "label": "y", "pred": "pred", "score": ["score", "other"], "weak": "lf_*", "group": "sex",
    "id": "id",
}  # fmt: skip
# Limits are roots that are searched for, to more digits by some versions of SciPy than by others.
APART = {"value": 1e-12, "lower": 1e-10, "upper": 1e-10}
VALUES = ["y", "pred", "score", "other", "weight", "sex", "name", "lf_0", "lf_1", "lf_2"]


def as_pandas(table, _):
    return table.to_pandas()


def as_arrow(table, _):
    return table.to_arrow()


def as_grouped(table, _):
    return table.lazy().group_by("id").agg(pl.col(name).first() for name in VALUES)


def as_unique(table, _):
    return pl.concat([table.lazy(), table.lazy()]).unique()


def as_joined(table, _):
    half = len(table) // 2
    apart = pl.concat([table.lazy().slice(half), table.lazy().slice(0, half)])
    return apart.drop("score", "other").join(table.lazy().select("id", "score", "other"), on="id")


def as_relation(table, database):
    database.register("items", table.to_arrow())
    first = ", ".join(f"first({name}) as {name}" for name in VALUES)
    return database.sql(f"select id, {first} from items group by id")


ENGINES = [as_pandas, as_arrow, as_grouped, as_unique, as_joined, as_relation]


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="module", params=ENGINES, ids=lambda make: make.__name__[3:])
def source(request, table, database):
    return karat.scan(request.param(table, database)).roles(**ROLES)


@pytest.fixture(scope="module")
def truth(table):
    """What the rows themselves say, counted in memory."""
    votes = table.select("lf_0", "lf_1", "lf_2")
    return {
        "patterns": pattern_counts(table["pred"], votes, table["sex"]),
        "confusion": confusion(table["y"], table["pred"], groups=table["sex"]),
        "roc": roc_counts(table["y"], table["score"]),
        "area": weighted_auc(table["y"], table["score"]),
        "bounds": performance_bounds(table["pred"], votes, metric="f1", rng=0),
    }


def test_columns_are_collected_together(source, table):
    columns = source.columns
    assert len(columns) == len(table)
    assert columns is source.columns
    assert columns.sort("id").equals(table.select(columns.columns).sort("id"))


def test_counts_are_those_of_the_rows(source, truth):
    patterns = source.pattern_counts()
    assert patterns.patterns.tolist() == truth["patterns"].patterns.tolist()
    assert patterns.counts.tolist() == truth["patterns"].counts.tolist()
    assert patterns.groups.tolist() == ["f", "m"]
    assert source.confusion() == truth["confusion"]
    assert source.roc_counts("score") == truth["roc"]


def test_folds_are_those_of_the_identifiers(source, table):
    fold = fold_of(table["id"].to_numpy())
    by_fold = source.pattern_counts().by_fold
    assert by_fold.sum(axis=(1, 2, 3)).tolist() == np.bincount(fold).tolist()
    here = table.filter(pl.Series(fold == 3))
    own = pattern_counts(here["pred"], here.select("lf_0", "lf_1", "lf_2"), here["sex"])
    assert by_fold[3].sum() == own.n
    assert (by_fold[3].sum(axis=0) > 0).sum() == (own.counts.sum(axis=0) > 0).sum()
    assert np.abs(by_fold.sum(axis=(1, 2, 3)) / len(table) - 0.2).max() < 0.005


def test_folds_of_text_are_the_same_everywhere(table, database):
    wanted = np.bincount(fold_of(table["name"].to_numpy().astype(str))).tolist()
    for make in (as_grouped, as_relation):
        data = karat.scan(make(table, database)).roles(pred="pred", weak="lf_*", id="name")
        assert data.pattern_counts().by_fold.sum(axis=(1, 2)).tolist() == wanted


def test_areas_from_counts(truth, table, database):
    # That counts are equal on every engine is tested above; areas are a function of counts.
    source = karat.scan(as_relation(table, database)).roles(**ROLES)
    area = weighted_auc(source.roc_counts("score"))
    for field, apart in APART.items():
        assert getattr(area, field) == pytest.approx(getattr(truth["area"], field), abs=apart)
    counts = {name: source.roc_counts(name) for name in ("score", "other")}
    found = compare_rankings(counts).differences[0]
    rows = compare_rankings(table["y"], {name: table[name] for name in counts}).differences[0]
    assert (found.first, found.second) == (rows.first, rows.second)
    free = (
        rows.value,
        rows.guaranteed.lower,
        rows.guaranteed.upper,
    )  # paired ones come first
    for (field, apart), wanted in zip(APART.items(), free, strict=True):
        assert getattr(found, field) == pytest.approx(wanted, abs=apart)
    assert rows.p_value is not None
    assert found.p_value is None  # it needs the rows


def test_paired_comparisons_from_joint_counts(table, database):
    """The greater of two errors that the cells allow: never below that of the rows."""
    names = ("score", "other")
    rows = compare_rankings(table["y"], table.select(names), limits="delong").differences[0]
    for make in (as_grouped, as_relation):
        source = karat.scan(make(table, database)).roles(**ROLES)
        counts = {name: source.roc_counts(name) for name in names}
        joint = source.joint_roc_counts(*counts.values(), names=names)
        assert joint.counts.sum() == len(table)
        assert (joint + joint).n == 2 * joint.n
        found = compare_rankings(counts, joint=[joint], limits="delong").differences[0]
        assert found.value == pytest.approx(rows.value, abs=1e-12)
        wide = (found.upper - found.lower) / (rows.upper - rows.lower)
        assert 1 - 1e-9 <= wide <= 1.05
        assert found.p_value >= rows.p_value
    with pytest.raises(karat.exceptions.OptionError, match="joint counts of score and other"):
        compare_rankings(counts, limits="delong")


def test_areas_by_group(table, database):
    source = karat.scan(as_relation(table, database)).roles(**ROLES)
    whole = weighted_auc(source.roc_counts("score", by="group"))
    rows = weighted_auc(table["y"], table["score"], groups=table["sex"])
    assert whole.value == pytest.approx(rows.value, abs=1e-12)
    for name in ("f", "m"):
        assert whole.groups[name].lower == pytest.approx(
            rows.groups[name].lower, abs=APART["lower"]
        )


def test_bounds_from_counts(table, truth, database):
    for make in (as_grouped, as_relation):
        data = karat.scan(make(table, database)).roles(pred="pred", weak="lf_*")
        found = performance_bounds(data.pattern_counts(), metric="f1", rng=0)
        for field in ("lower", "upper", "lower_limit", "upper_limit", "n"):
            assert getattr(found, field) == getattr(truth["bounds"], field)


def test_bounds_by_folds_of_identifiers_need_no_seed(table, database):
    source = karat.scan(as_relation(table, database)).roles(**ROLES)
    one, two = (
        performance_bounds(source.pattern_counts(), metric="accuracy", rng=seed) for seed in (0, 1)
    )
    assert (one.lower_limit, one.upper_limit) == (two.lower_limit, two.upper_limit)


def test_judges_from_counts(table, database):
    # The fit does not depend on the number of rows: one engine and few draws are enough.
    data = karat.scan(as_relation(table, database)).roles(judge="lf_*", group="sex")
    options = {"draws": 50, "dependence": "none", "rng": 0}
    counted = ErrorEstimator(**options).fit(data.vote_counts())
    rows = ErrorEstimator(**options).fit(table.select("lf_0", "lf_1", "lf_2"), domains=table["sex"])
    assert counted.result_.value.tolist() == rows.result_.value.tolist()
    assert counted.result_.upper.tolist() == rows.result_.upper.tolist()
    assert counted.status_ == rows.status_
    with pytest.raises(karat.exceptions.LazyFrameError, match="fitted to counts"):
        counted.label_next(3)


def test_weights_are_added_up(table, database):
    for make in (as_grouped, as_relation):
        data = karat.scan(make(table, database)).roles(label="y", pred="pred", weight="weight")
        found = data.confusion()
        rows = confusion(table["y"], table["pred"], table["weight"])
        assert found.counts == pytest.approx(rows.counts, rel=1e-12)


def test_many_scores_are_counted_in_cells_and_the_counts_say_so(table, database):
    data = karat.scan(as_relation(table, database)).roles(label="y", score="score")
    counts = data.roc_counts(cells=64)
    assert counts.cells
    area = weighted_auc(counts)
    low, high = area.value_range
    assert low <= weighted_auc(table["y"], table["score"]).value <= high
    with pytest.raises(karat.exceptions.DataError, match="cells of scores cannot be added"):
        counts + counts
