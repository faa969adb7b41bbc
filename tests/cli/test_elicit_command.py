"""``karat elicit``: questions at the terminal, answers from a pipe."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from karat.cli._app import app
from karat.datasets import LogisticLaw
from karat.elicit import load_transcript
from karat.metrics import load_metric

runner = CliRunner()


@pytest.fixture
def scores(tmp_path):
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(400, rng=0)
    path = tmp_path / "scores.csv"
    names = np.array(["ham", "spam"])[y]
    pl.DataFrame({"y": names, "score": law.proba(x)[:, 1]}).write_csv(path)
    return path


def run(path, answers, *options, label="y"):
    arguments = ["elicit", str(path), "--label", label, *options]
    return runner.invoke(app, arguments, input="".join(f"{a}\n" for a in answers))


def test_the_pair_is_drawn_and_the_metric_is_said(scores):
    result = run(scores, "1" * 80, "--score", "score")
    assert result.exit_code == 0, result.output
    assert "question 1: which classifier is better?" in result.output
    assert "spam as ham" in result.output
    assert "█" in result.output
    assert "a missed spam against a false spam" in result.output


def test_answers_are_saved_and_the_next_run_goes_on(scores, tmp_path):
    answers, metric, page = (tmp_path / n for n in ("answers.json", "metric.json", "page.html"))
    options = ("--score", "score", "--transcript", str(answers), "--agreement", "0.99")
    first = run(scores, "12q", *options)
    assert first.exit_code == 0, first.output
    assert load_transcript(answers).answers == ("first", "second")
    again = run(
        scores, "ts" + "2" * 80, *options, "--save-metric", str(metric), "--output", str(page)
    )
    assert "going on after 2 answers" in again.output
    assert load_transcript(answers).answers[:4] == ("first", "second", "tie", "skip")
    assert load_metric(metric).n_classes == 2
    assert page.read_text(encoding="utf-8").count("<svg") == 3


def test_undo_asks_again_and_nonsense_is_not_an_answer(scores, tmp_path):
    answers = tmp_path / "answers.json"
    result = run(scores, ["u", "yes", "1", "u", "2", "q"], "--score", "score",
                 "--transcript", str(answers))  # fmt: skip
    assert "nothing to take back yet" in result.output
    assert "'yes' is no answer" in result.output
    assert result.output.count("question 2:") == 2
    assert load_transcript(answers).answers == ("second",)


def test_json_is_all_that_is_printed(scores):
    result = run(scores, "1" * 80, "--score", "score", "--json", "--strategy", "bisection")
    data = json.loads(result.stdout.splitlines()[-1])
    assert data["result"]["strategy"] == "bisection"
    assert data["result"]["metric"]["schema"] == "karat.metric"
    assert data["notes"]  # always "first" leads to the end of what can be told apart


@pytest.mark.parametrize("family", ["linear", "diagonal", "monotone"])
def test_several_classes(tmp_path, family):
    law = LogisticLaw([-4, 1, 5])
    x, y = law.sample(300, rng=1)
    path = tmp_path / "three.csv"
    columns = {f"p{i}": p for i, p in enumerate(law.proba(x).T)}
    pl.DataFrame({"y": np.array(["cat", "dog", "fox"])[y], **columns}).write_csv(path)
    given = [part for name in columns for part in ("--prob", name)]
    # A target that few answers never reach: the questions differ from run to run.
    result = run(path, "1212q", *given, "--family", family, "--agreement", "1")
    assert result.exit_code == 0, result.output
    assert "4 answers so far" in result.output
    assert "fox" in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--score"),
        (("--score", "scor"), "did you mean 'score'"),
        (("--score", "score", "--family", "best"), "--family best"),
        (("--score", "score", "--strategy", "guess"), "strategy is 'guess'"),
    ],
)
def test_wrong_options_are_explained(scores, options, message):
    result = run(scores, "1", *options)
    assert result.exit_code != 0
    assert message in str(result.exception)


def test_a_transcript_of_other_data_is_refused(scores, tmp_path):
    answers, other = tmp_path / "answers.json", tmp_path / "other.csv"
    run(scores, "12q", "--score", "score", "--transcript", str(answers))
    pl.read_csv(scores).head(300).write_csv(other)
    before = answers.read_text(encoding="utf-8")
    result = run(other, "1", "--score", "score", "--transcript", str(answers))
    assert "another space" in str(result.exception)
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


@pytest.mark.parametrize("family", ["fair", "fair-quadratic"])
def test_groups_are_shown_and_the_trade_off_is_said(loans, tmp_path, family):
    page = tmp_path / "page.html"
    options = ("--score", "p", "--groups", "sex", "--family", family, "--agreement", "1")
    result = run(loans, "1212q", *options, "--output", str(page))
    assert result.exit_code == 0, result.output
    assert "men: repaid as default" in result.output
    assert "women: default recognised" in result.output
    assert "is worth" in result.output
    text = page.read_text(encoding="utf-8")
    assert "What is a gap between groups worth?" in text
    assert text.count("<svg") == 5


def test_the_positive_class_comes_second_whatever_its_name(loans, tmp_path):
    metric = tmp_path / "metric.json"
    options = ("--score", "p", "--family", "quadratic", "--agreement", "1")
    result = run(loans, "12q", *options, "--save-metric", str(metric))
    assert "default as repaid" in result.output
    assert load_metric(metric).n_classes == 2
    other = run(loans, "12q", *options, "--pos-label", "default")
    first = other.output.index("repaid recognised")
    assert first < other.output.index("default recognised")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--score", "p", "--family", "fair"), "--groups"),
        (("--score", "p", "--groups", "sex"), "fair or fair-quadratic"),
        (("--score", "p", "--family", "fair", "--groups", "sexx"), "did you mean 'sex'"),
        (("--family", "quadratic"), "--score"),
        (("--score", "p", "--family", "quadratic", "--pos-label", "paid"), "paid"),
    ],
)
def test_wrong_options_of_groups_are_explained(loans, options, message):
    result = run(loans, "1", *options)
    assert result.exit_code != 0
    assert message in str(result.exception)
