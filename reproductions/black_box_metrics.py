"""Optimising metrics that can only be evaluated (Hiranandani 2021, chapter 7), beside karat.

The digits are scikit-learn's and two parts are simulated; all else reads
`karat.datasets.load_shared`, in the folder that the environment variable KARAT_DATA names, and is
left out without it. Exits with 1 if a promised figure is missed.

Usage: python reproductions/black_box_metrics.py [--quick]
"""

import argparse
import sys
import time

from _optimize_laws import run_laws
from _optimize_noise import run_noise
from _optimize_theory import run_theory
from _show import Promise, say, verdict
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(
        description="Black-box metrics: Hiranandani (2021) beside karat."
    )
    parser.add_argument("--quick", action="store_true", help="fewer splits and models")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    with threadpool_limits(1):
        code = verdict(_run(quick=quick))
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _run(*, quick: bool) -> list[Promise]:
    """Print every part and return what is promised."""
    if quick:
        say("--quick takes fewer splits, one model where there are several, and fewer lines.\n")
    promises = _on_data(quick=quick) if _data_here() else []
    return promises + run_noise() + run_laws(quick=quick) + run_theory(quick=quick)


def _on_data(*, quick: bool) -> list[Promise]:
    """Print the parts that need data."""
    from _optimize_ablations import run_ablations
    from _optimize_boxes import run_boxes
    from _optimize_fairness import run_fairness
    from _optimize_macro import run_macro
    from _optimize_preferences import run_preferences
    from _optimize_proxy import run_proxy
    from _optimize_search import run_search
    from _optimize_shift import run_shift
    from _optimize_times import run_times

    parts = (
        run_proxy, run_shift, run_fairness, run_macro, run_boxes, run_preferences, run_times,
        run_search, run_ablations,
    )  # fmt: skip
    promises: list[Promise] = []
    for part in parts:
        promises += part(quick=quick)
    return promises


def _data_here() -> bool:
    """Whether the shared datasets can be read; if not, say so."""
    try:
        for name in ("adult", "magic", "credit_default", "vehicle", "communities_crime"):
            load_shared(name)
    except MissingDatasetError as error:
        say(f"The data are not here, so only the digits and the simulated laws are left: {error}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
