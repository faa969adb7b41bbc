"""Metric elicitation (Hiranandani 2021, chapters 3 and 4): its tables beside karat's figures.

Laws need nothing; the parts on real data read `karat.datasets.load_shared`, in the folder that the
environment variable KARAT_DATA names, and are left out without it. Exits with 1 if a promised
figure is missed.

Usage: python reproductions/metric_elicitation.py [--quick]
"""

import argparse
import sys
import time

from _elicit_binary import run_linear, run_ratios
from _elicit_multiclass import run_diagonal, run_ratios_of_classes, run_sphere
from _elicit_samples import run_failures, run_vehicle
from _show import Promise, say, verdict

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Metric elicitation: the thesis beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer metrics and halves")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    code = verdict(_run(quick=quick))
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _run(*, quick: bool) -> list[Promise]:
    """Print every part and return what is promised."""
    if quick:
        say("--quick takes fewer lines of the long tables, two halves, and 20 metrics.\n")
    data = _data_here()
    promises = run_linear() + run_ratios(data=data) + run_diagonal() + run_sphere(quick=quick)
    promises += run_ratios_of_classes(quick=quick)
    if data:
        promises += run_failures(quick=quick)
        run_vehicle(quick=quick)
    return promises


def _data_here() -> bool:
    """Whether the shared datasets can be read; if not, say so."""
    try:
        for name in ("magic", "breast_cancer_wisconsin", "vehicle"):
            load_shared(name)
    except MissingDatasetError as error:
        say(f"The data are not here, so Table A.3, Figure 4.2 and magic are left out: {error}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
