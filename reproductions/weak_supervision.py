"""Weak supervision (Maia Polo et al. 2023): its tables and figures, label models, and coverage.

Prints the paper's figures beside karat's. The data are those of `karat.datasets.load_shared`, in
the folder that the environment variable KARAT_DATA names. Exits with 1 if a promised figure is
missed.

Usage: python reproductions/weak_supervision.py [--quick]
"""

import argparse
import sys
import time

from _powered_judges import run_judges
from _show import say, verdict
from _weak_corollary import run_corollary
from _weak_data import feature_name
from _weak_figures import run_figures
from _weak_gold import run_gold
from _weak_inside import run_inside
from _weak_label_models import run_label_models
from _weak_selection import run_selection
from _weak_sparse import run_sparse
from _weak_tables import run_tables
from threadpoolctl import threadpool_limits


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Weak supervision: the paper beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer datasets, models and seeds")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    say(f"Features: {feature_name(quick=quick)}.")
    if quick:
        say("--quick leaves out agnews, imdb and yelp, the triplet model, and n = 20,000.")
    with threadpool_limits(1):  # small matrices; more threads only wait for each other
        promises = run_label_models(quick=quick)
        promises += run_inside(quick=quick)
        promises += run_gold(quick=quick)
        promises += run_judges(quick=quick)
        promises += run_tables(quick=quick)
        run_selection(quick=quick)
        run_figures(quick=quick)
        run_corollary(quick=quick)
        promises += run_sparse(quick=quick)
    code = verdict(promises)
    say(f"{time.perf_counter() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
