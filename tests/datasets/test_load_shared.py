import polars as pl
import pytest

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError, OptionError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "data.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "one" / "README.md").write_text("about")
    (tmp_path / "two").mkdir()
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "two" / "answers.parquet")
    (tmp_path / "two" / "truth.csv").write_text("a\n5\n")
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    return tmp_path


def test_reads_csv_and_parquet(folder):
    assert load_shared("one")["b"].tolist() == ["x", "y"]
    assert load_shared("one", backend="polars")["a"].to_list() == [1, 2]
    assert load_shared("two", "answers")["a"].tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two",), r"several tables; pass table= one of \['answers', 'truth'\]"),
        (("two", "gold"), "no table 'gold'"),
        (("onne",), "did you mean 'one'"),
        (("zzz",), r"there are \['one', 'two'\]"),
    ],
)
def test_what_is_not_there(folder, arguments, message):
    with pytest.raises(MissingDatasetError, match=message):
        load_shared(*arguments)


def test_no_folder(monkeypatch):
    monkeypatch.setenv("KARAT_DATA", "no-such-folder")
    with pytest.raises(MissingDatasetError, match="set the environment variable KARAT_DATA"):
        load_shared("one")


def test_unknown_backend(folder):
    with pytest.raises(OptionError, match="expected 'pandas' or 'polars'"):
        load_shared("one", backend="dask")


@pytest.mark.parametrize("name", ["adult", "nell", "vehicle", "wrench_youtube"])
def test_real_datasets(shared_data, monkeypatch, name):
    monkeypatch.setenv("KARAT_DATA", str(shared_data))
    assert len(load_shared(name)) > 100
