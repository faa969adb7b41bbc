"""What README.md shows runs: its Python, and every ``karat`` command it or the docs name."""

import io
import json
import re
import shlex
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import get_args, get_type_hints

import duckdb
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest

import karat
from karat.cli import main
from karat.metrics import cost_matrix
from karat.report.parts import Verdict
from karat.sources import Counts

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
TEN_TASKS = ROOT / "docs" / "how-to" / "ten-tasks.md"  # its commands run in order, in one folder
SKILL = ROOT / "src" / "karat" / "cli" / "SKILL.md"
PAGES = [ROOT / "README.md", SKILL, *sorted(set((ROOT / "docs").rglob("*.md")) - {TEN_TASKS})]


def commands(text):
    """Return the command lines of a page: whole lines of a block, or code within the text."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    plain = [block for language, block in fenced if not language]
    lines = [line.partition(" #")[0] for block in plain for line in block.splitlines()]
    inline = re.findall(
        r"(?<!`)`(karat [^`]+ [^`]+)`", text
    )  # one word after karat names a command
    found = [*(line for line in lines if line.startswith("karat ")), *inline]
    return [" ".join(line.split()) for line in found]


# A server goes on until it is stopped; tests/cli/test_studio_command.py starts and stops it.
SERVES = re.compile(r"karat studio(?! simulate)")
COMMANDS = sorted({
    line
    for path in PAGES
    for line in commands(path.read_text(encoding="utf-8"))
    if not SERVES.match(line)
})  # fmt: skip


BIOPSIES = np.array(["benign", "malignant"])


def binary(rng, n):
    y = rng.random(n) < 0.4
    return y.astype(int), rng.normal(size=n) + 2 * y


def weak_labels(rng, n):
    y, _ = binary(rng, n)
    votes = np.where(rng.random((n, 5)) < 0.8, y[:, None], 1 - y[:, None])
    seen = np.where(rng.random((n, 5)) < 0.8, votes, -1)
    predicted, gold = np.where(rng.random(n) < 0.9, y, 1 - y), np.where(np.arange(n) < 50, y, -1)
    return {"weak_labels": seen, "y_pred": predicted, "gold": gold}


def labelling(rng, n):
    y, score = binary(rng, n)

    def labels_of(todo):
        return {item: int(y[item]) for item in todo["item"]}

    p = 1 / (1 + np.exp(2 - 2 * score))
    return {"y_pred": (p > 0.5).astype(int), "p_spam": p, "labels_of": labels_of}


def judges(rng, n):
    y, _ = binary(rng, n)
    wrong = rng.random((n, 5)) < np.linspace(0.05, 0.25, 5)
    return {"votes": np.where(wrong, 1 - y[:, None], y[:, None])}


def person(rng, n):
    y, score = binary(rng, n)
    worth = cost_matrix([[0, 1], [6, 0]])

    def answer(query):
        return "first" if worth(query.first) >= worth(query.second) else "second"

    return {"y_true": BIOPSIES[y], "y_score": score, "answer": answer}


def rankings(rng, n):
    y, score = binary(rng, n)
    return {"y_true": y, "y_score": score}


def several_labels(rng, n):
    prob = rng.random((n, 3))
    return {"y_true": (rng.random((n, 3)) < prob).astype(int), "y_prob": prob}


# What a block of the README takes for granted, by the package that it imports first.
DATA = {
    "audit": labelling, "bounds": weak_labels, "consensus": judges, "elicit": person,
    "ranking": rankings, "calibration": several_labels,
}  # fmt: skip


def package_of(block):
    return re.search(r"from karat\.(\w+)", block)[1]


def test_every_question_has_a_block():
    assert {package_of(block) for block in BLOCKS} == set(DATA)
    assert len(COMMANDS) >= 8


@pytest.mark.parametrize("block", BLOCKS, ids=package_of)
def test_python_of_the_readme_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = DATA[package_of(block)](np.random.default_rng(0), 600)
    exec(compile(block, "README.md", "exec"), namespace)
    plt.close("all")


def test_the_readme_fits_on_few_pages_and_its_links_lead_somewhere():
    assert README.count("\n") <= 120
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) >= 12
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_figures_of_the_readme_stand_in_the_page_of_what_is_reproduced():
    page = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
    table = re.search(r"## Reproduced\n(.*?)\n\n\[", README, re.DOTALL)[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[3:]]
    assert len(rows) >= 5
    for row in rows:
        for cell in row[-2:]:
            figure = cell.split()[0].rstrip(",")
            assert re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", page), row


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small files under the names, and with the columns, that the pages use."""
    where = tmp_path_factory.mktemp("readme")
    rng = np.random.default_rng(0)
    y, score = binary(rng, 400)
    p = 1 / (1 + np.exp(2 - 2 * score))
    table = pl.DataFrame(
        {
            "y": y, "score": score, "p": p, "a": score, "b": rng.normal(size=400) + y,
            "model_a": (p > 0.5).astype(int), "model_b": (p > 0.4).astype(int),
            "sex": rng.choice(["f", "m"], 400), "region": rng.choice(["n", "s"], 400),
        }
    )  # fmt: skip
    table.write_csv(where / "scores.csv")
    named = {"diagnosis": BIOPSIES[y], "model": BIOPSIES[(p > 0.5).astype(int)], "p": p}
    pl.DataFrame(named).write_csv(where / "biopsies.csv")
    costs = cost_matrix([[0, 1], [5, 0]], classes=BIOPSIES)
    (where / "costs.json").write_text(costs.to_json(), encoding="utf-8")
    table.write_parquet(where / "scores.parquet")
    votes = np.where(rng.random((400, 6)) < 0.85, y[:, None], 1 - y[:, None])
    items = {"model_a": y, "model_b": votes[:, 0]}
    items |= {f"lf_{j}": votes[:, j] for j in range(1, 4)} | {"pred_c": y}
    items |= {f"rule_{j}": votes[:, j] for j in range(1, 4)} | {"spam": y, "model": y}
    pl.DataFrame(items).write_parquet(where / "items.parquet")
    voters = {name: votes[:, j] for j, name in enumerate("abc")}
    pl.DataFrame({**voters, "topic": table["region"]}).write_parquet(where / "votes.parquet")
    gpt = {f"gpt_{j}": votes[:, j] for j in range(4)}
    pl.DataFrame({"item": np.arange(400), **gpt}).write_csv(where / "votes.csv")
    three = {f"person_{j}": votes[:, j] for j in range(3)}
    pl.DataFrame(
        {**three, "gpt-4o": votes[:, 3], "old": votes[:, 4], "new": votes[:, 5]}
    ).write_csv(where / "answers.csv")
    mails = pl.DataFrame({"model": (p > 0.5).astype(int), "p_spam": p})
    mails = mails.with_columns(mail=pl.lit("Dear customer"))
    mails.write_csv(where / "mails.csv")
    labelled = pl.DataFrame({"truth": y, "model": y, "a": votes[:, 0], "b": votes[:, 1]})
    labelled.write_csv(where / "labelled.csv")
    (where / "logs").mkdir()
    (where / "logs" / "votes.jsonl").write_text(
        "".join(json.dumps({"item": i, "judge": f"j{j}", "verdict": int(votes[i, j])}) + "\n"
                for i in range(100) for j in range(4)),
        encoding="utf-8",
    )  # fmt: skip
    stars = np.clip(np.round(rng.normal(2 + 2 * y[:, None], 0.7, (400, 4))), 1, 5)
    pl.DataFrame({f"judge_{j}": stars[:, j] for j in range(4)}).write_csv(where / "ratings.csv")
    said = np.where(votes[:120, :4] == 1, "A", "B")
    pairs = [
        {"item": i, "judge": f"j{j}", "order": order, "verdict": said[i, j],
         "left": "xyz"[i % 3], "right": "xyz"[(i + 1) % 3]}
        for order in ("ab", "ba") for i in range(120) for j in range(4)
    ]  # fmt: skip
    pl.DataFrame(pairs).write_parquet(where / "pairs.parquet")
    both = {f"j{j}_{order}": said[:, j] for j in range(4) for order in ("ab", "ba")}
    pl.DataFrame(both).write_csv(where / "pairs.csv")
    said = {"question": np.repeat(np.arange(400), 3), "model": ["m", "n", "o"] * 400}
    pl.DataFrame({**said, "prompt": ["v1"] * 1200, "said": votes[:, :3].ravel()}).write_csv(
        where / "long.csv"
    )
    good = np.where(rng.random(400) < 0.97, y, 1 - y)
    pl.DataFrame({"new": good, "old": votes[:, 1]}).write_csv(where / "systems.csv")
    counted_and_logged(where, table, votes)
    return where


