"""What is said of where a classifier of two classes predicts the second one."""

import numpy as np
import pytest

from karat.optimize import FrankWolfeClassifier
from karat.optimize.result import DecisionRegions

GRID = np.linspace(0.0, 1.0, 101)


def regions(*shares):
    return DecisionRegions(
        probability=GRID,
        shares=np.array(shares, dtype=float),
        kinds=tuple(f"kind {i}" for i in range(len(shares))),
        frequency=np.full(len(shares), 1 / len(shares)),
        classes=np.array(["yes", "no"]),
    )


INSIDE = (GRID > 0.295) & (GRID < 0.605)
CASES = [
    (GRID > 0.515, "at probabilities from 0.520 up", 0.52),
    (GRID < 0.525, "at probabilities up to 0.520", np.nan),
    (GRID >= 0, "always", 0.0),
    (GRID < 0, "never", np.nan),
    (INSIDE, "at probabilities between 0.300 and 0.600", np.nan),
    (~INSIDE, "at probabilities up to 0.290 and from 0.610 up", np.nan),
]


@pytest.mark.parametrize(("share", "words", "threshold"), CASES)
def test_the_interval_and_the_threshold(share, words, threshold):
    found = regions(share)
    assert found.summary() == f"no is predicted {words}"
    assert np.array_equal(found.thresholds, [threshold], equal_nan=True)


def test_each_kind_of_row_is_described():
    found = regions(GRID > 0.515, GRID < 0.525, GRID < 0)
    wanted = "from 0.520 up for kind 0; up to 0.520 for kind 1; never for kind 2"
    assert found.summary() == f"by its probability, no is predicted {wanted}"
    assert np.array_equal(found.thresholds, [0.52, np.nan, np.nan], equal_nan=True)
    assert found.intervals == (((0.52, 1.0),), ((0.0, 0.52),), ())
    assert "nan" not in str(found)


def test_a_mixture_is_not_said_to_be_certain():
    said = regions(GRID).summary()
    assert said == "no is predicted at least half of the time at probabilities from 0.500 up"


def test_a_score_that_points_the_other_way(rng):
    """The probability passed as that of the second class is that of the first."""
    p = rng.random(2000)
    y = (rng.random(2000) > p).astype(int)
    clf = FrankWolfeClassifier(metric="g_mean", deterministic=True)
    clf.fit_from_proba(np.column_stack([1 - p, p]), y)
    found = clf.decision_regions()
    assert np.isnan(found.thresholds[0])
    ((low, high),) = found.intervals[0]
    assert low == 0
    assert high == pytest.approx(0.5, abs=0.1)
    assert found.summary() == f"1 is predicted at probabilities up to {high:.3f}"
