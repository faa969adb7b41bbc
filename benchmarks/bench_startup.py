"""The first fit of a process: with nothing compiled, with everything kept, and the fit after it.

Each line is processor time, user and system, of a process of its own; ratios are of medians.
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
DATA = os.environ.get("KARAT_DATA") or "../shared/data"
# Items × voters of two classes, drawn; and the verdicts of real judges where they are at hand.
PANELS = ("300x4", "2000x5", "llmbar")


def processor_seconds() -> float:
    """Return the processor time that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


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
    """Print one line per panel."""
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
