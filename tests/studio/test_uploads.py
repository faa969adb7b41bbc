"""Files of predictions: read in a process of their own, limited, and refused in words."""

import json
from io import BytesIO

import numpy as np
import polars as pl
import pytest

from karat.exceptions import DataError
from karat.studio import Settings, worker
from karat.studio.data import StudyData, pack_data, unpack_data
from karat.studio.services import uploads
from karat.studio.storage import Store


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    score = rng.random(60)
    label = np.where(rng.random(60) < score, "ill", "well")
    return pl.DataFrame({"y": label, "p": score, "q": 1 - score, "g": ["a", "b", "c"] * 20})


def written(table, ending):
    file = BytesIO()
    getattr(
        table, {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc"}[ending]
    )(file)
    return file.getvalue()


def here(monkeypatch, tmp_path, content, ending, task):
    """Do what the worker does, in this process; return exit code, words and answer."""
    path, answer = tmp_path / f"upload{ending}", tmp_path / "answer"
    path.write_bytes(content)
    order = {"path": str(path), "answer": str(answer), "seconds": 5, "task": "read", "proba": [],
             "score": None, "positive": None, "group": None, **task}  # fmt: skip
    said = []
    monkeypatch.setattr(worker, "_limit", lambda _: None)
    monkeypatch.setattr(worker.sys, "stdout", type("Out", (), {"write": said.append}))
    stdin = type("In", (), {"buffer": BytesIO(json.dumps(order).encode())})
    monkeypatch.setattr(worker.sys, "stdin", stdin)
    code = worker.main()
    monkeypatch.undo()
    return code, "".join(said), answer.read_bytes() if code == 0 else b""


def test_a_form_is_not_told_of_arguments_of_python(monkeypatch, tmp_path, table):
    code, said, _ = here(monkeypatch, tmp_path, written(table, ".csv"), ".parquet", {"label": "y"})
    assert code != 0
    assert "begins like CSV text; give it the ending of what it is" in said
    assert "format=" not in said


def test_a_file_goes_through_the_process_and_back(store, table):
    content = written(table, ".parquet")
    columns = uploads.inspect(store, content, "some/../name.parquet")
    assert columns.names == ("y", "p", "q", "g")
    assert columns.n_rows == 60
    assert set(columns.examples["g"]) == {"a", "b", "c"}
    data = uploads.read(
        store, content, "x.parquet", label="y", score="p", group="g", positive="ill"
    )
    assert data.classes == ("well", "ill")
    np.testing.assert_array_equal(data.codes, (table["y"] == "ill").to_numpy())
    np.testing.assert_array_equal(data.values, table["p"].to_numpy())
    assert data.groups == ("a", "b", "c")
    with pytest.raises(DataError, match="no column 'nothing'"):
        uploads.read(store, content, "x.parquet", label="nothing", score="p")


@pytest.mark.parametrize("ending", [".csv", ".arrow"])
def test_formats(monkeypatch, tmp_path, table, ending):
    task = {"label": "y", "proba": ["p", "q"]}
    code, _, answer = here(monkeypatch, tmp_path, written(table, ending), ending, task)
    assert code == 0
    data = unpack_data(answer)
    assert data.classes == ("well", "ill")  # the positive one last
    np.testing.assert_allclose(data.values, table.select("q", "p").to_numpy())
    assert data.members is None


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ({"label": "y"}, "no column of scores"),
        ({"label": "z", "score": "p"}, "no column 'z' for the label"),
        ({"label": "y", "score": "g"}, "not numbers"),
        ({"label": "g", "score": "p"}, "one score is for two classes"),
        ({"label": "p", "score": "p"}, "the label has 60 values"),
        ({"label": "y", "proba": ["p"]}, "1 columns of probabilities and 2 classes"),
        ({"label": "y", "score": "p", "positive": "dead"}, "the positive class is 'dead'"),
        ({"label": "y", "score": "p", "group": "p"}, "the group has 60 values"),
        ({"label": "missing", "score": "p"}, "the label is missing in row 2"),
        ({"label": "y", "score": "nan"}, "not a finite number"),
    ],
)
def test_what_is_wrong_is_said(monkeypatch, tmp_path, table, task, words):
    more = table.with_columns(
        pl.Series("missing", ["a", None, *["b"] * 58]), pl.Series("nan", [float("nan")] * 60)
    )
    code, said, _ = here(monkeypatch, tmp_path, written(more, ".parquet"), ".parquet", task)
    assert code == 3
    assert words in said


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (b"", ".csv"),
        (b"a,b\n", ".csv"),
        (b"PAR1 this is none PAR1", ".parquet"),
        (b"\x00\xff\xfe" * 50, ".arrow"),
        (b'{"a": 1}\n{"a": ', ".jsonl"),
        (b"a,b\n1,2,3,4\n5", ".csv"),
    ],
)
def test_malformed_files_are_refused(monkeypatch, tmp_path, content, ending):
    code, said, _ = here(monkeypatch, tmp_path, content, ending, {"label": "a", "score": "b"})
    assert code == 3
    assert len(said) > 10
    assert str(tmp_path) not in said


