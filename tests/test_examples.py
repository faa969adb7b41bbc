"""The examples run."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(path, capsys):
    if "import torch" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="the extra torch is not installed")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
