"""The comparison of two commits by their benchmarks."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "compare.py"
if not SCRIPT.is_file():
    pytest.skip("benchmarks/ is not part of this copy", allow_module_level=True)


def loaded():
    spec = importlib.util.spec_from_file_location("compare", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "cost"),
    [
        ("confusion of 10^6: ratio 4.0 (karat 0.003 s, scikit-learn 0.012 s)", 0.25),
        ("E[y | h] of 8,000 rows: ratio 1,250 to the sum (limit 100: kept; karat 0.1 s)", 8e-4),
        ("the sampling alone: ratio 50 (karat 0.20 s)", 0.02),
        ("  time over np.sort: ratio 1.31 (limit 2: kept; np.sort 0.070 s)", 1.31),
        ("AUC of 10^6, integer labels: ratio 1.20 to np.sort", 1.2),
        ("crossfit, n=2000, 8 labelers: 12.5 ms", 0.0125),
        ("crossfit, 10^7 x 10: 3.20 s, peak memory 1.20 GB", 3.2),
        ("10^6 × 10 probabilities, probed: ratio 0.34 to 5 s (limit 5: kept; 1.7 s, from", 1.7),
        ("10^6 × 10 probabilities, predict: ratio 0.02 to 5 s", 0.02),
        ("coupled, 4 chains x 2,000 sweeps: 40.1 s, within 60 s (0 chains ran again)", 40.1),
        ("slowest default on a shared crowd: crowd_sp, 12.3 s", 12.3),
        ("sampling of 10^6 items in 1024 patterns: ratio 1.01 to 10^5 items (1.23 s)", 1.23),
        ("peak memory at 10^7 rows, Uniform(): ratio 1.50 to the input (limit 3: kept)", 1.5),
        ("next question, q=12, sphere pairs: median ms 34.2 (at most 200: kept), worst", 0.0342),
        ("evaluations of the G-mean, 4 classes, harmonic: ratio 12 to the thesis' grid", None),
        ("half-width of dkw limits at 10^6 rows, AUC: 0.00612, closed form 0.00640", None),
        ("40 of 40 limits kept, 2 metrics for each line", None),
    ],
)  # fmt: skip
def test_what_a_line_costs(line, cost):
    found = loaded().cost_of(line)
    assert found == (None if cost is None else pytest.approx(cost))


def test_a_title_that_is_printed_again_is_another_figure():
    costs = loaded().costs_of("a", "over: 1.0 s\nover: 2.0 s\n")
    assert costs == {("a", "over", 0): 1.0, ("a", "over", 1): 2.0}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_slower_checkout_is_told_from_its_base(tmp_path):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "compare.py").write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    printed = "print('one: {} s'); print('two: ratio {} (karat 1 s)'); print('{}: 1 s')"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]

    def commit(*figures):
        (folder / "bench_some.py").write_text(printed.format(*figures), encoding="utf-8")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "a"], check=True)

    subprocess.run([*git, "init", "-q"], check=True)
    commit(1.0, 10, "gone")
    commit(1.5, 9, "new")
    command = [sys.executable, str(folder / "compare.py"), "HEAD~1", "--rounds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert " 1.50  bench_some.py: one  OVER 1.25\n" in done.stdout
    assert " 1.11  bench_some.py: two\n" in done.stdout
    assert "gone (in BASE only)" in done.stdout
    assert "new (in this checkout only)" in done.stdout
    assert "1 figures are over 1.25" in done.stdout
    left = subprocess.run([*git, "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(left.stdout.splitlines()) == 1, "the temporary worktree is removed"
