"""Weighted areas under the ROC curve of Maurer & Pontil (2020), beside karat.

Laws need nothing; limits on real scores and the learners read `karat.datasets.load_shared`, in the
folder that the environment variable KARAT_DATA names, and are left out without it. Exits with 1 if
a promised figure is missed.

Usage: python reproductions/weighted_auc.py [--quick]
"""

import argparse
import sys
import time

from _auc_coverage import run_coverage
from _auc_proposition import run_proposition
from _auc_widths import run_widths
from _show import Promise, say, verdict

from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(
        description="Weighted AUC: Maurer & Pontil (2020) beside karat."
    )
    parser.add_argument("--quick", action="store_true", help="fewer runs and datasets")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    code = verdict(_run(quick=quick))
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _run(*, quick: bool) -> list[Promise]:
    """Print every part and return what is promised."""
    if quick:
        say("--quick takes fewer simulations and datasets.\n")
    promises = run_proposition(quick=quick) + run_widths(quick=quick) + run_coverage(quick=quick)
    return promises + _learners(quick=quick)


def _learners(*, quick: bool) -> list[Promise]:
    """Print what limits and learners do on real data; nothing without it."""
    from _auc_learners import run_learners
    from _auc_real import run_real

    try:
        return run_real(quick=quick) + run_learners(quick=quick)
    except MissingDatasetError as error:
        say(f"The data are not here, so what needs them is left out: {error}\n")
        return []


if __name__ == "__main__":
    sys.exit(main())
