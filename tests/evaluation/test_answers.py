"""What a command prints and writes is had in Python too: a report on results of the library."""

import ast
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.audit import gate
from karat.cli import main
from karat.evaluation.audits import of_gate
from karat.evaluation.rankings import of_rankings
from karat.evaluation.scores import score_models
from karat.ranking import compare_rankings, weighted_auc


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    models = {name: np.where(rng.random(200) < right, y, 1 - y) for name, right in
              (("good", 0.9), ("poor", 0.7))}  # fmt: skip
    scores = {name: y + rng.normal(size=200) * noise for name, noise in (("a", 0.5), ("b", 1.5))}
    return y, models, scores


def test_models_are_scored_and_compared(rows):
    y, models, _ = rows
    found = score_models(y, models, {"accuracy": "accuracy", "f1": "f1"}, rng=0)
    assert found.comparisons["accuracy"].best == ("good",)
    assert found.to_frame()["metric"].to_list() == ["accuracy", "f1"] * 2
    assert found.results["good"]["accuracy"].value == pytest.approx((models["good"] == y).mean())
    answer = found.answer("rows")
    page = answer.to_html()
    assert page.count("<svg") == 6
    assert page.index("Which model is best in accuracy?") < page.index("How good is good in")
    assert any("good" in line for line in answer.text if isinstance(line, str))


def test_models_with_weights_are_scored_alone(rows):
    y, models, _ = rows
    with pytest.warns(match="models are not compared"):
        found = score_models(
            y, models, {"accuracy": "accuracy"}, sample_weight=np.ones(200), weight="seen", rng=0
        )
    assert found.comparisons == {}
    assert "by its seen" in found.answer("rows").to_html()


def test_rankings_are_reported(rows):
    y, _, scores = rows
    both = compare_rankings(y, scores)
    answer = of_rankings({name: weighted_auc(y, s) for name, s in scores.items()}, "rows", both)
    assert "Which ranking is better?" in answer.to_html()
    assert answer.data["differences"]["pairs"] == both.differences


def test_the_command_says_the_same(rows, tmp_path, capsys):
    y, models, _ = rows
    lines = ["y,good"] + [f"{a},{b}" for a, b in zip(y, models["good"], strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(SystemExit) as end:
        main(
            ["gate", str(tmp_path / "t.csv"), "--label", "y", "--pred", "good", "--at-least", ".8"]
        )
    result = gate(y, models["good"], 0.8, metric="accuracy")
    assert end.value.code == result.exit_code
    assert capsys.readouterr().out.splitlines() == of_gate(result, "t.csv").text


def test_tables_with_limits_call_the_number_value():
    source = Path(karat.__file__).parent
    heads = [
        {part.value for part in node.elts if isinstance(part, ast.Constant)}
        for file in [*source.glob("evaluation/**/*.py"), *source.glob("cli/**/*.py")]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Tuple)
    ]
    limits = [head for head in heads if {"lower", "upper"} <= head]
    assert len(limits) >= 5
    assert [head for head in limits if head & {"estimate", "mean"}] == []
