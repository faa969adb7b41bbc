"""Proposition 1 of Maurer & Pontil (2020): a plug-in that stays biased, and one that does not."""

import warnings

import numpy as np
from _show import Promise, number, say, show_table

from karat.exceptions import SmallSampleWarning
from karat.ranking import FprBand, weighted_auc

__all__ = ["run_proposition"]

_WEIGHT = FprBand(0, 0.5)  # 1 on true-negative rates in [1/2, 1]
_LABELS, _SCORES = [0, 1, 0], [0.0, 0.5, 1.0]
_TRUTH = {"strict": 0.5, "interpolate": 0.0}


def run_proposition(*, quick: bool) -> list[Promise]:
    """Print the mean of both plug-ins over n; return what is promised."""
    runs = 200 if quick else 2000
    say(
        "Proposition 1. Positives score 1/2; negatives 0 or 1, a fair coin each; the weight is 1 "
        "on true-negative rates from 1/2. By eq. 1 the area is 1/2, and its plug-in tends to 1/4 "
        "on average. The area under the curve is 0, since the curve is 0 up to a false-positive "
        "rate of 1/2, and its plug-in finds it.\n"
    )
    rows, found = [], {}
    for power in range(2, 7):
        found[power] = here = _simulated(10**power, runs)
        rows.append(
            [f"10^{power}", *(number(x, 4) for x in here[:2]), number(here[2], 4),
             number(here[3], 3), number(here[4], 3)]
        )  # fmt: skip
    columns = [
        "n", "eq. 1, mean", "share of runs below .4", "interpolated, mean",
        "limits of eq. 1 hold", "limits of the area hold",
    ]  # fmt: skip
    show_table(f"Proposition 1, {runs:,} runs (truth of eq. 1: .5; of the area: 0)", columns, rows)
    last = found[6]
    return [
        Promise("Proposition 1: distance of the mean of eq. 1 from 1/4 at n = 10^6",
                abs(last[0] - 0.25), 0.25 * 4 / np.sqrt(runs), at_most=True),
        Promise("Proposition 1: mean error of the interpolated area at n = 10^6",
                last[2], 0.001, at_most=True),
        Promise("Proposition 1: least share of runs in which distribution-free limits hold",
                min(min(here[3:]) for here in found.values()), 0.95),
    ]  # fmt: skip


def _simulated(n: int, runs: int) -> tuple[float, float, float, float, float]:
    """Return means of both plug-ins, how often eq. 1 is far off, and how often limits hold."""
    rng = np.random.default_rng(n)
    values: dict[str, list[float]] = {"strict": [], "interpolate": []}
    holds: dict[str, list[bool]] = {"strict": [], "interpolate": []}
    for _ in range(runs):
        negatives = int(rng.binomial(n, 0.5))
        low = int(rng.binomial(negatives, 0.5))
        counts = [low, n - negatives, negatives - low]
        for ties, truth in _TRUTH.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SmallSampleWarning)
                r = weighted_auc(_LABELS, _SCORES, weight=_WEIGHT, ties=ties, sample_weight=counts)
            values[ties].append(r.value)
            holds[ties].append(r.lower <= truth <= r.upper)
    strict = np.array(values["strict"])
    return (
        float(strict.mean()), float((strict < 0.4).mean()), float(np.mean(values["interpolate"])),
        float(np.mean(holds["strict"])), float(np.mean(holds["interpolate"])),
    )  # fmt: skip