def _labelled_by_hand(todo):
    """Ask for items as the page does, and fill in some labels."""
    with pytest.raises(SystemExit):
        main(["audit", "mails.csv", "--pred", "model", "--metric", "f1", "--prob", "p_spam",
              "--todo", str(todo)])  # fmt: skip
    asked = pl.read_csv(todo)
    asked.with_columns(label=pl.when(pl.int_range(pl.len()) < 5).then(1)).write_csv(todo)


def counted_and_logged(where, table, votes):
    """Write parts of a table, their counts, and an evaluation log."""
    (where / "scores").mkdir()
    part = table.select("y", "score", id=pl.int_range(400), pred=(pl.col("p") > 0.5).cast(int))
    part = part.with_columns(**{f"lf_{j}": votes[:, j] for j in range(3)})
    part.write_parquet(where / "scores" / "part.parquet")
    data = karat.scan(where / "scores").roles(label="y", pred="pred", score="score", weak="lf_*")
    data.counts().save(where / "counts.parquet")
    roles = {"label": "y", "pred": "pred", "score": "score"}
    query = Counts.query(str(where / "scores" / "part.parquet"), "duckdb", **roles)
    duckdb.sql(query).write_csv(str(where / "result.csv"))
    grades = np.where(votes[:60, :3] == 1, "C", "I").tolist()
    samples = [
        {"id": i, "epoch": 1, "scores": {f"judge{j}": {"value": g} for j, g in enumerate(row)}}
        for i, row in enumerate(grades)
    ]
    log = {"version": 2, "eval": {"task": "sums", "model": "m"}, "samples": samples}
    (where / "run.json").write_text(json.dumps(log))


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_pages_run(line, folder, tmp_path, monkeypatch, capsys):
    if line.startswith("karat studio"):
        pytest.importorskip("fastapi", reason="karat[studio] is not installed")
    where = tmp_path / "files"
    shutil.copytree(folder, where)  # commands write files that others read
    monkeypatch.chdir(where)
    if "--labels todo.csv" in line:
        _labelled_by_hand(where / "todo.csv")
        capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n2\nq\n"))
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(line.partition(" > ")[0])[1:])
    said = capsys.readouterr()
    assert not stopped.value.code, said.err
    assert said.out


