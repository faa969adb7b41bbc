"""Quadratic metrics (Hiranandani 2021, chapter 6): errors of what is elicited, and real rankings.

Figures 6.3 to 6.6 and the theorems need nothing; Figures 6.7 and 6.8 read
`karat.datasets.load_shared`, in the folder that the environment variable KARAT_DATA names, and are
left out without it. Exits with 1 if a promised figure is missed.

Usage: python reproductions/quadratic_elicitation.py [--quick]
"""

import argparse
import sys
import time

from _quadratic_ranking import run_quadratic_ranking
from _quadratic_recovery import run_cubic, run_fair_quadratic, run_quadratic
from _quadratic_regular import run_regular
from _quadratic_theorems import run_quadratic_finite, run_quadratic_least, run_quadratic_noise
from _show import Promise, say, verdict
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Quadratic metrics: the thesis beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer metrics, classifiers and rows")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    with threadpool_limits(1):
        code = verdict(_run(quick=quick))
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _run(*, quick: bool) -> list[Promise]:
    """Print every part and return what is promised."""
    if quick:
        say(
            "--quick draws fewer metrics, trains 25 classifiers each on two datasets, and leaves "
            "out the corrected search of Theorem 6.1 and the active strategy.\n"
        )
    promises = run_quadratic(quick=quick) + run_fair_quadratic(quick=quick)
    promises += run_cubic(quick=quick) + run_regular(quick=quick)
    promises += run_quadratic_noise(quick=quick) + run_quadratic_least(quick=quick)
    promises += run_quadratic_finite(quick=quick)
    return promises + (run_quadratic_ranking(quick=quick) if _data_here() else [])


def _data_here() -> bool:
    """Whether the shared datasets can be read; if not, say so."""
    try:
        for name in ("credit_default", "adult", "wine_quality", "communities_crime"):
            load_shared(name)
    except MissingDatasetError as error:
        say(f"The data are not here, so Figures 6.7 and 6.8 are left out: {error}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
