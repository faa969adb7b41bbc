"""What a process pays before its first answer: a command on a file, and the first fit.

Each line is processor time, user and system, of a process of its own; ratios are of medians. A
first fit is measured with nothing compiled and with everything kept, against the fit after it.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3
COMMAND_RUNS = 7
ROWS = 10_000
DATA = os.environ.get("KARAT_DATA") or "../shared/data"
# Items × voters of two classes, drawn; and the verdicts of real judges where they are at hand.
PANELS = ("300x4", "2000x5", "llmbar")


def processor_seconds() -> float:
    """Return the processor time that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def child_seconds(command: list[str]) -> float:
    """Return the median processor time of a command that runs as a process of its own."""
    seconds = []
    for _ in range(COMMAND_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        seconds.append(used)
    return statistics.median(seconds)


def command_line() -> None:
    """Print the cost of a command against that of importing what it computes with.

    Neither side loads numba, so whether its cache is warm makes no difference here.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    rows = np.column_stack([y, rng.normal(size=ROWS) + y])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.csv"
        np.savetxt(file, rows, fmt="%.17g", delimiter=",", header="y,score", comments="")
        karat = [sys.executable, "-m", "karat"]
        auc = child_seconds([*karat, "auc", str(file), "--label", "y", "--score", "score"])
        page = str(Path(folder) / "page.html")
        written = child_seconds([*karat, "auc", str(file), "--label", "y", "--output", page])
        listed = child_seconds([*karat, "--help"])
    imports = child_seconds([sys.executable, "-c", "import numpy, scipy, polars"])
    for name, seconds in (
        (f"karat auc on {ROWS:,} rows", auc),
        ("the same with --output", written),
        ("karat --help", listed),
    ):
        print(
            f"{name}: ratio {seconds / imports:.1f} to importing numpy, scipy and polars "
            f"({seconds:.2f} s against {imports:.2f} s); processor time, medians of {COMMAND_RUNS}"
        )


def panel(name: str) -> object:
    """Return the votes of a panel."""
    import numpy as np

    if name == "llmbar":
        import polars as pl

        from karat.datasets import load_shared

        found = load_shared("llm_judges_llmbar", "verdicts_long", backend="polars")
        judge = pl.concat_str([pl.col("model").cast(str), pl.col("strategy").cast(str)])
        natural = (pl.col("subset") == "LLMBar/Natural") & (pl.col("verdict_order1") > 0)
        return found.filter(natural).select(
            item="item_id", classifier=judge, vote=pl.col("verdict_order1").cast(int)
        )
    items, voters = map(int, name.split("x"))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (items, 1))
    return np.where(rng.random((items, voters)) < np.linspace(0.1, 0.3, voters), 1 - y, y)


def child(name: str) -> None:
    """Import karat, fit twice with the defaults, and print the processor time of both."""
    import warnings

    from karat.consensus import ErrorEstimator

    warnings.simplefilter("ignore")
    votes = panel(name)
    ErrorEstimator(rng=0).fit(votes)
    first = processor_seconds()  # since the process began: the interpreter and imports count
    ErrorEstimator(rng=0).fit(votes)
    print(json.dumps([first, processor_seconds() - first]))


def run(name: str, folder: str) -> list[float]:
    """Return the processor time up to the end of the first fit, and of the second."""
    done = subprocess.run(
        [sys.executable, __file__, name],
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(seconds) for seconds in json.loads(done.stdout)]


def main() -> None:
    """Print one line per command and per panel."""
    command_line()
    for name in PANELS:
        if name == "llmbar" and not Path(DATA).is_dir():
            print("llmbar: skipped, KARAT_DATA is not there")
            continue
        empty, full, second = [], [], []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                cold = run(name, folder)
                warm = run(name, folder)
            empty.append(cold[0])
            full.append(warm[0])
            second += [cold[1], warm[1]]
        cold, warm, again = map(statistics.median, (empty, full, second))
        print(
            f"import and first default fit of {name}: {cold:.2f} s with "
            f"an empty cache, ratio {cold / warm:.1f} to a full one ({warm:.2f} s) and "
            f"{cold / again:.1f} to a second fit ({again:.2f} s); processor time, medians of {RUNS}"
        )


if __name__ == "__main__":
    child(sys.argv[1]) if len(sys.argv) > 1 else main()
