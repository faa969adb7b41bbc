"""Fair metrics (Hiranandani 2021, chapter 5): errors of elicited ones, and real rankings.

Figure 5.3 and Theorem 5.1 need nothing; Figure 5.4 reads `karat.datasets.load_shared`, in the
folder that the environment variable KARAT_DATA names, and is left out without it. Exits with 1 if a
promised figure is missed.

Usage: python reproductions/fair_elicitation.py [--quick]
"""

import argparse
import sys
import time

from _fair_noise import run_fair_noise
from _fair_ranking import run_ranking
from _fair_recovery import run_recovery
from _show import Promise, say, verdict
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Fair metrics: the thesis beside karat.")
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
            "out the corrected search of Theorem 5.1.\n"
        )
    promises = run_recovery(quick=quick) + run_fair_noise(quick=quick)
    return promises + (run_ranking(quick=quick) if _data_here() else [])


def _data_here() -> bool:
    """Whether the shared datasets can be read; if not, say so."""
    try:
        for name in ("credit_default", "adult", "wine_quality", "communities_crime"):
            load_shared(name)
    except MissingDatasetError as error:
        say(f"The data are not here, so Figure 5.4 is left out: {error}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
