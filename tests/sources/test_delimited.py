"""Files of delimited text that are not written as their ending says: read as they are, and said."""

import gzip

import polars as pl
import pytest

import karat
from karat.exceptions import ColumnError, DataError, KaratWarning
from karat.sources.opening import is_plain, read_texts

ROWS = {"id": [1, 2, 3], "p": [0.5, 0.25, 1.0], "name": ["a", "b, c", "d"]}


def scanned(path, said):
    with pytest.warns(KaratWarning, match=said) as seen:
        found = karat.scan(path)
    assert len(seen) == 1
    return found.columns.to_dict(as_series=False)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_semicolons_and_decimal_commas(tmp_path, ending):
    text = b"id;p;name\n1;0,5;a\n2;0,25;b, c\n3;1;d\n"
    path = tmp_path / f"scores{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    said = "columns are separated by semicolons and its numbers have decimal commas"
    assert scanned(path, said) == ROWS


def test_semicolons_with_decimal_points(tmp_path):
    (tmp_path / "a.csv").write_text("id;p;name\n1;0.5;a\n2;.25;b, c\n3;1;d\n")
    assert scanned(tmp_path / "a.csv", "a.csv: its columns are separated by semicolons$") == ROWS
    assert not is_plain(tmp_path / "a.csv")  # a line of code that reads it names karat.scan


def test_decimals_that_begin_after_the_first_lines(tmp_path):
    body = "".join(f"{i};1\n" for i in range(40_000)) + "7;0,5\n"
    (tmp_path / "late.csv").write_text("id;p\n" + body)
    found = scanned(tmp_path / "late.csv", "semicolons and its numbers have decimal commas")
    assert found["p"][-1] == 0.5


def test_other_separators(tmp_path):
    (tmp_path / "t.csv").write_text("id\tp\tname\n1\t0.5\ta\n2\t0.25\tb, c\n3\t1\td\n")
    assert scanned(tmp_path / "t.csv", "separated by tabs") == ROWS
    (tmp_path / "b.csv").write_text("id|p|name\n1|0.5|a\n2|0.25|b, c\n3|1|d\n")
    assert scanned(tmp_path / "b.csv", "separated by vertical bars") == ROWS
    (tmp_path / "c.tsv").write_text("id\tp\tname\n1\t0,5\ta\n2\t0,25\tb, c\n3\t1\td\n")
    assert scanned(tmp_path / "c.tsv", "c.tsv: its numbers have decimal commas") == ROWS


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("first", ["sep=;\r\n", "SEP=;\n", '"sep=;"\n', "sep=; \n"])
def test_a_file_that_names_its_separator(tmp_path, ending, mark, first):
    """Spreadsheets write such a line, which is none of the table, and do not show it."""
    text = f"{mark}{first}id;p;name\n1;0,5;a\n2;0,25;b, c\n3;1;d\n".encode()
    path = tmp_path / f"s{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    assert scanned(path, "its numbers have decimal commas") == ROWS
    assert read_texts(path, ["p"])["p"].to_list() == ["0,5", "0,25", "1"]
    assert not is_plain(path)


def test_a_named_separator_is_taken_whatever_the_lines_look_like(tmp_path):
    for name, sign in (("a.csv", ","), ("b.tsv", "\t"), ("c.csv", ":")):
        text = "\n".join([f"sep={sign}", sign.join(["y", "p|q"]), sign.join(["1", "2;3|4"])])
        (tmp_path / name).write_text(text + "\n")
    for name in ("a.csv", "b.tsv"):  # as their ending says
        assert karat.scan(tmp_path / name).columns.to_dict(as_series=False) == {
            "y": [1], "p|q": ["2;3|4"],
        }  # fmt: skip
        assert not is_plain(tmp_path / name)
    assert scanned(tmp_path / "c.csv", "columns are separated by ':'$") == {
        "y": [1], "p|q": ["2;3|4"],
    }  # fmt: skip
    (tmp_path / "d.csv").write_text("sep=;\ny;y\n1;2\n")
    with pytest.raises(ColumnError, match="the column 'y' twice"):
        karat.scan(tmp_path / "d.csv")


@pytest.mark.parametrize("first", ["", "sep=;\r"])
def test_lines_that_end_with_a_carriage_return_alone_are_refused(tmp_path, first):
    (tmp_path / "m.csv").write_bytes(f"{first}y;p\r1;2\r".encode())
    with pytest.raises(DataError, match=r"m\.csv cannot be read: its lines end as"):
        karat.scan(tmp_path / "m.csv")


def test_two_marks_are_said_and_stay_text(tmp_path):
    (tmp_path / "m.csv").write_text("p;q\n0,5;0.5\n0,25;0.1\n")
    found = scanned(tmp_path / "m.csv", "some of its numbers have decimal commas and others points")
    assert found == {"p": ["0,5", "0,25"], "q": [0.5, 0.1]}


USUAL = {
    "commas": 'id,p,name\n1,0.5,a\n2,0.25,"b, c"\n',
    "a list in quotes": 'id,labels\n1,"0,1"\n2,"1,2"\n',
    "one column": "label\nham;spam\nham\n",
    "semicolons in text": "id,text\n1,a;b\n2,c;d\n",
    "thousands": 'id,n\n1,"1,234"\n2,"2,345"\n',
}


@pytest.mark.parametrize("text", USUAL.values(), ids=USUAL)
def test_usual_files_are_read_as_before_without_a_word(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    assert karat.scan(tmp_path / "a.csv").columns.equals(pl.read_csv(tmp_path / "a.csv"))
    assert is_plain(tmp_path / "a.csv")


def test_a_folder_says_it_once(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("id;p\n1;0,5\n")
    assert scanned(tmp_path, "a.csv: its columns are separated by semicolons")["p"] == [0.5, 0.5]
