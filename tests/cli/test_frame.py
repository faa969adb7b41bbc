"""What all commands share: reading, warnings, JSON, and files that are replaced whole."""

import io
import json
import os
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest

from karat._files import replaced
from karat.cli._run import run
from karat.cli._table import check_paths, read_pos_label, read_table
from karat.exceptions import ColumnError, DataError, KaratWarning, OptionError
from karat.report.answer import Answer, finding, table

FRAME = pl.DataFrame({"a": [1, 2, None], "b": ["x", None, "z"], "p": [0.5, None, 1.0]})


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", lambda path: FRAME.write_csv(path)),
        ("t.tsv", lambda path: FRAME.write_csv(path, separator="\t")),
        ("t.parquet", lambda path: FRAME.write_parquet(path)),
        ("t.arrow", lambda path: FRAME.write_ipc(path)),
        ("t.feather", lambda path: FRAME.write_ipc(path)),
        ("t.jsonl", lambda path: FRAME.write_ndjson(path)),
        ("T.CSV", lambda path: FRAME.write_csv(path)),
    ],
)
def test_every_kind_of_file_gives_the_same_table(tmp_path, name, write):
    write(tmp_path / name)
    assert read_table(tmp_path / name).frame.equals(FRAME)


def test_types_are_told_from_all_rows(tmp_path):
    """A column of 0 and 1 with a fraction far below is a column of fractions."""
    values = [0, 1] * 5000 + [0.5]
    (tmp_path / "t.csv").write_text("\n".join(["p", *map(str, values)]) + "\n")
    assert read_table(tmp_path / "t.csv").frame["p"].to_list() == values


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
def test_a_column_may_begin_far_down(tmp_path, name):
    """Gold labels late in a file are numbers, not text."""
    frame = pl.DataFrame({"x": range(1000), "gold": [None] * 990 + [0, 1] * 5})
    path = tmp_path / name
    if path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    assert read_table(path).frame.equals(frame)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "a,b\n", "has no rows"),
        ("t.csv", "", "is empty"),
        ("t.parquet", "not parquet", "begins like CSV text"),
        ("t.txt", "a\n1\n", "expected one of"),
    ],
)
def test_files_that_cannot_be_read_are_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said) as refused:
        read_table(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_command_does_not_speak_of_arguments_of_python(tmp_path, karat):
    (tmp_path / "t.txt").write_text("a\n1\n")
    said = karat("auc", tmp_path / "t.txt", "--label", "a").err
    assert said.endswith("'.ndjson'], with or without .gz\n")


def test_columns_by_flags(tmp_path):
    FRAME.write_csv(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv")
    assert table.names("--a", ["b"], ("a",)) == ["b"]
    assert table.names("--a", None, ("a", "p")) == ["a", "p"]
    assert table.optional("--a", None) is None
    with pytest.raises(ColumnError, match="--x: name at least one column"):
        table.names("--x", None, ("x",))
    with pytest.raises(ColumnError, match="--x q: there is no such column; there are"):
        table.columns("--x", ["a", "q"])


@pytest.mark.parametrize(
    ("labels", "text", "wanted"),
    [
        ([0, 1], "1", 1), ([0.0, 1.0], "1", 1.0), ([False, True], "true", True),
        (["no", "yes", None], "yes", "yes"), ([1, 2], None, None),
    ],
)  # fmt: skip
def test_the_positive_label_has_the_type_of_its_column(labels, text, wanted):
    found = read_pos_label([pl.Series(labels)], text)
    assert found == wanted
    assert type(found) is type(wanted)


def test_an_unknown_positive_label_is_refused():
    said = "--pos-label is 'maybe'; expected one of the labels no, yes"
    with pytest.raises(OptionError, match=said):
        read_pos_label([pl.Series(["no", "yes"])], "maybe")


def warn_twice():
    for _ in range(2):
        warnings.warn("few rows:\n  take more", KaratWarning, stacklevel=1)
    return Answer(data={"x": float("nan")}, text=["x is [bold]unknown[/]", table("a", ["1"])])


def test_warnings_are_one_line_each_once(capsys):
    run(warn_twice)
    said = capsys.readouterr()
    assert said.err == "warning: few rows: take more\n"
    assert "x is [bold]unknown[/]" in said.out
    run(warn_twice, as_json=True)
    said = capsys.readouterr()
    assert said.err == "warning: few rows: take more\n"
    assert json.loads(said.out) == {
        "notes": [], "x": None, "warnings": ["few rows: take more"]
    }  # fmt: skip


def test_long_lines_are_not_wrapped_in_a_pipe(capsys):
    run(lambda: Answer(data={}, text=["word " * 60, table(["name"], [["n" * 300]])]))
    out = capsys.readouterr().out
    assert ("word " * 60).strip() in out
    assert "n" * 300 in out


def never():
    raise AssertionError("the work began before the paths were checked")


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "in.csv").write_text("a\n1\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "in.csv")
    os.link(tmp_path / "in.csv", tmp_path / "hard.html")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("folder", "a file, and this is a folder"),
        ("missing/page.html", "a file in a folder that exists"),
        ("in.csv", "another file than the input"),
        ("folder/../in.csv", "another file than the input"),
        ("link.html", "another file than the input"),
        ("hard.html", "another file than the input"),
        ("/dev/null", "a regular file"),
        ("/proc/page.html", "a file in a folder that can be written"),
    ],
)
def test_paths_are_checked_before_the_work(paths, output, said):
    with pytest.raises(OptionError, match=f"--output is .*; expected {said}"):
        run(never, output=paths / output, reads=[paths / "in.csv"])
    assert (paths / "in.csv").read_text() == "a\n1\n"


