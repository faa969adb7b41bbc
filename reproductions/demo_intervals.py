"""How often the intervals of ``karat demo`` hold their hidden truths, beside what they promise.

Usage: python reproductions/demo_intervals.py [--quick]

Every part of the demo is run with other folds, other labelled biopsies and other simulated people:
20 seeds, or 2 with ``--quick``. Each interval promises 95 %. Intervals of one seed share their
labels, so they are counted by kind. A kind is missed if so few truths would be inside in less than
1 of 1,000 cases were its intervals independent and right. Bounds from rules that no label has
tested are counted apart: they promise nothing.
"""

import sys
import warnings
from collections import defaultdict

from _show import Promise, say, verdict
from scipy.stats import binom

from karat.cli.demo import PARTS, train_models

PROMISED = 0.95
RARE = 0.001


def main() -> int:
    """Count truths inside intervals, and return the exit code."""
    seeds = range(2 if "--quick" in sys.argv[1:] else 20)
    inside: dict[tuple[bool, str, str], list[bool]] = defaultdict(list)
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of contradictions: the simulated people slip
            models = train_models(seed)
            parts = [part for make in PARTS for part in make(models, seed)]
        for part in parts:
            for interval in part.intervals:
                kind = (part.conditional, part.section.question, interval.what)
                inside[kind].append(interval.holds)
    promises = []
    for (conditional, question, what), held in inside.items():
        if conditional:
            say(f"{question} {what}: {sum(held)} of {len(held)}, which promise nothing")
            continue
        # The least number that is not seen in fewer than 1 of 1,000 cases.
        least = float(binom.ppf(RARE, len(held), PROMISED))
        promises.append(
            Promise(f"{question} {what}, truths inside of {len(held)}", sum(held), least)
        )
    counted = [one for (conditional, *_), held in inside.items() if not conditional for one in held]
    code = verdict(promises)
    share = sum(counted) / len(counted)
    say(f"{len(seeds)} seeds: {sum(counted)} of {len(counted)} truths inside ({100 * share:.1f} %)")
    return code


if __name__ == "__main__":
    sys.exit(main())
