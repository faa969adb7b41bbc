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


# One process after another's work: what is not loaded after a step was not loaded before it.
STEPS = {
    "karat": "import karat",
    "limits": "import karat.limits",
    "measures": "import karat.metrics, karat.statistics",
    "pictures": "import karat.datasets, karat.plot, karat.report",
    "arrays": """
from karat.metrics import accuracy
from karat.statistics import confusion, patterns, roc_counts
accuracy.score(["a", "b"], ["a", "a"], sample_weight=[1, 2], groups=[0, 1])
patterns([[0, -1], [1, 1]]); roc_counts([0, 1], [.2, .4])
""",
}


@pytest.fixture(scope="module")
def loaded():
    """The modules that are loaded after each step."""
    steps = [f"{code}\nprint(*sys.modules)" for code in STEPS.values()]
    lines = run("\n".join(["import sys", *steps])).splitlines()
    return dict(zip(STEPS, map(set, map(str.split, lines)), strict=True))


def test_importing_karat_loads_none_of_its_packages(loaded):
    assert not {name for name in loaded["karat"] if name.startswith("karat.")}


@pytest.mark.parametrize("step", ["karat", "measures", "pictures"])
def test_importing_is_light(step, loaded):
    assert not loaded[step] & HEAVY


def test_importing_limits_loads_numpy_only(loaded):
    assert "karat.limits" in loaded["limits"]
    assert not {name for name in loaded["limits"] if name.split(".")[0] == "scipy"}


def test_arrays_need_no_frame_library(loaded):
    assert not loaded["arrays"] & HEAVY


def test_a_picture_loads_no_other_question():
    """A result is drawn by its name; the packages of other results stay where they are."""
    drawn = run(
        "import matplotlib, sys; matplotlib.use('agg'); from karat.limits import wilson; "
        "wilson(7, 10).plot(); print(*sys.modules)"
    ).split()
    inside = {name.split(".")[1] for name in drawn if name.startswith("karat.")}
    public = {name for name in inside if not name.startswith("_")}
    assert public == {"exceptions", "limits", "plot"}


def test_the_list_of_commands_needs_no_numbers():
    """``karat --help`` is what people type first: it loads typer and nothing that computes."""
    code = """
import sys
from karat.cli import main
try:
    main(["--help"])
except SystemExit:
    print(*sys.modules)
"""
    seen = set(run(code).splitlines()[-1].split())
    assert "typer" in seen
    assert not seen & ((HEAVY - {"typer", "rich"}) | {"numpy", "scipy", "narwhals"})
    packages = {name.split(".")[1] for name in seen if name.startswith("karat.")}
    assert {name for name in packages if name[0] != "_"} <= {"cli", "exceptions"}


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


# They come with karat, and nothing but pictures, reports, files and the command line needs them.
BLOCKED = ["typer", "rich", "polars", "matplotlib", "jinja2"]
BLOCK = f"import sys\nfor name in {BLOCKED}: sys.modules[name] = None\n"


def test_the_library_works_without_what_only_shows_results():
    code = (
        BLOCK
        + """
import importlib, warnings
import numpy as np
import karat
warnings.simplefilter("ignore")
for package in set(karat.__all__) - {"__version__", "torch"}:
    importlib.import_module(f"karat.{package}")
from karat import bounds, calibration, consensus, datasets, elicit, metrics, optimize, ranking
from karat import statistics, weak
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 200)
votes = np.where(rng.random((200, 4)) < .2, 1 - y[:, None], y[:, None])
score = rng.normal(y)
chance = 1 / (1 + np.exp(-score))
proba = np.column_stack([1 - chance, chance])
model = weak.DawidSkene(rng=0).fit(votes)
space = elicit.BinarySpace.from_scores(y, score)
person = elicit.MetricOracle(metrics.cost_matrix([[0, 1], [4, 0]]))
results = [
    statistics.confusion(y, votes[:, 0]), statistics.roc_counts(y, score),
    bounds.performance_bounds(votes[:, 0], votes, model, metric="accuracy", rng=0),
    calibration.canonical_calibration_error(y, chance, rng=0),
    consensus.ErrorEstimator(draws=20, rng=0).fit(votes).result_,
    elicit.Elicitation(space, max_queries=4, rng=0).run(person),
    optimize.FrankWolfeClassifier(n_iter=3).fit_from_proba(proba, y).history_,
    ranking.weighted_auc(y, score), weak.vote_diagnostics(votes),
]
metrics.f_beta(2).score(y, votes[:, 0])
datasets.MultilabelLaw("latent", n_labels=2)
for result in results:
    assert result.summary()
    repr(result)
    try:
        result.plot()
    except karat.exceptions.MissingExtraError as error:
        assert str(error).endswith("run: pip install matplotlib"), error
    else:
        raise AssertionError("drawn without matplotlib")
print(len(results))
"""
    )
    assert run(code) == "9"


CALLS = {
    "jinja2": "karat.report.render_report(karat.report.Report(title='a', introduction='b'))",
    "polars": "karat.statistics.confusion([0, 1], [0, 1]).to_frame()",
    "typer": "karat.cli.main(['doctor'])",
}


def test_what_needs_a_package_names_it():
    code = BLOCK + "import traceback, karat\n"
    for call in CALLS.values():
        code += f"try: print({call})\nexcept BaseException: print(repr(traceback.format_exc()))\n"
    for package, said in zip(CALLS, run(code).splitlines(), strict=True):
        assert f"needs the package {package!r}" in eval(said)
        assert f"run: pip install {package}" in eval(said)


def test_import_takes_under_300_ms():
    code = "import time; t = time.perf_counter(); import karat; print(time.perf_counter() - t)"
    assert min(float(run(code)) for _ in range(5)) < 0.3


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'metric'"):
        _ = karat.metric
