"""What is loaded, and when."""

import subprocess
import sys

import pytest

import karat

HEAVY = {
    "sklearn", "scipy.stats", "torch", "matplotlib", "pandas", "polars", "pyarrow", "duckdb",
    "numba", "typer", "rich", "jinja2", "pyspark", "fastapi",
}  # fmt: skip


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_karat_loads_none_of_its_packages():
    code = "import sys, karat; print(sorted(m for m in sys.modules if m.startswith('karat.')))"
    assert run(code) == "[]"


@pytest.mark.parametrize(
    "modules",
    [
        "karat",
        "karat, karat.limits, karat.metrics, karat.statistics",
        "karat.datasets, karat.plot, karat.report",
    ],
)
def test_importing_is_light(modules):
    loaded = set(run(f"import sys, {modules}; print('\\n'.join(sys.modules))").splitlines())
    assert not loaded & HEAVY


def test_importing_limits_loads_numpy_only():
    code = "import sys, karat.limits; print('\\n'.join(sys.modules))"
    assert not {name for name in run(code).splitlines() if name.split(".")[0] == "scipy"}


def test_arrays_need_no_frame_library():
    code = """
import sys
from karat.metrics import accuracy
from karat.statistics import confusion, patterns, roc_counts
accuracy.score(["a", "b"], ["a", "a"], sample_weight=[1, 2], groups=[0, 1])
patterns([[0, -1], [1, 1]]); roc_counts([0, 1], [.2, .4])
print('\\n'.join(sys.modules))
"""
    assert not set(run(code).splitlines()) & HEAVY


def test_a_plain_frame_library_is_enough():
    """Reading a Polars frame must not load pandas."""
    code = """
import sys
import polars as pl
from karat.statistics import confusion
confusion(pl.Series(["a", "b"]), pl.Series(["a", "a"]))
print('pandas' in sys.modules)
"""
    assert run(code) == "False"


def test_import_takes_under_300_ms():
    code = "import time; t = time.perf_counter(); import karat; print(time.perf_counter() - t)"
    assert min(float(run(code)) for _ in range(5)) < 0.3


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'metric'"):
        _ = karat.metric
