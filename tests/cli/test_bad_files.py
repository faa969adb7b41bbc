"""What commands say of files that are not as they should be: flag, column, row and cell."""

import errno
import random
from itertools import pairwise
from pathlib import Path

import pytest

COLUMNS = "truth,pred,lf_a,lf_b,score,region"
CALLS = {
    "score": ["--label", "truth", "--pred", "pred"],
    "gate": ["--label", "truth", "--pred", "pred", "--at-least", "0.5"],
    "bounds": ["--pred", "pred", "--weak", "lf_*"],
    "judges": ["--judge", "lf_*", "--judge", "pred"],
    "auc": ["--label", "truth", "--score", "score"],
    "evaluate": ["--label", "truth", "--pred", "pred", "--score", "score"],
    "optimize": ["--label", "truth", "--score", "score"],
    "audit": ["--pred", "pred", "--todo", "todo.csv"],
    "count": ["--pred", "pred", "--weak", "lf_*", "-o", "counts.parquet"],
    "calibration": ["--label", "truth", "--prob", "score"],
    "elicit": ["--label", "truth", "--score", "score"],
}


def lines(n=60):
    draw = random.Random(0)
    for i in range(n):
        y = i % 2
        votes = [y if draw.random() > 0.2 else 1 - y for _ in range(3)]
        yield [y, *votes, round(0.5 * draw.random() + 0.4 * y, 3), "north" if i % 3 else "south"]


@pytest.fixture
def bad(karat, tmp_path, monkeypatch):
    """Run a command on rows; nothing may be left behind, and nothing of Python may be said."""
    monkeypatch.chdir(tmp_path)

    def run(command, rows=None, *, header=COLUMNS, flags=None, text=None):
        table = [header, *(",".join(map(str, row)) for row in (lines() if rows is None else rows))]
        (tmp_path / "t.csv").write_text("\n".join(table) + "\n" if text is None else text)
        before = set(tmp_path.iterdir())
        ran = karat(command, "t.csv", *(CALLS[command] if flags is None else flags), typed=[])
        if ran.code:
            assert set(tmp_path.iterdir()) == before, "a command that fails writes nothing"
        said = ran.err + ran.out
        for of_python in ("Traceback", "y_pred", "y_true", "y_score", "PosixPath", "dtype"):
            assert of_python not in said
        return ran

    return run


def test_an_empty_file(bad):
    for command in CALLS:
        assert bad(command, text="") == (3, "", "error: t.csv is empty: it has no bytes\n")
        assert bad(command, []) == (3, "", "error: t.csv has no rows\n")


def test_a_header_with_a_name_twice(bad):
    said = "error: t.csv has the column 'pred' twice; rename one of them\n"
    for command in CALLS:
        assert bad(command, header="truth,pred,pred,lf_b,score,region") == (3, "", said)


@pytest.mark.parametrize("command", CALLS)
def test_a_wrong_column_and_the_nearest_name(bad, command):
    wrong = {"truth": "trut", "pred": "predd", "score": "scores"}
    flag, meant = next((f, n) for f, n in pairwise(CALLS[command]) if n in wrong)
    name = wrong[meant]
    flags = [name if word == meant else word for word in CALLS[command]]
    ran = bad(command, flags=flags)
    expected = f"error: {flag} {name}: there is no such column; did you mean {meant!r}?\n"
    assert (ran.code, ran.err) == (3, expected)


def without(column):
    at = COLUMNS.split(",").index(column)
    return [[*row[:at], "", *row[at + 1 :]] for row in lines()]


@pytest.mark.parametrize("command", ["score", "gate", "optimize"])
def test_a_column_of_labels_that_is_empty(bad, command):
    ran = bad(command, without("truth"))
    assert ran.code == 3
    assert ran.err.startswith("error: --label truth")
    assert "label" in ran.err.partition(";")[2]


@pytest.mark.parametrize("command", ["score", "gate", "bounds", "audit"])
def test_a_column_of_predictions_that_is_empty(bad, command):
    ran = bad(command, without("pred"))
    assert ran.code == 3
    assert ran.err.startswith("error: --pred pred")
    assert "data row 1 is" in ran.err
    assert "60" in ran.err


def test_one_empty_cell_is_named_by_its_row_of_the_file(bad):
    """Rows without a label come first, and are not counted by the library."""
    rows = list(lines())
    for row in rows[:10]:
        row[0] = ""
    rows[3][1] = rows[30][1] = ""
    for command in ("score", "gate"):
        ran = bad(command, rows)
        assert ran.code == 3
        assert "--pred pred: data row 31 is empty (1 such rows in all)" in ran.err


@pytest.mark.parametrize(
    ("command", "subject"),
    [
        ("score", "--label truth and --pred pred hold"),
        ("gate", "the labels are of"),
        ("bounds", "--weak holds"),
        ("judges", "--judge holds"),
        ("auc", "--label truth holds"),
        ("evaluate", "--label truth and --pred pred hold"),
        ("optimize", "--label truth: every labelled row is 1"),
        ("audit", "--pred pred holds"),
        ("elicit", "--label truth holds"),
    ],
)
def test_one_class(bad, command, subject):
    ran = bad(command, [[1, 1, 1, 1, row[4], row[5]] for row in lines()])
    assert ran.code == 3
    assert ran.err.startswith(f"error: {subject}")
    assert "class" in ran.err
    assert "classes=" not in ran.err, "an argument of Python is no help here"


