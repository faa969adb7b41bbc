"""Files that are replaced whole."""

import os
from pathlib import Path

import pytest

from karat._files import replaced
from karat.exceptions import DataError


def write(path, text="new"):
    with replaced(path) as beside:
        assert beside.parent == Path(os.path.realpath(path)).parent
        beside.write_text(text)


def test_a_new_file_has_the_usual_rights(tmp_path):
    (tmp_path / "usual").write_text("")
    write(tmp_path / "page")
    assert (tmp_path / "page").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_and_the_rights_of_a_file_stay(tmp_path):
    page, link = tmp_path / "page", tmp_path / "link"
    page.write_text("old")
    page.chmod(0o640)
    link.symlink_to(page)
    write(str(link))
    assert link.is_symlink()
    assert page.read_text() == "new"
    assert page.stat().st_mode & 0o777 == 0o640


def stop_halfway(page):
    with replaced(page) as beside:
        beside.write_text("half")
        raise KeyboardInterrupt


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path):
    page = tmp_path / "page"
    page.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        stop_halfway(page)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("page", "old")]


def test_the_longest_name(tmp_path):
    page = tmp_path / ("p" * 255)
    write(page)
    assert page.read_text() == "new"


@pytest.mark.parametrize("name", ["", "no such folder/page"])
def test_what_cannot_be_written(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(DataError, match="cannot be written: ") as caught:
        write(path)
    assert str(caught.value).startswith(repr(str(path)))
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_not_replaced():
    with pytest.raises(DataError, match="'/dev/null' cannot be written: it is not a regular file"):
        write("/dev/null")