def test_two_flags_name_two_files(paths):
    page = paths / "page.html"
    with pytest.raises(OptionError, match="another file than --output"):
        check_paths({"--output": page, "--predictions": paths / "folder" / ".." / "page.html"})


def page_of(text):
    return Answer(title="title", introduction=text, findings=lambda: [finding("Q?", "A")])


def test_a_page_shows_the_warnings(tmp_path, capsys):
    def work():
        warnings.warn("few <rows>", KaratWarning, stacklevel=1)
        return page_of("text")

    run(work, output=tmp_path / "page.html")
    assert capsys.readouterr().err == "warning: few <rows>\n"
    assert "few &lt;rows&gt;" in (tmp_path / "page.html").read_text()


def test_a_terminal_that_fails_does_not_take_the_page_along(tmp_path, monkeypatch):
    class Failing(io.StringIO):
        def write(self, _):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdout", Failing())
    with pytest.raises(OSError, match="Input/output"):
        run(lambda: page_of("text"), output=tmp_path / "page.html", as_json=True)
    assert "text" in (tmp_path / "page.html").read_text()


def test_a_page_takes_the_place_of_the_old_one(tmp_path):
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    link.symlink_to(page)
    run(lambda: page_of("first"), output=page)
    page.chmod(0o640)
    run(lambda: page_of("second"), output=link)
    assert "second" in page.read_text()
    assert link.is_symlink()
    assert page.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.html", "page.html"]


def write_half(page, end):
    with replaced(page) as path:
        path.write_text("half of the n")
        raise end


@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError])
def test_an_interrupted_run_leaves_the_old_page_whole(tmp_path, end):
    page = tmp_path / "page.html"
    page.write_text("old")

    def stop():
        raise end

    with pytest.raises(end):
        run(stop, output=page)
    with pytest.raises(end):
        write_half(page, end)
    assert page.read_text() == "old"
    assert list(tmp_path.iterdir()) == [page]


def test_a_disk_that_fails_is_said(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        run(lambda: page_of("text"), output=tmp_path / "page.html")