@pytest.mark.parametrize("first", ["", "sep=;\r\n"])
def test_what_a_spreadsheet_wrote_is_read_as_everywhere(monkeypatch, tmp_path, table, first):
    lines = [table.columns, *([str(v).replace(".", ",") for v in row] for row in table.rows())]
    text = "".join(";".join(line) + "\n" for line in lines)
    content = f"{first}{text}".encode("utf-8-sig")
    task = {"label": "y", "score": "p", "positive": "ill"}
    code, words, answer = here(monkeypatch, tmp_path, content, ".csv", task)
    assert code == 0, words
    np.testing.assert_array_equal(unpack_data(answer).values, table["p"].to_numpy())
    twice = here(monkeypatch, tmp_path, b"y,y\n1,2\n", ".csv", task)
    assert twice[:2] == (3, "the file has the column 'y' twice; rename one of them")


@pytest.mark.parametrize(
    ("labels", "positive", "classes"),
    [
        (("high", "low"), None, ("low", "high")),
        (("fraud", "genuine"), None, ("genuine", "fraud")),
        (("A", "B"), "A", ("B", "A")),
        (("A", "B"), "b", ("A", "B")),
        (("yes ", "No"), None, ("No", "yes ")),
        ((1, 0), None, (0, 1)),
        ((True, False), None, (False, True)),
    ],
)
def test_the_positive_class_is_second_and_its_probability_with_it(
    monkeypatch, tmp_path, labels, positive, classes
):
    """Columns of probabilities stand in the order of the sorted labels, whatever is positive."""
    rng = np.random.default_rng(0)
    first = rng.random(60).round(3)
    is_first = rng.random(60) < first
    y = [labels[0] if one else labels[1] for one in is_first]
    names = dict(zip(sorted(labels), ("p", "q"), strict=True))
    columns = {names[labels[0]]: first, names[labels[1]]: 1 - first}
    table = written(pl.DataFrame({"y": y, **columns}), ".parquet")
    for task in ({"proba": ["p", "q"]}, {"score": names[classes[1]]}):
        task = {"label": "y", "positive": positive, **task}
        code, words, answer = here(monkeypatch, tmp_path, table, ".parquet", task)
        assert code == 0, words
        data = unpack_data(answer)
        assert data.classes == classes
        assert [classes[c] for c in data.codes] == y
        second = data.values if data.values.ndim == 1 else data.values[:, 1]
        wanted = first if labels[0] == classes[1] else 1 - first
        np.testing.assert_allclose(second, wanted, atol=1e-12)


def test_labels_that_do_not_tell_and_dirt(monkeypatch, tmp_path):
    table = pl.DataFrame({"y": ["A", "B"] * 30, "p": [0.2, 0.8] * 30})
    task = {"label": "y", "score": "p"}
    code, said, _ = here(monkeypatch, tmp_path, written(table, ".parquet"), ".parquet", task)
    assert code == 3
    assert said == "the labels are 'A' and 'B'; say which is the positive class, for example A"
    table = pl.DataFrame({
        "y": ["yes", "no", "Yes ", "NO"] * 15, "p": [0.6, 0.3, 0.7, 0.33] * 15,
        "q": [0.4, 0.7, 0.31, 0.66] * 15,
    })  # fmt: skip
    task = {"label": "y", "proba": ["q", "p"]}
    code, said, answer = here(monkeypatch, tmp_path, written(table, ".parquet"), ".parquet", task)
    assert code == 0, said
    data = unpack_data(answer)
    assert [str(c).casefold() for c in data.classes] == ["no", "yes"]
    assert data.codes.tolist() == [1, 0, 1, 0] * 15
    np.testing.assert_allclose(data.values.sum(axis=1), 1.0, atol=1e-15)


def test_names_and_sizes_are_limited(sqlite_url):
    store = Store(Settings(database_url=sqlite_url, max_upload=1000))
    with pytest.raises(DataError, match=r"expected one of \.csv"):
        uploads.inspect(store, b"x", "evil.pkl")
    with pytest.raises(DataError, match="has 2,000 bytes; expected at most 1,000"):
        uploads.inspect(store, b"x" * 2000, "big.csv")
    store.close()


def test_time_is_limited(sqlite_url, table):
    store = Store(Settings(database_url=sqlite_url, upload_seconds=0.01))
    with pytest.raises(DataError, match=r"longer than 0.01 seconds"):
        uploads.inspect(store, written(table, ".csv"), "x.csv")
    store.close()


def test_data_are_packed_without_code():
    data = StudyData(
        codes=np.array([0, 1, 2]), values=np.eye(3), classes=(1, 2, 3),
        members=np.array([0, 1, 0]), groups=("a", "b"),
    )  # fmt: skip
    again = unpack_data(pack_data(data))
    assert again.classes == (1, 2, 3)
    assert again.groups == ("a", "b")
    np.testing.assert_array_equal(again.values, data.values)
    np.testing.assert_array_equal(again.members, data.members)
    with pytest.raises(DataError, match="cannot be read"):
        unpack_data(b"not such bytes")
