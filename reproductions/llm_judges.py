"""Judges beside people, pairs in two orders, systems ranked, scores: published figures and ours.

Prints the winning rates and advantages of Calderon, Reichart and Dror 2025 beside karat's, the
position bias and the error rates of LLMBar's judges (Zeng et al. 2024), a ranking of MT-Bench's
systems and the scores of JudgeBench's reward models (Tan et al. 2025). The data are those of
`karat.datasets.load_shared`. Exits with 1 if a promised figure is missed.

Usage: python reproductions/llm_judges.py [--quick]
"""

import argparse
import sys
import time

from _judges_pairs import run_bias, run_rates, run_scores, run_systems
from _judges_people import run_people
from _show import Promise, say, verdict

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError

_TABLES = (
    ("llm_judges_llmbar", "verdicts_long"),
    ("llm_judges_judgebench", "verdicts_long"),
    ("people_and_llms_wax", "answers"),
)


def main() -> int:
    """Run every part and return the exit code."""
    parser = argparse.ArgumentParser(description="Judges, people, pairs and systems.")
    parser.add_argument("--quick", action="store_true", help="fewer sets, splits and draws")
    quick: bool = parser.parse_args().quick
    start = time.perf_counter()
    try:
        for name, table in _TABLES:
            load_shared(name, table)
    except MissingDatasetError as error:
        say(f"The data are not here, so nothing is reproduced: {error}")
        return 0
    promises: list[Promise] = run_people(quick=quick)
    promises += run_bias(quick=quick)
    promises += run_rates(quick=quick)
    promises += run_systems(quick=quick)
    promises += run_scores()
    code = verdict(promises)
    say(f"{time.perf_counter() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
