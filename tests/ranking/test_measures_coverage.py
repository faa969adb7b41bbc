"""Limits of the measures hold the truth as often as they say, and resampling by cells is right."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from karat.ranking import (
    Uniform,
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
)
from karat.ranking._approximate import resampled
from karat.ranking.areas import area
from karat.ranking.placements import labelled_scores

RUNS = 40
SHARE = 0.2  # of positives


def normal(shift):
    def draw(rng, n):
        y = rng.random(n) < SHARE
        return y, 1 / (1 + np.exp(-(rng.normal(size=n) + shift * y - 1.4)))

    return draw


def with_a_head(rng, n):
    """Some negatives above all other rows, which few rows may not show."""
    y, score = normal(2)(rng, n)
    score[~y & (rng.random(n) < 0.05)] = 0.999
    return y, score


def with_ties(rng, n):
    y, score = normal(1)(rng, n)
    return y, score.round(1)


LAWS = {"chance": normal(0), "good": normal(2), "ties": with_ties, "head": with_a_head}
CALLS = {
    "average precision": lambda y, s: average_precision(y, s),
    "precision": lambda y, s: precision_at(y, s, share=0.1),
    "recall": lambda y, s: recall_at(y, s, share=0.3),
    "lift": lambda y, s: lift(y, s, share=0.1),
    "net benefit": lambda y, s: net_benefit(y, s, threshold=0.3),
    "expected cost": lambda y, s: cost_curve(y, s, at=0.5),
}


@cache
def truths(law):
    """Return the measures of so many rows of a law that they stand for all."""
    y, score = LAWS[law](np.random.default_rng(0), 400_000)
    return {name: call(y, score).value for name, call in CALLS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("positives", [10, 50, 500])
@pytest.mark.parametrize("law", LAWS)
def test_coverage(law, positives):
    """40 samples notice .93 against .64, and 20 of many rows .49 (a binomial test at .001)."""
    draw, rng = LAWS[law], np.random.default_rng(positives)
    truth = truths(law)
    held = dict.fromkeys(CALLS, 0)
    runs = RUNS if positives < 500 else RUNS // 2
    for _ in range(runs):
        y, score = draw(rng, round(positives / SHARE))
        for name, call in CALLS.items():
            r = call(y, score)
            held[name] += r.lower <= truth[name] <= r.upper
    least = int(binom.ppf(0.001, runs, 0.93))
    assert {name: n for name, n in held.items() if n < least} == {}


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["average_precision", "recall_at", "net_benefit"])
def test_coverage_of_differences(measure):
    """80 samples of 30 positives and of two models that share their noise."""
    cut = {"recall_at": {"share": 0.2}, "net_benefit": {"threshold": 0.3}}.get(measure, {})
    rng = np.random.default_rng(0)

    def draw(n):
        y, noise = rng.random(n) < SHARE, rng.normal(size=n)
        one = 1 / (1 + np.exp(-(noise + 1.5 * y - 1.4)))
        return y, {"one": one, "two": 1 / (1 + np.exp(-(noise + 0.5 * rng.normal(size=n) - 1.4)))}

    def difference(n):
        found = compare_rankings(*draw(n), measure=measure, **cut).differences[0]
        sign = 1 if found.first == "one" else -1
        return sorted((sign * found.lower, sign * found.upper)), sign * found.value

    truth = difference(400_000)[1]
    held = sum(low <= truth <= high for (low, high), _ in (difference(150) for _ in range(RUNS)))
    assert held >= binom.ppf(0.001, RUNS, 0.93)


def test_joined_cells_resample_as_all_cells_do():
    """Means agree within their errors, and spreads within 10 % (1,000 resamples each)."""
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    placed = labelled_scores(
        y, rng.normal(size=4000) + y, None, approximate=False
    ).placed()  # fmt: skip
    value = area(placed, Uniform())

    def statistic(drawn):
        return area(drawn, Uniform())

    every, few = (
        resampled(placed, statistic, 1000, np.random.default_rng(seed), most=most)
        for seed, most in ((1, 10_000), (2, 256))
    )
    spread = every.std()
    assert abs(few.mean() - value) < 5 * spread / np.sqrt(1000)
    assert few.std() == pytest.approx(spread, rel=0.1)
    assert np.quantile(few, [0.025, 0.975]) == pytest.approx(
        np.quantile(every, [0.025, 0.975]), abs=0.4 * spread
    )
