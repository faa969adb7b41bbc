"""Few labels: limits that hold, chosen labels, limits at every look, judges, differences.

Prints, on real data whose labels are all known, how often the limits of `karat.audit` and
`karat.limits` hold and how narrow they are, beside confidenceinterval and ppi-python where these
are installed (pip install confidenceinterval ppi-python), and beside random labels. Exits with 1
if a promised figure is missed.

Usage: python reproductions/few_labels.py [--quick | --share 0.3] [--only chosen --set "sms 13 %"]
"""

import argparse
import sys
import time
from functools import partial

from _few_labels_chosen import run_chosen
from _few_labels_judged import run_differences, run_judged
from _few_labels_limits import run_anytime, run_fixed
from _show import Promise, say, verdict

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="What few labels tell.")
    parser.add_argument("--quick", action="store_true", help="fewer sets and runs")
    parser.add_argument("--share", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--only", help="one part: fixed, anytime, chosen, judged or differences")
    parser.add_argument("--set", help="of the chosen labels one set of data alone")
    given = parser.parse_args()
    quick: bool = given.quick
    start = time.perf_counter()
    chosen = partial(run_chosen, only=given.set)
    parts = {
        "fixed": run_fixed, "anytime": run_anytime, "chosen": chosen, "judged": run_judged,
        "differences": run_differences,
    }  # fmt: skip
    promises: list[Promise] = []
    try:
        load_shared("adult", "data")
    except MissingDatasetError as error:
        say(f"The real data are not here, so only simulations are run: {error}")
        parts = {name: parts[name] for name in ("fixed", "anytime")}
    for name, part in parts.items():
        if given.only in (None, name):
            promises += part(quick=quick, share=given.share)
    code = verdict(promises)
    say(f"{time.perf_counter() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
