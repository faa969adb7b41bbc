"""What is wrong with a table is said in one sentence that names the file or the column."""

import gzip
import io
import sys
from types import SimpleNamespace

import duckdb
import polars as pl
import pytest

import karat
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    LabelError,
    OptionError,
    ScoreError,
    WeightError,
)
from karat.sources import Counts

FRAME = pl.DataFrame(
    {"id": [1, 2, 3, 4], "y": [0, 1, 1, 0], "p": [0, 1, 0, 0], "s": [0.1, 0.9, 0.4, 0.2],
     "lf_1": [0, 1, 1, -1], "lf_2": [0, None, 1, 1]}
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", lambda f, path: f.write_csv(path)),
        ("t.tsv", lambda f, path: f.write_csv(path, separator="\t")),
        ("t.csv.gz", lambda f, path: path.write_bytes(gzip.compress(f.write_csv().encode()))),
        ("t.jsonl", lambda f, path: f.write_ndjson(path)),
        ("t.jsonl.gz", lambda f, path: path.write_bytes(gzip.compress(f.write_ndjson().encode()))),
        ("t.parquet", lambda f, path: f.write_parquet(path)),
        ("t.arrow", lambda f, path: f.write_ipc(path)),
    ],
)
def test_every_kind_of_file_gives_the_same_table(tmp_path, name, write):
    write(FRAME, tmp_path / name)
    assert karat.scan(tmp_path / name).columns.equals(FRAME)


@pytest.mark.parametrize("write", [pl.DataFrame.write_csv, pl.DataFrame.write_parquet])
def test_folders_patterns_and_the_standard_input(tmp_path, monkeypatch, write):
    ending = write.__name__.rpartition("_")[2]
    (tmp_path / "sub").mkdir()
    write(FRAME[:2], tmp_path / "sub" / f"a.{ending}")
    write(FRAME[2:], tmp_path / "sub" / f"b.{ending}")
    (tmp_path / "sub" / "_SUCCESS").write_text("")
    assert karat.scan(tmp_path / "sub").columns.equals(FRAME)
    assert karat.scan(f"{tmp_path}/*/[ab].{ending}").columns.equals(FRAME)
    data = (tmp_path / "sub" / f"a.{ending}").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert karat.scan("-").columns.equals(FRAME[:2])


