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

ITEMS, RUNS = 300, 3
PANELS = (4, 5)  # voters, of two classes


def processor_seconds() -> float:
    """Return the processor time that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def child(voters: int) -> None:
    """Import karat, fit twice with the defaults, and print the processor time of both."""
    import warnings

    import numpy as np

    from karat.consensus import ErrorEstimator

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (ITEMS, 1))
    votes = np.where(rng.random((ITEMS, voters)) < np.linspace(0.1, 0.3, voters), 1 - y, y)
    ErrorEstimator(rng=0).fit(votes)
    first = processor_seconds()  # since the process began: the interpreter and imports count
    ErrorEstimator(rng=0).fit(votes)
    print(json.dumps([first, processor_seconds() - first]))


def run(voters: int, folder: str) -> list[float]:
    """Return the processor time up to the end of the first fit, and of the second."""
    done = subprocess.run(
        [sys.executable, __file__, str(voters)],
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(seconds) for seconds in json.loads(done.stdout)]


def main() -> None:
    """Print one line per panel."""
    for voters in PANELS:
        empty, full, second = [], [], []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                cold = run(voters, folder)
                warm = run(voters, folder)
            empty.append(cold[0])
            full.append(warm[0])
            second += [cold[1], warm[1]]
        cold, warm, again = map(statistics.median, (empty, full, second))
        print(
            f"import and first default fit of {ITEMS} items x {voters} voters: {cold:.2f} s with "
            f"an empty cache, ratio {cold / warm:.1f} to a full one ({warm:.2f} s) and "
            f"{cold / again:.1f} to a second fit ({again:.2f} s); processor time, medians of {RUNS}"
        )


if __name__ == "__main__":
    child(int(sys.argv[1])) if len(sys.argv) > 1 else main()
