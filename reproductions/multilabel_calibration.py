"""Canonical calibration of multi-label models (Panda & Garain 2023): the paper beside karat.

Laws need nothing. Limits on real probabilities, post-hoc maps and networks read
`karat.datasets.load_shared`, in the folder that the environment variable KARAT_DATA names; networks
also need PyTorch. They are left out without either. Exits with 1 if a
promised figure is missed.

Usage: python reproductions/multilabel_calibration.py [--quick]
"""

import argparse
import importlib.util
import sys
import time

from _calibration_coverage import run_coverage
from _calibration_laws import run_laws
from _calibration_maps import run_maps
from _calibration_training import run_training
from _show import Promise, say, verdict

from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Canonical calibration: the paper beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer runs and datasets")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    if quick:
        say("--quick takes fewer simulations and datasets.\n")
    code = verdict(run_laws(quick=quick) + _real(quick=quick))
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _real(*, quick: bool) -> list[Promise]:
    """Print what is reached on real data; nothing without the data."""
    try:
        made = run_coverage(quick=quick) + run_maps(quick=quick)
        if importlib.util.find_spec("torch") is None:
            say("PyTorch is not here, so the networks are left out: pip install torch\n")
            return made
        return made + run_training(quick=quick)
    except MissingDatasetError as error:
        say(f"The data are not here, so real data are left out: {error}\n")
        return []


if __name__ == "__main__":
    sys.exit(main())