@pytest.fixture(scope="module")
def ten_tasks():
    spec = spec_from_file_location("ten_tasks", ROOT / "docs" / "_tools" / "ten_tasks.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_ten_tasks_run_in_order_and_take_two_commands_each(ten_tasks, tmp_path):
    text = TEN_TASKS.read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    assert [section.split(".")[0] for section in sections] == [str(i) for i in range(1, 11)]
    for section in sections:
        lines = [line for block in ten_tasks.blocks(section) for line in block.splitlines()]
        assert 1 <= sum(line.startswith("karat ") for line in lines) <= 2
    ten_tasks.write_files(tmp_path)
    page = ten_tasks.with_output(text, tmp_path)
    assert page.count("\n$ karat ") == 11
    shown = dict(zip(range(1, 11), page.split("\n## ")[1:], strict=True))
    assert "the metric is in costs.json" in shown[1]
    assert "[unknown] Accuracy of logistic is not known" in shown[2]
    assert "40 new labels of 40 items" in shown[9]
    assert "PASS" in shown[10]
    for name in ("costs.json", "decisions.csv", "calibrated.csv", "report.html", "report.md"):
        assert (tmp_path / name).stat().st_size > 0


def test_a_task_that_fails_is_noticed(ten_tasks, tmp_path):
    with pytest.raises(RuntimeError, match="ended with 3"):
        ten_tasks.run_block("karat evaluate no-such-file.csv\n", tmp_path)


def test_the_skill_is_printed_and_its_python_runs(folder, tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["skill"])
    text = capsys.readouterr().out
    assert not stopped.value.code
    assert text == SKILL.read_text(encoding="utf-8")
    head = text.split("---")[1]
    assert re.findall(r"^(\w+):", head, re.MULTILINE) == ["name", "description"]
    named = set(re.findall(r"^karat (\w+)", text, re.MULTILINE))
    assert {"evaluate", "score", "bounds", "judges", "audit", "gate", "auc"} <= named
    where = tmp_path / "files"
    shutil.copytree(folder, where)
    monkeypatch.chdir(where)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "SKILL.md", "exec"), {})


def test_the_words_of_the_skill_are_those_of_the_library():
    text = SKILL.read_text(encoding="utf-8")
    assert set(re.findall(r"badge `(\w+)`", text)) == set(
        get_args(get_type_hints(Verdict)["badge"])
    )
    words = set(re.findall(r"status `([\w ]+)`", text))
    assert words == {"not identified", "consistent", "confirmed", "contradicted"}
