"""The reproductions reach the figures that they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "reproductions"
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_reproduction_keeps_its_promises(script, shared_data):
    run = subprocess.run(
        [sys.executable, str(script), "--quick"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        env={**os.environ, "KARAT_DATA": str(shared_data.resolve()), "PYTHONUTF8": "1"},
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    assert "MISSED" not in run.stdout