@pytest.mark.parametrize("command", ["auc", "optimize", "calibration", "elicit"])
@pytest.mark.parametrize("cell", ["high", "nan", "1.2.3"])
def test_a_cell_that_is_no_number_is_quoted(bad, command, cell):
    """The bad cell and its row, not the first good one."""
    rows = list(lines())
    rows[40][4] = cell
    ran = bad(command, rows)
    flag, what = ("--prob", "probabilities") if command == "calibration" else ("--score", "numbers")
    expected = f"error: {flag} score: data row 41 holds {cell!r}; expected {what}\n"
    assert (ran.code, ran.err) == (3, expected)


@pytest.mark.parametrize("command", ["score", "gate", "evaluate"])
def test_labels_of_mixed_types_are_noticed(bad, command):
    ran = bad(command, [*lines(), ["yes", "no", 1, 0, 0.5, "north"]])
    said = "holds '{}' and most rows hold numbers; it counts as a class of its own"
    assert ran.err.splitlines()[:2] == [
        f"warning: --label truth: data row 61 {said.format('yes')}",
        f"warning: --pred pred: data row 61 {said.format('no')}",
    ]
    ran = bad(command, [*lines(), ["yes", 1, 1, 0, 0.5, "north"]])
    assert ran.code == 3
    assert "--label truth: data row 61 holds 'yes'" in ran.err
    assert ran.err.endswith("give both the same labels\n")


@pytest.mark.parametrize("command", ["bounds", "judges"])
def test_votes_of_mixed_types_are_refused(bad, command):
    ran = bad(command, [*lines(), [1, "maybe", 1, 0, 0.5, "north"]])
    assert ran.code == 3
    assert "pred holds text (such as 'maybe')" in ran.err
    assert ran.err.endswith("holds numbers (first 0); give both the same labels\n")


def test_a_group_of_one_row(bad):
    rows = [*lines(), [1, 1, 1, 0, 0.5, "lonely"]]
    ran = bad("score", rows, flags=[*CALLS["score"], "--group", "region"])
    assert ran.code == 0
    assert "  lonely: accuracy is 1 on 1 labelled items, and between 0.025 and 1 " in ran.out
    ran = bad("auc", rows, flags=[*CALLS["auc"], "--group", "region"])
    assert ran.code == 0
    assert "'lonely', its 1 rows are all of class 1" in ran.err
    ran = bad("evaluate", rows, flags=[*CALLS["evaluate"], "--group", "region"])
    assert ran.code == 0
    assert "lonely" in ran.out
    ran = bad("bounds", rows, flags=[*CALLS["bounds"], "--group", "region"])
    assert ran.code == 0
    assert "lonely" in ran.out


METRICS = {
    "missing": (2, "--metric is 'm.json'; expected the name of a metric, or a .json file"),
    "{": (3, "the metric 'm.json' is not valid JSON (Expecting property name"),
    "[1, 2]": (3, "this JSON is not a metric"),
    '{"schema": "other"}': (3, "this JSON is not a metric"),
    "[" * 100_000: (3, "the metric 'm.json' is not valid JSON (it is nested too deep)"),
    '{"a": ' + "9" * 5000 + "}": (3, "is not valid JSON (a number has more than 4300 digits)"),
}


@pytest.mark.parametrize("content", METRICS, ids=lambda text: text[:20])
def test_metric_files_that_are_missing_or_broken(bad, tmp_path, content):
    if content != "missing":
        (tmp_path / "m.json").write_text(content)
    code, said = METRICS[content]
    for command in ("score", "bounds", "optimize"):
        ran = bad(command, flags=[*CALLS[command], "--metric", "m.json"])
        assert ran.code == code
        assert said in ran.err
        assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nowhere/page.html", "expected a file in a folder that exists"),
        (".", "expected a file, and this is a folder"),
        ("t.csv", "expected another file than the input"),
        ("/dev/full", "expected a regular file"),
    ],
)
@pytest.mark.parametrize("command", ["score", "judges", "evaluate", "auc", "optimize"])
def test_outputs_are_checked_before_the_work(bad, command, output, said):
    """The file has no rows either, which would be noticed first if it were read first."""
    ran = bad(command, [], flags=[*CALLS[command], "--output", output])
    assert ran == (2, "", f"error: --output is {output!r}; {said}\n")


@pytest.fixture
def broken_off(bad, monkeypatch, tmp_path):
    """Run a command whose page cannot be written to its end; what was there stays as it was."""
    page = tmp_path / "page.html"
    page.write_text("the page of yesterday")
    write = Path.write_text

    def run(command, error):
        def half(path, text, **options):
            if path.suffix == ".csv":
                return write(path, text, **options)
            write(path, text[: len(text) // 2], **options)
            raise error

        monkeypatch.setattr(Path, "write_text", half)
        ran = bad(command, flags=[*CALLS[command], "--output", "page.html"])
        assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "page.html"}
        assert page.read_text() == "the page of yesterday"
        return ran

    return run


@pytest.mark.parametrize("command", ["score", "judges", "evaluate"])
def test_ctrl_c_leaves_nothing_half_written(broken_off, command):
    ran = broken_off(command, KeyboardInterrupt())
    assert ran.code == 130
    assert ran.err.endswith("interrupted\n")


def test_a_full_disk_is_one_sentence(broken_off):
    ran = broken_off("score", OSError(errno.ENOSPC, "No space left on device"))
    assert ran.code == 3
    assert ran.err == "error: 'page.html' cannot be written: No space left on device\n"
    assert "accuracy is" in ran.out, "the answer is not lost with the page"
