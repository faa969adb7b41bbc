"""Counting scores of tables that are never read in."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import karat
from karat.exceptions import ColumnError, DataError, LabelError, OptionError, ScoreError
from karat.ranking import FprBand, TprBand, Uniform, weighted_auc


def in_cells(table, *, label="y", cells=1 << 20, **options):
    return karat.scan(table).roles(label=label, score="s").roc_counts(cells=cells, **options)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = rng.random(3000) < 0.2
    return pl.DataFrame({"y": np.where(y, "yes", "no"), "s": rng.normal(size=3000) + 1.5 * y})


def test_every_engine_counts_the_same(rows, tmp_path):
    path = tmp_path / "rows.parquet"
    rows.write_parquet(path)
    relation = duckdb.sql(f"select * from '{path}'")
    sources = [path, str(path), rows, rows.lazy(), rows.to_pandas(), rows.to_arrow(), relation]
    counted = [in_cells(s, cells=64) for s in sources]
    assert all(c == counted[0] for c in counted)
    assert counted[0].positives.sum() == (rows["y"] == "yes").sum()
    assert counted[0].negatives.sum() == (rows["y"] == "no").sum()


def test_cells_are_those_of_numpy(rows):
    counts = in_cells(rows, cells=50, pos_label="no")
    s, y = rows["s"].to_numpy(), (rows["y"] == "no").to_numpy()
    edges = np.linspace(s.min(), s.max(), 51)
    wanted = np.histogram(s[y], edges)[0]
    assert counts.classes.tolist() == ["yes", "no"]
    assert counts.positives.tolist() == wanted[np.histogram(s, edges)[0] > 0].tolist()


@pytest.mark.parametrize("weight", [Uniform(), FprBand(0, 0.1), TprBand(0.7, 1)])
@pytest.mark.parametrize("cells", [8, 100, 1 << 20])
def test_what_cells_hide_is_enclosed(rows, weight, cells):
    y, s = rows["y"].to_numpy(), rows["s"].to_numpy()
    read = weighted_auc(y, s, weight=weight)
    counts = in_cells(rows, cells=cells)
    found = weighted_auc(counts, weight=weight)
    low, high = found.value_range
    assert low - 1e-12 <= read.value <= high + 1e-12
    assert found.lower <= read.lower + 1e-12
    assert found.upper >= read.upper - 1e-12
    if cells == 1 << 20:
        assert high - low < 1e-3


def test_constant_scores_are_one_cell():
    counts = in_cells(pd.DataFrame({"y": [0, 1, 1], "s": [2.0, 2, 2]}))
    assert counts.scores.tolist() == [2.0]
    assert (counts.positives.tolist(), counts.negatives.tolist()) == ([2], [1])


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"y": ["a", None, "b"]}, LabelError, "missing in 1 of 3 rows"),
        ({"y": ["a", "a", "a"]}, LabelError, "one class only"),
        ({"y": ["a", "b", "c"]}, LabelError, "holds 3 classes"),
        ({"s": [0.1, None, 0.3]}, ScoreError, "not finite in 1 rows"),
        ({"s": [0.1, float("nan"), 0.3]}, ScoreError, "not finite in 1 rows"),
        ({"s": [0.1, float("inf"), 0.3]}, ScoreError, "not finite in 1 rows"),
        ({"s": ["x", "y", "z"]}, ScoreError, "expected numbers"),
    ],
)
def test_bad_columns_are_named(change, error, said):
    frame = pl.DataFrame({"y": ["no", "yes", "no"], "s": [0.1, 0.2, 0.3], **change})
    with pytest.raises(error, match=said):
        in_cells(frame.lazy())


def test_bad_sources_are_named(tmp_path, rows):
    with pytest.raises(ColumnError, match="label='z': there is no such column"):
        in_cells(rows, label="z")
    with pytest.raises(DataError, match=r"none\.parquet"):
        in_cells(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="expected"):
        in_cells([1, 2])
    with pytest.raises(DataError, match="no rows"):
        in_cells(rows.head(0))
    with pytest.raises(OptionError, match="cells"):
        in_cells(rows, cells=0)
    counts = in_cells(rows, cells=64)
    with pytest.raises(OptionError, match="expected 'auto' or 'dkw' for scores in cells"):
        weighted_auc(counts, limits="delong")
