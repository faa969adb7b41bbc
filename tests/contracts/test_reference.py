"""The reference has a page for every public name."""

import importlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import karat

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_tools"))
reference_pages = importlib.import_module("reference_pages")
INDEX = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
NEEDS = {"torch": "torch", "studio": "fastapi"}  # skipped where their extra is not installed
PACKAGES = [
    name
    for name in karat.__all__
    if name not in ("__version__", "cli") and find_spec(f"karat.{name}") is not None
]


def test_every_package_has_its_place():
    grouped = {package for packages in reference_pages.GROUPS.values() for package in packages}
    assert grouped == set(PACKAGES)
    assert set(re.findall(r"^karat/(\w+)$", INDEX, re.MULTILINE)) == grouped
    assert set(re.findall(r"\[karat\.(\w+)\]\(karat/\1\.md\)", INDEX)) == grouped


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_page_and_a_line(package):
    if package in NEEDS:
        pytest.importorskip(NEEDS[package])
    module = importlib.import_module(f"karat.{package}")
    page = reference_pages.package_page(package, module, module.__all__)
    listed = re.findall(rf"^\| \[`(\w+)`\]\({package}/\1\.md\) \| (.*) \|$", page, re.MULTILINE)
    assert sorted(name for name, _ in listed) == sorted(module.__all__)
    for name, line in listed:
        assert re.search(r"\w", line), f"karat.{package}.{name} has no first sentence"
        text = reference_pages.page_of(package, name, getattr(module, name))
        assert re.search(rf"^\.\. auto\w+:: karat\.{package}\.{name}$", text, re.MULTILINE)


def test_a_result_without_a_page_is_described_with_what_returns_it():
    bounds = importlib.import_module("karat.bounds")
    text = reference_pages.page_of("bounds", "bounds_curve", bounds.bounds_curve)
    assert ".. autoclass:: karat.bounds.result.BoundsCurve" in text
    assert "It also has `summary()`" in text
    own = reference_pages.page_of("bounds", "performance_bounds", bounds.performance_bounds)
    assert "autoclass" not in own  # its result has a page


def test_what_an_estimator_keeps_is_described_with_it():
    consensus = importlib.import_module("karat.consensus")
    text = reference_pages.page_of("consensus", "ErrorEstimator", consensus.ErrorEstimator)
    for name in ("ErrorRates", "CoClustering", "Explanations", "RankingRobustness"):
        assert f".. autoclass:: karat.consensus.result.{name}" in text
    text = reference_pages.page_of("consensus", "annotator_test", consensus.annotator_test)
    assert ".. autoclass:: karat.consensus.judged.AnnotatorTest" in text
