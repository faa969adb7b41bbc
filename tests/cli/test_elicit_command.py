"""``karat elicit``: questions at the terminal, answers from a pipe."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import Elicitation, load_transcript
from karat.exceptions import MetricError
from karat.metrics import load_metric


@pytest.fixture
def scores(tmp_path):
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(400, rng=0)
    path = tmp_path / "scores.csv"
    names = np.array(["ham", "spam"])[y]
    pl.DataFrame({"y": names, "score": law.proba(x)[:, 1]}).write_csv(path)
    return path


@pytest.fixture
def run(karat):
    def asked(path, answers, *options):
        return karat("elicit", path, "--label", "y", *options, typed=answers)

    return asked


def test_answers_may_be_words(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    typed = ["first", "SECOND", "tie", "undo", "skip", "quit"]
    result = run(scores, typed, "--score", "score", "--transcript", str(answers))
    assert result.code == 0, result.err
    assert load_transcript(answers).answers == ("first", "second", "skip")


def test_the_pair_is_drawn_and_the_metric_is_said(scores, run):
    result = run(scores, "1" * 80, "--score", "score")
    assert result.code == 0, result.err
    assert "question 1: which classifier is better?" in result.out
    assert "spam as ham" in result.out
    assert "█" in result.out
    assert "a missed spam against a false spam" in result.out


def test_answers_are_saved_and_the_next_run_goes_on(scores, tmp_path, run):
    answers, metric, page = (tmp_path / n for n in ("answers.json", "metric.json", "page.html"))
    options = ("--score", "score", "--transcript", str(answers), "--agreement", "0.99")
    first = run(scores, "12q", *options)
    assert first.code == 0, first.err
    assert load_transcript(answers).answers == ("first", "second")
    again = run(scores, "ts12q", *options, "--save-metric", str(metric), "--output", str(page))
    assert "going on after 2 answers" in again.out
    assert load_transcript(answers).answers[:4] == ("first", "second", "tie", "skip")
    assert load_metric(metric).n_classes == 2
    assert page.read_text(encoding="utf-8").count("<svg") == 3


def test_undo_asks_again_and_nonsense_is_not_an_answer(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    result = run(scores, ["u", "yes", "1", "u", "2", "q"], "--score", "score",
                 "--transcript", str(answers))  # fmt: skip
    assert "nothing to take back yet" in result.out
    assert "'yes' is no answer" in result.out
    assert result.out.count("question 2:") == 2
    assert load_transcript(answers).answers == ("second",)


def test_counts_are_whole_and_add_up(scores, run):
    """Both sides have the same total of each class, and 1,000 cases in all."""
    shown = run(scores, "q", "--score", "score").out
    rows = [line.split() for line in shown.splitlines() if re.match(r" *(ham|spam) ", line)]
    first, second = (
        {truth: [] for truth in ("ham", "spam")} for _ in range(2)
    )  # fmt: skip
    for row in rows:
        numbers = [int(part.replace(",", "")) for part in row if re.fullmatch(r"[\d,]+", part)]
        first[row[0]].append(numbers[0])
        second[row[0]].append(numbers[1])
    totals = [{truth: sum(cells) for truth, cells in side.items()} for side in (first, second)]
    assert totals[0] == totals[1]
    assert sum(totals[0].values()) == 1000


def test_the_time_of_every_answer_is_kept(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    run(scores, "12q", "--score", "score", "--transcript", str(answers), "--agreement", "1")
    seconds = [kept["seconds"] for kept in load_transcript(answers).kept]
    assert len(seconds) == 2
    assert all(0 <= second < 60 for second in seconds)


# --- leaving


class Typed(io.StringIO):
    """Lines, and then Ctrl-C."""

    def readline(self, *size):
        line = super().readline(*size)
        if not line:
            raise KeyboardInterrupt
        return line


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_ctrl_c_saves_and_leaves(scores, tmp_path, monkeypatch, karat, as_json):
    answers, metric = tmp_path / "answers.json", tmp_path / "metric.json"
    monkeypatch.setattr(sys, "stdin", Typed("1\n2\n"))
    result = karat(
        "elicit", scores, "--label", "y", "--score", "score", "--transcript", answers,
        "--save-metric", metric, "--agreement", "1", *as_json,
    )  # fmt: skip
    assert result.code == 130
    assert "interrupted" in result.err
    assert f"2 answers are in {answers}: run again to go on" in result.out + result.err
    assert load_transcript(answers).answers == ("first", "second")
    assert not metric.exists()


@pytest.mark.parametrize("method", ["tell", "undo"])
def test_ctrl_c_while_the_next_question_is_thought_of(scores, tmp_path, run, monkeypatch, method):
    """What was answered, or taken back, is saved before anything is computed."""
    answers = tmp_path / "answers.json"
    options = ("--score", "score", "--transcript", str(answers), "--agreement", "1")
    run(scores, "12q", *options)

    def interrupted(self, *given, **kept):
        self._forget()  # as if in the middle of it
        raise KeyboardInterrupt

    monkeypatch.setattr(Elicitation, method, interrupted)
    result = run(scores, ["t" if method == "tell" else "u"], *options)
    assert result.code == 130
    wanted = ("first", "second", "tie") if method == "tell" else ("first",)
    assert load_transcript(answers).answers == wanted
    monkeypatch.undo()


def test_what_is_saved_is_what_the_procedure_would_save(scores, tmp_path, run, monkeypatch):
    answers = tmp_path / "answers.json"
    seen = []
    tell = Elicitation.tell

    def told(self, answer, **kept):
        tell(self, answer, **kept)
        seen.append(self.transcript)

    monkeypatch.setattr(Elicitation, "tell", told)
    run(scores, "1u2tq", "--score", "score", "--transcript", str(answers), "--agreement", "1")
    assert load_transcript(answers) == seen[-1]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, as on Linux")
def test_ctrl_c_at_a_real_terminal(scores, tmp_path, press_until_it_ends):
    """The key itself, at a terminal of its own; the libraries that are loaded have handlers too."""
    answers = tmp_path / "answers.json"
    flags = ("--label", "y", "--score", "score", "--transcript", str(answers), "--agreement", "1")
    own = (
        "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "  # the keys are its signals
    )
    code = own + "from karat.cli import main; main()"
    terminal, other_end = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-c", code, "elicit", str(scores), *flags],
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
        read_until(b"q stop here > ")
        os.write(terminal, b"1\n")
        read_until(b"question 2")
        read_until(b"q stop here > ")
        said = press_until_it_ends(command, terminal, b"\x03")
        assert b"1 answer is in" in said
        assert command.wait() == 130
    finally:
        command.kill()
        command.wait()
        os.close(terminal)
    assert load_transcript(answers).answers == ("first",)


@pytest.mark.parametrize("typed", [["q"], ["u", "q"], ["1", "u", "q"], []])
def test_nothing_is_saved_from_no_answers(scores, tmp_path, run, typed):
    files = {name: tmp_path / f"{name}.json" for name in ("transcript", "save-metric")}
    page = tmp_path / "page.html"
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    result = run(scores, typed, "--score", "score", *options, "--output", str(page))
    assert result.code == 0, result.err
    assert "Nothing was answered" in result.out
    assert not page.exists()
    assert not any(path.exists() for path in files.values())
    said = run(scores, typed, "--score", "score", "--json").data
    assert said["result"] is None


# --- going on


def test_a_finished_transcript_goes_on_where_more_is_asked_for(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    options = ("--score", "score", "--transcript", str(answers))
    run(scores, "12" * 40, *options, "--agreement", "0.8", "--max-queries", "5")
    n = len(load_transcript(answers).answers)
    again = run(scores, "12" * 40, *options, "--agreement", "0.8")
    assert f"all is asked: {n} answers; a greater --agreement or --max-queries" in again.out
    assert len(load_transcript(answers).answers) == n
    less = run(scores, "12" * 40, *options, "--agreement", "0.6")
    assert less.code == 0, less.err
    more = run(scores, "1tq", *options, "--agreement", "1", "--max-queries", "9")
    assert f"going on after {n} answers, with the options of the transcript, and" in more.out
    kept = load_transcript(answers)
    assert kept.answers[n:] == ("first", "tie")
    assert kept.options["agreement"] == 1
    on = run(scores, "q", *options)
    assert f"going on after {n + 2} answers" in on.out, "the greater agreement is kept"


def words(said):
    """Return what was printed, however its lines were broken."""
    return " ".join(said.out.split())


def test_answers_that_are_flagged_are_not_gone_on_with(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    options = ("--score", "score", "--transcript", str(answers))
    first = run(scores, "1" * 60, *options)
    n = len(load_transcript(answers).answers)
    assert "answers name the first side, whatever it shows; do not use this metric" in words(first)
    assert f"the answers are in {answers}" in words(first)
    assert "run again to go on" not in words(first)
    again = run(scores, "1" * 60, *options, "--agreement", "0.999")
    assert f"all is asked: {n} answers, which are flagged: begin again with another" in words(again)
    assert len(load_transcript(answers).answers) == n


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_metric_of_answers_that_are_flagged_is_written_as_such(scores, tmp_path, run, as_json):
    """Whoever goes on with the file would optimise what nobody meant: commands refuse it."""
    metric, page = tmp_path / "metric.json", tmp_path / "page.html"
    options = ("--score", "score", "--save-metric", metric, *as_json)
    flagged = run(scores, "1" * 60, *options, "--output", page)
    assert flagged.code == 3
    said = f"the answers are flagged: {metric} says so, and is refused wherever a metric is read"
    assert flagged.err.count(f"warning: {said}. Ask again with a new --transcript") == 1
    with pytest.raises(MetricError, match=r"the metric is flagged \(flagged, \d+ answers on 20"):
        load_metric(metric)
    assert load_metric(metric, flagged=True).elicited.status == "flagged"
    assert "Flagged." in page.read_text(encoding="utf-8")
    if as_json:
        assert flagged.data["result"]["status"] == "flagged"
        assert any(said in warned for warned in flagged.data["warnings"])


def test_more_questions_than_before(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    options = ("--score", "score", "--transcript", str(answers), "--agreement", "1")
    run(scores, "1212", *options, "--max-queries", "2")
    assert len(load_transcript(answers).answers) == 2
    run(scores, "1212", *options, "--max-queries", "1")
    assert len(load_transcript(answers).answers) == 2
    run(scores, "1212", *options, "--max-queries", "4")
    assert len(load_transcript(answers).answers) == 4


def test_a_transcript_that_was_changed_is_refused(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    run(scores, "12q", "--score", "score", "--transcript", str(answers))
    answers.write_text(answers.read_text("utf-8").replace("second", "first"), encoding="utf-8")
    result = run(scores, "1", "--score", "score", "--transcript", str(answers))
    assert result.code == 3
    assert "changed after it was saved" in result.err


def test_json_is_all_that_is_printed(scores, run):
    result = run(scores, "1" * 80, "--score", "score", "--json", "--strategy", "bisection")
    data = result.data
    assert "question 1" in result.err
    assert data["result"]["strategy"] == "bisection"
    assert data["result"]["metric"]["schema"] == "karat.metric"
    assert data["warnings"]  # always "first" leads to the end of what can be told apart


@pytest.mark.parametrize(
    "family", [("linear",), ("linear", "--space", "diagonal"), ("monotone",)], ids="-".join
)
def test_several_classes(tmp_path, family, run):
    law = LogisticLaw([-4, 1, 5])
    x, y = law.sample(300, rng=1)
    path = tmp_path / "three.csv"
    columns = {f"p{i}": p for i, p in enumerate(law.proba(x).T)}
    pl.DataFrame({"y": np.array(["cat", "dog", "fox"])[y], **columns}).write_csv(path)
    given = [part for name in columns for part in ("--prob", name)]
    # A target that few answers never reach: the questions differ from run to run.
    result = run(path, "1212q", *given, "--family", *family, "--agreement", "1")
    assert result.code == 0, result.err
    assert "4 answers so far" in result.out
    assert "fox" in result.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "--score"),
        (("--score", "score", "--prob", "score"), 2, "--score is 'score'; expected no --prob"),
        (("--prob", "score"), 2, "one column for each of the 2 classes ['ham', 'spam']"),
        (("--prob", "score", "--prob", "score"), 2, "--prob is 'score' twice"),
        (("--score", "scor"), 3, "did you mean 'score'"),
        (("--score", "score", "--family", "best"), 2, "--family is 'best'"),
        (("--score", "score", "--strategy", "guess"), 2, "strategy is 'guess'"),
        (("--score", "score", "--family", "monotone"), 2, "'linear' or 'ratio' on a BinarySpace"),
        (("--score", "score", "--space", "rates"), 2, "--space is 'rates'"),
    ],
)
def test_wrong_options_are_explained(scores, options, code, message, run):
    result = run(scores, "1", *options)
    assert result.code == code
    assert message in result.err


def test_a_transcript_of_other_data_is_refused(scores, tmp_path, run):
    answers, other = tmp_path / "answers.json", tmp_path / "other.csv"
    run(scores, "12q", "--score", "score", "--transcript", str(answers))
    pl.read_csv(scores).head(300).write_csv(other)
    before = answers.read_text(encoding="utf-8")
    result = run(other, "1", "--score", "score", "--transcript", str(answers))
    assert "another space" in result.err
    assert answers.read_text(encoding="utf-8") == before, "nothing is lost"


@pytest.fixture
def loans(tmp_path):
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(600, rng=0)
    path = tmp_path / "loans.csv"
    columns = {
        "y": np.array(["default", "repaid"])[y],
        "p": law.proba(x)[:, 1],
        "sex": np.where(np.arange(600) % 3, "men", "women"),
    }
    pl.DataFrame(columns).write_csv(path)
    return path


@pytest.mark.parametrize("family", ["linear", "quadratic"])
def test_groups_are_shown_and_the_trade_off_is_said(loans, tmp_path, family, run):
    page = tmp_path / "page.html"
    options = ("--score", "p", "--group", "sex", "--family", family, "--agreement", "1")
    result = run(loans, "1212q", *options, "--output", str(page))
    assert result.code == 0, result.err
    assert "men: repaid as default" in result.out
    assert "women: default recognised" in result.out
    assert "is worth" in result.out
    text = page.read_text(encoding="utf-8")
    assert "What is a gap between groups worth?" in text
    assert text.count("<svg") == 5


def test_the_positive_class_comes_second_whatever_its_name(loans, tmp_path, run):
    metric = tmp_path / "metric.json"
    options = ("--score", "p", "--family", "quadratic", "--agreement", "1")
    result = run(loans, "12q", *options, "--save-metric", str(metric))
    assert "default as repaid" in result.out
    assert load_metric(metric).n_classes == 2
    other = run(loans, "12q", *options, "--pos-label", "default")
    first = other.out.index("repaid recognised")
    assert first < other.out.index("default recognised")


@pytest.mark.parametrize(
    "family", [(), ("--family", "quadratic"), ("--space", "groups", "--group", "sex")]
)
def test_the_positive_class_holds_for_probabilities_too(loans, tmp_path, family, run):
    """It comes second, as for a score of the positive class."""
    path = tmp_path / "both.csv"
    pl.read_csv(loans).with_columns(q=1 - pl.col("p")).write_csv(path)
    rest = ("--pos-label", "default", "--agreement", "1", *family)
    by_class = run(path, "12q", "--prob", "q", "--prob", "p", *rest)
    assert by_class.code == 0, by_class.err
    first = by_class.out.index("repaid recognised")
    assert first < by_class.out.index("default recognised")


def test_a_positive_class_is_one_of_two(tmp_path, run):
    path = tmp_path / "three.csv"
    columns = {"y": [0, 1, 2] * 20, "a": [0.5] * 60, "b": [0.3] * 60, "c": [0.2] * 60}
    pl.DataFrame(columns).write_csv(path)
    given = ("--prob", "a", "--prob", "b", "--prob", "c")
    result = run(path, "q", *given, "--pos-label", "1")
    assert result.code == 2
    assert "--pos-label is 1; expected two classes with it" in result.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--score", "p", "--space", "groups"), 2, "--group"),
        (("--score", "p", "--group", "sex", "--space", "rate"), 2, "--space groups"),
        (("--score", "p", "--group", "sex", "--family", "ratio"), 2, "'linear' or 'quadratic'"),
        (("--score", "p", "--space", "rates"), 2, "--space is 'rates'"),
        (("--score", "p", "--group", "sexx"), 3, "did you mean 'sex'"),
        (("--family", "quadratic"), 2, "--score"),
        (("--score", "p", "--family", "quadratic", "--pos-label", "paid"), 2, "paid"),
    ],
)
def test_wrong_options_of_groups_are_explained(loans, options, code, message, run):
    result = run(loans, "1", *options)
    assert result.code == code
    assert message in result.err


def test_skips_alone_are_no_metric(scores, tmp_path, run):
    answers, metric = tmp_path / "answers.json", tmp_path / "metric.json"
    options = ("--score", "score", "--transcript", str(answers), "--save-metric", str(metric))
    result = run(scores, "ssq", *options)
    assert result.code == 0, result.err
    assert "All 2 questions were skipped, so nothing is known" in result.out
    assert "costs" not in result.out, "what is believed before any answer is no metric"
    assert not metric.exists()
    assert load_transcript(answers).answers == ("skip", "skip")


def test_options_that_a_transcript_does_not_take_are_named(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    options = ("--score", "score", "--transcript", str(answers))
    run(scores, "1q", *options)
    on = run(scores, "q", *options, "--strategy", "bisection", "--agreement", "0.6")
    said = " ".join(on.out.split())
    assert "going on after 1 answer, with the options of the transcript" in said
    assert "(not --strategy bisection, --agreement 0.6)" in said
    assert "(not" not in run(scores, "q", *options, "--agreement", "0.95").out


def test_a_transcript_of_another_family_is_refused_in_terms_of_the_command(scores, tmp_path, run):
    answers = tmp_path / "answers.json"
    options = ("--score", "score", "--transcript", str(answers))
    run(scores, "1q", *options)
    other = run(scores, "q", *options, "--family", "ratio")
    assert other.code == 2
    assert "answers are about linear metrics on a binary space" in " ".join(other.err.split())
    assert "--family" in other.err