def files(folder, **contents):
    for name, content in contents.items():
        path = folder / name.replace("_", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


PARQUET = io.BytesIO()
FRAME.write_parquet(PARQUET)
FILES = {
    "not parquet": ({"a_parquet": "x,y\n1,2\n"}, "a.parquet", DataError,
                    "a.parquet should hold Parquet and begins like CSV text"),
    "not csv": ({"a_csv": PARQUET.getvalue()}, "a.csv", DataError, "begins like Parquet"),
    "binary": ({"a_csv": b"\x00\x01\x02"}, "a.csv", DataError, "begins like binary data"),
    "not lines": ({"a_jsonl": "[1, 2]"}, "a.jsonl", DataError, "is no table; expected a JSON"),
    "cut short": ({"a_parquet": PARQUET.getvalue()[:200]}, "a.parquet", DataError,
                  "a.parquet was cut short"),
    "no bytes": ({"a_csv": ""}, "a.csv", EmptyDataError, "a.csv is empty"),
    "no rows": ({"a_csv": "x,y\n"}, "a.csv", EmptyDataError, "a.csv has no rows"),
    "no ending": ({"a_xls": "x"}, "a.xls", DataError, "a.xls ends in '.xls'; expected one of"),
    "no file": ({}, "a.csv", DataError, "there is no file"),
    "empty folder": ({}, "", EmptyDataError, "holds no data; expected files that end in"),
    "empty pattern": ({}, "*.csv", EmptyDataError, "no file matches the pattern"),
    "a column twice": ({"a_csv": "x,y,x\n1,2,3\n"}, "a.csv", ColumnError,
                       "a.csv has the column 'x' twice"),
    "a column missing": ({"a_csv": "x,y\n1,2\n", "b_csv": "x\n1\n"}, "", ColumnError,
                         "b.csv has no column 'y', which a.csv has"),
    "a column more": ({"a_csv": "x\n1\n", "b_csv": "x,y\n1,2\n"}, "", ColumnError,
                      "a.csv has no column 'y', which b.csv has"),
    "two types": ({"a_csv": "x\n1\n", "b_csv": "x\nlow\n"}, "", ColumnError,
                  "column 'x' holds String in b.csv and Int64 in a.csv"),
    "two kinds": ({"a_csv": "x\n1\n", "b_jsonl": '{"x": 1}\n'}, "", DataError,
                  "a.csv and b.jsonl are files of two kinds"),
}  # fmt: skip


@pytest.mark.parametrize(("contents", "name", "kind", "said"), FILES.values(), ids=FILES)
def test_what_is_wrong_with_files(tmp_path, contents, name, kind, said):
    files(tmp_path, **contents)
    with pytest.raises(kind, match=said):
        karat.scan(tmp_path / name)


def test_an_empty_column_of_one_file_takes_the_type_of_the_others(tmp_path):
    files(tmp_path, a_csv="x,y\n1,2\n", b_csv="x,y\n3,\n")
    assert karat.scan(tmp_path).columns["y"].to_list() == [2, None]


def test_whole_numbers_and_fractions_go_together(tmp_path):
    files(tmp_path, a_csv="x\n1\n", b_csv="x\n0.5\n")
    assert karat.scan(tmp_path).columns["x"].to_list() == [1.0, 0.5]


ROLES = {
    "no such column": (
        {"weak": "lf_3"},
        "weak='lf_3': there is no such column; did you mean 'lf_2'",
    ),
    "no match": ({"weak": "w_*"}, r"weak='w_\*': no column matches"),
    "two roles": ({"label": "y", "weak": ["y", "lf_1"]}, "'y' is named as label and as weak"),
    "two groups": ({"group": ["y", "p"]}, r"group is \['y', 'p'\]; expected one column"),
    "twice": ({"weak": ["lf_1", "lf_1"]}, "weak names the column 'lf_1' twice"),
    "no text": ({"label": 3}, "label is 3; expected the name of a column"),
}


@pytest.mark.parametrize(("roles", "said"), ROLES.values(), ids=ROLES)
def test_what_is_wrong_with_roles(roles, said):
    with pytest.raises(ColumnError, match=said):
        karat.scan(FRAME).roles(**roles)


def test_a_pattern_leaves_out_what_other_roles_name():
    data = karat.scan(FRAME).roles(label="y", pred="p", id="id", score="s", judge="*")
    assert data.chosen["judge"] == ("lf_1", "lf_2")
    assert "judge: lf_1, lf_2" in data.summary()


def broken(**columns):
    return karat.scan(FRAME.with_columns(**{k: pl.Series(v) for k, v in columns.items()}))


CALLS = {
    "labels": (lambda: broken(y=[0, None, None, 1]).roles(label="y", pred="p").confusion(),
               LabelError, "label column 'y' is missing in 2 of 4 rows"),
    "roc labels": (lambda: broken(y=[0, None, 1, 1]).roles(label="y", score="s").roc_counts(),
                   LabelError, "label column 'y' is missing in 1 of 4 rows"),
    "scores": (lambda: broken(s=[0.1, float("nan"), None, 0.4]).roles(label="y", score="s")
               .roc_counts(), ScoreError, "missing or not finite in 2 of 4 rows"),
    "text scores": (lambda: broken(s=list("abcd")).roles(label="y", score="s").roc_counts(),
                    ScoreError, "score column 's' holds String; expected numbers"),
    "weights": (lambda: broken(s=[1.0, -1.0, None, 1.0]).roles(label="y", pred="p", weight="s")
                .confusion(), WeightError, "missing, negative or not finite in 2 rows"),
    "identifiers": (lambda: broken(id=[1, None, 3, 4]).roles(pred="p", weak="lf_*", id="id")
                    .pattern_counts(), LabelError, "id column 'id' has nulls"),
    "fractions": (lambda: karat.scan(FRAME).roles(pred="p", weak="lf_*", id="s").pattern_counts(),
                  ColumnError, "id column 's' holds Float64; expected whole numbers or text"),
    "no role": (lambda: karat.scan(FRAME).roles(pred="p").pattern_counts(), ColumnError,
                "no column has the role 'weak'"),
    "which": (lambda: karat.scan(FRAME).roles(pred=["p", "y"], weak="lf_*").pattern_counts(),
              ColumnError, "2 columns have the role 'pred': name one of"),
    "weighted patterns": (lambda: karat.scan(FRAME).roles(pred="p", weak="lf_*", weight="s")
                          .pattern_counts(), ColumnError, "weights are not counted by pattern"),
    "folds": (lambda: karat.scan(FRAME).roles(pred="p", weak="lf_*").pattern_counts(folds=3),
              OptionError, "folds is 3; expected an id column"),
    "by": (lambda: karat.scan(FRAME).roles(label="y", score="s").roc_counts(by="group"),
           ColumnError, "by is 'group'; expected 'group' with that role"),
    "blank": (lambda: karat.scan(" "), DataError, "source is ' '; expected a path, a query or"),
    "empty name": (lambda: karat.scan(""), DataError, "source is ''; expected a path"),
    "weighting": (lambda: karat.scan(FRAME).roles(weight="s", weighting="survey"), OptionError,
                  "weighting is 'survey'; expected 'importance', 'frequency'"),
    "no label": (lambda: broken(y=[None] * 4).roles(label="y", score="s").counts(), LabelError,
                 "label column 'y' is missing in every row"),
    "nothing": (lambda: karat.scan(FRAME).roles(pred="p").counts(), ColumnError,
                "nothing can be counted"),
    "no log": (lambda: karat.scan(FRAME).votes(), ColumnError, "is no log with judges"),
    "no frame": (lambda: karat.scan(3), DataError, "source is a int; expected a path"),
    "no rows": (lambda: karat.scan(FRAME[:0]), EmptyDataError, "the frame has no rows"),
    "format": (lambda: karat.scan(__file__, format="excel"), OptionError, "format is 'excel'"),
    "query": (lambda: karat.scan("select * from nowhere"), DataError,
              "query cannot be run: .*nowhere"),
    "connection": (lambda: karat.scan("a.csv", connection=duckdb), OptionError, "expected a query"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "said"), CALLS.values(), ids=CALLS)
def test_what_is_wrong_with_columns(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def test_an_engine_that_fails_is_quoted_in_one_line():
    relation = duckdb.sql("select cast('x' || (i + 1) as int) as y, 1 as p from range(3) t(i)")
    with pytest.raises(DataError, match=r"duckdb could not run the query: .*Could not convert"):
        karat.scan(relation).roles(label="y", pred="p").confusion()


def test_counts_are_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    counts = karat.scan(FRAME).roles(label="y", score="s").counts()
    path = tmp_path / "counts.parquet"
    counts.save(path)
    before = path.read_bytes()

    def interrupted(self, target, **options):
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupted)
    with pytest.raises(KeyboardInterrupt):
        counts.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_counts_come_back_as_they_were(tmp_path):
    data = karat.scan(FRAME).roles(label="y", pred="p", score="s", weak="lf_*", id="id")
    said = []
    counts = data.counts(null="abstain", progress=said.append)
    assert said == [
        f"a frame of polars: scan {i} of 4, {what}"
        for i, what in enumerate(
            ["patterns of p", "votes", "scores of s", "confusion of p"], start=1
        )
    ]
    counts.save(tmp_path / "c.parquet")
    again = Counts.load(tmp_path / "c.parquet")
    assert again.null_abstains
    assert again.votes == counts.votes
    for kind in ("patterns", "roc", "confusions"):
        assert dict(getattr(again, kind)) == dict(getattr(counts, kind))
    assert (again + counts).roc["s"].positives.sum() == 4
    assert sum([counts, counts, counts]).patterns["p"].n == 12


def test_what_is_wrong_with_files_of_counts(tmp_path):
    counts = karat.scan(FRAME).roles(label="y", score="s").counts()
    with pytest.raises(DataError, match=r"ends in '.csv'; counts are written as .parquet"):
        counts.save(tmp_path / "c.csv")
    FRAME.write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"rows.parquet holds no counts"):
        Counts.load(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="there is no file"):
        Counts.load(tmp_path / "none.parquet")
    counts.save(tmp_path / "c.parquet")
    stored = pl.read_parquet(tmp_path / "c.parquet")
    newer = stored.with_columns(pl.col("votes").str.replace('"version": 2', '"version": 3'))
    newer.write_parquet(tmp_path / "new.parquet")
    with pytest.raises(DataError, match="has version 3 and this karat reads version 2; it was"):
        Counts.load(tmp_path / "new.parquet")
    stored[1:].write_parquet(tmp_path / "half.parquet")
    with pytest.raises(DataError, match="has no header"):
        Counts.load(tmp_path / "half.parquet")
    cut = stored.with_columns(pl.col("votes").str.replace('"roc"', '"cor"'))
    cut.write_parquet(tmp_path / "cut.parquet")
    with pytest.raises(DataError, match=r"was not written whole, or was changed: KeyError"):
        Counts.load(tmp_path / "cut.parquet")
    other = karat.scan(FRAME).roles(label="y", pred="p").counts()
    with pytest.raises(DataError, match=r"one part has the scores \['s'\] and the other \[\]"):
        counts + other


def test_messages_that_list_columns_name_some_of_them():
    table = pl.DataFrame({f"c{i}": [0, 1] for i in range(20)} | {"y": [0, 1]})
    data = karat.scan(table)
    with pytest.raises(ColumnError, match=r"\.\.\.\] \(21 in all\)"):
        data.roles(label="nothing*")
    several = data.roles(label="y", score="c*")
    with pytest.raises(ColumnError, match=r"20 columns have the role 'score': name one of \['c0'"):
        several.roc_counts()
    with pytest.raises(ColumnError, match=r"'z' has not the role 'score'; .*\(20 in all\) have"):
        several.roc_counts("z")
