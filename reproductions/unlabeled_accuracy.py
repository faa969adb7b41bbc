"""Error rates from votes alone (seed 002): NELL, coverage, LLM judges, and forty gold labels.

Prints karat's figures beside those of the seed and of baselines. The data are those of
`karat.datasets.load_shared`, in the folder that the environment variable KARAT_DATA names; without
them there is nothing to do. Exits with 1 if a promised figure is missed.

Usage: python reproductions/unlabeled_accuracy.py [--quick]
"""

import argparse
import sys
import time

from _show import say, verdict
from _votes_coverage import run_coverage
from _votes_judges import run_judges
from _votes_nell import run_nell
from _votes_powered import run_powered

from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Error rates from votes: the seed beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer datasets, seeds and draws")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    if quick:
        say("--quick takes one seed, three small crowds and 20 draws of gold labels.")
    promises = run_nell(quick=quick)
    covered, rows = run_coverage(quick=quick)
    judged, estimator = run_judges()
    promises += covered + judged + run_powered(estimator, quick=quick)
    code = verdict(promises)
    say(f"{time.perf_counter() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
