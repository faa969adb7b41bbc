"""Error rates from votes: NELL, coverage, judges, gold labels, copies, status, sharing.

Prints karat's figures beside those of Platanios et al. 2016 and of baselines. The data are those of
`karat.datasets.load_shared`, in the folder that the environment variable KARAT_DATA names; without
them there is nothing to do. Exits with 1 if a promised figure is missed.

Usage: python reproductions/unlabeled_accuracy.py [--quick]
"""

import argparse
import sys
import time

from _show import Promise, say, verdict
from _votes_closing import closing
from _votes_copies import run_copies
from _votes_coverage import run_coverage
from _votes_data import CHOSEN_ON, CONFIRMED, CUTS, nell
from _votes_designs import run_designs
from _votes_judges import run_judges
from _votes_nell import run_nell
from _votes_panels import run_panels
from _votes_powered import run_powered
from _votes_rare import show_rare
from _votes_sharing import run_sharing
from _votes_small import run_small
from _votes_status import halves_of, run_status

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError

_TABLES = (
    ("nell", None),
    ("llm_judges_llmbar", "verdicts_long"),
    ("llm_judges_judgebench", "judgebench_wide"),
    *((f"classifiers_and_people_{name}", "votes") for name in ("edge", "sketch")),
    *((name, None) for name in ("adult", "magic", "credit_default", "wine_quality")),
    *((f"crowd_{name}", "truth") for name in (*CHOSEN_ON, *CONFIRMED)),
)


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Error rates from votes: the seed beside karat.")
    parser.add_argument("--quick", action="store_true", help="fewer datasets, seeds and draws")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    try:
        for name, table in _TABLES:
            load_shared(name, table)
    except MissingDatasetError as error:
        say(f"The data are not here, so nothing is reproduced: {error}")
        return 0
    code = verdict(_run(quick=quick))
    say(f"{time.perf_counter() - start:.0f} s")
    return code


def _run(*, quick: bool) -> list[Promise]:
    """Print every part and return what is promised."""
    if quick:
        say(
            "--quick takes one seed, of NELL the models of which a figure is promised, three small "
            "crowds, 20 draws of gold labels, ten seeds of copies, no refits, and three draws of "
            "few items in domains that share."
        )
    on_nell, deviations = run_nell(quick=quick)
    on_limits, covered = run_coverage(quick=quick)
    on_judges, estimator, judged = run_judges(quick=quick)
    on_labels = run_powered(estimator, quick=quick) + run_designs(estimator, quick=quick)
    on_status = run_copies(quick=quick) + run_status(quick=quick)
    on_status += run_panels(quick=quick)
    on_status += run_small(halves_of(quick=quick), quick=quick)
    on_sharing = run_sharing(quick=quick)
    if not quick:
        show_rare(nell(list(CUTS)[1]))
    say(closing(deviations, covered, judged) + "\n")
    return on_nell + on_limits + on_judges + on_labels + on_status + on_sharing


if __name__ == "__main__":
    sys.exit(main())
