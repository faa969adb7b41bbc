"""Metric elicitation (Hiranandani 2021, chapters 3, 4 and 8): its figures beside karat's.

Laws need nothing; the parts on real data read `karat.datasets.load_shared`, in the folder that the
environment variable KARAT_DATA names, and are left out without it. With --figures, what the thesis
draws is drawn into a folder. Exits with 1 if a promised figure is missed.

Usage: python reproductions/metric_elicitation.py [--quick] [--figures FOLDER]
"""

import argparse
import sys
import time
from pathlib import Path

from _elicit_binary import run_linear, run_ratios
from _elicit_classes import run_classes
from _elicit_curves import run_curves
from _elicit_fbeta import run_f_beta
from _elicit_figures import draw_figures, run_feasible_sets
from _elicit_finite import run_finite
from _elicit_multiclass import run_diagonal, run_ratios_of_classes, run_sphere
from _elicit_noise import run_noise, run_radii
from _elicit_rounds import run_least, run_rounds
from _elicit_samples import run_failures
from _elicit_smoothing import run_smoothing
from _show import Promise, say, verdict

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Metric elicitation: the thesis beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer metrics and halves")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw figures into it")
    options = parser.parse_args()
    start = time.perf_counter()
    data = _data_here()
    code = verdict(_run(data=data, quick=options.quick))
    if options.figures is not None:
        draw_figures(options.figures, data=data)
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _run(*, data: bool, quick: bool) -> list[Promise]:
    """Print every part and return what is promised."""
    if quick:
        say(
            "--quick takes fewer lines of the long tables, two halves, 20 metrics and fewer sizes, "
            "and leaves out Theorems 4.1 and 4.2, Figures A.3, B.4 and B.5, and karat's active "
            "strategy.\n"
        )
    promises = run_linear() + run_ratios(data=data) + run_f_beta(data=data, quick=quick)
    promises += run_diagonal() + run_sphere(quick=quick) + run_ratios_of_classes(quick=quick)
    promises += run_feasible_sets() + run_curves(data=data, quick=quick)
    promises += run_noise(quick=quick) + run_radii(quick=quick)
    promises += run_least(quick=quick) + run_finite(quick=quick)
    promises += run_rounds(data=data)
    if data:
        promises += run_failures(quick=quick) + run_classes(quick=quick)
        promises += run_smoothing(quick=quick)
    return promises


def _data_here() -> bool:
    """Whether the shared datasets can be read; if not, say so."""
    try:
        for name in ("magic", "breast_cancer_wisconsin", "vehicle", "wine_quality", "adult"):
            load_shared(name)
    except MissingDatasetError as error:
        say(
            "The data are not here, so Table A.3, Figures 4.2 and 8.1 and magic are left out: "
            f"{error}\n"
        )
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
