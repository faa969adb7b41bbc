"""The terminal oracle: what it shows and what it reads."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from karat.elicit import BinarySpace, Elicitation, Query, TerminalOracle
from karat.elicit.oracles import comparison_text
from karat.exceptions import OptionError

FIRST = np.array([[0.5, 0.1], [0.15, 0.25]])
SECOND = np.array([[0.45, 0.15], [0.05, 0.35]])


def asked(lines, **options):
    out = io.StringIO()
    oracle = TerminalOracle(
        ["ham", "spam"], stream_in=io.StringIO(lines), stream_out=out, **options
    )
    return oracle(Query(FIRST, SECOND)), out.getvalue()


@pytest.mark.parametrize(
    ("line", "answer"),
    [("1", "first"), ("2", "second"), ("T", "tie"), (" s ", "skip"), ("first", "first")],
)
def test_keys(line, answer):
    assert asked(f"{line}\n")[0] == answer


def test_it_asks_again_until_it_understands():
    answer, shown = asked("what?\n\n2\n")
    assert answer == "second"
    assert "'what?' is no answer" in shown


def test_it_shows_counts_and_what_is_better():
    _, shown = asked("1\n")
    assert "of 1,000 cases" in shown
    row = next(line for line in shown.splitlines() if line.startswith("spam called ham"))
    assert row.split()[-4:] == ["150", "50", "-100", "better"]
    row = next(line for line in shown.splitlines() if line.startswith("ham recognised"))
    assert row.split()[-2:] == ["-50", "worse"]


def test_the_end_of_the_input_is_said():
    with pytest.raises(EOFError, match="nothing given is lost"):
        asked("")


def test_groups_are_shown_one_after_another():
    query = Query(np.stack([FIRST * 0.2, SECOND * 0.8]), np.stack([SECOND * 0.2, SECOND * 0.8]))
    out = io.StringIO()
    oracle = TerminalOracle(
        ["ham", "spam"], groups=["old", "new"], stream_in=io.StringIO("1\n"), stream_out=out
    )
    assert oracle(query) == "first"
    old, new = out.getvalue().split("of 1,000 in new")
    assert "of 1,000 in old" in old
    for line in comparison_text(Query(FIRST, SECOND), ["ham", "spam"], 1000).splitlines()[1:]:
        assert " ".join(line.split()) in " ".join(old.split())
    assert not {"better", "worse"} & set(new.split()), "the sides are the same in this group"


def test_classes_and_groups_without_names_are_numbered_in_words():
    shown = comparison_text(Query(FIRST, SECOND), None, 1000)
    assert "class 1 called class 0" in shown
    assert comparison_text(Query(FIRST, SECOND), [0, 1], 1000) == shown
    query = Query(np.stack([FIRST / 2, SECOND / 2]), np.stack([SECOND / 2, SECOND / 2]))
    assert "of 1,000 in group 1" in comparison_text(query, None, 1000)
    assert "of 1,000 in group 7" in comparison_text(query, None, 1000, groups=[5, 7])


def test_it_drives_a_procedure():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    space = BinarySpace.from_scores(rng.random(300) < score, score).smoothed()
    answers = io.StringIO("1\n2\n" * 30)
    oracle = TerminalOracle(space.classes, stream_in=answers, stream_out=io.StringIO())
    assert Elicitation(space, strategy="bisection").run(oracle).n_queries >= 5


@pytest.mark.parametrize("out_of", [0, -5, 2.5, "all", True])
def test_numbers_of_cases_that_are_none(out_of):
    for refused in (
        lambda: TerminalOracle(out_of=out_of),
        lambda: Query(FIRST, SECOND).counts(out_of),
    ):
        with pytest.raises(OptionError, match=f"out_of is {out_of!r}; expected a whole number"):
            refused()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, as on Linux")
def test_ctrl_c_leaves_at_once_where_polars_is_loaded(press_until_it_ends):
    """Polars has a handler after which the system reads on; nothing that was answered is lost."""
    code = """
import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the keys are its signals
import numpy as np, polars
from karat.elicit import BinarySpace, Elicitation, TerminalOracle
polars.DataFrame({"a": [1]}).select(polars.col("a").sum())
y, score = np.arange(40) % 2, np.linspace(0, 1, 40) ** 2
procedure = Elicitation(BinarySpace.from_scores(y, score), rng=0, agreement=1.0)
try:
    procedure.run(TerminalOracle())
except KeyboardInterrupt:
    print("left with", procedure.transcript.answers)
"""
    terminal, other_end = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=other_end, stdout=other_end, stderr=other_end, start_new_session=True,
    )  # fmt: skip
    os.close(other_end)

    shown = b""

    def read_until(text):
        """Read up to some text; what was read beyond it is kept for the next time."""
        nonlocal shown
        while text not in shown:
            shown += os.read(terminal, 4096)
        shown = shown.partition(text)[2]

    try:
        read_until(b"s skip > ")
        os.write(terminal, b"2\n")
        read_until(b"Question 2")
        read_until(b"s skip > ")
        said = press_until_it_ends(command, terminal, b"\x03")
        assert b"left with ('second',)" in said
        assert command.wait() == 0
    finally:
        command.kill()
        command.wait()
        os.close(terminal)
