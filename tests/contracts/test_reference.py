"""The reference lists every public name."""

import importlib
import re
from pathlib import Path

import pytest

import karat

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", [n for n in karat.__all__ if n not in ("__version__", "cli")])
def test_every_public_name_is_in_the_reference(package):
    if package == "torch":
        pytest.importorskip("torch")
    block = re.search(rf"automodule:: karat\.{package}\n +:members:(.*?)\n(?! {{4}})", PAGE, re.S)
    assert block, f"karat.{package} is not in docs/reference/index.md"
    listed = set(re.findall(r"\w+", block[1])) | set(
        re.findall(rf"auto\w+:: karat\.{package}\.(\w+)", PAGE)
    )
    if block[1].strip():  # else the module's members are all listed
        module = importlib.import_module(f"karat.{package}")
        assert set(module.__all__) <= listed
