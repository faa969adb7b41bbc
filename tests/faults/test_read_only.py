"""Compiled loops where nothing can be written, and in images that are warmed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import karat

SOURCE = Path(karat.__file__).parent
# The dotted name of every module that has a compiled loop.
KERNELS = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in SOURCE.rglob("*.py")
    if "import compiled" in path.read_text(encoding="utf-8")
)
# A loop that compiles in half a second stands for all: they have one decorator.
FIT = """
import importlib, json, sys, warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for name in sys.argv[1:]:
        importlib.import_module(name)
    import karat, numpy as np
    from karat.ranking import Uniform
    from karat.ranking.learning import surrogate

    rng = np.random.default_rng(0)
    found = surrogate(rng.random(5) + 1, rng.random(7), Uniform(), loss="logistic")
told = [str(w.message) for w in caught if "NUMBA_CACHE_DIR" in str(w.message)]
print(json.dumps([karat.__file__, found.value, told]))
"""


def fit(**environment):
    """Run a loop in a process of its own; return where karat is, its sum, and the warnings."""
    done = subprocess.run(
        [sys.executable, "-c", FIT, *KERNELS],
        env={name: value for name, value in (os.environ | environment).items() if value},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def read_only_install(tmp_path):
    """Return the path of a copy beside which no cache can be made, not even by root.

    Root may write into a folder that is marked read-only, so a file stands where numba would make
    its folder.
    """
    copy = tmp_path / "lib" / "karat"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(p for p in copy.rglob("*") if p.is_dir())]:
        (folder / "__pycache__").touch()
    return copy.parent


@pytest.mark.slow
def test_a_read_only_install_without_a_home_compiles_and_says_so_once(read_only_install, tmp_path):
    assert len(KERNELS) >= 8
    nowhere = str(read_only_install / "karat" / "__init__.py" / "none")  # below a file
    where, value, told = fit(
        PYTHONPATH=str(read_only_install), PYTHONDONTWRITEBYTECODE="1", NUMBA_CACHE_DIR="",
        HOME=nowhere, XDG_CACHE_HOME=nowhere, LOCALAPPDATA=nowhere, IPYTHONDIR=nowhere,
    )  # fmt: skip
    assert where.startswith(str(read_only_install))
    assert len(told) == 1
    assert "karat doctor --warm" in told[0]
    kept = fit(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert kept[1:] == [value, []]
    assert list((tmp_path / "cache").rglob("*.nbc")), "compiled code is kept where it says"


def test_other_failures_of_numba_are_not_hidden(monkeypatch):
    import numba

    from karat._compiled import compiled

    def broken(**_):
        raise RuntimeError("another reason")

    monkeypatch.setattr(numba, "njit", broken)
    with pytest.raises(RuntimeError, match="another reason"):
        compiled(lambda x: x)


# A loop that is found in a cache is ready as one that is compiled is: what counts is for which
# types doctor makes it ready, so that nothing need be compiled here if it was before.
EVERYTHING = """
import contextlib, io, json, sys, warnings
import numpy as np
from numba.core.dispatcher import Dispatcher
from karat.cli import main


def ready():
    loops = {
        loop
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "karat"
        for loop in vars(module).values()
        if isinstance(loop, Dispatcher)
    }
    return {f"{d.py_func.__module__}.{d.__name__} {s}" for d in loops for s in d.signatures}


with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
    main(["doctor", "--warm", "--json"])
before = ready()
from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.elicit import ConfusionSpace
from karat.metrics import cost_matrix
from karat.ranking import WeightedAUCClassifier, weighted_auc
from karat.weak import MajorityVote

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
y = rng.integers(0, 2, (3000, 1))
votes = np.where(rng.random((3000, 12)) < 0.2, 1 - y, y)
votes[:, 11] = np.where(rng.random(3000) < 0.7, votes[:, 10], votes[:, 11])  # copies
ErrorEstimator(draws=20, rng=0).fit(votes)
ErrorEstimator(draws=20, rng=0, dependence="pairs", errors="symmetric").fit(votes[:300])
for structure in ("coupled", "hierarchical"):
    ErrorEstimator(structure=structure, draws=20, rng=0).fit(votes[:200, :4], [0, 1] * 100)
y = rng.integers(0, 3, 500)
votes = np.where(rng.random((500, 5)) < 0.6, y[:, None], rng.integers(0, 3, (500, 5)))
cost = cost_matrix([[0, 1, 2], [3, 0, 1], [1, 4, 0]])
performance_bounds(y, votes, MajorityVote().fit(votes), metric=cost, rng=0)
score = rng.random(200_000)
positive = rng.random(200_000) < score
weighted_auc(positive, score)
WeightedAUCClassifier(loss="logistic", max_iter=2).fit(score[:200, None], positive[:200])
ConfusionSpace.from_calibrated(rng.dirichlet(np.ones(3), 70_000))
print(json.dumps([json.loads(said.getvalue()), sorted(before), sorted(ready() - before)]))
"""


@pytest.mark.slow
def test_doctor_compiles_every_loop(tmp_path):
    """After it fits of every kind compile nothing more; where it is run, nothing is imported."""
    (tmp_path / "karat.py").write_text("open('imported', 'w').close()")
    done = subprocess.run(
        [sys.executable, "-P", "-c", EVERYTHING],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert not (tmp_path / "imported").exists()
    said, before, more = json.loads(done.stdout)
    assert said["compiled"]["seconds"] > 0
    assert len(before) >= 8
    assert more == []
