"""The example in the help of every command runs as it stands there."""

import re
import shlex

import numpy as np
import polars as pl
import pytest

COMMANDS = [
    "evaluate", "audit", "gate", "elicit", "score", "auc", "calibration", "judges", "pairs",
    "people", "bounds", "optimize", "demo", "studio", "count", "doctor", "skill",
]  # fmt: skip
# Each with a test of its own: a server, and a show of a minute.
ELSEWHERE = {"studio", "demo"}


def example_of(karat, command):
    """Return the words of the example that ``--help`` shows, without the name of the program."""
    help_ = karat(command, "--help").out
    found = re.findall(r"Example:\s+karat (.+?)(?=\s*$)", help_, re.MULTILINE)
    assert len(found) == 1, f"karat {command} --help shows {len(found)} examples; expected one"
    words = shlex.split(found[0])
    assert words[0] == command
    return words


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the examples name, in the folder that commands run in."""
    rng = np.random.default_rng(0)
    n = 300
    truth = rng.random(n) < 0.4
    noisy = {f"rule_{i}": truth ^ (rng.random(n) < 0.2) for i in range(4)}
    spam = np.array(["ham", "spam"])
    score = np.clip(0.25 + 0.5 * truth + rng.normal(0, 0.15, n), 0.01, 0.99).round(3)
    mails = {
        "truth": spam[truth.astype(int)],
        "model": spam[(truth ^ (rng.random(n) < 0.1)).astype(int)],
        "p_spam": score,
        "mail": [f"mail {i}" for i in range(n)],
        **{name: spam[votes.astype(int)] for name, votes in noisy.items()},
    }
    pl.DataFrame(mails).write_csv(tmp_path / "mails.csv")
    pl.DataFrame(mails).write_csv(tmp_path / "labelled.csv")
    pl.DataFrame(
        {"y": truth.astype(int), "model": (score > 0.5).astype(int), "p": score}
    ).write_csv(tmp_path / "scores.csv")
    judges = {f"judge_{i}": votes.astype(int) for i, votes in enumerate(noisy.values())}
    pl.DataFrame(judges).write_csv(tmp_path / "verdicts.csv")
    both = {f"{name}_{order}": votes for name, votes in judges.items() for order in ("ab", "ba")}
    pl.DataFrame(both).write_csv(tmp_path / "pairs.csv")
    people = {f"person_{i}": noisy[f"rule_{i}"].astype(int) for i in range(3)}
    pl.DataFrame(people | {"judge": truth.astype(int)}).write_csv(tmp_path / "answers.csv")
    chances = {f"prob_{i}": rng.random(n).round(3) for i in range(3)}
    labels = {
        f"label_{i}": (rng.random(n) < chance).astype(int)
        for i, chance in enumerate(chances.values())
    }
    pl.DataFrame(labels | chances).write_csv(tmp_path / "scenes.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")


def test_no_command_is_forgotten(karat):
    shown = karat("--help").out.partition("Commands")[2].partition("Options")[0]
    assert re.findall(r"^[^\w]{1,4}([a-z]+) ", shown, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - ELSEWHERE))
def test_the_example_runs(karat, files, command):
    words = example_of(karat, command)
    ran = karat(*words, typed=["1", "2", "q"])  # of karat elicit: too few answers to flag
    assert ran.code in ({0, 4, 5} if command == "gate" else {0}), ran.err
    assert ran.out
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", sorted(ELSEWHERE))
def test_the_flags_of_the_other_examples_are_known(karat, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "400")
    flags = {word for word in example_of(karat, command) if word.startswith("--")}
    assert flags
    said = karat(command, "--help").out.partition("Options")[2]
    assert flags <= set(re.findall(r"--[a-z-]+", said))
